// Plans: promotion, broadcasting, merging of dimensions, checks for overlap.
#include "runtime/plan.h"

#include <algorithm>
#include <cstdlib>

#include "runtime/context.h"
#include "runtime/device/two_devices.h"

namespace tessera::tensor {

// ---- promotion ----

void PromotionState::add(const Tensor& t) {
  if (!t.defined()) return;
  int rank = t.is_wrapped_number() ? 2 : t.dim() == 0 ? 1 : 0;
  DType type = t.dtype();
  if (rank == 2 && is_floating(type)) type = Context::current().default_dtype;
  if (rank == 2 && is_complex(type)) type = complex_type(Context::current().default_dtype);
  rank_[rank] = seen_[rank] ? promote_types(rank_[rank], type) : type;
  seen_[rank] = true;
}

void PromotionState::add(const Scalar& s) {
  DType type = s.category(Context::current().default_dtype);
  rank_[2] = seen_[2] ? promote_types(rank_[2], type) : type;
  seen_[2] = true;
}

namespace {
int category_of(DType t) { return is_complex(t) ? 3 : is_floating(t) ? 2 : is_integral(t) ? 1 : 0; }

// A weaker operand decides only when it is of a higher category.
DType combine(DType strong, DType weak) {
  if (category_of(weak) <= category_of(strong)) return strong;
  if (!is_floating(strong)) return promote_types(strong, weak);
  check(!is_float8(strong), TensorErrorKind::Runtime, "Unknown Complex ScalarType for ", scalar_type_name(strong));
  return complex_type(strong);  // of the weak operand its imaginary part alone
}
}  // namespace

DType PromotionState::result() const {
  DType type = kBool;
  bool seen = false;
  for (int i = 0; i < 3; i++) {
    if (!seen_[i]) continue;
    type = seen ? combine(type, rank_[i]) : rank_[i];
    seen = true;
  }
  return type;
}

// ---- loops ----

bool Loop::dense() const {
  if (ndim != 1) return false;
  for (int k = 0; k < operands; k++)
    if (strides[k][0] != 1 && (k == 0 || strides[k][0] != 0)) return numel <= 1;
  return true;
}

namespace {

// Which of two dimensions lies outside: 1 for `a`, -1 for `b`, 0 if no operand says. The first operand that steps through
// both decides, by its steps; where these are equal, the longer dimension lies outside.
int outer_of(const Loop& loop, int a, int b) {
  for (int k = 0; k < loop.operands; k++) {
    const int64_t sa = std::abs(loop.strides[k][a]), sb = std::abs(loop.strides[k][b]);
    if (sa == 0 || sb == 0) continue;
    if (sa != sb) return sa > sb ? 1 : -1;
    if (loop.sizes[a] > loop.sizes[b]) return 1;
  }
  return 0;
}

void swap_dims(Loop& loop, int a, int b) {
  std::swap(loop.sizes[a], loop.sizes[b]);
  for (int k = 0; k < loop.operands; k++) std::swap(loop.strides[k][a], loop.strides[k][b]);
}

// PyTorch's insertion sort, smallest steps first: a dimension moves inwards past those it has no quarrel with, as long as it
// finds one that belongs outside of it.
void order_dims(Loop& loop) {
  for (int i = 1; i < loop.ndim; i++) {
    int at = i;
    for (int j = i - 1; j >= 0; j--) {
      const int order = outer_of(loop, j, at);
      if (order < 0) break;
      if (order > 0) swap_dims(loop, j, at), at = j;
    }
  }
}

bool mergeable(const Loop& loop, int inner, int outer) {
  for (int k = 0; k < loop.operands; k++)
    if (loop.strides[k][outer] != loop.strides[k][inner] * loop.sizes[inner]) return false;
  return true;
}

void merge_dims(Loop& loop) {
  int last = 0;
  for (int d = 1; d < loop.ndim; d++) {
    if (mergeable(loop, last, d)) {
      loop.sizes[last] *= loop.sizes[d];
      continue;
    }
    last++;
    loop.sizes[last] = loop.sizes[d];
    for (int k = 0; k < loop.operands; k++) loop.strides[k][last] = loop.strides[k][d];
  }
  loop.ndim = last + 1;
}

}  // namespace

void make_loop(Loop& loop, const Tensor* const* operands, int count) {
  const Tensor& out = *operands[0];
  loop.operands = count;
  loop.numel = out.numel();
  size_t n = out.sizes().size();
  check(n <= size_t(kMaxLoopDims), TensorErrorKind::Runtime, "Tensors cannot have more than ", kMaxLoopDims,
        " dimensions");
  int ndim = 0;
  for (int k = 0; k < count; k++) {
    loop.data[k] = operands[k]->bytes();
    loop.dtype[k] = operands[k]->dtype();
  }
  for (size_t i = n; i-- > 0;) {  // innermost first
    int64_t size = out.sizes()[i];
    if (size == 1) continue;
    loop.sizes[ndim] = size;
    for (int k = 0; k < count; k++) {
      Ints sizes = operands[k]->sizes(), strides = operands[k]->strides();
      size_t back = n - i;
      bool repeated = back > sizes.size() || (sizes[sizes.size() - back] == 1);
      if (!repeated && sizes[sizes.size() - back] != size)
        fail(TensorErrorKind::Runtime, "The size of tensor a (", size, ") must match the size of tensor b (",
             sizes[sizes.size() - back], ") at non-singleton dimension ", i);
      loop.strides[k][ndim] = repeated ? 0 : strides[strides.size() - back];
    }
    ndim++;
  }
  if (ndim == 0) {
    loop.sizes[0] = 1;
    for (int k = 0; k < count; k++) loop.strides[k][0] = k == 0 ? 1 : 0;
    ndim = 1;
  }
  loop.ndim = ndim;
  if (ndim > 1) {
    order_dims(loop);
    merge_dims(loop);
  }
}

Dims broadcast_all(const Tensor* const* inputs, int count) {
  Dims shape(inputs[0]->sizes());
  for (int i = 1; i < count; i++) shape = broadcast_shapes(shape, inputs[i]->sizes());
  return shape;
}

Device common_device(const Tensor* const* inputs, int count) {
  Device device = inputs[0]->device();
  for (int i = 1; i < count; i++) {
    Device other = inputs[i]->device();
    if (other == device) continue;
    if (inputs[i]->dim() == 0 && other.is_cpu()) continue;
    bool first_is_scalar = device.is_cpu();
    for (int j = 0; j < i; j++) first_is_scalar &= inputs[j]->dim() == 0;
    if (first_is_scalar) {
      device = other;
      continue;
    }
    fail_two_devices(device, other);
  }
  return device;
}

void fail_two_devices(Device a, Device b) {
  if (a.is_meta() || b.is_meta())  // the words of PyTorch's meta kernels
    fail(TensorErrorKind::Runtime, "Tensor on device ", b.str(), " is not on the expected device ", a.str(), "!");
  if (a.is_cpu()) std::swap(a, b);  // the expected one is the first that is no CPU
  fail(TensorErrorKind::Runtime, "Expected all tensors to be on the same device, but found at least two devices, ",
       a.str(), " and ", b.str(), "!");
}

void fail_argument_device(std::string_view kernel, std::string_view argument, Device found, Device expected) {
  if (found.is_meta() || expected.is_meta()) fail_two_devices(expected, found);
  fail(TensorErrorKind::Runtime, "Expected all tensors to be on the same device, but got ", argument, " is on ",
       found.str(), ", different from other tensors on ", expected.str(), " (when checking argument in method ", kernel,
       ")");
}

void check_one_device(const char* kernel, std::initializer_list<NamedOperand> operands) {
  const Tensor* first = nullptr;
  for (const NamedOperand& operand : operands) {
    if (!operand.tensor.defined()) continue;
    if (first == nullptr) first = &operand.tensor;
    if (operand.tensor.device() != first->device()) [[unlikely]]
      fail_argument_device(kernel, operand.name, operand.tensor.device(), first->device());
  }
}

// ---- overlap ----

void check_no_internal_overlap(const Tensor& t) {
  if (t.numel() == 0) return;
  for (size_t i = 0; i < t.sizes().size(); i++)
    check(t.sizes()[i] <= 1 || t.strides()[i] != 0, TensorErrorKind::Runtime,
          "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
          "Please clone() the tensor before performing the operation.");
}

namespace {
// One past the last byte that a tensor reaches.
const char* reach(const Tensor& t) {
  int64_t last = 1;
  for (size_t i = 0; i < t.sizes().size(); i++) last += (t.sizes()[i] - 1) * t.strides()[i];
  return t.impl()->address() + last * int64_t(item_size(t.dtype()));
}
}  // namespace

void check_no_partial_overlap(const Tensor& out, const Tensor& in) {
  if (out.same(in) || out.numel() == 0 || in.numel() == 0 || &out.storage() != &in.storage()) return;
  const char *a = out.impl()->address(), *b = in.impl()->address();
  if (a == b && out.strides() == in.strides() && out.sizes() == in.sizes()) return;
  if (a >= reach(in) || b >= reach(out)) return;
  // Interleaved views (x[::2], x[1::2]) share a range but no element; PyTorch too looks at dense tensors only.
  if (!out.is_contiguous() || !in.is_contiguous()) return;
  fail(
      TensorErrorKind::Runtime,
      "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. "
      "Please clone() the tensor before performing the operation.");
}

}  // namespace tessera::tensor

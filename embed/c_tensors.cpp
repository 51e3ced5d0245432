// Tensors of tessera_c.h: the handle is the tensor library's own, so that nothing is copied on the way.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <string>

#include "embed/handles.h"
#include "embed/op_arguments.h"
#include "runtime/autograd/engine.h"
#include "runtime/autograd/node.h"
#include "runtime/context.h"
#include "runtime/dlpack.h"
#include "runtime/format.h"
#include "runtime/ops.h"
#include "runtime/ops/math_bits.h"
#include "stdlib/torch/state.h"

using namespace tessera;
using namespace tessera::embed;
using tensor::DType;
using tensor::Tensor;

namespace {

static_assert(TSR_DTYPE_BOOL == int(DType::Bool) && TSR_DTYPE_UINT16 == int(DType::UInt16) &&
              TSR_DTYPE_FLOAT32 == int(DType::Float32) && TSR_DTYPE_COMPLEX128 == int(DType::Complex128));

DType dtype_of(tsr_dtype dtype) {
  if (static_cast<int>(dtype) < 0 || static_cast<int>(dtype) >= tensor::kDTypeCount)
    throw UsageError{"there is no dtype " + std::to_string(static_cast<int>(dtype))};
  return static_cast<DType>(dtype);
}

void check_sizes(const int64_t* sizes, size_t dims) {
  constexpr size_t kMostDims = 64;
  if (dims > kMostDims) throw UsageError{"a tensor of " + std::to_string(dims) + " dimensions"};
  if (sizes == nullptr && dims != 0) throw UsageError{"sizes that are NULL"};
  int64_t bytes = 16;  // of the widest element
  for (size_t i = 0; i < dims; ++i) {
    if (sizes[i] < 0)
      throw UsageError{"size " + std::to_string(sizes[i]) + " of dimension " + std::to_string(i) + " is negative"};
    if (sizes[i] != 0 && __builtin_mul_overflow(bytes, sizes[i], &bytes)) throw UsageError{"sizes beyond any memory"};
  }
}

// For tsr_text_free.
char* new_text(const std::string& text) {
  char* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

template <class Managed>
Managed* checked(Managed* managed) {
  if (managed == nullptr) throw UsageError{"a DLPack tensor that is NULL"};
  return managed;
}

// Runs f() outside of interpreters' runs, or as a part of one that is under way on this thread.
template <class F>
bool protected_call(tsr_error** error, F&& f) noexcept {
  try {
    f();
    return true;
  } catch (...) {
    return report(nullptr, error);
  }
}

}  // namespace

bool tsr_tensor_new(const int64_t* sizes, size_t dims, tsr_dtype dtype, tsr_tensor** out, tsr_error** error) {
  return protected_call(error, [&] {
    check_sizes(sizes, dims);
    const Tensor made = Tensor::empty(tensor::Ints(sizes, dims), dtype_of(dtype));
    std::memset(made.data_ptr(), 0, made.nbytes());
    *out = give_away(made);
  });
}

bool tsr_tensor_from_blob(void* data, const int64_t* sizes, const int64_t* strides, size_t dims, tsr_dtype dtype,
                          tsr_drop drop, void* user, tsr_tensor** out, tsr_error** error) {
  return protected_call(error, [&] {
    std::function<void(void*)> deleter;
    if (drop != nullptr) deleter = [drop, user](void*) { drop(user); };
    check_sizes(sizes, dims);
    const bool empty = std::find(sizes, sizes + dims, 0) != sizes + dims;
    if (data == nullptr && !empty) throw UsageError{"memory that is NULL"};
    const tensor::Ints shape(sizes, dims);
    *out = give_away(strides == nullptr ? Tensor::from_blob(data, shape, dtype_of(dtype), std::move(deleter))
                                        : Tensor::from_blob(data, shape, tensor::Ints(strides, dims), dtype_of(dtype),
                                                            std::move(deleter)));
  });
}

tsr_tensor* tsr_tensor_retain(tsr_tensor* tensor) {
  if (tensor != nullptr) impl_of(tensor)->refs.add();
  return tensor;
}
void tsr_tensor_release(tsr_tensor* tensor) {
  if (tensor != nullptr) const Tensor last = Tensor::adopt(impl_of(tensor));
}

// One that is undefined has no dimensions and no elements.
size_t tsr_tensor_dims(const tsr_tensor* tensor) { return tensor == nullptr ? 0 : impl_of(tensor)->sizes.size(); }
const int64_t* tsr_tensor_sizes(const tsr_tensor* tensor) {
  return tensor == nullptr ? nullptr : impl_of(tensor)->sizes.data();
}
const int64_t* tsr_tensor_strides(const tsr_tensor* tensor) {
  return tensor == nullptr ? nullptr : impl_of(tensor)->strides.data();
}
int64_t tsr_tensor_numel(const tsr_tensor* tensor) { return tensor == nullptr ? 0 : impl_of(tensor)->numel; }
tsr_dtype tsr_tensor_dtype(const tsr_tensor* tensor) {
  return tensor == nullptr ? TSR_DTYPE_FLOAT32 : static_cast<tsr_dtype>(impl_of(tensor)->dtype);
}
bool tsr_tensor_on_host(const tsr_tensor* tensor) {
  return tensor == nullptr ? true : impl_of(tensor)->device.is_cpu();
}
bool tsr_tensor_is_contiguous(const tsr_tensor* tensor) {
  return tensor == nullptr || (impl_of(tensor)->flags & tensor::TensorImpl::kContiguous) != 0;
}
void* tsr_tensor_data(tsr_tensor* tensor) { return tensor == nullptr ? nullptr : impl_of(tensor)->exposed_address(); }

bool tsr_from_tensor(tsr_interpreter* shell, tsr_tensor* tensor, tsr_value* out, tsr_error** error) {
  return guarded(shell, error, [&](lang::Interpreter& in) {
    need_torch(shell);
    *out = to_host(shell, stdlib::wrap_tensor(in, tensor_of(tensor)));
  });
}

// A tensor that stands for other numbers than its memory holds (a conjugate) comes as one that holds them.
bool tsr_as_tensor(tsr_interpreter* shell, tsr_value value, tsr_tensor** out, tsr_error** error) {
  return guarded(shell, error, [&](lang::Interpreter& in) {
    need_torch(shell);
    const lang::Value object = to_value(shell, value);
    *out = stdlib::in_torch(in, object,
                            [&] { return give_away(tensor::resolved(stdlib::expect_tensor(in, object, "value"))); });
  });
}

bool tsr_op(const char* name, const tsr_argument* arguments, size_t argument_count, tsr_tensor** out, size_t* count,
            tsr_error** error) {
  return protected_call(error, [&] {
    if (argument_count != 0 && arguments == nullptr) throw UsageError{"a list that is NULL"};
    const tensor::TensorList results = call_op(name_of(name), arguments, argument_count);
    if (results.size() > *count)
      throw UsageError{std::string(name) + " has " + std::to_string(results.size()) +
                       " results, and there is room for " + std::to_string(*count)};
    *count = results.size();
    for (size_t i = 0; i < results.size(); ++i) out[i] = give_away(results[i]);
  });
}

bool tsr_tensor_item(tsr_tensor* tensor, double* out, tsr_error** error) {
  return protected_call(error, [&] { *out = tensor_of(tensor).item().to_double(); });
}

bool tsr_tensor_item_int(tsr_tensor* tensor, int64_t* out, tsr_error** error) {
  return protected_call(error, [&] {
    const tensor::Scalar item = tensor_of(tensor).item();
    const double whole = item.is_float() ? item.to_double() : 0.0;
    if (whole != std::trunc(whole))
      tensor::fail(tensor::TensorErrorKind::Type, "the element ", whole, " is no whole number");
    *out = item.to_int();
  });
}

bool tsr_tensor_item_complex(tsr_tensor* tensor, double out[2], tsr_error** error) {
  return protected_call(error, [&] {
    const std::complex<double> item = tensor_of(tensor).item().to_complex();
    out[0] = item.real(), out[1] = item.imag();
  });
}

bool tsr_tensor_to(tsr_tensor* tensor, tsr_dtype dtype, const char* device, tsr_tensor** out, tsr_error** error) {
  return protected_call(error, [&] {
    tensor::MaybeType type;
    tensor::MaybeDevice place;
    if (dtype != TSR_DTYPE_SAME) type = dtype_of(dtype);
    if (device != nullptr) place = tensor::Device::parse(device);
    *out = give_away(tensor::to(tensor_of(tensor), type, place));
  });
}

bool tsr_tensor_device(const tsr_tensor* tensor, char** out, tsr_error** error) {
  return protected_call(error, [&] { *out = new_text(tensor_of(tensor).device().str()); });
}

bool tsr_tensor_set_requires_grad(tsr_tensor* tensor, bool requires_grad, tsr_error** error) {
  return protected_call(error, [&] { tensor::set_requires_grad(tensor_of(tensor), requires_grad); });
}

bool tsr_tensor_requires_grad(const tsr_tensor* tensor) {
  return tensor != nullptr && tensor_of(tensor).requires_grad();
}

bool tsr_tensor_backward(tsr_tensor* tensor, tsr_error** error) {
  return protected_call(error, [&] { tensor::backward({tensor_of(tensor)}); });
}

bool tsr_tensor_grad(tsr_tensor* tensor, tsr_tensor** out, tsr_error** error) {
  return protected_call(error, [&] {
    const tensor::AutogradMeta* const meta = tensor_of(tensor).impl()->autograd;
    *out = meta != nullptr && meta->grad.defined() ? give_away(meta->grad) : nullptr;
  });
}

bool tsr_tensor_clear_grad(tsr_tensor* tensor, tsr_error** error) {
  return protected_call(error, [&] {
    if (tensor::AutogradMeta* const meta = tensor_of(tensor).impl()->autograd) {
      meta->host_record = nullptr;
      meta->grad = Tensor();
    }
  });
}

bool tsr_set_grad_enabled(bool enabled) {
  tensor::Context& context = tensor::Context::current();
  const bool before = context.grad_enabled;
  context.set_grad_enabled(enabled);
  return before;
}

bool tsr_tensor_text(tsr_tensor* tensor, char** out, tsr_error** error) {
  return protected_call(error, [&] { *out = new_text(tensor::tensor_text(tensor_of(tensor))); });
}

void tsr_text_free(char* text) { std::free(text); }

bool tsr_tensor_from_dlpack(DLManagedTensor* managed, tsr_tensor** out, tsr_error** error) {
  return protected_call(error, [&] { *out = give_away(tensor::from_dlpack(checked(managed))); });
}

bool tsr_tensor_from_dlpack_versioned(DLManagedTensorVersioned* managed, tsr_tensor** out, tsr_error** error) {
  return protected_call(error, [&] { *out = give_away(tensor::from_dlpack(checked(managed))); });
}

bool tsr_tensor_to_dlpack(tsr_tensor* tensor, DLManagedTensor** out, tsr_error** error) {
  return protected_call(error, [&] { *out = tensor::to_dlpack(tensor_of(tensor)); });
}

bool tsr_tensor_to_dlpack_versioned(tsr_tensor* tensor, DLManagedTensorVersioned** out, tsr_error** error) {
  return protected_call(error, [&] { *out = tensor::to_dlpack_versioned(tensor_of(tensor)); });
}

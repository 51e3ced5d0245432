// compile: small (the factorisation takes longer)
#include "runtime/ops/linalg/common.h"

#include <algorithm>

namespace tessera::tensor {

constinit Kernel<LapackCall> lapack_kernel("lapack");

namespace linalg {

Dims batch_of(const Tensor& a, int64_t n) { return Dims(a.sizes().first(size_t(a.dim() - n))); }

Dims operator+(const Dims& batch, Ints more) {
  Dims sizes = batch;
  for (const int64_t size : more) sizes.push_back(size);
  return sizes;
}

int64_t batch_count(const Tensor& a) { return numel_of(a.sizes().first(size_t(a.dim()) - 2)); }
Tensor mT(const Tensor& a) { return transpose(a, -2, -1); }
Tensor mH(const Tensor& a) { return conj(transpose(a, -2, -1)); }

Meta column_major(Ints sizes, DType dtype, Device device) {
  Dims turned(sizes);
  if (sizes.size() < 2) return {sizes, dtype, device};
  std::swap(turned[sizes.size() - 1], turned[sizes.size() - 2]);
  Dims strides = contiguous_strides(turned);
  std::swap(strides[sizes.size() - 1], strides[sizes.size() - 2]);
  return {sizes, dtype, device, strides};
}

Tensor column_major_copy(const Tensor& a, Ints sizes) {
  const GradMode no_grad(false);
  const Tensor out = column_major(sizes, a.dtype(), a.device()).allocate();
  copy_into(out, a);
  return out;
}

Tensor as_column_major(const Tensor& a) {
  const GradMode no_grad(false);
  return mT(a).is_contiguous() ? a : column_major_copy(a);
}

void fill_identity(const Tensor& out) {
  fill_into(out, 0);
  if (out.numel() != 0) fill_into(diagonal_of(out), 1);
}

Tensor diagonal_matrix(const Tensor& v) { return unsqueeze(v, -2) * eye(v.size(-1), {}, v.dtype(), v.device()); }

Tensor with_diagonal_scaled(const Tensor& a, double factor) {
  return a * (ones({rows(a), columns(a)}, real_type(a.dtype()), a.device()) +
              eye(rows(a), columns(a), real_type(a.dtype()), a.device()) * (factor - 1.0));
}

Tensor to_type_of(const Tensor& a, const Tensor& like) {
  if (a.dtype() == like.dtype()) return a;
  return is_complex(a.dtype()) && !is_complex(like.dtype()) ? to_dtype(real(a), like.dtype())
                                                            : to_dtype(a, like.dtype());
}

void check_pivots(const Tensor& pivots, int64_t n, bool negatives) {
  const GradMode no_grad(false);
  const Tensor host = contiguous(to_device(pivots, kCpu));
  const int32_t* const p = host.data<int32_t>();
  const auto refuse = [&](const char* sign) {
    const char* const name = negatives ? "ldl_solve" : "lu_solve";  // names the op: two share this check
    const char* const made = negatives ? "ldl_factor" : "lu_factor";
    const char* const matrix = negatives ? "LD" : "LU";
    if (negatives)
      fail(TensorErrorKind::Runtime, "Pivots given to ", name, " must all satisfy |pivot| ", sign,
           *sign == '>' ? std::string(" 1") : text(" ", matrix, ".size(-2)"), ". Did you properly pass the result of ",
           made, "?");
    fail(TensorErrorKind::Runtime, "Pivots given to ", name, " must all be ", *sign == '>' ? "greater" : "smaller",
         " or equal to ", *sign == '>' ? std::string("1") : text(matrix, ".size(-2)"),
         ". Did you properly pass the result of ", made, "?");
  };
  for (int64_t i = 0; i < pivots.numel(); i++) {
    const int64_t at = negatives ? std::abs(int64_t(p[i])) : p[i];
    if (at < 1) refuse(">=");
    if (at > n) refuse("<=");
  }
  for (int64_t i = 0; i < pivots.numel(); i++) {
    if (p[i] > 0) continue;
    // A block of two rows has the same negative number twice.
    check(
        i % n + 1 < n && p[i + 1] == p[i], TensorErrorKind::Runtime,
        "Pivots given to ldl_solve: a negative one must stand twice. Did you properly pass the result of ldl_factor?");
    i++;
  }
}
void check_matrix(const Tensor& a, const char* name, const char* argument) {
  check(a.dim() >= 2, TensorErrorKind::Runtime, name, ": The input tensor ", argument,
        " must have at least 2 dimensions.");
}

void check_square(const Tensor& a, const char* name, const char* argument) {
  check_matrix(a, name, argument);
  check(rows(a) == columns(a), TensorErrorKind::Runtime, name, ": ", argument,
        " must be batches of square matrices, but they are ", rows(a), " by ", columns(a), " matrices");
}

void check_floating(const Tensor& a, const char* name, bool halves) {
  check(is_differentiable(a.dtype()), TensorErrorKind::NotImplemented, name,
        ": Expected a floating point or complex tensor as input. Got ", scalar_type_name(a.dtype()));
  check(halves || !is_half(a.dtype()), TensorErrorKind::NotImplemented, name,
        ": Low precision dtypes not supported. Got ", scalar_type_name(a.dtype()));
}

void check_kernel(const Tensor& a, KernelName kernel, bool even_empty) {
  if (a.numel() == 0 && !even_empty) return;
  require_type((kFloatTypes - kHalfTypes) | kComplexTypes, a, kernel);
}

void check_solvable(const Tensor& a, const Tensor& b, bool left, const char* name) {
  check_square(a, name);
  check_matrix(b, name, "B");
  check(left ? rows(a) == rows(b) : columns(a) == columns(b), TensorErrorKind::Runtime, name,
        ": Incompatible shapes of A and B for the equation ", left ? "AX = B" : "XA = B", " (", rows(a), 'x',
        columns(a), " and ", rows(b), 'x', columns(b), ')');
}

void check_same_type(const Tensor& a, const Tensor& b, const char* name, const char* a_name, const char* b_name) {
  check(a.dtype() == b.dtype(), TensorErrorKind::Runtime, name, ": Expected ", a_name, " and ", b_name,
        " to have the same dtype, but found ", a_name, " of type ", scalar_type_name(a.dtype()), " and ", b_name,
        " of type ", scalar_type_name(b.dtype()), " instead");
}

bool first_failure(const Tensor& info, int64_t& place, int64_t& number) {
  if (info.device().is_meta() || info.numel() == 0) return false;
  const GradMode no_grad(false);
  const Tensor host = contiguous(to_device(info, kCpu));
  const int32_t* numbers = host.data<int32_t>();
  const int32_t* found = std::find_if(numbers, numbers + host.numel(), [](int32_t i) { return i != 0; });
  if (found == numbers + host.numel()) return false;
  place = found - numbers, number = *found;
  return true;
}

std::string failure_prefix(const std::string& name, const Tensor& info, int64_t place) {
  return info.dim() == 0 ? name + ": " : text(name, ": (Batch element ", place, "): ");
}

void check_info(const Tensor& info, const std::string& name, const InfoMessage& message) {
  int64_t place, number;
  if (first_failure(info, place, number)) throw LinAlgError(failure_prefix(name, info, place) + message(number));
}

void run_lapack(const Tensor& place, LapackCall call, const Tensor& info) {
  if (place.numel() == 0 || call.batch == 0) {
    if (info.defined()) fill_into(info, 0);
    return;
  }
  if (info.defined()) call.info = info.data<int32_t>();
  lapack_kernel(place.device(), call);
}

SavedTensor saved_result(const Tensor& result, uint32_t number) {
  autograd_meta(result).output = number;
  return SavedTensor(result, true);
}

Tensor sum_of(const Tensor& a, const Tensor& b) {
  if (!a.defined()) return b;
  return b.defined() ? a + b : a;
}

}  // namespace linalg
}  // namespace tessera::tensor

// The C++ tensor API: ops as free functions. Of the rows of pointwise.def and reduce.def only those that other ops are made of
// stand here: a new row shall not compile every op again.
#pragma once

#include <optional>
#include <tuple>

#include "runtime/context.h"
#include "runtime/ops/pointwise.h"
#include "runtime/tensor.h"

namespace tessera::tensor {

// ---- pointwise: rows of pointwise.def that other ops are made of (all of them: runtime/ops/pointwise_functions.h) ----
Tensor abs(const Tensor& x);
Tensor ceil(const Tensor& x);
Tensor exp(const Tensor& x);
Tensor expm1(const Tensor& x);
Tensor floor(const Tensor& x);
Tensor floor_divide(const Operand& x, const Operand& y);
Tensor gelu_erf(const Tensor& x);
Tensor gelu_tanh(const Tensor& x);
Tensor isfinite(const Tensor& x);
Tensor isinf(const Tensor& x);
Tensor isnan(const Tensor& x);
Tensor isneginf(const Tensor& x);
Tensor isposinf(const Tensor& x);
Tensor log(const Tensor& x);
Tensor log1p(const Tensor& x);
Tensor logical_not(const Tensor& x);
Tensor neg(const Tensor& x);
Tensor bitwise_not(const Tensor& x);
Tensor round(const Tensor& x);
Tensor rsqrt(const Tensor& x);
Tensor sign(const Tensor& x);
Tensor sin(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor add(const Operand& x, const Operand& y);
Tensor sub(const Operand& x, const Operand& y);
Tensor mul(const Operand& x, const Operand& y);
Tensor div(const Operand& x, const Operand& y);
Tensor pow(const Operand& x, const Operand& y);
Tensor maximum(const Operand& x, const Operand& y);
Tensor minimum(const Operand& x, const Operand& y);
Tensor eq(const Operand& x, const Operand& y);
Tensor ne(const Operand& x, const Operand& y);
Tensor lt(const Operand& x, const Operand& y);
Tensor le(const Operand& x, const Operand& y);
Tensor gt(const Operand& x, const Operand& y);
Tensor ge(const Operand& x, const Operand& y);
Tensor bitwise_and(const Operand& x, const Operand& y);
Tensor bitwise_or(const Operand& x, const Operand& y);
Tensor bitwise_xor(const Operand& x, const Operand& y);
Tensor logical_and(const Operand& x, const Operand& y);
Tensor logical_or(const Operand& x, const Operand& y);
Tensor logical_xor(const Operand& x, const Operand& y);
Tensor add_scaled(const Operand& x, const Operand& y, const Operand& factor);
Tensor where_(const Operand& condition, const Operand& x, const Operand& y);
Tensor clamp_min(const Tensor& x, Scalar min);
Tensor clamp_max(const Tensor& x, Scalar max);
Tensor clamp_both(const Tensor& x, Scalar min, Scalar max);
/// In place, recorded.
void add_(const Tensor& self, const Operand& x);

Tensor add(const Operand& x, const Operand& y, Scalar alpha);
Tensor sub(const Operand& x, const Operand& y, Scalar alpha);
Tensor where(const Tensor& condition, const Operand& x, const Operand& y);
Tensor clamp(const Tensor& x, std::optional<Scalar> min, std::optional<Scalar> max);
Tensor gelu(const Tensor& x, const std::string& approximate = "none");

#define TS_OPERATOR(SYMBOL, FUNCTION)                                                                          \
  inline Tensor operator SYMBOL(const Tensor& x, const Tensor& y) { return FUNCTION(Operand(x), Operand(y)); } \
  template <class T>                                                                                           \
  requires std::is_arithmetic_v<T>                                                                             \
  inline Tensor operator SYMBOL(const Tensor& x, T y) { return FUNCTION(Operand(x), Operand(y)); }             \
  template <class T>                                                                                           \
  requires std::is_arithmetic_v<T>                                                                             \
  inline Tensor operator SYMBOL(T x, const Tensor& y) { return FUNCTION(Operand(x), Operand(y)); }             \
  inline Tensor operator SYMBOL(const Tensor& x, const Scalar& y) { return FUNCTION(Operand(x), Operand(y)); } \
  inline Tensor operator SYMBOL(const Scalar& x, const Tensor& y) { return FUNCTION(Operand(x), Operand(y)); }
TS_OPERATOR(+, add)
TS_OPERATOR(-, sub)
TS_OPERATOR(*, mul)
TS_OPERATOR(/, div)
TS_OPERATOR(==, eq)
TS_OPERATOR(!=, ne)
TS_OPERATOR(<, lt)
TS_OPERATOR(<=, le)
TS_OPERATOR(>, gt)
TS_OPERATOR(>=, ge)
TS_OPERATOR(&, bitwise_and)
TS_OPERATOR(|, bitwise_or)
TS_OPERATOR(^, bitwise_xor)
#undef TS_OPERATOR
inline Tensor operator-(const Tensor& x) { return neg(x); }
inline Tensor operator~(const Tensor& x) { return bitwise_not(x); }

// ---- creation (creation.cpp). Absent dtype and device: the context's defaults ----
using MaybeType = std::optional<DType>;
using MaybeDevice = std::optional<Device>;
Tensor empty(Ints sizes, MaybeType dtype = {}, MaybeDevice device = {});
Tensor zeros(Ints sizes, MaybeType dtype = {}, MaybeDevice device = {});
Tensor ones(Ints sizes, MaybeType dtype = {}, MaybeDevice device = {});
Tensor full(Ints sizes, Scalar value, MaybeType dtype = {}, MaybeDevice device = {});
Tensor arange(Scalar start, Scalar end, Scalar step = 1, MaybeType dtype = {}, MaybeDevice device = {});
Tensor linspace(double start, double end, int64_t steps, MaybeType dtype = {}, MaybeDevice device = {});
Tensor logspace(double start, double end, int64_t steps, double base = 10.0, MaybeType dtype = {},
                MaybeDevice device = {});
Tensor eye(int64_t n, std::optional<int64_t> m = {}, MaybeType dtype = {}, MaybeDevice device = {});
Tensor empty_like(const Tensor& like, MaybeType dtype = {}, MaybeDevice device = {});
Tensor zeros_like(const Tensor& like, MaybeType dtype = {}, MaybeDevice device = {});
Tensor ones_like(const Tensor& like, MaybeType dtype = {}, MaybeDevice device = {});
Tensor full_like(const Tensor& like, Scalar value, MaybeType dtype = {}, MaybeDevice device = {});
/// Uninitialised, with the dense strides of `like` in its order of dimensions.
Tensor empty_like_strided(const Tensor& like, DType dtype);
/// Gives a result tensor the shape it needs, as out= does (warns when it had elements).
void resize_output(const Tensor& out, Ints sizes);

// ---- copies and conversions (copy.cpp) ----
/// to <- from: broadcast, converted, across devices. No gradient is recorded (copy_ does that).
void copy_into(const Tensor& to, const Tensor& from);
void fill_into(const Tensor& to, Scalar value);
Tensor copy_(const Tensor& self, const Tensor& from);  // in place, recorded
Tensor fill_(const Tensor& self, Scalar value);
Tensor zero_(const Tensor& self);
Tensor clone(const Tensor& self);
Tensor contiguous(const Tensor& self);
Tensor to_dtype(const Tensor& self, DType dtype);  // the same tensor when nothing changes
Tensor to_device(const Tensor& self, Device device);
/// Tensor.to: both, and a copy even if nothing changes when `copy`.
Tensor to(const Tensor& self, MaybeType dtype, MaybeDevice device, bool copy = false);

// ---- reductions (those rows of reduce.def that other ops are made of; statistics.cpp, along.cpp). No dims: all of them ----
using MaybeDims = std::optional<Dims>;
Tensor sum(const Tensor& x, const MaybeDims& dim = {}, bool keepdim = false, MaybeType dtype = {});
Tensor mean(const Tensor& x, const MaybeDims& dim = {}, bool keepdim = false, MaybeType dtype = {});
Tensor prod(const Tensor& x, const MaybeDims& dim = {}, bool keepdim = false, MaybeType dtype = {});
Tensor amax(const Tensor& x, const MaybeDims& dim = {}, bool keepdim = false, MaybeType dtype = {});
Tensor amin(const Tensor& x, const MaybeDims& dim = {}, bool keepdim = false, MaybeType dtype = {});
Tensor any(const Tensor& x, const MaybeDims& dim = {}, bool keepdim = false, MaybeType dtype = {});
Tensor all(const Tensor& x, const MaybeDims& dim = {}, bool keepdim = false, MaybeType dtype = {});
Tensor nansum(const Tensor& x, const MaybeDims& dim = {}, bool keepdim = false, MaybeType dtype = {});
Tensor count_nonzero(const Tensor& x, const MaybeDims& dim = {}, bool keepdim = false, MaybeType dtype = {});
Tensor max(const Tensor& x);
Tensor min(const Tensor& x);
std::tuple<Tensor, Tensor> max(const Tensor& x, int64_t dim, bool keepdim = false);
std::tuple<Tensor, Tensor> min(const Tensor& x, int64_t dim, bool keepdim = false);
Tensor argmax(const Tensor& x, std::optional<int64_t> dim = {}, bool keepdim = false);
Tensor argmin(const Tensor& x, std::optional<int64_t> dim = {}, bool keepdim = false);
Tensor var(const Tensor& x, const MaybeDims& dim = {}, int64_t correction = 1, bool keepdim = false);
Tensor stddev(const Tensor& x, const MaybeDims& dim = {}, int64_t correction = 1, bool keepdim = false);
Tensor norm(const Tensor& x, Scalar p = 2, const MaybeDims& dim = {}, bool keepdim = false);
Tensor logsumexp(const Tensor& x, const Dims& dim, bool keepdim = false);
Tensor cumsum(const Tensor& x, int64_t dim, MaybeType dtype = {});
Tensor cumprod(const Tensor& x, int64_t dim, MaybeType dtype = {});
/// Sums g down to a shape that broadcasts to g's.
Tensor sum_to_size(const Tensor& g, Ints sizes);

// ---- products (matmul.cpp) ----
Tensor mm(const Tensor& a, const Tensor& b);
Tensor bmm(const Tensor& a, const Tensor& b);
Tensor mv(const Tensor& a, const Tensor& b);
Tensor dot(const Tensor& a, const Tensor& b);
Tensor outer(const Tensor& a, const Tensor& b);
Tensor matmul(const Tensor& a, const Tensor& b);
Tensor addmm(const Tensor& bias, const Tensor& a, const Tensor& b, Scalar beta = 1, Scalar alpha = 1);
Tensor baddbmm(const Tensor& bias, const Tensor& a, const Tensor& b, Scalar beta = 1, Scalar alpha = 1);
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

}  // namespace tessera::tensor

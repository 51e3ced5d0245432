// Elementwise functions that are made of others: powers in double, scaling by powers of two, membership, a matrix's diagonal.
// compile: few-inlines (seldom in a step)
#include <algorithm>

#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/sorting.h"
#include "runtime/ops/views.h"
#include "runtime/plan.h"

namespace tessera::tensor {

Tensor exp2(const Tensor& x);  // a row of pointwise.def

namespace {

Tensor positive(const Tensor& self) {
  check(!is_bool(self.dtype()), TensorErrorKind::NotImplemented,
        "The `+` operator, on a bool tensor is not supported.");
  return self;
}

// ---- powers ----

// A Python number keeps its exactness; a tensor becomes float64 or complex128.
Tensor widened(const Tensor& t, DType type) { return t.is_wrapped_number() ? t : to_dtype(t, type); }
DType power_type(const Tensor& self, const Tensor& exponent) {
  return is_complex(self.dtype()) || is_complex(exponent.dtype()) ? DType::Complex128 : kFloat64;
}
Tensor float_power(const Tensor& self, const Tensor& exponent) {
  const DType type = power_type(self, exponent);
  return pow(widened(self, type), widened(exponent, type));
}
void float_power_kernel(OpCall& c) {
  const Tensor self = Unbox<Tensor>::get(c, 0), exponent = Unbox<Tensor>::get(c, 1);
  if (c.is_inplace()) {
    const DType type = power_type(self, exponent);
    check(self.dtype() == type, TensorErrorKind::Runtime, "the base given to float_power_ has dtype ",
          scalar_type_name(self.dtype()), " but the operation's result requires dtype ", scalar_type_name(type));
  }
  if (c.is_number(1)) return return_value(c, pow(widened(self, power_type(self, exponent)), c.scalar(1)));
  return_value(c, float_power(self, exponent));
}

Tensor powers_of_two(const Tensor& other, DType type) { return exp2(to_dtype(other, type)); }
struct Ldexp {
  static constexpr int kParts = 3;  // from the least denormal number to beyond the largest
  static Meta shape(const Tensor& self, const Tensor& other) {
    if (is_floating(self.dtype()))
      require_type(kAllTypes - DTypeSet(DType::Bool), other, {"ldexp_cpu_exp", "ldexp_cuda"});
    const Tensor* inputs[] = {&self, &other};
    PromotionState promotion;
    promotion.add(self);
    promotion.add(other);
    const DType type = promotion.result();
    const bool as_is = is_floating(type) || is_complex(type);
    return {broadcast_all(inputs, 2), as_is ? type : Context::current().default_dtype, common_device(inputs, 2)};
  }
  static void run(const Tensor& out, const Tensor& self, const Tensor& other) {
    const DType type = out.dtype();
    Tensor scaled = to_dtype(self, type);
    if (!is_integral(other.dtype()) || !is_floating(self.dtype())) return copy_into(out, scaled * powers_of_two(other, type));
    // A power beyond the dtype's range would be 0 or infinite where the product is neither: what is left of the exponent follows.
    const int64_t most = type == kFloat64 ? 1022 : type == kFloat16 ? 14 : 126;
    Tensor left = to_dtype(other, kInt64);
    for (int k = 0; k < kParts; k++) {
      const Tensor part = clamp(left, -most, most);
      scaled = scaled * powers_of_two(part, type), left = left - part;
    }
    copy_into(out, scaled);
  }
  static void grad(Tensor& out, const Tensor& self, const Tensor& other) {
    record(out, "LdexpBackward0", {&self, &other}, keep(self, other), [](Sweep& s) {
      const Tensor x = s.kept(0), n = s.kept(1);
      const DType type = s.g().dtype();
      s.give(0, [&] { return sum_to_size(s.g() * conj(powers_of_two(n, type)), x.sizes()); });
      s.give(1, [&] {
        return sum_to_size(s.g() * conj(to_dtype(x, type) * powers_of_two(n, type)) * 0.69314718055994530942,
                           n.sizes());
      });
    });
  }
};

// ---- membership ----

// By a search among the sorted test elements; NaN is not among them, being unequal to itself.
struct IsIn {
  static Meta shape(const Tensor& elements, const Tensor& tests, bool, bool) {
    for (const Tensor* t : {&elements, &tests})
      check(!is_bool(t->dtype()) && !is_complex(t->dtype()), TensorErrorKind::NotImplemented,
            "Unsupported input type encountered for isin(): ", scalar_type_name(t->dtype()));
    return {elements.sizes(), kBool, (elements.is_wrapped_number() ? tests : elements).device()};
  }
  static void run(const Tensor& out, const Tensor& elements, const Tensor& tests, bool, bool invert) {
    if (tests.numel() == 0) return fill_into(out, invert);
    PromotionState promotion;
    promotion.add(elements);
    promotion.add(tests);
    const DType type = promotion.result();
    const auto row = [&](const Tensor& t) {  // a number comes from the host
      return reshape(to_dtype(t.is_wrapped_number() ? to_device(t, out.device()) : t, type), {-1});
    };
    const Tensor sorted = std::get<0>(sort(row(tests))), wanted = row(elements);
    // No search goes right among edges that are NaN; infinite ones lie as well behind all others.
    const Tensor edges = is_floating(type) ? masked_fill(sorted, ne(sorted, sorted), Scalar(HUGE_VAL)) : sorted;
    const Tensor place = minimum(searchsorted(edges, wanted), Scalar(sorted.numel() - 1));
    const Tensor found = eq(gather(sorted, 0, place), wanted);
    copy_into(out, reshape(invert ? logical_not(found) : found, out.sizes()));
  }
};

Tensor isin_number(const Tensor& elements, Scalar test, bool unique, bool invert) {
  return apply<IsIn>(elements, Tensor::wrapped_number(test), unique, invert);
}
Tensor number_isin(Scalar element, const Tensor& tests, bool unique, bool invert) {
  return apply<IsIn>(Tensor::wrapped_number(element), tests, unique, invert);
}

// ---- a diagonal ----

// With `wrap`, a tall matrix has a further diagonal below each block of columns + 1 rows.
Tensor fill_diagonal(const Tensor& self, Scalar value, bool wrap) {
  check(self.dim() >= 2, TensorErrorKind::Runtime, "dimensions must larger than 1");
  const Ints sizes = self.sizes(), strides = self.strides();
  if (self.dim() > 2)
    for (const int64_t size : sizes)
      check(size == sizes[0], TensorErrorKind::Runtime, "all dimensions of input must be of equal length");
  int64_t step = 0;
  for (const int64_t stride : strides) step += stride;
  const int64_t least = *std::min_element(sizes.begin(), sizes.end());
  fill_(as_strided(self, Dims{least}, Dims{step}, self.offset()), value);
  if (wrap && self.dim() == 2 && sizes[0] > sizes[1] + 1)
    for (int64_t row = sizes[1] + 1; row < sizes[0]; row += sizes[1] + 1)
      fill_(as_strided(self, Dims{std::min(sizes[1], sizes[0] - row)}, Dims{step}, self.offset() + row * strides[0]),
            value);
  return self;
}
void fill_diagonal_kernel(OpCall& c) {
  fill_diagonal(c.tensor(0), c.scalar(1), Unbox<bool>::get(c, 2));
  c.results.emplace_back(c.tensor(0));
}

constexpr uint32_t kBoth = kFunction | kMethod;
TS_OP(positive, "positive(Tensor self) -> Tensor", "The tensor itself.", kBoth, &positive,
      "f[3]\nb[2] -> NotImplementedError: The `+` operator, on a bool tensor is not supported.");
TS_BOXED(float_power, "float_power(Tensor self, Tensor exponent) -> Tensor",
         "self to the power of exponent, in double.", kBoth | kInplace | kOut | kNumberOperands, &float_power_kernel,
         "g[3,4], f[4]\ni[3]<4, i[3]<4",
         .forms =
             "Tensor self, Tensor other\n"
             "Scalar self, Tensor other\n"
             "Tensor self, Scalar other",
         .out = {OutRule::Castable,
                 "the output given to float_power has dtype $O but the operation's result requires dtype $R"},
         .batching = Batching::Pointwise);
TS_OP(ldexp, "ldexp(Tensor self, Tensor other) -> Tensor", "self * 2 ** other.", kBoth | kInplace | kOut, Ldexp,
      "f[3], f[2,1]\ni[3]<4, i[3]<4", .any_device = true);
constexpr char kIsInDoc[] = "Whether each element is among test_elements.";
TS_OP(isin, "isin(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor",
      kIsInDoc, kFunction | kOut | kNoGrad, IsIn,
      "i[3,2]<9, i[4]<9\nf[3], i[4]<9, invert=True\n"
      "b[2], i[2]<3 -> NotImplementedError: Unsupported input type encountered for isin(): Bool",
      .forms =
          "Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False\n"
          "Scalar element, Tensor test_elements, *, bool assume_unique=False, bool invert=False\n"
          "Tensor elements, Scalar test_element, *, bool assume_unique=False, bool invert=False",
      .out = kOutStructured, .out_unrecorded = true, .one_device = "isin_Tensor_Tensor");
TS_OP(
    isin,
    "isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool invert=False) -> Tensor",
    kIsInDoc, kFunction | kOut | kNoGrad, &isin_number, "i[3]<4, 2", .out = kOutStructured, .out_unrecorded = true);
TS_OP(
    isin,
    "isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor",
    kIsInDoc, kFunction | kOut | kNoGrad, &number_isin, "2, i[3]<4", .out = kOutStructured, .out_unrecorded = true);
TS_BOXED(fill_diagonal_, "fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor",
         "Fills the diagonal with a number.", kMethod, &fill_diagonal_kernel,
         "f[3,3], 2\nf[7,2], 1.5, True\nf[2], 1 -> RuntimeError: dimensions must larger than 1");

}  // namespace
}  // namespace tessera::tensor

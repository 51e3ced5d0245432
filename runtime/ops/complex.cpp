// compile: small (seldom in a step, and the kernel takes longer)
#include "runtime/ops/complex.h"

#include <algorithm>

#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/join.h"
#include "runtime/ops/math_bits.h"
#include "runtime/ops/pointwise_ids.h"
#include "runtime/ops/result_layout.h"
#include "runtime/ops/views.h"
#include "runtime/plan.h"

namespace tessera::tensor {

Tensor atan2(const Operand& x, const Operand& y);  // rows of pointwise.def
Tensor cos(const Tensor& x);
Tensor hypot(const Operand& x, const Operand& y);

namespace {

Tensor view_with_type(const Tensor& self, Ints sizes, Ints strides, DType type) {
  Tensor out = Tensor::adopt(TensorImpl::create_view(&self.storage(), self.impl()->address(), sizes, strides, type));
  out.set_math_bits(self.math_bits());
  return out;
}

}  // namespace

Tensor view_as_real(const Tensor& self) {
  check(is_complex(self.dtype()), TensorErrorKind::Type, "view_as_real is only supported for complex tensors");
  check(
      !self.is_conj(), TensorErrorKind::Runtime,
      "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can view "
      "it as real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT alias the original.");
  Dims sizes(self.sizes()), strides(self.strides());
  for (auto& s : strides) s *= 2;
  sizes.push_back(2), strides.push_back(1);
  Tensor out = view_with_type(self, sizes, strides, real_type(self.dtype()));
  return record_view(out, self, "ViewAsRealBackward0",
                     [](Sweep& s) { s.give(0, [&] { return view_as_complex(contiguous(s.g())); }); });
}

Tensor view_as_complex(const Tensor& self) {
  check(!is_complex(self.dtype()), TensorErrorKind::Type, "view_as_complex is not supported for complex tensors");
  check(self.dtype() == kFloat32 || self.dtype() == kFloat64 || self.dtype() == kFloat16,
        TensorErrorKind::NotImplemented,
        "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: ",
        scalar_type_name(self.dtype()));
  check(self.dim() > 0, TensorErrorKind::Runtime, "Input tensor must have one or more dimensions");
  check(self.sizes().back() == 2, TensorErrorKind::Runtime, "Tensor must have a last dimension of size 2");
  check(self.strides().back() == 1, TensorErrorKind::Runtime, "Tensor must have a last dimension with stride 1");
  Dims sizes(self.sizes().first(size_t(self.dim()) - 1)), strides(self.strides().first(size_t(self.dim()) - 1));
  for (auto& s : strides) {
    check(s % 2 == 0, TensorErrorKind::Runtime, "Tensor must have a stride divisible by 2 for all but last dimension");
    s /= 2;
  }
  check(self.offset() % 2 == 0, TensorErrorKind::Runtime, "Tensor must have a storage_offset divisible by 2");
  Tensor out = view_with_type(self, sizes, strides, complex_type(self.dtype()));
  return record_view(out, self, "ViewAsComplexBackward0",
                     [](Sweep& s) { s.give(0, [&] { return view_as_real(s.g()); }); });
}

Tensor real(const Tensor& self) {
  if (!is_complex(self.dtype())) return self;
  return select(view_as_real(self.is_conj() ? conj_view(self) : self), -1, 0);
}

Tensor imag(const Tensor& self) {
  check(is_complex(self.dtype()), TensorErrorKind::Type,
        "imag is not implemented for tensors with non-complex dtypes.");
  return select(self.is_conj() ? neg_view(view_as_real(conj_view(self))) : view_as_real(self), -1, 1);
}

[[noreturn]] static void refuse_parts(const Tensor& re, const Tensor& im) {
  fail(TensorErrorKind::NotImplemented, "Expected both inputs to be Half, Float or Double tensors but got ",
       scalar_type_name(re.dtype()), " and ", scalar_type_name(im.dtype()));
}
static void check_parts(const Tensor& re, const Tensor& im) {
  for (const Tensor* t : {&re, &im})
    if (t->dtype() != kFloat16 && t->dtype() != kFloat32 && t->dtype() != kFloat64) refuse_parts(re, im);
}

Tensor complex(const Tensor& re, const Tensor& im) {
  check_parts(re, im);
  check(re.dtype() == im.dtype(), TensorErrorKind::Runtime, "Expected object of scalar type ",
        scalar_type_name(re.dtype()), " but got scalar type ", scalar_type_name(im.dtype()), " for second argument");
  const Dims shape = broadcast_shapes(re.sizes(), im.sizes());
  const Tensor* const parts[] = {&re, &im};
  const Dims strides = result_strides(parts, shape);
  if (strides.empty())
    return renamed(view_as_complex(stack({expand(re, shape), expand(im, shape)}, -1)), "ComplexBackward0");
  // In memory the dimensions are in the order of their strides; there the parts are joined.
  Dims order;
  for (int64_t d = 0; d < int64_t(shape.size()); d++) order.push_back(d);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return strides[size_t(a)] > strides[size_t(b)]; });
  const Tensor joined =
      complex(contiguous(permute(expand(re, shape), order)), contiguous(permute(expand(im, shape), order)));
  Dims back(order.size());
  for (size_t i = 0; i < order.size(); i++) back[size_t(order[i])] = int64_t(i);
  return renamed(permute(joined, back), "ComplexBackward0");
}

namespace {

struct ConjPhysical {
  static constexpr bool in_place = true;
  static Meta shape(const Tensor& self) { return {self.sizes(), self.dtype(), self.device(), dense_strides(self)}; }
  static void run(const Tensor& out, const Tensor& self) {
    if (!out.same(self)) copy_into(out, self);
    if (!is_complex(out.dtype())) return;
    const Tensor part = imag(out);
    const Operand in[] = {part};
    run_pointwise_inplace(pointwise::k_neg, in);
  }
  static void grad(Tensor& out, const Tensor& self) {
    record(out, "ConjPhysicalBackward0", {&self}, [](Sweep& s) { s.give(0, [&] { return conj(s.g()); }); });
  }
};

}  // namespace

Tensor conj(const Tensor& self) { return is_complex(self.dtype()) ? apply<ConjPhysical>(self) : self; }

Tensor renamed(Tensor result, const char* node) {
  if (needs_grad(result) && result.requires_grad()) grad_fn_of(result)->name = node;
  return result;
}

namespace {

struct ComplexAbs {
  static Meta shape(const Tensor& self) {
    return {self.sizes(), real_type(self.dtype()), self.device(), dense_strides(self)};
  }
  static void run(const Tensor& out, const Tensor& self) { copy_into(out, hypot(real(self), imag(self))); }
  static void grad(Tensor& out, const Tensor& self) {
    record(out, "AbsBackward0", {&self}, keep(self),
           [](Sweep& s) { s.give(0, [&] { return s.g() * sgn(s.kept(0)); }); });
  }
};

}  // namespace

Tensor complex_abs(const Tensor& self) { return apply<ComplexAbs>(self); }

Tensor angle(const Tensor& self) {
  if (is_complex(self.dtype())) return renamed(atan2(imag(self), real(self)), "AngleBackward0");
  const Tensor x = is_floating(self.dtype()) ? self : to_dtype(self, Context::current().default_dtype);
  return renamed(where(isnan(x), x, where(x < 0.0, Scalar(3.14159265358979323846), x * 0.0)), "AngleBackward0");
}

namespace {

// complex32 is computed as complex64 and rounded once.
Tensor wide(const Tensor& self) { return to_dtype(self, wide_type(self.dtype())); }

/// Part by part, so that an infinite part leaves the other one alone.
Tensor by_size(const Tensor& self, const Tensor& size) {
  return view_as_complex(view_as_real(contiguous(self)) / unsqueeze(size, -1));
}

struct ComplexSgn {
  static Meta shape(const Tensor& self) {
    return {self.sizes(), self.dtype(), self.device(), result_strides({{&self}}, self.sizes())};
  }
  static void run(const Tensor& out, const Tensor& given) {
    const Tensor self = wide(given), size = complex_abs(self);
    copy_into(out, where(size == 0.0, 0.0, by_size(self, size)));
  }
  static void grad(Tensor& out, const Tensor& self) {
    record(out, "SgnBackward0", {&self}, keep(self), [](Sweep& s) {
      s.give(0, [&] {
        const Tensor size = complex_abs(s.kept(0)), unit = sgn(s.kept(0)), g = s.g();
        const Tensor rest = by_size(g, size) - by_size(real(g / unit) * unit, size);
        return where(size == 0.0, 0.0, rest);
      });
    });
  }
};

}  // namespace

Tensor sgn(const Tensor& self) {
  return is_complex(self.dtype()) ? apply<ComplexSgn>(self) : renamed(sign(self), "SgnBackward0");
}

Tensor complex_logaddexp(const Tensor& x, const Tensor& y) {
  PromotionState promotion;
  promotion.add(x), promotion.add(y);
  const DType type = promotion.result();
  const Tensor a = to_dtype(x, type), b = to_dtype(y, type), order = real(a) < real(b);
  const Tensor low = where(order, a, b), high = where(order, b, a), top = real(high);
  const Tensor nothing = isneginf(top), endless = isposinf(real(low));
  const Tensor gap = where(nothing | endless, 0.0, low - high);
  const Tensor usual = high + log1p(exp(gap));
  return renamed(where(nothing, low, where(endless, log(exp(a) + exp(b)), usual)), "LogaddexpBackward0");
}

namespace {

Tensor polar(const Tensor& abs, const Tensor& angle) {
  check_parts(abs, angle);
  check(abs.dtype() == angle.dtype(), TensorErrorKind::Runtime, "Expected object of scalar type ",
        scalar_type_name(abs.dtype()), " but got scalar type ", scalar_type_name(angle.dtype()),
        " for second argument");
  if (abs.dtype() == kFloat16)  // rounded once
    return renamed(to_dtype(polar(to_dtype(abs, kFloat32), to_dtype(angle, kFloat32)), kComplex32), "PolarBackward0");
  return renamed(complex(abs * cos(angle), abs * sin(angle)), "PolarBackward0");
}
Tensor isreal(const Tensor& self) {
  if (is_complex(self.dtype())) return imag(self) == 0.0;
  const Tensor out = Meta(self.sizes(), kBool, self.device(), dense_strides(self)).allocate();
  fill_into(out, true);
  return out;
}
bool has_parts(const Tensor& self) { return is_complex(self.dtype()); }

constexpr uint32_t kBoth = kFunction | kMethod;
TS_OP(view_as_real, "view_as_real(Tensor self) -> Tensor", "The parts as a last dimension of two, on the same memory.",
      kFunction | kView, &view_as_real,
      "c[2,3]\n"
      "f[2] -> TypeError: view_as_real is only supported for complex tensors");
TS_OP(view_as_complex, "view_as_complex(Tensor self) -> Tensor",
      "Pairs in the last dimension as complex numbers, on the same memory.", kFunction | kView | kLayoutMatters,
      &view_as_complex,
      "f[3,2]\n"
      "f[3] -> RuntimeError: Tensor must have a last dimension of size 2",
      .autocast = Autocast::Float32);
TS_OP(real, "real(Tensor self) -> Tensor", "The real part, a view.", kFunction | kProperty | kView, &real,
      "c[2,3]\n"
      "f[3]",
      .batching = Batching::Front);
TS_OP(imag, "imag(Tensor self) -> Tensor", "The imaginary part, a view.", kFunction | kProperty | kView, &imag,
      "c[2,3]\n"
      "f[3] -> TypeError: imag is not implemented for tensors with non-complex dtypes.",
      .batching = Batching::Front);
TS_OP(
    complex, "complex(Tensor real, Tensor imag) -> Tensor", "A complex tensor of its parts.", kFunction | kOut,
    &complex,
    "f[2,3], f[3]\n"
    "f[2,3].t, f[2,3].t\n"
    "f[2], i[2]<3 -> NotImplementedError: Expected both inputs to be Half, Float or Double tensors but got Float and Long",
    .out = {OutRule::Same, "Expected object of scalar type $R but got scalar type $O for argument 'out'"},
    .batching = Batching::Pointwise);
TS_OP(polar, "polar(Tensor abs, Tensor angle) -> Tensor", "A complex tensor of its absolute values and angles.",
      kFunction | kOut, &polar, "p[2,3], f[2,3]",
      .out = {OutRule::Same, "Expected object of scalar type $R but got scalar type $O for argument 'out'"},
      .autocast = Autocast::Float32);
TS_OP(conj_physical, "conj_physical(Tensor self) -> Tensor", "The complex conjugate, computed.",
      kBoth | kInplace | kOut, &conj,
      "c[2,3]\n"
      "f[3]",
      .out = kOutFound);
TS_OP(angle, "angle(Tensor self) -> Tensor", "The angle in radians; pi for negative real numbers.", kBoth | kOut,
      &angle,
      "c[2,3]\n"
      "f[3]\n"
      "i[3]<4");
TS_OP(sgn, "sgn(Tensor self) -> Tensor", "x / |x|, the sign of real numbers; 0 at 0.", kBoth | kInplace | kOut, &sgn,
      "c[2,3]\n"
      "c[3,2].t\n"
      "f[3]",
      .out = kOutFound);
TS_OP(is_complex, "is_complex(Tensor self) -> bool", "Whether the elements are complex numbers.", kFunction | kNoGrad,
      &has_parts, "c[2]\nf[2]");
TS_OP(isreal, "isreal(Tensor self) -> Tensor", "Whether the imaginary part is 0.", kBoth | kNoGrad, &isreal,
      "c[3]\n"
      "f[3]",
      .batching = Batching::Front);

}  // namespace
}  // namespace tessera::tensor

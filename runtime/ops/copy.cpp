// Copies, fills and conversions, with the gradient of each: a conversion's gradient is converted back.
#include <cstring>

#include "runtime/device/backend.h"
#include "runtime/device/memory.h"
#include "runtime/fuse/launch_queue.h"
#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/math_bits.h"
#include "runtime/ops/memory_format.h"
#include "runtime/ops/pinned.h"
#include "runtime/ops/pointwise_ids.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {
namespace {

// ---- derivatives ----

void record_copy(Tensor& out, const Tensor& self) {
  record(out, "CloneBackward0", {&self}, [](Sweep& s) { s.give(0, [&] { return s.g(); }); });
}

void record_conversion(Tensor& out, const Tensor& self) {
  record(out, "ToCopyBackward0", {&self}, [dtype = self.dtype(), device = self.device()](Sweep& s) {
    if (s.g().defined()) s.give(0, [&] { return to(s.g(), dtype, device); });
  });
}

CountedPtr<Node> overwriting_node(const Tensor& self, const Tensor& from) {
  return make_node("CopyBackwards", {&self, &from}, Kept<0>{},
                   [shape = Dims(from.sizes()), dtype = from.dtype(), device = from.device()](Sweep& s) {
                     if (!s.g().defined()) return;
                     s.give(0, [&] { return zeros_like(s.g()); });
                     s.give(1, [&] { return to(sum_to_size(s.g(), shape), dtype, device); });
                   });
}

CountedPtr<Node> filling_node(const Tensor& self) {
  return make_node("FillBackward0", {&self}, Kept<0>{}, [](Sweep& s) {
    if (s.g().defined()) s.give(0, [&] { return zeros_like(s.g()); });
  });
}

void check_copy(const Tensor& to, const Tensor& from) {
  check(to.device().is_meta() || !from.device().is_meta(), TensorErrorKind::NotImplemented,
        "Cannot copy out of meta tensor; no data!");
  if (to.sizes() == from.sizes() || (to.numel() == 0 && from.numel() == 0)) return;
  Ints t = to.sizes(), f = from.sizes();
  if (f.size() > t.size())
    fail(TensorErrorKind::Runtime, "output with shape ", t, " doesn't match the broadcast shape ",
         Ints(broadcast_shapes(t, f)));
  for (size_t i = 1; i <= f.size(); i++)
    check(f[f.size() - i] == t[t.size() - i] || f[f.size() - i] == 1, TensorErrorKind::Runtime,
          "The size of tensor a (", t[t.size() - i], ") must match the size of tensor b (", f[f.size() - i],
          ") at non-singleton dimension ", t.size() - i);
}

// A fresh tensor elsewhere that lies as `like` does: as empty_like_strided on its own device.
Tensor empty_there(const Tensor& like, DType dtype, Device device) {
  return Meta(like.sizes(), dtype, device, dense_strides(like)).allocate();
}

// Without gaps, in whatever order: one run of bytes.
bool is_one_run(const Tensor& t) {
  if (t.is_contiguous()) return true;
  const Dims strides = dense_strides(t);
  return !strides.empty() && Ints(strides) == t.strides();
}

// The elements in the order of `to`'s memory, which is one run, on the device where they are.
Tensor laid_for(const Tensor& to, const Tensor& from) {
  const bool ready = from.sizes() == to.sizes() && from.dtype() == to.dtype();
  if (ready && ((from.is_contiguous() && to.is_contiguous()) || (from.strides() == to.strides() && is_one_run(from))))
    return from;
  Tensor dense = empty_there(to, to.dtype(), from.device());
  copy_into(dense, from);
  return dense;
}

// Without `wait` nobody waits for the device if the host's side is pinned, which the backend then looks after.
void copy_across(const Tensor& to, const Tensor& from, bool wait) {
  if (from.numel() == 1 && from.device().is_cpu() && to.dtype() != kUInt64)  // goes along in a kernel's parameters
    return fill_into(to, to_dtype(from, to.dtype()).item());
  const Tensor target = is_one_run(to) ? to : empty_there(to, to.dtype(), to.device());
  const Tensor source = laid_for(target, from);
  if (to.device().is_cpu() && !(target.same(to) && is_pinned(to))) wait = true;
  copy_bytes(target.data_ptr(), to.device(), source.data_ptr(), from.device(), source.nbytes(), wait);
  if (!target.same(to)) copy_into(to, target);
}

void negate(const Tensor& t) {
  const Operand in[] = {t};
  run_pointwise_inplace(pointwise::k_neg, in);
}

// The memory is copied, then what differs by the bits is computed in place. Another dtype is reached after the bits: the
// negative of a uint8 is none of the float that it becomes.
void copy_math_bits(const Tensor& to, const Tensor& from) {
  const Tensor source = from.has_math_bits() && from.dtype() != to.dtype() ? resolve_math_bits(from) : from;
  const Tensor target = without_math_bits(to);
  copy_into(target, without_math_bits(source));
  const uint8_t flips = to.math_bits() ^ source.math_bits();
  const GradMode off(false);
  if (flips & TensorImpl::kConjBit && is_complex(to.dtype())) negate(imag(target));
  if (flips & TensorImpl::kNegBit) negate(target);
}

}  // namespace

static void copy_or_begin(const Tensor& to, const Tensor& from, bool wait) {
  check_copy(to, from);
  if (to.numel() == 0 || to.device().is_meta()) return;
  if ((to.math_bits() | from.math_bits()) != 0) [[unlikely]]
    return copy_math_bits(to, from);
  if (is_packed(to.dtype()) && to.dtype() == from.dtype() && is_integral(to.dtype()))
    refuse_type(to.dtype(), "copy_kernel");
  if (to.device() != from.device()) return copy_across(to, from, wait);
  const Tensor* operands[] = {&to, &from};
  Loop loop;
  make_loop(loop, operands, 2);
  copy_kernel(to.device(), CopyCall{loop});
}

void copy_into(const Tensor& to, const Tensor& from) { copy_or_begin(to, from, true); }

constexpr size_t kFewBytes = 1024;  // a call of a kernel costs more than to clear them

void fill_into(const Tensor& to, Scalar given) {
  if (to.device().is_meta()) return;
  if (given.is_int() && given.to_int() == 0 && to.is_contiguous() && to.nbytes() <= kFewBytes && to.device().is_cpu())
    return void(std::memset(to.data_ptr(), 0, to.nbytes()));  // zero is all bits clear in every dtype
  const bool is_zero = given.is_int() && given.to_int() == 0 && is_packed(to.dtype());
  if (is_zero && to.is_contiguous() && to.device().is_cpu()) return void(std::memset(to.data_ptr(), 0, to.nbytes()));
  if (is_packed(to.dtype())) refuse_type(to.dtype(), "fill_cpu");
  const Scalar value = given.as(to.dtype());
  if (to.numel() == 0) return;
  const Tensor* operands[] = {&to};
  Loop loop;
  if (to.is_contiguous()) {
    loop.operands = 1;
    loop.numel = loop.sizes[0] = to.numel();
    loop.strides[0][0] = 1;
    loop.data[0] = static_cast<char*>(to.data_ptr());
    loop.dtype[0] = to.dtype();
  } else {
    make_loop(loop, operands, 1);
  }
  fill_kernel(to.device(), FillCall{loop, value});
}

static Tensor copy_recorded(const Tensor& self, const Tensor& from, bool wait) {
  const bool record = needs_grad(self, from) && is_differentiable(self.dtype());
  if (record || self.requires_grad()) check_inplace(self);
  check_no_internal_overlap(self);
  CountedPtr<Node> node;
  if (record) node = overwriting_node(self, from);
  Tensor source = from;
  if (&self.storage() == &from.storage() && !self.same(from))
    source = clone(from);  // may overlap: the order would matter
  if (!self.same(from)) copy_or_begin(self, source, wait);
  self.bump_version();
  Tensor handle = self;
  if (node) rebase_history(handle, std::move(node));
  return handle;
}

Tensor copy_(const Tensor& self, const Tensor& from) { return copy_recorded(self, from, true); }
Tensor copy_without_waiting(const Tensor& self, const Tensor& from) { return copy_recorded(self, from, false); }

Tensor fill_(const Tensor& self, Scalar value) {
  if (self.requires_grad()) check_inplace(self);
  fill_into(self, value);
  self.bump_version();
  Tensor handle = self;
  if (needs_grad(self)) rebase_history(handle, filling_node(self));
  return handle;
}

Tensor zero_(const Tensor& self) { return fill_(self, 0); }

Tensor clone(const Tensor& self) {
  Tensor out = empty_like_strided(self, self.dtype());
  copy_into(out, self);
  if (needs_grad(self)) record_copy(out, self);
  return out;
}

Tensor contiguous(const Tensor& self) {
  if (self.is_contiguous()) return self;
  Tensor out = Tensor::empty(self.sizes(), self.dtype(), self.device());
  copy_into(out, self);
  if (needs_grad(self)) record_copy(out, self);
  return out;
}

Tensor to(const Tensor& self, MaybeType dtype, MaybeDevice device, bool copy) {
  DType type = dtype.value_or(self.dtype());
  Device place = device ? resolve_device(*device) : self.device();
  if (!copy && type == self.dtype() && place == self.device()) return self;
  Tensor out;
  Context& context = Context::current();
  if (self.numel() >= context.fuses_from && type != self.dtype() && place.is_cpu())
    out = context.launch_queue().put_off_conversion(self, type);
  if (!out.defined()) {
    out = empty_there(self, type, place);
    copy_into(out, self);
  }
  if (needs_grad(self) && is_differentiable(type)) record_conversion(out, self);
  return out;
}

Tensor to_format(const Tensor& self, DType type, bool copy, const MemoryFormat& format) {
  const Dims strides = strides_in(self, format);
  if (!copy && type == self.dtype() && (*format == "torch.preserve_format" || lies_in(self, strides))) return self;
  Tensor out = Tensor::empty(self.sizes(), type, self.device());
  if (!strides.empty()) out.impl()->set_layout(self.sizes(), strides);
  copy_into(out, self);
  if (needs_grad(self) && is_differentiable(type)) {
    if (type == self.dtype()) record_copy(out, self);
    else record_conversion(out, self);
  }
  return out;
}

Tensor to_without_waiting(const Tensor& self, DType dtype, Device device, bool copy) {
  const Device place = resolve_device(device);
  if (place == self.device() || place.is_meta()) return to(self, dtype, place, copy);
  Tensor out = place.is_cpu() ? empty_pinned(self.sizes(), dtype) : empty_there(self, dtype, place);
  if (place.is_cpu())
    if (const Dims strides = dense_strides(self); !strides.empty()) out.impl()->set_layout(self.sizes(), strides);
  copy_or_begin(out, self, false);
  if (needs_grad(self) && is_differentiable(dtype)) record_conversion(out, self);
  return out;
}

Tensor to_dtype(const Tensor& self, DType dtype) { return to(self, dtype, {}); }
Tensor to_device(const Tensor& self, Device device) { return to(self, {}, device); }

namespace {

// In-place by name: self is argument 0, so the result needs no copying back.
void copy_boxed(OpCall& c) {
  const Tensor from = Unbox<Tensor>::get(c, 1);
  c.results.emplace_back(Unbox<bool>::get(c, 2) ? copy_without_waiting(c.tensor(0), from) : copy_(c.tensor(0), from));
}
void fill_boxed(OpCall& c) {
  if (c.is_tensor(1)) c.results.emplace_back(copy_(c.tensor(0), c.tensor(1)));
  else c.results.emplace_back(fill_(c.tensor(0), c.scalar(1)));
}
void fill_tensor_boxed(OpCall& c) {
  check(c.tensor(1).dim() == 0, TensorErrorKind::Runtime,
        "fill_ only supports 0-dimension value tensor but got tensor with ", c.tensor(1).dim(), " dimensions.");
  fill_boxed(c);
}
void zero_boxed(OpCall& c) { c.results.emplace_back(zero_(c.tensor(0))); }

TS_BOXED(copy_, "copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor",
         "Copies src into self, broadcast and converted.", kMethod | kTakesMathBits, copy_boxed, "f[2,3], f[3]",
         .forms =
             "Tensor self, Tensor other, bool non_blocking=False\n"
             "!",
         .takes_numbers_anywhere = true, .batching = Batching::Pointwise);
TS_BOXED(fill_, "fill_(Tensor(a!) self, Scalar value) -> Tensor", "Sets every element to value.", kMethod, fill_boxed,
         "f[2,3], 1.5",
         .forms =
             "Tensor self, Tensor value\n"
             "Tensor self, Scalar value",
         .batching = Batching::Pointwise);
TS_BOXED(fill_, "fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor", "Sets every element to value.", kMethod,
         fill_tensor_boxed,
         "f[2,3], f[]\n"
         "f[2], f[2] -> RuntimeError: fill_ only supports 0-dimension value tensor but got tensor with 1 dimensions.",
         .priority = 1, .batching = Batching::Pointwise);
TS_BOXED(zero_, "zero_(Tensor(a!) self) -> Tensor", "Sets every element to zero.", kMethod, zero_boxed, "f[2,3]",
         .batching = Batching::Pointwise);
Tensor clone_in(const Tensor& self, const MemoryFormat& format) {
  return format ? to_format(self, self.dtype(), true, format) : clone(self);
}
Tensor contiguous_in(const Tensor& self, const MemoryFormat& format) {
  const bool preserve = format && *format == "torch.preserve_format";
  check(!preserve || self.is_contiguous(), TensorErrorKind::Runtime,
        "preserve memory format is unsupported by the contiguous operator");
  return format ? to_format(self, self.dtype(), false, format) : contiguous(self);
}
TS_OP(clone, "clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", "A copy of self, recorded.",
      kFunction | kMethod | kTakesMathBits, &clone_in,
      "f[2,3]\n"
      "f[3,2].t",
      .batching = Batching::Front);
TS_OP(contiguous, "contiguous(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
      "Self if it is row-major without gaps, else such a copy.", kMethod | kTakesMathBits, &contiguous_in, "f[3,2].t",
      .batching = Batching::Front);

Tensor laid_as(const Tensor& self, const Tensor& like) { return channels_last_if(has_channels_last(like), self); }
TS_OP(laid_as, "laid_as(Tensor self, Tensor like) -> Tensor",
      "Self with its channels last where those of another image or volume lie so.", kFunctional | kInternal, &laid_as,
      "f[1,2,3,4], f[1,2,3,4]");

Tensor cast(const Tensor& self, DType dtype, const MemoryFormat& format) {
  if (!format) return to_dtype(self, dtype);
  return dtype == self.dtype() && is_taken_for(self, format) ? self : to_format(self, dtype, true, format);
}

template <DType t>
Tensor cast_to(const Tensor& self) {
  return to_dtype(self, t);
}
template <DType t>
Tensor cast_in(const Tensor& self, const MemoryFormat& format) {
  return cast(self, t, format);
}
#define TS_CAST_METHOD(NAME, TEXT, METHOD)                                                                            \
  TS_BOXED(METHOD, #METHOD "(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", "Self as torch." TEXT ".", \
           kMethod | kTakesMathBits, box<&cast_in<DType::NAME>>, "f[2,3]", .fast = {&cast_to<DType::NAME>},           \
           .forms = "Tensor self, *, MemoryFormat? memory_format=None", .batching = Batching::Front);
#define STORED_DTYPE(...)
#define PACKED_DTYPE(...)
#define DTYPE(NAME, TYPE, CLASS, TEXT, SCALAR_TYPE, METHOD, ...) TS_CAST_METHOD(NAME, TEXT, METHOD)
#include "runtime/dtypes.def"
TS_CAST_METHOD(Complex32, "complex32", chalf)  // the one stored dtype with a method
#undef TS_CAST_METHOD

}  // namespace
}  // namespace tessera::tensor

// compile: few-inlines (seldom run, but in front of other ops)
#include "runtime/ops/math_bits.h"

#include <algorithm>
#include <deque>

#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/one_device.h"
#include "runtime/ops/pointwise_ids.h"

namespace tessera::tensor {
namespace {

Tensor toggled(const Tensor& self, uint8_t bit) {
  Tensor out = self.view_of(self.sizes(), self.strides());
  out.set_math_bits(self.math_bits() ^ bit);
  return out;
}

}  // namespace

Tensor conj_view(const Tensor& self) {
  if (!is_complex(self.dtype())) return self;
  Tensor out = toggled(self, TensorImpl::kConjBit);
  return record_view(out, self, "ConjBackward0", [](Sweep& s) { s.give(0, [&] { return conj(s.g()); }); });
}

Tensor neg_view(const Tensor& self) {
  check(self.dtype() != kBool, TensorErrorKind::Runtime,
        "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the "
        "`~` or `logical_not()` operator instead.");
  Tensor out = toggled(self, TensorImpl::kNegBit);
  return record_view(out, self, "NegViewBackward0", [](Sweep& s) { s.give(0, [&] { return neg(s.g()); }); });
}

Tensor without_math_bits(const Tensor& self) {
  const Tensor out = self.view_of(self.sizes(), self.strides());
  out.set_math_bits(0);
  return out;
}

Tensor resolve_math_bits(const Tensor& self) {
  Tensor out = empty_like_strided(self, self.dtype());
  copy_into(out, self);
  if (self.impl()->flags & TensorImpl::kInference) out.impl()->flags |= TensorImpl::kInference;
  share_derivatives(out, self);
  return out;
}

// ---- calls ----

namespace {

bool has_bits(const Tensor& t) { return t.defined() && t.has_math_bits(); }
bool has_bits(const OptionalTensor& t) { return t && has_bits(*t); }
bool has_bits(const Arg& arg) {
  const auto any = [](const auto& list) {
    return std::any_of(list.begin(), list.end(), [](const auto& t) { return has_bits(t); });
  };
  switch (arg.kind()) {
    case Arg::Kind::Tensor: return has_bits(arg.tensor());
    case Arg::Kind::Tensors: return any(arg.tensors());
    case Arg::Kind::OptionalTensors: return any(arg.optional_tensors());
    default: return false;
  }
}

bool has_bits(const OpCall& call) {
  for (const Arg& arg : call.args)
    if (has_bits(arg)) return true;
  for (const Tensor& out : call.out)
    if (has_bits(out)) return true;
  return false;
}

// The arguments of a call, resolved; what is made for them lives as long as this.
class ResolvedArgs {
 public:
  explicit ResolvedArgs(std::span<const Arg> given) : args(given.begin(), given.end()) {
    for (Arg& arg : args) {
      if (!has_bits(arg)) continue;
      if (arg.is_tensor()) arg = Arg(tensors_.emplace_back(resolved(arg.tensor())));
      else if (arg.kind() == Arg::Kind::Tensors) arg = Arg(each(lists_.emplace_back(arg.tensors())));
      else arg = Arg(each(optional_.emplace_back(arg.optional_tensors())));
    }
  }

  std::vector<Arg> args;

 private:
  static TensorList& each(TensorList& list) {
    for (Tensor& t : list) t = resolved(t);
    return list;
  }
  static std::vector<OptionalTensor>& each(std::vector<OptionalTensor>& list) {
    for (OptionalTensor& t : list)
      if (t) *t = resolved(*t);
    return list;
  }

  std::deque<Tensor> tensors_;
  std::deque<TensorList> lists_;
  std::deque<std::vector<OptionalTensor>> optional_;
};

// Puts what was computed in `from` where it belongs.
void write_back(const Tensor& to, const Tensor& from) {
  if (to.sizes() == from.sizes()) return void(copy_(to, from));
  to.impl()->set_storage(&from.storage(), from.bytes());  // out= was resized
  to.impl()->set_layout(from.sizes(), from.strides());
  to.set_math_bits(0);
}

void call_resolved(OpCall& call) {
  ResolvedArgs resolved_args(call.args);
  const std::span<Arg> args = resolved_args.args;
  const bool writes_self = call.is_inplace() || std::string_view(call.entry.name).ends_with('_');
  TensorList out;
  for (const Tensor& t : call.out) out.push_back(call.is_inplace() ? args[0].tensor() : resolved(t));
  OpCall inner{call.entry, call.context, args, out, {}};
  call.entry.kernel(inner);
  // Self of an entry that writes it by its name, without `out`: random_, fill_.
  if (out.empty() && writes_self && has_bits(call.args[0])) write_back(call.args[0].tensor(), args[0].tensor());
  for (size_t i = 0; i < out.size(); i++)
    if (has_bits(call.out[i])) write_back(call.out[i], out[i]);
  for (OpArg& result : inner.results) {
    const Tensor* const t = std::get_if<Tensor>(&result);
    const Tensor* given = nullptr;
    for (size_t i = 0; t && i < out.size(); i++)
      if (t->same(out[i])) given = &call.out[i];
    if (t && !given && writes_self && args[0].is_tensor() && t->same(args[0].tensor())) given = &call.args[0].tensor();
    if (given) call.results.emplace_back(*given);
    else call.results.emplace_back(std::move(result));
  }
}

}  // namespace

[[gnu::hot]] void call_entry(OpCall& call) {
  check_one_device(call);
  if (!(call.entry.flags & (kView | kTakesMathBits)) && has_bits(call)) [[unlikely]]
    return call_resolved(call);
  call.entry.kernel(call);
}

// ---- entries ----

namespace {

Tensor resolve_conj(const Tensor& self) { return self.is_conj() ? clone(self) : self; }
Tensor resolve_neg(const Tensor& self) { return self.is_neg() ? clone(self) : self; }
bool is_conj_view(const Tensor& self) { return self.is_conj(); }
bool is_neg_view(const Tensor& self) { return self.is_neg(); }

constexpr uint32_t kBoth = kFunction | kMethod | kTakesMathBits;
TS_OP(conj, "conj(Tensor self) -> Tensor",
      "The complex conjugates, a view: reads and writes through it conjugate. A real tensor itself.", kBoth | kView,
      &conj_view,
      "c[2,3]\n"
      "f[3]",
      .batching = Batching::Front);
TS_OP(_neg_view, "_neg_view(Tensor self) -> Tensor", "The negatives, a view: reads and writes through it negate.",
      kFunction | kMethod | kView, &neg_view,
      "f[2,3]\n"
      "c[2]");
TS_OP(resolve_conj, "resolve_conj(Tensor self) -> Tensor", "A copy where self is a view that conjugates, else self.",
      kBoth, &resolve_conj, "c[2]");
TS_OP(resolve_neg, "resolve_neg(Tensor self) -> Tensor", "A copy where self is a view that negates, else self.", kBoth,
      &resolve_neg, "f[2]");
TS_OP(is_conj, "is_conj(Tensor self) -> bool", "Whether self is a view that conjugates.", kBoth | kNoGrad,
      &is_conj_view, "c[2]");
TS_OP(is_neg, "is_neg(Tensor self) -> bool", "Whether self is a view that negates.", kBoth | kNoGrad, &is_neg_view,
      "f[2]");

}  // namespace
}  // namespace tessera::tensor

// compile: small (runs in forward mode alone)
#include "stdlib/torch/forward_mode.h"

#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/types/list.h"
#include "runtime/autograd/record.h"
#include "runtime/autograd/tangents.h"
#include "runtime/ops.h"
#include "runtime/ops/math_bits.h"
#include "stdlib/torch/convert.h"

namespace tessera::stdlib {
namespace {

uint32_t level_of(const Value& v) { return static_cast<uint32_t>(v.as_int()); }

// Tangents have tangents of the levels around: their number doubles with each level.
constexpr size_t kMostLevels = 16;

Value enter_level(Interpreter& in, const Args& args) {
  if (torch_state(in).context.duals.entered.size() >= kMostLevels)
    throw Error(ErrorKind::RecursionError, "maximum recursion depth exceeded in levels of forward mode");
  return in_torch(in, args, [] { return Value::integer(tensor::enter_dual_level()); });
}

Value exit_level(Interpreter& in, const Args& args) {
  return in_torch(in, args, [] {
    tensor::exit_dual_level();
    return Value::none();
  });
}

// How many levels calls see, from the outermost on; None: all. Returns how many they saw before.
Value see_levels(Interpreter& in, const Args& args) {
  Context& context = torch_state(in).context;
  const uint32_t all = static_cast<uint32_t>(context.duals.entered.size()), before = context.duals.seen;
  context.duals.seen = args[0].is_none() ? all : std::min(all, level_of(args[0]));
  context.set_grad_enabled(context.grad_enabled);
  return Value::integer(before);
}

Value in_level(Interpreter& in, const Args&) { return Value::boolean(torch_state(in).context.duals.seen > 0); }

// The levels that calls see and of which one of the tensors has a tangent: their numbers, and how many lie around each.
Value levels_of(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] {
    std::vector<Value> levels;
    const tensor::DualLevels& duals = torch_state(in).context.duals;
    for (uint32_t i = 0; i < duals.seen; ++i)
      for (const Value& item : *as_tuple(args[0]))
        if (is_tensor(torch_state(in), item) && tensor::has_tangent(tensor_of(item), duals.entered[i])) {
          levels.push_back(make_tuple(in, {Value::integer(duals.entered[i]), Value::integer(i)}));
          break;
        }
    return make_tuple(in, levels.data(), levels.size());
  });
}

// A view of the tensor at the levels that are seen.
Tensor seen_as_view(const Tensor& t) {
  Tensor view = t.view_of(t.sizes(), t.strides());
  return tensor::record_view(view, t, "ViewBackward0", [](tensor::Sweep& s) { s.give(0, [&] { return s.g(); }); });
}

bool repeats_elements(const Tensor& t) {
  for (size_t d = 0; d < t.sizes().size(); ++d)
    if (t.strides()[d] == 0 && t.sizes()[d] > 1) return true;
  return false;
}

void check_sizes(const Tensor& primal, const Tensor& tangent) {
  tensor::check(primal.sizes() == tangent.sizes(), TensorErrorKind::Runtime,
                "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. Tensor is of "
                "size ",
                primal.sizes(), " while the given forward gradient is of size ", tangent.sizes(), ".");
}

Value make_dual(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] {
    const Tensor &primal = expect_tensor(in, args[0], "tensor"), &tangent = expect_tensor(in, args[1], "tangent");
    const uint32_t level = level_of(args[2]);
    if (tensor::tangent_of(primal, level).defined())
      throw Error(ErrorKind::RuntimeError, "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level " +
                                               str_text(in, args[3]) + " is not supported.");
    if (tensor::tangent_of(tangent, level).defined())
      throw Error(ErrorKind::RuntimeError,
                  "Setting a forward grad that itself has a forward gradient at the same level" + str_text(in, args[3]) + " is not supported.");
    check_sizes(primal, tangent);
    // A tangent lies as its tensor does, so that views of one are views of the other: elements that are repeated have no such layout.
    const Tensor dual = repeats_elements(primal) ? tensor::clone(primal) : seen_as_view(primal);
    const tensor::LevelsBelow below(level);
    Tensor direction = tangent;
    if (direction.dtype() != dual.dtype()) direction = tensor::to_dtype(direction, dual.dtype());
    tensor::set_tangent(dual, level, direction);
    return wrap_tensor(in, dual);
  });
}

// The tensor at the levels around this one, and its tangent or None.
Value unpack_dual(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] {
    const Tensor& t = expect_tensor(in, args[0], "tensor");
    const Tensor tangent = tensor::tangent_of(t, level_of(args[1]));
    if (!tangent.defined()) return make_tuple(in, {args[0], Value::none()});
    const tensor::LevelsBelow below(level_of(args[1]));
    return make_tuple(in, {wrap_tensor(in, seen_as_view(t)), wrap_tensor(in, tangent)});
  });
}

Value tangent_of_tensor(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] {
    const Tensor tangent = tensor::tangent_of(expect_tensor(in, args[0], "tensor"), level_of(args[1]));
    return tangent.defined() ? wrap_tensor(in, tangent) : Value::none();
  });
}

// Gives what a script's own derivative has computed to a result.
Value give_tangent(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] {
    const Tensor &result = expect_tensor(in, args[0], "tensor"), &tangent = expect_tensor(in, args[2], "tangent");
    check_sizes(result, tangent);
    tensor::give_tangent(result, level_of(args[1]), tangent);
    return Value::none();
  });
}

// Off: nodes that are made get the tangents of their results by _give_tangent.
Value compute_tangents(Interpreter& in, const Args& args) {
  torch_state(in).context.duals.later = !truth(in, args[0]);
  return Value::none();
}

// As detach(), with the tangents.
Value without_graph(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] {
    const Tensor& t = expect_tensor(in, args[0], "tensor");
    const Tensor view = t.view_of(t.sizes(), t.strides());
    const tensor::GradMode mode(false, torch_state(in).context.duals.seen > 0);
    tensor::view_tangents(view, t);
    return wrap_tensor(in, view);
  });
}

}  // namespace

void add_forward_mode_functions(Interpreter& in, Module& module) {
  in.def(module, "_enter_dual_level()", "", enter_level);
  in.def(module, "_exit_dual_level()", "", exit_level);
  in.def(module, "_see_dual_levels(count)", "", see_levels);
  in.def(module, "_in_dual_level()", "", in_level);
  in.def(module, "_dual_levels(tensors: tuple)", "", levels_of);
  in.def(module, "_make_dual(tensor, tangent, level: int, shown_level)", "", make_dual);
  in.def(module, "_unpack_dual(tensor, level: int)", "", unpack_dual);
  in.def(module, "_tangent(tensor, level: int)", "", tangent_of_tensor);
  in.def(module, "_give_tangent(tensor, level: int, tangent)", "", give_tangent);
  in.def(module, "_compute_tangents(on: bool)", "", compute_tangents);
  in.def(module, "_without_graph(tensor)", "", without_graph);
}

}  // namespace tessera::stdlib

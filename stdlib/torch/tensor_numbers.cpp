// Methods of a tensor that give its elements as numbers, and as nested lists.
#include "stdlib/torch/tensor_methods.h"
#include "stdlib/torch/torch_function.h"

#include "lang/core/protocol.h"
#include "lang/types/bigint.h"
#include "stdlib/torch/convert.h"
#include "stdlib/torch/dispatch.h"
#include "stdlib/torch/profiler_events.h"
#include "stdlib/torch/tensor_type.h"

namespace tessera::stdlib {
namespace {

// The one element of a tensor; of uint64 not all are int64 numbers.
Value number_of(Interpreter& in, const Tensor& t) {
  const Scalar number = t.item();
  return t.dtype() == DType::UInt64 ? whole_from_uint64(in, static_cast<uint64_t>(number.to_int()))
                                    : wrap_number(in, number);
}

// float(t), int(t): the same as item(), refused with other words.
Value as_number(Interpreter& in, const Args& args) {
  const Tensor& t = self_of(args);
  if (auto answer = t.numel() == 1 ? dispatch(in, "_local_scalar_dense", Args{args.values, 1}) : std::nullopt)
    return *std::move(answer);
  return in_torch(in, args, [&] {
    check(t.numel() == 1, TensorErrorKind::Value, "only one element tensors can be converted to Python scalars");
    return number_of(in, t);
  });
}

Value item(Interpreter& in, const Args& args) {
  const Tensor& t = self_of(args);
  const NotedCall noted(in, "item", args);
  if (auto answer = t.numel() == 1 ? dispatch(in, "_local_scalar_dense", Args{args.values, 1}) : std::nullopt)
    return *std::move(answer);
  return in_torch(in, args, [&] {
    check(t.numel() == 1, TensorErrorKind::Runtime, "a Tensor with ", t.numel(),
          " elements cannot be converted to Scalar");
    return number_of(in, t);
  });
}

Value tolist(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] { return tensor_to_list(in, self_of(args)); });
}

/// A complex number without an imaginary part is a real one.
bool is_complex_tensor(const Args& args) { return is_complex(self_of(args).dtype()); }

void warn_of_scalar(Interpreter& in, const Args& args) {
  TorchState& state = torch_state(in);
  if (!self_of(args).requires_grad() || !state.context.grad_enabled || state.warned_of_scalar) return;
  state.warned_of_scalar = true;  // once in a program, as PyTorch
  in_torch(in, args, [&] {
    Context::current().warn(
        "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
        "Consider using tensor.detach() first.");
  });
}

Value as_float(Interpreter& in, const Args& args) {
  if (const auto answer = ask(in, "__float__", {args[0]})) return *answer;
  warn_of_scalar(in, args);
  const Value number = as_number(in, args);
  if (is_complex_tensor(args)) return Value::real(in_torch(in, args, [&] { return self_of(args).item().to_double(); }));
  return Value::real(to_float(in, number));
}

Value as_complex(Interpreter& in, const Args& args) {
  as_number(in, args);
  return wrap_number(in, in_torch(in, args, [&] { return Scalar(self_of(args).item().to_complex()); }));
}

Value as_int(Interpreter& in, const Args& args) {
  if (const auto answer = ask(in, "__int__", {args[0]})) return *answer;
  const Value number = as_number(in, args);
  if (is_complex_tensor(args)) return Value::integer(in_torch(in, args, [&] { return self_of(args).item().to_int(); }));
  return call(in, Value(static_cast<Object*>(in.types.integer)), {number});
}

Value as_index(Interpreter& in, const Args& args) {
  if (const auto answer = ask(in, "__index__", {args[0]})) return *answer;
  const Tensor& t = self_of(args);
  if (t.numel() != 1 || is_floating(t.dtype()))
    throw Error(ErrorKind::TypeError, "only integer tensors of a single element can be converted to an index");
  return Value::integer(in_torch(in, args, [&] { return t.item().to_int(); }));
}

Value as_bool(Interpreter& in, const Args& args) { return Value::boolean(truth(in, args[0])); }

constexpr NativeDef kPlain[] = {
    {"item", item, "The one element as a number."},
    {"tolist", tolist, "The elements as nested lists."},
    {"__float__", as_float},
    {"__complex__", as_complex},
    {"__int__", as_int},
    {"__index__", as_index},
    {"__bool__", as_bool},
};

}  // namespace

MethodTables number_methods() { return {kPlain, {}}; }

}  // namespace tessera::stdlib

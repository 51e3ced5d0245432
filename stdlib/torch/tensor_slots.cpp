// The tensor type's table: operators, comparison, truth, length, iteration, text. Operators go the short way, through
// the fast pointers of an op's entry; anything unusual goes through op_call.
#include "stdlib/torch/tensor_cycles.h"
#include "stdlib/torch/tensor_type.h"

#include <optional>

#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/types/list.h"
#include "runtime/format.h"
#include "runtime/ops/math_bits.h"
#include "stdlib/torch/dispatch.h"
#include "stdlib/torch/index.h"
#include "stdlib/torch/op_call.h"
#include "stdlib/torch/profiler_events.h"
#include "stdlib/torch/torch_function.h"

namespace tessera::stdlib {
namespace {

// By BinaryOp, UnaryOp and CompareOp: the symbols by which entries say that an operator calls them. `+x` is x.
constexpr const char* kBinarySymbols[] = {"+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^"};
constexpr const char* kUnarySymbols[] = {"-x", "+x", "~x"};
constexpr const char* kCompareSymbols[] = {"<", "<=", "==", "!=", ">", ">="};

// Returns the entry behind an operator. Aliases share its facts; only the entry itself has fast pointers.
const OpEntry* entry_of(std::string_view symbol) {
  for (const OpEntry* entry : tensor::all_ops())
    if (entry->facts->symbol != nullptr && entry->facts->symbol == symbol &&
        (entry->fast.unary != nullptr || entry->fast.binary != nullptr))
      return entry;
  return nullptr;
}

// ---- The door --------------------------------------------------------------------------------------------------------
// Operators under a mode: under PyTorch's names of the methods behind them, who is to be asked is asked (torch_function.h).

// Null: the op's own name, in place with an underscore. Some are functions of Python in PyTorch.
struct OperatorNames {
  const char *method, *reflected, *in_place;
  bool of_python = false, reflected_of_python = false;
};
constexpr OperatorNames kBinaryNames[] = {
    {},
    {nullptr, "__rsub__", nullptr, false, true},
    {},
    {nullptr, "__rdiv__", "__idiv__", false, true},
    {"__floordiv__", "__rfloordiv__", "__ifloordiv__", true, true},
    {nullptr, "__rmod__", "__imod__", false, true},
    {nullptr, "__rpow__", nullptr, true, true},
    {nullptr, "__rmatmul__", "__imatmul__", false, true},
    {"__lshift__", "__rlshift__", "__ilshift__", false, true},
    {"__rshift__", "__rrshift__", "__irshift__", false, true},
    {"__and__", "__rand__", "__iand__"},
    {"__or__", "__ror__", "__ior__"},
    {"__xor__", "__rxor__", "__ixor__"},
};
constexpr const char* kUnaryNames[] = {nullptr, "__pos__", "__invert__"};
constexpr const char* kCompareNames[] = {nullptr, nullptr, "__eq__", "__ne__", nullptr, nullptr};

void destroy(Interpreter& in, Object* self) { free_object(in, known_cast<TensorObject>(self)); }

// A temporary that only the virtual machine's register holds may lend its memory to the result.
unsigned reusable(const Value& v, uint8_t dying, uint8_t bit) {
  if (!(dying & bit) || v.as_object()->refcount != 1) return 0;
  return tensor_of(v).impl()->refs.unique() ? bit : 0;
}

Tensor reciprocal_of(Interpreter& in, const Tensor& t) {
  const TorchState& state = torch_state(in);
  if ((state.modes & kNotShort) == 0) return state.reciprocal->fast.unary(t);
  const Value operand = wrap_tensor(in, t);
  return tensor_of(call_op_by_name(in, "reciprocal", {&operand, 1, nullptr, nullptr}));
}

// `x / tensor` with a reflected operator, as calls.
Value call_reflected_division(Interpreter& in, const Value& given, const Value& right) {
  const Value operands[] = {call_op_by_name(in, "reciprocal", {&right, 1, nullptr, nullptr}), given};
  return call_op_by_name(in, "mul", {operands, 2, nullptr, nullptr});
}

// `number op tensor` in PyTorch's own terms: reciprocal times the number. Times one is left out where no graph shows it.
Value divide_number(Interpreter& in, const Scalar& number, const Tensor& right, const FastPaths& mul) {
  const Tensor inverse = reciprocal_of(in, right);
  if (number.equals(1.0) && !inverse.is_tracked()) return wrap_tensor(in, inverse);
  if ((torch_state(in).modes & kNamesCalls) != 0) [[unlikely]] {
    const Value operands[] = {wrap_tensor(in, inverse), wrap_number(in, number)};
    return call_op_by_name(in, "mul", {operands, 2, nullptr, nullptr});
  }
  return wrap_tensor(in, mul.tensor_scalar(inverse, number, kLeftDying));
}

// `2 * x` and `x.__radd__(y)`: where the order does not matter, x stays the first.
bool keeps_order(BinaryOp op) {
  return op == BinaryOp::Add || op == BinaryOp::Mul || op == BinaryOp::And || op == BinaryOp::Or || op == BinaryOp::Xor;
}

Value number_op_tensor(Interpreter& in, BinaryOp op, const Scalar& number, const Tensor& given, unsigned reuse) {
  const Plain plain(given);
  const Tensor& right = plain;
  const TorchState& state = torch_state(in);
  if (op == BinaryOp::TrueDiv)
    return divide_number(in, number, right, state.binary_ops[static_cast<size_t>(BinaryOp::Mul)]->fast);
  const FastPaths& fast = state.binary_ops[static_cast<size_t>(op)]->fast;
  if (keeps_order(op) && fast.tensor_scalar != nullptr)
    return wrap_tensor(in, fast.tensor_scalar(right, number, reuse != 0 ? unsigned{kLeftDying} : 0u));
  if (fast.scalar_tensor != nullptr) return wrap_tensor(in, fast.scalar_tensor(number, right, reuse));
  return wrap_tensor(in, fast.binary(Tensor::wrapped_number(number), right, 0));
}

// Asks __torch_function__ for a binary operator: under a mode, or with an operand of another class that has the method.
[[gnu::noinline, gnu::cold]] std::optional<Value> ask_operator(Interpreter& in, BinaryOp op, const Value& self,
                                                               const Value& other, bool reflected) {
  if (op == BinaryOp::DivMod) return {};
  const OperatorNames& names = kBinaryNames[static_cast<size_t>(op)];
  const char* const plain = torch_state(in).binary_ops[static_cast<size_t>(op)]->name;
  const char* const method = names.method != nullptr ? names.method : plain;
  const char* const other_way = names.reflected != nullptr ? names.reflected : method;
  if (!reflected) return ask_at_door(in, method, {self, other}, {names.of_python, true});
  if (is_tensor(torch_state(in), other)) return ask_at_door(in, method, {other, self}, {names.of_python, true});
  return ask_at_door(in, other_way, {self, other}, {names.reflected_of_python, true});
}

// `number op tensor` as calls, under the names that PyTorch's profile has.
[[gnu::noinline, gnu::cold]] Value call_number_op_tensor(Interpreter& in, BinaryOp op, const Scalar& number,
                                                         const Value& given, const Value& right) {
  if (op == BinaryOp::TrueDiv && (torch_state(in).modes & kDispatches) != 0)
    return call_reflected_division(in, given, right);
  if (op == BinaryOp::TrueDiv) return number_op_tensor(in, op, number, tensor_of(right), 0);
  const bool turns = op == BinaryOp::Sub || keeps_order(op);
  const Value operands[] = {turns ? right : given, turns ? given : right};
  if (op == BinaryOp::Sub) return call_op_by_name(in, "rsub", {operands, 2, nullptr, nullptr});
  return call_op_by_name(in, torch_state(in).binary_ops[static_cast<size_t>(op)]->name,
                         {operands, 2, nullptr, nullptr});
}

[[gnu::hot]] Value tensor_binary(Interpreter& in, BinaryOp op, const Value& self, const Value& other, bool reflected,
                    uint8_t dying) {
  const TorchState& state = torch_state(in);
  if (state.modes != 0) [[unlikely]]
    if (auto answer = ask_operator(in, op, self, other, reflected)) return *std::move(answer);
  const OpEntry* entry = state.binary_ops[static_cast<size_t>(op)];
  if (entry == nullptr) return in.not_implemented;
  if (reflected && is_tensor(state, other)) {
    if (keeps_order(op)) return tensor_binary(in, op, self, other, false, 0);
    if (op == BinaryOp::TrueDiv && (state.modes & kDispatches) != 0) return call_reflected_division(in, other, self);
    if (op == BinaryOp::TrueDiv)
      return in_torch(in, self, [&] {
        const FastPaths& mul = state.binary_ops[static_cast<size_t>(BinaryOp::Mul)]->fast;
        return wrap_tensor(in, mul.binary(reciprocal_of(in, tensor_of(self)), tensor_of(other), 0));
      });
  }
  const Value& left = reflected ? other : self;
  const Value& right = reflected ? self : other;
  const Value operands[] = {left, right};
  const bool notes = (state.modes & kNamesCalls) != 0;
  const bool is_called = notes || ((state.modes & kAutocasts) != 0 && (op == BinaryOp::MatMul || op == BinaryOp::Pow));
  if (is_tensor(state, other)) {
    return in_torch(in, operands, [&] {
      const unsigned reuse = reusable(left, dying, kLeftDying) | reusable(right, dying, kRightDying);
      if (entry->fast.binary == nullptr || is_called)
        return call_op_by_name(in, entry->name, {operands, 2, nullptr, nullptr});
      const Plain x(tensor_of(left)), y(tensor_of(right));
      return wrap_tensor(in, entry->fast.binary(x, y, reuse));
    });
  }
  Scalar number;
  if (op == BinaryOp::MatMul || !to_scalar(other, number)) {
    auto answer = ask_operator(in, op, self, other, reflected);
    return answer ? *std::move(answer) : in.not_implemented;
  }
  return in_torch(in, operands, [&] {
    if (reflected && notes) [[unlikely]]
      return call_number_op_tensor(in, op, number, left, right);
    if (is_called) return call_op_by_name(in, entry->name, {operands, 2, nullptr, nullptr});
    if (reflected) return number_op_tensor(in, op, number, tensor_of(right), reusable(right, dying, kRightDying));
    if (entry->fast.tensor_scalar != nullptr)
      return wrap_tensor(in,
                         entry->fast.tensor_scalar(Plain(tensor_of(left)), number, reusable(left, dying, kLeftDying)));
    return call_op_by_name(in, entry->name, {operands, 2, nullptr, nullptr});
  });
}

[[gnu::noinline, gnu::cold]] std::optional<Value> ask_in_place(Interpreter& in, BinaryOp op, const Value& self,
                                                               const Value& other) {
  if (op == BinaryOp::DivMod) return {};
  const char* const name = kBinaryNames[static_cast<size_t>(op)].in_place;
  const std::string plain = std::string(torch_state(in).binary_ops[static_cast<size_t>(op)]->name) + "_";
  return ask_at_door(in, name != nullptr ? name : plain, {self, other});
}

Value tensor_inplace(Interpreter& in, BinaryOp op, const Value& self, const Value& other) {
  const TorchState& state = torch_state(in);
  if (state.modes != 0) [[unlikely]]
    if (auto answer = ask_in_place(in, op, self, other)) return *std::move(answer);
  const OpEntry* entry = state.binary_ops[static_cast<size_t>(op)];
  if (entry == nullptr || !entry->has(kInplace)) return in.not_implemented;
  const Value operands[] = {self, other};
  in_torch(in, self, [&] { check_may_write(tensor_of(self)); });
  Scalar number;
  const bool direct = !tensor_of(self).has_math_bits() && (state.modes & kNamesCalls) == 0;
  if (direct && is_tensor(state, other) && entry->fast.binary_inplace != nullptr) {
    in_torch(in, operands, [&] { entry->fast.binary_inplace(tensor_of(self), Plain(tensor_of(other))); });
  } else if (direct && to_scalar(other, number) && entry->fast.scalar_inplace != nullptr) {
    in_torch(in, operands, [&] { entry->fast.scalar_inplace(tensor_of(self), number); });
  } else if (is_tensor(state, other) || to_scalar(other, number)) {
    return call_method(in, self, intern(in, std::string(entry->name) + "_"), {other});
  } else {
    auto answer = ask_in_place(in, op, self, other);
    return answer ? *std::move(answer) : in.not_implemented;
  }
  return self;
}

Value tensor_unary(Interpreter& in, UnaryOp op, const Value& self) {
  if (torch_state(in).modes != 0) [[unlikely]]
    if (const char* const name = kUnaryNames[static_cast<size_t>(op)];
        const auto answer =
            ask(in, name != nullptr ? name : torch_state(in).unary_ops[static_cast<size_t>(op)]->name, {self}))
      return *answer;
  if (op == UnaryOp::Pos) return self;
  const DType type = tensor_of(self).dtype();
  if (op == UnaryOp::Invert && (is_floating(type) || is_complex(type)))
    throw Error(ErrorKind::TypeError, "~ (operator.invert) is only implemented on integer and Boolean-type tensors");
  const OpEntry* entry = torch_state(in).unary_ops[static_cast<size_t>(op)];
  if ((torch_state(in).modes & kNamesCalls) != 0) [[unlikely]]
    return call_op_by_name(in, entry->name, {&self, 1, nullptr, nullptr});
  return in_torch(in, self, [&] { return wrap_tensor(in, entry->fast.unary(Plain(tensor_of(self)))); });
}

// PyTorch names the method of Python's protocol if the first operand is asked, and else the op.
[[gnu::noinline, gnu::cold]] std::optional<Value> ask_comparison(Interpreter& in, CompareOp op, const Value& self,
                                                                 const Value& other) {
  const TorchState& state = torch_state(in);
  const char* const method = kCompareNames[static_cast<size_t>(op)];
  const bool by_method = method != nullptr && (asks_torch_function(self) || (state.modes & kHasFunctionModes) != 0);
  return ask_at_door(in, by_method ? method : state.compare_ops[static_cast<size_t>(op)]->name, {self, other},
                     {false, true});
}

Value tensor_compare(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  const TorchState& state = torch_state(in);
  if (state.modes != 0) [[unlikely]]
    if (auto answer = ask_comparison(in, op, self, other)) return *std::move(answer);
  const FastPaths& fast = state.compare_ops[static_cast<size_t>(op)]->fast;
  const Value operands[] = {self, other};
  Scalar number;
  if ((state.modes & kNamesCalls) != 0 && (is_tensor(state, other) || to_scalar(other, number))) [[unlikely]]
    return call_op_by_name(in, state.compare_ops[static_cast<size_t>(op)]->name, {operands, 2, nullptr, nullptr});
  if (is_tensor(state, other))
    return in_torch(in, operands,
                    [&] { return wrap_tensor(in, fast.binary(Plain(tensor_of(self)), Plain(tensor_of(other)), 0)); });
  if (!to_scalar(other, number)) {
    auto answer = ask_comparison(in, op, self, other);
    return answer ? *std::move(answer) : in.not_implemented;
  }
  return in_torch(in, operands, [&] { return wrap_tensor(in, fast.tensor_scalar(Plain(tensor_of(self)), number, 0)); });
}

bool tensor_truth(Interpreter& in, const Value& self) {
  if (const auto answer = ask(in, "__bool__", {self})) {
    if (answer->is_bool()) return answer->as_bool();
    throw Error(ErrorKind::TypeError, "__bool__ should return bool, returned " + std::string(type_name(in, *answer)));
  }
  if (tensor_of(self).numel() == 1)
    if (const auto number = dispatch(in, "_local_scalar_dense", Args{&self, 1})) return truth(in, *number);
  return in_torch(in, self, [&] {
    const Tensor& t = tensor_of(self);
    check(t.numel() != 0, TensorErrorKind::Runtime, "Boolean value of Tensor with no values is ambiguous");
    check(t.numel() == 1, TensorErrorKind::Runtime, "Boolean value of Tensor with more than one value is ambiguous");
    return t.item().to_bool();
  });
}

int64_t tensor_length(Interpreter& in, const Value& self) {
  if (const auto answer = ask(in, "__len__", {self}, {true}); answer && answer->is_int()) return answer->as_int();
  const Tensor& t = tensor_of(self);
  if (t.dim() == 0) throw Error(ErrorKind::TypeError, "len() of a 0-d tensor");
  return t.sizes()[0];
}

Value iterate(Interpreter& in, const Value& self) {
  if (asks_torch_function(self)) {
    ask(in, "dim", {self});
    if (const auto parts = ask(in, "unbind", {self, Value::integer(0)})) return iter(in, *parts);
  }
  if (tensor_of(self).dim() == 0) throw Error(ErrorKind::TypeError, "iteration over a 0-d tensor");
  return iter(in, call_op_by_name(in, "unbind", {&self, 1, nullptr, nullptr}));
}

bool contains_item(Interpreter& in, const Value& self, const Value& item) {
  const TorchState& state = torch_state(in);
  Scalar number;
  if (!is_tensor(state, item) && !to_scalar(item, number))
    throw Error(ErrorKind::RuntimeError, "Tensor.__contains__ only supports Tensor or scalar, but you passed in a " +
                                             repr_text(in, Value(static_cast<Object*>(type_of(in, item)))) + ".");
  const Value equal = tensor_compare(in, CompareOp::Eq, self, item);
  return tensor_truth(in, call_op_by_name(in, "any", {&equal, 1, nullptr, nullptr}));
}

int64_t identity_hash(Interpreter&, const Value& self) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(self.as_object()) >> 4);
}

// A class that is asked shows its name, as PyTorch does: Log([1., 2.]).
Value repr_tensor(Interpreter& in, const Value& self) {
  const bool asks = asks_torch_function(self);
  if (const auto answer = ask(in, "__repr__", {self}, {true})) return *answer;
  const std::string name = asks ? std::string(self.as_object()->type->name->view()) : "tensor";
  return make_str(in, in_torch(in, self, [&] { return tensor_text(tensor_of(self), name); }));
}

// An index of a class that is no tensor's, alone or in a tuple, may have a __torch_function__.
bool has_instance(const Value& key) {
  const auto is_instance = [](const Value& v) { return v.is_object() && v.as_object()->kind == ObjectKind::Instance; };
  return is_tuple(key) ? std::any_of(as_tuple(key)->items, as_tuple(key)->items + as_tuple(key)->size, is_instance)
                       : is_instance(key);
}

[[gnu::noinline, gnu::cold]] Value get_item_under_modes(Interpreter& in, const Value& self, const Value& key) {
  if (auto answer = ask(in, "__getitem__", {self, key})) return *std::move(answer);
  const Value operands[] = {self, key};
  if (auto answer = dispatch(in, "__getitem__", Args{operands, 2})) return *std::move(answer);
  return (torch_state(in).modes & kProfiles) != 0 ? get_item_noted(in, self, key) : get_tensor_item(in, self, key);
}

Value get_item_at_door(Interpreter& in, const Value& self, const Value& key) {
  if (has_instance(key)) [[unlikely]]
    if (auto answer = ask_at_door(in, "__getitem__", {self, key})) return *std::move(answer);
  if (torch_state(in).modes != 0) [[unlikely]]
    return get_item_under_modes(in, self, key);
  return get_tensor_item(in, self, key);
}

void set_item_at_door(Interpreter& in, const Value& self, const Value& key, const Value& value) {
  if (ask(in, "__setitem__", {self, key, value})) return;
  const Value operands[] = {self, key, value};
  if (dispatch(in, "__setitem__", Args{operands, 3})) return;
  if ((torch_state(in).modes & kProfiles) != 0) [[unlikely]]
    return set_item_noted(in, self, key, value);
  set_tensor_item(in, self, key, value);
}

// f'{loss:.4f}' formats the number of a 0-dim tensor; other tensors take no format.
Value format_tensor(Interpreter& in, const Value& self, std::string_view spec) {
  const Tensor& t = tensor_of(self);
  if (t.dim() == 0 && !t.device().is_meta()) {
    const Value number = in_torch(in, self, [&] { return wrap_number(in, t.item()); });
    return format(in, number, spec);
  }
  if (spec.empty()) return str(in, self);
  throw Error(ErrorKind::TypeError, "unsupported format string passed to Tensor.__format__");
}

}  // namespace

void fill_tensor_slots(TorchState& state) {
  for (size_t i = 0; i < std::size(kBinarySymbols); ++i) state.binary_ops[i] = entry_of(kBinarySymbols[i]);
  for (size_t i = 0; i < std::size(kUnarySymbols); ++i) state.unary_ops[i] = entry_of(kUnarySymbols[i]);
  for (size_t i = 0; i < std::size(kCompareSymbols); ++i) state.compare_ops[i] = entry_of(kCompareSymbols[i]);
  state.reciprocal = find_op("reciprocal")[0];
  TypeSlots& slots = state.tensor->slots;
  slots.destroy = destroy;
  slots.traverse = traverse_tensor;
  slots.clear = clear_tensor;
  slots.binary = tensor_binary;
  slots.inplace = tensor_inplace;
  slots.unary = tensor_unary;
  slots.compare = tensor_compare;
  slots.truth = tensor_truth;
  slots.length = tensor_length;
  slots.iter = iterate;
  slots.contains = contains_item;
  slots.hash = identity_hash;
  slots.repr = repr_tensor;
  slots.format = format_tensor;
  slots.get_item = get_item_at_door;
  slots.set_item = set_item_at_door;
}

}  // namespace tessera::stdlib

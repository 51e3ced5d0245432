// compile: small (a call takes its time in the operation)
// Note [Short ways of arrays]: ndarray and its scalars are classes of scripts, which know every case. Their everyday cases are answered
// here: the slots of the two kinds of classes, and functions that `quick` puts in front of a script's. Each looks whether its operands are
// plain (exactly ndarray, of a common type, nothing to report) and does otherwise what would have been done without it: it calls the slot
// or the function that it stands before. A result that is not finite is thrown away; the script computes it again and warns.
#include "stdlib/numpy/native/array_calls.h"

#include "lang/core/bind.h"
#include "lang/objects/library_method.h"
#include "lang/types/tuple.h"
#include "stdlib/numpy/native/array_slots.h"
#include "stdlib/numpy/native/quick_functions.h"

namespace tessera::stdlib::arrays {
namespace {

Value call_front(Interpreter& in, const Args& args) {
  const auto& front = *static_cast<const StandsBefore*>(args.callee->data);
  const auto* const quick = static_cast<const QuickFunction*>(front.with);
  Value answer;
  const ArrayCalls* const s = calls_of(in);
  const bool fits = s != nullptr && args.count >= quick->least && args.count <= quick->most;
  if (fits && args.keyword_names == nullptr && quick->function(in, *s, args, answer)) return answer;
  // axis=0 is the most frequent keyword.
  if (fits && args.count == 2 && args.keyword_names != nullptr && args.keyword_names->size == 1 && quick->most == 2 &&
      text_of(args.keyword_names->items[0]) == "axis" && quick->function(in, *s, {args.values, 2}, answer))
    return answer;
  return call(in, front.function, args);
}

// ---- Ufuncs ------------------------------------------------------------------------------------------------------------

// The tensor operation of a ufunc that is one for floats, kept in the object's first attribute as its place here.
constexpr const char* kUfuncs[][2] = {
    {"absolute", "abs"},   {"exp", "exp"},         {"log", "log"},         {"sqrt", "sqrt"},   {"sin", "sin"},           {"cos", "cos"},
    {"tanh", "tanh"},      {"log1p", "log1p"},     {"expm1", "expm1"},     {"floor", "floor"}, {"ceil", "ceil"},         {"isnan", "isnan"},
    {"isfinite", "isfinite"}, {"isinf", "isinf"},  {"maximum", "maximum"}, {"minimum", "minimum"}, {"add", "add"},       {"subtract", "sub"},
    {"multiply", "mul"},   {"divide", "div"},
};

bool apply_quickly(Interpreter& in, const ArrayCalls& s, const Value& self, const Args& args, Value& answer) {
  const Attributes& own = known_cast<Instance>(self)->attributes;
  if (own.dict != nullptr || own.count == 0 || !own.values[0].is_int() || own.values[0].as_int() < 0 || args.keyword_names != nullptr) return false;
  const OpEntry* const entry = s.ufuncs[own.values[0].as_int()];
  if (entry == nullptr || args.count == 0 || args.count > 2) return false;
  const Tensor* const a = tensor_in(s, args[0]);
  if (args.count == 2) {
    const Tensor* const b = tensor_in(s, args[1]);
    if (a == nullptr || b == nullptr || entry->fast.binary == nullptr || a->dtype() != b->dtype() || !takes(BinaryOp::TrueDiv, a->dtype(), b->dtype()))
      return false;
    return attempt(in, [&] {
      Tensor made = entry->fast.binary(*a, *b, 0);
      return is_fine(s, made, entry->fast.binary == torch_state(in).binary_ops[size_t(BinaryOp::TrueDiv)]->fast.binary) && give(in, s, std::move(made), answer);
    });
  }
  if (entry->fast.unary == nullptr) return false;
  if (a != nullptr && !takes(BinaryOp::TrueDiv, a->dtype(), a->dtype())) return false;
  Value held = args[0];
  if (a == nullptr && held.is_object() && held.as_object()->type == s.scalars[size_t(kFloat64)]) held = known_cast<Boxed>(held)->value;
  if (a == nullptr && !held.is_float()) return false;
  return attempt(in, [&] {
    Tensor made = entry->fast.unary(a != nullptr ? *a : Tensor::scalar(held.as_float(), kFloat64));
    return is_fine(s, made, own.values[0].as_int() != 0) && give(in, s, std::move(made), answer);
  });
}

Value call_slot(Interpreter& in, const Value& self, const Args& args) {
  const ArrayCalls& s = calls(in);
  Value answer;
  if (apply_quickly(in, s, self, args, answer)) return answer;
  return s.of_ufuncs.call(in, self, args);
}

Value ufunc_place(Interpreter&, const Args& args) {
  for (size_t i = 0; i < std::size(kUfuncs); ++i)
    if (text_of(args[0]) == kUfuncs[i][0]) return Value::integer(int64_t(i));
  return Value::integer(-1);
}

// ---- For scripts -------------------------------------------------------------------------------------------------------

// The type of those of NumPy's functions that CPython shows as functions in Python with another before each.
Type* new_dispatcher_type(Interpreter& in) {
  NativeTypeSpec spec;
  spec.name = "_ArrayFunctionDispatcher", spec.module = "numpy", spec.kind = ObjectKind::NativeFunction, spec.size = sizeof(NativeFunction);
  spec.flags = kFinalType, spec.base = in.types.native_function;
  Type* const type = in.new_type(spec);
  type->slots.repr = [](Interpreter& in, const Value& self) {
    char text[64];
    std::snprintf(text, sizeof text, " at %p>", static_cast<const void*>(self.as_object()));
    return make_str(in, "<function " + std::string(known_cast<NativeFunction>(self)->name->view()) + text);
  };
  in.add_property(type, "__wrapped__", [](Interpreter&, const Args& args) {
    return static_cast<const StandsBefore*>(object_cast<NativeFunction>(args[0])->data)->function;
  });
  return type;
}

// A function, or with `owner` a method, that answers everyday calls and leaves the others to a function of a script.
Value quick(Interpreter& in, const Args& args) {
  const QuickFunction* const row = find_quick(text_of(args[0]));
  if (row == nullptr) throw_error(ErrorKind::KeyError, "no short way of this name");
  const Value made = stand_before(in, row->name, call_front, args[1], row);
  auto* const native = object_cast<NativeFunction>(made);
  if (is_type(args[2])) own_method(in, native, as_type(args[2]));
  else native->module = intern(in, "numpy");
  if (const ArrayCalls* const s = calls_of(in); s != nullptr && args[3].as_bool()) native->type = s->dispatcher;
  return made;
}

void put_slots(Interpreter& in, Type* type) {
  ArrayCalls* const s = calls_of(in);
  if (s == nullptr) return;
  TypeSlots& slots = type->slots;
  if (type == s->array) {
    s->of_arrays = slots;
    slots.binary = binary_slot, slots.inplace = inplace_slot, slots.unary = unary_slot, slots.compare = compare_slot;
    slots.get_item = get_item_slot, slots.set_item = set_item_slot, slots.length = length_slot, slots.iter = iter_slot;
  } else if (type == s->scalars[size_t(kFloat64)] || type == s->scalars[size_t(kInt64)]) {
    s->of_scalars = slots;
    slots.binary = scalar_binary, slots.compare = scalar_compare;
  } else if (type == s->ufunc) {
    s->of_ufuncs = slots;
    slots.call = call_slot;
  } else {
    for (const Value& dtype : s->dtypes)
      if (dtype.is_object() && dtype.as_object()->type == type) {
        s->of_dtypes = slots;
        slots.compare = dtype_compare;
        return;
      }
  }
}

// quicken(ndarray, ((torch dtype, scalar class, dtype), ...), False_, True_, ufunc)
Value quicken(Interpreter& in, const Args& args) {
  auto* const s = in.keep(new ArrayCalls);
  s->array = as_type(args[0]);
  for (const Value& row : *as_tuple(args[1])) {
    DType type;
    if (!to_dtype(in, as_tuple(row)->items[0], type)) continue;
    s->scalars[size_t(type)] = as_type(as_tuple(row)->items[1]);
    s->dtypes[size_t(type)] = as_tuple(row)->items[2];
  }
  s->truths[0] = args[2], s->truths[1] = args[3];
  const auto& keys = s->array->instance_keys;
  if (keys.size() < 2 || keys[0]->view() != "_t" || keys[1]->view() != "_base") return Value::none();
  s->ufunc = as_type(args[4]);
  for (size_t i = 0; i < std::size(kUfuncs); ++i)
    for (const OpEntry* entry : tensor::find_op(kUfuncs[i][1]))
      if (s->ufuncs[i] == nullptr && (entry->fast.unary != nullptr || entry->fast.binary != nullptr)) s->ufuncs[i] = entry;
  s->iterator = new_iterator_type(in), s->dispatcher = new_dispatcher_type(in);
  torch_state(in).array_calls = s;
  for (Type* type : {s->array, s->scalars[size_t(kFloat64)], s->scalars[size_t(kInt64)], s->ufunc}) {
    type->slots.adjust = put_slots;
    put_slots(in, type);
    type_changed(in, type);
  }
  for (const Value& dtype : s->dtypes)
    if (dtype.is_object() && dtype.as_object()->type->slots.compare != dtype_compare) {
      Type* const type = dtype.as_object()->type;
      type->slots.adjust = put_slots;
      put_slots(in, type);
      type_changed(in, type);
    }
  return Value::none();
}

Value notice(Interpreter& in, const Args& args) {
  if (ArrayCalls* const s = calls_of(in)) s->notice = int(args[0].as_int());
  return Value::none();
}

}  // namespace
}  // namespace tessera::stdlib::arrays

namespace tessera::stdlib {

void add_array_calls(Interpreter& in, Module& module) {
  in.def(module, "quicken(ndarray, kinds: tuple, false, true, ufunc)", "", arrays::quicken);
  in.def(module, "quick(name: str, function, owner=None, dispatches: bool = False)", "", arrays::quick);
  in.def(module, "ufunc_place(name: str)", "", arrays::ufunc_place);
  in.def(module, "notice(level: int)", "", arrays::notice);
}

}  // namespace tessera::stdlib

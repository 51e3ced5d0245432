// Trampolines: functions of the slot table that call the special methods of script classes.
//
// A slot is filled when the class is made (and again when a special method is set on it later): the first class of the
// mro that has one of the slot's methods decides. A trampoline looks the method up again when it runs, through the cache of
// type_lookup, so subclasses share it.
#include "lang/objects/class_slots.h"

#include <new>

#include "lang/core/object_cast.h"
#include "lang/objects/attribute.h"
#include "lang/compiler/chunk.h"
#include "lang/objects/class.h"
#include "lang/objects/exception.h"
#include "lang/types/iterators.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes.h"
#include "lang/types/number.h"
#include "lang/types/sequence.h"
#include "lang/types/dict.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

namespace {

bool takes_self(const Value& method) {
  return is_function(method) || is_native_method(method);
}

}  // namespace

Value call_special(Interpreter& in, const Value& method, const Value& self, std::initializer_list<Value> rest) {
  if (is_function(method))
    return in.vm().call_function(as_function(method), self, Args{rest.begin(), static_cast<uint32_t>(rest.size())});
  Value values[4];
  uint32_t count = 0;
  const bool plain = takes_self(method);
  if (plain) values[count++] = self;
  for (const Value& v : rest) values[count++] = v;
  return call(in, plain ? method : bind_attribute(in, method, self, type_of(in, self)), Args{values, count});
}

namespace {

const Value& method_of(Interpreter& in, const Value& self, Str* name) { return type_lookup(type_of(in, self), name); }

[[noreturn]] void wrong_result(Interpreter& in, const char* format, const Value& got) {
  throw_error(ErrorKind::TypeError, format, std::string(type_name(in, got)).c_str());
}

// ---- Text, truth, numbers --------------------------------------------------------------------------------------------

// repr() and str() check that the answers are texts, each in words of its own.
Value t_repr(Interpreter& in, const Value& self) { return call_special(in, method_of(in, self, in.names->repr), self); }
Value t_str(Interpreter& in, const Value& self) { return call_special(in, method_of(in, self, in.names->str), self); }

Value t_format(Interpreter& in, const Value& self, std::string_view spec) {
  Value text = call_special(in, method_of(in, self, in.names->format), self, {make_str(in, spec)});
  if (!is_str(text)) wrong_result(in, "__format__ must return a str, not %s", text);
  return text;
}

int64_t t_hash(Interpreter& in, const Value& self) {
  const Value answer = unboxed(call_special(in, method_of(in, self, in.names->hash), self));
  if (is_big_int(answer)) return hash_big_int(as_big_int(answer));
  if (!answer.is_int() && !answer.is_bool())
    throw_error(ErrorKind::TypeError, "__hash__ method should return an integer");
  return answer.as_int() == -1 ? -2 : answer.as_int();
}

int64_t t_length(Interpreter& in, const Value& self) {
  const Value& method = method_of(in, self, in.names->len);
  const Value given = is_function(method) ? in.vm().call_function(as_function(method), self, Args{}) : call_special(in, method, self);
  return checked_length(in, given);
}

bool t_truth(Interpreter& in, const Value& self) {
  const Value answer = call_special(in, method_of(in, self, in.names->bool_), self);
  if (!answer.is_bool()) wrong_result(in, "__bool__ should return bool, returned %s", answer);
  return answer.as_bool();
}

Str* compare_name(Interpreter& in, CompareOp op) {
  const Names& n = *in.names;
  switch (op) {
    case CompareOp::Lt: return n.lt;
    case CompareOp::Le: return n.le;
    case CompareOp::Eq: return n.eq;
    case CompareOp::Ne: return n.ne;
    case CompareOp::Gt: return n.gt;
    case CompareOp::Ge: return n.ge;
  }
  __builtin_unreachable();
}

// The __ne__ of object turns the answer of __eq__ around. (That of int, dict ... does not ask __eq__.)
bool is_ne_of_object(Interpreter& in, const Value& method) {
  return is_native_method(method) && known_cast<NativeFunction>(method)->owner == in.types.object;
}

Value t_compare(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  const Value& found = method_of(in, self, compare_name(in, op));
  if (is_function(found)) [[likely]]
    return in.vm().call_function(as_function(found), self, Args{&other, 1});
  const Value method = found;
  if (op == CompareOp::Ne && is_ne_of_object(in, method)) {
    const Value& equal = method_of(in, self, in.names->eq);
    if (is_function(equal)) {
      Value answer = call_special(in, equal, self, {other});
      return answer.is(in.not_implemented) ? answer : Value::boolean(!truth(in, answer));
    }
  }
  if (method.is_undefined()) return in.not_implemented;
  return call_special(in, method, self, {other});  // None is not callable, and says so
}

struct OperatorNames {
  Str *plain, *reflected, *inplace;
};

OperatorNames operator_names(Interpreter& in, BinaryOp op) {
  const Names& n = *in.names;
  switch (op) {
    case BinaryOp::Add: return {n.add, n.radd, n.iadd};
    case BinaryOp::Sub: return {n.sub, n.rsub, n.isub};
    case BinaryOp::Mul: return {n.mul, n.rmul, n.imul};
    case BinaryOp::TrueDiv: return {n.truediv, n.rtruediv, n.itruediv};
    case BinaryOp::FloorDiv: return {n.floordiv, n.rfloordiv, n.ifloordiv};
    case BinaryOp::Mod: return {n.mod, n.rmod, n.imod};
    case BinaryOp::Pow: return {n.pow, n.rpow, n.ipow};
    case BinaryOp::MatMul: return {n.matmul, n.rmatmul, n.imatmul};
    case BinaryOp::LShift: return {n.lshift, n.rlshift, n.ilshift};
    case BinaryOp::RShift: return {n.rshift, n.rrshift, n.irshift};
    case BinaryOp::And: return {n.and_, n.rand, n.iand};
    case BinaryOp::Or: return {n.or_, n.ror, n.ior};
    case BinaryOp::Xor: return {n.xor_, n.rxor, n.ixor};
    case BinaryOp::DivMod: return {n.divmod, n.rdivmod, nullptr};
  }
  __builtin_unreachable();
}

Value t_binary(Interpreter& in, BinaryOp op, const Value& self, const Value& other, bool reflected, uint8_t) {
  const OperatorNames names = operator_names(in, op);
  const Value method = method_of(in, self, reflected ? names.reflected : names.plain);
  if (method.is_undefined()) return in.not_implemented;
  // A sequence's own `*` is no method of a number's unless the class overrides one of the two.
  if (op == BinaryOp::Mul && is_native_method(method) && is_native_method(method_of(in, self, reflected ? names.plain : names.reflected))) {
    const Type* const owner = known_cast<NativeFunction>(method)->owner;
    if (reflected && !is_index(in, other)) return in.not_implemented;
    return owner->slots.binary(in, op, self, other, reflected, 0);
  }
  return call_special(in, method, self, {other});
}

Value t_inplace(Interpreter& in, BinaryOp op, const Value& self, const Value& other) {
  const OperatorNames names = operator_names(in, op);
  if (names.inplace != nullptr) {
    const Value method = method_of(in, self, names.inplace);
    if (!method.is_undefined()) {
      Value answer = call_special(in, method, self, {other});
      if (!answer.is(in.not_implemented)) return answer;
    }
  }
  return in.not_implemented;
}

Value t_unary(Interpreter& in, UnaryOp op, const Value& self) {
  const Names& n = *in.names;
  Str* const name = op == UnaryOp::Neg ? n.neg : op == UnaryOp::Pos ? n.pos : n.invert;
  const Value method = method_of(in, self, name);
  if (method.is_undefined()) {
    throw_error(ErrorKind::TypeError, "bad operand type for unary %s: '%s'",
                op == UnaryOp::Neg   ? "-"
                : op == UnaryOp::Pos ? "+"
                                     : "~",
                std::string(type_name(in, self)).c_str());
  }
  return call_special(in, method, self);
}

// ---- Containers and iteration ----------------------------------------------------------------------------------------

Value t_get_item(Interpreter& in, const Value& self, const Value& key) {
  return call_special(in, method_of(in, self, in.names->getitem), self, {key});
}
void t_set_item(Interpreter& in, const Value& self, const Value& key, const Value& value) {
  call_special(in, method_of(in, self, in.names->setitem), self, {key, value});
}
void t_del_item(Interpreter& in, const Value& self, const Value& key) {
  call_special(in, method_of(in, self, in.names->delitem), self, {key});
}

bool t_contains(Interpreter& in, const Value& self, const Value& item) {
  if (const Value& method = method_of(in, self, in.names->contains); is_function(method)) {
    const Value answer = in.vm().call_function(as_function(method), self, Args{&item, 1});
    return answer.is_bool() ? answer.as_bool() : truth(in, answer);
  }
  const Value method = method_of(in, self, in.names->contains);
  if (method.is_none())
    throw_error(ErrorKind::TypeError, "'%s' object is not a container", std::string(type_name(in, self)).c_str());
  return truth(in, call_special(in, method, self, {item}));
}

Value t_iter(Interpreter& in, const Value& self) {
  const Value method = method_of(in, self, in.names->iter);
  if (method.is_none())
    throw_error(ErrorKind::TypeError, "'%s' object is not iterable", std::string(type_name(in, self)).c_str());
  Value iterator = call_special(in, method, self);
  if (type_of(in, iterator)->slots.next == nullptr)
    wrong_result(in, "iter() returned non-iterator of type '%s'", iterator);
  return iterator;
}

bool t_next(Interpreter& in, const Value& self, Value& out) {
  if (const Value& method = method_of(in, self, in.names->next); is_function(method)) {
    Value answer = in.vm().call_function_answer(as_function(method), self, Args{});
    if (!is_failure(answer)) [[likely]] {
      out = std::move(answer);
      return true;
    }
    return stopped_by(in, self, take_failure(answer));
  }
  try {
    out = call_special(in, method_of(in, self, in.names->next), self);
    return true;
  } catch (const Error& error) {
    if (error.kind != ErrorKind::StopIteration) throw;
    keep_stop_value(in, self, error.value);
  } catch (const Thrown& thrown) {
    return stopped_by(in, self, thrown.exception);
  }
  return false;
}

Value t_call(Interpreter& in, const Value& self, const Args& args) {
  const Value method = method_of(in, self, in.names->call);
  if (is_function(method)) return in.vm().call_function(as_function(method), self, args);
  if (!takes_self(method)) return call(in, bind_attribute(in, method, self, type_of(in, self)), args);
  std::vector<Value> values{self};
  values.insert(values.end(), args.values, args.values + args.count);
  Args all = args;
  all.values = values.data();
  ++all.count;
  return call(in, method, all);
}

// ---- The table -------------------------------------------------------------------------------------------------------

// The first class of the mro whose dict has one of the names, or null.
const Type* first_with(const Type* type, std::initializer_list<Str*> names) {
  for (Type* base : type->mro) {
    for (Str* name : names) {
      if (name != nullptr && dict_get_str(base->attributes(), name) != nullptr) return base;
    }
  }
  return nullptr;
}

// The first native class in the order: its functions are in the table from the start. Native types need not have all of
// their functions as methods, so a method found above it says nothing about them.
const Type* first_native(const Type* type) {
  for (const Type* base : type->mro) {
    if (!(base->type_flags & kScriptClass) && base != type->owner->types.object) return base;
  }
  return type->owner->types.object;
}

template <class F>
void choose(Type* type, F TypeSlots::*slot, F trampoline, std::initializer_list<Str*> names) {
  const Type* definer = first_with(type, names);
  if (definer == nullptr) {  // a method was deleted
    if (type->slots.*slot == trampoline) type->slots.*slot = first_native(type)->slots.*slot;
    return;
  }
  if (definer->type_flags & kScriptClass) type->slots.*slot = trampoline;
  else if (!first_native(type)->is_subtype_of(definer)) type->slots.*slot = definer->slots.*slot;
}

}  // namespace

void fill_slots(Interpreter& in, Type* type) {
  const Names& n = *in.names;
  using S = TypeSlots;
  choose(type, &S::repr, &t_repr, {n.repr});
  choose(type, &S::str, &t_str, {n.str});
  choose(type, &S::format, &t_format, {n.format});
  choose(type, &S::hash, &t_hash, {n.hash});
  if (type_lookup(type, n.hash).is_none()) type->slots.hash = nullptr;
  choose(type, &S::length, &t_length, {n.len});
  choose(type, &S::truth, &t_truth, {n.bool_});
  choose(type, &S::compare, &t_compare, {n.lt, n.le, n.eq, n.ne, n.gt, n.ge});
  // A str subclass with __eq__ keeps str's other comparisons: they are found as methods by the trampoline.
  choose(type, &S::binary, &t_binary,
         {n.add,  n.sub,     n.mul,     n.truediv, n.floordiv, n.mod,  n.pow,  n.matmul,   n.lshift,    n.rshift,
          n.and_, n.or_,     n.xor_,    n.divmod,  n.radd,     n.rsub, n.rmul, n.rtruediv, n.rfloordiv, n.rmod,
          n.rpow, n.rmatmul, n.rlshift, n.rrshift, n.rand,     n.ror,  n.rxor, n.rdivmod});
  choose(type, &S::inplace, &t_inplace,
         {n.iadd, n.isub, n.imul, n.itruediv, n.ifloordiv, n.imod, n.ipow, n.imatmul, n.ilshift, n.irshift, n.iand,
          n.ior, n.ixor});
  choose(type, &S::unary, &t_unary, {n.neg, n.pos, n.invert});
  choose(type, &S::get_item, &t_get_item, {n.getitem});
  choose(type, &S::set_item, &t_set_item, {n.setitem});
  choose(type, &S::del_item, &t_del_item, {n.delitem});
  choose(type, &S::contains, &t_contains, {n.contains});
  choose(type, &S::iter, &t_iter, {n.iter});
  choose(type, &S::next, &t_next, {n.next});
  choose(type, &S::call, &t_call, {n.call});
  if (type->slots.adjust != nullptr) type->slots.adjust(in, type);
}

namespace {

Function* plain_function(const Value& method) { return is_function(method) ? as_function(method) : nullptr; }

// type_lookup without a call where the cache knows the name: the loop asks for a special method at each of its operators.
inline const Value& found_in(Interpreter& in, const Type* type, const Str* name) {
  const TypeCache::Entry& entry = in.type_cache().entry(type->version, name);
  return entry.version == type->version && entry.name == name ? *entry.value : type_lookup(type, name);
}

}  // namespace

int64_t checked_length(Interpreter& in, const Value& given) {
  if (given.is_int() && given.as_int() >= 0) [[likely]]
    return given.as_int();
  const Value answer = whole_index(in, given);
  const int64_t length = whole_sign(answer) < 0 ? -1 : index_sized(in, answer, ErrorKind::OverflowError);
  if (length < 0) throw_error(ErrorKind::ValueError, "__len__() should return >= 0");
  return length;
}

namespace {

Function* find_special(Interpreter& in, const Type* type, SpecialSlot slot) {
  const Names& n = *in.names;
  const TypeSlots& slots = type->slots;
  const auto when = [&](bool trampoline, Str* name) {
    return trampoline ? plain_function(found_in(in, type, name)) : nullptr;
  };
  switch (slot) {
    case SpecialSlot::Call: return when(slots.call == &t_call, n.call);
    case SpecialSlot::GetItem: return when(slots.get_item == &t_get_item, n.getitem);
    case SpecialSlot::SetItem: return when(slots.set_item == &t_set_item, n.setitem);
    case SpecialSlot::DelItem: return when(slots.del_item == &t_del_item, n.delitem);
    case SpecialSlot::Iter: return when(slots.iter == &t_iter, n.iter);
    case SpecialSlot::Next: return when(slots.next == &t_next, n.next);
    case SpecialSlot::Neg: return when(slots.unary == &t_unary, n.neg);
    case SpecialSlot::Pos: return when(slots.unary == &t_unary, n.pos);
    case SpecialSlot::Invert: return when(slots.unary == &t_unary, n.invert);
    case SpecialSlot::Length: return when(slots.length == &t_length, n.len);
    case SpecialSlot::Contains: return when(slots.contains == &t_contains, n.contains);
    case SpecialSlot::EqForNe: {
      Function* const equal = when(slots.compare == &t_compare && is_ne_of_object(in, found_in(in, type, n.ne)), n.eq);
      return equal != nullptr && (equal->code->code_flags & kGenerator) == 0 ? equal : nullptr;
    }
    default: break;
  }
  const int place = static_cast<int>(slot);
  if (slot < SpecialSlot::Add) {
    const auto op = static_cast<CompareOp>(place - static_cast<int>(SpecialSlot::Lt));
    return when(slots.compare == &t_compare, compare_name(in, op));
  }
  const auto op = static_cast<BinaryOp>(place - static_cast<int>(SpecialSlot::Add));
  return when(slots.binary == &t_binary, operator_names(in, op).plain);
}

}  // namespace

// The table is left out where memory has ended, and for the last version of all, which stays when the class changes.
Function* look_up_special(Interpreter& in, const Type* type, SpecialSlot slot) {
  Function* const found = find_special(in, type, slot);
  std::unique_ptr<SpecialFunctions>& known = type->special_functions;
  if (known == nullptr) known.reset(new (std::nothrow) SpecialFunctions);
  if (known == nullptr || type->version == kForgotten) return found;
  if (known->version != type->version) known->asked = 0;
  known->version = type->version;
  known->asked |= uint32_t{1} << static_cast<size_t>(slot);
  known->functions[static_cast<size_t>(slot)] = found;
  return found;
}

const Value* binary_special(Interpreter& in, const Type* type, BinaryOp op, bool reflected) {
  if (type->slots.binary != &t_binary) return nullptr;
  const OperatorNames names = operator_names(in, op);
  return &found_in(in, type, reflected ? names.reflected : names.plain);
}

const Value* inplace_special(Interpreter& in, const Type* type, BinaryOp op) {
  Str* const name = operator_names(in, op).inplace;
  return type->slots.inplace == &t_inplace && name != nullptr ? &found_in(in, type, name) : nullptr;
}

void update_type_flags(Interpreter& in, Type* type) {
  const Names& n = *in.names;
  auto set = [&](uint32_t flag, bool on) {
    type->type_flags = on ? type->type_flags | flag : type->type_flags & ~flag;
  };
  // Is the special method of this name a value that a script assigned (a function, descriptor or other callable), not a native type's?
  auto scripted = [&](Str* name) {
    const Value& found = type_lookup(type, name);
    return !found.is_undefined() && !is_native_method(found);
  };
  auto defined = [&](Str* name) { return !type_lookup(type, name).is_undefined(); };
  set(kHasGetAttrHook, defined(n.getattr));
  set(kHasGetAttribute, scripted(n.getattribute));
  set(kHasSetAttrHook, scripted(n.setattr) || scripted(n.delattr));
  set(kHasFinalizer, defined(n.del));
}

}  // namespace tessera::lang

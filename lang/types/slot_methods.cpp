// Special methods of native types as attributes: `[].__len__`, `int.__add__`, hasattr(x, '__iter__').
// compile: small (explicit calls of what operators and slots do)
//
// Each calls the slot of the type that owns the method, not of the object's own type: super().__len__() in a subclass
// of list must reach the list's.
#include <algorithm>

#include "lang/core/object_cast.h"
#include "lang/objects/class.h"
#include "lang/core/error.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes.h"
#include "lang/types/dict.h"
#include "lang/types/iterators.h"
#include "lang/types/number.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"

namespace tessera::lang {
namespace {

const TypeSlots& slots_of(const Args& args) { return args.callee->owner->slots; }

Value m_repr(Interpreter& in, const Args& a) { return slots_of(a).repr(in, a[0]); }
Value m_str(Interpreter& in, const Args& a) { return slots_of(a).str(in, a[0]); }
Value m_format(Interpreter& in, const Args& a) { return slots_of(a).format(in, a[0], text_of(a[1])); }
Value m_hash(Interpreter& in, const Args& a) { return Value::integer(slots_of(a).hash(in, a[0])); }
Value m_bool(Interpreter& in, const Args& a) { return Value::boolean(slots_of(a).truth(in, a[0])); }
Value m_len(Interpreter& in, const Args& a) { return Value::integer(slots_of(a).length(in, a[0])); }
Value m_getitem(Interpreter& in, const Args& a) { return slots_of(a).get_item(in, a[0], a[1]); }
Value m_setitem(Interpreter& in, const Args& a) {
  slots_of(a).set_item(in, a[0], a[1], a[2]);
  return Value::none();
}
Value m_delitem(Interpreter& in, const Args& a) {
  slots_of(a).del_item(in, a[0], a[1]);
  return Value::none();
}
Value m_contains(Interpreter& in, const Args& a) { return Value::boolean(slots_of(a).contains(in, a[0], a[1])); }
Value m_iter(Interpreter& in, const Args& a) { return slots_of(a).iter(in, a[0]); }
Value m_next(Interpreter& in, const Args& a) {
  Value out;
  const WantedStop wanted(in);
  if (slots_of(a).next(in, a[0], out)) return out;
  raise_kept_stop(in, a[0]);
  Value value = take_stop_value(in, a[0]);
  if (value.is_undefined()) throw Error(ErrorKind::StopIteration, std::string());
  throw Error(ErrorKind::StopIteration, std::move(value));
}

// int's own methods know ints only, float's know ints and floats; the machine asks the other operand's for the rest.
bool is_foreign(Interpreter& in, const Args& a) {
  if (a.callee->owner == in.types.real) return is_complex(in, unboxed(a[1]));
  if (a.callee->owner != in.types.integer && a.callee->owner != in.types.boolean) return false;
  const Value other = unboxed(a[1]);
  return !is_whole(other);
}

template <CompareOp kOp>
Value m_compare(Interpreter& in, const Args& a) {
  const Type* owner = a.callee->owner;
  if (owner == in.types.none) return kOp == CompareOp::Eq ? Value::boolean(a[1].is_none()) : in.not_implemented;
  if (is_foreign(in, a)) return in.not_implemented;
  return owner->slots.compare(in, kOp, a[0], a[1]);
}
template <BinaryOp kOp, bool kReflected>
Value m_binary(Interpreter& in, const Args& a) {
  if (is_foreign(in, a)) return in.not_implemented;
  const Type* const owner = a.callee->owner;
  if (kReflected && kOp == BinaryOp::Mod && is_instance(in, a[1], owner))
    return slots_of(a).binary(in, kOp, a[1], a[0], false, 0);  // a text as the format, which the slot knows on its left alone
  Value answer = slots_of(a).binary(in, kOp, a[0], a[1], kReflected, 0);
  return owner == in.types.integer && answer.is_bool() ? Value::integer(answer.as_bool()) : answer;  // int.__and__(True, True)
}

// number.__pow__(other, mod=None)
template <bool kReflected>
Value m_power(Interpreter& in, const Args& a) {
  if (a[2].is_none()) return m_binary<BinaryOp::Pow, kReflected>(in, a);
  const Value base = unboxed(a[kReflected]), exponent = unboxed(a[!kReflected]), modulus = unboxed(a[2]);
  if (is_complex(in, a[0])) {
    if (!is_complex(in, unboxed(a[1])) && !is_whole(unboxed(a[1])) && !unboxed(a[1]).is_float()) return in.not_implemented;
    throw Error(ErrorKind::ValueError, "complex modulo");
  }
  if (a.callee->owner == in.types.real)
    throw Error(ErrorKind::TypeError, "pow() 3rd argument not allowed unless all arguments are integers");
  if (!is_whole(base) || !is_whole(exponent) || !is_whole(modulus)) return in.not_implemented;
  return whole_power_modulo(in, base, exponent, modulus);
}

// The arguments that make an equal str, int, float or tuple, without what a class below adds.
Value m_new_arguments(Interpreter& in, const Args& a) {
  const Value& self = a[0];
  if (is_str(self)) return make_tuple(in, {plain_str(in, self)});
  if (is_tuple(self)) return make_tuple(in, {make_tuple(in, as_tuple(self)->items, as_tuple(self)->size)});
  const Value number = unboxed(self);
  return make_tuple(in, {number.is_bool() ? Value::integer(number.as_bool()) : number});
}
template <UnaryOp kOp>
Value m_unary(Interpreter& in, const Args& a) {
  return slots_of(a).unary(in, kOp, a[0]);
}

void add(Interpreter& in, Type* type, const char* signature, NativeFn function) {
  const NativeDef row{signature, function, ""};
  in.add_methods(type, &row, 1);
}

bool is_bytes_type(Interpreter& in, const Type* type) {
  const BytesTypes* made = in.shared->bytes;
  return made != nullptr && (type == made->bytes || type == made->byte_array);
}

bool is_sequence(Interpreter& in, const Type* type) {
  return type == in.types.str || is_bytes_type(in, type) || (type->type_flags & kMatchesSequence) != 0;
}

template <BinaryOp kOp>
Value m_inplace(Interpreter& in, const Args& a) {
  if (kOp == BinaryOp::Mul && is_sequence(in, a.callee->owner) && !is_index(in, a[1])) index(in, a[1]);  // refused as by a wrapper
  Value answer = slots_of(a).inplace(in, kOp, a[0], a[1]);
  // `b += x` of a bytearray falls back to x.__radd__; the method bytearray.__iadd__ does not, and refuses x itself.
  return kOp == BinaryOp::Add && answer.is(in.not_implemented) ? slots_of(a).binary(in, kOp, a[0], a[1], false, 0) : answer;
}
// seq.__mul__(n) and seq.__rmul__(n): other than the operator, the methods refuse what is no index.
Value m_repeat(Interpreter& in, const Args& a) {
  return slots_of(a).binary(in, BinaryOp::Mul, a[0], whole_index(in, a[1]), false, 0);
}

template <BinaryOp kOp>
void add_binary(Interpreter& in, Type* type, uint32_t wanted, const char* name, const char* reflected,
                const char* inplace) {
  if (!(wanted & 1u << static_cast<int>(kOp))) return;
  const bool sequence = is_sequence(in, type);
  const bool repeats = sequence && kOp == BinaryOp::Mul;
  add(in, type, name, repeats ? m_repeat : m_binary<kOp, false>);
  if (!(sequence && kOp == BinaryOp::Add)) add(in, type, reflected, repeats ? m_repeat : m_binary<kOp, true>);
  if (type->slots.inplace != nullptr) add(in, type, inplace, m_inplace<kOp>);
}

uint32_t bit(BinaryOp op) { return 1u << static_cast<int>(op); }

// Which operators the `binary` slot of a built-in type really knows.
uint32_t operators_of(Interpreter& in, const Type* type) {
  const BuiltinTypes& t = in.types;
  using enum BinaryOp;
  const uint32_t sets = bit(And) | bit(Or) | bit(Sub) | bit(Xor);
  const uint32_t arithmetic = bit(Add) | bit(Sub) | bit(Mul) | bit(TrueDiv) | bit(Pow);
  if (type == t.str || is_bytes_type(in, type)) return bit(Add) | bit(Mul) | bit(Mod);
  if (type == t.list || type == t.tuple) return bit(Add) | bit(Mul);
  if (type == t.dict) return bit(Or);
  if (type == t.set || type == t.frozenset || type == t.dict_keys || type == t.dict_items) return sets;
  if (type == t.complex) return arithmetic;
  if (type == t.real) return arithmetic | bit(FloorDiv) | bit(Mod) | bit(DivMod);
  if (type == t.integer) return ~bit(MatMul);
  if (type == t.boolean) return bit(And) | bit(Or) | bit(Xor);
  return 0;
}

void add_operators(Interpreter& in, Type* type) {
  operator_methods(in, type, type->slots.binary != nullptr ? operators_of(in, type) : 0);
  if (type->slots.unary == nullptr) return;
  add(in, type, "__neg__(self, /)", m_unary<UnaryOp::Neg>);
  add(in, type, "__pos__(self, /)", m_unary<UnaryOp::Pos>);
  if (type == in.types.integer) add(in, type, "__invert__(self, /)", m_unary<UnaryOp::Invert>);
}

void add_comparisons(Interpreter& in, Type* type) {
  add(in, type, "__lt__(self, value, /)", m_compare<CompareOp::Lt>);
  add(in, type, "__le__(self, value, /)", m_compare<CompareOp::Le>);
  add(in, type, "__eq__(self, value, /)", m_compare<CompareOp::Eq>);
  add(in, type, "__ne__(self, value, /)", m_compare<CompareOp::Ne>);
  add(in, type, "__gt__(self, value, /)", m_compare<CompareOp::Gt>);
  add(in, type, "__ge__(self, value, /)", m_compare<CompareOp::Ge>);
}

// T.__new__(cls, *args)
Value m_new(Interpreter& in, const Args& args) {
  const Type* owner = args.callee->owner;
  Type* type = object_cast<Type>(args[0]);
  const Type* const native = *std::find_if(type->mro.begin(), type->mro.end(), [](const Type* t) { return !(t->type_flags & kScriptClass); });
  if (native->make != owner->make) {  // a native type that makes its instances in another way
    throw_error(ErrorKind::TypeError, "%s.__new__(%s) is not safe, use %s.__new__()", std::string(type_name(in, owner)).c_str(),
                std::string(type_name(in, type)).c_str(), std::string(type_name(in, native)).c_str());
  }
  Args rest = args;
  ++rest.values;
  --rest.count;
  return owner->make.answer(in, type, rest);
}

// x.__call__(…): the arguments as they were written.
Value m_call(Interpreter& in, const Args& args) {
  const Type* owner = args.callee->owner;
  Args rest = args;
  ++rest.values;
  --rest.count;
  // Natives have no slot: the machine knows them by their kind.
  return owner->slots.call != nullptr ? owner->slots.call(in, args[0], rest) : call(in, args[0], rest);
}

}  // namespace

void operator_methods(Interpreter& in, Type* type, uint32_t ops) {
  using enum BinaryOp;
#define TS_BINARY(op, name)                                                                      \
  add_binary<op>(in, type, ops, "__" name "__(self, value, /)", "__r" name "__(self, value, /)", \
                 "__i" name "__(self, value, /)")
  TS_BINARY(Add, "add");
  TS_BINARY(Sub, "sub");
  TS_BINARY(Mul, "mul");
  TS_BINARY(TrueDiv, "truediv");
  TS_BINARY(FloorDiv, "floordiv");
  TS_BINARY(Mod, "mod");
  if (type == in.types.integer || type == in.types.real || type == in.types.complex) {
    add(in, type, "__pow__(self, value, mod=None, /)", m_power<false>);
    add(in, type, "__rpow__(self, value, mod=None, /)", m_power<true>);
  } else {
    TS_BINARY(Pow, "pow");
  }
  TS_BINARY(LShift, "lshift");
  TS_BINARY(RShift, "rshift");
  TS_BINARY(And, "and");
  TS_BINARY(Or, "or");
  TS_BINARY(Xor, "xor");
  TS_BINARY(DivMod, "divmod");
  TS_BINARY(MatMul, "matmul");
#undef TS_BINARY
}

void call_method_of_slot(Interpreter& in, Type* type) {
  add(in, type, "__call__", m_call);
}

void slot_methods(Interpreter& in, Type* type) {
  const TypeSlots& s = type->slots;
  if (s.repr != nullptr) add(in, type, "__repr__(self, /)", m_repr);
  if (s.str != nullptr) add(in, type, "__str__(self, /)", m_str);
  if (s.format != nullptr) add(in, type, "__format__(self, format_spec: str, /)", m_format);
  if (s.hash != nullptr && type->slots.hash != in.types.object->slots.hash) add(in, type, "__hash__(self, /)", m_hash);
  if (s.hash == nullptr) dict_set_str(in, type->attributes(), in.names->hash, Value::none());
  if (s.truth != nullptr) add(in, type, "__bool__(self, /)", m_bool);
  if (s.length != nullptr) add(in, type, "__len__(self, /)", m_len);
  if (s.get_item != nullptr) add(in, type, "__getitem__(self, key, /)", m_getitem);
  if (s.set_item != nullptr) add(in, type, "__setitem__(self, key, value, /)", m_setitem);
  if (s.del_item != nullptr) add(in, type, "__delitem__(self, key, /)", m_delitem);
  if (s.contains != nullptr) add(in, type, "__contains__(self, key, /)", m_contains);
  if (s.iter != nullptr) add(in, type, "__iter__(self, /)", m_iter);
  if (s.next != nullptr) add(in, type, "__next__(self, /)", m_next);
  if (s.compare != nullptr && s.compare != in.types.object->slots.compare) add_comparisons(in, type);
  add_operators(in, type);
  if (s.call != nullptr) call_method_of_slot(in, type);
  if (type->make != nullptr) add(in, type, "__new__", m_new);
  if (type == in.types.str || type == in.types.tuple || type == in.types.integer || type == in.types.real)
    add(in, type, "__getnewargs__(self, /)", m_new_arguments);
}

void complete_special_methods(Interpreter& in, Type* type) {
  const Value own = dict_copy(in, type->attributes());
  slot_methods(in, type);
  dict_merge(in, type->attributes(), as_dict(own));
  type_changed(in, type);
}

}  // namespace tessera::lang

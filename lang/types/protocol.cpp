// What the language does with any value: equality, hash, text, length, membership, iteration, numbers.
// Operators, calls and attributes are elsewhere (operators.cpp, call.cpp, attribute.cpp).
#include "lang/objects/exception.h"
#include "lang/core/protocol.h"

#include <charconv>
#include <cstdio>

#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/objects/class.h"
#include "lang/objects/class_slots.h"
#include "lang/types/bigint.h"
#include "lang/types/dict.h"
#include "lang/types/format.h"
#include "lang/types/hash.h"
#include "lang/types/iterators.h"
#include "lang/types/list.h"
#include "lang/types/number.h"
#include "lang/types/sequence.h"
#include "lang/types/set.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

RecursionGuard::RecursionGuard(Interpreter& in, const char* where) : in_(in) {
  in.check_stop();  // structures that hold themselves many times over have no end in practice
  const uint32_t limit = in.limits.call_depth != 0 ? in.limits.call_depth : 1000;
  in.vm().check_native_stack();
  if (in.shared->native_depth >= limit) {
    throw Error(ErrorKind::RecursionError, std::string("maximum recursion depth exceeded") + where);
  }
  ++in.shared->native_depth;
}
RecursionGuard::~RecursionGuard() { --in_.shared->native_depth; }

bool equals(Interpreter& in, const Value& left, const Value& right) {
  if (left.is(right)) return true;
  if (left.is_object() && right.is_object()) {
    Object* a = left.as_object();
    Object* b = right.as_object();
    if (a->type == in.types.str && b->type == in.types.str)
      return str_equal(known_cast<Str>(a), known_cast<Str>(b));
    if (a->type == in.types.tuple && b->type == in.types.tuple) {
      const Same same = same_tuples_quietly(in, known_cast<Tuple>(a), known_cast<Tuple>(b));
      if (same != Same::Unsure) return same == Same::Yes;
    }
  } else if (!left.is_object() && !right.is_object()) {
    const Value result = number_compare(in, CompareOp::Eq, left, right);
    return result.is_bool() && result.as_bool();
  }
  return truth(in, compare(in, CompareOp::Eq, left, right));
}

int64_t hash(Interpreter& in, const Value& value) {
  switch (value.tag()) {
    case Tag::Int: return hash_int(value.as_int());
    case Tag::Bool: return value.as_int();
    case Tag::Float: return hash_float(value.as_float());
    case Tag::Object: break;
    default: return kHashNone;
  }
  Object* object = value.as_object();
  if (object->type == in.types.str) return str_hash(known_cast<Str>(object));
  if (object->type->slots.hash == nullptr) {
    throw Error(ErrorKind::TypeError, "unhashable type: '" + std::string(type_name(in, value)) + "'");
  }
  in.check_stop();
  return object->type->slots.hash(in, value);
}

int64_t length(Interpreter& in, const Value& value) {
  if (value.is_object() && value.as_object()->type->slots.length != nullptr) {
    return value.as_object()->type->slots.length(in, value);
  }
  throw Error(ErrorKind::TypeError, "object of type '" + std::string(type_name(in, value)) + "' has no len()");
}

namespace {

// The iterator of a container without __contains__. Whatever TypeError __iter__ raises, the container is no iterable one.
Value iter_to_search(Interpreter& in, const Value& container) {
  if (!(container.as_object()->type->type_flags & (kScriptClass | kMatchesSequence))) return iter(in, container);
  try {
    return iter(in, container);
  } catch (const Error& error) {
    if (error.kind != ErrorKind::TypeError) throw;
  } catch (const Thrown& thrown) {
    if (!is_error(in, thrown.exception, ErrorKind::TypeError)) throw;
  }
  throw Error(ErrorKind::TypeError, "argument of type '" + std::string(type_name(in, container)) + "' is not iterable");
}

}  // namespace

bool contains(Interpreter& in, const Value& container, const Value& item) {
  if (container.is_object()) {
    if (container.as_object()->type == in.types.dict) return dict_get(in, as_dict(container), item) != nullptr;
    const TypeSlots& slots = container.as_object()->type->slots;
    if (slots.contains != nullptr) return slots.contains(in, container, item);
    if (is_iterable(in, container)) {
      const Value it = iter_to_search(in, container);
      Value each;
      while (next(in, it, each)) {
        if (equals(in, each, item)) return true;
      }
      return false;
    }
  }
  throw Error(ErrorKind::TypeError, "argument of type '" + std::string(type_name(in, container)) + "' is not iterable");
}

bool is_iterable(Interpreter& in, const Value& value) {
  if (!value.is_object()) return false;
  const Type* type = value.as_object()->type;
  if (type->slots.iter != nullptr) return true;
  // Classes have the slot for their __class_getitem__; a metaclass's own method makes them sequences.
  if (type->instance_kind == ObjectKind::Type && type_lookup(type, in.names->getitem).is_undefined()) return false;
  // Only a class of a script is iterated by its __getitem__; what is native says so with the slot.
  return type->slots.get_item != nullptr && (type->type_flags & kScriptClass) != 0 &&
         type->instance_kind != ObjectKind::Dict;
}

Value iter(Interpreter& in, const Value& iterable) {
  if (iterable.is_object()) {
    const Type* type = iterable.as_object()->type;
    if (type->slots.iter != nullptr) {
      Value it = type->slots.iter(in, iterable);
      if (it.is_object() && it.as_object()->type->slots.next != nullptr) return it;
      throw Error(ErrorKind::TypeError,
                  "iter() returned non-iterator of type '" + std::string(type_name(in, it)) + "'");
    }
    if (is_iterable(in, iterable)) return index_iter(in, iterable);
  }
  throw Error(ErrorKind::TypeError, "'" + std::string(type_name(in, iterable)) + "' object is not iterable");
}

void count_item(Interpreter& in) { in.poll(); }

[[gnu::noinline]] static bool next_at_safe_point(Interpreter& in, const Value& iterator, Value& out);

bool next(Interpreter& in, const Value& iterator, Value& out) {
  if (--in.countdown >= 0 && in.interrupt.load(std::memory_order_relaxed) == 0 && iterator.is_object()) [[likely]] {
    if (next_at_once(in, iterator, out)) return true;
    if (const auto slot = iterator.as_object()->type->slots.next) return slot(in, iterator, out);
  }
  return next_at_safe_point(in, iterator, out);
}

static bool next_at_safe_point(Interpreter& in, const Value& iterator, Value& out) {
  in.poll(0);
  if (iterator.is_object() && iterator.as_object()->type->slots.next != nullptr)
    return iterator.as_object()->type->slots.next(in, iterator, out);
  throw Error(ErrorKind::TypeError, "'" + std::string(type_name(in, iterator)) + "' object is not an iterator");
}

bool is_plain_sequence(Interpreter& in, const Value& value) noexcept {
  if (!value.is_object()) return false;
  const Type* type = value.as_object()->type;
  return type == in.types.list || type == in.types.tuple;
}

bool plain_item(const Value& sequence, size_t index, Value& out) noexcept {
  const bool list = is_list(sequence);
  if (index >= (list ? as_list(sequence)->size : as_tuple(sequence)->size)) return false;
  out = list ? as_list(sequence)->items[index] : as_tuple(sequence)->items[index];
  return true;
}

namespace {

std::string immediate_text(const Value& value) {
  switch (value.tag()) {
    case Tag::Bool: return value.as_bool() ? "True" : "False";
    case Tag::Int: return int_text(value.as_int());
    case Tag::Float: return float_repr(value.as_float());
    case Tag::None: return "None";
    default: return "<undefined>";
  }
}

Value make_int_str(Interpreter& in, int64_t value) {
  char digits[24];
  const auto size = static_cast<size_t>(std::to_chars(digits, digits + sizeof digits, value).ptr - digits);
  return make_str(in, std::string_view(digits, size), size);
}

Value checked_text(Interpreter& in, Value text, const char* method) {
  if (is_str(text)) return text;
  throw Error(ErrorKind::TypeError,
              std::string(method) + " returned non-string (type " + std::string(type_name(in, text)) + ")");
}

}  // namespace

std::string default_repr(Interpreter&, const Value& value) {
  const Type* type = value.as_object()->type;
  char address[32];
  std::snprintf(address, sizeof address, " object at %p>", static_cast<void*>(value.as_object()));
  std::string out = "<";
  if (type->module != nullptr && type->module->view() != "builtins") out += std::string(type->module->view()) + ".";
  out += type->qualname != nullptr ? type->qualname->view() : type->name->view();
  return out + address;
}

Value repr(Interpreter& in, const Value& value) {
  if (value.is_int()) return make_int_str(in, value.as_int());
  if (!value.is_object()) return make_str(in, immediate_text(value));
  const Type* type = value.as_object()->type;
  if (type == in.types.str) return make_str(in, quote(text_of(value)));
  if (type->slots.repr == nullptr) return make_str(in, default_repr(in, value));
  const RecursionGuard guard(in, " while getting the repr of an object");
  return checked_text(in, type->slots.repr(in, value), "__repr__");
}

Value str(Interpreter& in, const Value& value) {
  if (value.is_int()) return make_int_str(in, value.as_int());
  if (!value.is_object()) return make_str(in, immediate_text(value));
  const Type* type = value.as_object()->type;
  if (type == in.types.str) return value;
  if (type->slots.str == nullptr && ((type->type_flags & kScriptClass) == 0 || type->slots.repr == nullptr)) return repr(in, value);
  const RecursionGuard guard(in, " while getting the str of an object");
  return checked_text(in, type->slots.str != nullptr ? type->slots.str(in, value) : type->slots.repr(in, value), "__str__");
}

std::string repr_text(Interpreter& in, const Value& value) {
  if (!value.is_object()) return immediate_text(value);
  return std::string(text_of(repr(in, value)));
}

std::string str_text(Interpreter& in, const Value& value) {
  if (!value.is_object()) return immediate_text(value);
  return std::string(text_of(str(in, value)));
}

Value format(Interpreter& in, const Value& value, std::string_view spec) {
  switch (value.tag()) {
    case Tag::Int: return spec.empty() ? str(in, value) : format_int_value(in, value, spec);
    case Tag::Float: return spec.empty() ? str(in, value) : format_float_value(in, value.as_float(), spec);
    case Tag::Bool: return spec.empty() ? str(in, value) : format_int_value(in, value, spec, "bool");
    case Tag::Object: {
      const Type* type = value.as_object()->type;
      if (type == in.types.str) return spec.empty() ? value : format_str_value(in, text_of(value), spec);
      if (type->slots.format != nullptr) return checked_text(in, type->slots.format(in, value, spec), "__format__");
      break;
    }
    default: break;
  }
  if (spec.empty()) return str(in, value);
  throw Error(ErrorKind::TypeError,
              "unsupported format string passed to " + std::string(type_name(in, value)) + ".__format__");
}

void warn_of_subclass(Interpreter& in, const std::string& method, const Value& answer, const char* kind) {
  const std::string type(type_name(in, answer));
  in.warn(ErrorKind::DeprecationWarning, method + " returned non-" + kind + " (type " + type +
                                             ").  The ability to return an instance of a strict subclass of " + kind +
                                             " is deprecated, and may be removed in a future version of Python.");
}

Value whole_index(Interpreter& in, const Value& value) {
  Value plain = unboxed(value);
  if (is_whole(plain)) return plain.is_bool() ? Value::integer(plain.as_int()) : plain;
  if (value.is_object()) {
    const Value method = type_lookup(value.as_object()->type, in.names->index);
    if (!method.is_undefined()) {
      const Value answer = call_special(in, method, value);
      Value result = unboxed(answer);
      if (is_whole(result)) {
        if (type_of(in, answer) != in.types.integer) warn_of_subclass(in, "__index__", answer, "int");
        return result.is_bool() ? Value::integer(result.as_int()) : result;
      }
      throw Error(ErrorKind::TypeError, "__index__ returned non-int (type " + std::string(type_name(in, answer)) + ")");
    }
  }
  throw Error(ErrorKind::TypeError,
              "'" + std::string(type_name(in, value)) + "' object cannot be interpreted as an integer");
}

int64_t index(Interpreter& in, const Value& value) {
  if (value.is_int()) return value.as_int();
  return whole_to_int64(whole_index(in, value));
}

double to_float(Interpreter& in, const Value& value) {
  const Value plain = unboxed(value);
  if (plain.is_float()) return plain.as_float();
  // A class below int is asked for its own __float__, whatever object that is; a class below float is not.
  const Type* const type = value.is_object() ? value.as_object()->type : nullptr;
  const Value method = type != nullptr && !is_big_int(value) ? type_lookup(type, in.names->float_) : Value();
  if (is_whole(plain) && (method.is_undefined() || is_native_method(method))) return whole_to_float(plain);
  if (type != nullptr) {
    if (!method.is_undefined()) {
      const Value answer = call_special(in, method, value);
      const Value result = unboxed(answer);
      if (result.is_float()) {
        if (!answer.is_float()) warn_of_subclass(in, std::string(type->name->view()) + ".__float__", answer, "float");
        return result.as_float();
      }
      throw Error(ErrorKind::TypeError, std::string(type->name->view()) + ".__float__ returned non-float (type " +
                                            std::string(type_name(in, result)) + ")");
    }
    if (!type_lookup(type, in.names->index).is_undefined()) return whole_to_float(whole_index(in, plain));
  }
  throw Error(ErrorKind::TypeError, "must be real number, not " + std::string(type_name(in, value)));
}

}  // namespace tessera::lang

// Arguments of native functions: binding by a Signature, checks and conversions, and CPython's words when a call is wrong.
//
// CPython's C functions complain in two dialects: those that take positional arguments only ("expected 2 arguments,
// got 1", "takes exactly one argument (0 given)") and those with keywords ("missing required argument 'x' (pos 1)").
// The signature says which one a function speaks.
#include "lang/core/bind.h"

#include <algorithm>
#include <iterator>

#include "lang/core/object_cast.h"
#include "lang/objects/class.h"
#include "lang/objects/exception_types.h"
#include "lang/core/error.h"
#include "lang/core/failure.h"
#include "lang/core/interpreter.h"
#include "lang/core/make_object.h"
#include "lang/core/names.h"
#include "lang/objects/module.h"
#include "lang/core/protocol.h"
#include "lang/types/codec.h"
#include "lang/types/bigint.h"
#include "lang/types/dict.h"
#include "lang/types/number.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"

namespace tessera::lang {

uint32_t Args::positional() const { return keyword_names == nullptr ? count : count - keyword_names->size; }

namespace {

using Kind = Parameter::Kind;
using Check = Parameter::Check;

[[noreturn]] void type_error(std::string message) { throw Error(ErrorKind::TypeError, std::move(message)); }

std::string count_of(size_t n, const char* noun) { return std::to_string(n) + " " + noun + (n == 1 ? "" : "s"); }

bool is_method(const Args& args, const Signature& signature) {
  if (args.callee == nullptr || signature.parameters.empty()) return false;
  return args.callee->owner != nullptr || signature.parameters[0].name->view() == "cls";
}

// "list.append", "math.sqrt", "len"
std::string full_name(const Signature& signature, const Args& args) {
  if (args.callee != nullptr && args.callee->owner == nullptr && args.callee->module != nullptr) {
    return std::string(args.callee->module->view()) + "." + signature.function_name;
  }
  if (args.callee != nullptr && args.callee->owner == nullptr) {
    const Type* const owner = static_owner(*args.callee->type->owner, args.callee);
    if (owner != nullptr) return std::string(owner->name->view()) + "." + signature.function_name;
  }
  if (!is_method(args, signature) || args.callee->owner == nullptr) return signature.function_name;
  if (args.callee->takes_class && signature.function_name != "__new__" && args.positional() != 0)  // named by the class that was asked
    return std::string(known_cast<Type>(args.values[0])->qualname->view()) + "." + signature.function_name;
  if (signature.function_name == args.callee->owner->name->view()) return signature.function_name;
  return std::string(args.callee->owner->name->view()) + "." + signature.function_name;
}

}  // namespace

bool stands_for_slot(std::string_view name, const Type* owner) {
  static constexpr std::string_view kSlots[] = {
      "__abs__", "__add__", "__aiter__", "__and__", "__anext__", "__await__", "__bool__", "__call__", "__contains__",
      "__del__", "__delattr__", "__delete__", "__delitem__", "__divmod__", "__eq__", "__float__", "__floordiv__",
      "__ge__", "__get__", "__getattribute__", "__getitem__", "__gt__", "__hash__", "__iadd__", "__iand__",
      "__ifloordiv__", "__ilshift__", "__imatmul__", "__imod__", "__imul__", "__index__", "__init__", "__int__",
      "__invert__", "__ior__", "__ipow__", "__irshift__", "__isub__", "__iter__", "__itruediv__", "__ixor__",
      "__le__", "__len__", "__lshift__", "__lt__", "__matmul__", "__mod__", "__mul__", "__ne__", "__neg__",
      "__next__", "__or__", "__pos__", "__pow__", "__radd__", "__rand__", "__rdivmod__", "__repr__", "__rfloordiv__",
      "__rlshift__", "__rmatmul__", "__rmod__", "__rmul__", "__ror__", "__rpow__", "__rrshift__", "__rshift__",
      "__rsub__", "__rtruediv__", "__rxor__", "__set__", "__setattr__", "__setitem__", "__str__", "__sub__",
      "__truediv__", "__xor__"};
  if (!std::binary_search(std::begin(kSlots), std::end(kSlots), name)) return false;
  const ObjectKind kind = owner->instance_kind;
  if (name == "__getitem__") return kind != ObjectKind::List && kind != ObjectKind::Dict;
  return name != "__contains__" || (kind != ObjectKind::Dict && kind != ObjectKind::Set);
}

namespace {

bool is_slot_wrapper(const NativeFunction* f) {
  return f->owner != nullptr && f->type == f->owner->owner->types.wrapper_descriptor;
}

// Does the signature take any argument by keyword? The first `skip` parameters are not asked: a method's self is never passed by name.
bool has_keywords(const Signature& signature, size_t skip) {
  for (size_t i = skip; i < signature.parameters.size(); ++i) {
    const Parameter& p = signature.parameters[i];
    if (p.kind == Kind::Positional || p.kind == Kind::KeywordOnly || p.kind == Kind::VarKeyword) return true;
  }
  return false;
}

struct Counts {
  size_t least = 0, most_positional = 0, most = 0;
  bool unbounded = false;
};

Counts counts_of(const Signature& signature, size_t skip) {
  Counts c;
  for (size_t i = skip; i < signature.parameters.size(); ++i) {
    const Parameter& p = signature.parameters[i];
    if (p.kind == Kind::VarPositional || p.kind == Kind::VarKeyword) {
      c.unbounded = c.unbounded || p.kind == Kind::VarPositional;
      continue;
    }
    ++c.most;
    if (p.kind == Kind::KeywordOnly) continue;
    ++c.most_positional;
    if (!p.optional) ++c.least;
  }
  return c;
}

// The searching methods of texts and bytes, which CPython parses by a format: it words their counts as if they took keywords.
bool is_parsed_by_format(std::string_view name, const Type* owner) {
  if (owner == nullptr) return false;
  const std::string_view type = owner->name->view();
  if (type == "deque") return name == "index" || name == "insert";
  if (type == "array") return name == "extend";
  if (type != "str" && type != "bytes" && type != "bytearray") return false;
  static constexpr std::string_view kNames[] = {"count", "endswith", "find", "index", "rfind", "rindex", "startswith"};
  return std::binary_search(std::begin(kNames), std::end(kNames), name);
}

// The wrappers of slots that CPython unpacks under an empty name: those of two arguments, and the repetition of what is no number.
bool has_nameless_count(const Signature& signature, const NativeFunction* f, size_t least) {
  if (least == 2) return true;
  return signature.function_name.ends_with("mul__") && type_lookup(f->owner, f->owner->owner->names->sub).is_undefined();
}

[[noreturn]] void wrong_positional_count(const Signature& signature, const Args& args, size_t given, size_t skip) {
  const Counts c = counts_of(signature, skip);
  const bool exact = c.least == c.most_positional && !c.unbounded;
  if (exact && c.least <= 2 && skip == 1 && is_slot_wrapper(args.callee))
    type_error(std::string(has_nameless_count(signature, args.callee, c.least) ? " " : "") + "expected " + count_of(c.least, "argument") + ", got " + std::to_string(given));
  const std::string got = " (" + std::to_string(given) + " given)";
  if (c.most_positional == 0 && !c.unbounded) type_error(full_name(signature, args) + "() takes no arguments" + got);
  const bool parsed = skip == 1 && is_parsed_by_format(signature.function_name, args.callee->owner);
  if (c.least == 1 && c.most_positional == 1 && !c.unbounded && !parsed) {
    type_error(full_name(signature, args) + "() takes exactly one argument" + got);
  }
  const bool few = given < c.least;
  if (parsed) {
    const bool keyed = signature.function_name == "extend";  // of arrays: parsed as a function with keywords
    type_error(signature.function_name + "() takes " + (exact && (!keyed || few) ? "exactly " : few ? "at least " : "at most ") +
               count_of(few ? c.least : c.most_positional, keyed && few ? "positional argument" : "argument") + got);
  }
  const bool dotted = signature.function_name == "rotate";  // CPython gives this one its class
  const bool nameless = !exact && skip == 1 && is_slot_wrapper(args.callee);  // __pow__, which CPython unpacks without a name
  type_error((nameless ? "" : dotted ? full_name(signature, args) : signature.function_name) + " expected " +
             (exact ? ""
              : few ? "at least "
                    : "at most ") +
             count_of(few ? c.least : c.most_positional, "argument") + ", got " + std::to_string(given));
}

[[noreturn]] void too_many(const Signature& signature, size_t positional, size_t keywords, bool any_keywords, size_t skip) {
  const Counts c = counts_of(signature, skip);
  const std::string name = signature.function_name + "() takes ";
  if (!any_keywords && positional + keywords > c.most) {
    type_error(name + "at most " +
               count_of(c.most, positional == 0 ? "keyword argument" : "argument") + " (" +
               std::to_string(positional + keywords) + " given)");
  }
  if (c.most_positional == 0) type_error(name + "no positional arguments");
  type_error(name + (c.least == c.most_positional ? "exactly " : "at most ") +
             count_of(c.most_positional, "positional argument") + " (" + std::to_string(positional) + " given)");
}

[[noreturn]] void missing(const Signature& signature, size_t at, size_t positional, size_t skip) {
  const Parameter& p = signature.parameters[at];
  if (p.kind == Kind::PositionalOnly) {
    size_t least = 0;
    for (size_t i = skip; i < signature.parameters.size(); ++i) {
      least += signature.parameters[i].kind == Kind::PositionalOnly && !signature.parameters[i].optional;
    }
    const Counts c = counts_of(signature, skip);
    type_error(signature.function_name + "() takes " + (least < c.most_positional ? "at least " : "exactly ") +
               count_of(least, "positional argument") + " (" + std::to_string(positional) + " given)");
  }
  type_error(signature.function_name + "() missing required argument '" + std::string(p.name->view()) + "'" +
             (p.kind == Kind::Positional ? " (pos " + std::to_string(at + 1 - skip) + ")" : ""));
}

// "replace() argument 1", "str() argument 'encoding'", "ord() argument"
std::string argument_name(const Signature& signature, size_t at, size_t skip) {
  std::string out = signature.function_name + "() argument";
  if (has_keywords(signature, skip)) return out + " '" + std::string(signature.parameters[at].name->view()) + "'";
  if (signature.parameters.size() - skip > 1) out += " " + std::to_string(at + 1 - skip);
  return out;
}

[[noreturn]] void wrong_type(Interpreter& in, const Signature& signature, size_t at, size_t skip,
                             std::string_view wanted, const Value& got) {
  type_error(argument_name(signature, at, skip) + " must be " + std::string(wanted) + ", not " +
             (got.is_none() ? "None" : std::string(type_name(in, got))));
}

// Null: no such type, nothing is checked. A class of exceptions may not be made yet.
const Type* type_of_name(Interpreter& in, const std::string& name) {
  if (const Type* type = in.named_type(name)) return type;
  const Value late = late_exception(in, name);
  return late.is_undefined() ? nullptr : as_type(late);
}

// An argument that CPython takes as a C int. A whole number beyond its range is an error of its own.
void convert_to_c_int(Interpreter& in, Value& value) {
  const Value whole = whole_index(in, value);
  if (is_big_int(whole) || whole.as_int() > INT32_MAX || whole.as_int() < INT32_MIN)
    throw Error(ErrorKind::OverflowError, "Python int too large to convert to C int");
  value = whole;
}

void check_argument(Interpreter& in, const Signature& signature, size_t at, size_t skip, Value& value) {
  const Parameter& p = signature.parameters[at];
  if (p.allows_none && value.is_none()) return;
  switch (p.check) {
    case Check::None: return;
    case Check::Int:
      if (!value.is_int()) value = Value::integer(index(in, value));
      return;
    case Check::Float:
      if (!value.is_float()) value = Value::real(to_float(in, value));
      return;
    case Check::Bool: value = Value::boolean(truth(in, value)); return;
    case Check::Str:
      if (!is_str(value)) wrong_type(in, signature, at, skip, p.allows_none ? "str or None" : "str", value);
      return;
    case Check::List:
      if (!value.is_object() || value.as_object()->kind != ObjectKind::List)
        wrong_type(in, signature, at, skip, "list", value);
      return;
    case Check::Dict:
      if (!is_dict(value)) wrong_type(in, signature, at, skip, "dict", value);
      return;
    case Check::Tuple:
      if (!is_tuple(value)) wrong_type(in, signature, at, skip, "tuple", value);
      return;
    case Check::Callable:
      if (!is_callable(in, value)) type_error("'" + std::string(type_name(in, value)) + "' object is not callable");
      return;
    case Check::Named: {
      if (p.type_name == "cint") return convert_to_c_int(in, value);
      if (p.type_name == "cstr") {
        if (!is_str(value)) wrong_type(in, signature, at, skip, "str", value);
        return check_c_text(in, value);
      }
      const Type* type = type_of_name(in, p.type_name.substr(0, p.type_name.find_first_of(" |[")));
      if (type != nullptr && !is_instance(in, value, type))
        wrong_type(in, signature, at, skip, type_name(in, type), value);
      return;
    }
  }
}

// Keywords that are refused once every required argument is there.
struct RefusedKeywords {
  const Str* unknown = nullptr;     // the first that the signature does not know
  size_t twice = SIZE_MAX;          // the number of the first parameter that is given by position as well
  bool any() const noexcept { return unknown != nullptr || twice != SIZE_MAX; }
};

RefusedKeywords bind_keywords(Interpreter& in, const Signature& signature, const Args& args, Value* slots, size_t skip) {
  const uint32_t positional = args.positional();
  Dict* extra = nullptr;
  RefusedKeywords refused;
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    if (signature.parameters[i].kind == Kind::VarKeyword) extra = as_dict(slots[i]);
  }
  for (uint32_t k = 0; k < args.keyword_names->size; ++k) {
    Str* name = as_str(args.keyword_names->items[k]);
    const Value& value = args.values[positional + k];
    size_t at = 0;
    for (; at < signature.parameters.size(); ++at) {
      const Parameter& p = signature.parameters[at];
      if ((p.kind == Kind::Positional || p.kind == Kind::KeywordOnly) && at >= skip && str_equal(p.name, name)) break;
    }
    if (at < signature.parameters.size()) {
      if (slots[at].is_undefined()) slots[at] = value;
      else refused.twice = std::min(refused.twice, at);
    } else if (extra != nullptr) {
      dict_set_str(in, extra, name, value);
    } else if (refused.unknown == nullptr) {
      refused.unknown = name;
    }
  }
  return refused;
}

// Errors of the names of arguments, in CPython's order: one that is missing, one that is given twice, a keyword that is not known.
void check_complete(const Signature& signature, const Args& args, const Value* slots, size_t skip, const RefusedKeywords& refused) {
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    if (!slots[i].is_undefined() || signature.parameters[i].optional) continue;
    if (!has_keywords(signature, skip)) wrong_positional_count(signature, args, args.positional() - skip, skip);
    missing(signature, i, args.positional() - skip, skip);
  }
  if (refused.twice != SIZE_MAX) {
    type_error("argument for " + signature.function_name + "() given by name ('" + std::string(signature.parameters[refused.twice].name->view()) +
               "') and position (" + std::to_string(refused.twice + 1 - skip) + ")");
  }
  if (refused.unknown != nullptr)
    type_error("'" + std::string(refused.unknown->view()) + "' is an invalid keyword argument for " + signature.function_name + "()");
}

[[noreturn]] void wrong_self(Interpreter& in, const NativeFunction* f, const Args& args) {
  const bool slot = is_slot_wrapper(f);
  const std::string name(f->name->view()), owner(type_name(in, f->owner));
  if (args.positional() == 0) {
    type_error(slot ? "descriptor '" + name + "' of '" + owner + "' object needs an argument"
                    : "unbound method " + std::string(f->owner->name->view()) + "." + name + "() needs an argument");
  }
  const std::string got(type_name(in, args.values[0]));
  type_error(slot ? "descriptor '" + name + "' requires a '" + owner + "' object but received a '" + got + "'"
                  : "descriptor '" + name + "' for '" + owner + "' objects doesn't apply to a '" + got + "' object");
}

// Of __new__ and of class methods: not the owner or a class below it.
[[noreturn]] void wrong_class(Interpreter& in, const NativeFunction* f, const Args& args) {
  const bool makes = f->name->view() == "__new__";
  const std::string name(f->name->view()), owner(makes ? type_name(in, f->owner) : f->owner->name->view()),
                    full = owner + "." + name;
  if (args.positional() == 0) {
    type_error(makes ? full + "(): not enough arguments" : "unbound method " + full + "() needs an argument");
  }
  const Value& given = args.values[0];
  if (!given.is_object() || given.as_object()->kind != ObjectKind::Type) {
    const std::string got(type_name(in, given));
    type_error(makes ? full + "(X): X is not a type object (" + got + ")"
                     : "descriptor '" + name + "' requires a type but received a '" + got + "' instance");
  }
  const std::string got(known_cast<const Type>(given)->name->view());
  type_error(makes ? full + "(" + got + "): " + got + " is not a subtype of " + owner
                   : "descriptor '" + name + "' requires a subtype of '" + owner + "' but received '" + got + "'");
}

// What lets a method cast its first argument: it is an instance of the owner, or a class below it.
void check_first(Interpreter& in, const NativeFunction* f, const Args& args) {
  const bool given = args.positional() != 0;
  if (!f->takes_class) {
    if (!given || !type_of(in, args.values[0])->is_subtype_of(f->owner)) wrong_self(in, f, args);
  } else {
    const bool is_class = given && args.values[0].is_object() && args.values[0].as_object()->kind == ObjectKind::Type;
    if (!is_class || !known_cast<Type>(args.values[0])->is_subtype_of(f->owner)) wrong_class(in, f, args);
  }
}

// Positional arguments that are right as they are, and defaults for the parameters that are left.
bool is_simple(const Signature& signature, const Value* values, uint32_t count) {
  uint32_t i = 0;
  bool takes_rest = count <= signature.positional_count;
  for (const Parameter& p : signature.parameters) {
    if (p.kind == Kind::VarPositional) takes_rest = true;
    else if (p.kind == Kind::VarKeyword) continue;
    else if (p.kind <= Kind::Positional && i < count ? !needs_no_conversion(p, values[i]) : !p.optional) return false;
    ++i;
  }
  return takes_rest;
}

// The values of the parameters of a call that is_simple: moved, if `V` is no constant.
template <class V>
void fill_simply(Interpreter& in, const Signature& signature, V* given, uint32_t count, Value* slots) {
  V* const end = given + count;
  for (const Parameter& p : signature.parameters) {
    if (p.kind <= Kind::Positional && given != end) {
      *slots++ = std::move(*given++);
    } else if (p.kind == Kind::VarPositional) {
      *slots++ = make_tuple(in, given, static_cast<size_t>(end - given));
      given = end;
    } else {
      *slots++ = p.kind == Kind::VarKeyword ? make_dict(in) : p.default_value;
    }
  }
}

// Room for the values of a function's parameters; of the few that most functions have, on the stack.
class Slots {
 public:
  explicit Slots(size_t count) : count_(count) {
    if (count > kFew) many_.resize(count);
    else
      for (size_t i = 0; i < count; ++i) new (few() + i) Value();
  }
  ~Slots() {
    if (count_ > kFew) return;
    for (size_t i = 0; i < count_; ++i) few()[i].~Value();
  }
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;
  Value* data() { return count_ > kFew ? many_.data() : few(); }

 private:
  static constexpr size_t kFew = 8;
  Value* few() { return reinterpret_cast<Value*>(room_); }
  size_t count_;
  alignas(Value) unsigned char room_[kFew * sizeof(Value)];
  std::vector<Value> many_;
};

}  // namespace

void bind_arguments(Interpreter& in, const Signature& signature, const Args& args, Value* slots) {
  const size_t skip = is_method(args, signature) ? 1 : 0;
  const uint32_t positional = args.positional();
  const size_t keywords = args.count - positional;
  const size_t total = signature.parameters.size();
  const bool keywords_allowed = has_keywords(signature, skip);
  if (keywords != 0 && !keywords_allowed)
    type_error((skip == 1 && is_slot_wrapper(args.callee) ? "wrapper " + signature.function_name : full_name(signature, args)) +
               "() takes no keyword arguments");
  size_t taken = 0;
  bool rest = false, any_keywords = false, lacking = false;
  for (size_t i = 0; i < total; ++i) {
    const Parameter& p = signature.parameters[i];
    if (p.kind <= Kind::Positional && taken < positional) {
      slots[i] = args.values[taken++];
    } else if (p.kind <= Kind::Positional || p.kind == Kind::KeywordOnly) {
      lacking = lacking || !p.optional;
    } else if (p.kind == Kind::VarPositional) {
      slots[i] = make_tuple(in, args.values + taken, positional - taken);
      taken = positional;
      rest = true;
    } else if (p.kind == Kind::VarKeyword) {
      slots[i] = make_dict(in);
      any_keywords = true;
    }
  }
  if (!rest && taken < positional) {
    if (!keywords_allowed) wrong_positional_count(signature, args, positional - skip, skip);
    too_many(signature, positional - skip, keywords, any_keywords, skip);
  }
  if (keywords != 0 && !rest && !any_keywords && positional - skip + keywords > counts_of(signature, skip).most)
    too_many(signature, positional - skip, keywords, false, skip);
  const RefusedKeywords refused = keywords == 0 ? RefusedKeywords{} : bind_keywords(in, signature, args, slots, skip);
  if (lacking || refused.any()) check_complete(signature, args, slots, skip, refused);
  for (size_t i = 0; i < total; ++i) {
    const Parameter& p = signature.parameters[i];
    if (slots[i].is_undefined()) slots[i] = p.default_value;
    else if (p.check != Check::None) check_argument(in, signature, i, skip, slots[i]);
  }
}

const Signature* signature_of(Interpreter& in, const NativeFunction* f) {
  if (f->signature != nullptr || f->text == nullptr) return f->signature;
  const std::string whole = (*f->text == '(' ? std::string(f->name->view()) : "") + f->text;
  Signature& read = in.shared->signatures.emplace_back(parse_signature(in, whole));
  // Messages about the arguments of a class name the class.
  if (f->owner != nullptr && read.function_name == "__init__") read.function_name = f->owner->name->view();
  return f->signature = &read;
}

std::string doc_of(const NativeFunction* f) { return f->describe != nullptr ? f->describe(f) : f->doc; }

Value call_native(Interpreter& in, const NativeFunction* f, const Args& args) {
  Args with_callee;
  if (args.callee != f) with_callee = {args.values, args.count, args.keyword_names, f};
  const Args& bound = args.callee == f ? args : with_callee;  // copied for whom it is not there: it is the usual call's
  if (f->owner != nullptr) {
    const bool usual = args.count != 0 && args.keyword_names == nullptr && !f->takes_class &&
                       args.values[0].is_object() && args.values[0].as_object()->type == f->owner;
    if (!usual) check_first(in, f, args);
  }
  const Signature* const read = signature_of(in, f);
  if (read == nullptr) return f->function(in, bound);
  const Signature& signature = *read;
  const size_t total = signature.parameters.size();
  if (signature.plain_count == args.count && args.keyword_names == nullptr) return f->function(in, bound);
  Slots slots(total);
  if (bound.keyword_names == nullptr && is_simple(signature, bound.values, bound.count)) {
    fill_simply(in, signature, bound.values, bound.count, slots.data());
  } else {
    bind_arguments(in, signature, bound, slots.data());
  }
  Args ready;
  ready.values = slots.data();
  ready.count = static_cast<uint32_t>(total);
  ready.callee = f;
  return f->function(in, ready);
}

Value call_native_moving(Interpreter& in, const NativeFunction* f, Value* values, uint32_t count) {
  const Args args{values, count, nullptr, f};
  if (f->owner != nullptr && !is_own_method(f, values, count)) return call_native(in, f, args);
  const Signature* const signature = signature_of(in, f);
  if (signature == nullptr) return f->function.answer(in, args);
  const auto total = static_cast<uint32_t>(signature->parameters.size());
  Slots slots(total);
  if (is_simple(*signature, values, count)) {
    fill_simply(in, *signature, values, count, slots.data());
  } else {
    bind_arguments(in, *signature, args, slots.data());
  }
  return f->function.answer(in, Args{slots.data(), total, nullptr, f});
}

void refuse_keywords(const char* function, const Args& args) {
  if (args.keyword_names != nullptr && args.keyword_names->size != 0)
    type_error(std::string(function) + "() takes no keyword arguments");
}

void refuse_keywords(Interpreter& in, const Type* type, const Type* base, const char* function, const Args& args) {
  if (type != base) {
    const Value& init = type_lookup(type, in.names->init);
    if (init.is_object() && init.as_object()->kind == ObjectKind::Function) return;
  }
  refuse_keywords(function, args);
}

void check_count(const char* function, const Args& args, uint32_t least, uint32_t most) {
  const uint32_t given = args.positional();
  if (given >= least && given <= most) return;
  type_error(std::string(function) + " expected " +
             (least == most   ? ""
              : given < least ? "at least "
                              : "at most ") +
             count_of(given < least ? least : most, "argument") + ", got " + std::to_string(given));
}

namespace {

NativeFunction* new_native(Interpreter& in, const NativeDef& row) {
  NativeFunction* f = make_object<NativeFunction>(in, in.types.native_function);
  f->function = row.function;
  f->doc = row.doc;
  f->short_way = row.short_way.function;
  if (f->short_way != nullptr) f->short_count = row.short_way.count;
  f->owner = nullptr;
  f->takes_class = false;
  f->module = nullptr;
  f->signature = nullptr;
  const std::string_view text = row.signature;
  const size_t open = text.find('(');
  f->text = open == text.npos ? nullptr : row.signature;  // a bare name: takes its arguments raw
  f->name = intern(in, text.substr(0, open));
  return f;
}

}  // namespace

void own_method(Interpreter& in, NativeFunction* f, Type* owner) {
  f->owner = owner;
  f->takes_class = false;
  f->type = stands_for_slot(f->name->view(), owner) ? in.types.wrapper_descriptor : in.types.method_descriptor;
}

Value Interpreter::new_function(const char* signature, const char* doc, NativeFn function, void* data,
                                void (*drop)(void*)) {
  NativeFunction* f = new_native(*this, NativeDef{signature, function, doc});
  f->data = data;
  f->drop = drop;
  return Value::adopt(f);
}

void Interpreter::add_methods(Type* type, const NativeDef* rows, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const std::string_view text = rows[i].signature;
    const size_t open = text.find('(');
    const std::string_view first = open == text.npos ? "" : text.substr(open + 1);
    const bool raw = open == text.npos;
    const bool of_class = first.starts_with("cls");
    const bool makes = raw && text == "__new__";
    NativeFunction* f = new_native(*this, rows[i]);
    Value method = Value::adopt(f);
    if (of_class || makes) {
      f->owner = type;
      f->takes_class = true;
      f->short_count = NativeFunction::kNoShortWay;
      if (of_class) method = make_class_method(*this, method);
    } else if (raw || first.starts_with("self")) {
      own_method(*this, f, type);
    } else {
      method = make_static_method(*this, method);
    }
    dict_set_str(*this, type->attributes(), f->name, method);
  }
}

void Interpreter::def(Module& module, const char* signature, const char* doc, NativeFn function) {
  def(module, NativeDef{signature, function, doc});
}

void Interpreter::def(Module& module, const NativeDef& row) {
  NativeFunction* const native = new_native(*this, row);
  Value f = Value::adopt(native);
  if (module.name->view() != "builtins") native->module = module.name;
  dict_set_str(*this, module.dict, native->name, std::move(f));
}

}  // namespace tessera::lang

// operator: the operators as functions, and the callables that fetch an item, an attribute or a method's answer.
#include <cmath>

#include "lang/core/bind.h"
#include "lang/core/cycles.h"
#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"
#include "lang/objects/class_slots.h"
#include "lang/types/number.h"
#include "lang/types/setup.h"
#include "lang/core/names.h"
#include "lang/objects/exception.h"
#include "lang/types/list.h"
#include "lang/types/sequence.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

template <BinaryOp op>
Value two(Interpreter& in, const Args& args) {
  return binary(in, op, args[0], args[1]);
}
template <BinaryOp op>
Value in_place(Interpreter& in, const Args& args) {
  return inplace(in, op, args[0], args[1]);
}
template <CompareOp op>
Value order(Interpreter& in, const Args& args) {
  return compare(in, op, args[0], args[1]);
}
template <UnaryOp op>
Value one(Interpreter& in, const Args& args) {
  return unary(in, op, args[0]);
}

Value op_not(Interpreter& in, const Args& args) { return Value::boolean(!truth(in, args[0])); }
Value op_truth(Interpreter& in, const Args& args) { return Value::boolean(truth(in, args[0])); }
Value op_is(Interpreter&, const Args& args) { return Value::boolean(args[0].is(args[1])); }
Value op_is_not(Interpreter&, const Args& args) { return Value::boolean(!args[0].is(args[1])); }
Value op_index(Interpreter& in, const Args& args) { return whole_index(in, args[0]); }
Value op_contains(Interpreter& in, const Args& args) { return Value::boolean(contains(in, args[0], args[1])); }
Value op_getitem(Interpreter& in, const Args& args) { return get_item(in, args[0], args[1]); }

Value op_abs(Interpreter& in, const Args& args) {
  if (args[0].is_float()) return Value::real(std::fabs(args[0].as_float()));
  return call(in, get_attr(in, Value(in.import("builtins")), intern(in, "abs")), {args[0]});
}

Value op_setitem(Interpreter& in, const Args& args) {
  set_item(in, args[0], args[1], args[2]);
  return Value::none();
}

Value op_delitem(Interpreter& in, const Args& args) {
  del_item(in, args[0], args[1]);
  return Value::none();
}

// The method of a native sequence, which joins and asks no __radd__; null if a class has overridden it.
const Value* native_method(Interpreter& in, const Value& v, Str* name) {
  const Value& found = type_lookup(type_of(in, v), name);
  return is_native_method(found) ? &found : nullptr;
}

// CPython joins what has a sequence's slot, and adds two objects that have items by position.
void require_sequences(Interpreter& in, const Value& v, const Value& other, bool inplace = false) {
  const auto has = [&](const Value& x, Str* name) { return !is_dict(x) && !type_lookup(type_of(in, x), name).is_undefined(); };
  const Names& n = *in.names;
  const bool adds = has(v, n.add) || has(other, n.radd) || (inplace && has(v, n.iadd));
  if (has(v, n.getitem) && ((adds && has(other, n.getitem)) || native_method(in, v, n.add) != nullptr)) return;
  throw_error(ErrorKind::TypeError, "'%s' object can't be concatenated", std::string(type_name(in, v)).c_str());
}

Value op_concat(Interpreter& in, const Args& args) {
  require_sequences(in, args[0], args[1]);
  if (const Value* const method = native_method(in, args[0], in.names->add)) return call(in, *method, {args[0], args[1]});
  return binary(in, BinaryOp::Add, args[0], args[1]);
}

Value op_iconcat(Interpreter& in, const Args& args) {
  require_sequences(in, args[0], args[1], true);
  for (Str* const name : {in.names->iadd, in.names->add})
    if (const Value* const method = native_method(in, args[0], name)) return call(in, *method, {args[0], args[1]});
  return inplace(in, BinaryOp::Add, args[0], args[1]);
}

// f(), or Undefined where it raises a TypeError.
template <class F>
Value unless_type_error(Interpreter& in, F&& f) {
  try {
    return f();
  } catch (const Error& e) {
    if (e.kind != ErrorKind::TypeError) throw;
  } catch (const Thrown& e) {
    if (!is_error(in, e.exception, ErrorKind::TypeError)) throw;
  }
  return {};
}

// An iterator over what is searched, which is refused in the words of `in`.
Value searched(Interpreter& in, const Value& values) {
  const Value it = unless_type_error(in, [&] { return iter(in, values); });
  if (it.is_undefined())
    throw_error(ErrorKind::TypeError, "argument of type '%s' is not iterable", std::string(type_name(in, values)).c_str());
  return it;
}

Value op_count_of(Interpreter& in, const Args& args) {
  int64_t count = 0;
  for_each(in, searched(in, args[0]), [&](const Value& item) { count += equals(in, item, args[1]) ? 1 : 0; });
  return Value::integer(count);
}

Value op_index_of(Interpreter& in, const Args& args) {
  const Value it = searched(in, args[0]);
  Value item;
  for (int64_t i = 0; next(in, it, item); ++i) {
    if (equals(in, item, args[1])) return Value::integer(i);
  }
  throw Error(ErrorKind::ValueError, "sequence.index(x): x not in sequence");
}

Value op_length_hint(Interpreter& in, const Args& args) {
  return Value::integer(length_hint(in, args[0], index(in, args[1])));
}

// call(f, *args, **kwargs), as the script wrote it: without a signature the arguments arrive as they are.
Value op_call(Interpreter& in, const Args& args) {
  if (args.positional() == 0) throw Error(ErrorKind::TypeError, "call expected at least 1 argument, got 0");
  return call(in, args[0], Args{args.values + 1, args.count - 1, args.keyword_names});
}

const NativeDef kFunctions[] = {
    {"lt(a, b, /)", order<CompareOp::Lt>, "a < b"},
    {"le(a, b, /)", order<CompareOp::Le>, "a <= b"},
    {"eq(a, b, /)", order<CompareOp::Eq>, "a == b"},
    {"ne(a, b, /)", order<CompareOp::Ne>, "a != b"},
    {"ge(a, b, /)", order<CompareOp::Ge>, "a >= b"},
    {"gt(a, b, /)", order<CompareOp::Gt>, "a > b"},
    {"not_(a, /)", op_not, "not a"},
    {"abs(a, /)", op_abs, "abs(a)"},
    {"add(a, b, /)", two<BinaryOp::Add>, "a + b"},
    {"and_(a, b, /)", two<BinaryOp::And>, "a & b"},
    {"floordiv(a, b, /)", two<BinaryOp::FloorDiv>, "a // b"},
    {"index(a, /)", op_index, "a.__index__()"},
    {"inv(a, /)", one<UnaryOp::Invert>, "~a"},
    {"invert(a, /)", one<UnaryOp::Invert>, "~a"},
    {"lshift(a, b, /)", two<BinaryOp::LShift>, "a << b"},
    {"mod(a, b, /)", two<BinaryOp::Mod>, "a % b"},
    {"mul(a, b, /)", two<BinaryOp::Mul>, "a * b"},
    {"matmul(a, b, /)", two<BinaryOp::MatMul>, "a @ b"},
    {"neg(a, /)", one<UnaryOp::Neg>, "-a"},
    {"or_(a, b, /)", two<BinaryOp::Or>, "a | b"},
    {"pos(a, /)", one<UnaryOp::Pos>, "+a"},
    {"pow(a, b, /)", two<BinaryOp::Pow>, "a ** b"},
    {"rshift(a, b, /)", two<BinaryOp::RShift>, "a >> b"},
    {"sub(a, b, /)", two<BinaryOp::Sub>, "a - b"},
    {"truediv(a, b, /)", two<BinaryOp::TrueDiv>, "a / b"},
    {"xor(a, b, /)", two<BinaryOp::Xor>, "a ^ b"},
    {"concat(a, b, /)", op_concat, "a + b, of sequences"},
    {"contains(a, b, /)", op_contains, "b in a"},
    {"delitem(a, b, /)", op_delitem, "del a[b]"},
    {"getitem(a, b, /)", op_getitem, "a[b]"},
    {"setitem(a, b, c, /)", op_setitem, "a[b] = c"},
    {"iadd(a, b, /)", in_place<BinaryOp::Add>, "a += b"},
    {"iand(a, b, /)", in_place<BinaryOp::And>, "a &= b"},
    {"iconcat(a, b, /)", op_iconcat, "a += b, of sequences"},
    {"ifloordiv(a, b, /)", in_place<BinaryOp::FloorDiv>, "a //= b"},
    {"ilshift(a, b, /)", in_place<BinaryOp::LShift>, "a <<= b"},
    {"imod(a, b, /)", in_place<BinaryOp::Mod>, "a %= b"},
    {"imul(a, b, /)", in_place<BinaryOp::Mul>, "a *= b"},
    {"imatmul(a, b, /)", in_place<BinaryOp::MatMul>, "a @= b"},
    {"ior(a, b, /)", in_place<BinaryOp::Or>, "a |= b"},
    {"ipow(a, b, /)", in_place<BinaryOp::Pow>, "a **= b"},
    {"irshift(a, b, /)", in_place<BinaryOp::RShift>, "a >>= b"},
    {"isub(a, b, /)", in_place<BinaryOp::Sub>, "a -= b"},
    {"itruediv(a, b, /)", in_place<BinaryOp::TrueDiv>, "a /= b"},
    {"ixor(a, b, /)", in_place<BinaryOp::Xor>, "a ^= b"},
    {"call", op_call, "call(obj, /, *args, **kwargs): obj(*args, **kwargs)"},
};

// Functions that have no double with underscores.
const NativeDef kPlainFunctions[] = {
    {"truth(a, /)", op_truth, "True if a is true"},
    {"is_(a, b, /)", op_is, "a is b"},
    {"is_not(a, b, /)", op_is_not, "a is not b"},
    {"countOf(a, b, /)", op_count_of, "How many items of a equal b."},
    {"indexOf(a, b, /)", op_index_of, "Where b first stands in a."},
    {"length_hint(obj, default=0, /)", op_length_hint, "An estimate of the number of items."},
};

// --- itemgetter, attrgetter, methodcaller

struct Getter : GcObject {
  Value asked;  // a tuple: the keys, the attributes' names, or the method's arguments with keywords' values behind
  Value name;   // methodcaller: of the method
  Value keyword_names;                   // methodcaller: a tuple, or Undefined
  std::vector<std::vector<Str*>> paths;  // attrgetter: the parts of each dotted name
};

Getter* getter_of(const Value& v) { return object_cast<Getter>(v); }
void destroy_getter(Interpreter& in, Object* self) { free_object(in, known_cast<Getter>(self)); }
void traverse_getter(Object* self, Visitor& visitor) { visitor(known_cast<Getter>(self)->asked); }
void clear_getter(Interpreter& in, Object* self) {
  const Value gone = std::exchange(known_cast<Getter>(self)->asked, make_tuple(in, {}));
}

Getter* new_getter(Interpreter& in, Type* type, const char* name, const Args& args, Value& made) {
  if (!has_script_init(in, type)) refuse_keywords(name, args);
  if (args.positional() == 0) throw_error(ErrorKind::TypeError, "%s expected 1 argument, got 0", name);
  Getter* g = make_object<Getter>(in, type);
  made = Value::adopt(g);
  g->asked = make_tuple(in, args.values, args.positional());
  return g;
}

// f(0), or a tuple of f(0) ... f(n-1)
template <class F>
Value one_or_many(Interpreter& in, size_t n, F&& f) {
  if (n == 1) return f(0);
  Tuple* many = new_tuple(in, n);
  Value made = Value::adopt(many);
  for (size_t i = 0; i < n; ++i) many->items[i] = f(i);
  return made;
}

void check_call(const char* name, const Args& args) {
  refuse_keywords(name, args);
  check_count(name, args, 1, 1);
}

Value make_itemgetter(Interpreter& in, Type* type, const Args& args) {
  Value made;
  new_getter(in, type, "itemgetter", args, made);
  return made;
}

Value call_itemgetter(Interpreter& in, const Value& self, const Args& args) {
  check_call("itemgetter", args);
  const Value keys = getter_of(self)->asked;
  return one_or_many(in, as_tuple(keys)->size, [&](size_t i) { return get_item(in, args[0], (*as_tuple(keys))[i]); });
}

Value make_attrgetter(Interpreter& in, Type* type, const Args& args) {
  Value made;
  Getter* g = new_getter(in, type, "attrgetter", args, made);
  for (const Value& name : *as_tuple(g->asked)) {
    if (!is_str(name)) throw Error(ErrorKind::TypeError, "attribute name must be a string");
    std::vector<Str*> path;
    std::string_view rest = text_of(name);
    for (size_t dot; (dot = rest.find('.')) != rest.npos; rest.remove_prefix(dot + 1)) {
      path.push_back(intern(in, rest.substr(0, dot)));
    }
    path.push_back(intern(in, rest));
    g->paths.push_back(std::move(path));
  }
  return made;
}

Value call_attrgetter(Interpreter& in, const Value& self, const Args& args) {
  check_call("attrgetter", args);
  const Value keep = self;
  const Getter* g = getter_of(keep);
  return one_or_many(in, g->paths.size(), [&](size_t i) {
    Value object = args[0];
    for (Str* name : g->paths[i]) object = get_attr(in, object, name);
    return object;
  });
}

Value make_methodcaller(Interpreter& in, Type* type, const Args& args) {
  if (args.positional() == 0) {
    throw Error(ErrorKind::TypeError, "methodcaller needs at least one argument, the method name");
  }
  if (!is_str(args[0])) throw Error(ErrorKind::TypeError, "method name must be a string");
  Getter* g = make_object<Getter>(in, type);
  Value made = Value::adopt(g);
  g->name = Value(intern(in, text_of(args[0])));
  g->asked = make_tuple(in, args.values + 1, args.count - 1);
  if (args.keyword_names != nullptr && args.keyword_names->size > 0) {
    g->keyword_names = make_tuple(in, args.keyword_names->items, args.keyword_names->size);
  }
  return made;
}

Value call_methodcaller(Interpreter& in, const Value& self, const Args& args) {
  check_call("methodcaller", args);
  const Value keep = self;
  const Getter* g = getter_of(keep);
  const Value method = get_attr(in, args[0], as_str(g->name)), given = g->asked;
  return call(in, method,
              Args{as_tuple(given)->items, as_tuple(given)->size,
                   g->keyword_names.is_undefined() ? nullptr : as_tuple(g->keyword_names)});
}

Value getter_repr(Interpreter& in, const Value& self) {
  const Getter* g = getter_of(self);
  std::string text = std::string(g->type->module->view()) + "." + std::string(g->type->name->view()) + "(";
  std::string gap;
  if (!g->name.is_undefined()) {
    text += repr_text(in, g->name);
    gap = ", ";
  }
  const Tuple* asked = as_tuple(g->asked);
  const uint32_t keywords = g->keyword_names.is_undefined() ? 0 : as_tuple(g->keyword_names)->size;
  for (uint32_t i = 0; i < asked->size; ++i) {
    text += gap;
    gap = ", ";
    if (i >= asked->size - keywords) {
      text += text_of((*as_tuple(g->keyword_names))[i - (asked->size - keywords)]);
      text += '=';
    }
    text += repr_text(in, (*asked)[i]);
  }
  return make_str(in, text + ")");
}

// For copies: (class, arguments), or (partial(class, name, **keywords), arguments).
Value getter_reduce(Interpreter& in, const Args& args) {
  const Getter* g = getter_of(args[0]);
  const Value type(g->type);
  if (g->name.is_undefined()) return make_tuple(in, {type, g->asked});
  const Tuple* given = as_tuple(g->asked);
  std::vector<Value> values{g->name};
  values.insert(values.end(), given->items, given->items + given->size);
  if (g->keyword_names.is_undefined()) return make_tuple(in, {type, make_tuple(in, values.data(), values.size())});
  const Tuple* names = as_tuple(g->keyword_names);
  values.insert(values.begin(), type);
  const Value partial = get_attr(in, Value(in.import("functools")), intern(in, "partial"));
  const Value whole = call(in, partial, Args{values.data(), static_cast<uint32_t>(values.size()), names});
  return make_tuple(in, {whole, make_tuple(in, {})});
}

const NativeDef kGetterMethods[] = {{"__reduce__(self)", getter_reduce, "What a copy is made of."}};

void add_getter(Interpreter& in, Module& module, const char* name, Value (*make)(Interpreter&, Type*, const Args&),
                Value (*call)(Interpreter&, const Value&, const Args&), const char* doc) {
  NativeTypeSpec spec;
  spec.name = name;
  spec.module = "operator";
  spec.size = sizeof(Getter);
  spec.doc = doc;
  Type* type = in.new_type(spec);
  type->slots.destroy = destroy_getter;
  type->slots.traverse = traverse_getter;
  type->slots.clear = clear_getter;
  type->slots.repr = getter_repr;
  type->slots.call = call;
  type->make = make;
  slot_methods(in, type);
  in.add_methods(type, kGetterMethods, std::size(kGetterMethods));
  set_member(in, module, name, Value(type));
}

// "__add__" for add, "__and__" for and_; index, call and the like too.
void add_double(Interpreter& in, Module& module, std::string_view name) {
  const Value function = *dict_get_text(module.dict, name);
  if (name.ends_with('_')) name.remove_suffix(1);
  set_member(in, module, "__" + std::string(name) + "__", function);
}

}  // namespace

void fill_operator(Interpreter& in, Module& module) {
  for (const NativeDef& f : kFunctions) {
    in.def(module, f.signature, f.doc, f.function);
    const std::string_view text = f.signature;
    add_double(in, module, text.substr(0, text.find('(')));
  }
  for (const NativeDef& f : kPlainFunctions) in.def(module, f.signature, f.doc, f.function);
  dict_for_each(module.dict, [&](const Value&, const Value& value) {  // as CPython's, whose native half is a module of its own
    if (value.is_object() && value.as_object()->kind == ObjectKind::NativeFunction)
      known_cast<NativeFunction>(value)->module = intern(in, "_operator");
  });
  add_getter(in, module, "itemgetter", make_itemgetter, call_itemgetter,
             "itemgetter(2)(r) is r[2]; itemgetter(2, 5)(r) is (r[2], r[5]).");
  add_getter(in, module, "attrgetter", make_attrgetter, call_attrgetter,
             "attrgetter('a.b')(r) is r.a.b; with several names a tuple.");
  add_getter(in, module, "methodcaller", make_methodcaller, call_methodcaller, "methodcaller('m', 1)(r) is r.m(1).");
  const Value all = make_list(in);
  dict_for_each(module.dict, [&](const Value& key, const Value&) {
    if (!text_of(key).starts_with('_')) list_append(in, as_list(all), Value(key));
  });
  list_sort(in, as_list(all), Value::none(), false);
  set_member(in, module, "__all__", all);
}

}  // namespace tessera::stdlib

#include "lang/objects/function.h"

#include <cstdio>
#include <string>

#include "lang/core/bind_maker.h"
#include "lang/core/object_cast.h"
#include "lang/objects/attribute.h"
#include "lang/objects/class.h"
#include "lang/objects/module.h"
#include "lang/objects/code_object.h"
#include "lang/compiler/chunk.h"
#include "lang/core/bind.h"
#include "lang/core/interpreter.h"
#include "lang/core/make_object.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/types/dict.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

namespace {

void release(Object* object) noexcept {
  if (object != nullptr && --object->refcount == 0) destroy_object(object);
}

template <class T>
T* retained(T* object) {
  ++object->refcount;
  return object;
}

std::string address(const Object* object) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", static_cast<const void*>(object));
  return text;
}

Function* function_of(const Value& v) { return object_cast<Function>(v); }
BoundMethod* method_of(const Value& v) { return object_cast<BoundMethod>(v); }

// --- functions

size_t cells_of(const Function* f) { return f->code->captures.size(); }

void clear_function(Interpreter&, Object* object) {
  Function* const f = known_cast<Function>(object);
  f->defaults = Value();
  f->keyword_defaults = Value();
  f->annotations = Value();
  f->dict = Value();
  for (size_t i = 0; i < cells_of(f); ++i) {
    Cell* const cell = f->closure[i];
    f->closure[i] = nullptr;
    release(cell);
  }
}

void destroy_function(Interpreter& in, Object* object) {
  Function* const f = known_cast<Function>(object);
  const size_t cells = cells_of(f), bytes = sizeof(Function) + cells * sizeof(Cell*);
  for (size_t i = 0; i < cells; ++i) release(f->closure[i]);
  release(f->code);
  release(f->globals);
  release(f->builtins);
  release(f->name);
  release(f->qualname);
  f->~Function();
  in.deallocate(f, bytes);
}

void traverse_function(Object* object, Visitor& visitor) {
  const Function* f = known_cast<Function>(object);
  visitor(static_cast<Object*>(f->globals));
  visitor(static_cast<Object*>(f->builtins));
  visitor(f->module);
  visitor(f->doc);
  visitor(f->defaults);
  visitor(f->keyword_defaults);
  visitor(f->annotations);
  visitor(f->dict);
  for (size_t i = 0; i < cells_of(f); ++i) visitor(static_cast<Object*>(f->closure[i]));
}

Value function_repr(Interpreter& in, const Value& self) {
  return make_str(
      in, "<function " + std::string(function_of(self)->qualname->view()) + " at " + address(self.as_object()) + ">");
}

Value bind(Interpreter& in, const Value& self, const Value& instance, Type*) {
  return instance.is_undefined() ? self : make_bound_method(in, self, instance);
}

Value function_call(Interpreter& in, const Value& self, const Args& args) {
  return in.vm().call_function(function_of(self), args);
}

Value& function_dict(Interpreter& in, Function* f) {
  if (f->dict.is_undefined()) f->dict = make_dict(in);
  return f->dict;
}

// Returns true if `name` is a data descriptor of the function type, such as `__dict__` or `__code__`. A data descriptor has priority over an
// entry of the same name in the function's `__dict__`, which functools.wraps() of a class makes.
bool is_data_member(Interpreter& in, Str* name) {
  const Value& member = type_lookup(in.types.function, name);
  return member.is_object() && member.as_object()->kind == ObjectKind::Property;
}

// Attributes that scripts give to functions stand in the function's dict.
Value function_get_attr(Interpreter& in, const Value& self, Str* name) {
  const Value& dict = function_of(self)->dict;
  if (!dict.is_undefined()) {
    const Value* const found = dict_get_str(as_dict(dict), name);
    if (found != nullptr && !(name->data[0] == '_' && is_data_member(in, name))) return *found;
  }
  return generic_find_attr(in, self, name);
}

void function_set_attr(Interpreter& in, const Value& self, Str* name, const Value& value) {
  Function* const f = function_of(self);
  if (is_data_member(in, name)) {
    generic_set_attr(in, self, name, value);
  } else if (!value.is_undefined()) {
    dict_set_str(in, as_dict(function_dict(in, f)), name, value);
  } else if (f->dict.is_undefined() || !dict_delete_str(in, as_dict(f->dict), name)) {
    throw Error(ErrorKind::AttributeError, "'function' object has no attribute '" + std::string(name->view()) + "'");
  }
}

Value set_name(Str*& place, const Value& value, const char* what) {
  if (!is_str(value)) throw_error(ErrorKind::TypeError, "%s must be set to a string object", what);
  Str* const old = place;
  place = retained(as_str(value));
  release(old);
  return Value::none();
}

// A member that scripts may set to a tuple or a dict; None empties it.
Value set_container(Value& place, const Value& value, bool fits, const char* message) {
  if (!value.is_none() && !fits) throw Error(ErrorKind::TypeError, message);
  place = value.is_none() ? Value() : value;
  return Value::none();
}

const Value& or_none(const Value& v) {
  static const Value kNone = Value::none();
  return v.is_undefined() ? kNone : v;
}

void add_function_names(Interpreter& in, Type* type) {
  in.add_property(
      type, "__name__", [](Interpreter&, const Args& a) { return Value(function_of(a[0])->name); },
      [](Interpreter&, const Args& a) { return set_name(function_of(a[0])->name, a[1], "__name__"); }, "",
      [](Interpreter&, const Args& a) { return set_name(function_of(a[0])->name, Value(), "__name__"); });
  in.add_property(
      type, "__qualname__", [](Interpreter&, const Args& a) { return Value(function_of(a[0])->qualname); },
      [](Interpreter&, const Args& a) { return set_name(function_of(a[0])->qualname, a[1], "__qualname__"); }, "",
      [](Interpreter&, const Args& a) { return set_name(function_of(a[0])->qualname, Value(), "__qualname__"); });
  in.add_member(
      type, "__module__", [](Interpreter&, const Args& a) { return or_none(function_of(a[0])->module); },
      [](Interpreter&, const Args& a) {
        function_of(a[0])->module = a[1];
        return Value::none();
      },
      "",
      [](Interpreter&, const Args& a) {
        function_of(a[0])->module = Value::none();
        return Value::none();
      });
  in.add_member(
      type, "__doc__", [](Interpreter&, const Args& a) { return or_none(function_of(a[0])->doc); },
      [](Interpreter&, const Args& a) {
        function_of(a[0])->doc = a[1];
        return Value::none();
      },
      "",
      [](Interpreter&, const Args& a) {
        function_of(a[0])->doc = Value::none();
        return Value::none();
      });
}

void add_function_values(Interpreter& in, Type* type) {
  in.add_property(
      type, "__dict__", [](Interpreter& i, const Args& a) { return function_dict(i, function_of(a[0])); },
      [](Interpreter& i, const Args& a) {
        if (!is_dict(a[1])) {
          throw_error(ErrorKind::TypeError, "__dict__ must be set to a dictionary, not a '%s'",
                      std::string(type_name(i, a[1])).c_str());
        }
        function_of(a[0])->dict = a[1];
        return Value::none();
      },
      "", [](Interpreter&, const Args&) -> Value { throw Error(ErrorKind::TypeError, "cannot delete __dict__"); });
  in.add_property(
      type, "__defaults__", [](Interpreter&, const Args& a) { return or_none(function_of(a[0])->defaults); },
      [](Interpreter&, const Args& a) {
        return set_container(function_of(a[0])->defaults, a[1], is_tuple(a[1]),
                             "__defaults__ must be set to a tuple object");
      },
      "",
      [](Interpreter&, const Args& a) { return set_container(function_of(a[0])->defaults, Value::none(), true, ""); });
  in.add_property(
      type, "__kwdefaults__", [](Interpreter&, const Args& a) { return or_none(function_of(a[0])->keyword_defaults); },
      [](Interpreter&, const Args& a) {
        return set_container(function_of(a[0])->keyword_defaults, a[1], is_dict(a[1]),
                             "__kwdefaults__ must be set to a dict object");
      },
      "",
      [](Interpreter&, const Args& a) {
        return set_container(function_of(a[0])->keyword_defaults, Value::none(), true, "");
      });
  in.add_property(
      type, "__annotations__",
      [](Interpreter& i, const Args& a) {
        Value& v = function_of(a[0])->annotations;
        if (v.is_undefined()) v = make_dict(i);
        return v;
      },
      [](Interpreter&, const Args& a) {
        return set_container(function_of(a[0])->annotations, a[1], is_dict(a[1]),
                             "__annotations__ must be set to a dict object");
      },
      "",
      [](Interpreter&, const Args& a) {
        return set_container(function_of(a[0])->annotations, Value::none(), true, "");
      });
}

bool is_code(const Value& v) { return v.is_object() && v.as_object()->kind == ObjectKind::Code; }

// Frames point to their code without owning it: a generator's may go on at any time, the machine's are looked through.
bool may_run(Interpreter& in, const Function* function, const Code* code) {
  if (code->code_flags & kGenerator) return true;
  for (const Frame* frame = in.vm().top(); frame != nullptr; frame = frame->caller) {
    if (frame->function == function) return true;
  }
  return false;
}

// The code's caches of globals go by the interpreter's epoch while all of its functions look into the same dicts.
void note_globals(Code* code, const Dict* globals, const Dict* builtins) noexcept {
  if ((code->globals == globals && code->builtins == builtins) || code->has_other_globals) return;
  code->has_other_globals = code->globals != nullptr;
  code->globals = globals;
  code->builtins = builtins;
  for (GlobalCache& cache : code->global_caches) cache.epoch = 0;
}

Value set_code(Interpreter& in, const Args& a) {
  Function* const f = function_of(a[0]);
  if (!is_code(a[1])) throw Error(ErrorKind::TypeError, "__code__ must be set to a code object");
  Code* const code = object_cast<Code>(a[1]);
  if (code->captures.size() != f->code->captures.size()) {
    throw_error(ErrorKind::ValueError, "%s() requires a code object with %zu free vars, not %zu",
                std::string(f->name->view()).c_str(), f->code->captures.size(), code->captures.size());
  }
  if (may_run(in, f, f->code)) in.keep(new Value(f->code));
  Code* const old = f->code;
  f->code = retained(code);
  note_globals(code, f->globals, f->builtins);
  release(old);
  return Value::none();
}

// function(code, globals, name=None, argdefs=None, closure=None)
Value make_function_object(Interpreter& in, Type*, const Args& args) {
  Value given[5];
  bind_maker(in, "function(code, globals, name=..., argdefs=..., closure=...)", args, given);
  if (!is_code(given[0]))
    throw_error(ErrorKind::TypeError, "function() argument 'code' must be code, not %s",
                argument_type(in, given[0]));
  if (!is_dict(given[1]))
    throw_error(ErrorKind::TypeError, "function() argument 'globals' must be dict, not %s",
                argument_type(in, given[1]));
  for (size_t i = 2; i < 5; ++i) {
    if (given[i].is_undefined()) given[i] = Value::none();
  }
  if (!given[2].is_none() && !is_str(given[2])) throw Error(ErrorKind::TypeError, "arg 3 (name) must be None or string");
  if (!given[3].is_none() && !is_tuple(given[3]))
    throw Error(ErrorKind::TypeError, "arg 4 (defaults) must be None or tuple");
  Code* const code = object_cast<Code>(given[0]);
  const size_t wanted = code->captures.size();
  if (!is_tuple(given[4]) && (wanted != 0 || !given[4].is_none()))
    throw Error(ErrorKind::TypeError, wanted != 0 ? "arg 5 (closure) must be tuple" : "arg 5 (closure) must be None or tuple");
  const size_t cells = is_tuple(given[4]) ? as_tuple(given[4])->size : 0;
  if (cells != wanted)
    throw_error(ErrorKind::ValueError, "%s requires closure of length %zu, not %zu",
                std::string(code->name->view()).c_str(), wanted, cells);
  for (size_t i = 0; i < cells; ++i) {
    const Value& cell = as_tuple(given[4])->items[i];
    if (!cell.is_object() || cell.as_object()->kind != ObjectKind::Cell)
      throw_error(ErrorKind::TypeError, "arg 5 (closure) expected cell, found %s",
                  std::string(type_name(in, cell)).c_str());
  }
  const Value made = make_function(in, code, as_dict(given[1]));
  Function* const f = as_function(made);
  for (size_t i = 0; i < cells; ++i) f->closure[i] = retained(object_cast<Cell>(as_tuple(given[4])->items[i]));
  if (!given[2].is_none()) set_name(f->name, given[2], "__name__");
  if (!given[3].is_none()) f->defaults = given[3];
  return made;
}

void add_function_properties(Interpreter& in, Type* type) {
  add_function_names(in, type);
  add_function_values(in, type);
  in.add_member(type, "__globals__", [](Interpreter&, const Args& a) { return Value(function_of(a[0])->globals); });
  in.add_member(type, "__builtins__", [](Interpreter&, const Args& a) { return Value(function_of(a[0])->builtins); });
  in.add_property(
      type, "__code__", [](Interpreter&, const Args& a) { return Value(function_of(a[0])->code); }, set_code, "",
      [](Interpreter&, const Args&) -> Value {
        throw Error(ErrorKind::TypeError, "__code__ must be set to a code object");
      });
  in.add_member(type, "__closure__", [](Interpreter& i, const Args& a) {
    const Function* f = function_of(a[0]);
    if (f->code->captures.empty()) return Value::none();
    Value cells = Value::adopt(new_tuple(i, f->code->captures.size()));
    for (uint32_t k = 0; k < as_tuple(cells)->size; ++k) as_tuple(cells)->items[k] = Value(f->closure[k]);
    return cells;
  });
}

// --- bound methods

void destroy_bound(Interpreter& in, Object* object) { free_object(in, known_cast<BoundMethod>(object)); }
void traverse_bound(Object* object, Visitor& visitor) {
  visitor(known_cast<BoundMethod>(object)->function);
  visitor(known_cast<BoundMethod>(object)->self);
}
void clear_bound(Interpreter&, Object* object) {
  known_cast<BoundMethod>(object)->function = Value();
  known_cast<BoundMethod>(object)->self = Value();
}

Value bound_repr(Interpreter& in, const Value& self) {
  in.vm().check_native_stack();
  const BoundMethod* m = method_of(self);
  Value name = find_attr(in, m->function, in.names->qualname);
  if (name.is_undefined()) name = find_attr(in, m->function, in.names->name);
  return make_str(
      in, "<bound method " + (is_str(name) ? std::string(text_of(name)) : "?") + " of " + repr_text(in, m->self) + ">");
}

Value bound_call(Interpreter& in, const Value& self, const Args& args) { return call(in, self, args); }

Value bound_get_attr(Interpreter& in, const Value& self, Str* name) {
  Value own = generic_find_attr(in, self, name);
  in.vm().check_native_stack();  // the function may be a method too, and so on
  return own.is_undefined() ? get_attr(in, method_of(self)->function, name) : own;
}

int64_t bound_hash(Interpreter& in, const Value& self) {
  in.vm().check_native_stack();
  return hash(in, method_of(self)->function) * 31 +
         static_cast<int64_t>(reinterpret_cast<uintptr_t>(method_of(self)->self.as_object()) >> 4);
}

Value bound_compare(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  if (!other.is_object() || other.as_object()->kind != ObjectKind::BoundMethod ||
      (op != CompareOp::Eq && op != CompareOp::Ne)) {
    return in.not_implemented;
  }
  const bool same =
      method_of(self)->self.is(method_of(other)->self) && method_of(self)->function.is(method_of(other)->function);
  return Value::boolean(same == (op == CompareOp::Eq));
}

// --- cells and code

void destroy_cell(Interpreter& in, Object* object) { free_object(in, known_cast<Cell>(object)); }
void traverse_cell(Object* object, Visitor& visitor) { visitor(known_cast<Cell>(object)->value); }
void clear_cell(Interpreter&, Object* object) { known_cast<Cell>(object)->value = Value(); }

Value make_cell_object(Interpreter& in, Type*, const Args& args) {
  if (args.keyword_names != nullptr) throw Error(ErrorKind::TypeError, "cell() takes no keyword arguments");
  if (args.count > 1) throw_error(ErrorKind::TypeError, "cell expected at most 1 argument, got %u", args.count);
  return make_cell(in, args.count == 1 ? args[0] : Value());
}

// By what they hold; an empty cell stands before all others.
Value cell_compare(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  if (!other.is_object() || other.as_object()->kind != ObjectKind::Cell) return in.not_implemented;
  const Value& left = object_cast<Cell>(self)->value;
  const Value& right = object_cast<Cell>(other)->value;
  if (!left.is_undefined() && !right.is_undefined()) return compare(in, op, left, right);
  return compare(in, op, Value::integer(left.is_undefined() ? 0 : 1), Value::integer(right.is_undefined() ? 0 : 1));
}

Value cell_repr(Interpreter& in, const Value& self) {
  const Value& value = object_cast<Cell>(self)->value;
  const std::string head = "<cell at " + address(self.as_object()) + ": ";
  if (value.is_undefined()) return make_str(in, head + "empty>");
  const Object* held = value.is_object() ? value.as_object() : self.as_object();
  return make_str(in, head + std::string(type_name(in, value)) + " object at " + address(held) + ">");
}

Type* made_type(Interpreter& in, Type*& place, const char* name, ObjectKind kind, uint32_t size) {
  NativeTypeSpec spec;
  spec.name = name;
  spec.module = "builtins";
  spec.kind = kind;
  spec.size = size;
  spec.flags = kFinalType;
  if (place == nullptr) place = in.new_type(spec);
  place->instance_kind = kind;
  place->instance_size = size;
  return place;
}

}  // namespace

Dict* builtins_for(Interpreter& in, Dict* globals) {
  const Value* named = dict_get_str(globals, in.names->builtins_);
  if (named == nullptr || !named->is_object()) return in.vm().builtins();
  Dict* found = in.vm().builtins();
  if (named->as_object()->kind == ObjectKind::Module) found = object_cast<Module>(*named)->dict;
  else if (is_dict(*named)) found = as_dict(*named);
  dict_enroll(in, found);
  return found;
}

Value copy_code(Interpreter& in, const Code* code) {
  Code* const copy = new_code(in);
  const Value owner = Value::adopt(copy);
  const Object head = *copy;
  *copy = *code;
  static_cast<Object&>(*copy) = head;
  return owner;
}

Value make_function(Interpreter& in, Code* code, Dict* globals, Dict* builtins) {
  const size_t cells = code->captures.size();
  in.collector().make_room();
  Function* const f = make_plain_untracked<Function>(in, in.types.function, cells * sizeof(Cell*));
  in.collector().track_in_room(f);
  Value made = Value::adopt(f);
  f->code = retained(code);
  f->closure = reinterpret_cast<Cell**>(f + 1);
  for (size_t i = 0; i < cells; ++i) f->closure[i] = nullptr;
  f->globals = retained(globals);
  dict_enroll(in, globals);
  f->builtins = retained(builtins != nullptr ? builtins : builtins_for(in, globals));
  dict_enroll(in, f->builtins);
  note_globals(code, globals, f->builtins);
  f->name = retained(code->name);
  f->qualname = retained(code->qualname);
  f->doc = code->doc.is_undefined() ? Value::none() : code->doc;
  // The first name of most modules.
  const bool comes_first = dict_entry_is(globals, 0, in.names->name);
  const Value* module = comes_first ? &globals->entries[0].value : dict_get_str(globals, in.names->name);
  f->module = module == nullptr ? Value::none() : *module;
  return made;
}

Value make_bound_method(Interpreter& in, const Value& function, const Value& self) {
  BoundMethod* const method = make_plain<BoundMethod>(in, in.types.bound_method);
  method->function = function;
  method->self = self;
  if (function.is_object() && function.as_object()->kind == ObjectKind::NativeFunction) {
    const bool is_slot = function.as_object()->type == in.types.wrapper_descriptor;
    method->type = is_slot ? in.types.method_wrapper : in.types.native_function;
  }
  return Value::adopt(method);
}

Value make_cell(Interpreter& in, Value value) {
  Cell* const cell = make_plain<Cell>(in, in.types.cell);
  cell->value = std::move(value);
  return Value::adopt(cell);
}

void make_function_types(Interpreter& in) {
  Type* t = made_type(in, in.types.function, "function", ObjectKind::Function, sizeof(Function));
  t->slots.destroy = destroy_function;
  t->slots.traverse = traverse_function;
  t->slots.clear = clear_function;
  t->slots.repr = function_repr;
  t->slots.call = function_call;
  t->slots.descr_get = bind;
  t->slots.get_attr = function_get_attr;
  t->slots.set_attr = function_set_attr;
  t->make = make_function_object;

  t = made_type(in, in.types.bound_method, "method", ObjectKind::BoundMethod, sizeof(BoundMethod));
  t->slots.destroy = destroy_bound;
  t->slots.traverse = traverse_bound;
  t->slots.clear = clear_bound;
  t->slots.repr = bound_repr;
  t->slots.call = bound_call;
  t->slots.hash = bound_hash;
  t->slots.compare = bound_compare;
  t->slots.get_attr = bound_get_attr;

  t = made_type(in, in.types.cell, "cell", ObjectKind::Cell, sizeof(Cell));
  t->slots.destroy = destroy_cell;
  t->slots.traverse = traverse_cell;
  t->slots.clear = clear_cell;
  t->slots.compare = cell_compare;
  t->slots.repr = cell_repr;
  t->slots.hash = nullptr;
  t->make = make_cell_object;

  t = made_type(in, in.types.code, "code", ObjectKind::Code, sizeof(Code));
  set_code_slots(t);
  add_descriptor_kinds(in);
}

namespace {

Value get_bound(Interpreter& in, const Args& a) {
  if (a[1].is_none() && a[2].is_none()) throw Error(ErrorKind::TypeError, "__get__(None, None) is invalid");
  return a[1].is_none() ? a[0] : make_bound_method(in, a[0], a[1]);
}

// types.MethodType(function, instance)
Value make_method_object(Interpreter& in, Type*, const Args& args) {
  if (args.keyword_names != nullptr) throw Error(ErrorKind::TypeError, "method() takes no keyword arguments");
  if (args.count != 2) throw_error(ErrorKind::TypeError, "method expected 2 arguments, got %u", args.count);
  if (!is_callable(in, args[0])) throw Error(ErrorKind::TypeError, "first argument must be callable");
  if (args[1].is_none()) throw Error(ErrorKind::TypeError, "instance must not be None");
  const Value made = make_bound_method(in, args[0], args[1]);
  made.as_object()->type = in.types.bound_method;  // also of a builtin function
  return made;
}

// A bound method is pickled as an attribute of its object.
Value reduce_method(Interpreter& in, const Args& args) {
  const Value self = method_of(args[0])->self, name = get_attr(in, method_of(args[0])->function, in.names->name);
  const Value* getattr = dict_get_text(in.vm().builtins(), "getattr");
  return make_tuple(in, {getattr == nullptr ? Value::none() : *getattr, make_tuple(in, {self, name})});
}

constexpr NativeDef kMethodMethods[] = {{"__reduce__(self, /)", reduce_method}};
constexpr NativeDef kFunctionMethods[] = {
    {"__get__(self, instance, owner=None, /)", get_bound, "The function bound to the instance."},
};

void fill_function(Interpreter& in, Type* type) {
  add_function_properties(in, type);
  in.add_methods(type, kFunctionMethods, std::size(kFunctionMethods));
  call_method_of_slot(in, type);
}

void fill_method(Interpreter& in, Type* type) {
  call_method_of_slot(in, type);
  in.add_methods(type, kMethodMethods, std::size(kMethodMethods));
  in.add_property(type, "__doc__", [](Interpreter& i, const Args& a) { return get_attr(i, method_of(a[0])->function, i.names->doc); });
  in.add_property(type, "__module__",
                  [](Interpreter& i, const Args& a) { return get_attr(i, method_of(a[0])->function, i.names->module); });
  in.add_member(type, "__func__", [](Interpreter&, const Args& a) { return method_of(a[0])->function; });
  in.add_member(type, "__self__", [](Interpreter&, const Args& a) { return method_of(a[0])->self; });
}

void fill_cell(Interpreter& in, Type* type) {
  in.add_property(
      type, "cell_contents",
      [](Interpreter&, const Args& a) {
        const Value& v = object_cast<Cell>(a[0])->value;
        if (v.is_undefined()) throw Error(ErrorKind::ValueError, "Cell is empty");
        return v;
      },
      [](Interpreter&, const Args& a) {
        object_cast<Cell>(a[0])->value = a[1];
        return Value::none();
      },
      "",
      [](Interpreter&, const Args& a) {
        object_cast<Cell>(a[0])->value = Value();
        return Value::none();
      });
}


}  // namespace

void fill_function_types(Interpreter& in) {
  BuiltinTypes& t = in.types;
  t.bound_method->make = make_method_object;
  t.function->fill_later(fill_function);
  t.bound_method->fill_later(fill_method);
  t.cell->fill_later(fill_cell);
  t.code->fill_later(fill_code);
}

}  // namespace tessera::lang

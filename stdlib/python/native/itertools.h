// What the parts of the itertools module share: how their types are made, and the argument checks of their calls.
#pragma once

#include "lang/core/bind.h"
#include "lang/core/cycles.h"
#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"
#include "lang/objects/own_type.h"
#include "lang/types/iterators.h"
#include "lang/types/setup.h"
#include "lang/vm/vm.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib::itertools {

using Make = Value (*)(Interpreter&, Type*, const Args&);
using Next = bool (*)(Interpreter&, const Value&, Value&);

// Parts of the module, by file.
void add_arrangements(Interpreter& in, Module& module);  // itertools_arrange.cpp
void add_endless(Interpreter& in, Module& module);       // itertools_endless.cpp
void add_stages(Interpreter& in, Module& module);        // itertools_stages.cpp
void add_groups(Interpreter& in, Module& module);        // itertools_groups.cpp

// T is a GcObject with `template <class F> void each(F&& f)`, which calls f with every Value that it owns.
template <class T>
void destroy(Interpreter& in, Object* self) {
  free_object(in, known_cast<T>(self));
}
template <class T>
void traverse(Object* self, Visitor& visitor) {
  known_cast<T>(self)->each([&](Value& v) { visitor(v); });
}
// Afterwards every Value is Undefined: `next` takes an Undefined source for an exhausted one.
template <class T>
void clear(Interpreter&, Object* self) {
  known_cast<T>(self)->each([](Value& v) { const Value gone = std::move(v); });
}

inline Value itself(Interpreter&, const Value& self) { return self; }

template <class T>
T* self_of(const Value& v) {
  return known_cast<T>(v);
}

template <class T>
T* start(Interpreter& in, Type* type, Value& made) {
  T* it = make_object<T>(in, type);
  made = Value::adopt(it);
  return it;
}

template <class T>
Type* add_type(Interpreter& in, Module& module, const char* name, Make make, Next next, const char* doc) {
  NativeTypeSpec spec;
  spec.name = name;
  spec.module = "itertools";
  spec.size = sizeof(T);
  spec.doc = doc;
  Type* type = in.new_type(spec);
  type->slots.layout = layout_of<T>;
  type->slots.destroy = destroy<T>;
  type->slots.traverse = traverse<T>;
  type->slots.clear = clear<T>;
  type->slots.iter = next != nullptr ? itself : nullptr;
  type->slots.next = next;
  type->make = make;
  slot_methods(in, type);
  set_member(in, module, name, Value(type));
  return type;
}

// A call that takes positions only. A subclass with an __init__ of its own may be called with keywords.
inline void positions(Interpreter& in, Type* type, const char* name, const Args& args, uint32_t least, uint32_t most) {
  if (!has_script_init(in, type)) refuse_keywords(name, args);
  check_count(name, args, least, most);
}

// One step of a source. Scripts may run and empty `source` meanwhile, so it is held. A loop over steps calls count_item() for each: a list or
// range has no safe point.
inline bool step(Interpreter& in, const Value& source, Value& out) {
  if (source.is_undefined()) return false;
  if (next_at_once(in, source, out)) return true;
  const Value held = source;
  return next(in, held, out);
}

// The same for an iterator that ends with its source.
inline bool step(Interpreter& in, const Value& self, const Value& source, Value& out) {
  if (source.is_undefined()) return false;
  if (next_at_once(in, source, out)) return true;
  const Value held = source;
  return next(in, held, out) || pass_stop_value(in, held, self);
}

inline bool finish(Value& source) {
  const Value gone = std::move(source);
  return false;
}

// What __reduce__ returns: the type, the arguments of its call, and a state for __setstate__.
inline Value reduction(Interpreter& in, const Value& self, const Value& arguments, const Value& state = Value()) {
  const Value type(self.as_object()->type);
  return state.is_undefined() ? make_tuple(in, {type, arguments}) : make_tuple(in, {type, arguments, state});
}

// The items of a state for __setstate__, which must be a tuple of `least` to `most` items.
inline const Tuple& state_of(Interpreter&, const Value& state, uint32_t least, uint32_t most) {
  if (!is_tuple(state)) throw Error(ErrorKind::TypeError, "state is not a tuple");
  const Tuple& items = *as_tuple(state);
  if (items.size < least || items.size > most) {
    throw_error(ErrorKind::TypeError, "function takes %s %u argument%s (%u given)",
                least == most ? "exactly" : items.size < least ? "at least" : "at most",
                items.size < least ? least : most, (items.size < least ? least : most) == 1 ? "" : "s", items.size);
  }
  return items;
}

inline void check_iterator(Interpreter& in, const Value& value) {
  if (value.is_object() && value.as_object()->type->slots.next != nullptr) return;
  throw_error(ErrorKind::TypeError, "'%s' object is not an iterator", std::string(type_name(in, value)).c_str());
}

}  // namespace tessera::stdlib::itertools

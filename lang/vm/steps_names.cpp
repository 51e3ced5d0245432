// The longer steps of instructions that read and write names, out of the loop.
#include "lang/vm/steps.h"

#include "lang/builtins/builtins.h"
#include "lang/core/interpreter.h"
#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/types/dict.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

namespace {

// A builtin by name. Those that are made when they are first asked for exist in the interpreter's own dict alone.
const Value* builtin_of(Interpreter& in, Dict* builtins, Str* name) {
  if (const Value* found = dict_get_str(builtins, name)) return found;
  return builtins == in.vm().builtins() ? find_builtin(in, name) : nullptr;
}

// By mapping[name], where a KeyError means that it is not there; Undefined then.
Value item_or_undefined(Interpreter& in, const Value& mapping, Str* name) {
  try {
    return get_item(in, mapping, Value(name));
  } catch (const Error& error) {
    if (error.kind != ErrorKind::KeyError) throw;
  } catch (const Thrown& thrown) {
    if (!is_error(in, thrown.exception, ErrorKind::KeyError)) throw;
  }
  return Value();
}

bool is_plain_dict(Interpreter& in, const Value& v) { return v.is_object() && v.as_object()->type == in.types.dict; }

}  // namespace

// The epoch of a site that is filled now.
static uint32_t epoch_for(const Interpreter& in, const Code* code) {
  return code->has_other_globals || in.keys_versions == UINT32_MAX ? 0 : in.keys_versions;
}

bool load_global_step(Interpreter& in, Frame* frame, Value& target, GlobalCache& cache) {
  Str* const name = cache.name;
  Dict* const globals = frame->function->globals;
  Dict* const builtins = frame->function->builtins;
  if (globals->type != in.types.dict) [[unlikely]] {
    Value found = item_or_undefined(in, Value(globals), name);  // a subclass may have a __missing__
    if (found.is_undefined()) {
      const Value* other = builtin_of(in, builtins, name);
      if (other == nullptr) throw_name_error(in, name);
      found = *other;
    }
    target = std::move(found);
    return true;
  }
  if (cache.version == globals->keys_version && cache.version != 0 && (!cache.builtins || cache.version2 == builtins->keys_version)) {
    cache.epoch = epoch_for(in, frame->code);
    target = *cache.value;
    return true;
  }
  int32_t at = dict_find_str(globals, name);
  cache.builtins = at < 0;
  if (cache.builtins) {
    at = dict_find_str(builtins, name);
    if (at < 0 && builtin_of(in, builtins, name) != nullptr) at = dict_find_str(builtins, name);
    if (at < 0) {
      cache.version = cache.epoch = 0;
      in.vm().raise_next(make_name_error(in, name));
      return false;
    }
    cache.version2 = builtins->keys_version;
  }
  cache.epoch = epoch_for(in, frame->code);
  cache.version = globals->keys_version;
  cache.value = &(cache.builtins ? builtins : globals)->entries[at].value;
  target = *cache.value;
  return true;
}

void store_global_step(Interpreter& in, Frame* frame, const Value& value, GlobalCache& cache) {
  Str* const name = cache.name;
  Dict* const globals = frame->function->globals;
  const uint16_t noted = std::exchange(globals->aux, uint16_t{0});  // this is the text's own assignment
  try {
    dict_set_str(in, globals, name, value);
  } catch (...) {
    globals->aux = noted;
    throw;
  }
  globals->aux = noted;
  cache.value = dict_get_str(globals, name);
  cache.epoch = epoch_for(in, frame->code);
  cache.version = globals->keys_version;
  cache.builtins = false;
}

// names[name] in a class body whose namespace is a mapping of __prepare__'s. Returns false if it raises KeyError.
static bool find_item(Interpreter& in, const Value& names, const Value& name, Value& found) {
  try {
    found = get_item(in, names, name);
    return true;
  } catch (const Error& error) {
    if (error.kind != ErrorKind::KeyError) throw;
  } catch (const Thrown& thrown) {
    if (!is_error(in, thrown.exception, ErrorKind::KeyError)) throw;
  }
  return false;
}

void store_name_step(Interpreter& in, const Value& names, Str* name, const Value& value) {
  if (names.as_object()->type == in.types.dict) [[likely]] {
    dict_set_str(in, as_dict(names), name, value);
  } else {
    set_item(in, names, Value(name), value);
  }
}

void delete_name_step(Interpreter& in, const Value& names, Str* name) {
  Value gone;
  if (names.as_object()->type == in.types.dict) {
    if (!dict_delete_str(in, as_dict(names), name)) throw_name_error(in, name);
  } else if (find_item(in, names, Value(name), gone)) {
    del_item(in, names, Value(name));
  } else {
    throw_name_error(in, name);
  }
}

void make_cell_step(Interpreter& in, Value& place) { place = make_cell(in, std::move(place)); }

void share_cell_step(Value& target, Cell* cell) { target = Value(cell); }

void load_name_step(Interpreter& in, Frame* frame, Value& target, const Value& names, Str* name, const Cell* cell) {
  if (!is_plain_dict(in, names)) {
    Value own = item_or_undefined(in, names, name);
    if (!own.is_undefined()) {
      target = std::move(own);
      return;
    }
  }
  const Value* found = is_plain_dict(in, names) ? dict_get_str(as_dict(names), name) : nullptr;
  if (found == nullptr && cell != nullptr) {
    if (cell->value.is_undefined()) throw_unbound_free(in, name);
    found = &cell->value;
  }
  if (found == nullptr) found = dict_get_str(frame->function->globals, name);
  if (found == nullptr) found = builtin_of(in, frame->function->builtins, name);
  if (found == nullptr) throw_name_error(in, name);
  target = *found;
}

namespace {

[[gnu::cold]] Error unbound(Str* name, bool free) {
  return make_error(free ? ErrorKind::NameError : ErrorKind::UnboundLocalError,
                    {"cannot access ", free ? "free" : "local", " variable '", name->view(),
                     "' where it is not associated with a value", free ? " in enclosing scope" : ""});
}

}  // namespace

void throw_unbound_local(Interpreter&, Str* name) { throw unbound(name, false); }
void throw_unbound_free(Interpreter&, Str* name) { throw unbound(name, true); }
void raise_unbound_local(Interpreter& in, Str* name) { in.vm().raise_next(unbound(name, false)); }
void raise_unbound_free(Interpreter& in, Str* name) { in.vm().raise_next(unbound(name, true)); }

}  // namespace tessera::lang

// gc: the collector of cycles, for scripts. Lists of objects hold those alone that a script may hold anyway, without changing what
// natives rely on: instances of classes, functions, classes and modules, but no container of a native's.
// compile: small (introspection)
#include "lang/core/cycles.h"
#include "lang/core/make_object.h"
#include "lang/objects/class.h"
#include "lang/types/set.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

bool may_be_seen(const Object* object) {
  return object->kind == ObjectKind::Function || object->kind == ObjectKind::Module || object->kind == ObjectKind::Type ||
         (object->type->type_flags & lang::kScriptClass) != 0;
}

Module& this_module(const Args& args) { return *static_cast<Module*>(args.callee->data); }

// Calls what gc.callbacks holds: callback(phase, info).
void tell_callbacks(Interpreter& in, const Args& args, const char* phase, int64_t generation, int64_t collected) {
  const Value list = get_attr(in, Value(&this_module(args)), intern(in, "callbacks"));
  if (!is_list(list) || as_list(list)->size == 0) return;
  const Value info = make_dict(in);
  dict_set(in, as_dict(info), make_str(in, "generation"), Value::integer(generation));
  dict_set(in, as_dict(info), make_str(in, "collected"), Value::integer(collected));
  dict_set(in, as_dict(info), make_str(in, "uncollectable"), Value::integer(0));
  const Value callbacks = make_list(in, as_list(list)->size);
  for (const Value& each : *as_list(list)) list_append(in, as_list(callbacks), each);
  for (uint32_t i = 0; i < as_list(callbacks)->size; ++i)
    call(in, as_list(callbacks)->items[i], {make_str(in, phase), info});
}

Value collect(Interpreter& in, const Args& args) {
  const int64_t generation = int_argument(in, args[0]);
  if (generation < 0 || generation > 2) throw Error(ErrorKind::ValueError, "invalid generation");
  tell_callbacks(in, args, "start", generation, 0);
  const auto found = static_cast<int64_t>(in.collector().collect());
  tell_callbacks(in, args, "stop", generation, found);
  return Value::integer(found);
}

// A host that runs the programs of several people shows none of them the objects of another.
void require_code(Interpreter& in, const char* what) {
  if (!in.limits.code)
    throw_error(ErrorKind::PermissionError, "this program is not allowed to use %s", what);
}

Value get_objects(Interpreter& in, const Args& args) {
  require_code(in, "gc.get_objects");
  if (!args[0].is_none()) {
    const int64_t generation = int_argument(in, args[0]);
    if (generation < 0) throw Error(ErrorKind::ValueError, "generation parameter cannot be negative");
    if (generation > 2)
      throw Error(ErrorKind::ValueError, "generation parameter must be less than the number of available generations (3)");
  }
  const Value found = make_list(in);
  const std::span<GcObject* const> tracked = in.collector().objects();
  const std::vector<GcObject*> all(tracked.begin(), tracked.end());
  std::vector<Value> seen;
  for (GcObject* object : all) {
    if (may_be_seen(object)) seen.emplace_back(static_cast<Object*>(object));
  }
  for (const Value& each : seen) list_append(in, as_list(found), each);
  return found;
}

// The objects that one object refers to, as far as a script may see them.
class Referents : public Visitor {
 public:
  Referents() : Visitor(&visit) {}
  std::vector<Value> found;

 private:
  static void visit(Visitor& self, GcObject* object) {
    if (may_be_seen(object)) static_cast<Referents&>(self).found.emplace_back(static_cast<Object*>(object));
  }
};

void add_referents(Interpreter& in, const Value& of, List* to) {
  if (is_list(of) || is_tuple(of)) {
    const Value items = lang::list_from(in, of);
    for (const Value& each : *as_list(items)) list_append(in, to, each);
  } else if (is_dict(of)) {
    std::vector<Value> both;
    dict_for_each(as_dict(of), [&](const Value& key, const Value& value) {
      both.push_back(key);
      both.push_back(value);
    });
    for (const Value& each : both) list_append(in, to, each);
  } else if (of.is_object() && (of.as_object()->flags & lang::kTracked)) {
    Referents referents;
    lang::traverse_object(static_cast<GcObject*>(of.as_object()), referents);
    for (const Value& each : referents.found) list_append(in, to, each);
  }
}

Value get_referents(Interpreter& in, const Args& args) {
  const Value found = make_list(in);
  for (uint32_t i = 0; i < as_tuple(args[0])->size; ++i) add_referents(in, as_tuple(args[0])->items[i], as_list(found));
  return found;
}

bool refers_to_any(GcObject* object, const Tuple* wanted) {
  struct Search : Visitor {
    explicit Search(const Tuple* objects) : Visitor(&visit), wanted(objects) {}
    static void visit(Visitor& self, GcObject* to) {
      auto& search = static_cast<Search&>(self);
      for (uint32_t i = 0; i < search.wanted->size; ++i)
        search.found |= search.wanted->items[i].is_object() && search.wanted->items[i].as_object() == to;
    }
    const Tuple* wanted;
    bool found = false;
  };
  Search search(wanted);
  lang::traverse_object(object, search);
  return search.found;
}

Value get_referrers(Interpreter& in, const Args& args) {
  require_code(in, "gc.get_referrers");
  std::vector<Value> seen;
  for (GcObject* object : in.collector().objects()) {
    if (may_be_seen(object) && refers_to_any(object, as_tuple(args[0]))) seen.emplace_back(static_cast<Object*>(object));
  }
  const Value found = make_list(in);
  for (const Value& each : seen) list_append(in, as_list(found), each);
  return found;
}

Value has_flag(const Args& args, uint8_t flag) {
  return Value::boolean(args[0].is_object() && (args[0].as_object()->flags & flag) != 0);
}
Value is_tracked(Interpreter&, const Args& args) { return has_flag(args, lang::kTracked); }
Value is_finalized(Interpreter&, const Args& args) { return has_flag(args, lang::kFinalized); }

Value get_debug(Interpreter&, const Args&) { return Value::integer(0); }

Value set_debug(Interpreter& in, const Args& args) {
  if (int_argument(in, args[0]) != 0)
    throw Error(ErrorKind::NotImplementedError, "gc.set_debug: this collector tells nothing of its work and keeps no garbage");
  return Value::none();
}

Value get_stats(Interpreter& in, const Args&) {
  const Value stats = make_list(in);
  for (int generation = 0; generation < 3; ++generation) {
    const Value row = make_dict(in);
    const auto collections = static_cast<int64_t>(generation == 2 ? in.collector().collections() : 0);
    dict_set(in, as_dict(row), make_str(in, "collections"), Value::integer(collections));
    dict_set(in, as_dict(row), make_str(in, "collected"), Value::integer(0));
    dict_set(in, as_dict(row), make_str(in, "uncollectable"), Value::integer(0));
    list_append(in, as_list(stats), row);
  }
  return stats;
}

Value get_freeze_count(Interpreter&, const Args&) { return Value::integer(0); }

Value enable(Interpreter& in, const Args&) {
  in.collector().set_enabled(true);
  return Value::none();
}

Value disable(Interpreter& in, const Args&) {
  in.collector().set_enabled(false);
  return Value::none();
}

Value is_enabled(Interpreter& in, const Args&) { return Value::boolean(in.collector().enabled()); }

Value get_count(Interpreter& in, const Args&) {
  return make_tuple(
      in, {Value::integer(static_cast<int64_t>(in.collector().tracked_count())), Value::integer(0), Value::integer(0)});
}

Value get_threshold(Interpreter& in, const Args&) {
  return make_tuple(in, {Value::integer(700), Value::integer(10), Value::integer(10)});
}

Value ignore(Interpreter&, const Args&) { return Value::none(); }

}  // namespace

void fill_gc(Interpreter& in, Module& module) {
  const std::pair<const char*, int64_t> flags[] = {{"DEBUG_STATS", 1},         {"DEBUG_COLLECTABLE", 2}, {"DEBUG_UNCOLLECTABLE", 4},
                                                   {"DEBUG_SAVEALL", 32}, {"DEBUG_LEAK", 38}};
  for (const auto& [name, value] : flags) set_member(in, module, name, Value::integer(value));
  set_member(in, module, "garbage", make_list(in));
  set_member(in, module, "callbacks", make_list(in));
  set_member(in, module, "collect",
             in.new_function("collect(generation=2)", "Collect cycles now; answers how many objects were garbage.", collect, &module));
  in.def(module, "get_objects(generation=None)", "Instances of classes, functions, classes and modules that are alive.", get_objects);
  in.def(module, "get_referents(*objs)", "What these objects refer to.", get_referents);
  in.def(module, "get_referrers(*objs)", "What refers to one of these objects.", get_referrers);
  in.def(module, "is_tracked(obj, /)", "Does the collector know the object?", is_tracked);
  in.def(module, "is_finalized(obj, /)", "Has the object's __del__ run?", is_finalized);
  in.def(module, "get_debug()", "The debug flags: none.", get_debug);
  in.def(module, "set_debug(flags, /)", "Set the debug flags, of which there are none.", set_debug);
  in.def(module, "get_stats()", "How often each generation was collected.", get_stats);
  in.def(module, "get_freeze_count()", "How many objects are frozen: none.", get_freeze_count);
  in.def(module, "enable()", "Collect by itself.", enable);
  in.def(module, "disable()", "Collect on demand only.", disable);
  in.def(module, "isenabled()", "Does it collect by itself?", is_enabled);
  in.def(module, "get_count()", "Tracked objects.", get_count);
  in.def(module, "get_threshold()", "For compatibility.", get_threshold);
  in.def(module, "set_threshold(*thresholds)", "For compatibility.", ignore);
  in.def(module, "freeze()", "For compatibility.", ignore);
  in.def(module, "unfreeze()", "For compatibility.", ignore);
}

}  // namespace tessera::stdlib

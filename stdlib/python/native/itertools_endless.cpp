// count, cycle and repeat.
#include "lang/types/bigint.h"
#include "lang/types/number.h"
#include "stdlib/python/native/itertools.h"

namespace tessera::stdlib::itertools {
namespace {

struct Count : GcObject {
  Value at, step;
  bool behind = false;  // `at` was given out already: the next value is at + step
  template <class F>
  void each(F&& f) {
    f(at);
    f(step);
  }
};

bool is_number(Interpreter& in, const Value& v) {
  if (v.is_int() || v.is_float() || v.is_bool()) return true;
  if (v.is_object() && type_of(in, v) == in.types.complex) return true;
  const Type* type = type_of(in, v);
  return !type_lookup(type, intern(in, "__float__")).is_undefined() ||
         !type_lookup(type, intern(in, "__index__")).is_undefined() ||
         !type_lookup(type, intern(in, "__int__")).is_undefined();
}

Value make_count(Interpreter& in, Type* type, const Args& args) {
  if (args.count > 2) throw_error(ErrorKind::TypeError, "count() takes at most 2 arguments (%u given)", args.count);
  check_keywords(args, "count", {"start", "step"}, 0);
  const Value* first = make_argument(args, 0, "start");
  const Value* step = make_argument(args, 1, "step");
  if ((first != nullptr && !is_number(in, *first)) || (step != nullptr && !is_number(in, *step))) {
    throw Error(ErrorKind::TypeError, "a number is required");
  }
  Value made;
  Count* c = start<Count>(in, type, made);
  c->at = first != nullptr ? *first : Value::integer(0);
  c->step = step != nullptr ? *step : Value::integer(1);
  // CPython counts in ones with a number of C.
  const Value whole = unboxed(c->at), one = unboxed(c->step);
  if ((whole.is_int() || whole.is_bool()) && (one.is_int() || one.is_bool()) && one.as_int() == 1) {
    c->at = Value::integer(whole.as_int());
    c->step = Value::integer(1);
  }
  return made;
}

void catch_up(Interpreter& in, Count* c) {
  if (!c->behind) return;
  int64_t sum;
  if (c->at.is_int() && c->step.is_int() && !__builtin_add_overflow(c->at.as_int(), c->step.as_int(), &sum)) {
    c->at = Value::integer(sum);
  } else {
    const Value at = c->at, step = c->step;
    c->at = binary(in, BinaryOp::Add, at, step);
  }
  c->behind = false;
}

bool next_count(Interpreter& in, const Value& self, Value& out) {
  Count* c = self_of<Count>(self);
  if (c->at.is_undefined()) return false;
  catch_up(in, c);
  out = c->at;
  c->behind = true;
  return true;
}

Value count_repr(Interpreter& in, const Value& self) {
  Count* c = self_of<Count>(self);
  catch_up(in, c);
  std::string text = std::string(c->type->name->view()) + "(" + repr_text(in, c->at);
  if (!c->step.is_int() || c->step.as_int() != 1) text += ", " + repr_text(in, c->step);
  return make_str(in, text + ")");
}

Value count_reduce(Interpreter& in, const Args& args) {
  Count* c = self_of<Count>(args[0]);
  catch_up(in, c);
  if (c->step.is_int() && c->step.as_int() == 1) return reduction(in, args[0], make_tuple(in, {c->at}));
  return reduction(in, args[0], make_tuple(in, {c->at, c->step}));
}

const NativeDef kCountMethods[] = {{"__reduce__(self)", count_reduce, "Return state information for pickling."}};

struct Cycle : GcObject {
  Value source;         // Undefined: all of it is in `saved`
  bool again = false;   // the source gives items that are in `saved` already
  std::vector<Value> saved;
  size_t at = 0;
  template <class F>
  void each(F&& f) {
    f(source);
    for (Value& v : saved) f(v);
  }
};

Value make_cycle(Interpreter& in, Type* type, const Args& args) {
  positions(in, type, "cycle", args, 1, 1);
  const Value source = iter(in, args[0]);
  Value made;
  start<Cycle>(in, type, made)->source = source;
  return made;
}

bool next_cycle(Interpreter& in, const Value& self, Value& out) {
  in.vm().check_native_stack();
  Cycle* c = self_of<Cycle>(self);
  if (!c->source.is_undefined()) {
    if (step(in, c->source, out)) {
      if (!c->again) c->saved.push_back(out);
      return true;
    }
    finish(c->source);
  }
  if (c->saved.empty() || c->saved[c->at].is_undefined()) return false;
  out = c->saved[c->at];
  if (++c->at == c->saved.size()) c->at = 0;
  return true;
}

Value cycle_reduce(Interpreter& in, const Args& args) {
  Cycle* c = self_of<Cycle>(args[0]);
  const Value saved = make_list(in, c->saved.data(), c->saved.size());
  if (!c->source.is_undefined())
    return reduction(in, args[0], make_tuple(in, {c->source}), make_tuple(in, {saved, Value::boolean(c->again)}));
  const Value rest = make_list(in, c->saved.data() + c->at, c->saved.size() - c->at);
  return reduction(in, args[0], make_tuple(in, {iter(in, rest)}), make_tuple(in, {saved, Value::boolean(true)}));
}

Value cycle_set_state(Interpreter& in, const Args& args) {
  const Tuple& state = state_of(in, args[1], 2, 2);
  if (!is_list(state[0])) {
    throw_error(ErrorKind::TypeError, "argument 1 must be list, not %s", std::string(type_name(in, state[0])).c_str());
  }
  const Value told = whole_index(in, state[1]);
  if (is_big_int(told)) throw Error(ErrorKind::OverflowError, "Python int too large to convert to C long");
  const bool again = told.as_int() != 0;
  Cycle* c = self_of<Cycle>(args[0]);
  const List& saved = *as_list(state[0]);
  std::vector<Value> items(saved.items, saved.items + saved.size);
  items.swap(c->saved);
  c->at = 0;
  c->again = again;
  return Value::none();
}

const NativeDef kCycleMethods[] = {{"__reduce__(self)", cycle_reduce, "Return state information for pickling."},
                                   {"__setstate__(self, state, /)", cycle_set_state,
                                    "Set state information for unpickling."}};

struct Repeat : GcObject {
  Value object;
  int64_t left = -1;  // -1: without end
  template <class F>
  void each(F&& f) {
    f(object);
  }
};

Value make_repeat(Interpreter& in, Type* type, const Args& args) {
  check_keywords(args, "repeat", {"object", "times"}, 1);
  const Value* object = make_argument(args, 0, "object");
  const Value* times = make_argument(args, 1, "times");
  if (object == nullptr) throw Error(ErrorKind::TypeError, "repeat() missing required argument 'object' (pos 1)");
  if (args.count > 2) throw_error(ErrorKind::TypeError, "repeat() takes at most 2 arguments (%u given)", args.count);
  const int64_t left = times == nullptr ? -1 : std::max<int64_t>(0, int_argument(in, *times));
  Value made;
  Repeat* r = start<Repeat>(in, type, made);
  r->object = *object;
  r->left = left;
  return made;
}

bool next_repeat(Interpreter&, const Value& self, Value& out) {
  Repeat* r = self_of<Repeat>(self);
  if (r->left == 0 || r->object.is_undefined()) return false;
  if (r->left > 0) --r->left;
  out = r->object;
  return true;
}

Value repeat_repr(Interpreter& in, const Value& self) {
  const Repeat* r = self_of<Repeat>(self);
  std::string text = std::string(r->type->name->view()) + "(" + repr_text(in, r->object);
  if (r->left >= 0) text += ", " + std::to_string(r->left);
  return make_str(in, text + ")");
}

Value repeat_hint(Interpreter&, const Args& args) {
  const int64_t left = self_of<Repeat>(args[0])->left;
  if (left < 0) throw Error(ErrorKind::TypeError, "len() of unsized object");
  return Value::integer(left);
}

Value repeat_reduce(Interpreter& in, const Args& args) {
  const Repeat* r = self_of<Repeat>(args[0]);
  if (r->left < 0) return reduction(in, args[0], make_tuple(in, {r->object}));
  return reduction(in, args[0], make_tuple(in, {r->object, Value::integer(r->left)}));
}

const NativeDef kRepeatMethods[] = {{"__reduce__(self)", repeat_reduce, "Return state information for pickling."},
                                    {"__length_hint__(self)", repeat_hint, "How often it will still come."}};

}  // namespace

void add_endless(Interpreter& in, Module& module) {
  Type* count = add_type<Count>(in, module, "count", make_count, next_count, "start, start + step, ... without end.");
  count->slots.repr = count_repr;
  in.add_methods(count, kCountMethods, std::size(kCountMethods));
  Type* cycle = add_type<Cycle>(in, module, "cycle", make_cycle, next_cycle, "The items again and again.");
  in.add_methods(cycle, kCycleMethods, std::size(kCycleMethods));
  Type* repeat = add_type<Repeat>(in, module, "repeat", make_repeat, next_repeat, "The same object, `times` times.");
  repeat->slots.repr = repeat_repr;
  in.add_methods(repeat, kRepeatMethods, std::size(kRepeatMethods));
}

}  // namespace tessera::stdlib::itertools

// Iterators over one source, or over several one after the other: each takes an item, decides, and hands it on.
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/types/bytes.h"
#include "lang/types/iterators.h"
#include "lang/types/sequence.h"
#include "stdlib/python/native/itertools.h"

namespace tessera::stdlib::itertools {
namespace {

struct Stage : GcObject {
  Value source;    // Undefined: exhausted
  Value function;  // compress: the selectors
  bool begun = false, ended = false;
  template <class F>
  void each(F&& f) {
    f(source);
    f(function);
  }
};

bool accepts(Interpreter& in, const Value& function, const Value& item) {
  const Value held = function;
  return truth(in, call(in, held, Args{&item, 1}));
}

bool hand_on(Value& item, Value& out) {
  out = std::move(item);
  return true;
}

// takewhile, dropwhile, filterfalse and starmap: a function and an iterable.
Value make_stage(Interpreter& in, Type* type, const Args& args, const char* name) {
  positions(in, type, name, args, 2, 2);
  const Value source = iter(in, args[1]);
  Value made;
  Stage* s = start<Stage>(in, type, made);
  s->function = args[0];
  s->source = source;
  return made;
}

bool next_taken(Interpreter& in, const Value& self, Value& out) {
  in.vm().check_native_stack();
  Stage* s = self_of<Stage>(self);
  Value item;  // `out` may be a loop's variable, which keeps the last item that was accepted
  if (s->ended || !step(in, self, s->source, item)) return false;
  if (accepts(in, s->function, item)) return hand_on(item, out);
  s->ended = true;
  return false;
}

bool next_dropped(Interpreter& in, const Value& self, Value& out) {
  in.vm().check_native_stack();
  Stage* s = self_of<Stage>(self);
  if (s->begun) return step(in, self, s->source, out);
  for (Value item; step(in, self, s->source, item);) {
    if (s->begun || !accepts(in, s->function, item)) {
      s->begun = true;
      return hand_on(item, out);
    }
    count_item(in);
  }
  return false;
}

bool next_refused(Interpreter& in, const Value& self, Value& out) {
  in.vm().check_native_stack();
  Stage* s = self_of<Stage>(self);
  const bool plain = s->function.is_none() || (s->function.is_object() && s->function.as_object() == in.types.boolean);
  for (Value item; step(in, self, s->source, item);) {
    if (plain ? !truth(in, item) : !accepts(in, s->function, item)) return hand_on(item, out);
    count_item(in);
  }
  return false;
}

bool next_applied(Interpreter& in, const Value& self, Value& out) {
  in.vm().check_native_stack();
  Stage* s = self_of<Stage>(self);
  Value item;
  if (!step(in, self, s->source, item)) return false;
  if (!is_tuple(item)) item = tuple_from(in, item);
  const Value function = s->function;
  out = call(in, function, Args{as_tuple(item)->items, as_tuple(item)->size});
  return true;
}

Value make_compress(Interpreter& in, Type* type, const Args& args) {
  check_keywords(args, "compress", {"data", "selectors"}, 2);
  const Value* data = make_argument(args, 0, "data");
  const Value* selectors = make_argument(args, 1, "selectors");
  if (data == nullptr || selectors == nullptr) {
    throw_error(ErrorKind::TypeError, "compress() missing required argument '%s' (pos %d)",
                data == nullptr ? "data" : "selectors", data == nullptr ? 1 : 2);
  }
  if (args.count > 2) throw_error(ErrorKind::TypeError, "compress() takes at most 2 arguments (%u given)", args.count);
  const Value source = iter(in, *data), chosen = iter(in, *selectors);
  Value made;
  Stage* s = start<Stage>(in, type, made);
  s->source = source;
  s->function = chosen;
  return made;
}

bool next_compressed(Interpreter& in, const Value& self, Value& out) {
  in.vm().check_native_stack();
  Stage* s = self_of<Stage>(self);
  Value wanted;
  for (Value item; step(in, self, s->source, item);) {
    if (!step(in, self, s->function, wanted)) return false;
    if (truth(in, wanted)) return hand_on(item, out);
    count_item(in);
  }
  return false;
}

Value make_pairwise(Interpreter& in, Type* type, const Args& args) {
  positions(in, type, "pairwise", args, 1, 1);
  const Value source = iter(in, args[0]);
  Value made;
  start<Stage>(in, type, made)->source = source;
  return made;
}

// `function` is the item before; Undefined: not read yet. The source may step this same iterator, which moves `function` on
// or ends it, so both are read again after each step.
bool next_pair(Interpreter& in, const Value& self, Value& out) {
  in.vm().check_native_stack();
  Stage* s = self_of<Stage>(self);
  Value item;
  if (s->function.is_undefined()) {
    if (!step(in, self, s->source, item)) return finish(s->source);
    s->function = std::move(item);
  }
  const Value before = s->function;
  if (!step(in, self, s->source, item)) {
    finish(s->function);
    return finish(s->source);
  }
  out = make_tuple(in, {before, item});
  s->function = std::move(item);
  return true;
}

// takewhile and dropwhile: function, source and whether the turn has come; filterfalse, starmap: function and source.
Value while_reduce(Interpreter& in, const Args& args) {
  const Stage* s = self_of<Stage>(args[0]);
  return reduction(in, args[0], make_tuple(in, {s->function, s->source}), Value::integer(s->begun || s->ended));
}
Value taken_set_state(Interpreter& in, const Args& args) {
  self_of<Stage>(args[0])->ended = truth(in, args[1]);
  return Value::none();
}
Value dropped_set_state(Interpreter& in, const Args& args) {
  self_of<Stage>(args[0])->begun = truth(in, args[1]);
  return Value::none();
}
Value stage_reduce(Interpreter& in, const Args& args) {
  const Stage* s = self_of<Stage>(args[0]);
  return reduction(in, args[0], make_tuple(in, {s->function, s->source}));
}
Value compress_reduce(Interpreter& in, const Args& args) {
  const Stage* s = self_of<Stage>(args[0]);
  return reduction(in, args[0], make_tuple(in, {s->source, s->function}));
}

constexpr char kReduceDoc[] = "Return state information for pickling.";
constexpr char kStateDoc[] = "Set state information for unpickling.";
const NativeDef kTakenMethods[] = {{"__reduce__(self)", while_reduce, kReduceDoc},
                                   {"__setstate__(self, state, /)", taken_set_state, kStateDoc}};
const NativeDef kDroppedMethods[] = {{"__reduce__(self)", while_reduce, kReduceDoc},
                                     {"__setstate__(self, state, /)", dropped_set_state, kStateDoc}};
const NativeDef kStageMethods[] = {{"__reduce__(self)", stage_reduce, kReduceDoc}};
const NativeDef kCompressMethods[] = {{"__reduce__(self)", compress_reduce, kReduceDoc}};

// --- accumulate

struct Accumulate : GcObject {
  Value source, function, total, initial;
  template <class F>
  void each(F&& f) {
    f(source);
    f(function);
    f(total);
    f(initial);
  }
};

Value make_accumulate(Interpreter& in, Type* type, const Args& args) {
  if (args.positional() <= 2) check_keywords(args, "accumulate", {"iterable", "func", "initial"}, 1);
  const Value* iterable = make_argument(args, 0, "iterable");
  const Value* function = make_argument(args, 1, "func");
  const Value* initial = keyword_argument(args, "initial");
  if (args.count > 3) throw_error(ErrorKind::TypeError, "accumulate() takes at most 3 arguments (%u given)", args.count);
  if (args.positional() > 2)
    throw_error(ErrorKind::TypeError, "accumulate() takes at most 2 positional arguments (%u given)", args.positional());
  if (iterable == nullptr)
    throw Error(ErrorKind::TypeError, "accumulate() missing required argument 'iterable' (pos 1)");
  const Value source = iter(in, *iterable);
  Value made;
  Accumulate* a = start<Accumulate>(in, type, made);
  a->source = source;
  if (function != nullptr && !function->is_none()) a->function = *function;
  if (initial != nullptr && !initial->is_none()) a->initial = *initial;
  return made;
}

bool next_accumulated(Interpreter& in, const Value& self, Value& out) {
  in.vm().check_native_stack();
  Accumulate* a = self_of<Accumulate>(self);
  if (!a->initial.is_undefined()) {
    out = a->total = std::move(a->initial);
    return true;
  }
  Value item;
  if (!step(in, self, a->source, item)) return false;
  if (a->total.is_undefined()) {
    out = a->total = std::move(item);
    return true;
  }
  const Value total = a->total, function = a->function;
  if (function.is_undefined()) {
    out = binary(in, BinaryOp::Add, total, item);
  } else {
    const Value pair[] = {total, std::move(item)};
    out = call(in, function, Args{pair, 2});
  }
  a->total = out;
  return true;
}

Value accumulate_reduce(Interpreter& in, const Args& args) {
  const Accumulate* a = self_of<Accumulate>(args[0]);
  const Value function = a->function.is_undefined() ? Value::none() : a->function;
  Value source = a->source;
  if (!a->initial.is_undefined()) {  // comes first
    const Value chain = get_attr(in, Value(in.import("itertools")), intern(in, "chain"));
    source = call(in, chain, {make_tuple(in, {a->initial}), source});
  }
  const Value state = a->total.is_undefined() ? Value::none() : a->total;
  return reduction(in, args[0], make_tuple(in, {source, function}), state);
}

Value accumulate_set_state(Interpreter&, const Args& args) {
  self_of<Accumulate>(args[0])->total = args[1].is_none() ? Value() : args[1];
  return Value::none();
}

const NativeDef kAccumulateMethods[] = {{"__reduce__(self)", accumulate_reduce, kReduceDoc},
                                        {"__setstate__(self, state, /)", accumulate_set_state, kStateDoc}};

// --- chain

struct Chain : GcObject {
  Value source, active;  // the iterables still to come; the one that is read now
  template <class F>
  void each(F&& f) {
    f(source);
    f(active);
  }
};

Value make_chain(Interpreter& in, Type* type, const Args& args) {
  if (!has_script_init(in, type)) refuse_keywords("chain", args);
  const Value iterables = make_tuple(in, args.values, args.positional());
  const Value source = iter(in, iterables);
  Value made;
  start<Chain>(in, type, made)->source = source;
  return made;
}

Value chain_from_iterable(Interpreter& in, const Args& args) {
  const Value source = iter(in, args[1]);
  Value made;
  start<Chain>(in, object_cast<Type>(args[0]), made)->source = source;
  return made;
}

bool next_chained(Interpreter& in, const Value& self, Value& out) {
  in.vm().check_native_stack();
  Chain* c = self_of<Chain>(self);
  for (;;) {
    if (!c->active.is_undefined()) {
      if (next_at_once(in, c->active, out)) return true;
      const Value active = c->active;  // scripts may end the chain meanwhile
      const auto next_item = active.as_object()->type->slots.next;
      if (next_item != nullptr ? next_item(in, active, out) : next(in, active, out)) return true;
    }
    finish(c->active);
    count_item(in);  // the iterables may be many that are empty
    Value iterable;
    if (!step(in, c->source, iterable)) return finish(c->source);
    Value active;
    try {
      active = iter(in, iterable);
    } catch (...) {
      finish(c->source);
      throw;
    }
    c->active = std::move(active);
  }
}

Value chain_reduce(Interpreter& in, const Args& args) {
  const Chain* c = self_of<Chain>(args[0]);
  const Value nothing = in.shared->empty_tuple;
  if (c->source.is_undefined()) return reduction(in, args[0], nothing);
  if (c->active.is_undefined()) return reduction(in, args[0], nothing, make_tuple(in, {c->source}));
  return reduction(in, args[0], nothing, make_tuple(in, {c->source, c->active}));
}

Value chain_set_state(Interpreter& in, const Args& args) {
  const Tuple& state = state_of(in, args[1], 1, 2);
  for (uint32_t i = 0; i < state.size; ++i) {
    if (!state[i].is_object() || state[i].as_object()->type->slots.next == nullptr)
      throw Error(ErrorKind::TypeError, "Arguments must be iterators.");
  }
  Chain* c = self_of<Chain>(args[0]);
  const Value source = std::exchange(c->source, state[0]), active = std::exchange(c->active, state.size == 2 ? state[1] : Value());
  return Value::none();
}

const NativeDef kChainMethods[] = {
    {"__reduce__(self)", chain_reduce, kReduceDoc},
    {"__setstate__(self, state, /)", chain_set_state, kStateDoc},
    {"from_iterable(cls, iterable, /)", chain_from_iterable, "chain(*iterable), without reading it ahead."},
    kClassGetItem,
};

// --- islice

struct Slice : GcObject {
  Value source;
  uint64_t at = 0, wanted = 0, step = 1;
  uint64_t stop = UINT64_MAX;
  template <class F>
  void each(F&& f) {
    f(source);
  }
};

// A bound of islice: `otherwise` for None, -1 for an object that is no index or whose __index__ raises.
int64_t bound(Interpreter& in, const Value& v, int64_t otherwise) {
  if (v.is_none()) return otherwise;
  if (!is_index(in, v)) return -1;
  try {
    return index_sized(in, v, ErrorKind::OverflowError);
  } catch (const Error&) {
  } catch (const Thrown&) {
  }
  return -1;
}

Value make_islice(Interpreter& in, Type* type, const Args& args) {
  positions(in, type, "islice", args, 2, 4);
  const bool only_stop = args.positional() == 2;
  const Value last = args[only_stop ? 1 : 2];
  const int64_t first = only_stop ? 0 : bound(in, args[1], 0), stop = bound(in, last, INT64_MAX);
  if (stop == -1) throw Error(ErrorKind::ValueError, "Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize.");
  if (first < 0 || stop < 0) throw Error(ErrorKind::ValueError, "Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.");
  const int64_t step = args.positional() == 4 ? bound(in, args[3], 1) : 1;
  if (step < 1) throw Error(ErrorKind::ValueError, "Step for islice() must be a positive integer or None.");
  const Value source = iter(in, args[0]);
  Value made;
  Slice* s = start<Slice>(in, type, made);
  s->source = source;
  s->wanted = static_cast<uint64_t>(first);
  s->stop = last.is_none() ? UINT64_MAX : static_cast<uint64_t>(stop);
  s->step = static_cast<uint64_t>(step);
  return made;
}

bool next_sliced(Interpreter& in, const Value& self, Value& out) {
  in.vm().check_native_stack();
  Slice* s = self_of<Slice>(self);
  const Value source = s->source;
  if (source.is_undefined()) return false;
  try {
    for (Value skipped; s->at < s->wanted; ++s->at) {
      if (!next(in, source, skipped)) return finish(s->source) || pass_stop_value(in, source, self);
    }
    if (s->at >= s->stop) return finish(s->source);
    if (!next(in, source, out)) return finish(s->source) || pass_stop_value(in, source, self);
  } catch (...) {
    finish(s->source);  // a slice whose iterator raised is exhausted
    throw;
  }
  ++s->at;
  const uint64_t before = s->wanted;
  s->wanted += s->step;
  if (s->wanted < before || s->wanted > s->stop) s->wanted = s->stop;
  return true;
}

Value slice_reduce(Interpreter& in, const Args& args) {
  const Slice* s = self_of<Slice>(args[0]);
  const auto whole = [](uint64_t n) { return Value::integer(static_cast<int64_t>(n)); };
  if (s->source.is_undefined()) {
    const Value nothing = iter(in, make_list(in));
    return reduction(in, args[0], make_tuple(in, {nothing, whole(0)}), whole(0));
  }
  const Value stop = s->stop == UINT64_MAX ? Value::none() : whole(s->stop);
  return reduction(in, args[0], make_tuple(in, {s->source, whole(s->wanted), stop, whole(s->step)}), whole(s->at));
}

Value slice_set_state(Interpreter& in, const Args& args) {
  self_of<Slice>(args[0])->at = static_cast<uint64_t>(std::max<int64_t>(0, iterator_position(in, args[1])));
  return Value::none();
}

const NativeDef kSliceMethods[] = {{"__reduce__(self)", slice_reduce, kReduceDoc},
                                   {"__setstate__(self, state, /)", slice_set_state, kStateDoc}};

}  // namespace

void add_stages(Interpreter& in, Module& module) {
  const auto with = [&](Type* type, const NativeDef* rows, size_t count) { in.add_methods(type, rows, count); };
  with(add_type<Stage>(
      in, module, "takewhile", [](Interpreter& i, Type* t, const Args& a) { return make_stage(i, t, a, "takewhile"); },
      next_taken, "The items until the predicate fails for one."), kTakenMethods, std::size(kTakenMethods));
  with(add_type<Stage>(
      in, module, "dropwhile", [](Interpreter& i, Type* t, const Args& a) { return make_stage(i, t, a, "dropwhile"); },
      next_dropped, "The items from the first one on for which the predicate fails."), kDroppedMethods, std::size(kDroppedMethods));
  with(add_type<Stage>(
      in, module, "filterfalse",
      [](Interpreter& i, Type* t, const Args& a) { return make_stage(i, t, a, "filterfalse"); }, next_refused,
      "The items for which the predicate fails."), kStageMethods, std::size(kStageMethods));
  with(add_type<Stage>(
      in, module, "starmap", [](Interpreter& i, Type* t, const Args& a) { return make_stage(i, t, a, "starmap"); },
      next_applied, "function(*item) for each item."), kStageMethods, std::size(kStageMethods));
  with(add_type<Stage>(in, module, "compress", make_compress, next_compressed, "The items whose selector is true."), kCompressMethods, std::size(kCompressMethods));
  add_type<Stage>(in, module, "pairwise", make_pairwise, next_pair, "Each item with the one behind it.");
  with(add_type<Accumulate>(in, module, "accumulate", make_accumulate, next_accumulated, "Running totals."), kAccumulateMethods, std::size(kAccumulateMethods));
  with(add_type<Slice>(in, module, "islice", make_islice, next_sliced, "A slice of an iterator."), kSliceMethods, std::size(kSliceMethods));
  Type* chain = add_type<Chain>(in, module, "chain", make_chain, next_chained, "The items of one, then of the next.");
  in.add_methods(chain, kChainMethods, std::size(kChainMethods));
}

}  // namespace tessera::stdlib::itertools

// product, permutations, combinations, combinations with replacement. All four go through tuples of indices
// into pools; they differ in how the next tuple of indices follows from the last.
#include <algorithm>
#include <numeric>

#include "lang/core/object_cast.h"
#include "lang/types/bigint.h"
#include "lang/types/number.h"
#include "lang/core/booking.h"
#include "stdlib/python/native/itertools.h"

namespace tessera::stdlib::itertools {
namespace {

enum class Way : uint8_t { Product, Permutations, Combinations, Replacement };

struct Arrangement : GcObject {
  Way way = Way::Product;
  bool started = false, finished = false;
  Value pools;                  // a tuple of tuples
  Value last;                   // the last answer
  std::vector<uint32_t> at;     // indices of the current answer
  std::vector<uint32_t> order;  // Permutations: all indices, the first r are the answer
  Booking booked;               // of the vectors
  std::vector<uint32_t> turns;  // Permutations: how many items each place still goes through
  template <class F>
  void each(F&& f) {
    f(pools);
    f(last);
  }
};

const Tuple& pool_of(const Arrangement* a, size_t place) {
  const Tuple& pools = *as_tuple(a->pools);
  return *as_tuple(pools[a->way == Way::Product ? place : 0]);
}

constexpr size_t kEnd = SIZE_MAX;

// The steps to the next indices return the first place that changes, or kEnd.

size_t next_product(Arrangement* a) {
  for (size_t i = a->at.size(); i-- > 0;) {
    if (++a->at[i] < pool_of(a, i).size) return i;
    a->at[i] = 0;
  }
  return kEnd;
}

size_t next_permutation(Arrangement* a) {
  const size_t n = a->order.size(), r = a->at.size();
  for (size_t i = r; i-- > 0;) {
    if (--a->turns[i] == 0) {
      std::rotate(a->order.begin() + static_cast<ptrdiff_t>(i), a->order.begin() + static_cast<ptrdiff_t>(i) + 1,
                  a->order.end());
      a->turns[i] = static_cast<uint32_t>(n - i);
    } else {
      std::swap(a->order[i], a->order[n - a->turns[i]]);
      std::copy_n(a->order.begin() + static_cast<ptrdiff_t>(i), r - i, a->at.begin() + static_cast<ptrdiff_t>(i));
      return i;
    }
  }
  return kEnd;
}

size_t next_combination(Arrangement* a) {
  const size_t n = pool_of(a, 0).size, r = a->at.size();
  const bool again = a->way == Way::Replacement;
  for (size_t i = r; i-- > 0;) {
    if (a->at[i] == (again ? n - 1 : i + n - r)) continue;
    const uint32_t value = a->at[i] + 1;
    for (size_t k = i; k < r; ++k) a->at[k] = again ? value : value + static_cast<uint32_t>(k - i);
    return i;
  }
  return kEnd;
}

size_t advance(Arrangement* a) {
  if (a->finished) return kEnd;
  if (!a->started) {
    a->started = true;
    return 0;
  }
  switch (a->way) {
    case Way::Product: return next_product(a);
    case Way::Permutations: return next_permutation(a);
    default: return next_combination(a);
  }
}

// Nobody has kept the last answer: its other reference, if it has one, is in the place that the next answer goes to.
bool is_free(const Value& last, const Value& out) {
  return last.is_object() && last.as_object()->refcount == (out.is(last) ? 2u : 1u);
}

// The last answer is filled again if it is free: no script runs here, since the pools keep each item that is replaced.
bool next_answer(Interpreter& in, const Value& self, Value& out) {
  Arrangement* a = object_cast<Arrangement>(self);
  size_t changed = advance(a);
  if (changed == kEnd) {
    a->finished = true;
    a->last = Value();
    return false;
  }
  const size_t size = a->at.size();
  // All places are filled anew if there is no last answer: at first, and after __setstate__.
  const bool anew = a->last.is_undefined();
  if (anew) changed = 0;
  if (anew || !is_free(a->last, out)) {
    Tuple* const fresh = new_tuple(in, size);
    for (size_t i = 0; i < changed; ++i) fresh->items[i] = as_tuple(a->last)->items[i];
    a->last = Value::adopt(fresh);
  }
  Value* const items = as_tuple(a->last)->items;
  const Tuple& pools = *as_tuple(a->pools);
  const bool one_pool = a->way != Way::Product;
  for (size_t i = changed; i < size; ++i) items[i] = (*as_tuple(pools[one_pool ? 0 : i]))[a->at[i]];
  if (!out.is(a->last)) out = a->last;
  return true;
}

// Without its pools it is at its end.
void clear_arrangement(Interpreter&, Object* self) {
  Arrangement* a = known_cast<Arrangement>(self);
  a->finished = true;
  const Value pools = std::move(a->pools), last = std::move(a->last);
}

Arrangement* new_arrangement(Interpreter& in, Type* type, Way way, Value& made) {
  Arrangement* a = make_object<Arrangement>(in, type);
  made = Value::adopt(a);
  a->way = way;
  return a;
}

Value make_product(Interpreter& in, Type* type, const Args& args) {
  if (args.keyword_names != nullptr && args.keyword_names->size != 0)
    check_keywords(Args{args.values + args.positional(), args.count - args.positional(), args.keyword_names}, "product", {"repeat"}, 0);
  const Value* repeat = keyword_argument(args, "repeat");
  const int64_t times = repeat != nullptr ? int_argument(in, *repeat) : 1;
  if (times < 0) throw Error(ErrorKind::ValueError, "repeat argument cannot be negative");
  constexpr uint64_t kMostPlaces = 1'000'000;
  if (args.positional() != 0 && static_cast<uint64_t>(times) > kMostPlaces / args.positional())
    throw Error(ErrorKind::OverflowError, "repeat argument too large");
  std::vector<Value> once, pools;
  for (uint32_t i = 0; i < args.positional(); ++i) once.push_back(tuple_from(in, args[i]));
  for (int64_t i = 0; !once.empty() && i < times; ++i) pools.insert(pools.end(), once.begin(), once.end());
  Value made;
  Arrangement* a = new_arrangement(in, type, Way::Product, made);
  a->at.assign(pools.size(), 0);
  for (const Value& pool : pools) a->finished = a->finished || as_tuple(pool)->size == 0;
  a->pools = make_tuple_moving(in, pools.data(), pools.size());
  return made;
}

// The iterable and r of the three others.
Value one_pool(Interpreter& in, Type* type, Way way, const Args& args, const char* function, bool r_optional) {
  if (args.count > 2) throw_error(ErrorKind::TypeError, "%s() takes at most 2 arguments (%u given)", function, args.count);
  check_keywords(args, function, {"iterable", "r"}, r_optional ? 1 : 2);
  const Value* iterable = make_argument(args, 0, "iterable");
  const Value* r = make_argument(args, 1, "r");
  if (iterable == nullptr || (r == nullptr && !r_optional)) {
    throw_error(ErrorKind::TypeError, "%s() missing required argument '%s' (pos %d)", function,
                iterable == nullptr ? "iterable" : "r", iterable == nullptr ? 1 : 2);
  }
  const int64_t wanted = r_optional ? 0 : int_argument(in, *r);
  const Value pool = tuple_from(in, *iterable);
  const size_t n = as_tuple(pool)->size;
  int64_t size = static_cast<int64_t>(n);
  if (r != nullptr && !(r_optional && r->is_none())) {
    if (r_optional && !is_whole(*r)) throw Error(ErrorKind::TypeError, "Expected int as r");
    size = r_optional ? int_argument(in, *r) : wanted;
  }
  if (size < 0) throw Error(ErrorKind::ValueError, "r must be non-negative");
  Value made;
  Arrangement* a = new_arrangement(in, type, way, made);
  a->pools = make_tuple(in, {pool});
  // Whoever cannot hold that many indices is told so, as by CPython, also where there is no answer.
  constexpr int64_t kMostIndices = int64_t{1} << 40;
  if (size > kMostIndices) throw Error(ErrorKind::MemoryError, "");
  a->finished = way == Way::Replacement ? n == 0 && size > 0 : static_cast<uint64_t>(size) > n;
  if (a->finished) return made;
  a->booked.set(in.heap, (static_cast<size_t>(size) * 2 + n) * sizeof(uint32_t));
  a->at.assign(static_cast<size_t>(size), 0);
  if (way != Way::Replacement) std::iota(a->at.begin(), a->at.end(), 0U);
  if (way == Way::Permutations) {
    a->order.resize(n);
    std::iota(a->order.begin(), a->order.end(), 0U);
    for (size_t i = 0; i < a->at.size(); ++i) a->turns.push_back(static_cast<uint32_t>(n - i));
  }
  return made;
}

Value make_permutations(Interpreter& in, Type* type, const Args& args) {
  return one_pool(in, type, Way::Permutations, args, "permutations", true);
}
Value make_combinations(Interpreter& in, Type* type, const Args& args) {
  return one_pool(in, type, Way::Combinations, args, "combinations", false);
}
Value make_replacement(Interpreter& in, Type* type, const Args& args) {
  return one_pool(in, type, Way::Replacement, args, "combinations_with_replacement", false);
}

Value places(Interpreter& in, const std::vector<uint32_t>& indices) {
  Tuple* made = new_tuple(in, indices.size());
  for (size_t i = 0; i < indices.size(); ++i) made->items[i] = Value::integer(indices[i]);
  return Value::adopt(made);
}

// What the type is called with, and the indices of the last answer; permutations add how many turns each place has left.
Value arrangement_reduce(Interpreter& in, const Args& args) {
  const Arrangement* a = self_of<Arrangement>(args[0]);
  const Value nothing = in.shared->empty_tuple;
  if (a->way == Way::Product) {
    if (a->pools.is_undefined() || (a->finished && a->started)) return reduction(in, args[0], make_tuple(in, {nothing}));
    return reduction(in, args[0], a->pools, a->started ? places(in, a->at) : Value());
  }
  const Value r = Value::integer(static_cast<int64_t>(a->at.size()));
  if (a->pools.is_undefined() || (a->finished && a->started))
    return reduction(in, args[0], make_tuple(in, {nothing, Value::integer(std::max<int64_t>(1, r.as_int()))}));
  // A finished one that never began has more places than items.
  const Value pool = (*as_tuple(a->pools))[0];
  const Value size = a->finished ? Value::integer(static_cast<int64_t>(as_tuple(pool)->size) + 1) : r;
  const Value arguments = make_tuple(in, {pool, size});
  if (!a->started) return reduction(in, args[0], arguments);
  if (a->way != Way::Permutations) return reduction(in, args[0], arguments, places(in, a->at));
  return reduction(in, args[0], arguments, make_tuple(in, {places(in, a->order), places(in, a->turns)}));
}

// Numbers of a state, each brought to [least, most(i)], as CPython does with those that are out of range.
template <class Most>
std::vector<uint32_t> numbers_of(Interpreter& in, const Value& state, size_t count, int64_t least, Most most) {
  if (!is_tuple(state) || as_tuple(state)->size != count) throw Error(ErrorKind::ValueError, "invalid arguments");
  std::vector<uint32_t> numbers;
  for (size_t i = 0; i < count; ++i) {
    const int64_t n = iterator_position(in, (*as_tuple(state))[i]);
    numbers.push_back(static_cast<uint32_t>(std::max(least, std::min<int64_t>(n, most(i)))));
  }
  return numbers;
}

// CPython looks at the state also where the iterator is at its end, which it stays at.
Value arrangement_set_state(Interpreter& in, const Args& args) {
  Arrangement* a = self_of<Arrangement>(args[0]);
  if (a->pools.is_undefined()) return Value::none();
  const size_t r = a->at.size();
  std::vector<uint32_t> order, places;
  if (a->way == Way::Permutations) {
    const Tuple& state = state_of(in, args[1], 2, 2);
    for (uint32_t i = 0; i < 2; ++i)
      if (!is_tuple(state[i]))
        throw_error(ErrorKind::TypeError, "argument %u must be tuple, not %s", i + 1, std::string(type_name(in, state[i])).c_str());
    const auto all = static_cast<int64_t>(pool_of(a, 0).size);
    if (as_tuple(state[1])->size != r) throw Error(ErrorKind::ValueError, "invalid arguments");
    order = numbers_of(in, state[0], static_cast<size_t>(all), 0, [&](size_t) { return all - 1; });
    places = numbers_of(in, state[1], r, 1, [&](size_t i) { return all - static_cast<int64_t>(i); });
  } else {
    places = numbers_of(in, args[1], r, 0, [&](size_t i) -> int64_t {
      const int64_t n = pool_of(a, a->way == Way::Product ? i : 0).size;
      return a->way == Way::Combinations ? static_cast<int64_t>(i) + n - static_cast<int64_t>(r) : n - 1;
    });
  }
  if (a->finished) return Value::none();
  if (a->way == Way::Permutations) {
    a->turns = std::move(places);
    a->order = std::move(order);
    std::copy_n(a->order.begin(), r, a->at.begin());
  } else {
    a->at = std::move(places);
  }
  a->started = true;
  a->last = Value();
  return Value::none();
}

const NativeDef kArrangementMethods[] = {
    {"__reduce__(self)", arrangement_reduce, "Return state information for pickling."},
    {"__setstate__(self, state, /)", arrangement_set_state, "Set state information for unpickling."},
};

}  // namespace

void add_arrangements(Interpreter& in, Module& module) {
  const auto add = [&](const char* name, Make make, const char* doc) {
    Type* type = add_type<Arrangement>(in, module, name, make, next_answer, doc);
    type->slots.clear = clear_arrangement;
    in.add_methods(type, kArrangementMethods, std::size(kArrangementMethods));
  };
  add("product", make_product, "Every choice of one item from each iterable.");
  add("permutations", make_permutations, "Every order of r of the items.");
  add("combinations", make_combinations, "Every choice of r items, in their order.");
  add("combinations_with_replacement", make_replacement, "Every choice of r items that may repeat.");
}

}  // namespace tessera::stdlib::itertools

// _collections: deque, a ring of values.
#include <algorithm>

#include "lang/core/failure.h"
#include "lang/core/booking.h"
#include "lang/core/cycles.h"
#include "lang/core/make_object.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/objects/own_type.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes.h"
#include "lang/types/iterators.h"
#include "lang/types/number.h"
#include "lang/types/sequence.h"
#include "lang/types/setup.h"
#include "lang/types/types.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

constexpr int64_t kUnbounded = -1;

struct Deque : GcObject {
  std::vector<Value> ring;  // power of two places; Undefined where nothing is
  Booking booked;           // of the ring
  size_t head = 0, size = 0;
  int64_t maxlen = kUnbounded;
  uint64_t changes = 0;
  bool in_repr = false;

  Value& at(size_t i) { return ring[(head + i) & (ring.size() - 1)]; }
};

Deque* deque_of(const Value& v) { return object_cast<Deque>(v); }
Deque* self_of(const Args& args) { return deque_of(args[0]); }
constexpr char kDequeLayout[] = "collections.deque";
bool is_deque(const Value& v) { return has_layout(v, kDequeLayout); }

void grow(Deque* d) {
  const size_t places = std::max<size_t>(8, d->ring.size() * 2);
  d->booked.set(d->type->owner->heap, places * sizeof(Value));
  std::vector<Value> wider(places);
  for (size_t i = 0; i < d->size; ++i) wider[i] = std::move(d->at(i));
  d->ring.swap(wider);
  d->head = 0;
}

inline Value take_front(Deque* d) {
  Value v = std::move(d->at(0));
  d->head = (d->head + 1) & (d->ring.size() - 1);
  --d->size;
  ++d->changes;
  return v;
}

inline Value take_back(Deque* d) {
  Value v = std::move(d->at(d->size - 1));
  --d->size;
  ++d->changes;
  return v;
}

void push_back(Deque* d, Value v) {
  if (d->maxlen == 0) return;
  Value dropped;
  if (d->maxlen != kUnbounded && d->size == static_cast<size_t>(d->maxlen)) dropped = take_front(d);
  if (d->size == d->ring.size()) grow(d);
  d->at(d->size) = std::move(v);
  ++d->size;
  ++d->changes;
}

void push_front(Deque* d, Value v) {
  if (d->maxlen == 0) return;
  Value dropped;
  if (d->maxlen != kUnbounded && d->size == static_cast<size_t>(d->maxlen)) dropped = take_back(d);
  if (d->size == d->ring.size()) grow(d);
  d->head = (d->head + d->ring.size() - 1) & (d->ring.size() - 1);
  d->at(0) = std::move(v);
  ++d->size;
  ++d->changes;
}

// Items are let go only after the deque is whole again: their destruction can run scripts.
void empty(Deque* d) {
  std::vector<Value> old;
  old.swap(d->ring);
  d->booked.set(d->type->owner->heap, 0);
  d->head = d->size = 0;
  ++d->changes;
}

std::vector<Value> snapshot(Deque* d) {
  d->type->owner->heap.expect(d->size * sizeof(Value));
  std::vector<Value> items;
  items.reserve(d->size);
  for (size_t i = 0; i < d->size; ++i) items.push_back(d->at(i));
  return items;
}

void extend_from(Interpreter& in, Deque* d, const Value& iterable, bool left) {
  if (iterable.is_object() && iterable.as_object() == d) {
    for (Value& v : snapshot(d)) left ? push_front(d, v) : push_back(d, v);
    return;
  }
  for_each(in, iterable, [&](Value v) { left ? push_front(d, std::move(v)) : push_back(d, std::move(v)); });
}

// --- making ---

void initialise(Interpreter& in, Deque* d, const Value* iterable, const Value* maxlen) {
  empty(d);
  d->maxlen = kUnbounded;
  if (maxlen != nullptr && !maxlen->is_none()) {
    if (!is_whole(unboxed(*maxlen))) throw Error(ErrorKind::TypeError, "an integer is required");
    d->maxlen = int_argument(in, *maxlen);
    if (d->maxlen < 0) throw Error(ErrorKind::ValueError, "maxlen must be non-negative");
  }
  if (iterable != nullptr) extend_from(in, d, *iterable, false);
}

Value make_deque(Interpreter& in, Type* type, const Args& args) {
  Deque* d = make_object<Deque>(in, type);
  Value made = Value::adopt(d);
  if (has_script_init(in, type)) return made;
  if (args.positional() > 2) {
    throw_error(ErrorKind::TypeError, "deque() takes at most 2 arguments (%u given)", args.count);
  }
  check_keywords(args, "deque", {"iterable", "maxlen"}, 0);
  initialise(in, d, make_argument(args, 0, "iterable"), make_argument(args, 1, "maxlen"));
  return made;
}

Value deque_init(Interpreter& in, const Args& args) {
  initialise(in, self_of(args), args[1].is_undefined() ? nullptr : &args[1], &args[2]);
  return Value::none();
}

Value new_like(Interpreter& in, Deque* like) {
  Deque* d = make_object<Deque>(in, like->type);
  Value made = Value::adopt(d);
  d->maxlen = like->maxlen;
  return made;
}

// --- slots ---

void destroy_deque(Interpreter& in, Object* self) { free_object(in, known_cast<Deque>(self)); }

void traverse_deque(Object* self, Visitor& visitor) {
  for (Value& v : known_cast<Deque>(self)->ring) visitor(v);
}

void clear_deque(Interpreter&, Object* self) { empty(known_cast<Deque>(self)); }

int64_t deque_length(Interpreter&, const Value& self) { return static_cast<int64_t>(deque_of(self)->size); }

size_t checked_index(Interpreter& in, Deque* d, const Value& key) {
  int64_t i = key.is_int() ? key.as_int() : index_sized(in, key, ErrorKind::IndexError);
  if (i < 0) i += static_cast<int64_t>(d->size);
  if (i < 0 || i >= static_cast<int64_t>(d->size)) throw Error(ErrorKind::IndexError, "deque index out of range");
  return static_cast<size_t>(i);
}

void check_key(Interpreter& in, const Value& key) {
  if (key.is_int() || key.is_bool() || !type_lookup(type_of(in, key), in.names->index).is_undefined()) return;
  throw_error(ErrorKind::TypeError, "sequence index must be integer, not '%s'",
              std::string(type_name(in, key)).c_str());
}

Value deque_get(Interpreter& in, const Value& self, const Value& key) {
  check_key(in, key);
  return deque_of(self)->at(checked_index(in, deque_of(self), key));
}

void deque_set(Interpreter& in, const Value& self, const Value& key, const Value& value) {
  check_key(in, key);
  deque_of(self)->at(checked_index(in, deque_of(self), key)) = value;
}

Value remove_at(Deque* d, size_t i) {
  Value gone = std::move(d->at(i));
  for (size_t k = i; k + 1 < d->size; ++k) d->at(k) = std::move(d->at(k + 1));
  --d->size;
  ++d->changes;
  return gone;
}

void deque_del(Interpreter& in, const Value& self, const Value& key) {
  check_key(in, key);
  const Value gone = remove_at(deque_of(self), checked_index(in, deque_of(self), key));
}

// The special methods convert what the operators refuse in words of their own.
Value deque_getitem(Interpreter& in, const Args& args) { return deque_get(in, args[0], Value::integer(index_sized(in, args[1], ErrorKind::OverflowError))); }
Value deque_setitem(Interpreter& in, const Args& args) {
  deque_set(in, args[0], Value::integer(index_sized(in, args[1], ErrorKind::OverflowError)), args[2]);
  return Value::none();
}
Value deque_delitem(Interpreter& in, const Args& args) {
  deque_del(in, args[0], Value::integer(index_sized(in, args[1], ErrorKind::OverflowError)));
  return Value::none();
}

const NativeDef kItemMethods[] = {
    {"__getitem__(self, key, /)", deque_getitem, ""},
    {"__setitem__(self, key, value, /)", deque_setitem, ""},
    {"__delitem__(self, key, /)", deque_delitem, ""},
};

int64_t find(Interpreter& in, Deque* d, const Value& item, size_t from, size_t to) {
  const uint64_t changes = d->changes;
  for (size_t i = from; i < std::min(to, d->size); ++i) {
    const Value current = d->at(i);
    const bool same = equals(in, current, item);
    if (d->changes != changes) throw Error(ErrorKind::RuntimeError, "deque mutated during iteration");
    if (same) return static_cast<int64_t>(i);
  }
  return -1;
}

bool deque_contains(Interpreter& in, const Value& self, const Value& item) {
  return find(in, deque_of(self), item, 0, SIZE_MAX) >= 0;
}

struct DequeIterator : GcObject {
  Value deque;
  size_t left = 0;
  uint64_t changes = 0;
  bool reversed = false;
};

Value make_iterator(Interpreter& in, Type* type, const Value& deque, bool reversed) {
  DequeIterator* it = make_object<DequeIterator>(in, type);
  Value made = Value::adopt(it);
  it->deque = deque;
  it->left = deque_of(deque)->size;
  it->changes = deque_of(deque)->changes;
  it->reversed = reversed;
  return made;
}

bool iterator_step(Interpreter&, const Value& self, Value& out) {
  DequeIterator* it = object_cast<DequeIterator>(self);
  if (it->deque.is_undefined()) return false;
  Deque* d = deque_of(it->deque);
  if (it->reversed && it->left == 0) return false;
  if (d->changes != it->changes) {
    it->left = 0;
    throw Error(ErrorKind::RuntimeError, "deque mutated during iteration");
  }
  if (it->left == 0) return false;
  out = d->at(it->reversed ? it->left - 1 : d->size - it->left);
  --it->left;
  return true;
}

void destroy_iterator(Interpreter& in, Object* self) { free_object(in, known_cast<DequeIterator>(self)); }
void traverse_iterator(Object* self, Visitor& visitor) { visitor(known_cast<DequeIterator>(self)->deque); }
void clear_iterator(Interpreter&, Object* self) { known_cast<DequeIterator>(self)->deque = Value(); }
Value iterator_self(Interpreter&, const Value& self) { return self; }
Value iterator_hint(Interpreter&, const Args& args) {
  return Value::integer(static_cast<int64_t>(object_cast<DequeIterator>(args[0])->left));
}
// _deque_iterator(deque, index=0), which takes no notice of keywords.
template <bool reversed>
Value new_iterator(Interpreter& in, Type* type, const Args& args) {
  const uint32_t given = args.positional();
  if (given < 1 || given > 2)
    throw_error(ErrorKind::TypeError, "function takes at %s %u argument%s (%u given)", given < 1 ? "least" : "most", given < 1 ? 1u : 2u,
                given < 1 ? "" : "s", given);
  const Value deque = args[0];
  if (!is_deque(deque))
    throw_error(ErrorKind::TypeError, "argument 1 must be collections.deque, not %s", std::string(type_name(in, deque)).c_str());
  const int64_t index = given > 1 ? int_argument(in, args[1]) : 0;
  const Value made = make_iterator(in, type, deque, reversed);
  size_t& left = object_cast<DequeIterator>(made)->left;
  left -= static_cast<size_t>(std::clamp<int64_t>(index, 0, static_cast<int64_t>(left)));
  return made;
}

Value iterator_reduce(Interpreter& in, const Args& args) {
  const DequeIterator* const it = object_cast<DequeIterator>(args[0]);
  const Value deque = it->deque;
  const int64_t index = static_cast<int64_t>(deque_of(deque)->size) - static_cast<int64_t>(it->left);
  return make_tuple(in, {Value(it->type), make_tuple(in, {deque, Value::integer(index)})});
}

constexpr NativeDef kIteratorMethods[] = {{"__length_hint__(self, /)", iterator_hint},
                                          {"__reduce__(self)", iterator_reduce, "Return state information for pickling."}};

// The iterator's type is found through the deque type's own `_iterator` attribute.
Value deque_iter(Interpreter& in, const Value& self) {
  const Value& type = type_lookup(self.as_object()->type, intern(in, "_iterator"));
  return make_iterator(in, own_type(type, layout_of<DequeIterator>, "deque._iterator"), self, false);
}

Value deque_reversed(Interpreter& in, const Args& args) {
  const Value& type = type_lookup(args[0].as_object()->type, intern(in, "_reverse_iterator"));
  return make_iterator(in, own_type(type, layout_of<DequeIterator>, "deque._reverse_iterator"), args[0], true);
}

Value deque_repr(Interpreter& in, const Value& self) {
  Deque* d = deque_of(self);
  if (d->in_repr) return make_str(in, "[...]");
  d->in_repr = true;
  struct Leave {
    Deque* d;
    ~Leave() { d->in_repr = false; }
  } leave{d};
  std::string text = std::string(d->type->name->view()) + "([";
  bool first = true;
  for (const Value& v : snapshot(d)) {
    if (!first) text += ", ";
    first = false;
    text += repr_text(in, v);
  }
  text += "]";
  if (d->maxlen != kUnbounded) text += ", maxlen=" + std::to_string(d->maxlen);
  return make_str(in, text + ")");
}

Value deque_compare(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  if (!is_deque(other)) return in.not_implemented;
  const std::vector<Value> a = snapshot(deque_of(self)), b = snapshot(deque_of(other));
  const bool equality = op == CompareOp::Eq || op == CompareOp::Ne;
  if (equality && a.size() != b.size()) return Value::boolean(op == CompareOp::Ne);
  const RecursionGuard guard(in, " in comparison");
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (equals(in, a[i], b[i])) continue;
    if (equality) return Value::boolean(op == CompareOp::Ne);
    return compare(in, op, a[i], b[i]);
  }
  switch (op) {
    case CompareOp::Lt: return Value::boolean(a.size() < b.size());
    case CompareOp::Le: return Value::boolean(a.size() <= b.size());
    case CompareOp::Eq: return Value::boolean(true);
    case CompareOp::Ne: return Value::boolean(false);
    case CompareOp::Gt: return Value::boolean(a.size() > b.size());
    default: return Value::boolean(a.size() >= b.size());
  }
}

void repeat_into(Interpreter& in, Deque* d, int64_t times) {
  const std::vector<Value> items = snapshot(d);
  if (times <= 0) empty(d);
  for (int64_t i = 1; i < times && !items.empty(); ++i) {
    in.poll(static_cast<int64_t>(items.size()));
    for (const Value& v : items) push_back(d, v);
  }
}

Value copy_of(Interpreter& in, const Value& self) {
  Value made = new_like(in, deque_of(self));
  for (Value& v : snapshot(deque_of(self))) push_back(deque_of(made), std::move(v));
  return made;
}

Value deque_binary(Interpreter& in, BinaryOp op, const Value& self, const Value& other, bool reflected, uint8_t) {
  if (op == BinaryOp::Add && !reflected) {
    if (!is_deque(other)) {
      throw_error(ErrorKind::TypeError, "can only concatenate deque (not \"%s\") to deque",
                  std::string(type_name(in, other)).c_str());
    }
    Value made = copy_of(in, self);
    extend_from(in, deque_of(made), other, false);
    return made;
  }
  int64_t times;
  if (op == BinaryOp::Mul && repetition_count(in, other, times)) {
    Value made = copy_of(in, self);
    repeat_into(in, deque_of(made), times);
    return made;
  }
  if (op == BinaryOp::Mul && is_last_to_repeat(in, other, reflected)) throw_cannot_repeat(in, other);
  return in.not_implemented;
}

Value deque_inplace(Interpreter& in, BinaryOp op, const Value& self, const Value& other) {
  if (op == BinaryOp::Add) {
    extend_from(in, deque_of(self), other, false);
    return self;
  }
  int64_t times;
  if (op == BinaryOp::Mul && repetition_count(in, other, times)) {
    repeat_into(in, deque_of(self), times);
    return self;
  }
  return in.not_implemented;
}

// --- methods ---

Value deque_append(Interpreter&, const Args& args) {
  push_back(self_of(args), args[1]);
  return Value::none();
}

Value deque_appendleft(Interpreter&, const Args& args) {
  push_front(self_of(args), args[1]);
  return Value::none();
}

Value deque_pop(Interpreter& in, const Args& args) {
  if (self_of(args)->size == 0) return failure(in, Error(ErrorKind::IndexError, "pop from an empty deque"));
  return take_back(self_of(args));
}

Value deque_popleft(Interpreter& in, const Args& args) {
  if (self_of(args)->size == 0) return failure(in, Error(ErrorKind::IndexError, "pop from an empty deque"));
  return take_front(self_of(args));
}

bool short_append(Interpreter&, Value* args, Value& answer) {
  Deque* const d = deque_of(args[0]);
  const size_t places = d->ring.size(), size = d->size;
  if (d->maxlen != kUnbounded || size == places) [[unlikely]] {
    push_back(d, std::move(args[1]));
  } else {
    new (d->ring.data() + ((d->head + size) & (places - 1))) Value(std::move(args[1]));  // an empty place
    d->size = size + 1;
    ++d->changes;
  }
  answer = Value::none();
  return true;
}

bool short_append_left(Interpreter&, Value* args, Value& answer) {
  push_front(deque_of(args[0]), std::move(args[1]));
  answer = Value::none();
  return true;
}

template <bool kFront>
bool short_take(Interpreter&, Value* args, Value& answer) {
  Deque* const d = deque_of(args[0]);
  const size_t size = d->size;
  if (size == 0) return false;
  const size_t mask = d->ring.size() - 1, head = d->head;
  if (kFront) d->head = (head + 1) & mask;
  d->size = size - 1;
  ++d->changes;
  answer = std::move(d->ring.data()[(kFront ? head : head + size - 1) & mask]);  // last: the deque may end with the register's old value
  return true;
}

Value deque_extend(Interpreter& in, const Args& args) {
  extend_from(in, self_of(args), args[1], false);
  return Value::none();
}

Value deque_extendleft(Interpreter& in, const Args& args) {
  extend_from(in, self_of(args), args[1], true);
  return Value::none();
}

Value deque_clear(Interpreter&, const Args& args) {
  empty(self_of(args));
  return Value::none();
}

Value deque_copy(Interpreter& in, const Args& args) { return copy_of(in, args[0]); }

Value deque_count(Interpreter& in, const Args& args) {
  Deque* d = self_of(args);
  int64_t count = 0;
  for (int64_t at = find(in, d, args[1], 0, SIZE_MAX); at >= 0;
       at = find(in, d, args[1], static_cast<size_t>(at) + 1, SIZE_MAX))
    ++count;
  return Value::integer(count);
}

size_t clamp_index(int64_t i, size_t size) {
  if (i < 0) i = std::max<int64_t>(0, i + static_cast<int64_t>(size));
  return static_cast<size_t>(std::min<int64_t>(i, static_cast<int64_t>(size)));
}

size_t slice_bound(Interpreter& in, const Value& v, size_t size, size_t otherwise) {
  if (v.is_undefined()) return otherwise;
  if (!is_index(in, v)) throw Error(ErrorKind::TypeError, "slice indices must be integers or have an __index__ method");
  const Value whole = whole_index(in, v);
  return clamp_index(!is_big_int(whole) ? whole.as_int() : whole_sign(whole) < 0 ? INT64_MIN : INT64_MAX, size);
}

Value deque_index(Interpreter& in, const Args& args) {
  Deque* d = self_of(args);
  const size_t start = slice_bound(in, args[2], d->size, 0), stop = slice_bound(in, args[3], d->size, d->size);
  const int64_t at = find(in, d, args[1], start, stop);
  if (at < 0) throw_error(ErrorKind::ValueError, "%s is not in deque", repr_text(in, args[1]).c_str());
  return Value::integer(at);
}

Value deque_insert(Interpreter& in, const Args& args) {
  Deque* d = self_of(args);
  const int64_t place = int_argument(in, args[1]);
  if (d->maxlen != kUnbounded && d->size >= static_cast<size_t>(d->maxlen)) {
    throw Error(ErrorKind::IndexError, "deque already at its maximum size");
  }
  const size_t at = clamp_index(place, d->size);
  push_back(d, args[2]);
  for (size_t i = d->size - 1; i > at; --i) std::swap(d->at(i), d->at(i - 1));
  return Value::none();
}

Value deque_remove(Interpreter& in, const Args& args) {
  Deque* d = self_of(args);
  int64_t at = -1;
  try {
    at = find(in, d, args[1], 0, SIZE_MAX);
  } catch (const Error& error) {
    if (error.kind != ErrorKind::RuntimeError) throw;
    throw Error(ErrorKind::IndexError, "deque mutated during iteration");
  }
  if (at < 0) throw_error(ErrorKind::ValueError, "%s is not in deque", repr_text(in, args[1]).c_str());
  const Value gone = remove_at(d, static_cast<size_t>(at));
  return Value::none();
}

Value deque_reverse(Interpreter&, const Args& args) {
  Deque* d = self_of(args);
  for (size_t i = 0; i < d->size / 2; ++i) std::swap(d->at(i), d->at(d->size - 1 - i));
  ++d->changes;
  return Value::none();
}

Value deque_rotate(Interpreter& in, const Args& args) {
  Deque* d = self_of(args);
  int64_t n = int_argument(in, args[1]);
  if (d->size < 2) return Value::none();
  const int64_t size = static_cast<int64_t>(d->size);
  n %= size;
  if (n < 0) n += size;
  if (n * 2 <= size) {
    for (; n > 0; --n) push_front(d, take_back(d));
  } else {
    for (n = size - n; n > 0; --n) push_back(d, take_front(d));
  }
  return Value::none();
}

Value deque_maxlen(Interpreter&, const Args& args) {
  return self_of(args)->maxlen == kUnbounded ? Value::none() : Value::integer(self_of(args)->maxlen);
}

// For copy: the class, its arguments, the instance's own attributes, and the items.
Value deque_reduce(Interpreter& in, const Args& args) {
  const Deque* d = self_of(args);
  const Value empty = make_tuple(in, {});
  const Value arguments = d->maxlen == kUnbounded ? empty : make_tuple(in, {empty, Value::integer(d->maxlen)});
  const Value state = call(in, get_attr(in, args[0], intern(in, "__getstate__")), {});
  return make_tuple(in, {Value(d->type), arguments, state, iter(in, args[0])});
}

const NativeDef kMethods[] = {
    {"__reduce__(self)", deque_reduce},
    {"__init__(self, iterable=..., maxlen=None)", deque_init},
    {"append(self, x, /)", deque_append, "Add at the right end.", {short_append, 2}},
    {"appendleft(self, x, /)", deque_appendleft, "Add at the left end.", {short_append_left, 2}},
    {"pop(self)", deque_pop, "Take from the right end.", {short_take<false>, 1}},
    {"popleft(self)", deque_popleft, "Take from the left end.", {short_take<true>, 1}},
    {"extend(self, iterable, /)", deque_extend, "Add many at the right end."},
    {"extendleft(self, iterable, /)", deque_extendleft, "Add many at the left end, one after the other."},
    {"clear(self)", deque_clear, "Remove everything."},
    {"copy(self)", deque_copy, "A shallow copy."},
    {"__copy__(self)", deque_copy},
    {"count(self, x, /)", deque_count, "How many items equal x."},
    {"index(self, x, start=..., stop=..., /)", deque_index, "Where x is."},
    {"insert(self, i, x, /)", deque_insert, "Put x before position i."},
    {"remove(self, x, /)", deque_remove, "Remove the first x."},
    {"reverse(self)", deque_reverse, "Turn around in place."},
    {"rotate(self, n=1, /)", deque_rotate, "Move n items from the right end to the left."},
    {"__reversed__(self)", deque_reversed},
};

Type* make_iterator_type(Interpreter& in, bool reversed) {
  NativeTypeSpec spec;
  spec.name = reversed ? "_deque_reverse_iterator" : "_deque_iterator";
  spec.module = "_collections";
  spec.size = sizeof(DequeIterator);
  spec.flags = kFinalType;
  Type* type = in.new_type(spec);
  type->slots.layout = layout_of<DequeIterator>;
  type->slots.destroy = destroy_iterator;
  type->slots.traverse = traverse_iterator;
  type->slots.clear = clear_iterator;
  type->slots.iter = iterator_self;
  type->slots.next = iterator_step;
  type->make = reversed ? new_iterator<true> : new_iterator<false>;
  in.add_methods(type, kIteratorMethods, std::size(kIteratorMethods));
  slot_methods(in, type);
  return type;
}

}  // namespace

void fill_collections(Interpreter& in, Module& module) {
  NativeTypeSpec spec;
  spec.name = "deque";
  spec.module = "collections";
  spec.size = sizeof(Deque);
  spec.doc = "A list that is fast at both ends.";
  Type* type = in.new_type(spec);
  type->type_flags |= kMatchesSequence | kItemsByPosition;
  TypeSlots& slots = type->slots;
  slots.layout = kDequeLayout;
  slots.destroy = destroy_deque;
  slots.traverse = traverse_deque;
  slots.clear = clear_deque;
  slots.repr = deque_repr;
  slots.hash = nullptr;
  slots.length = deque_length;
  slots.compare = deque_compare;
  slots.binary = deque_binary;
  slots.inplace = deque_inplace;
  slots.get_item = deque_get;
  slots.set_item = deque_set;
  slots.del_item = deque_del;
  slots.contains = deque_contains;
  slots.iter = deque_iter;
  type->make = make_deque;
  in.add_methods(type, kMethods, std::size(kMethods));
  in.add_property(type, "maxlen", deque_maxlen);
  slot_methods(in, type);
  in.add_methods(type, kItemMethods, std::size(kItemMethods));
  in.add_methods(type, &kClassGetItem, 1);
  operator_methods(in, type, 1u << static_cast<int>(BinaryOp::Add) | 1u << static_cast<int>(BinaryOp::Mul));
  for (const bool reversed : {false, true}) {
    const Value iterator(make_iterator_type(in, reversed));
    dict_set_str(in, type->attributes(), intern(in, reversed ? "_reverse_iterator" : "_iterator"), iterator);
    set_member(in, module, reversed ? "_deque_reverse_iterator" : "_deque_iterator", iterator);
  }
  set_member(in, module, "deque", Value(type));
  add_named_tuple(in, module);
  add_counting(in, module);
}

}  // namespace tessera::stdlib

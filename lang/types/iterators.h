// Native iterators. The virtual machine steps through list, tuple, range, str and dict iterators itself, by kind.
#pragma once

#include <cstdint>
#include <utility>

#include "lang/core/make_object.h"
#include "lang/core/object.h"
#include "lang/core/value.h"
#include "lang/types/list.h"
#include "lang/types/types.h"

namespace tessera::lang {

// Stands in Object::aux of every iterator, so that the loop can switch on it.
enum class IteratorKind : uint16_t {
  Other,     // asks type->slots.next
  List,      // SequenceIterator
  Tuple,     // SequenceIterator
  Str,       // SequenceIterator; index counts bytes
  Range,     // RangeIterator
  DictKeys,  // DictIterator
  DictValues,
  DictItems,
  Set,        // SetIterator
  Enumerate,  // EnumerateIterator
  Zip,
  Map,
  Filter,
  Reversed,
  Sequence,  // by __getitem__ with 0, 1, 2 …
  Callable,  // iter(f, sentinel)
};

struct SequenceIterator : GcObject {
  Value sequence;  // Undefined: exhausted
  uint32_t index = 0;
};

struct RangeIterator : Object {
  int64_t next = 0, step = 1;
  uint64_t left = 0;
};

// The next item of the commonest iterators, inline. `out` comes last: dropping its old value may run a script.
inline bool next_of_range(RangeIterator* it, Value& out) {
  if (it->left == 0) return false;
  const int64_t item = it->next;
  if (--it->left != 0) it->next += it->step;
  out.set_int(item);
  return true;
}
inline bool next_of_list(SequenceIterator* it, Value& out) {
  if (it->sequence.is_undefined()) return false;
  const List* const list = as_list(it->sequence);
  if (it->index >= list->size) return false;
  out = list->items[it->index++];
  return true;
}
// Returns false if it has done nothing: the iterator is of another type, or at its end. It is no step of the program.
inline bool next_at_once(Interpreter& in, const Value& iterator, Value& out) {
  Object* const object = iterator.as_object();
  if (object->type == in.types.range_iterator) return next_of_range(known_cast<RangeIterator>(object), out);
  return object->type == in.types.list_iterator && next_of_list(known_cast<SequenceIterator>(object), out);
}

struct DictIterator : GcObject {
  Value dict;             // Undefined: exhausted
  uint32_t index = 0;     // of the next entry; counts down when reversed
  uint32_t expected = 0;  // the dict's count at the start: "dictionary changed size during iteration"
  uint32_t left = 0;      // how many are still to come: "dictionary keys changed during iteration"
  bool reversed = false;
  Value last;  // of items(): see recycled_tuple
};

struct SetIterator : GcObject {
  Value set;
  uint32_t index = 0;
  uint32_t expected = 0;
};

struct EnumerateIterator : GcObject {
  Value iterator;
  Value last;  // see recycled_tuple
  int64_t count = 0;
  Value far;  // the number of the next item instead of `count`, once it is beyond 64 bits
};
Value next_number(Interpreter& in, EnumerateIterator* it);  // of the item that is handed out now

struct CallableIterator : GcObject {
  Value function, sentinel;  // function Undefined: exhausted
};

// The next item of an iterator over pairs (items() of a dict, enumerate), without a tuple: for loops that unpack it. `type` is
// that of the iterator. Returns false at the end.
inline bool is_over_pairs(const BuiltinTypes& types, const Type* type) {
  return type == types.dict_item_iterator || type == types.enumerate;
}
bool next_pair(Interpreter& in, const Value& iterator, Value* pair);

// __reduce__ and __setstate__ of the iterators above (iterator_state.cpp).
void add_iterator_state(Interpreter& in, Type* type);

// Note [Stop values]. A `next` slot returns false at the end, so the value of the StopIteration (a generator's return value)
// travels beside it, together with the iterator that it belongs to. An iterator that ends because its source has ended
// passes the value on as its own; `next()`, `__next__` and `yield from` clear it before the step and put it into the
// StopIteration that they make. A StopIteration that a function raised (`next(map(f, x))`) is raised again by `next()` and
// `__next__`, with its traceback: for the time of a WantedStop the exception is kept in place of its value.
void keep_stop_value(Interpreter& in, const Value& iterator, const Value& value);
Value take_stop_value(Interpreter& in, const Value& iterator);  // Undefined: none
inline void clear_stop_value(Interpreter& in) { in.shared->stopped = nullptr; }
void raise_kept_stop(Interpreter& in, const Value& iterator);  // throws the StopIteration that ended the iterator, if one is kept
class WantedStop {
 public:
  explicit WantedStop(Interpreter& in) noexcept : shared_(*in.shared), before_(std::exchange(in.shared->stop_is_wanted, true)) {
    shared_.stopped = nullptr;
  }
  ~WantedStop() {
    shared_.stop_is_wanted = before_;
    if (std::exchange(shared_.stop_is_raised, false)) const Value gone = std::move(shared_.stop_value);
  }
  WantedStop(const WantedStop&) = delete;
  WantedStop& operator=(const WantedStop&) = delete;

 private:
  SharedObjects& shared_;
  const bool before_;
};
bool pass_stop_value(Interpreter& in, const Value& from, const Value& to);  // returns false, as `next` slots do
// Ends the iterator if the exception, of a function that it has called, is a StopIteration; throws any other. Returns false.
bool stopped_by(Interpreter& in, const Value& iterator, const Value& exception);

// The position that __setstate__ of an iterator is given: an int, not an object with __index__.
int64_t iterator_position(Interpreter& in, const Value& state);

// Whether iter() may be asked at all; no method of the object runs.
bool is_iterable(Interpreter& in, const Value& value);

// Each answers a fresh iterator; they are the `iter` slots of the types.
Value list_iter(Interpreter& in, const Value& self);
Value list_reversed(Interpreter& in, const Value& self);
Value tuple_iter(Interpreter& in, const Value& self);
Value str_iter(Interpreter& in, const Value& self);
Value range_iter(Interpreter& in, const Value& self);
Value range_iter_of(Interpreter& in, int64_t start, int64_t step, int64_t length);
Value set_iter(Interpreter& in, const Value& self);
Value dict_iter_of(Interpreter& in, const Value& dict, IteratorKind kind, bool reversed = false);
Value index_iter(Interpreter& in, const Value& self);  // by __getitem__
// Whether iter() raises no TypeError, which CPython replaces by words of its own where an argument may be iterable; asked of objects of classes alone.
bool may_iterate(Interpreter& in, const Value& value, Value* iterator = nullptr);
// The iterator of an object of a class, whose length CPython asks for in join(), or the value itself.
Value iterable_to_join(Interpreter& in, const Value& value);
Value callable_iter(Interpreter& in, const Value& function, const Value& sentinel);

// One step of any iterator that `iter` gives, without a look at generators (vm has its own way for those).
bool iterator_next(Interpreter& in, const Value& iterator, Value& out);

}  // namespace tessera::lang

// The native iterators: lists, tuples, strings, ranges, dicts, sets, __getitem__ sequences, iter(f, sentinel).
#include "lang/types/iterators.h"

#include "lang/core/failure.h"
#include "lang/objects/class_slots.h"
#include "lang/vm/vm.h"
#include "lang/core/error.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/objects/class.h"
#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/types/big_range.h"
#include "lang/types/bytes.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/range.h"
#include "lang/types/set.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"

namespace tessera::lang {
namespace {

template <class T>
T* start_iterator(Interpreter& in, Type* type, IteratorKind kind) {
  T* it = make_object<T>(in, type);
  it->aux = static_cast<uint16_t>(kind);
  return it;
}

Value sequence_iterator(Interpreter& in, Type* type, IteratorKind kind, const Value& sequence) {
  if (type->structure == nullptr) [[unlikely]] {
    SequenceIterator* it = start_iterator<SequenceIterator>(in, type, kind);
    it->sequence = sequence;
    return Value::adopt(it);
  }
  // Of a type that has made one, everything is known; loops over a class's own sequences make many.
  in.collector().make_room();
  auto* const it = new (in.heap.allocate(sizeof(SequenceIterator))) SequenceIterator;
  it->refcount = 1;
  it->kind = ObjectKind::Iterator;
  it->flags = 0;
  it->aux = static_cast<uint16_t>(kind);
  it->type = type;
  it->sequence = sequence;
  in.collector().track_in_room(it);
  return Value::adopt(it);
}

SequenceIterator* sequence_of(const Value& v) { return object_cast<SequenceIterator>(v); }
DictIterator* dict_iterator_of(const Value& v) { return object_cast<DictIterator>(v); }

bool finish(Value& held) {
  const Value gone = std::move(held);
  return false;
}

bool next_in_list(Interpreter&, const Value& self, Value& out) {
  SequenceIterator* it = sequence_of(self);
  return next_of_list(it, out) || finish(it->sequence);
}

bool next_in_list_reversed(Interpreter&, const Value& self, Value& out) {
  SequenceIterator* it = sequence_of(self);
  if (it->sequence.is_undefined()) return false;
  List* list = as_list(it->sequence);
  if (it->index == 0 || it->index > list->size) return finish(it->sequence);
  out = list->items[--it->index];
  return true;
}

bool next_in_tuple(Interpreter&, const Value& self, Value& out) {
  SequenceIterator* it = sequence_of(self);
  if (it->sequence.is_undefined()) return false;
  Tuple* tuple = as_tuple(it->sequence);
  if (it->index >= tuple->size) return finish(it->sequence);
  out = tuple->items[it->index++];
  return true;
}

bool next_in_str(Interpreter& in, const Value& self, Value& out) {
  SequenceIterator* it = sequence_of(self);
  if (it->sequence.is_undefined()) return false;
  Str* s = as_str(it->sequence);
  if (it->index >= s->size) return finish(it->sequence);
  const char* p = s->data + it->index;
  out = char_str(in, decode_char(p));
  it->index = static_cast<uint32_t>(p - s->data);
  return true;
}

bool next_in_range(Interpreter&, const Value& self, Value& out) {
  return next_of_range(object_cast<RangeIterator>(self), out);
}

// Past the usual way of next_entry.
[[gnu::noinline]] DictEntry* find_next_entry(DictIterator* it) {
  if (it->dict.is_undefined()) return nullptr;
  Dict* dict = as_dict(it->dict);
  if (it->expected != dict->count) {
    const bool ordered = !type_lookup(dict->type, intern(*dict->type->owner, "_view_prefix")).is_undefined();  // a class says so (dict_methods.cpp)
    if (ordered && it->left == 0) {  // an OrderedDict's iterator knows at the last key that it has ended
      finish(it->dict);
      return nullptr;
    }
    it->expected = ~0u;  // for good
    throw Error(ErrorKind::RuntimeError, ordered ? "OrderedDict mutated during iteration" : "dictionary changed size during iteration");
  }
  for (;;) {
    const uint32_t at = it->reversed ? it->index - 1 : it->index;
    if (at >= dict->used) {
      finish(it->dict);
      return nullptr;
    }
    it->index = it->reversed ? at : at + 1;
    if (dict->entries[at].key.is_undefined()) continue;
    if (it->left == 0) throw Error(ErrorKind::RuntimeError, "dictionary keys changed during iteration");
    --it->left;
    return dict->entries + at;
  }
}

// Finds the next live entry, forwards or backwards; null at the end.
inline DictEntry* next_entry(DictIterator* it) {
  if (!it->dict.is_undefined() && !it->reversed && it->left != 0) [[likely]] {
    const Dict* const dict = as_dict(it->dict);
    DictEntry* const entry = dict->entries + it->index;
    if (it->expected == dict->count && it->index < dict->used && !entry->key.is_undefined()) [[likely]] {
      ++it->index;
      --it->left;
      return entry;
    }
  }
  return find_next_entry(it);
}

bool next_key(Interpreter&, const Value& self, Value& out) {
  const DictEntry* entry = next_entry(dict_iterator_of(self));
  if (entry == nullptr) return false;
  out = entry->key;
  return true;
}

bool next_value(Interpreter&, const Value& self, Value& out) {
  const DictEntry* entry = next_entry(dict_iterator_of(self));
  if (entry == nullptr) return false;
  out = entry->value;
  return true;
}

bool next_item(Interpreter& in, const Value& self, Value& out) {
  DictIterator* it = dict_iterator_of(self);
  const DictEntry* entry = next_entry(it);
  if (entry == nullptr) return finish(it->last);
  Value key = entry->key, value = entry->value;
  out = recycled_tuple(in, it->last, 2);
  std::swap(as_tuple(out)->items[0], key);
  std::swap(as_tuple(out)->items[1], value);
  return true;
}

void set_pair(Value* pair, Value first, Value second) {
  pair[0] = std::move(first);
  pair[1] = std::move(second);
}

bool next_in_set(Interpreter&, const Value& self, Value& out) {
  SetIterator* it = object_cast<SetIterator>(self);
  if (it->set.is_undefined()) return false;
  Set* set = as_set(it->set);
  if (it->expected != set->count) {
    it->expected = ~0u;
    throw Error(ErrorKind::RuntimeError, "Set changed size during iteration");
  }
  while (set->table != nullptr && it->index <= set->mask && set->table[it->index].key.is_undefined()) ++it->index;
  if (set->table == nullptr || it->index > set->mask) return finish(it->set);
  out = set->table[it->index++].key;
  return true;
}

// An object with __getitem__ only: asks for 0, 1, 2 … until IndexError.
bool next_by_index(Interpreter& in, const Value& self, Value& out) {
  SequenceIterator* it = sequence_of(self);
  if (it->sequence.is_undefined()) return false;
  const Value sequence = it->sequence;
  try {
    Function* const method = special_function(in, sequence.as_object()->type, SpecialSlot::GetItem);
    const Value index = Value::integer(it->index);
    Value item = method == nullptr ? get_item(in, sequence, index)
                                   : in.vm().call_function_answer(method, sequence, Args{&index, 1});
    if (!is_failure(item)) [[likely]] {
      out = std::move(item);
      ++it->index;  // an error leaves the iterator at the item
      return true;
    }
    const Value exception = take_failure(item);
    if (!is_error(in, exception, ErrorKind::IndexError) && !is_error(in, exception, ErrorKind::StopIteration))
      throw Thrown(exception);
    return finish(it->sequence);
  } catch (const Error& error) {
    if (error.kind != ErrorKind::IndexError && error.kind != ErrorKind::StopIteration) throw;
  } catch (const Thrown& thrown) {
    if (!is_error(in, thrown.exception, ErrorKind::IndexError) &&
        !is_error(in, thrown.exception, ErrorKind::StopIteration)) {
      throw;
    }
  }
  return finish(it->sequence);
}

bool next_by_call(Interpreter& in, const Value& self, Value& out) {
  CallableIterator* it = object_cast<CallableIterator>(self);
  if (it->function.is_undefined()) return false;
  const Value function = it->function, sentinel = it->sentinel;
  Value result;
  try {
    result = call(in, function);
  } catch (const std::exception&) {
    const Value exception = current_native_exception(in);
    if (!is_error(in, exception, ErrorKind::StopIteration)) throw Thrown(exception);
    return finish(it->function);
  }
  if (equals(in, sentinel, result)) return finish(it->function);
  out = std::move(result);
  return true;
}

Value itself(Interpreter&, const Value& self) { return self; }

template <class T>
Type* iterator_type(Interpreter& in, const char* name, bool (*next)(Interpreter&, const Value&, Value&),
                    void (*traverse)(Object*, Visitor&) = nullptr) {
  NativeTypeSpec spec;
  spec.name = name;
  spec.module = "builtins";
  spec.kind = ObjectKind::Iterator;
  spec.size = sizeof(T);
  spec.flags = kFinalType;
  Type* type = in.new_type(spec);
  type->make = refuse_to_make;
  type->slots.destroy = destroy_plain<T>;
  type->slots.iter = itself;
  type->slots.next = next;
  type->slots.traverse = traverse;
  return type;
}

void traverse_sequence(Object* self, Visitor& visitor) { visitor(known_cast<SequenceIterator>(self)->sequence); }
void traverse_dict_iterator(Object* self, Visitor& visitor) {
  visitor(known_cast<DictIterator>(self)->dict);
  visitor(known_cast<DictIterator>(self)->last);
}
void traverse_set_iterator(Object* self, Visitor& visitor) { visitor(known_cast<SetIterator>(self)->set); }
void traverse_callable(Object* self, Visitor& visitor) {
  visitor(known_cast<CallableIterator>(self)->function);
  visitor(known_cast<CallableIterator>(self)->sentinel);
}

int64_t remaining_in_set(const SetIterator* it) {
  if (it->set.is_undefined() || it->expected != as_set(it->set)->count) return 0;
  const Set* set = as_set(it->set);
  int64_t n = 0;
  for (uint32_t i = it->index; set->table != nullptr && i <= set->mask; ++i) n += !set->table[i].key.is_undefined();
  return n;
}

int64_t remaining(Interpreter& in, const Value& self) {
  const IteratorKind kind = static_cast<IteratorKind>(self.as_object()->aux);
  switch (kind) {
    case IteratorKind::Range: return static_cast<int64_t>(object_cast<RangeIterator>(self)->left);
    case IteratorKind::DictKeys:
    case IteratorKind::DictValues:
    case IteratorKind::DictItems: {
      const DictIterator* it = dict_iterator_of(self);
      return it->dict.is_undefined() || it->expected != as_dict(it->dict)->count ? 0 : it->left;
    }
    case IteratorKind::Set: return remaining_in_set(object_cast<SetIterator>(self));
    case IteratorKind::List:
    case IteratorKind::Tuple:
    case IteratorKind::Str:
    case IteratorKind::Sequence:
    case IteratorKind::Reversed: {
      const SequenceIterator* it = sequence_of(self);
      if (it->sequence.is_undefined()) return 0;
      const int64_t size = length(in, it->sequence);
      if (kind == IteratorKind::Reversed) return it->index > size ? 0 : it->index;
      const int64_t done = kind == IteratorKind::Str ? char_index(as_str(it->sequence), it->index) : it->index;
      return size > done ? size - done : 0;
    }
    default: return 0;
  }
}

// A sequence without a length, which __getitem__ alone makes one, gives no estimate, nor does CPython's iterator of a memoryview.
bool has_no_length(Interpreter& in, const Value& self) {
  if (static_cast<IteratorKind>(self.as_object()->aux) != IteratorKind::Sequence) return false;
  const Value& sequence = sequence_of(self)->sequence;
  if (sequence.is_undefined()) return false;
  return is_memory_view(sequence) || type_lookup(type_of(in, sequence), in.names->len).is_undefined();
}

Value length_hint(Interpreter& in, const Args& args) {
  if (has_no_length(in, args[0])) return in.not_implemented;
  return Value::integer(remaining(in, args[0]));
}

constexpr NativeDef kHintRows[] = {
    {"__length_hint__(self, /)", length_hint, "Private method returning an estimate of len(list(it))."}};

void fill_iterator(Interpreter& in, Type* type) {
  slot_methods(in, type);
  if (type != in.types.callable_iterator) add_rows(in, type, kHintRows);
  add_iterator_state(in, type);
}

}  // namespace

Value list_iter(Interpreter& in, const Value& self) {
  return sequence_iterator(in, in.types.list_iterator, IteratorKind::List, self);
}
Value tuple_iter(Interpreter& in, const Value& self) {
  return sequence_iterator(in, in.types.tuple_iterator, IteratorKind::Tuple, self);
}
Value str_iter(Interpreter& in, const Value& self) {
  const bool compact = as_str(self)->is_ascii() && self.as_object()->type == in.types.str;
  Type* const type = compact ? in.shared->str_ascii_iterator : in.types.str_iterator;
  return sequence_iterator(in, type, IteratorKind::Str, self);
}
Value list_reversed(Interpreter& in, const Value& self) {
  Value it = sequence_iterator(in, in.types.list_reverse_iterator, IteratorKind::Reversed, self);
  sequence_of(it)->index = as_list(self)->size;
  return it;
}
bool may_iterate(Interpreter& in, const Value& value, Value* iterator) {
  if (!is_iterable(in, value)) return false;
  if (!value.is_object() || !(value.as_object()->type->type_flags & kScriptClass)) return true;
  try {
    Value made = iter(in, value);
    if (iterator != nullptr) *iterator = std::move(made);
    return true;
  } catch (const std::exception&) {
    if (!is_error(in, current_native_exception(in), ErrorKind::TypeError)) throw;
    return false;
  }
}

Value iterable_to_join(Interpreter& in, const Value& value) {
  Value iterator;
  if (!may_iterate(in, value, &iterator)) throw Error(ErrorKind::TypeError, "can only join an iterable");
  return iterator.is_undefined() ? value : iterator;
}

Value index_iter(Interpreter& in, const Value& self) {
  return sequence_iterator(in, in.types.iterator, IteratorKind::Sequence, self);
}
Value callable_iter(Interpreter& in, const Value& function, const Value& sentinel) {
  CallableIterator* it = start_iterator<CallableIterator>(in, in.types.callable_iterator, IteratorKind::Callable);
  it->function = function;
  it->sentinel = sentinel;
  return Value::adopt(it);
}

Value range_iter_of(Interpreter& in, int64_t start, int64_t step, int64_t length) {
  RangeIterator* it = start_iterator<RangeIterator>(in, in.types.range_iterator, IteratorKind::Range);
  it->next = start;
  it->step = step;
  it->left = static_cast<uint64_t>(length);
  return Value::adopt(it);
}

Value range_iter(Interpreter& in, const Value& self) {
  if (!is_range(self)) return big_range_iter(in, as_big_range(self)->parts);
  const Range* range = as_range(self);
  return range_iter_of(in, range->start, range->step, range->length);
}

Value dict_iter_of(Interpreter& in, const Value& dict, IteratorKind kind, bool reversed) {
  Type* type = reversed                           ? in.shared->dict_reverse_iterators[kind == IteratorKind::DictKeys ? 0 : kind == IteratorKind::DictValues ? 1 : 2]
               : kind == IteratorKind::DictKeys   ? in.types.dict_key_iterator
               : kind == IteratorKind::DictValues ? in.types.dict_value_iterator
                                                  : in.types.dict_item_iterator;
  DictIterator* it = start_iterator<DictIterator>(in, type, kind);
  it->dict = dict;
  it->expected = it->left = as_dict(dict)->count;
  it->reversed = reversed;
  if (reversed) it->index = as_dict(dict)->used;
  return Value::adopt(it);
}

Value set_iter(Interpreter& in, const Value& self) {
  SetIterator* it = start_iterator<SetIterator>(in, in.types.set_iterator, IteratorKind::Set);
  it->set = self;
  it->expected = as_set(self)->count;
  return Value::adopt(it);
}

void make_iterator_types(Interpreter& in) {
  BuiltinTypes& t = in.types;
  t.iterator = iterator_type<SequenceIterator>(in, "iterator", next_by_index, traverse_sequence);
  t.list_iterator = iterator_type<SequenceIterator>(in, "list_iterator", next_in_list, traverse_sequence);
  t.list_reverse_iterator =
      iterator_type<SequenceIterator>(in, "list_reverseiterator", next_in_list_reversed, traverse_sequence);
  t.tuple_iterator = iterator_type<SequenceIterator>(in, "tuple_iterator", next_in_tuple, traverse_sequence);
  t.str_iterator = iterator_type<SequenceIterator>(in, "str_iterator", next_in_str, traverse_sequence);
  t.range_iterator = iterator_type<RangeIterator>(in, "range_iterator", next_in_range);
  t.set_iterator = iterator_type<SetIterator>(in, "set_iterator", next_in_set, traverse_set_iterator);
  t.dict_key_iterator = iterator_type<DictIterator>(in, "dict_keyiterator", next_key, traverse_dict_iterator);
  t.dict_value_iterator = iterator_type<DictIterator>(in, "dict_valueiterator", next_value, traverse_dict_iterator);
  t.dict_item_iterator = iterator_type<DictIterator>(in, "dict_itemiterator", next_item, traverse_dict_iterator);
  Type** const backwards = in.shared->dict_reverse_iterators;
  backwards[0] = iterator_type<DictIterator>(in, "dict_reversekeyiterator", next_key, traverse_dict_iterator);
  backwards[1] = iterator_type<DictIterator>(in, "dict_reversevalueiterator", next_value, traverse_dict_iterator);
  backwards[2] = iterator_type<DictIterator>(in, "dict_reverseitemiterator", next_item, traverse_dict_iterator);
  in.shared->str_ascii_iterator = iterator_type<SequenceIterator>(in, "str_ascii_iterator", next_in_str, traverse_sequence);
  t.callable_iterator = iterator_type<CallableIterator>(in, "callable_iterator", next_by_call, traverse_callable);
  for (Type* type :
       {t.iterator, t.list_iterator, t.list_reverse_iterator, t.tuple_iterator, t.str_iterator, t.range_iterator,
        t.set_iterator, t.dict_key_iterator, t.dict_value_iterator, t.dict_item_iterator, t.callable_iterator,
        in.shared->str_ascii_iterator, backwards[0], backwards[1], backwards[2]})
    type->fill_later(fill_iterator);
}

bool next_pair(Interpreter& in, const Value& iterator, Value* pair) {
  if (iterator.as_object()->type == in.types.enumerate) {
    auto* const it = object_cast<EnumerateIterator>(iterator);
    Value item;
    if (!next_at_once(in, it->iterator, item) && !next(in, it->iterator, item))
      return pass_stop_value(in, it->iterator, iterator);
    set_pair(pair, next_number(in, it), std::move(item));
    return true;
  }
  in.poll();
  const DictEntry* const entry = next_entry(dict_iterator_of(iterator));
  if (entry == nullptr) return false;
  set_pair(pair, entry->key, entry->value);
  return true;
}

void keep_stop_value(Interpreter& in, const Value& iterator, const Value& value) {
  if (value.is_none() || value.is_undefined()) return clear_stop_value(in);
  in.shared->stopped = iterator.as_object();
  in.shared->stop_value = value;
  in.shared->stop_is_raised = false;
}

Value take_stop_value(Interpreter& in, const Value& iterator) {
  if (in.shared->stopped == nullptr || in.shared->stopped != iterator.as_object()) return Value();
  in.shared->stopped = nullptr;
  if (in.shared->stop_is_raised) return as_exception(in.shared->stop_value)->fields[0];
  return std::move(in.shared->stop_value);
}

void raise_kept_stop(Interpreter& in, const Value& iterator) {
  if (in.shared->stop_is_raised && in.shared->stopped == iterator.as_object()) throw Thrown(in.shared->stop_value);
}

bool pass_stop_value(Interpreter& in, const Value& from, const Value& to) {
  if (in.shared->stopped != nullptr && from.is_object() && in.shared->stopped == from.as_object())
    in.shared->stopped = to.as_object();
  return false;
}

bool stopped_by(Interpreter& in, const Value& iterator, const Value& exception) {
  if (!is_error(in, exception, ErrorKind::StopIteration)) throw Thrown(exception);
  if (in.shared->stop_is_wanted) {
    in.shared->stopped = iterator.as_object();
    in.shared->stop_value = exception;
    in.shared->stop_is_raised = true;
  } else {
    keep_stop_value(in, iterator, as_exception(exception)->fields[0]);
  }
  return false;
}

bool iterator_next(Interpreter& in, const Value& iterator, Value& out) {
  return iterator.as_object()->type->slots.next(in, iterator, out);
}

}  // namespace tessera::lang

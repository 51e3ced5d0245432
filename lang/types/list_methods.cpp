// Lists in operators, indexing and iteration, and their methods.
#include <algorithm>
#include <utility>

#include "lang/core/failure.h"
#include "lang/core/bind.h"
#include "lang/core/object_cast.h"
#include "lang/objects/class.h"
#include "lang/core/error.h"
#include "lang/core/names.h"
#include "lang/core/pieces.h"
#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/types/dict.h"
#include "lang/types/iterators.h"
#include "lang/types/few_items.h"
#include "lang/types/list.h"
#include "lang/types/range.h"
#include "lang/types/sequence.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"

namespace tessera::lang {


namespace {

Value repr_slot(Interpreter& in, const Value& self) {
  if (as_list(self)->size == 0) return make_str(in, "[]");
  const ReprMark mark(in, self.as_object());
  return make_str(in, mark.again() ? "[...]" : repr_items(in, self, "[", "]"));
}

int64_t length_slot(Interpreter&, const Value& self) { return as_list(self)->size; }

Value compare_slot(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  return is_list(other) ? compare_items(in, op, self, other) : in.not_implemented;
}

void check_size(uint64_t a, uint64_t b) {
  if (b != 0 && a > 0x7fffffffu / b) throw Error(ErrorKind::MemoryError, std::string());
}

// The items that are there, again and again until there are so many.
void repeat_items(Interpreter& in, List* list, size_t wanted) {
  const uint32_t size = list->size;
  if (size == 1 && !list->items[0].is_object()) {
    const Value item = list->items[0];
    in_pieces(in, wanted, [&](size_t k, size_t end) {
      for (; k < end; ++k) new (list->items + k) Value(item);
      list->size = static_cast<uint32_t>(end);
    });
    return;
  }
  StopBudget budget(in);
  for (; list->size < wanted; budget.take(size)) list_append_all(list, list->items, size);
}

Value repeat(Interpreter& in, const List* list, int64_t times) {
  if (times <= 0 || list->size == 0) return make_list(in);
  check_size(list->size, static_cast<uint64_t>(times));
  if (list->size == 1 && are_few(static_cast<size_t>(times)))
    return few_items(in, static_cast<size_t>(times), [&](Value* place, size_t) { new (place) Value(list->items[0]); });
  Value result = make_list(in, list->size * static_cast<size_t>(times));
  List* out = as_list(result);
  in_pieces(in, list->size, [&](size_t i, size_t end) { list_append_all(out, list->items + i, end - i); });
  repeat_items(in, out, list->size * static_cast<size_t>(times));
  return result;
}

// `list *= times`.
void repeat_in_place(Interpreter& in, List* list, int64_t times) {
  if (times <= 0) return list_clear(in, list);
  if (list->size == 0) return;
  check_size(list->size, static_cast<uint64_t>(times));
  const size_t wanted = list->size * static_cast<size_t>(times);
  list_reserve(in, list, wanted);
  repeat_items(in, list, wanted);
}

Value joined(Interpreter& in, const List* left, const List* right) {
  const size_t first = left->size, count = first + right->size;
  if (are_few(count)) {
    return few_items(in, count, [&](Value* place, size_t i) {
      new (place) Value(i < first ? left->items[i] : right->items[i - first]);
    });
  }
  Value result = make_list(in, count);
  List* out = as_list(result);
  for (const List* part : {left, right})
    in_pieces(in, part->size, [&](size_t i, size_t end) { list_append_all(out, part->items + i, end - i); });
  return result;
}

Value binary_slot(Interpreter& in, BinaryOp op, const Value& self, const Value& other, bool reflected, uint8_t dying) {
  int64_t times;
  if (op == BinaryOp::Mul && repetition_count(in, other, times)) {
    // A list that nobody else has grows itself: `[0] * n`.
    const bool dies = (dying & (reflected ? kRightDying : kLeftDying)) != 0;
    if (!dies || self.as_object()->refcount != 1 || self.as_object()->type != in.types.list)
      return repeat(in, as_list(self), times);
    repeat_in_place(in, as_list(self), times);
    return self;
  }
  if (reflected) return in.not_implemented;
  if (op == BinaryOp::Mul) throw_cannot_repeat(in, other);
  if (op != BinaryOp::Add) return in.not_implemented;
  if (!is_list(other)) throw_cannot_join(in, "list", other);
  return joined(in, as_list(self), as_list(other));
}

Value inplace_slot(Interpreter& in, BinaryOp op, const Value& self, const Value& other) {
  List* list = as_list(self);
  if (op == BinaryOp::Add) {
    if (other.is(self)) {
      const Value copy = make_list(in, list->items, list->size);
      list_extend(in, list, copy);
    } else {
      list_extend(in, list, other);
    }
    return self;
  }
  int64_t times;
  if (op != BinaryOp::Mul || !repetition_count(in, other, times)) return in.not_implemented;
  repeat_in_place(in, list, times);
  return self;
}

Value get_item_slot(Interpreter& in, const Value& self, const Value& key) {
  List* list = as_list(self);
  if (is_slice(key)) {
    const SliceParts parts = unpack_slice(in, as_slice(key));
    const SliceIndices r = adjust_slice(parts, list->size);
    if (r.step == 1) return make_list(in, list->items + r.start, static_cast<size_t>(r.count));
    Value result = make_list(in, static_cast<size_t>(r.count));
    List* out = as_list(result);
    int64_t at = r.start;
    in_pieces(in, static_cast<size_t>(r.count), [&](size_t i, size_t end) {
      for (; i < end; ++i, at += r.step) new (out->items + i) Value(list->items[at]);
      out->size = static_cast<uint32_t>(end);
    });
    return result;
  }
  return list->items[sequence_index(in, key, list->size, "list")];
}

void set_slice(Interpreter& in, List* list, const Slice* slice, const Value& value) {
  // First the values (which may run a script), then the places.
  Value fresh;
  const bool extended = !slice->step.is_none() && !(slice->step.is_int() && slice->step.as_int() == 1);
  try {
    if (value.is_object() && (value.as_object()->type->type_flags & kScriptClass)) {
      fresh = list_from(in, iter(in, value));  // whose length is not asked
    } else {
      fresh = is_list(value) && as_list(value) != list ? value : list_from(in, value);
    }
  } catch (const Error& error) {
    if (error.kind != ErrorKind::TypeError || (value.is_object() && value.as_object()->type->slots.iter != nullptr))
      throw;
    throw Error(ErrorKind::TypeError,
                extended ? "must assign iterable to extended slice" : "can only assign an iterable");
  }
  const SliceParts parts = unpack_slice(in, slice);
  SliceIndices r = adjust_slice(parts, list->size);
  List* items = as_list(fresh);
  if (r.step == 1) {
    const size_t from = static_cast<size_t>(r.start);
    list_replace(in, list, from, static_cast<size_t>(std::max(r.start, r.stop)), items->items, items->size);
    return;
  }
  if (items->size != static_cast<uint64_t>(r.count)) {
    throw Error(ErrorKind::ValueError, "attempt to assign sequence of size " + std::to_string(items->size) +
                                           " to extended slice of size " + std::to_string(r.count));
  }
  std::vector<Value> old;  // let go last: a __del__ may change the list
  old.reserve(static_cast<size_t>(r.count));
  for (int64_t i = 0, at = r.start; i < r.count; ++i, at += r.step) {
    old.push_back(std::exchange(list->items[at], items->items[i]));
  }
}

void set_item_slot(Interpreter& in, const Value& self, const Value& key, const Value& value) {
  if (is_slice(key)) {
    set_slice(in, as_list(self), as_slice(key), value);
    return;
  }
  List* list = as_list(self);
  const int64_t at = sequence_index(in, key, list->size, "list", " assignment");
  list->items[at] = value;
}

void delete_slice(Interpreter& in, List* list, const Slice* slice) {
  const SliceParts parts = unpack_slice(in, slice);
  const SliceIndices r = adjust_slice(parts, list->size);
  if (r.count == 0) return;
  if (r.step == 1) {
    list_replace(in, list, static_cast<size_t>(r.start), static_cast<size_t>(r.start + r.count), nullptr, 0);
    return;
  }
  const int64_t first = r.step > 0 ? r.start : r.start + (r.count - 1) * r.step;
  const int64_t step = r.step > 0 ? r.step : -r.step;
  std::vector<Value> gone;
  uint32_t to = static_cast<uint32_t>(first);
  int64_t next = first, left = r.count;
  for (uint32_t from = to; from < list->size; ++from) {
    if (left > 0 && from == next) {
      gone.push_back(std::move(list->items[from]));
      next += step;
      --left;
    } else {
      list->items[to++] = std::move(list->items[from]);
    }
  }
  list->size = to;
}

void del_item_slot(Interpreter& in, const Value& self, const Value& key) {
  List* list = as_list(self);
  if (is_slice(key)) {
    delete_slice(in, list, as_slice(key));
    return;
  }
  const Value gone =
      list_pop(in, list, static_cast<size_t>(sequence_index(in, key, list->size, "list", " assignment")));
}

bool contains_slot(Interpreter& in, const Value& self, const Value& item) {
  List* list = as_list(self);
  for (uint32_t i = 0; i < list->size; ++i) {
    const Same same = same_quietly(in, list->items[i], item);
    if (same == Same::Yes) return true;
    if (same == Same::No) continue;
    const Value held = list->items[i];  // the comparison may change the list
    if (equals(in, held, item)) return true;
  }
  return false;
}

// --- methods

Value append(Interpreter& in, const Args& args) {
  list_append(in, as_list(args[0]), args[1]);
  return Value::none();
}

Value extend(Interpreter& in, const Args& args) {
  if (args[1].is(args[0])) {
    const Value copy = make_list(in, as_list(args[0])->items, as_list(args[0])->size);
    list_extend(in, as_list(args[0]), copy);
  } else {
    list_extend(in, as_list(args[0]), args[1]);
  }
  return Value::none();
}

Value insert(Interpreter& in, const Args& args) {
  List* list = as_list(args[0]);
  int64_t at = index(in, args[1]);
  if (at < 0) at = std::max<int64_t>(at + list->size, 0);
  list_insert(in, list, static_cast<size_t>(std::min<int64_t>(at, list->size)), args[2]);
  return Value::none();
}

Value pop(Interpreter& in, const Args& args) {
  List* list = as_list(args[0]);
  int64_t at = args[1].is_int() ? args[1].as_int() : index(in, args[1]);
  if (list->size == 0) return failure(in, ErrorKind::IndexError, {"pop from empty list"});
  if (at < 0) at += list->size;
  if (at < 0 || at >= list->size) throw Error(ErrorKind::IndexError, "pop index out of range");
  return list_pop(in, list, static_cast<size_t>(at));
}

bool short_append(Interpreter&, Value* args, Value& answer) {
  List* const list = as_list(args[0]);
  if (list->size == list->capacity) return false;
  new (list->items + list->size) Value(std::move(args[1]));
  ++list->size;
  answer = Value::none();
  return true;
}

bool short_pop(Interpreter&, Value* args, Value& answer) {
  if (as_list(args[0])->size == 0) return false;
  List* const list = as_list(args[0]);
  answer = std::move(list->items[--list->size]);
  return true;
}

Value remove(Interpreter& in, const Args& args) {
  const int64_t at = find_item(in, args[0], args[1], Value(), Value());
  if (at < 0) return failure(in, ErrorKind::ValueError, {"list.remove(x): x not in list"});
  if (at < as_list(args[0])->size) const Value gone = list_pop(in, as_list(args[0]), static_cast<size_t>(at));
  return Value::none();
}

Value clear(Interpreter& in, const Args& args) {
  list_clear(in, as_list(args[0]));
  return Value::none();
}

Value copy(Interpreter& in, const Args& args) { return make_list(in, as_list(args[0])->items, as_list(args[0])->size); }

Value reverse(Interpreter&, const Args& args) {
  std::reverse(as_list(args[0])->begin(), as_list(args[0])->end());
  return Value::none();
}

Value count(Interpreter& in, const Args& args) { return Value::integer(count_item(in, args[0], args[1])); }

Value index_of(Interpreter& in, const Args& args) {
  const int64_t at = find_item(in, args[0], args[1], args[2], args[3]);
  if (at < 0) return failure(in, Error(ErrorKind::ValueError, repr_text(in, args[1]) + " is not in list"));
  return Value::integer(at);
}

Value sort(Interpreter& in, const Args& args) {
  list_sort(in, as_list(args[0]), args[1], args[2].as_int() != 0);
  return Value::none();
}

Value reversed_method(Interpreter& in, const Args& args) { return list_reversed(in, args[0]); }

// Keywords are another's business when a class has a __new__ of its own.
void check_init_keywords(Interpreter& in, const Value& self, const Value& keywords) {
  if (as_dict(keywords)->count == 0) return;
  const Value& maker = type_lookup(self.as_object()->type, in.names->new_);
  if (!maker.is(type_lookup(in.types.list, in.names->new_))) return;
  throw Error(ErrorKind::TypeError, "list() takes no keyword arguments");
}

Value init(Interpreter& in, const Args& args) {
  check_init_keywords(in, args[0], args[2]);
  Value fresh = args[1].is_undefined() ? make_list(in) : list_from(in, args[1]);
  List* list = as_list(args[0]);
  list_clear(in, list);
  std::swap(list->items, as_list(fresh)->items);
  std::swap(list->size, as_list(fresh)->size);
  std::swap(list->capacity, as_list(fresh)->capacity);
  return Value::none();
}

Value make_from(Interpreter& in, Type* type, const Args& args) {
  Value result = Value::adopt(make_object<List>(in, type));
  if (type != in.types.list) return result;  // a subclass is filled by its __init__
  refuse_keywords("list", args);
  check_count("list", args, 0, 1);
  if (args.count == 1) list_fill(in, as_list(result), args[0]);
  return result;
}

constexpr NativeDef kRows[] = {
    {"append(self, object, /)", append, "Append object to the end of the list.", {short_append, 2}},
    {"extend(self, iterable, /)", extend, "Extend the list by the items of the iterable."},
    {"insert(self, index, object, /)", insert, "Insert object before index."},
    {"pop(self, index=-1, /)", pop, "Remove and return the item at index (default last).", {short_pop, 1}},
    {"remove(self, value, /)", remove, "Remove the first occurrence of value."},
    {"clear(self, /)", clear, "Remove all items from the list."},
    {"copy(self, /)", copy, "Return a shallow copy of the list."},
    {"reverse(self, /)", reverse, "Reverse in place."},
    {"count(self, value, /)", count, "Return the number of occurrences of value."},
    {"index(self, value, start=..., stop=..., /)", index_of, "Return the first index of value."},
    {"sort(self, /, *, key=None, reverse: int = False)", sort, "Sort in place, ascending and stable."},
    {"__reversed__(self, /)", reversed_method, "Return a reverse iterator over the list."},
    {"__init__(self, iterable=..., /, **kwargs)", init, ""},
};

}  // namespace

void list_slots(Interpreter& in) {
  TypeSlots& s = in.types.list->slots;
  s.destroy = destroy_list;
  s.traverse = traverse_list;
  s.clear = [](Interpreter& i, Object* self) { list_clear(i, known_cast<List>(self)); };
  s.repr = repr_slot;
  s.str = nullptr;
  s.hash = nullptr;
  s.length = length_slot;
  s.compare = compare_slot;
  s.binary = binary_slot;
  s.inplace = inplace_slot;
  s.get_item = get_item_slot;
  s.set_item = set_item_slot;
  s.del_item = del_item_slot;
  s.contains = contains_slot;
  s.iter = list_iter;
}

namespace {

void fill_list(Interpreter& in, Type* type) {
  add_rows(in, type, kRows);
  slot_methods(in, type);
  dict_set_str(in, type->attributes(), in.names->hash, Value::none());
  add_class_getitem(in, type);
}

}  // namespace

// list(x) of a short sequence or dict of the language itself.
static bool short_list(Interpreter& in, Value* argument, Value& answer) {
  if (!is_short_source(in, argument[0])) return false;
  answer = list_from(in, argument[0]);
  return true;
}

void list_methods(Interpreter& in) {
  in.types.list->make = make_from;
  in.types.list->short_make = short_list;
  in.types.list->fill_later(fill_list);
}

}  // namespace tessera::lang

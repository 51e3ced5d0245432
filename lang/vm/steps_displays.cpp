// The longer steps of displays, of strings that are put together, of stars and of unpacking, out of the loop.
#include "lang/vm/steps.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "lang/core/interpreter.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/core/pieces.h"
#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/types/dict.h"
#include "lang/types/dict_display.h"
#include "lang/types/format.h"
#include "lang/types/iterators.h"
#include "lang/types/list.h"
#include "lang/types/range.h"
#include "lang/types/set.h"
#include "lang/types/set_ops.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/vm/call.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

// --- displays

void build_slice_step(Interpreter& in, Value* parts, uint32_t count) {
  Value slice = make_slice(in, parts[0], parts[1], count == 3 ? parts[2] : Value::none());
  for (uint32_t i = 1; i < count; ++i) parts[i] = Value();
  parts[0] = std::move(slice);
}

// How many items a comprehension over a loop's state will make: what is known of it, and no more than is sure to be wanted soon.
static size_t items_to_come(const Value* state) {
  constexpr int64_t kMost = 1024;
  int64_t left = 0;
  if (state[0].is_int()) {
    left = state[1].as_int();
  } else if (state[1].is_int()) {
    Object* const object = state[0].as_object();
    const int64_t size = object->kind == ObjectKind::List    ? known_cast<List>(object)->size
                         : object->kind == ObjectKind::Tuple ? known_cast<Tuple>(object)->size
                                                             : known_cast<Str>(object)->length;
    left = size - state[1].as_int();
  }
  return static_cast<size_t>(std::clamp<int64_t>(left, 0, kMost));
}

void build_list_step(Interpreter& in, Value& target, Value* items, Word w) {
  if (w.d == 0) {
    target = make_list_moving(in, items, w.c);
    return;
  }
  target = make_list(in, items_to_come(items));
  as_list(target)->aux = 1;  // CPython's grows by one and one
}

void build_tuple_step(Interpreter& in, Value& target, Value* items, uint32_t count) {
  target = make_tuple_moving(in, items, count);
}

void build_set_step(Interpreter& in, Value& target, Value* items, uint32_t count) {
  target = set_of_display(in, items, count);
}

void build_dict_step(Interpreter& in, Value& target, Value* items, Word w) {
  Dict* const dict = new_dict(in);
  Value made = Value::adopt(dict);
  const uint32_t pairs = w.c;
  if (const size_t room = w.d != 0 ? items_to_come(items) : pairs) dict_reserve(in, dict, room);
  fill_from_display(in, dict, items, pairs);
  target = std::move(made);
}

namespace {

size_t decimal_size(int64_t value) {
  uint64_t left = value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  size_t size = value < 0 ? 2 : 1;
  for (; left >= 10; left /= 10) ++size;
  return size;
}

}  // namespace

// The parts are strings, and ints that FormatValue has left as they are.
void build_string_step(Interpreter& in, Value& target, Value* parts, uint32_t count) {
  size_t size = 0, length = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const size_t digits = parts[i].is_int() ? decimal_size(parts[i].as_int()) : 0;
    size += digits != 0 ? digits : as_str(parts[i])->size;
    length += digits != 0 ? digits : as_str(parts[i])->length;
  }
  Value text;
  if (size <= 1) {
    std::string small;
    for (uint32_t i = 0; i < count; ++i) small += parts[i].is_int() ? int_text(parts[i].as_int()) : text_of(parts[i]);
    text = make_str(in, small);
  } else {
    Str* joined = new_str(in, size, length);
    text = Value::adopt(joined);
    char* to = joined->data;
    char* const end = to + size;
    for (uint32_t i = 0; i < count; ++i) {
      if (parts[i].is_int()) {
        to = std::to_chars(to, end, parts[i].as_int()).ptr;
        continue;
      }
      copy_few(to, as_str(parts[i])->data, as_str(parts[i])->size);
      to += as_str(parts[i])->size;
    }
  }
  for (uint32_t i = 0; i < count; ++i) parts[i] = Value();
  target = std::move(text);
}

void format_value_step(Interpreter& in, Value* value, uint32_t conversion, bool has_spec) {
  if (conversion == 'j' && value->is_int()) return;
  Value shown = std::move(*value);
  if (conversion == 's') shown = str(in, shown);
  if (conversion == 'r') shown = repr(in, shown);
  if (conversion == 'a') shown = make_str(in, escape_non_ascii(repr_text(in, shown)));
  Value spec = has_spec ? std::move(value[1]) : Value();
  const std::string_view spec_text = spec.is_undefined() ? std::string_view() : text_of(spec);
  if (spec_text.empty() && is_str(shown) && shown.as_object()->type == in.types.str) {
    *value = std::move(shown);
  } else {
    *value = format(in, shown, spec_text);
  }
}

void spread_step(Interpreter& in, Value& iterable, const Value& callee) {
  if (!is_iterable(in, iterable)) {
    throw_error(ErrorKind::TypeError, "%s argument after * must be an iterable, not %s",
                callee_text(in, callee).c_str(), std::string(type_name(in, iterable)).c_str());
  }
  iterable = list_from(in, iterable);
}

void list_extend_step(Interpreter& in, const Value& list, const Value& iterable) {
  if (!is_iterable(in, iterable)) {
    throw_error(ErrorKind::TypeError, "Value after * must be an iterable, not %s", std::string(type_name(in, iterable)).c_str());
  }
  list_extend(in, as_list(list), iterable);
}

namespace {

void merge_argument(Interpreter& in, Dict* into, const Value& key, const Value& value, const Value& callee) {
  if (dict_get(in, into, key) != nullptr) {
    throw Error(ErrorKind::TypeError, callee_text(in, callee) + " got multiple values for keyword argument '" +
                                          str_text(in, key) + "'");
  }
  dict_set(in, into, key, value);
}

}  // namespace

void dict_update_step(Interpreter& in, const Value& dict, const Value& other, const Value* callee) {
  Dict* const into = as_dict(dict);
  if (is_dict(other) && callee == nullptr) {
    dict_merge(in, into, as_dict(other));
    return;
  }
  if (!is_dict(other) && find_attr(in, other, in.names->keys).is_undefined()) {
    if (callee != nullptr) {
      throw_error(ErrorKind::TypeError, "%s argument after ** must be a mapping, not %s",
                  callee_text(in, *callee).c_str(), std::string(type_name(in, other)).c_str());
    }
    throw_error(ErrorKind::TypeError, "'%s' object is not a mapping", std::string(type_name(in, other)).c_str());
  }
  Value copy = make_dict(in);
  if (is_dict(other)) {
    dict_merge(in, as_dict(copy), as_dict(other));
  } else {
    for_each(in, call_method(in, other, in.names->keys),
             [&](const Value& key) { dict_set(in, as_dict(copy), key, get_item(in, other, key)); });
  }
  if (callee == nullptr) {
    dict_merge(in, into, as_dict(copy));
    return;
  }
  for (uint32_t i = 0; i < as_dict(copy)->used; ++i) {
    const DictEntry& entry = as_dict(copy)->entries[i];
    if (!entry.key.is_undefined()) merge_argument(in, into, entry.key, entry.value, *callee);
  }
}

// --- unpacking

namespace {

// Leaves the exception to the loop. Returns false, as the step does then.
[[gnu::cold, gnu::noinline]] bool refuse(Interpreter& in, ErrorKind kind, std::initializer_list<std::string_view> words) {
  in.vm().raise_next(kind, words);
  return false;
}

[[gnu::cold]] bool too_few(Interpreter& in, uint32_t expected, uint64_t got, bool at_least) {
  return refuse(in, ErrorKind::ValueError,
                {"not enough values to unpack (expected ", at_least ? "at least " : "", int_text(expected), ", got ",
                 int_text(static_cast<int64_t>(got)), ")"});
}

[[gnu::cold]] bool too_many(Interpreter& in, uint32_t expected) {
  return refuse(in, ErrorKind::ValueError, {"too many values to unpack (expected ", int_text(expected), ")"});
}

[[gnu::cold]] bool cannot_unpack(Interpreter& in, const Value& source) {
  return refuse(in, ErrorKind::TypeError, {"cannot unpack non-iterable ", type_name(in, source), " object"});
}

bool sequence_items(Interpreter& in, const Value& source, Value*& items, uint32_t& size) {
  if (!source.is_object()) return false;
  if (source.as_object()->type == in.types.tuple) {
    items = as_tuple(source)->items;
    size = as_tuple(source)->size;
    return true;
  }
  if (source.as_object()->type == in.types.list) {
    items = as_list(source)->items;
    size = as_list(source)->size;
    return true;
  }
  return false;
}

}  // namespace

bool cannot_iterate(Interpreter& in, const Value& source) {
  return refuse(in, ErrorKind::TypeError, {"'", type_name(in, source), "' object is not iterable"});
}

bool unpack_step(Interpreter& in, Value* target, Value& source, bool take, uint32_t count) {
  const Value from = take ? Value(std::move(source)) : Value(source);
  Value* items = nullptr;
  uint32_t size = 0;
  if (sequence_items(in, from, items, size)) {
    if (size < count) return too_few(in, count, size, false);
    if (size > count) return too_many(in, count);
    Value copy;
    if (is_list(from) && std::any_of(target, target + count, [](const Value& v) { return v.is_object(); })) {
      // The old value of a target dies when the target is written, and its finalizer may change the list that is being unpacked.
      copy = make_tuple(in, items, count);
      items = as_tuple(copy)->items;
    }
    for (uint32_t i = 0; i < count; ++i) target[i] = items[i];
    return true;
  }
  if (!is_iterable(in, from)) return cannot_unpack(in, from);
  const Value iterator = iter(in, from);
  Value item;
  for (uint32_t i = 0; i < count; ++i) {
    if (!next(in, iterator, item)) return too_few(in, count, i, false);
    target[i] = std::move(item);
  }
  return !next(in, iterator, item) || too_many(in, count);
}

bool unpack_star_step(Interpreter& in, Value* target, Value& source, bool take, uint32_t before, uint32_t after) {
  const Value from = take ? Value(std::move(source)) : Value(source);
  Value* items = nullptr;
  uint32_t size = 0;
  Value list;
  if (!sequence_items(in, from, items, size)) {
    list = make_list(in);
    if (!is_iterable(in, from)) return cannot_unpack(in, from);
    const Value iterator = iter(in, from);
    Value item;
    while (next(in, iterator, item)) list_append(in, as_list(list), std::move(item));
    items = as_list(list)->items;
    size = as_list(list)->size;
  }
  if (size < before + after) return too_few(in, before + after, size, true);
  const uint32_t middle = size - before - after;
  // The targets are fresh temporaries: nothing ends here.
  for (uint32_t i = 0; i < before; ++i) target[i] = items[i];
  for (uint32_t i = 0; i < after; ++i) target[before + 1 + i] = items[before + middle + i];
  target[before] = make_list(in, items + before, middle);
  return true;
}

}  // namespace tessera::lang

// _collections: the counting loop of Counter.
#include "lang/core/names.h"
#include "lang/core/pieces.h"
#include "lang/types/dict.h"
#include "lang/types/types.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

// Adds one to the count of an item in a dict that reads and stores as dict does.
void count_in(Interpreter& in, Dict* counts, const Value& item) {
  const int64_t h = hash(in, item);
  const int32_t at = dict_find(in, counts, item, h);
  if (at >= 0 && counts->entries[at].value.is_int() && counts->entries[at].value.as_int() != INT64_MAX) {
    counts->entries[at].value.replace_int(counts->entries[at].value.as_int() + 1);
    return;
  }
  const Value one = Value::integer(1);
  if (at < 0) return dict_set(in, counts, item, h, one);
  const Value known = counts->entries[at].value;
  dict_set(in, counts, item, h, binary(in, BinaryOp::Add, known, one));
}

// The characters of an ASCII text are counted by their codes first, then stored in the order in which they are met.
bool count_ascii(Interpreter& in, Dict* counts, const Str& text) {
  if (!text.is_ascii() || counts->count != 0) return false;
  int64_t times[128] = {};
  unsigned char met[128];
  size_t kinds = 0;
  in_pieces(in, text.size, [&](size_t i, size_t end) {
    for (; i < end; ++i) {
      const auto c = static_cast<unsigned char>(text.data[i]);
      if (times[c]++ == 0) met[kinds++] = c;
    }
  });
  for (size_t i = 0; i < kinds; ++i) {
    const Value& item = in.shared->chars[met[i]];
    dict_set(in, counts, item, str_hash(as_str(item)), Value::integer(times[met[i]]));
  }
  return true;
}

// Adds one to the count of each item. Mappings that are no plain dicts go item by item through their own methods.
Value count_elements(Interpreter& in, const Args& args) {
  const Value mapping = args[0], iterable = args[1];
  Str* const get = intern(in, "get");
  const bool plain = is_dict(mapping) && mapping.as_object()->type->slots.set_item == in.types.dict->slots.set_item &&
                     type_lookup(mapping.as_object()->type, get).is(type_lookup(in.types.dict, get));
  if (plain) {
    // A str is counted character by character without an iterator object, since no script could observe one.
    const bool text = iterable.is_object() && iterable.as_object()->type == in.types.str;
    if (text && count_ascii(in, as_dict(mapping), *as_str(iterable))) return Value::none();
    for_each(in, text ? list_from(in, iterable) : iterable, [&](const Value& item) { count_in(in, as_dict(mapping), item); });
    return Value::none();
  }
  const Value items = iter(in, iterable), known = get_attr(in, mapping, get);
  for_each(in, items, [&](const Value& item) {
    set_item(in, mapping, item, binary(in, BinaryOp::Add, call(in, known, {item, Value::integer(0)}), Value::integer(1)));
  });
  return Value::none();
}

// dict.pop that also gives the key as the dict has it: who takes an entry out to put it back keeps an equal key's own object.
Value pop_entry(Interpreter& in, const Args& args) {
  Dict* const dict = as_dict(args[0]);
  const int32_t at = dict_find(in, dict, args[1], hash(in, args[1]));
  if (at == kNoEntry) return Value::none();
  const Value entry = make_tuple(in, {dict->entries[at].key, dict->entries[at].value});
  dict_delete(in, dict, as_tuple(entry)->items[0]);
  return entry;
}

}  // namespace

void add_counting(Interpreter& in, Module& module) {
  in.def(module, "_count_elements(mapping, iterable, /)", "Count the items of an iterable in a mapping.",
         count_elements);
  in.def(module, "_pop_entry(mapping: dict, key, /)", "Take an entry out: (its key, its value), or None.", pop_entry);
}

}  // namespace tessera::stdlib

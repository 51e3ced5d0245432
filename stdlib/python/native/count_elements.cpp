// _collections: the counting loop of Counter.
#include "lang/core/names.h"
#include "lang/types/dict.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

// Adds one to the count of each item. The mapping is a dict that reads and stores as dict does; others go item by item.
Value count_elements(Interpreter& in, const Args& args) {
  const Value mapping = args[0], one = Value::integer(1);
  Str* const get = intern(in, "get");
  const bool plain = is_dict(mapping) && mapping.as_object()->type->slots.set_item == in.types.dict->slots.set_item &&
                     type_lookup(mapping.as_object()->type, get).is(type_lookup(in.types.dict, get));
  // The characters of a string in one go: nobody sees its iterator.
  const bool text = args[1].is_object() && args[1].as_object()->type == in.types.str;
  for_each(in, text ? list_from(in, args[1]) : args[1], [&](const Value& item) {
    if (!plain) {
      const Value known = call_method(in, mapping, get, {item, Value::integer(0)});
      set_item(in, mapping, item, binary(in, BinaryOp::Add, known, one));
      return;
    }
    Dict* counts = as_dict(mapping);
    const int64_t h = hash(in, item);
    const int32_t at = dict_find(in, counts, item, h);
    if (at >= 0 && counts->entries[at].value.is_int() && counts->entries[at].value.as_int() != INT64_MAX) {
      counts->entries[at].value.replace_int(counts->entries[at].value.as_int() + 1);
      return;
    }
    const Value known = at < 0 ? Value::integer(0) : Value(counts->entries[at].value);
    dict_set(in, counts, item, h, binary(in, BinaryOp::Add, known, one));
  });
  return Value::none();
}

}  // namespace

void add_counting(Interpreter& in, Module& module) {
  in.def(module, "_count_elements(mapping, iterable, /)", "Count the items of an iterable in a mapping.",
         count_elements);
}

}  // namespace tessera::stdlib

// A dict made of the pairs of a display.
#pragma once

#include <cstdint>

#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;
struct Dict;

// Puts pairs into an empty dict, which has room for them. `items` are key, value, key, value, and are moved from.
void fill_from_display(Interpreter& in, Dict* dict, Value* items, uint32_t pairs);
// A dict of the values under names, which are interned and different strings. The values are moved from.
Value dict_of_names(Interpreter& in, const Value* names, Value* values, uint32_t count);

}  // namespace tessera::lang

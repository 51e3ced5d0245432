// A dict made of the pairs of a display.
#pragma once

#include <cstdint>

#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;
struct Dict;

// Puts pairs into an empty dict, which has room for them. `items` are key, value, key, value, and are moved from.
void fill_from_display(Interpreter& in, Dict* dict, Value* items, uint32_t pairs);

}  // namespace tessera::lang

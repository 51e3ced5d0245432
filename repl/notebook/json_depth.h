// How deep a JSON text nests, asked before it is parsed: values are written, copied and released by recursion.
#pragma once

#include <string_view>

namespace tessera::repl {

// Whether arrays and objects stand within each other more than `levels` deep, in time linear in the text. The text need not be valid JSON.
bool nests_deeper(std::string_view json, int levels);

}  // namespace tessera::repl

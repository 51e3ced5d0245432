// The bytes of a file of program text as UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace tessera::lang {

// By the declaration in one of the first two lines (PEP 263): Latin-1 becomes UTF-8, everything else is left as it is, for the
// parser to say what is wrong with it.
std::string decode_source(std::string bytes);

}  // namespace tessera::lang

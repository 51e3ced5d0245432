// Texts that JSON can carry.
#pragma once

#include <string>
#include <string_view>

namespace tessera::repl {

// What is no UTF-8 becomes U+FFFD, JSON having no place for it: one for a byte, and one for the half of a surrogate pair, which a
// script's text may have.
std::string as_utf8(std::string_view bytes);

}  // namespace tessera::repl

// Texts as a browser counts them: in UTF-16 units. Outside of a document they are UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tessera::repl::page {

// Half a surrogate pair, or bytes that are no UTF-8, become U+FFFD.
std::u16string to_utf16(std::string_view text);
std::string to_utf8(std::u16string_view text);

// The byte at which unit `units` of the text begins; the text's end when it has fewer.
size_t byte_of_unit(std::string_view text, size_t units);
// How many units the first `bytes` bytes are.
size_t units_before(std::string_view text, size_t bytes);

}  // namespace tessera::repl::page

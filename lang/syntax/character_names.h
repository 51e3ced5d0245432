// Characters by their Unicode names, for "\N{GREEK SMALL LETTER PI}" and unicodedata.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tessera::lang {

// The character of a name or alias; upper and lower case mean the same. Nothing: there is no such name in Unicode 14.
std::optional<char32_t> character_named(std::string_view name);
// The characters of a named sequence, as UTF-8. Empty: there is no such sequence.
std::string sequence_named(std::string_view name);
// The name of a character, or an empty text.
std::string name_of_character(char32_t code);

}  // namespace tessera::lang

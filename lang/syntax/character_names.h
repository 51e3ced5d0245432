// Characters by their Unicode names, for "\N{GREEK SMALL LETTER PI}".
#pragma once

#include <optional>
#include <string_view>

namespace tessera::lang {

// Upper and lower case mean the same. Nothing: no such name in our table (scripts/make_character_names).
std::optional<char32_t> character_named(std::string_view name);

}  // namespace tessera::lang

// Finding bytes in bytes. The C library's memmem sets up a table for every call, which costs more than most searches.
#pragma once

#include <cstddef>
#include <string_view>

namespace tessera::lang {

constexpr size_t kNowhere = std::string_view::npos;

class Interpreter;

// The first place of `needle` at `from` or behind it; an empty needle is everywhere. A long search looks now and then whether
// the program is to stop (Interpreter::check_stop).
size_t find_text(Interpreter& in, std::string_view text, std::string_view needle, size_t from = 0);
// The last place.
size_t rfind_text(Interpreter& in, std::string_view text, std::string_view needle);

}  // namespace tessera::lang

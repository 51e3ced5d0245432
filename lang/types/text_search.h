// Finding bytes in bytes. The C library's memmem sets up a table for every call, which costs more than most searches.
#pragma once

#include <cstddef>
#include <string_view>

namespace tessera::lang {

constexpr size_t kNowhere = std::string_view::npos;

// The first place of `needle` at `from` or behind it; an empty needle is everywhere.
size_t find_text(std::string_view text, std::string_view needle, size_t from = 0) noexcept;
// The last place.
size_t rfind_text(std::string_view text, std::string_view needle) noexcept;

}  // namespace tessera::lang

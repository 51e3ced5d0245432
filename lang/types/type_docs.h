// Docstrings of the types of the module `builtins`.
#pragma once

#include <string_view>

namespace tessera::lang {

std::string_view builtin_type_doc(std::string_view name) noexcept;  // empty: none

}  // namespace tessera::lang

// A test of templates: does a list of types have a type?
#pragma once

#include <type_traits>

namespace tessera::tensor::cpu {

template <class T, class... Types>
inline constexpr bool is_one_of = (std::is_same_v<T, Types> || ...);

}  // namespace tessera::tensor::cpu

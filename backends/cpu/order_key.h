// Elements as unsigned numbers that stand in the same order: what sorting and selecting work on.
//
// -0 and 0 have one key, every NaN has the largest. A key is turned back into its element unless the row has a -0 or NaN.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "runtime/dtype.h"

namespace tessera::tensor::cpu {

template <class T>
using OrderKey = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <class T>
inline OrderKey<T> order_key(T x) {
  using K = OrderKey<T>;
  constexpr K top = K(1) << (sizeof(K) * 8 - 1);
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return order_key(float(x));
  else if constexpr (std::is_floating_point_v<T>) {
    const K bits = std::bit_cast<K>(x + T(0));  // makes 0 of -0
    const K flip = K(std::make_signed_t<K>(bits) >> (sizeof(K) * 8 - 1)) | top;
    // NaN is found among whole numbers, without a jump: loops become vectors.
    constexpr K infinity = std::bit_cast<K>(std::numeric_limits<T>::infinity());
    using Magnitude = std::make_signed_t<K>;
    return (bits ^ flip) | K(-K(Magnitude(bits & ~top) > Magnitude(infinity)));
  } else if constexpr (std::is_signed_v<T>) return K(std::make_signed_t<K>(x)) ^ top;
  else return K(x);
}

/// The element that has this key; not for -0 and NaN.
template <class T>
inline T element_of(OrderKey<T> key) {
  using K = OrderKey<T>;
  constexpr K top = K(1) << (sizeof(K) * 8 - 1);
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return T(element_of<float>(key));
  else if constexpr (std::is_floating_point_v<T>) return std::bit_cast<T>(key & top ? key ^ top : ~key);
  else if constexpr (std::is_signed_v<T>) return T(std::make_signed_t<K>(key ^ top));
  else return T(key);
}

/// Whether element_of(order_key(x)) is x for every element of a row.
template <class T>
inline bool keys_tell_all(const T* row, int64_t n) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return std::none_of(row, row + n,
                        [](T x) { return float(x) != float(x) || (float(x) == 0 && std::signbit(float(x))); });
  } else if constexpr (std::is_floating_point_v<T>) {
    // Counted, not or-ed: the loop becomes vectors.
    OrderKey<T> lost = 0;
    for (int64_t i = 0; i < n; i++)
      lost += row[i] != row[i] || std::bit_cast<OrderKey<T>>(row[i]) == OrderKey<T>(1) << (sizeof(T) * 8 - 1);
    return lost == 0;
  } else return true;
}

}  // namespace tessera::tensor::cpu

// Convert<T> of the usual types; see value.h.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif

#include "tessera/host/value.h"

namespace tessera {

template <>
struct Convert<Ref> {
  static Ref from(detail::Borrowed given) { return {given.in, tsr_retain(given.value)}; }
  static tsr_value to(tsr_interpreter*, const Ref& value) { return tsr_retain(value.value()); }
};

template <>
struct Convert<bool> {
  static bool from(detail::Borrowed given) {
    if (given.value.kind == TSR_BOOL) return given.value.as.integer != 0;
    bool value = false;
    detail::ErrorSlot error;
    error.check(tsr_as_bool(given.in, given.value, &value, error));
    return value;
  }
  static tsr_value to(tsr_interpreter*, bool value) { return tsr_bool(value); }
};

template <class T>
struct Convert<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>> {
  static T from(detail::Borrowed given) {
    int64_t value = given.value.as.integer;
    if (given.value.kind != TSR_INT) {
      detail::ErrorSlot error;
      error.check(tsr_as_int(given.in, given.value, &value, error));
    }
    using Limits = std::numeric_limits<T>;
    constexpr bool wide = sizeof(T) == 8 && std::is_unsigned_v<T>;
    if (value < static_cast<int64_t>(Limits::min()) || (!wide && value > static_cast<int64_t>(Limits::max())))
      throw ScriptError("OverflowError", std::to_string(value) + " does not fit the host's integer");
    return static_cast<T>(value);
  }
  static tsr_value to(tsr_interpreter*, T value) {
    if constexpr (sizeof(T) == 8 && std::is_unsigned_v<T>) {
      if (value > static_cast<T>(INT64_MAX))
        throw ScriptError("OverflowError", std::to_string(value) + " does not fit the script's integer");
    }
    return tsr_int(static_cast<int64_t>(value));
  }
};

template <class T>
struct Convert<T, std::enable_if_t<std::is_floating_point_v<T>>> {
  static T from(detail::Borrowed given) {
    if (given.value.kind == TSR_FLOAT) return static_cast<T>(given.value.as.real);
    double value = 0;
    detail::ErrorSlot error;
    error.check(tsr_as_float(given.in, given.value, &value, error));
    return static_cast<T>(value);
  }
  static tsr_value to(tsr_interpreter*, T value) { return tsr_float(static_cast<double>(value)); }
};

template <class T>
struct Convert<T, std::enable_if_t<std::is_enum_v<T>>> {
  using Number = std::underlying_type_t<T>;
  static T from(detail::Borrowed given) { return static_cast<T>(Convert<Number>::from(given)); }
  static tsr_value to(tsr_interpreter* in, T value) { return Convert<Number>::to(in, static_cast<Number>(value)); }
};

template <class T>
struct Convert<std::complex<T>> {
  static constexpr const char* script_type = "complex";
  static std::complex<T> from(detail::Borrowed given) {
    double parts[2];
    detail::ErrorSlot error;
    error.check(tsr_as_complex(given.in, given.value, parts, error));
    return {static_cast<T>(parts[0]), static_cast<T>(parts[1])};
  }
  static tsr_value to(tsr_interpreter* in, const std::complex<T>& value) {
    tsr_value made = tsr_none();
    detail::ErrorSlot error;
    error.check(tsr_complex(in, value.real(), value.imag(), &made, error));
    return made;
  }
};

// Text that lies where the script's value has it: for parameters of host functions, good as long as the call.
template <>
struct Convert<std::string_view> {
  static constexpr const char* script_type = "str";
  static std::string_view from(detail::Borrowed given) {
    const char* data = nullptr;
    size_t size = 0;
    detail::ErrorSlot error;
    error.check(tsr_as_text(given.in, given.value, &data, &size, error));
    return {data, size};
  }
  static tsr_value to(tsr_interpreter* in, std::string_view value) {
    tsr_value made = tsr_none();
    detail::ErrorSlot error;
    error.check(tsr_str(in, value.data(), value.size(), &made, error));
    return made;
  }
};

template <>
struct Convert<std::string> {
  static constexpr const char* script_type = "str";
  static std::string from(detail::Borrowed given) { return std::string(Convert<std::string_view>::from(given)); }
  static tsr_value to(tsr_interpreter* in, const std::string& value) {
    return Convert<std::string_view>::to(in, value);
  }
};

template <>
struct Convert<Tensor> {
  static constexpr const char* script_type = "Tensor";
  static Tensor from(detail::Borrowed given) {
    tsr_tensor* tensor = nullptr;
    detail::ErrorSlot error;
    error.check(tsr_as_tensor(given.in, given.value, &tensor, error));
    return Tensor::adopt(tensor);
  }
  // An undefined one is None: the gradient of what has none.
  static tsr_value to(tsr_interpreter* in, const Tensor& value) {
    if (!value.defined()) return tsr_none();
    tsr_value made = tsr_none();
    detail::ErrorSlot error;
    error.check(tsr_from_tensor(in, value.handle(), &made, error));
    return made;
  }
};

template <class T>
struct Convert<std::optional<T>> {
  static std::optional<T> from(detail::Borrowed given) {
    if (given.value.kind == TSR_NONE) return std::nullopt;
    return Convert<T>::from(given);
  }
  static tsr_value to(tsr_interpreter* in, const std::optional<T>& value) {
    return value ? Convert<T>::to(in, *value) : tsr_none();
  }
};

namespace detail {

using MakeSequence = bool (*)(tsr_interpreter*, const tsr_value*, size_t, tsr_value*, tsr_error**);

// Shares that go when the block ends.
class Shares {
 public:
  Shares() = default;
  Shares(const Shares&) = delete;
  Shares& operator=(const Shares&) = delete;
  ~Shares() {
    for (const tsr_value value : values_) tsr_release(value);
  }
  void add(tsr_value value) { values_.push_back(value); }
  const tsr_value* data() const { return values_.data(); }
  size_t size() const { return values_.size(); }

 private:
  std::vector<tsr_value> values_;
};

template <class Items>
tsr_value make_sequence(tsr_interpreter* in, const Items& items, MakeSequence make) {
  Shares values;
  for (const auto& item : items) values.add(to_script(in, item));
  tsr_value made = tsr_none();
  ErrorSlot error;
  error.check(make(in, values.data(), values.size(), &made, error));
  return made;
}

template <class F>
void for_each(Borrowed given, F&& f) {
  Ref(given.in, tsr_retain(given.value)).for_each([&](const Ref& item) { f(Borrowed{given.in, item.value()}); });
}

inline void check_length(size_t has, size_t wanted) {
  if (has != wanted)
    throw ScriptError("ValueError", "expected " + std::to_string(wanted) + " items, got " + std::to_string(has));
}

template <class M>
struct ConvertMap {
  static constexpr const char* script_type = "dict";
  static M from(Borrowed given) {
    M map;
    const Ref dict(given.in, tsr_retain(given.value));
    const tsr_type type = dict.type();  // others may be mappings of a script's
    if (type != TSR_TYPE_DICT && type != TSR_TYPE_OTHER && type != TSR_TYPE_HOST)
      throw ScriptError("TypeError", "expected dict, got " + dict.type_name());
    dict.call("items").for_each([&](const Ref& pair) {
      map.emplace(pair[0].template as<typename M::key_type>(), pair[1].template as<typename M::mapped_type>());
    });
    return map;
  }
  static tsr_value to(tsr_interpreter* in, const M& map) {
    Shares keys, values;
    for (const auto& [key, value] : map) {
      keys.add(to_script(in, key));
      values.add(to_script(in, value));
    }
    tsr_value made = tsr_none();
    ErrorSlot error;
    error.check(tsr_dict(in, keys.data(), values.data(), keys.size(), &made, error));
    return made;
  }
};

template <class Tuple, size_t... I>
Tuple tuple_from(Borrowed given, std::index_sequence<I...>) {
  const std::vector<Ref> items = Ref(given.in, tsr_retain(given.value)).items();
  check_length(items.size(), sizeof...(I));
  return Tuple{items[I].template as<std::tuple_element_t<I, Tuple>>()...};
}

template <class Tuple, size_t... I>
tsr_value tuple_to(tsr_interpreter* in, const Tuple& tuple, std::index_sequence<I...>) {
  Shares values;
  (values.add(to_script(in, std::get<I>(tuple))), ...);
  tsr_value made = tsr_none();
  ErrorSlot error;
  error.check(tsr_tuple(in, values.data(), values.size(), &made, error));
  return made;
}

}  // namespace detail

template <class T>
struct Convert<std::vector<T>> {
  static constexpr const char* script_type = "list";
  static std::vector<T> from(detail::Borrowed given) {
    std::vector<T> items;
    detail::for_each(given, [&](detail::Borrowed item) { items.push_back(Convert<T>::from(item)); });
    return items;
  }
  static tsr_value to(tsr_interpreter* in, const std::vector<T>& items) {
    return detail::make_sequence(in, items, &tsr_list);
  }
};

template <class T, size_t N>
struct Convert<std::array<T, N>> {
  static constexpr const char* script_type = "list";
  static std::array<T, N> from(detail::Borrowed given) {
    const std::vector<T> items = Convert<std::vector<T>>::from(given);
    detail::check_length(items.size(), N);
    std::array<T, N> made;
    std::copy(items.begin(), items.end(), made.begin());
    return made;
  }
  static tsr_value to(tsr_interpreter* in, const std::array<T, N>& items) {
    return detail::make_sequence(in, items, &tsr_list);
  }
};

template <class T>
struct Convert<std::set<T>> {
  static constexpr const char* script_type = "set";
  static std::set<T> from(detail::Borrowed given) {
    std::set<T> items;
    detail::for_each(given, [&](detail::Borrowed item) { items.insert(Convert<T>::from(item)); });
    return items;
  }
  static tsr_value to(tsr_interpreter* in, const std::set<T>& items) {
    return detail::make_sequence(in, items, &tsr_set);
  }
};

template <class T>
struct Convert<std::unordered_set<T>> {
  static constexpr const char* script_type = "set";
  static std::unordered_set<T> from(detail::Borrowed given) {
    std::unordered_set<T> items;
    detail::for_each(given, [&](detail::Borrowed item) { items.insert(Convert<T>::from(item)); });
    return items;
  }
  static tsr_value to(tsr_interpreter* in, const std::unordered_set<T>& items) {
    return detail::make_sequence(in, items, &tsr_set);
  }
};

// The bytes of a bytes, bytearray or memoryview, copied.
template <>
struct Convert<std::vector<std::byte>> {
  static constexpr const char* script_type = "bytes";
  static std::vector<std::byte> from(detail::Borrowed given) {
    const void* data = nullptr;
    size_t size = 0;
    detail::ErrorSlot error;
    error.check(tsr_as_bytes(given.in, given.value, &data, &size, error));
    const auto* const first = static_cast<const std::byte*>(data);
    return size == 0 ? std::vector<std::byte>() : std::vector<std::byte>(first, first + size);
  }
  static tsr_value to(tsr_interpreter* in, const std::vector<std::byte>& bytes) {
    tsr_value made = tsr_none();
    detail::ErrorSlot error;
    error.check(tsr_bytes(in, bytes.data(), bytes.size(), &made, error));
    return made;
  }
};

template <>
struct Convert<std::monostate> {
  static constexpr const char* script_type = "None";
  static std::monostate from(detail::Borrowed given) {
    if (given.value.kind != TSR_NONE)
      throw ScriptError("TypeError", std::string("expected None, got ") + tsr_type_name(given.value));
    return {};
  }
  static tsr_value to(tsr_interpreter*, std::monostate) { return tsr_none(); }
};

template <class K, class V>
struct Convert<std::map<K, V>> : detail::ConvertMap<std::map<K, V>> {};
template <class K, class V>
struct Convert<std::unordered_map<K, V>> : detail::ConvertMap<std::unordered_map<K, V>> {};

template <class... T>
struct Convert<std::tuple<T...>> {
  static constexpr const char* script_type = "tuple";
  static std::tuple<T...> from(detail::Borrowed given) {
    return detail::tuple_from<std::tuple<T...>>(given, std::index_sequence_for<T...>{});
  }
  static tsr_value to(tsr_interpreter* in, const std::tuple<T...>& tuple) {
    return detail::tuple_to(in, tuple, std::index_sequence_for<T...>{});
  }
};

template <class A, class B>
struct Convert<std::pair<A, B>> {
  static constexpr const char* script_type = "tuple";
  static std::pair<A, B> from(detail::Borrowed given) {
    return detail::tuple_from<std::pair<A, B>>(given, std::index_sequence_for<A, B>{});
  }
  static tsr_value to(tsr_interpreter* in, const std::pair<A, B>& pair) {
    return detail::tuple_to(in, pair, std::index_sequence_for<A, B>{});
  }
};

#if __cplusplus >= 202002L
// The elements of a tensor, shared and row-major: what is written is written for both. A span does not keep the memory: one got
// from a script is good as long as the script's tensor lives, one given to a script has to stay as long as the script may
// use it.
template <class T>
struct Convert<std::span<T>> {
  static constexpr const char* script_type = "Tensor";
  static std::span<T> from(detail::Borrowed given) {
    const Tensor tensor = Convert<Tensor>::from(given);
    if (!tensor.is_contiguous()) throw ScriptError("ValueError", "the tensor is not contiguous: pass x.contiguous()");
    return {tensor.data<T>(), static_cast<size_t>(tensor.numel())};
  }
  static tsr_value to(tsr_interpreter* in, std::span<T> span) {
    static_assert(!std::is_const_v<T>, "a script may write into what it is given");
    return Convert<Tensor>::to(in, Tensor::from_blob(span.data(), {static_cast<int64_t>(span.size())}));
  }
};
#endif

}  // namespace tessera

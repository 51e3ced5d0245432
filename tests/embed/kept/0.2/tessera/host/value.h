// Ref, a value of a script that the host keeps, and Convert<T>, the way of a C++ type across the border.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tessera/host/error.h"
#include "tessera/host/tensor.h"
#include "tessera/tessera_c.h"

namespace tessera {

class Ref;

// How T crosses the border: `static T from(const Value&)` and `static tsr_value to(tsr_interpreter*, const T&)`, the second
// giving a share away. Hosts may specialise it for types of their own. <tessera/host/convert.h> has those for: bool, integers,
// floating numbers, enums, std::complex, std::string, std::string_view, Tensor, Ref, std::optional, std::vector, std::array,
// std::pair, std::tuple, std::map, std::unordered_map, std::set, std::unordered_set, std::variant, std::function, std::span (the
// elements of a tensor, shared), std::shared_ptr to and pointers to the host's own classes (Class<T>). One that says as well
// `static constexpr const char* script_type = "str"` is compared with the signatures that it stands in.
template <class T, class = void>
struct Convert;

namespace detail {

// A value with the interpreter that it belongs to, borrowed.
struct Borrowed {
  tsr_interpreter* in;
  tsr_value value;
};

// Values that are given back when the block ends.
template <size_t N>
struct OwnedValues {
  tsr_value values[N == 0 ? 1 : N];
  size_t made = 0;
  OwnedValues() = default;
  OwnedValues(const OwnedValues&) = delete;
  ~OwnedValues() {
    for (size_t i = 0; i < made; ++i) tsr_release(values[i]);
  }
  void add(tsr_value value) { values[made++] = value; }
};

template <class T>
using plain_t = std::remove_cv_t<std::remove_reference_t<T>>;
// What a C++ value is taken as: "text" and char[5] are std::string_view.
template <class T>
using crossing_t =
    std::conditional_t<std::is_convertible_v<const plain_t<T>&, const char*> && !std::is_null_pointer_v<plain_t<T>>,
                       std::string_view, plain_t<T>>;

template <class T, class = void>
struct has_convert_to : std::false_type {};
template <class T>
struct has_convert_to<T,
                      std::void_t<decltype(Convert<T>::to(std::declval<tsr_interpreter*>(), std::declval<const T&>()))>>
    : std::true_type {};

// A copy of an object of the host's class T, which the script owns (class.h).
template <class T>
tsr_value copy_to_script(tsr_interpreter* in, const T& object);

template <class T>
tsr_value to_script(tsr_interpreter* in, const T& value) {
  using Crossing = crossing_t<T>;
  if constexpr (std::is_pointer_v<plain_t<T>>) {
    if (value == nullptr) return tsr_none();
  }
  if constexpr (std::is_null_pointer_v<Crossing>) return tsr_none();
  else if constexpr (std::is_class_v<Crossing> && !has_convert_to<Crossing>::value) return copy_to_script(in, value);
  else if constexpr (std::is_same_v<Crossing, T>) return Convert<T>::to(in, value);
  else return Convert<Crossing>::to(in, Crossing(value));
}

template <class T>
inline constexpr bool is_named = false;
template <class T>
inline constexpr bool is_named<NamedArgument<T>> = true;

}  // namespace detail

// A value of a script, kept alive for as long as the Ref lives. One that outlives its interpreter is empty: everything but
// destroying and assigning it throws.
class Ref {
 public:
  Ref() = default;
  // Takes the share over.
  Ref(tsr_interpreter* in, tsr_value value) : in_(tsr_share(in)), value_(value) {}
  Ref(const Ref& other)
      : in_(other.in_ != nullptr ? tsr_share(other.in_) : nullptr), value_(tsr_retain(other.value_)) {}
  Ref(Ref&& other) noexcept : in_(std::exchange(other.in_, nullptr)), value_(std::exchange(other.value_, tsr_none())) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(in_, other.in_);
    std::swap(value_, other.value_);
    return *this;
  }
  ~Ref() {
    tsr_release(value_);
    if (in_ != nullptr) tsr_unshare(in_);
  }

  bool is_none() const { return value_.kind == TSR_NONE; }
  tsr_type type() const { return tsr_type_of(value_); }
  std::string type_name() const { return tsr_type_name(value_); }
  std::string str() const { return text_of(&tsr_to_str); }
  std::string repr() const { return text_of(&tsr_repr); }
  // What help(value) prints.
  std::string help() const { return text_of(&tsr_help); }
  bool truth() const { return ask<bool>(&tsr_as_bool); }
  int64_t size() const { return ask<int64_t>(&tsr_length); }  // len()

  // ScriptError when it is another type (TypeError) or does not fit (OverflowError).
  template <class T>
  T as() const {
    return Convert<T>::from({in_, value_});
  }

  // Calls it; keywords are arg("name", value), behind the others.
  template <class... Arguments>
  Ref operator()(const Arguments&... arguments) const {
    constexpr size_t count = sizeof...(Arguments);
    constexpr size_t named = (size_t{0} + ... + (detail::is_named<Arguments> ? 1 : 0));
    detail::OwnedValues<count> values;
    const char* names[named + 1] = {};
    [[maybe_unused]] size_t next_name = 0;
    (add_argument(values, names, next_name, arguments), ...);
    tsr_value result = tsr_none();
    detail::ErrorSlot error;
    const detail::Shell in(in_);
    error.check(tsr_call(in, value_, values.values, count, names, named, &result, error));
    return {in, result};
  }

  // Arguments whose number is known when the program runs.
  Ref apply(const std::vector<Ref>& positional, const std::vector<std::pair<std::string, Ref>>& keywords = {}) const {
    std::vector<tsr_value> values;
    std::vector<const char*> names;
    for (const Ref& argument : positional) values.push_back(argument.value_);
    for (const auto& [name, argument] : keywords) {
      names.push_back(name.c_str());
      values.push_back(argument.value_);
    }
    tsr_value result = tsr_none();
    detail::ErrorSlot error;
    const detail::Shell in(in_);
    error.check(tsr_call(in, value_, values.data(), values.size(), names.data(), names.size(), &result, error));
    return {in, result};
  }

  Ref attribute(const char* name) const { return made_by(&tsr_get_attribute, name); }
  bool has_attribute(const char* name) const {
    tsr_value found = tsr_none();
    tsr_error* raised = nullptr;
    if (tsr_get_attribute(in_, value_, name, &found, &raised)) {
      tsr_release(found);
      return true;
    }
    const ScriptError told(raised);
    if (!told.is("AttributeError")) throw told;
    return false;
  }
  template <class T>
  void set_attribute(const char* name, const T& value) const {
    detail::OwnedValues<1> owned;
    owned.add(detail::to_script(in_, value));
    detail::ErrorSlot error;
    error.check(tsr_set_attribute(in_, value_, name, owned.values[0], error));
  }
  // A method: object.call("append", 3).
  template <class... Arguments>
  Ref call(const char* method, const Arguments&... arguments) const {
    return attribute(method)(arguments...);
  }
  // object[key].
  template <class K>
  Ref operator[](const K& key) const {
    detail::OwnedValues<1> owned;
    owned.add(detail::to_script(in_, key));
    return made_by(&tsr_get_item, owned.values[0]);
  }
  // The value of a dict's key, or `otherwise` where it has none.
  template <class T, class K>
  T get(const K& key, T otherwise) const {
    return contains(key) ? (*this)[key].template as<T>() : otherwise;
  }
  // `key in object`.
  template <class K>
  bool contains(const K& key) const {
    return call("__contains__", key).truth();
  }
  template <class K>
  void delete_item(const K& key) const {
    detail::OwnedValues<1> owned;
    owned.add(detail::to_script(in_, key));
    detail::ErrorSlot error;
    error.check(tsr_delete_item(in_, value_, owned.values[0], error));
  }
  bool is_instance(const Ref& type) const {
    bool answer = false;
    detail::ErrorSlot error;
    error.check(tsr_is_instance(in_, value_, type.value_, &answer, error));
    return answer;
  }
  bool equals(const Ref& other) const {
    bool answer = false;
    detail::ErrorSlot error;
    error.check(tsr_equal(in_, value_, other.value_, &answer, error));
    return answer;
  }
  template <class K, class T>
  void set_item(const K& key, const T& value) const {
    detail::OwnedValues<2> owned;
    owned.add(detail::to_script(in_, key));
    owned.add(detail::to_script(in_, value));
    detail::ErrorSlot error;
    error.check(tsr_set_item(in_, value_, owned.values[0], owned.values[1], error));
  }
  // f(Ref) for each item of anything that can be iterated.
  template <class F>
  void for_each(F&& f) const {
    const Ref iterator = made_by(&tsr_iterator);
    while (true) {
      tsr_value item = tsr_none();
      bool more = false;
      detail::ErrorSlot error;
      error.check(tsr_next(iterator.in_, iterator.value_, &item, &more, error));
      if (!more) return;
      f(Ref(iterator.in_, item));
    }
  }
  std::vector<Ref> items() const {
    std::vector<Ref> refs;
    for_each([&](Ref item) { refs.push_back(std::move(item)); });
    return refs;
  }

  // Of a dict: keys with their values.
  std::vector<std::pair<Ref, Ref>> pairs() const {
    std::vector<std::pair<Ref, Ref>> found;
    call("items").for_each([&](const Ref& pair) {
      const std::vector<Ref> both = pair.items();
      found.emplace_back(both.at(0), both.at(1));
    });
    return found;
  }
  // `for (const Ref& item : ref)`: what for_each does.
  class Iterator;
  Iterator begin() const;
  Iterator end() const;

  tsr_interpreter* interpreter() const { return in_; }
  tsr_value value() const { return value_; }  // borrowed

 private:
  template <size_t N, class T>
  void add_argument(detail::OwnedValues<N>& values, const char** names, size_t& next, const T& argument) const {
    if constexpr (detail::is_named<T>) {
      names[next++] = argument.name;
      values.add(detail::to_script(in_, argument.value));
    } else {
      values.add(detail::to_script(in_, argument));
    }
  }
  template <class F, class... Arguments>
  Ref made_by(F function, Arguments... arguments) const {
    tsr_value result = tsr_none();
    detail::ErrorSlot error;
    const detail::Shell in(in_);
    error.check(function(in, value_, arguments..., &result, error));
    return {in, result};
  }
  std::string text_of(bool (*function)(tsr_interpreter*, tsr_value, tsr_value*, tsr_error**)) const {
    const Ref made = made_by(function);
    const char* data = nullptr;
    size_t size = 0;
    detail::ErrorSlot error;
    error.check(tsr_as_text(in_, made.value_, &data, &size, error));
    return {data, size};
  }
  template <class T>
  T ask(bool (*function)(tsr_interpreter*, tsr_value, T*, tsr_error**)) const {
    T answer{};
    detail::ErrorSlot error;
    error.check(function(in_, value_, &answer, error));
    return answer;
  }

  tsr_interpreter* in_ = nullptr;
  tsr_value value_ = tsr_none();
};

class Ref::Iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Ref;
  using difference_type = std::ptrdiff_t;
  using pointer = const Ref*;
  using reference = const Ref&;

  Iterator() = default;  // the end
  explicit Iterator(Ref iterator) : iterator_(std::move(iterator)), more_(true) { ++*this; }
  const Ref& operator*() const { return item_; }
  const Ref* operator->() const { return &item_; }
  Iterator& operator++() {
    tsr_value item = tsr_none();
    detail::ErrorSlot error;
    error.check(tsr_next(iterator_.in_, iterator_.value_, &item, &more_, error));
    item_ = more_ ? Ref(iterator_.in_, item) : Ref();
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const Iterator& a, const Iterator& b) { return a.more_ == b.more_; }
  friend bool operator!=(const Iterator& a, const Iterator& b) { return a.more_ != b.more_; }

 private:
  Ref iterator_, item_;
  bool more_ = false;
};

inline Ref::Iterator Ref::begin() const { return Iterator(made_by(&tsr_iterator)); }
inline Ref::Iterator Ref::end() const { return {}; }

}  // namespace tessera

// Names of classes that are written in the language here and in C in CPython: messages of errors name a class of C with its module, a class
// written in Python without. The library hands its list to the interpreter (Host::classes_of_c).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tessera::lang {

class ClassNames {
 public:
  // The names, "datetime.date", are sorted and outlive this object.
  template <size_t N>
  constexpr explicit ClassNames(const std::string_view (&names)[N]) : names_(names) {
    for (const std::string_view name : names) letters_[letters_of(name.front(), name.back(), name.size())] = true;
  }

  // Returns the entry "module.name", or an empty text if the list does not name that class.
  std::string_view find(std::string_view module, std::string_view name) const;

 private:
  // A few letters of each name: most classes are found not to be in the list without a search.
  static constexpr uint32_t letters_of(char first, char last, size_t size) {
    return (static_cast<unsigned char>(first) * 7u + static_cast<unsigned char>(last) + static_cast<uint32_t>(size) * 3u) % 256;
  }

  std::span<const std::string_view> names_;
  std::array<bool, 256> letters_{};
};

}  // namespace tessera::lang

// Finding bytes in bytes. The C library's memmem sets up a table for every call, which costs more than most searches.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tessera::lang {

constexpr size_t kNowhere = std::string_view::npos;

class Interpreter;

// The first place of `needle` at `from` or behind it; an empty needle is everywhere. A long search looks now and then whether
// the program is to stop (Interpreter::check_stop).
size_t find_text(Interpreter& in, std::string_view text, std::string_view needle, size_t from = 0);
// The last place.
size_t rfind_text(Interpreter& in, std::string_view text, std::string_view needle);

// The places of one byte, from the front on. Eight bytes are looked at together, which places close by share; the text must stay.
class PlacesOf {
 public:
  PlacesOf(Interpreter& in, std::string_view text, char byte)
      : in_(in), text_(text), wanted_(kOnes * static_cast<unsigned char>(byte)) {}

  // kNowhere: there is none any more.
  size_t next() {
    while (found_ == 0) {
      if (ahead_ >= text_.size()) return kNowhere;
      look();
    }
    const size_t at = ahead_ - 8 + static_cast<size_t>(std::countr_zero(found_)) / 8;
    found_ &= found_ - 1;
    return at;
  }

 private:
  static constexpr uint64_t kOnes = 0x0101010101010101, kLows = 0x7f * kOnes;
  static_assert(std::endian::native == std::endian::little);

  void look() {
    if (ahead_ % kWindow == 0) check_stop();
    uint64_t word = ~wanted_;  // of the bytes behind the end none is found
    std::memcpy(&word, text_.data() + ahead_, std::min<size_t>(8, text_.size() - ahead_));
    const uint64_t differs = word ^ wanted_;
    found_ = ~(((differs & kLows) + kLows) | differs | kLows);  // the top bit of each byte that is zero
    ahead_ += 8;
  }
  static constexpr size_t kWindow = size_t{1} << 20;  // bytes between two looks at whether to stop
  void check_stop();

  Interpreter& in_;
  std::string_view text_;
  uint64_t wanted_;
  uint64_t found_ = 0;  // a bit for each place among the eight bytes before ahead_
  size_t ahead_ = 0;
};

}  // namespace tessera::lang

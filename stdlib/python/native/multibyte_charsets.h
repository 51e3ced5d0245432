// Encodings of East Asia whose characters take one to four bytes, each without a state: GBK, Shift-JIS, EUC, Big5 and their kin.
//
// The C library's iconv has the tables. Where CPython maps a character in another way, a row of fixes says so: tests compare every code
// point and every sequence. What an iconv of another system lacks is an encoding that this program does not know.
#pragma once

#include <iconv.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tessera::stdlib {

struct Charset;

// The row of an encoding by CPython's name of it, or nullptr.
const Charset* find_charset(std::string_view name);

// One conversion: the handles of iconv are open as long as it lives.
class CharsetConverter {
 public:
  explicit CharsetConverter(const Charset& charset);
  ~CharsetConverter();
  CharsetConverter(const CharsetConverter&) = delete;
  CharsetConverter& operator=(const CharsetConverter&) = delete;

  // Whether the C library knows the encoding.
  bool is_open() const;

  // The bytes of a character, good until the next call; nothing: the encoding has none for it.
  std::optional<std::string_view> encode(uint32_t code_point);

  struct Decoded {
    uint32_t code_point = 0;
    size_t size = 0;  // of the sequence; 0: the bytes mean no character
    bool cut_off = false;  // more bytes are needed to tell
  };
  // The character at the beginning of `bytes`, which are not empty.
  Decoded decode(std::string_view bytes);

 private:
  std::optional<uint32_t> look_up(std::string_view sequence);
  std::optional<std::string_view> put(uint32_t sequence);
  void fill_preferred();

  const Charset& charset_;
  iconv_t to_, from_;
  char bytes_[16];
  std::unordered_map<uint32_t, uint16_t> preferred_;  // by character: sequences of rows that come before those of iconv
};

}  // namespace tessera::stdlib

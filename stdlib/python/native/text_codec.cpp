// compile: small (the system calls take longer)
#include "stdlib/python/native/text_codec.h"

#include <cstring>

#include "lang/types/str.h"
#include "stdlib/namespaces.h"

namespace tessera::stdlib {

bool find_encoding(std::string_view name, Encoding& out) {
  std::string plain;
  for (char c : name) {
    if (c != '-' && c != '_' && c != ' ') plain += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  }
  if (plain == "utf8" || plain == "u8") {
    out = Encoding::Utf8;
  } else if (plain == "utf8sig") {
    out = Encoding::Utf8Signature;
  } else if (plain == "ascii" || plain == "usascii") {
    out = Encoding::Ascii;
  } else if (plain == "latin1" || plain == "iso88591" || plain == "l1") {
    out = Encoding::Latin1;
  } else {
    return false;
  }
  return true;
}

void Decoder::bad(std::string_view bytes, size_t first, size_t count, const char* reason, std::string& out) const {
  constexpr uint32_t kEscape = 0xDC00;  // a byte from 0x80 on becomes a lone surrogate
  if (on_error_ == OnError::SurrogateEscape) {
    for (const char c : bytes.substr(first, count)) append_char(out, kEscape + static_cast<uint8_t>(c));
    return;
  }
  if (on_error_ == OnError::Strict) {
    throw DecodeFailure{static_cast<uint8_t>(bytes[first]), offset_ + first, offset_ + first + count - 1, reason,
                        encoding_ == Encoding::Ascii ? "ascii" : "utf-8"};
  }
  if (on_error_ == OnError::Replace) append_char(out, 0xFFFD);
}

// How many bytes from `at` on are ASCII, eight at a time.
size_t ascii_run(std::string_view bytes, size_t at) {
  size_t i = at;
  for (uint64_t word; i + sizeof word <= bytes.size(); i += sizeof word) {
    std::memcpy(&word, bytes.data() + i, sizeof word);
    if (word & 0x8080808080808080U) break;
  }
  while (i < bytes.size() && static_cast<uint8_t>(bytes[i]) < 0x80) ++i;
  return i - at;
}

// Answers how many bytes are done; the rest is the begin of a character.
size_t Decoder::decode_utf8(std::string_view bytes, bool last, std::string& out) {
  const auto at = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  size_t i = 0;
  while (i < bytes.size()) {
    const uint8_t c = at(i);
    if (c < 0x80) {
      const size_t run = ascii_run(bytes, i);
      out.append(bytes, i, run);
      i += run;
      continue;
    }
    const size_t need = c >= 0xF0 && c <= 0xF4 ? 4 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xC2 && c < 0xE0 ? 2 : 0;
    if (need == 0) {
      bad(bytes, i++, 1, "invalid start byte", out);
      continue;
    }
    const uint8_t low = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80;
    const uint8_t high = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
    size_t got = 1;
    while (got < need && i + got < bytes.size() && at(i + got) >= (got == 1 ? low : 0x80) &&
           at(i + got) <= (got == 1 ? high : 0xBF))
      ++got;
    if (got == need) {
      out.append(bytes.substr(i, need));
      i += need;
    } else if (i + got >= bytes.size()) {
      if (!last) return i;
      bad(bytes, i, got, "unexpected end of data", out);
      i += got;
    } else {
      bad(bytes, i, got, "invalid continuation byte", out);
      i += got;
    }
  }
  return i;
}

void LineEnds::note(std::string_view text, bool last) {
  size_t i = 0;
  if (after_return_ && !text.empty()) {
    after_return_ = false;
    const bool both = text[0] == '\n';
    seen_ |= both ? kBoth : kReturn;
    i = both;
  }
  if (text.find('\r', i) == std::string_view::npos) {
    if (text.find('\n', i) != std::string_view::npos) seen_ |= kNewline;
  } else {
    while ((i = text.find_first_of("\r\n", i)) != std::string_view::npos) {
      const bool at_end = i + 1 == text.size(), both = text[i] == '\r' && !at_end && text[i + 1] == '\n';
      if (text[i] == '\r' && at_end) after_return_ = true;
      else seen_ |= text[i] == '\n' ? kNewline : both ? kBoth : kReturn;
      i += both ? 2 : 1;
    }
  }
  if (last && after_return_) {
    after_return_ = false;
    seen_ |= kReturn;
  }
}

void Decoder::decode(std::string_view bytes, bool last, std::string& out, LineEnds* ends) {
  carry_.append(bytes);
  std::string text;
  size_t done = carry_.size();
  if (encoding_ == Encoding::Latin1) {
    for (char c : carry_) append_char(text, static_cast<uint8_t>(c));
  } else if (encoding_ == Encoding::Ascii) {
    for (size_t i = 0; i < carry_.size(); ++i) {
      const uint8_t c = static_cast<uint8_t>(carry_[i]);
      c < 128 ? append_char(text, c) : bad(carry_, i, 1, "ordinal not in range(128)", text);
    }
  } else {
    done = decode_utf8(carry_, last, text);
  }
  offset_ += done;
  carry_.erase(0, done);
  if (!started_ && !text.empty()) {
    started_ = true;
    if (encoding_ == Encoding::Utf8Signature && text.compare(0, 3, "\xEF\xBB\xBF") == 0) text.erase(0, 3);
  }
  translate(text, last, out, ends);
}

void Decoder::translate(std::string_view text, bool last, std::string& out, LineEnds* ends) {
  if (ends != nullptr) ends->note(text, last);
  if (!translate_) {
    out += text;
    return;
  }
  // Without a carriage return every line end is what it should be.
  size_t i = after_return_ && !text.empty() && text[0] == '\n' ? 1 : 0;
  if (!text.empty()) after_return_ = false;
  while (i < text.size()) {
    const size_t end = text.find('\r', i);
    out.append(text.substr(i, end - i));
    if (end == std::string_view::npos) break;
    out += '\n';
    i = end + 1;
    if (i == text.size()) after_return_ = true;
    else if (text[i] == '\n') ++i;
  }
}

}  // namespace tessera::stdlib

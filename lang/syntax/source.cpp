// Normalisation of program text, and the lazily built table of line starts.
#include "lang/syntax/source.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tessera::lang {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

std::string normalise(std::string_view text) {
  if (text.substr(0, 3) == kByteOrderMark) text.remove_prefix(3);
  if (text.find('\r') == std::string_view::npos) return std::string(text);
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      result += text[i];
      continue;
    }
    result += '\n';
    if (i + 1 < text.size() && text[i + 1] == '\n') ++i;
  }
  return result;
}

}  // namespace

std::uint32_t count_characters(std::string_view utf8) {
  return static_cast<std::uint32_t>(
      std::count_if(utf8.begin(), utf8.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

Source::Source(std::string name, std::string_view text) : name_(std::move(name)), text_(normalise(text)) {}

Source::Source(std::string name, Read read, const void* of) : name_(std::move(name)), read_(read), of_(of) {}

void Source::read_text() const {
  text_ = normalise(read_(of_));
  read_ = nullptr;
}

const std::vector<std::uint32_t>& Source::line_starts() const {
  if (!line_starts_.empty()) return line_starts_;
  const char* const begin = text().data();
  line_starts_.push_back(0);
  const char* end = begin + text_.size();
  for (const char* at = begin; at != end;) {
    at = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
    if (at == nullptr) break;
    line_starts_.push_back(static_cast<std::uint32_t>(++at - begin));
  }
  return line_starts_;
}

std::uint32_t Source::line_number(std::uint32_t byte) const {
  const auto& starts = line_starts();
  return static_cast<std::uint32_t>(std::upper_bound(starts.begin(), starts.end(), byte) - starts.begin());
}

std::uint32_t Source::line_count() const { return static_cast<std::uint32_t>(line_starts().size()); }

std::uint32_t Source::line_begin(std::uint32_t number) const {
  const auto& starts = line_starts();
  if (number == 0 || number > starts.size()) return static_cast<std::uint32_t>(text().size());
  return starts[number - 1];
}

std::string_view Source::line(std::uint32_t number) const {
  const auto& starts = line_starts();
  if (number == 0 || number > starts.size()) return {};
  std::size_t begin = starts[number - 1];
  std::size_t end = number < starts.size() ? starts[number] - 1 : text().size();
  return text().substr(begin, end - begin);
}

Position Source::position(std::uint32_t byte) const {
  byte = std::min(byte, static_cast<std::uint32_t>(text().size()));
  Position result;
  result.line = line_number(byte);
  std::uint32_t begin = line_begin(result.line);
  result.byte_column = byte - begin;
  result.column = count_characters(text().substr(begin, byte - begin));
  return result;
}

}  // namespace tessera::lang

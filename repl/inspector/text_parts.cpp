#include "repl/inspector/text_parts.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "repl/characters.h"

namespace tessera::repl {
namespace {

// The longest end that takes no more columns.
std::string_view ending(std::string_view text, size_t width) {
  const size_t enough = 16 * width + 16;  // bytes: a character of four, with three that combine with it
  if (text.size() > enough) text.remove_prefix(text.size() - enough);
  while (!text.empty() && (static_cast<unsigned char>(text[0]) & 0xc0) == 0x80) text.remove_prefix(1);
  while (display_width(text) > width) text.remove_prefix(code_point_at(text, 0).bytes);
  return text;
}

std::string formatted(const char* format, double x) {
  char text[40];
  std::snprintf(text, sizeof text, format, x);
  return text;
}

constexpr size_t kGap = 2;  // between two columns

}  // namespace

size_t display_width(std::string_view text) {
  size_t width = 0;
  for (size_t at = 0; at < text.size();) {
    if (text.substr(at, 2) == "\x1b[") {
      at = std::min(text.find('m', at), text.size() - 1) + 1;
      continue;
    }
    const CodePoint point = code_point_at(text, at);
    width += static_cast<size_t>(columns_of(point.code));
    at += point.bytes;
  }
  return width;
}

std::string harmless(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    if (is_order(point.code)) out += '?';
    else append_utf8(out, point.code);
    at += point.bytes;
  }
  return out;
}

std::string shortened(std::string_view text, size_t width, const Style& style) {
  if (display_width(text) <= width) return std::string(text);
  const std::string sign = style.unicode ? "…" : "~";
  if (width <= 1) return width == 0 ? "" : sign;
  const size_t kept = width - 1;  // of names the end says more
  return std::string(fitting(text, static_cast<int>(kept / 3))) + sign + std::string(ending(text, kept - kept / 3));
}

std::string padded(std::string text, size_t width, bool right) {
  const size_t has = display_width(text);
  if (has >= width) return text;
  return right ? std::string(width - has, ' ') + text : text + std::string(width - has, ' ');
}

std::string number_text(double x) {
  if (std::isnan(x)) return "nan";
  if (x == std::floor(x) && std::abs(x) < 1e7) return formatted("%.0f", x == 0 ? 0.0 : x);
  return formatted("%.4g", x);
}

std::string count_text(int64_t n) {
  std::string digits = std::to_string(n);
  for (size_t at = digits.size(); at > 3 + (n < 0 ? 1u : 0u);) digits.insert(at -= 3, ",");
  return digits;
}

std::string bytes_text(int64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double x = static_cast<double>(bytes);
  size_t unit = 0;
  for (; x >= 1023.95 && unit < 5; ++unit) x /= 1024;
  static constexpr const char* kUnits[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB"};
  return formatted("%.1f", x) + kUnits[unit];
}

std::string plural(int64_t n, std::string_view one) {
  return count_text(n) + " " + std::string(one) + (n == 1 ? "" : "s");
}

std::string Paint::operator()(std::string_view text, Kind kind) const {
  if (colours_ == Style::Colours::kNone || kind == kPlain || text.empty()) return std::string(text);
  static constexpr const char* kCodes[] = {"", "1", "2", "32", "33", "1;31", "36"};
  return std::string("\x1b[") + kCodes[kind] + "m" + std::string(text) + "\x1b[0m";
}

std::string Paint::code(int which, Rgb c) const {
  const bool all = colours_ == Style::Colours::kTrue;
  return all || colours_ == Style::Colours::k256 ? stdlib::colour_sequence(which, c, all) : "";
}

void TextTable::add(std::vector<Cell> row) {
  for (Cell& cell : row) cell.text = harmless(cell.text);
  rows_.push_back(std::move(row));
}

// 0 for a column that has nothing to say.
std::vector<size_t> TextTable::widths() const {
  std::vector<size_t> out(columns_.size(), 0);
  for (const auto& row : rows_)
    for (size_t i = 0; i < row.size(); ++i) out[i] = std::max(out[i], display_width(row[i].text));
  for (size_t i = 0; i < out.size(); ++i)
    if (out[i] > 0) out[i] = std::max(out[i], display_width(columns_[i].title));
  return out;
}

size_t TextTable::total(const std::vector<size_t>& width) {
  size_t sum = 0;
  for (const size_t w : width) sum += w == 0 ? 0 : w + (sum == 0 ? 0 : kGap);
  return sum;
}

// Narrows what may be narrower, the widest first, as long as it takes too much. No column to less than `least`.
void TextTable::shrink(std::vector<size_t>& width, size_t columns, size_t least) const {
  const auto may = [&](size_t i) {
    return columns_[i].least != kWhole && width[i] > (least == 0 ? columns_[i].least : least);
  };
  while (total(width) > columns) {
    size_t widest = width.size();
    for (size_t i = 0; i < width.size(); ++i)
      if (may(i) && (widest == width.size() || width[i] > width[widest])) widest = i;
    if (widest == width.size()) return;
    --width[widest];
  }
}

// Takes the column out that can be missed before the others; false: all that are left stay.
bool TextTable::drop_one(std::vector<size_t>& width) const {
  size_t goes = width.size();
  for (size_t i = 0; i < width.size(); ++i)
    if (width[i] > 0 && columns_[i].rank > (goes == width.size() ? 0 : columns_[goes].rank)) goes = i;
  if (goes == width.size()) return false;
  width[goes] = 0;
  return true;
}

std::vector<size_t> TextTable::fitted(size_t columns) const {
  constexpr size_t kTight = 7;
  for (std::vector<size_t> width = widths();;) {
    std::vector<size_t> narrow = width;
    shrink(narrow, columns, 0);
    if (total(narrow) <= columns) return narrow;
    if (drop_one(width)) continue;
    shrink(narrow, columns, kTight);
    return narrow;
  }
}

std::string TextTable::text(const Style& style) const {
  const std::vector<size_t> width = fitted(style.columns);
  const Paint paint(style);
  std::string out;
  const auto line = [&](auto&& cell) {
    size_t owed = 0;  // blanks, written when something follows them
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (width[i] == 0) continue;
      const Cell c = cell(i);
      const std::string text = shortened(c.text, width[i], style);
      const size_t blanks = width[i] - display_width(text);
      if (columns_[i].right) owed += blanks;
      if (!text.empty()) {
        out += std::string(owed, ' ') + paint(text, c.paint);
        owed = 0;
      }
      owed += (columns_[i].right ? 0 : blanks) + kGap;
    }
    out += "\n";
  };
  line([&](size_t i) { return Cell{columns_[i].title, Paint::kFaint}; });
  for (const auto& row : rows_) line([&](size_t i) { return i < row.size() ? row[i] : Cell{}; });
  return out;
}

}  // namespace tessera::repl

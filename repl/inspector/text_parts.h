// What texts for a Style are made of: columns of a terminal, colours, numbers as a person reads them, tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "repl/session/client.h"
#include "stdlib/matplotlib/native/terminal_picture.h"

namespace tessera::repl {

// Columns that a text takes: 2 for wide characters, 0 for those that combine and for the codes of colours.
size_t display_width(std::string_view text);
// A name that a script has made up, for a terminal: what that would take for an order is a ?.
std::string harmless(std::string_view text);
// Not wider than `width`; the middle of a longer text becomes one sign.
std::string shortened(std::string_view text, size_t width, const Style& style);
std::string padded(std::string text, size_t width, bool right = false);

std::string number_text(double x);                    // 4 digits, as PyTorch prints: "0.1235", "1e+08", "nan"
std::string count_text(int64_t n);                    // "1,234,567"
std::string bytes_text(int64_t bytes);                // "512 B", "4.7 KiB"
std::string plural(int64_t n, std::string_view one);  // "1 tensor", "3 tensors"

using stdlib::Rgb;

// Escapes of a Style's colours; without colours the text stays as it is.
class Paint {
 public:
  enum Kind : uint8_t { kPlain, kBold, kFaint, kGood, kWarn, kBad, kName };
  explicit Paint(const Style& style) : colours_(style.colours) {}
  std::string operator()(std::string_view text, Kind kind) const;
  // The codes alone, for cells of pictures; with 256 colours the nearest of its cube. Empty below that.
  std::string foreground(Rgb colour) const { return code(38, colour); }
  std::string background(Rgb colour) const { return code(48, colour); }
  std::string end() const { return colours_ == Style::Colours::kNone ? "" : "\x1b[0m"; }

 private:
  std::string code(int which, Rgb colour) const;
  Style::Colours colours_;
};

// A table that keeps to a width: columns that may shrink do, as far as they are still good to read; then those that can be
// missed go, by their rank; and when only those are left that always stay, they shrink further.
class TextTable {
 public:
  static constexpr size_t kWhole = 1000;  // it does not shrink
  struct Column {
    std::string title;
    bool right = false;
    int rank = 0;           // the highest goes first; 0 always stays
    size_t least = kWhole;  // to which it may shrink while others could go
  };
  struct Cell {
    std::string text;
    Paint::Kind paint = Paint::kPlain;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<Cell> row);  // with texts of scripts: they are made harmless
  bool empty() const { return rows_.empty(); }
  std::string text(const Style& style) const;  // each line ends with a newline; columns of blanks alone are left out

 private:
  std::vector<size_t> widths() const;
  std::vector<size_t> fitted(size_t columns) const;
  void shrink(std::vector<size_t>& width, size_t columns, size_t least) const;
  bool drop_one(std::vector<size_t>& width) const;
  static size_t total(const std::vector<size_t>& width);

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace tessera::repl

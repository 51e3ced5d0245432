#include "repl/prompt/screen.h"

#include <algorithm>
#include <utility>

namespace tessera::repl {
namespace {

constexpr std::string_view kEraseLine = "\x1b[K", kEraseBelow = "\x1b[J", kEraseAll = "\x1b[H\x1b[2J";

std::string sequence(size_t number, char letter) { return "\x1b[" + std::to_string(number) + letter; }

}  // namespace

void Screen::resize(int columns, int rows) {
  columns = std::max(columns, 2);
  // A terminal that has become narrower has wrapped our rows itself: what stands above the cursor takes more of them. One that
  // has become wider joins nothing, since each of our rows has its own line end.
  if (columns < columns_) {
    size_t above = 0;
    for (size_t i = 0; i < shown_.rows.size() && i < row_; ++i)
      above += static_cast<size_t>(std::max(shown_.rows[i].columns - 1, 0) / columns);
    row_ += above + static_cast<size_t>(column_ / columns);
    made_ += above;
  }
  columns_ = columns;
  rows_ = std::max(rows, 1);
}

void Screen::begin() {
  shown_ = Layout();
  top_ = row_ = 0;
  column_ = 0;
  made_ = 1;
}

std::string Screen::paint(const View& view) { return draw(lay_out(view, columns_, rows_, top_)); }

std::string Screen::paint_anew(const View& view) {
  std::string bytes;
  move(bytes, 0, 0);
  bytes += kEraseBelow;
  const size_t top = top_;
  begin();
  top_ = top;
  return bytes + paint(view);
}

std::string Screen::paint_cleared(const View& view) {
  begin();
  return std::string(kEraseAll) + paint(view);
}

std::string Screen::finish(View view) {
  view.below.clear();
  view.suggestion.clear();
  view.brackets.reset();
  view.hit_begin = view.hit_end = 0;
  view.cursor = view.text.size();
  std::string bytes;
  size_t top = 0;
  Layout whole = lay_out(view, columns_, 0, top);
  if (top_ != 0 || whole.rows.size() > static_cast<size_t>(rows_)) {  // more than was to be seen
    move(bytes, 0, 0);
    bytes += kEraseBelow;
    begin();
  }
  top_ = 0;
  bytes += draw(std::move(whole));
  bytes += "\r\n";
  begin();
  return bytes;
}

void Screen::move(std::string& bytes, size_t row, int column) {
  if (row < row_) bytes += sequence(row_ - row, 'A');
  if (row > row_) {
    const size_t there = std::min(row, made_ - 1);
    if (there > row_) bytes += sequence(there - row_, 'B');
    for (size_t made = std::max(there, row_); made < row; ++made) {  // a new line, which may scroll
      bytes += "\r\n";
      column_ = 0;
    }
    made_ = std::max(made_, row + 1);
  }
  row_ = row;
  if (column == column_) return;
  bytes += column == 0 ? "\r" : sequence(static_cast<size_t>(column) + 1, 'G');
  column_ = column;
}

void Screen::write_cells(std::string& bytes, const Row& row, size_t from) {
  Look look = Look::kPlain;
  for (size_t i = from; i < row.cells.size(); ++i) {
    const Cell& cell = row.cells[i];
    if (cell.look != look) {
      if (!sequence_of(look, colours_).empty()) bytes += kReset;
      bytes += sequence_of(cell.look, colours_);
      look = cell.look;
    }
    bytes.append(row.text, cell.begin, cell.bytes);
    column_ += cell.columns;
  }
  if (!sequence_of(look, colours_).empty()) bytes += kReset;
  if (column_ >= columns_) column_ = -1;  // at the margin, where terminals differ: the next movement is to be written
}

std::string Screen::draw(Layout next) {
  std::string bytes;
  static const Row kNone;
  for (size_t i = 0; i < next.rows.size(); ++i) {
    const Row &row = next.rows[i], &old = i < shown_.rows.size() ? shown_.rows[i] : kNone;
    if (i < shown_.rows.size() && row == old) continue;
    size_t same = 0;
    int column = 0;
    while (same < row.cells.size() && same < old.cells.size() && row.same_cell(same, old))
      column += row.cells[same++].columns;
    if (same == row.cells.size() && same == old.cells.size() && i < made_) continue;
    if (column >= columns_) continue;
    move(bytes, i, column);
    write_cells(bytes, row, same);
    if (row.columns < old.columns) bytes += kEraseLine;
  }
  if (shown_.rows.size() > next.rows.size()) {
    move(bytes, next.rows.size(), 0);
    bytes += kEraseBelow;
  }
  move(bytes, next.cursor_row, next.cursor_column);
  shown_ = std::move(next);
  return bytes;
}

}  // namespace tessera::repl

// What stands on the terminal of the block that is being edited, and the bytes that make it another picture: only cells that
// changed are written, all of them at once.
#pragma once

#include <string>

#include "repl/prompt/layout.h"

namespace tessera::repl {

class Screen {
 public:
  explicit Screen(Style::Colours colours) : colours_(colours) {}

  void resize(int columns, int rows);
  int columns() const { return columns_; }
  int rows() const { return rows_; }

  // The cursor is at the beginning of an empty line, below all that was written.
  void begin();
  // Bytes that show the view.
  std::string paint(const View& view);
  // Bytes that show it as it stays: the whole block, nothing below it, the cursor in the line after it.
  std::string finish(View view);
  // The same after something else has written over it: from its first row on, as far as that can be known.
  std::string paint_anew(const View& view);
  // On an empty screen, at its top.
  std::string paint_cleared(const View& view);

 private:
  std::string draw(Layout next);
  void move(std::string& bytes, size_t row, int column);
  void write_cells(std::string& bytes, const Row& row, size_t from);

  Style::Colours colours_;
  int columns_ = 80, rows_ = 24;
  size_t top_ = 0;
  Layout shown_;
  size_t made_ = 1;  // rows of the terminal that are ours: the cursor may go down to them
  size_t row_ = 0;   // where the terminal's cursor is
  int column_ = 0;
};

}  // namespace tessera::repl

// The block with its prompts and what is shown below it, as rows of a terminal: wrapped at its width, and no more of them
// than it has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "repl/session/theme.h"
#include "repl/session/highlight.h"

namespace tessera::repl {

struct Piece {
  std::string text;
  Look look = Look::kPlain;
};
using Pieces = std::vector<Piece>;

// What there is to show.
struct View {
  std::string text;
  size_t cursor = 0;
  std::vector<TokenSpan> spans;
  std::optional<std::pair<size_t, size_t>> brackets;
  size_t hit_begin = 0, hit_end = 0;  // what a search found
  Pieces prompt;                      // of the first line
  Pieces continuation;                // of the others, as wide
  std::string suggestion;             // behind the end of the text
  std::vector<Pieces> below;          // a line each, cut at the width
};

// One character with what combines with it.
struct Cell {
  uint32_t begin;  // in Row::text
  uint8_t bytes;   // a longer heap of combining marks is cut
  uint8_t columns;
  Look look;
};

struct Row {
  std::string text;
  std::vector<Cell> cells;
  int columns = 0;

  void add(std::string_view character, int width, Look look);
  bool same_cell(size_t i, const Row& other) const;
  bool operator==(const Row& other) const;
};

struct Layout {
  std::vector<Row> rows;
  size_t cursor_row = 0;
  int cursor_column = 0;
};

// Pieces as lines of at most `columns`, and at most `most` of them: what is left over is cut.
std::vector<Pieces> wrapped(const Pieces& pieces, int columns, size_t most);

// At most `rows` rows (0: as many as there are). `top` is the first row of the block that is shown: it is kept as long as the
// cursor can be seen, so that the text stands still while the cursor moves.
Layout lay_out(const View& view, int columns, int rows, size_t& top);

}  // namespace tessera::repl

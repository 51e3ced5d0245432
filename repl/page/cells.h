// A document's text as cells: lines that begin with `# %%` (or `#%%`) divide it, but for those inside a string of several lines.
// What stands behind is the cell's title; `# %% [markdown]` begins a cell of text, whose lines are comments. A line of a notebook's
// cell that would divide stands in the text with a backslash: `# \%%`. A cell that ends inside a string is `# %% [open string]`: in it
// strings are not followed, so that it ends where the next one begins. The browser divides alike (web/cells.js).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::repl::page {

enum class CellKind { kCode, kMarkdown, kRaw };

// Offsets in UTF-16 units. What stands before the first dividing line is a cell when it is not blank.
struct CellSpan {
  size_t begin = 0;  // of the dividing line, where there is one
  size_t body = 0, end = 0;
  CellKind kind = CellKind::kCode;
  bool is_open = false;  // `[open string]`
  std::string title;
};

// At least one: an empty text is an empty cell.
std::vector<CellSpan> split_cells(std::u16string_view text);

// What a notebook has as the cell's source: without the newlines at its end and the backslash of `# \%%`, a text's without `# `.
std::string source_of(std::u16string_view text, const CellSpan& cell);

// And back: the dividing line and what follows, with a newline at the end.
std::string cell_text(CellKind kind, std::string_view title, std::string_view source);

// What is run of a block of the editor: `# \%%` is `# %%`.
std::string code_of_block(std::string_view text);

}  // namespace tessera::repl::page

// A document's text as cells: lines that begin with `# %%` (or `#%%`) divide it. What stands behind is the cell's title;
// `# %% [markdown]` begins a cell of text, whose lines are comments.
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
  std::string title;
};

// At least one: an empty text is an empty cell.
std::vector<CellSpan> split_cells(std::u16string_view text);

// What a notebook has as the cell's source: without the newlines at its end, and a text's without `# `.
std::string source_of(std::u16string_view text, const CellSpan& cell);

// And back: the dividing line and what follows, with a newline at the end.
std::string cell_text(CellKind kind, std::string_view title, std::string_view source);

}  // namespace tessera::repl::page

// Notebooks (.ipynb, nbformat 4, and 3 to read): what they have as a document's cells, and back.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "repl/page/cells.h"
#include "repl/page/message.h"

namespace tessera::repl::page {

struct NotebookCell {
  CellKind kind = CellKind::kCode;
  std::string source;
  std::string title;             // metadata.title
  std::string rest = "{}";       // JSON: id, metadata, attachments and whatever else it has
  int number = 0;                // execution_count; 0: none
  std::vector<Message> outputs;  // as messages to a browser (protocol.md), without `block`
};

struct Notebook {
  int minor = 5;
  std::string rest;  // JSON: its metadata and whatever else it has; empty: a new one's
  std::vector<NotebookCell> cells;
};

// Nothing where it is no notebook: `problem` is a sentence without its subject ("is damaged at byte 17: ...").
std::optional<Notebook> read_notebook(std::string_view text, std::string& problem);

std::string write_notebook(const Notebook& notebook);

}  // namespace tessera::repl::page

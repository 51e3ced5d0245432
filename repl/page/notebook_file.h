// Notebooks (.ipynb, nbformat 4, and 3 to read): what they have as a document's cells, and back.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "repl/page/cells.h"
#include "repl/page/message.h"

namespace tessera::repl::page {

// A cell as the file has it. What nobody touched of it goes back as it is written there.
struct OriginalCell {
  std::string json;
  size_t place = 0;  // among the cells
  bool has_carriage_returns = false;
  // As they came out of the document's text before anybody touched it.
  CellKind kind = CellKind::kCode;
  std::string title, source;
};

// The file's text around its cells.
struct NotebookFrame {
  std::string before, after;
  std::vector<std::string> between;
  size_t cells = 0;
};

struct NotebookCell {
  CellKind kind = CellKind::kCode;
  std::string source;
  std::string title;                            // metadata.title
  std::string rest = "{}";                      // JSON: id, metadata, attachments and whatever else it has
  int number = 0;                               // execution_count; 0: none
  std::shared_ptr<OriginalCell> original = {};  // null: a new one, or of version 3
  bool has_run = true;                          // the outputs are no longer those of the file
  std::vector<Message> outputs;                 // as messages to a browser (protocol.md), without `block`
};

struct Notebook {
  int minor = 5;
  std::string rest;                            // JSON: its metadata and whatever else it has; empty: a new one's
  std::shared_ptr<const NotebookFrame> frame;  // null: a new one, or of version 3
  std::vector<NotebookCell> cells;
};

// Nothing where it is no notebook: `problem` is a sentence without its subject ("is damaged at byte 17: ...").
std::optional<Notebook> read_notebook(std::string_view text, std::string& problem);

std::string write_notebook(const Notebook& notebook);

}  // namespace tessera::repl::page

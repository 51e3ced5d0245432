// What is edited: one text, of which every tab has a copy. Each edit is made on a version and makes the next one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "repl/page/cells.h"
#include "repl/page/message.h"
#include "repl/page/notebook_file.h"

namespace tessera::repl::page {

struct Change {
  size_t from = 0, to = 0;  // UTF-16 units of the text that the changes before it left
  std::u16string text;
};

// What a cell has besides its text. It stands at a place in the text and moves with it.
struct CellRecord {
  static constexpr size_t kMostBytes = size_t(16) << 20;

  std::shared_ptr<OriginalCell> original;
  size_t begin = 0;
  bool is_lost = false;       // the place was taken out of the text
  std::string rest = "{}";    // JSON: what a notebook says of the cell and nobody here understands
  std::string source;         // its text when it last ran or was read
  int number = 0;             // execution_count
  bool is_from_file = false;  // the outputs are, and no block of this session said them
  std::vector<Message> outputs;
  size_t bytes = 0;  // of the outputs

  void start(int count, std::string text);
  // Streams beyond the bound are left out.
  void add(const std::string& type, const Message& message);
};

class Document {
 public:
  static constexpr size_t kMostUnits = size_t(16) << 20;

  std::string name = "untitled.tsr";
  std::string path;            // below the served folder; empty: never saved
  std::string format = "tsr";  // or "ipynb"

  const std::u16string& text() const { return text_; }
  int64_t version() const { return version_; }
  bool is_saved() const { return version_ == saved_version_; }
  void set_saved() { saved_version_ = version_; }
  void set_unsaved() { saved_version_ = -1; }

  // All of them or none: a sentence says why not.
  std::string apply(const std::vector<Change>& changes);
  // Another text in its place; versions go on, so that no edit of the old one fits.
  void replace(std::u16string text);
  void replace(const Notebook& notebook);

  // The cell's record, made where there is none; null: there is no such cell.
  std::shared_ptr<CellRecord> record_of(size_t cell);
  // Of each cell, null where it has none.
  std::vector<std::shared_ptr<CellRecord>> records(const std::vector<CellSpan>& cells) const;
  Notebook notebook() const;

 private:
  std::u16string text_;
  int64_t version_ = 0, saved_version_ = 0;
  std::vector<std::shared_ptr<CellRecord>> records_;
  std::string notebook_rest_;
  int notebook_minor_ = 5;
  std::shared_ptr<const NotebookFrame> notebook_frame_;
};

}  // namespace tessera::repl::page

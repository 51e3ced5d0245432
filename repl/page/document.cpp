#include "repl/page/document.h"

#include <algorithm>
#include <utility>

#include "repl/page/line_ends.h"
#include "repl/page/utf16.h"

namespace tessera::repl::page {
namespace {

void move(CellRecord& record, const Change& change) {
  if (record.begin >= change.to) {
    record.begin += change.text.size();
    record.begin -= change.to - change.from;
  } else if (record.begin >= change.from) {
    record.begin = change.from;
    record.is_lost = true;
  }
}

// The cell to which the place belongs.
size_t cell_at(const std::vector<CellSpan>& cells, size_t place) {
  const auto after = std::upper_bound(cells.begin(), cells.end(), place,
                                      [](size_t wanted, const CellSpan& cell) { return wanted < cell.begin; });
  return after == cells.begin() ? 0 : static_cast<size_t>(after - cells.begin()) - 1;
}

}  // namespace

void CellRecord::start(int count, std::string text) {
  number = count;
  source = std::move(text);
  outputs.clear();
  is_from_file = false;
  bytes = 0;
}

void CellRecord::add(const std::string& type, const Message& message) {
  if (bytes + message->size() > kMostBytes && type == "stream") return;
  bytes += message->size();
  outputs.push_back(message);
}

std::string Document::apply(const std::vector<Change>& changes) {
  size_t size = text_.size();
  for (const Change& change : changes) {
    if (change.from > change.to || change.to > size) return "The edit is of a place that the text does not have.";
    size += change.text.size() - (change.to - change.from);
    if (size > kMostUnits) return "The document would be longer than 16 million characters.";
  }
  for (const Change& change : changes) {
    text_.replace(change.from, change.to - change.from, change.text);
    for (const auto& record : records_) move(*record, change);
  }
  ++version_;
  return "";
}

void Document::replace(std::u16string text) {
  text_ = std::move(text);
  records_.clear();
  notebook_rest_.clear();
  notebook_minor_ = 5;
  notebook_frame_.reset();
  ++version_;
}

void Document::replace(const Notebook& notebook) {
  std::u16string text;
  std::vector<std::shared_ptr<CellRecord>> records;
  for (const NotebookCell& cell : notebook.cells) {
    auto record = std::make_shared<CellRecord>();
    if (!text.empty()) text += u'\n';
    record->begin = text.size();
    record->rest = cell.rest;
    record->original = cell.original;
    std::string source = cell.source;
    drop_carriage_returns(source);
    record->start(cell.number, source);
    for (const Message& message : cell.outputs) record->add("", message);
    record->is_from_file = true;
    records.push_back(std::move(record));
    text += to_utf16(cell_text(cell.kind, cell.title, source));
  }
  replace(std::move(text));
  records_ = std::move(records);
  notebook_rest_ = notebook.rest;
  notebook_minor_ = notebook.minor;
  notebook_frame_ = notebook.frame;
  const std::vector<CellSpan> cells = split_cells(text_);
  for (size_t i = 0; i < cells.size() && i < records_.size(); ++i) {
    records_[i]->source = source_of(text_, cells[i]);
    if (OriginalCell* const original = records_[i]->original.get()) {
      original->kind = cells[i].kind;
      original->title = cells[i].title;
      original->source = records_[i]->source;
    }
  }
}

// A record belongs to the cell in which it stands. One that has no cell that way goes to a cell without a record whose text it
// has: cells that were moved, or taken away and put back.
std::vector<std::shared_ptr<CellRecord>> Document::records(const std::vector<CellSpan>& cells) const {
  std::vector<std::shared_ptr<CellRecord>> found(cells.size());
  std::vector<std::shared_ptr<CellRecord>> left;
  for (const auto& record : records_) {
    std::shared_ptr<CellRecord>& place = found[cell_at(cells, record->begin)];
    if (record->is_lost || place != nullptr) left.push_back(record);
    else place = record;
  }
  if (left.empty()) return found;
  for (size_t at = 0; at < cells.size(); ++at) {
    if (found[at] != nullptr) continue;
    const std::string source = source_of(text_, cells[at]);
    const auto same = std::find_if(left.begin(), left.end(), [&](const auto& each) { return each->source == source; });
    if (same == left.end()) continue;
    found[at] = *same;
    left.erase(same);
  }
  return found;
}

std::shared_ptr<CellRecord> Document::record_of(size_t cell) {
  const std::vector<CellSpan> cells = split_cells(text_);
  if (cell >= cells.size()) return nullptr;
  std::shared_ptr<CellRecord> record = records(cells)[cell];
  if (record == nullptr) records_.push_back(record = std::make_shared<CellRecord>());
  record->begin = cells[cell].begin;
  record->is_lost = false;
  return record;
}

Notebook Document::notebook() const {
  Notebook notebook;
  notebook.rest = notebook_rest_;
  notebook.minor = notebook_minor_;
  notebook.frame = notebook_frame_;
  if (notebook.frame != nullptr && notebook.frame->cells == 0 && text_.empty()) return notebook;
  const std::vector<CellSpan> cells = split_cells(text_);
  const auto found = records(cells);
  for (size_t i = 0; i < cells.size(); ++i) {
    NotebookCell cell{
        .kind = cells[i].kind, .source = source_of(text_, cells[i]), .title = cells[i].title, .outputs = {}};
    if (const CellRecord* const record = found[i].get()) {
      cell.rest = record->rest;
      cell.number = record->number;
      cell.original = record->original;
      cell.has_run = !record->is_from_file;
      cell.outputs = record->outputs;
    }
    notebook.cells.push_back(std::move(cell));
  }
  return notebook;
}

}  // namespace tessera::repl::page

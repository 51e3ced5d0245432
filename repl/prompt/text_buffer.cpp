#include "repl/prompt/text_buffer.h"

#include <algorithm>
#include <utility>

#include "repl/characters.h"

namespace tessera::repl {
namespace {

constexpr size_t kChangesKept = 2000;
constexpr size_t kKillsKept = 60;

}  // namespace

bool is_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

void TextBuffer::reset(std::string text) {
  text_ = std::move(text);
  cursor_ = text_.size();
  done_.clear();
  undone_.clear();
  open_ = false;
  group_ = 0;
}

void TextBuffer::move_to(size_t position) {
  position = std::min(position, text_.size());
  if (position != cursor_) open_ = false;
  if (position != wanted_at_) wanted_column_ = -1;
  cursor_ = position;
}

void TextBuffer::replace(size_t begin, size_t end, std::string_view by) {
  if (begin == end && by.empty()) return;
  undone_.clear();
  wanted_column_ = -1;
  const bool adds = begin == end && by.find('\n') == by.npos;
  const bool grows = open_ && adds && !done_.empty() && done_.back().at + done_.back().added.size() == begin &&
                     !(done_.back().added.ends_with(' ') && by != " ");  // undone word by word
  if (grows) {
    done_.back().added += by;
  } else {
    done_.push_back({begin, text_.substr(begin, end - begin), std::string(by), cursor_, group_});
    if (done_.size() > kChangesKept) done_.erase(done_.begin());
  }
  open_ = adds;
  text_.replace(begin, end - begin, by);
  cursor_ = begin + by.size();
}

bool TextBuffer::undo() {
  if (done_.empty()) return false;
  do {
    take_back();
  } while (!done_.empty() && done_.back().group != 0 && done_.back().group == undone_.back().group);
  return true;
}

bool TextBuffer::redo() {
  if (undone_.empty()) return false;
  do {
    do_again();
  } while (!undone_.empty() && undone_.back().group != 0 && undone_.back().group == done_.back().group);
  return true;
}

void TextBuffer::take_back() {
  Change change = std::move(done_.back());
  done_.pop_back();
  text_.replace(change.at, change.added.size(), change.removed);
  cursor_ = change.cursor_before;
  undone_.push_back(std::move(change));
  open_ = false;
}

void TextBuffer::do_again() {
  Change change = std::move(undone_.back());
  undone_.pop_back();
  text_.replace(change.at, change.removed.size(), change.added);
  cursor_ = change.at + change.added.size();
  done_.push_back(std::move(change));
  open_ = false;
}

size_t TextBuffer::right_of(size_t from) const { return character_after(text_, from); }

size_t TextBuffer::left_of(size_t from) const { return character_before(text_, from); }

size_t TextBuffer::line_begin(size_t at) const {
  if (at == 0) return 0;
  const size_t before = text_.rfind('\n', at - 1);
  return before == std::string::npos ? 0 : before + 1;
}

size_t TextBuffer::line_end(size_t at) const { return std::min(text_.find('\n', at), text_.size()); }

size_t TextBuffer::first_of_line(size_t at) const {
  const size_t begin = line_begin(at), end = line_end(at);
  return std::min(text_.find_first_not_of(" \t", begin), end);
}

size_t TextBuffer::word_right(size_t from) const {
  while (from < text_.size() && !is_word_byte(text_[from])) ++from;
  while (from < text_.size() && is_word_byte(text_[from])) ++from;
  return from;
}

size_t TextBuffer::word_left(size_t from) const {
  while (from > 0 && !is_word_byte(text_[from - 1])) --from;
  while (from > 0 && is_word_byte(text_[from - 1])) --from;
  return from;
}

int TextBuffer::column_of(size_t at) const {
  const size_t begin = line_begin(at);
  return columns_of(std::string_view(text_).substr(begin, at - begin));
}

size_t TextBuffer::at_column(size_t line, int column) const {
  const std::string_view whole(text_);
  return line + fitting(whole.substr(line, line_end(line) - line), column).size();
}

size_t TextBuffer::line_above(size_t at) const {
  const size_t begin = line_begin(at);
  if (begin == 0) return std::string::npos;
  if (wanted_column_ < 0 || wanted_at_ != at) wanted_column_ = column_of(at);
  return wanted_at_ = at_column(line_begin(begin - 1), wanted_column_);
}

size_t TextBuffer::line_below(size_t at) const {
  const size_t end = line_end(at);
  if (end == text_.size()) return std::string::npos;
  if (wanted_column_ < 0 || wanted_at_ != at) wanted_column_ = column_of(at);
  return wanted_at_ = at_column(end + 1, wanted_column_);
}

bool TextBuffer::in_indentation() const {
  const size_t begin = line_begin(cursor_);
  return text_.find_first_not_of(" \t", begin) >= cursor_;
}

std::string_view TextBuffer::line_at(size_t at) const {
  const size_t begin = line_begin(at);
  return std::string_view(text_).substr(begin, line_end(at) - begin);
}

void KillRing::add(std::string text, bool joins, bool before) {
  if (text.empty()) return;
  if (joins && !kept_.empty()) {
    kept_.back() = before ? text + kept_.back() : kept_.back() + text;
  } else {
    kept_.push_back(std::move(text));
    if (kept_.size() > kKillsKept) kept_.erase(kept_.begin());
  }
  at_ = kept_.size() - 1;
}

const std::string& KillRing::newest() const { return kept_.back(); }

const std::string& KillRing::rotate() {
  at_ = at_ == 0 ? kept_.size() - 1 : at_ - 1;
  return kept_[at_];
}

}  // namespace tessera::repl

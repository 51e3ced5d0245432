// The commands that move the cursor and change the text: short, and named by the keymaps.
#include <algorithm>
#include <cctype>
#include <utility>

#include "repl/prompt/editor.h"
#include "repl/session/highlight.h"

namespace tessera::repl {

Effect Editor::left() {
  buffer_.move_to(buffer_.left_of(buffer_.cursor()));
  return Effect::kNone;
}

Effect Editor::right() {
  if (!take_suggestion(false)) buffer_.move_to(buffer_.right_of(buffer_.cursor()));
  return Effect::kNone;
}

Effect Editor::word_left() {
  buffer_.move_to(buffer_.word_left(buffer_.cursor()));
  return Effect::kNone;
}

Effect Editor::word_right() {
  if (!take_suggestion(true)) buffer_.move_to(buffer_.word_right(buffer_.cursor()));
  return Effect::kNone;
}

// To the first character of the line, and from there to its margin.
Effect Editor::line_begin() {
  const size_t first = buffer_.first_of_line(buffer_.cursor());
  buffer_.move_to(buffer_.cursor() == first ? buffer_.line_begin(first) : first);
  return Effect::kNone;
}

Effect Editor::line_end() {
  if (!take_suggestion(false)) buffer_.move_to(buffer_.line_end(buffer_.cursor()));
  return Effect::kNone;
}

Effect Editor::block_begin() {
  buffer_.move_to(0);
  return Effect::kNone;
}

Effect Editor::block_end() {
  buffer_.move_to(buffer_.text().size());
  return Effect::kNone;
}

Effect Editor::back_tab() {
  const size_t line = buffer_.line_begin(buffer_.cursor()), first = buffer_.first_of_line(line);
  const size_t cursor = buffer_.cursor(), less = std::min(kIndentation, first - line);
  whole_ = false;
  buffer_.erase(line, line + less);
  buffer_.move_to(std::max(line, cursor - std::min(cursor, less)));
  return Effect::kNone;
}

Effect Editor::backspace() {
  const size_t cursor = buffer_.cursor();
  if (cursor == 0) return Effect::kNone;
  size_t begin = buffer_.left_of(cursor);
  const size_t line = buffer_.line_begin(cursor);
  // In the indentation: back to the level before.
  if (cursor > line && buffer_.in_indentation() && buffer_.text().find('\t', line) >= cursor)
    begin = line + (cursor - line - 1) / kIndentation * kIndentation;
  whole_ = false;
  walk_.edited();
  buffer_.erase(begin, cursor);
  return Effect::kNone;
}

Effect Editor::delete_right() {
  whole_ = false;
  walk_.edited();
  buffer_.erase(buffer_.cursor(), buffer_.right_of(buffer_.cursor()));
  return Effect::kNone;
}

void Editor::kill(size_t begin, size_t end, bool before) {
  now_ = Last::kKill;
  if (begin >= end) return;
  whole_ = false;
  walk_.edited();
  kills_.add(buffer_.text().substr(begin, end - begin), last_ == Last::kKill, before);
  buffer_.erase(begin, end);
}

Effect Editor::kill_line_right() {
  const size_t cursor = buffer_.cursor(), end = buffer_.line_end(cursor);
  kill(cursor, end == cursor ? buffer_.right_of(cursor) : end, false);
  return Effect::kNone;
}

Effect Editor::kill_line_left() {
  const size_t cursor = buffer_.cursor(), begin = buffer_.line_begin(cursor);
  kill(begin == cursor ? buffer_.left_of(cursor) : begin, cursor, true);
  return Effect::kNone;
}

Effect Editor::kill_word_left() {
  const std::string& text = buffer_.text();
  const auto is_blank = [&](size_t at) { return text[at] == ' ' || text[at] == '\t' || text[at] == '\n'; };
  size_t begin = buffer_.cursor();
  while (begin > 0 && is_blank(begin - 1)) --begin;
  while (begin > 0 && !is_blank(begin - 1)) --begin;
  kill(begin, buffer_.cursor(), true);
  return Effect::kNone;
}

Effect Editor::kill_word_part_left() {
  kill(buffer_.word_left(buffer_.cursor()), buffer_.cursor(), true);
  return Effect::kNone;
}

Effect Editor::kill_word_right() {
  kill(buffer_.cursor(), buffer_.word_right(buffer_.cursor()), false);
  return Effect::kNone;
}

Effect Editor::yank() {
  if (kills_.empty()) return Effect::kNone;
  now_ = Last::kYank;
  whole_ = false;
  yanked_ = buffer_.cursor();
  buffer_.seal();
  buffer_.insert(kills_.newest());
  buffer_.seal();
  return Effect::kNone;
}

Effect Editor::yank_older() {
  if (last_ != Last::kYank) return Effect::kNone;
  now_ = Last::kYank;
  buffer_.replace(yanked_, buffer_.cursor(), kills_.rotate());
  return Effect::kNone;
}

Effect Editor::insert_last_word() {
  const std::vector<std::string>& blocks = *sources_.history;
  words_from_ = last_ == Last::kLastWord ? words_from_ + 1 : 1;
  if (words_from_ > blocks.size()) return Effect::kNone;
  now_ = Last::kLastWord;
  const std::string& block = blocks[blocks.size() - words_from_];
  const size_t end = block.find_last_not_of(" \t\n") + 1;
  const size_t begin = block.find_last_of(" \t\n", end == 0 ? 0 : end - 1) + 1;
  whole_ = false;
  if (words_from_ == 1) yanked_ = buffer_.cursor();
  buffer_.replace(yanked_, buffer_.cursor(), std::string_view(block).substr(begin, end - std::min(begin, end)));
  return Effect::kNone;
}

Effect Editor::undo() {
  if (buffer_.undo()) whole_ = false;
  walk_.edited();
  return Effect::kNone;
}

Effect Editor::redo() {
  if (buffer_.redo()) whole_ = false;
  walk_.edited();
  return Effect::kNone;
}

// The character before the cursor and the one at it; at the end of a line the two before.
Effect Editor::transpose() {
  size_t at = buffer_.cursor();
  if (at == buffer_.line_end(at)) at = buffer_.left_of(at);
  if (at <= buffer_.line_begin(at)) return Effect::kNone;
  const size_t begin = buffer_.left_of(at), end = buffer_.right_of(at);
  const std::string& text = buffer_.text();
  const std::string turned = text.substr(at, end - at) + text.substr(begin, at - begin);
  whole_ = false;
  buffer_.replace(begin, end, turned);
  return Effect::kNone;
}

template <typename Change>
Effect Editor::change_word(Change change) {
  size_t begin = buffer_.cursor();
  const size_t end = buffer_.word_right(begin);
  std::string word = buffer_.text().substr(begin, end - begin);
  bool first = true;
  for (char& c : word) {
    if (!is_word_byte(c)) continue;
    if (static_cast<unsigned char>(c) < 0x80) c = static_cast<char>(change(c, first));
    first = false;
  }
  whole_ = false;
  buffer_.replace(begin, end, word);
  return Effect::kNone;
}

Effect Editor::upper_word() {
  return change_word([](char c, bool) { return std::toupper(c); });
}

Effect Editor::lower_word() {
  return change_word([](char c, bool) { return std::tolower(c); });
}

Effect Editor::capital_word() {
  return change_word([](char c, bool first) { return first ? std::toupper(c) : std::tolower(c); });
}

}  // namespace tessera::repl

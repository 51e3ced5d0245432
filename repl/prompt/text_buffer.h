// The block that is being edited: its text, the cursor, undo and redo, what was killed. Positions are bytes, always between
// two characters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::repl {

class TextBuffer {
 public:
  const std::string& text() const { return text_; }
  size_t cursor() const { return cursor_; }
  bool empty() const { return text_.empty(); }
  bool at_end() const { return cursor_ == text_.size(); }

  // Another text, with no way back.
  void reset(std::string text = "");
  void move_to(size_t position);

  // Every change goes through here. The cursor stands behind what was put in.
  void replace(size_t begin, size_t end, std::string_view by);
  void insert(std::string_view text) { replace(cursor_, cursor_, text); }
  void erase(size_t begin, size_t end) { replace(begin, end, ""); }

  // Characters put in one after another are undone together, up to seal() or a change elsewhere.
  bool undo();
  bool redo();
  void seal() { open_ = false; }
  // Changes from here to the next call are undone as one.
  void start_group() { ++group_; }

  // Where a movement from `from` would end.
  size_t right_of(size_t from) const;
  size_t left_of(size_t from) const;
  size_t line_begin(size_t at) const;
  size_t line_end(size_t at) const;       // at the newline, or the text's end
  size_t first_of_line(size_t at) const;  // behind the indentation
  size_t word_right(size_t from) const;   // Emacs': the end of the next run of letters, digits and _
  size_t word_left(size_t from) const;
  size_t line_above(size_t at) const;  // the same column one line up; npos: there is none
  size_t line_below(size_t at) const;

  bool on_first_line() const { return line_begin(cursor_) == 0; }
  bool on_last_line() const { return line_end(cursor_) == text_.size(); }
  bool is_one_line() const { return text_.find('\n') == std::string::npos; }
  // The indentation of the line and nothing else stands before the cursor.
  bool in_indentation() const;
  std::string_view line_at(size_t at) const;

 private:
  struct Change {
    size_t at;
    std::string removed, added;
    size_t cursor_before;
    size_t group;  // 0: by itself
  };
  void take_back();
  void do_again();
  int column_of(size_t at) const;
  size_t at_column(size_t line, int column) const;

  std::string text_;
  size_t cursor_ = 0;
  std::vector<Change> done_, undone_;
  size_t group_ = 0;
  bool open_ = false;               // the last change may grow
  mutable int wanted_column_ = -1;  // that of a movement up or down through shorter lines
  mutable size_t wanted_at_ = 0;    // where the cursor stands as long as that movement goes on
};

// What was cut, the newest last.
class KillRing {
 public:
  // `joins`: the last command cut as well, and this belongs to it, behind or before.
  void add(std::string text, bool joins, bool before);
  const std::string& newest() const;
  const std::string& rotate();  // the one before, round and round
  bool empty() const { return kept_.empty(); }

 private:
  std::vector<std::string> kept_;
  size_t at_ = 0;
};

bool is_word_byte(char c);  // letters, digits, _, and all of what is not ASCII

}  // namespace tessera::repl

// compile: small (waits for a person)
#include "repl/prompt/vi_keys.h"

#include <algorithm>
#include <cctype>

#include "repl/prompt/editor.h"

namespace tessera::repl {
void ViKeys::start() {
  mode_ = ViMode::kInsert;
  visual_ = 0;
  if (!replaying_) recording_.clear();
  done();
}

void ViKeys::done() {
  count_ = operator_count_ = 0;
  operator_ = waiting_ = 0;
}

bool ViKeys::press(Editor& editor, const Key& key, Effect& effect) {
  if (mode_ == ViMode::kNormal && idle() && !replaying_) {
    recording_.clear();
    changes_ = false;
    editor.buffer_.start_group();  // a command is undone as one
  }
  if (!replaying_) recording_.push_back(key);
  if (key.name == "Escape" || key.name == "C-[") {
    if (mode_ != ViMode::kNormal) to_normal(editor);
    visual_ = 0;
    done();
    return true;
  }
  if (mode_ == ViMode::kInsert) return false;
  if (mode_ == ViMode::kReplace) {
    if (key.text.empty() || key.is_paste()) return false;
    press_replace(editor, key);
    return true;
  }
  const bool ours = press_normal(editor, key, effect);
  if (ours && idle() && mode_ == ViMode::kNormal) {
    if (changes_ && !replaying_) last_change_ = recording_;
    const TextBuffer& buffer = editor.buffer_;
    const size_t end = buffer.line_end(buffer.cursor());
    if (buffer.cursor() == end && buffer.line_begin(end) != end) editor.buffer_.move_to(buffer.left_of(end));
  }
  return ours;
}

void ViKeys::to_normal(Editor& editor) {
  mode_ = ViMode::kNormal;
  TextBuffer& buffer = editor.buffer_;
  buffer.seal();
  if (buffer.cursor() > buffer.line_begin(buffer.cursor())) buffer.move_to(buffer.left_of(buffer.cursor()));
  if (changes_ && !replaying_) last_change_ = recording_;
}

void ViKeys::to_insert(Editor& editor, size_t at) {
  editor.buffer_.move_to(at);
  editor.buffer_.seal();
  mode_ = ViMode::kInsert;
  changes_ = true;
}

void ViKeys::press_replace(Editor& editor, const Key& key) {
  TextBuffer& buffer = editor.buffer_;
  const size_t at = buffer.cursor();
  buffer.replace(at, at < buffer.line_end(at) ? buffer.right_of(at) : at, key.text);
}

bool ViKeys::press_normal(Editor& editor, const Key& key, Effect& effect) {
  const std::string& name = key.name;
  if (waiting_ != 0) return complete_waiting(editor, name);
  if (count_digit(name)) return true;
  if (visual_ != 0) return press_visual(editor, name);
  if (operator_ == 0 && (name == "v" || name == "V")) {
    visual_ = name[0];
    anchor_ = editor.buffer_.cursor();
    done();
    return true;
  }
  if (name == "Enter") {
    effect = enter(editor);
    return true;
  }
  if (name == "/" || name == "?") {
    done();
    effect = name == "/" ? editor.search_older() : editor.search_newer();
    return true;
  }
  if (operator_ == 0 && (name == "n" || name == "N")) {
    done();
    editor.search_again(name == "n");
    return true;
  }
  if (operator_key(editor, name) || move(editor, name)) return true;
  if (operator_ != 0) {  // no motion: the operator is dropped
    done();
    return true;
  }
  if (insert_command(editor, name) || change(editor, name)) return true;
  done();
  return !key.text.empty();  // letters without a meaning do nothing; control keys are those of insert mode
}

std::optional<std::pair<size_t, size_t>> ViKeys::selection(const TextBuffer& buffer) const {
  if (visual_ == 0) return std::nullopt;
  const size_t anchor = std::min(anchor_, buffer.text().size());
  const size_t first = std::min(anchor, buffer.cursor()), last = std::max(anchor, buffer.cursor());
  if (visual_ == 'V') return std::make_pair(buffer.line_begin(first), buffer.line_end(last));
  return std::make_pair(first, buffer.right_of(last));
}

bool ViKeys::press_visual(Editor& editor, const std::string& key) {
  if (key == "v" || key == "V") {
    visual_ = key[0] == visual_ ? '\0' : key[0];
  } else if (key == "o") {
    const size_t cursor = editor.buffer_.cursor();
    editor.buffer_.move_to(anchor_);
    anchor_ = cursor;
  } else if (key.size() == 1 && std::string_view("dcyxs<>").find(key[0]) != std::string_view::npos) {
    const auto marked = *selection(editor.buffer_);
    const bool lines = visual_ == 'V';
    visual_ = 0;
    operator_ = key == "x" ? 'd' : key == "s" ? 'c' : key[0];
    operate(editor, marked.first, marked.second, lines);
    if (mode_ == ViMode::kNormal) changes_ = false;  // '.' has no marks to repeat it on
    return true;
  } else if (move(editor, key)) {
    return true;
  } else if (key.size() > 1) {  // a control key: what it does has no marks
    visual_ = 0;
    done();
    return false;
  }
  done();
  return true;
}

Effect ViKeys::enter(Editor& editor) {
  done();
  editor.buffer_.move_to(editor.buffer_.text().size());
  mode_ = ViMode::kInsert;
  return editor.enter();
}

bool ViKeys::count_digit(const std::string& key) {
  if (key.size() != 1 || key[0] < '0' || key[0] > '9' || (key[0] == '0' && count_ == 0)) return false;
  count_ = std::min(count_ * 10 + (key[0] - '0'), 9999);
  return true;
}

bool ViKeys::operator_key(Editor& editor, const std::string& key) {
  if (key.size() != 1 || std::string_view("dcy<>").find(key[0]) == std::string_view::npos) return false;
  if (operator_ == 0) {
    operator_ = key[0];
    operator_count_ = count_;
    count_ = 0;
    return true;
  }
  if (operator_ != key[0]) {
    done();
    return true;
  }
  const TextBuffer& buffer = editor.buffer_;  // dd, cc, yy: lines
  size_t end = buffer.line_end(buffer.cursor());
  for (int i = 1; i < times() && end < buffer.text().size(); ++i) end = buffer.line_end(end + 1);
  operate(editor, buffer.line_begin(buffer.cursor()), end, true);
  return true;
}

// f F t T g r wait for one key more.
bool ViKeys::complete_waiting(Editor& editor, const std::string& key) {
  const char what = waiting_;
  waiting_ = 0;
  if (key == "Escape" || key.starts_with("C-")) {
    done();
  } else if (what == 'g') {
    if (key == "g") return move(editor, "gg");
    done();
  } else if (what == 'r') {
    replace_characters(editor, key);
    done();
  } else {
    last_find_ = {what, key};
    if (const auto motion = find(editor.buffer_, last_find_, editor.buffer_.cursor(), times())) {
      apply(editor, *motion);
    } else {
      done();
    }
  }
  return true;
}

bool ViKeys::move(Editor& editor, const std::string& key) {
  if (key.size() == 1 && std::string_view("fFtTgr").find(key[0]) != std::string_view::npos) {
    if (key[0] == 'r' && operator_ != 0) return false;
    waiting_ = key[0];
    return true;
  }
  const TextBuffer& buffer = editor.buffer_;
  // At the first and the last line these two go through the history.
  if (operator_ == 0 && visual_ == 0 &&
      ((key == "k" && buffer.on_first_line()) || (key == "j" && buffer.on_last_line()))) {
    const int steps = times();
    done();
    for (int i = 0; i < steps; ++i) key == "k" ? editor.up() : editor.down();
    return true;
  }
  std::optional<Motion> found = motion(buffer, key, buffer.cursor(), times());
  if (!found) return false;
  apply(editor, *found);
  return true;
}

void ViKeys::apply(Editor& editor, const Motion& motion) {
  TextBuffer& buffer = editor.buffer_;
  if (operator_ == 0) {
    buffer.move_to(motion.to);
    done();
    return;
  }
  size_t begin = std::min(motion.to, buffer.cursor()), end = std::max(motion.to, buffer.cursor());
  if (motion.inclusive) end = buffer.right_of(end);
  if (motion.lines) {
    begin = buffer.line_begin(begin);
    end = buffer.line_end(end);
  }
  operate(editor, begin, end, motion.lines);
}

// What the operator does from begin to end; `lines`: these are whole lines, without the last newline.
void ViKeys::operate(Editor& editor, size_t begin, size_t end, bool lines) {
  TextBuffer& buffer = editor.buffer_;
  const char what = operator_;
  done();
  if (what == '<' || what == '>') return indent(editor, begin, end, what == '>');
  editor.kills_.add(buffer.text().substr(begin, end - begin), false, false);
  lines_kept_ = lines;
  if (what == 'y') return buffer.move_to(lines ? buffer.cursor() : begin);
  changes_ = true;
  if (what == 'c') {
    if (lines) begin = std::min(buffer.first_of_line(begin), end);  // the indentation stays
    buffer.erase(begin, end);
    return to_insert(editor, begin);
  }
  if (lines && end < buffer.text().size()) {
    ++end;
  } else if (lines && begin > 0) {
    --begin;
  }
  buffer.erase(begin, end);
  buffer.move_to(lines ? buffer.first_of_line(begin) : begin);
}

void ViKeys::indent(Editor& editor, size_t begin, size_t end, bool deeper) {
  TextBuffer& buffer = editor.buffer_;
  changes_ = true;
  std::string text;
  for (size_t line = buffer.line_begin(begin);;) {
    const size_t line_end = buffer.line_end(line);
    std::string_view shown = buffer.line_at(line);
    if (deeper && !shown.empty()) text.append(kIndentation, ' ');
    if (!deeper) shown.remove_prefix(std::min({kIndentation, shown.size(), shown.find_first_not_of(' ')}));
    text += shown;
    if (line_end >= end || line_end == buffer.text().size()) {
      begin = buffer.line_begin(begin);
      buffer.replace(begin, line_end, text);
      return buffer.move_to(buffer.first_of_line(begin));
    }
    text += '\n';
    line = line_end + 1;
  }
}

void ViKeys::replace_characters(Editor& editor, const std::string& by) {
  TextBuffer& buffer = editor.buffer_;
  const size_t begin = buffer.cursor();
  size_t end = begin;
  std::string text;
  for (int i = 0; i < times(); ++i) {
    if (end >= buffer.line_end(begin)) return;
    end = buffer.right_of(end);
    text += by == "Enter" ? "\n" : by;
  }
  changes_ = true;
  buffer.replace(begin, end, text);
  buffer.move_to(buffer.left_of(buffer.cursor()));
}

void ViKeys::join(Editor& editor) {
  TextBuffer& buffer = editor.buffer_;
  const size_t end = buffer.line_end(buffer.cursor());
  if (end == buffer.text().size()) return;
  buffer.replace(end, buffer.first_of_line(end + 1), " ");
  buffer.move_to(end);
}

void ViKeys::change_case(Editor& editor) {
  TextBuffer& buffer = editor.buffer_;
  for (int i = 0; i < times() && buffer.cursor() < buffer.line_end(buffer.cursor()); ++i) {
    const size_t at = buffer.cursor(), end = buffer.right_of(at);
    const char c = buffer.text()[at];
    const auto turned =
        static_cast<char>(std::islower(static_cast<unsigned char>(c)) != 0 ? std::toupper(c) : std::tolower(c));
    if (end == at + 1) {
      buffer.replace(at, end, std::string(1, turned));
    } else {
      buffer.move_to(end);
    }
  }
}

void ViKeys::put(Editor& editor, bool behind) {
  if (editor.kills_.empty()) return;
  TextBuffer& buffer = editor.buffer_;
  std::string text;
  for (int i = 0; i < times(); ++i) text += (i > 0 && lines_kept_ ? "\n" : "") + editor.kills_.newest();
  if (lines_kept_) {
    const size_t at = behind ? buffer.line_end(buffer.cursor()) : buffer.line_begin(buffer.cursor());
    buffer.replace(at, at, behind ? "\n" + text : text + "\n");
    return buffer.move_to(buffer.first_of_line(behind ? at + 1 : at));
  }
  const size_t at =
      behind && buffer.cursor() < buffer.line_end(buffer.cursor()) ? buffer.right_of(buffer.cursor()) : buffer.cursor();
  buffer.replace(at, at, text);
  buffer.move_to(buffer.left_of(buffer.cursor()));
}

// Keys after which one types.
bool ViKeys::insert_command(Editor& editor, const std::string& key) {
  TextBuffer& buffer = editor.buffer_;
  const size_t at = buffer.cursor(), end = buffer.line_end(at);
  if (key == "i" || key == "Insert") {
    to_insert(editor, at);
  } else if (key == "a") {
    to_insert(editor, at < end ? buffer.right_of(at) : at);
  } else if (key == "I") {
    to_insert(editor, buffer.first_of_line(at));
  } else if (key == "A") {
    to_insert(editor, end);
  } else if (key == "o") {
    buffer.move_to(end);
    editor.new_line();
    to_insert(editor, buffer.cursor());
  } else if (key == "O") {
    const size_t line = buffer.line_begin(at);
    const std::string indentation(buffer.text(), line, buffer.first_of_line(at) - line);
    buffer.replace(line, line, indentation + "\n");
    to_insert(editor, line + indentation.size());
  } else if (key == "R") {
    mode_ = ViMode::kReplace;
    changes_ = true;
  } else if (key == "s" || key == "C" || key == "S") {
    operator_ = 'c';
    if (key == "s") return move(editor, "l");
    return key == "C" ? move(editor, "$") : operator_key(editor, "c");
  } else {
    return false;
  }
  done();
  return true;
}

bool ViKeys::change(Editor& editor, const std::string& key) {
  // Short forms of an operator with its motion.
  if (key == "x" || key == "Delete" || key == "X" || key == "D") {
    operator_ = 'd';
    return move(editor, key == "X" ? "h" : key == "D" ? "$" : "l");
  }
  if (key == "Y") {
    operator_ = 'y';
    return operator_key(editor, "y");
  }
  if (key == "u" || key == "C-r") {
    for (int i = 0; i < times(); ++i) key == "u" ? editor.undo() : editor.redo();
  } else if (key == ".") {
    repeat(editor);
  } else {
    changes_ = true;
    if (key == "p" || key == "P") {
      put(editor, key == "p");
    } else if (key == "J") {
      join(editor);
    } else if (key == "~") {
      change_case(editor);
    } else {
      changes_ = false;
      return false;
    }
  }
  done();
  return true;
}

void ViKeys::repeat(Editor& editor) {
  const int count = count_;
  done();
  const std::vector<Key> keys = last_change_;
  replaying_ = true;
  for (int i = 0; i < std::max(count, 1); ++i)
    for (const Key& key : keys) editor.press(key);
  replaying_ = false;
  changes_ = false;  // '.' itself is not what is repeated
}

}  // namespace tessera::repl

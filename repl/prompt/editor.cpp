// compile: small (once for a key)
#include "repl/prompt/editor.h"

#include <algorithm>
#include <utility>

#include "repl/characters.h"
#include "repl/prompt/paste.h"
#include "repl/session/highlight.h"

namespace tessera::repl {
namespace {

constexpr size_t kSignatureLines = 3;

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\n") == text.npos; }

}  // namespace

Editor::Editor(Sources sources, KeyStyle style) : sources_(std::move(sources)), style_(style) { start(); }

void Editor::start() {
  buffer_.reset();
  walk_.start(sources_.history);
  vi_.start();
  menu_.close();
  prefix_.clear();
  searching_ = whole_ = comes_indented_ = false;
  last_ = now_ = Last::kOther;
}

std::string Editor::block() const {
  const std::string& text = buffer_.text();
  const size_t end = text.find_last_not_of(" \t\n");
  // Blank lines before it go as well, but not its first line's indentation: that is an error to be seen.
  const size_t begin = end == text.npos ? 0 : buffer_.line_begin(text.find_first_not_of(" \t\n"));
  if (end == text.npos) return "";
  // A line that a backslash joins to the next one needs it.
  return text.substr(begin, end + 1 - begin) + (text[end] == '\\' && end + 1 < text.size() ? "\n" : "");
}

void Editor::set_text(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  buffer_.replace(0, buffer_.text().size(), text);
  whole_ = true;
}

// --- Keys

Effect Editor::press(const Key& key, char ahead) {
  ahead_ = ahead;
  // With vi's keys Escape ends the typing, however fast the next key comes: alt is no key of its own there.
  if (style_ == KeyStyle::kVi && key.name.starts_with("M-") && vi_insert_command(key.name) == nullptr) {
    press({"Escape", ""});
    const std::string rest = key.name.substr(2);
    return press({rest, character_after(rest, 0) == rest.size() ? rest : ""});
  }
  bool handled = false;
  Effect effect = Effect::kNone;
  now_ = Last::kOther;
  if (searching_) effect = press_searching(key, handled);
  if (!handled && menu_.is_open()) effect = press_menu(key, handled);
  if (!handled && style_ == KeyStyle::kVi) handled = vi_.press(*this, key, effect);
  if (!handled) {
    const std::string keys = prefix_.empty() ? key.name : prefix_ + " " + key.name;
    const bool second = !prefix_.empty();
    prefix_.clear();
    if (!second && begins_key_sequence(key.name)) {
      prefix_ = key.name;
    } else if (key.is_paste()) {
      effect = paste(key.text);
    } else if (const KeyCommand command = style_ == KeyStyle::kVi ? vi_insert_command(keys) : emacs_command(keys)) {
      effect = (this->*command)();
    } else if (!key.text.empty() && !second) {
      effect = insert_text(key.text);
    }
  }
  last_ = now_;
  return effect;
}

Effect Editor::insert_text(std::string_view text) {
  const bool closes = buffer_.in_indentation() && text.size() == 1 && std::string_view(")]}").find(text) != text.npos;
  whole_ = false;
  walk_.edited();
  buffer_.insert(text);
  if (closes) indent_closing();
  if (text == ":") indent_clause();
  return Effect::kNone;
}

Effect Editor::paste(std::string_view text) {
  const bool alone = is_blank(buffer_.text());
  if (alone) buffer_.erase(0, buffer_.text().size());
  walk_.edited();
  buffer_.seal();
  buffer_.insert(cleaned_paste(text, alone));
  buffer_.seal();
  whole_ = alone;
  return Effect::kNone;
}

// `else:` that was typed where the body's next line would be goes to its `if`.
void Editor::indent_clause() {
  const size_t cursor = buffer_.cursor(), line = buffer_.line_begin(cursor);
  const auto wanted = clause_indentation(std::string_view(buffer_.text()).substr(0, cursor));
  if (!wanted) return;
  const size_t first = buffer_.first_of_line(cursor);
  buffer_.replace(line, first, *wanted);
  buffer_.move_to(cursor - (first - line) + wanted->size());
}

// A closing bracket at the beginning of a line stands below the line of its opening one, when that ends in it.
void Editor::indent_closing() {
  const std::string& text = buffer_.text();
  const size_t cursor = buffer_.cursor(), line = buffer_.line_begin(cursor);
  const auto pair = matching_brackets(text, highlight(text), cursor - 1);
  if (!pair || pair->second != cursor - 1 || pair->first + 1 >= text.size() || text[pair->first + 1] != '\n') return;
  const size_t opening = buffer_.line_begin(pair->first);
  const std::string indentation(text, opening, buffer_.first_of_line(opening) - opening);
  buffer_.replace(line, cursor - 1, indentation);
  buffer_.move_to(line + indentation.size() + 1);
}

// --- What ends a block

// To be run at Enter: a block as a whole needs no blank line behind it, one that is typed does.
bool Editor::complete_enough() const {
  if (sources_.state_of(buffer_.text() + "\n").kind != BlockState::Kind::kIncomplete) return true;
  return whole_ && sources_.state_of(buffer_.text() + "\n\n").kind == BlockState::Kind::kComplete;
}

Effect Editor::enter() {
  const bool at_end = is_blank(std::string_view(buffer_.text()).substr(buffer_.cursor()));
  const bool ready = whole_ || at_end || buffer_.is_one_line();
  if (is_blank(buffer_.text()) || (ready && complete_enough())) return Effect::kRun;
  return new_line();
}

Effect Editor::run_as_it_is() { return Effect::kRun; }

std::string Editor::indentation_behind(const std::string& before, std::string_view line) {
  if (ahead_ == ' ' || ahead_ == '\t') comes_indented_ = true;
  const bool opens = line.ends_with(':');
  if (comes_indented_ && ahead_ != '\0' && (ahead_ == ' ' || ahead_ == '\t' || !opens)) return "";
  return is_blank(line) ? std::string(line) : next_indentation(before);
}

Effect Editor::new_line() {
  const size_t cursor = buffer_.cursor();
  const std::string before = buffer_.text().substr(0, cursor);
  const std::string_view line = std::string_view(before).substr(buffer_.line_begin(cursor));
  const std::string indentation = indentation_behind(before, line);
  whole_ = false;
  walk_.edited();
  // Blanks that stood behind the cursor would be added to the indentation.
  size_t end = cursor;
  while (end < buffer_.text().size() && buffer_.text()[end] == ' ') ++end;
  buffer_.replace(cursor, end, "\n" + indentation);
  buffer_.seal();
  return Effect::kNone;
}

Effect Editor::drop() { return Effect::kDrop; }

Effect Editor::delete_or_leave() { return buffer_.empty() ? Effect::kLeave : delete_right(); }

// --- History

void Editor::show_block(std::string text, bool at_end) {
  buffer_.reset(std::move(text));
  buffer_.move_to(at_end ? buffer_.text().size() : buffer_.line_end(0));
  whole_ = walk_.walking();
}

Effect Editor::older() {
  const std::string_view before = std::string_view(buffer_.text()).substr(0, buffer_.cursor());
  if (auto block = walk_.older(buffer_.text(), before)) show_block(std::move(*block), false);
  return Effect::kNone;
}

Effect Editor::newer() {
  if (auto block = walk_.newer(buffer_.text())) show_block(std::move(*block), true);
  return Effect::kNone;
}

Effect Editor::up() {
  const size_t above = buffer_.line_above(buffer_.cursor());
  if (above == std::string::npos) return older();
  buffer_.move_to(above);
  return Effect::kNone;
}

Effect Editor::down() {
  const size_t below = buffer_.line_below(buffer_.cursor());
  if (below == std::string::npos) return newer();
  buffer_.move_to(below);
  return Effect::kNone;
}

std::string Editor::suggestion() const {
  if (!buffer_.at_end() || searching_ || menu_.is_open() || walk_.walking() || vi_mode() != ViMode::kInsert) return "";
  return walk_.suggestion(buffer_.text());
}

bool Editor::take_suggestion(bool word) {
  std::string more = suggestion();
  if (more.empty()) return false;
  if (word) {
    size_t end = 0;
    while (end < more.size() && !is_word_byte(more[end])) ++end;
    while (end < more.size() && is_word_byte(more[end])) ++end;
    more.resize(end);
  }
  buffer_.insert(more);
  return true;
}

Effect Editor::search_older() {
  searching_ = true;
  search_.start(sources_.history, buffer_.text(), buffer_.cursor());
  return Effect::kNone;
}

Effect Editor::search_newer() { return search_older(); }

void Editor::search_again(bool older) {
  if (search_.again(sources_.history, buffer_.text(), buffer_.cursor(), older)) end_search(true);
}

void Editor::end_search(bool keep) {
  searching_ = false;
  buffer_.reset(keep ? search_.text() : search_.text_before());
  buffer_.move_to(keep ? search_.begin() : search_.cursor_before());
  walk_.start(sources_.history);
  whole_ = keep && search_.text() != search_.text_before();
}

Effect Editor::press_searching(const Key& key, bool& handled) {
  handled = true;
  if (key.name == "C-r" || key.name == "Up") {
    search_.older();
  } else if (key.name == "C-s" || key.name == "Down") {
    search_.newer();
  } else if (key.name == "Backspace" || key.name == "C-h") {
    std::string pattern = search_.pattern();
    pattern.resize(character_before(pattern, pattern.size()));
    search_.set_pattern(std::move(pattern));
  } else if (key.name == "C-g" || key.name == "C-c") {
    end_search(false);
  } else if (key.name == "Enter" || key.name == "Escape" || key.name == "Tab") {
    end_search(true);
  } else if (!key.text.empty() && key.text.find('\r') == std::string::npos) {
    search_.set_pattern(search_.pattern() + key.text);
  } else {
    end_search(true);  // another command: taken, and then that is done
    handled = false;
  }
  return Effect::kNone;
}

// --- Completion

Effect Editor::tab() {
  if (buffer_.in_indentation()) {
    const size_t column = buffer_.cursor() - buffer_.line_begin(buffer_.cursor());
    return insert_text(std::string(kIndentation - column % kIndentation, ' '));
  }
  Completion found = sources_.complete(buffer_.text(), buffer_.cursor());
  if (found.candidates.empty() || found.begin > found.end || found.end > buffer_.text().size()) return Effect::kNone;
  const std::string common = common_beginning(found.candidates);
  const std::string typed = buffer_.text().substr(found.begin, found.end - found.begin);
  whole_ = false;
  walk_.edited();
  if (found.candidates.size() == 1 || (common.size() > typed.size() && common.starts_with(typed))) {
    buffer_.seal();
    buffer_.replace(found.begin, found.end, common);
    if (found.candidates.size() == 1) return Effect::kNone;
    found.end = found.begin + common.size();
  }
  typed_ = buffer_.text().substr(found.begin, found.end - found.begin);
  menu_.open(std::move(found));
  return Effect::kNone;
}

void Editor::put_candidate() {
  const Completion& completion = menu_.completion();
  const Candidate* const chosen = menu_.chosen();
  const size_t begin = completion.begin;
  buffer_.replace(begin, buffer_.cursor(), chosen == nullptr ? typed_ : chosen->text);
}

Effect Editor::press_menu(const Key& key, bool& handled) {
  handled = true;
  const bool chosen = menu_.chosen() != nullptr;
  if (key.name == "Tab" || key.name == "C-n") {
    menu_.step(1);
  } else if (key.name == "S-Tab" || key.name == "C-p") {
    menu_.step(-1);
  } else if (key.name == "Down" || key.name == "Up") {
    menu_.step_row(key.name == "Down" ? 1 : -1);
  } else if (chosen && (key.name == "Left" || key.name == "Right")) {
    menu_.step_column(key.name == "Right" ? 1 : -1);
  } else if (key.name == "Escape" || key.name == "C-g" || key.name == "C-c") {
    if (chosen) buffer_.replace(menu_.completion().begin, buffer_.cursor(), typed_);
    menu_.close();
    return Effect::kNone;
  } else if (key.name == "Enter" && chosen) {
    menu_.close();
    return Effect::kNone;
  } else {
    menu_.close();
    handled = false;
    return Effect::kNone;
  }
  put_candidate();
  return Effect::kNone;
}

// --- What there is to see

std::vector<Pieces> Editor::lines_below(int columns, int rows) {
  std::vector<Pieces> lines;
  if (searching_) {
    const Look look = search_.found() ? Look::kPlain : Look::kError;
    lines.push_back({{search_.found() ? "search: " : "not found: ", Look::kFaint}, {search_.pattern(), look}});
    return lines;
  }
  if (menu_.is_open()) return menu_.lines(columns, std::clamp(rows / 3, 2, 12));
  if (buffer_.text().find('(') >= buffer_.cursor()) return lines;
  const std::optional<CallHelp> call = sources_.call_at(buffer_.text(), buffer_.cursor());
  if (!call || call->signature.empty()) return lines;
  const std::string& text = call->signature;
  const size_t begin = std::min(call->active_begin, text.size()),
               end = std::clamp(call->active_end, begin, text.size());
  const Pieces signature{{text.substr(0, begin), Look::kHelp},
                         {text.substr(begin, end - begin), Look::kHelpActive},
                         {text.substr(end), Look::kHelp}};
  return wrapped(signature, columns - 1, kSignatureLines);
}

View Editor::view(int number, int columns, int rows) {
  View view;
  view.text = searching_ ? search_.text() : buffer_.text();
  view.cursor = searching_ ? search_.begin() : buffer_.cursor();
  view.spans = highlight(view.text);
  if (searching_ && search_.found()) {
    view.hit_begin = search_.begin();
    view.hit_end = search_.begin() + search_.pattern().size();
  }
  if (const auto marked = vi_.selection(buffer_); marked && !searching_) {
    view.hit_begin = marked->first;
    view.hit_end = marked->second;
  }
  if (!searching_) view.brackets = matching_brackets(view.text, view.spans, view.cursor);
  view.suggestion = suggestion();
  const std::string digits = std::to_string(number);
  view.prompt = {{"In [", Look::kPrompt}, {digits, Look::kPromptNumber}, {"]: ", Look::kPrompt}};
  view.continuation = {{std::string(digits.size() + 2, ' ') + "...: ", Look::kPrompt}};
  view.below = lines_below(columns, rows);
  return view;
}

}  // namespace tessera::repl

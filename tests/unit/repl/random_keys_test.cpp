// Random keys at an editor, and a terminal that understands what the screen writes: whatever is typed, what stands on it is
// what a screen that was painted at once would show.
#include <doctest/doctest.h>

#include <random>

#include "repl/characters.h"
#include "repl/prompt/editor.h"
#include "repl/prompt/screen.h"

using namespace tessera::repl;

namespace {

// As much of a terminal as the screen asks for: characters with their widths, line ends that scroll, four sequences.
class Emulator {
 public:
  Emulator(int columns, int rows) : columns_(columns), rows_(static_cast<size_t>(rows), blank()) {}

  void write(std::string_view bytes) {
    for (size_t at = 0; at < bytes.size();) {
      if (bytes[at] == '\x1b') {
        at = sequence(bytes, at);
      } else if (bytes[at] == '\r') {
        column_ = 0;
        ++at;
      } else if (bytes[at] == '\n') {
        line_feed();
        ++at;
      } else {
        const CodePoint point = code_point_at(bytes, at);
        put(bytes.substr(at, point.bytes), columns_of(point.code));
        at += point.bytes;
      }
    }
  }

  std::string text() const {
    std::string all;
    for (const auto& row : rows_) {
      std::string line;
      for (const std::string& cell : row) line += cell;
      line.resize(line.find_last_not_of(' ') + 1);
      all += line + "\n";
    }
    while (all.ends_with("\n\n")) all.pop_back();
    return all;
  }
  size_t row() const { return row_; }
  int column() const { return column_; }

 private:
  using Line = std::vector<std::string>;
  Line blank() const { return Line(static_cast<size_t>(columns_), " "); }

  void line_feed() {
    if (row_ + 1 < rows_.size()) {
      ++row_;
    } else {
      rows_.erase(rows_.begin());
      rows_.push_back(blank());
    }
  }

  void put(std::string_view character, int width) {
    if (width == 0) {  // combines with the one before
      const int before = std::min(column_, columns_) - 1;
      for (int i = before; i >= 0; --i)
        if (auto& cell = rows_[row_][static_cast<size_t>(i)]; !cell.empty()) {
          cell += character;
          return;
        }
      return;
    }
    REQUIRE(column_ + width <= columns_);  // the screen never leaves wrapping to the terminal
    for (int i = 0; i < width; ++i)
      rows_[row_][static_cast<size_t>(column_ + i)] = i == 0 ? std::string(character) : "";
    column_ += width;
  }

  size_t sequence(std::string_view bytes, size_t at) {
    REQUIRE(bytes[at + 1] == '[');
    size_t end = at + 2;
    while (bytes[end] < '@') ++end;
    const std::string digits(bytes.substr(at + 2, end - at - 2));
    const int number = digits.empty() || digits[0] == '?' ? 0 : std::atoi(digits.c_str());
    switch (bytes[end]) {
      case 'A': row_ -= std::min(row_, static_cast<size_t>(number)); break;
      case 'B': row_ = std::min(row_ + static_cast<size_t>(number), rows_.size() - 1); break;
      case 'G': column_ = number - 1; break;
      case 'J':
        for (size_t i = row_ + 1; i < rows_.size(); ++i) rows_[i] = blank();
        [[fallthrough]];
      case 'K':
        REQUIRE(column_ < columns_);  // where terminals disagree about what it erases
        for (size_t i = static_cast<size_t>(column_); i < rows_[row_].size(); ++i) rows_[row_][i] = " ";
        break;
      case 'm': break;
      default: FAIL("a sequence that no test knows: ", bytes[end]);
    }
    return end + 1;
  }

  int columns_;
  std::vector<Line> rows_;
  size_t row_ = 0;
  int column_ = 0;
};

constexpr const char* kTexts[] = {"a",
                                  "b",
                                  " ",
                                  "(",
                                  ")",
                                  ":",
                                  "x = 1",
                                  "def f(x):",
                                  "\xe6\x97\xa5",
                                  "e\xcc\x81",
                                  "\"",
                                  "#",
                                  "for i in range(10): print(i)",
                                  "'''",
                                  "{",
                                  "]",
                                  "\xf0\x9f\x99\x82",
                                  "\xff"};
constexpr const char* kNames[] = {"Enter",  "Left",   "Right",    "Up",  "Down", "Home", "End",   "Backspace",
                                  "Delete", "Tab",    "S-Tab",    "C-w", "C-k",  "C-y",  "C-u",   "C-_",
                                  "M-_",    "M-b",    "M-f",      "C-t", "C-o",  "C-r",  "C-g",   "Escape",
                                  "M-y",    "PageUp", "PageDown", "M-<", "M->",  "C-x",  "C-Left"};
constexpr const char* kCommands[] = {"d", "c", "y", "w", "b", "e", "0", "$", "G", "g", "f", "t", ";",
                                     ".", "u", "p", "P", "x", "r", "3", "i", "a", "o", "O", "J", "~",
                                     "%", ">", "<", "j", "k", "h", "l", "D", "R", "v", "V"};

Key random_key(std::mt19937& random, bool vi) {
  const auto pick = [&](const auto& from) { return std::string(from[random() % std::size(from)]); };
  const unsigned kind = random() % 10;
  if (kind < 4) {
    const std::string text = pick(kTexts);
    return text.size() > 4 ? Key{"Paste", text} : Key{text, text};
  }
  if (kind == 4) return {"Paste", pick(kTexts) + "\n\n\t" + pick(kTexts) + "\r\n" + pick(kTexts)};
  if (vi && kind < 8) {
    const std::string name = pick(kCommands);
    return {name, name};
  }
  return {pick(kNames), ""};
}

Sources sources(const std::vector<std::string>& history) {
  Sources made;
  made.state_of = [](std::string_view) { return BlockState{BlockState::Kind::kIncomplete, ""}; };
  made.complete = [](std::string_view, size_t cursor) {
    Completion found{cursor, cursor, {}};
    for (int i = 0; i < 30; ++i) found.candidates.push_back({"name" + std::to_string(i * 7), "function", "f(x)"});
    return found;
  };
  made.call_at = [](std::string_view text, size_t) {
    return CallHelp{std::string(text.size() % 90, 'f') + "(a, b)", 1, 2};
  };
  made.history = &history;
  return made;
}

// One session of random keys at a terminal of this size.
void type_at_random(unsigned seed, KeyStyle style, int columns, int rows) {
  std::mt19937 random(seed);
  const std::vector<std::string> history{"x = 1", "def f(x):\n    return x\n\n# end", "(((",
                                         "\xe6\x97\xa5\xe6\x9c\xac = 2"};
  Editor editor(sources(history), style);
  Screen screen(Style::Colours::k16);
  screen.resize(columns, rows);
  screen.begin();
  Emulator terminal(columns, rows);
  size_t top = 0;
  for (int i = 0; i < 150; ++i) {
    editor.press(random_key(random, style == KeyStyle::kVi));
    const std::string& text = editor.buffer().text();
    const size_t cursor = editor.buffer().cursor();
    REQUIRE(cursor <= text.size());
    const bool inside = cursor < text.size() && cursor > 0 && (static_cast<unsigned char>(text[cursor]) & 0xc0) == 0x80;
    REQUIRE(!(inside &&
              code_point_at(text, character_before(text, cursor)).bytes > cursor - character_before(text, cursor)));
    const View view = editor.view(1, columns, rows);
    terminal.write(screen.paint(view));
    const Layout wanted = lay_out(view, columns, rows, top);
    std::string shown;
    for (const Row& row : wanted.rows) {
      std::string line = row.text;
      line.resize(line.find_last_not_of(' ') + 1);
      shown += line + "\n";
    }
    while (shown.ends_with("\n\n")) shown.pop_back();
    INFO("seed ", seed, " step ", i, " at ", columns, "x", rows);
    REQUIRE(terminal.text() == shown);
    REQUIRE(terminal.row() == wanted.cursor_row);
    REQUIRE(terminal.column() == wanted.cursor_column);
  }
}

}  // namespace

TEST_CASE("whatever is typed, the terminal shows the block") {
  for (unsigned seed = 0; seed < 12; ++seed)
    for (const KeyStyle style : {KeyStyle::kEmacs, KeyStyle::kVi}) {
      type_at_random(seed, style, 40, 12);
      type_at_random(seed, style, 17, 5);
      type_at_random(seed, style, 3, 2);
    }
}

TEST_CASE("whatever bytes come, keys are made of all of them") {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    KeyReader reader;
    for (int i = 0; i < 60; ++i) {
      constexpr std::string_view kOften = "\x1b[O;~ABu0123456789\x1b]P\\\x07";
      const char byte = random() % 2 == 0 ? kOften[random() % kOften.size()] : static_cast<char>(random() % 256);
      reader.feed(std::string_view(&byte, 1));
      while (const auto key = random() % 3 == 0 ? reader.next_after_wait() : reader.next()) REQUIRE(!key->name.empty());
    }
    for (int i = 0; i < 100 && reader.undecided(); ++i) reader.next_after_wait();
    CHECK(!reader.undecided());
  }
}

#include "repl/prompt/screen.h"

#include <doctest/doctest.h>

using namespace tessera::repl;

namespace {

View view_of(std::string text, size_t cursor = std::string::npos) {
  View view;
  view.text = std::move(text);
  view.cursor = std::min(cursor, view.text.size());
  view.prompt = {{"In [1]: ", Look::kPlain}};
  view.continuation = {{"   ...: ", Look::kPlain}};
  return view;
}

std::string rows_of(const Layout& layout) {
  std::string rows;
  for (const Row& row : layout.rows) rows += row.text + "|";
  return rows;
}

Layout layout_of(const View& view, int columns, int rows, size_t top = 0) { return lay_out(view, columns, rows, top); }

}  // namespace

TEST_CASE("a block has its prompts and is wrapped at the width") {
  CHECK(rows_of(layout_of(view_of("a\nb"), 40, 10)) == "In [1]: a|   ...: b|");
  const Layout wrapped = layout_of(view_of(std::string(40, 'x')), 30, 10);
  CHECK(rows_of(wrapped) == "In [1]: " + std::string(22, 'x') + "|        " + std::string(18, 'x') + "|");
  CHECK(wrapped.cursor_row == 1);
  CHECK(wrapped.cursor_column == 26);
  const Layout full = layout_of(view_of(std::string(22, 'x')), 30, 10);  // the cursor needs a row of its own
  CHECK(full.cursor_row == 1);
  CHECK(full.cursor_column == 8);
}

TEST_CASE("a wide character is never cut by the margin") {
  const Layout layout = layout_of(view_of("aaaaaaaaaaaaaaaaaaaaa\xe6\x97\xa5"
                                          "b"),
                                  30, 10);
  CHECK(rows_of(layout) ==
        "In [1]: aaaaaaaaaaaaaaaaaaaaa|        \xe6\x97\xa5"
        "b|");
}

TEST_CASE("of a block that is higher than the terminal the part with the cursor is shown") {
  std::string text;
  for (int i = 0; i < 20; ++i) text += (i > 0 ? "\n" : "") + std::to_string(i);
  size_t top = 0;
  Layout layout = lay_out(view_of(text), 40, 5, top);
  CHECK(rows_of(layout) == "   ...: 15|   ...: 16|   ...: 17|   ...: 18|   ...: 19|");
  layout = lay_out(view_of(text, text.find("17")), 40, 5, top);
  CHECK(top == 15);  // it stands still while the cursor moves inside
  layout = lay_out(view_of(text, 0), 40, 5, top);
  CHECK(layout.rows[0].text == "In [1]: 0");
  View with_menu = view_of(text, 0);
  with_menu.below = {{{"menu", Look::kMenu}}, {{"more", Look::kMenu}}};
  CHECK(rows_of(lay_out(with_menu, 40, 5, top)) == "In [1]: 0|   ...: 1|   ...: 2|menu|more|");
}

TEST_CASE("a keystroke writes what it changed and no more") {
  Screen screen(Style::Colours::kNone);
  screen.resize(40, 10);
  screen.begin();
  CHECK(screen.paint(view_of("ab")) == "In [1]: ab");
  CHECK(screen.paint(view_of("ab")).empty());
  CHECK(screen.paint(view_of("abc")) == "c");
  CHECK(screen.paint(view_of("ab")) == "\x1b[11G\x1b[K");
  CHECK(screen.paint(view_of("ab", 1)) == "\x1b[10G");
  CHECK(screen.paint(view_of("aXb", 2)) == "Xb\x1b[11G");
  CHECK(screen.paint(view_of("aX\nb")) == "\x1b[K\r\n   ...: b");
  CHECK(screen.finish(view_of("aX\nb")) == "\r\n");
}

TEST_CASE("looks are sequences around cells") {
  Screen screen(Style::Colours::k16);
  screen.resize(40, 10);
  screen.begin();
  View view = view_of("if x");
  view.spans = {{0, 2, TokenClass::kKeyword}};
  CHECK(screen.paint(view) == "In [1]: \x1b[35mif\x1b[0m x");
  view.spans.clear();
  CHECK(screen.paint(view) == "\x1b[9Gif x");
}

TEST_CASE("what stands below is wrapped behind blanks") {
  const auto lines_of = [](const Pieces& pieces, int columns, size_t most) {
    std::string all;
    for (const Pieces& line : wrapped(pieces, columns, most)) {
      for (const Piece& piece : line) all += piece.text;
      all += "|";
    }
    return all;
  };
  CHECK(lines_of({{"f(a, "}, {"b=1"}, {", c=None)"}}, 20, 3) == "f(a, b=1, c=None)|");
  CHECK(lines_of({{"f(a, "}, {"b=1"}, {", c=None)"}}, 11, 3) == "f(a, b=1, |c=None)|");
  CHECK(lines_of({{"f(a, "}, {"b=1000"}, {", c=None)"}}, 8, 3) == "f(a, |b=1000, |c=None)|");
  CHECK(lines_of({{"f(a, "}, {"b=1000"}, {", c=None)"}}, 8, 2) == "f(a, |b=1000, |");
  CHECK(lines_of({{"abcdefgh"}}, 3, 3) == "abc|def|gh|");
}

TEST_CASE("what a terminal would take for an order is never written to it") {
  for (const std::string order : {"\xc2\x9d", "\xe2\x80\xae", "\xff", "\xe2\x80\xa8"}) {
    const Layout layout = layout_of(view_of("a" + order + "b"), 40, 10);
    CHECK(rows_of(layout) == "In [1]: a~b|");
    CHECK(layout.cursor_column == 11);
  }
  CHECK(rows_of(layout_of(view_of("a\x1b[31m"), 40, 10)) == "In [1]: a^[[31m|");
}

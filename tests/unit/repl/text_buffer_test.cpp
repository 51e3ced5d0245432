#include "repl/prompt/text_buffer.h"

#include <doctest/doctest.h>

#include "repl/characters.h"

using namespace tessera::repl;

TEST_CASE("characters have the width that a terminal gives them") {
  CHECK(columns_of("abc") == 3);
  CHECK(columns_of("\xe6\x97\xa5\xe6\x9c\xac") == 4);  // two wide ones
  CHECK(columns_of("e\xcc\x81") == 1);                 // e with an accent that combines
  CHECK(columns_of(U'\u200d') == 0);
  CHECK(columns_of("\xc3\x9f") == 1);
  CHECK(fitting("a\xe6\x97\xa5"
                "b",
                2) == "a");
  CHECK(character_after("e\xcc\x81x", 0) == 3);
  CHECK(character_before("xe\xcc\x81", 4) == 1);
  CHECK(character_before("\xff\xff", 2) == 1);
}

TEST_CASE("changes are undone in the order and the pieces in which they were typed") {
  TextBuffer buffer;
  for (const char* const each : {"o", "n", "e", " ", "t", "w", "o"}) buffer.insert(each);
  buffer.erase(0, 4);
  CHECK(buffer.text() == "two");
  CHECK(buffer.undo());
  CHECK(buffer.text() == "one two");
  CHECK(buffer.undo());
  CHECK(buffer.text() == "one ");
  CHECK(buffer.undo());
  CHECK(buffer.text().empty());
  CHECK(!buffer.undo());
  CHECK(buffer.redo());
  CHECK(buffer.redo());
  CHECK(buffer.redo());
  CHECK(buffer.text() == "two");
  CHECK(!buffer.redo());
  buffer.undo();
  buffer.insert("!");
  CHECK(!buffer.redo());  // another way was taken
}

TEST_CASE("a column is kept through shorter lines") {
  TextBuffer buffer;
  buffer.insert("first line\nx\n\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e long");
  buffer.move_to(6);
  buffer.move_to(buffer.line_below(buffer.cursor()));
  CHECK(buffer.cursor() == 12);
  buffer.move_to(buffer.line_below(buffer.cursor()));
  CHECK(buffer.cursor() == 13 + 9);  // behind three wide ones
  CHECK(buffer.line_below(buffer.cursor()) == std::string::npos);
  buffer.move_to(buffer.line_above(buffer.cursor()));
  buffer.move_to(buffer.line_above(buffer.cursor()));
  CHECK(buffer.cursor() == 6);
}

TEST_CASE("what is cut one after another belongs together") {
  KillRing ring;
  ring.add("b", false, false);
  ring.add("c", true, false);
  ring.add("a", true, true);
  CHECK(ring.newest() == "abc");
  ring.add("next", false, false);
  CHECK(ring.newest() == "next");
  CHECK(ring.rotate() == "abc");
  CHECK(ring.rotate() == "next");
}

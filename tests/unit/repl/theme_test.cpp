#include "repl/session/theme.h"

#include <doctest/doctest.h>

using namespace tessera::repl;

TEST_CASE("of an error its class, its marks, its places and the hint are coloured, and no letter is lost") {
  const std::string text =
      "Traceback (most recent call last):\n  File \"In [1]\", line 1, in <module>\n    a @ b\n    ~~^~~\nmod.ShapeError: no: fit\n"
      "a: float32[2]\nhint: a.T\n\nKeyboardInterrupt\n";
  const std::string shown = coloured_error(text, Style::Colours::k16);
  CHECK(
      shown ==
      "Traceback (most recent call last):\n  File \"In [1]\", line 1, in <module>\n    a @ b\n"
      "    \x1b[1;31m~~^~~\x1b[0m\n\x1b[1;31mmod.ShapeError\x1b[0m: no: fit\na: float32[2]\n\x1b[1;36mhint:\x1b[0m a.T\n\n"
      "\x1b[1;31mKeyboardInterrupt\x1b[0m\n");
  CHECK(coloured_error(text, Style::Colours::kNone) == text);
  CHECK(coloured_error(text, Style::Colours::k256)
            .find("  \x1b[38;5;244mFile \"In [1]\", line 1, in <module>\x1b[0m\n") != std::string::npos);
  // Behind the frames a class may have any name; a line of its message, or of a note, is none.
  CHECK(
      coloured_error("  File \"a\", line 1\n    f()\nm.f.<locals>.E: <exception str() failed>\nE: 1\n  two\nE: 3\n",
                     Style::Colours::k16) ==
      "  File \"a\", line 1\n    f()\n\x1b[1;31mm.f.<locals>.E\x1b[0m: <exception str() failed>\nE: 1\n  two\nE: 3\n");
}

TEST_CASE("every look has its row") {
  for (int look = 0; look <= static_cast<int>(Look::kPlace); ++look)
    for (const auto colours :
         {Style::Colours::kNone, Style::Colours::k16, Style::Colours::k256, Style::Colours::kTrue}) {
      const std::string shown = coloured("x", static_cast<Look>(look), colours);
      CHECK((shown == "x" || (shown.starts_with("\x1b[") && shown.ends_with("x\x1b[0m"))));
    }
  CHECK(sequence_of(Look::kHit, Style::Colours::kNone) == "\x1b[7m");
  CHECK(sequence_of(Look::kError, Style::Colours::k16) == "\x1b[1;31m");
  CHECK(sequence_of(Look::kError, Style::Colours::kNone).empty());
}

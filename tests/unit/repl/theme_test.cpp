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
      "Traceback (most recent call last):\n  \x1b[90mFile \"In [1]\", line 1, in <module>\x1b[0m\n    a @ b\n"
      "    \x1b[1;31m~~^~~\x1b[0m\n\x1b[1;31mmod.ShapeError\x1b[0m: no: fit\na: float32[2]\n\x1b[1;36mhint:\x1b[0m a.T\n\n"
      "\x1b[1;31mKeyboardInterrupt\x1b[0m\n");
  CHECK(coloured_error(text, Style::Colours::kNone) == text);
}

TEST_CASE("every look has its row") {
  for (int look = 0; look <= static_cast<int>(Look::kError); ++look)
    for (const auto colours :
         {Style::Colours::kNone, Style::Colours::k16, Style::Colours::k256, Style::Colours::kTrue}) {
      const std::string shown = coloured("x", static_cast<Look>(look), colours);
      CHECK((shown == "x" || (shown.starts_with("\x1b[") && shown.ends_with("x\x1b[0m"))));
    }
  CHECK(sequence_of(Look::kHit, Style::Colours::kNone) == "\x1b[7m");
  CHECK(sequence_of(Look::kError, Style::Colours::k16) == "\x1b[1;31m");
  CHECK(sequence_of(Look::kError, Style::Colours::kNone).empty());
}

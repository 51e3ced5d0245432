#include "repl/session/history.h"

#include <doctest/doctest.h>

#include "repl/prompt/history_walk.h"
#include "repl/prompt/paste.h"

using namespace tessera::repl;

TEST_CASE("a block is one line of the file and comes back as it was") {
  for (const std::string block : {"x = 1", "a\nb", "s = '\\n'", "\\", "\\\\n\n\\n", ""})
    CHECK(block_of_history_line(history_line(block)) == block);
  CHECK(history_line("a\nb\\").find('\n') == std::string::npos);
}

TEST_CASE("without a file it is kept for the session") {
  History history;
  history.add("a = 1\n\n");
  history.add("a = 1");
  history.add(" \n");
  history.add("b = 2");
  CHECK(history.blocks() == std::vector<std::string>{"a = 1", "b = 2"});
  for (size_t i = 0; i < History::kBlocksKept + 5; ++i) history.add(std::to_string(i));
  CHECK(history.blocks().size() == History::kBlocksKept);
  CHECK(history.own() == History::kBlocksKept);
}

TEST_CASE("a walk goes by the beginning, and comes back to what was typed") {
  const std::vector<std::string> blocks{"x = 1", "y = 2", "x = 3", "x = 3"};
  HistoryWalk walk;
  walk.start(&blocks);
  CHECK(walk.older("x", "x") == "x = 3");
  CHECK(walk.older("x = 3", "x") == "x = 1");  // the same block twice is one step
  CHECK(!walk.older("x = 1", "x"));
  CHECK(walk.newer("x = 1") == "x = 3");
  CHECK(walk.newer("x = 3") == "x");
  CHECK(!walk.newer("x"));
  CHECK(walk.older("zz", "zz") == "x = 3");  // none begins so: any
  CHECK(walk.suggestion("y") == " = 2");
  CHECK(walk.suggestion("").empty());
}

TEST_CASE("a search goes on from what it has found") {
  const std::vector<std::string> blocks{"alpha", "beta", "alphabet"};
  HistorySearch search;
  search.start(&blocks, "typed", 2);
  search.set_pattern("bet");
  CHECK(search.text() == "alphabet");
  CHECK(search.begin() == 5);
  search.older();
  CHECK(search.text() == "beta");
  search.set_pattern("beta");
  CHECK(search.text() == "beta");
  search.newer();
  CHECK(!search.found());
  CHECK(search.text_before() == "typed");
}

TEST_CASE("what is pasted is cleaned of where it came from") {
  CHECK(cleaned_paste("a\r\nb\rc", false) == "a\nb\nc");
  CHECK(cleaned_paste(">>> x = 1\n>>> if x:\n...     y\n...\n1\n", true) == "x = 1\nif x:\n    y");
  CHECK(cleaned_paste("In [3]: f(1)\nOut[3]: 2", true) == "f(1)");
  CHECK(cleaned_paste("  a\n\n    b\n", true) == "a\n\n  b");
  CHECK(cleaned_paste("if x:\n\ty = '\t'", true) == "if x:\n    y = '\t'");
  CHECK(cleaned_paste("s = '''\n\tkept'''", true) == "s = '''\n\tkept'''");
  CHECK(cleaned_paste("a\x1b[31mb\x07", true) == "a[31mb");
  CHECK(cleaned_paste("a\xc2\x9d\xff\xe2\x80\xae"
                      "b\xc3\x9f",
                      true) ==
        "a\xef\xbf\xbd"
        "b\xc3\x9f");
}

#include "repl/page/document.h"

#include <doctest/doctest.h>

#include <random>
#include <string>

#include "repl/page/json_text.h"
#include "repl/page/log.h"
#include "repl/page/notebook_file.h"
#include "repl/page/utf16.h"

using namespace tessera::repl::page;

namespace {

std::string text_of(const Document& document) { return to_utf8(document.text()); }

Message message(std::string text) { return std::make_shared<const std::string>(std::move(text)); }

}  // namespace

TEST_CASE("texts go to UTF-16 and back") {
  for (const std::string text : {"", "a", "ü", "日本", "😀x", "a\0b",
                                 "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbd\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"})
    CHECK(to_utf8(to_utf16(text)) == text);
  CHECK(to_utf16("😀") == u"\xD83D\xDE00");
  for (const std::string bad :
       {"\xff", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\x80"})
    CHECK(to_utf16(bad).find(u'\xFFFD') != std::u16string::npos);
  CHECK(to_utf8(u"\xD83D") == "\xEF\xBF\xBD");
  CHECK(to_utf8(u"\xDE00\xD83D!") == "\xEF\xBF\xBD\xEF\xBF\xBD!");
  const std::string mixed = "aü😀b";
  CHECK(byte_of_unit(mixed, 0) == 0);
  CHECK(byte_of_unit(mixed, 2) == 3);
  CHECK(byte_of_unit(mixed, 4) == 7);
  CHECK(byte_of_unit(mixed, 99) == mixed.size());
  CHECK(units_before(mixed, 7) == 4);
  CHECK(units_before(mixed, 99) == 5);
}

TEST_CASE("edits are made one in the text that the one before left, all or none") {
  Document document;
  CHECK(document.apply({{0, 0, u"hello"}, {5, 5, u" world"}, {0, 1, u"J"}}) == "");
  CHECK(text_of(document) == "Jello world");
  CHECK(document.version() == 1);
  CHECK_FALSE(document.is_saved());
  CHECK(document.apply({{0, 5, u""}, {0, 7, u""}}) != "");
  CHECK(document.apply({{3, 2, u""}}) != "");
  CHECK(document.apply({{0, 0, std::u16string(Document::kMostUnits, u'x')}}) != "");
  CHECK(text_of(document) == "Jello world");
  CHECK(document.version() == 1);
}

TEST_CASE("random edits are what they are in a plain text") {
  std::mt19937 random(1);
  Document document;
  std::u16string plain;
  for (int i = 0; i < 2000; ++i) {
    const size_t from = random() % (plain.size() + 1), to = from + random() % (plain.size() - from + 1);
    const std::u16string text(random() % 7, static_cast<char16_t>('a' + random() % 26));
    REQUIRE(document.apply({{from, to, text}}) == "");
    plain.replace(from, to - from, text);
    REQUIRE(document.text() == plain);
  }
}

TEST_CASE("lines divide a text into cells") {
  const auto cells = [](std::u16string_view text) {
    std::vector<std::string> out;
    for (const CellSpan& cell : split_cells(text))
      out.push_back(std::string(cell.kind == CellKind::kCode  ? ""
                                : cell.kind == CellKind::kRaw ? "raw:"
                                                              : "text:") +
                    (cell.title.empty() ? "" : cell.title + ":") + source_of(text, cell));
    return out;
  };
  using Cells = std::vector<std::string>;
  CHECK(cells(u"") == Cells{""});
  CHECK(cells(u"a\nb") == Cells{"a\nb"});
  CHECK(cells(u"\n\n# %%\nx") == Cells{"x"});
  CHECK(cells(u"a\n# %% One \nx\n\n#%%\n\n# %%") == Cells{"a", "One:x", "", ""});
  CHECK(cells(u"# %% [markdown] T\n# # Head\n#\n#  two\nbare") == Cells{"text:T:# Head\n\n two\nbare"});
  CHECK(cells(u"# %% T [raw]\n# x") == Cells{"raw:T:x"});
  CHECK(cells(u" # %% no\nx # %%\n# % %") == Cells{" # %% no\nx # %%\n# % %"});
}

TEST_CASE("a cell's text is what it was when it is divided again") {
  for (const CellKind kind : {CellKind::kCode, CellKind::kMarkdown, CellKind::kRaw})
    for (const std::string source : {"", "x", "a\n\nb", "# not a %% line", "  indented", "ü😀"}) {
      const std::u16string text =
          to_utf16(cell_text(kind, "A title", source) + "\n" + cell_text(CellKind::kCode, "", "next"));
      const auto cells = split_cells(text);
      REQUIRE(cells.size() == 2);
      CHECK(cells[0].kind == kind);
      CHECK(cells[0].title == "A title");
      CHECK(source_of(text, cells[0]) == source);
      CHECK(source_of(text, cells[1]) == "next");
    }
}

TEST_CASE("a line inside a string of several lines divides nothing") {
  const auto count = [](std::u16string_view text) { return split_cells(text).size(); };
  CHECK(count(u"x = \"\"\"\n# %%\n\"\"\"\n# %%\ny") == 2);
  CHECK(count(u"x = rb'''a\\'''\n# %%\n'''\ny") == 1);
  CHECK(count(u"x = 'a\\\n# %% b'\ny") == 1);
  CHECK(count(u"x = 'a\n# %% b\ny") == 2);                 // a plain string ends with its line
  CHECK(count(u"# it's \"\"\"\n# %%\ny") == 2);            // no string in a comment
  CHECK(count(u"x = '\"\"\"'\n# %%\ny") == 2);             // nor in a string
  CHECK(count(u"# %% [markdown]\n\"\"\"\n# %%\ny") == 2);  // nor in a text
  CHECK(count(u"# %% [open string]\n\"\"\"\n# %%\ny") == 2);
}

TEST_CASE("cells with lines that would divide come back whole") {
  const std::string sources[] = {"x = 1\n# %% not a cell\ny = 2",
                                 "#%%",
                                 "# \\%% one\n# \\\\%% two\n#\\%%",
                                 "s = \"\"\"\n# %% in a string\n# \\%%\n\"\"\"\n# %% behind it",
                                 "s = \"\"\"never closed\n# %%",
                                 "%%bash\necho '''\n# %%",
                                 "%%writefile a.py\n# %%\nprint()",
                                 "%%",
                                 "%% a\n\n# %%",
                                 "\"\"\"doc\"\"\""};
  for (const CellKind kind : {CellKind::kCode, CellKind::kMarkdown, CellKind::kRaw})
    for (const std::string& source : sources)
      for (const std::string& next : sources) {
        const std::u16string text =
            to_utf16(cell_text(kind, "a [raw] title", source) + "\n" + cell_text(CellKind::kCode, "", next) + "\n" +
                     cell_text(CellKind::kCode, "", "last"));
        const auto cells = split_cells(text);
        REQUIRE(cells.size() == 3);
        CHECK(cells[0].kind == kind);
        CHECK(source_of(text, cells[0]) == source);
        CHECK(source_of(text, cells[1]) == next);
        CHECK(source_of(text, cells[2]) == "last");
      }
  CHECK(cell_text(CellKind::kCode, "", "# %%") == "# %%\n# \\%%\n");
  CHECK(code_of_block("%%writefile a\n# \\%% b\ns = '''\n# \\%%\n'''") ==
        "%%writefile a\n# %% b\ns = '''\n# \\%%\n'''");
}

TEST_CASE("a cell's record goes where the cell goes") {
  Document document;
  REQUIRE(document.apply({{0, 0, u"# %%\na\n# %%\nb\n"}}) == "");
  document.record_of(0)->start(1, "a");
  document.record_of(1)->start(2, "b");
  const auto numbers = [&] {
    std::vector<int> out;
    for (const NotebookCell& cell : document.notebook().cells) out.push_back(cell.number);
    return out;
  };
  CHECK(document.record_of(2) == nullptr);
  CHECK(numbers() == std::vector<int>{1, 2});
  REQUIRE(document.apply({{0, 0, u"first\n"}}) == "");
  CHECK(numbers() == std::vector<int>{0, 1, 2});
  REQUIRE(document.apply({{6, 6, u"# %%\nnew\n"}}) == "");
  CHECK(numbers() == std::vector<int>{0, 0, 1, 2});
  REQUIRE(document.apply({{6, 15, u""}, {0, 6, u""}}) == "");
  CHECK(numbers() == std::vector<int>{1, 2});
  REQUIRE(document.apply({{0, 7, u""}}) == "");  // the first cell goes
  CHECK(numbers() == std::vector<int>{2});
  REQUIRE(document.apply({{0, 0, u"# %%\na\n"}}) == "");  // and comes back
  CHECK(numbers() == std::vector<int>{1, 2});
  REQUIRE(document.apply({{0, 14, u"# %%\nb\n# %%\na\n# %%\nc\n"}}) == "");  // all of it is another text
  CHECK(numbers() == std::vector<int>{2, 1, 0});
}

TEST_CASE("a notebook's cells and all that it has besides come back") {
  const std::string text =
      R"({"nbformat": 4, "nbformat_minor": 5, "metadata": {"x": {"y": [1, 2.5, null]}}, "more": true, "cells": [)"
      R"({"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["# T\n", "\n", "words"]},)"
      R"({"cell_type": "code", "id": "b", "metadata": {"tags": ["t"]}, "execution_count": 3, "source": ["x = 1\n", "x"], "outputs": [)"
      R"({"output_type": "stream", "name": "stdout", "text": ["1\n", "2"]},)"
      R"({"output_type": "execute_result", "execution_count": 3, "metadata": {}, "data": {"text/plain": ["1"], "image/png": "AA=="}}]}]})";
  std::string problem;
  const auto notebook = read_notebook(text, problem);
  REQUIRE(notebook);
  CHECK(notebook->cells[0].source == "# T\n\nwords");
  Document document;
  document.replace(*notebook);
  CHECK(text_of(document) == "# %% [markdown]\n# # T\n#\n# words\n\n# %%\nx = 1\nx\n");
  const std::string once = write_notebook(document.notebook());
  const auto again = read_notebook(once, problem);
  REQUIRE(again);
  Document second;
  second.replace(*again);
  CHECK(write_notebook(second.notebook()) == once);
  for (const char* part : {R"("id": "b")", R"("more": true)", R"("y": [)", R"("tags": [)", R"("execution_count": 3)",
                           R"("image/png": "AA==")"})
    CHECK(once.find(part) != once.npos);
}

TEST_CASE("what is no notebook says why") {
  for (const std::string text :
       {"", "x", "[]", "{}", R"({"nbformat": 4})", R"({"nbformat": "4", "cells": []})",
        R"({"nbformat": 2, "cells": []})", R"({"nbformat": 9, "cells": []})", R"({"nbformat": 4, "cells": {}})",
        R"({"nbformat": 4, "cells": [1]})", R"({"nbformat": 4, "cells": [{"cell_type": "code"}]})",
        R"({"nbformat": 4, "cells": [{"cell_type": "code", "source": [1]}]})", R"({"nbformat": 3})"}) {
    std::string problem;
    CHECK_FALSE(read_notebook(text, problem));
    CHECK(problem.starts_with("is "));
  }
}

TEST_CASE("a message of many objects is parsed in time linear in its length") {
  // 200,000 objects: a parser that is quadratic in them takes minutes, and the test run's limit ends it.
  std::string text = "[";
  for (int i = 0; i < 200'000; ++i) text += "{\"text\":\"1\"},";
  text.back() = ']';
  const auto parsed = parse_json(text);
  REQUIRE(parsed.has_value());
  CHECK(parsed->size() == 200'000);
}

TEST_CASE("a message that nests too deep is refused before it is parsed") {
  const auto nested = [](int levels) { return std::string(static_cast<size_t>(levels), '[') + std::string(static_cast<size_t>(levels), ']'); };
  CHECK(parse_json(nested(200)).has_value());
  std::string problem;
  CHECK_FALSE(parse_json(nested(201), &problem).has_value());
  CHECK(problem == "nested deeper than 200");
  CHECK(parse_json("[\"" + std::string(500, '[') + "\\\"" + std::string(500, '{') + "\"]").has_value());  // brackets of a text nest nothing
}

TEST_CASE("the log forgets the oldest blocks whole") {
  Log log;
  const Message piece = message("\"" + std::string(1 << 20, 'x') + "\"");
  for (int64_t block = 1; block <= 10; ++block) {
    log.add({"started", block, "", message("{}")});
    for (int i = 0; i < 3; ++i) log.add({"stream", block, "", piece});
    log.add({"finished", block, "", message("{}")});
  }
  CHECK(log.bytes() <= Log::kMostBytes);
  CHECK(log.entries().front().type == "started");
  CHECK(log.entries().front().block > 1);
  CHECK(log.dropped() > 0);
  CHECK(log.to_json().find("earlier messages are not kept") != std::string::npos);
  for (int i = 0; i < 100; ++i) log.add({"stream", 11, "", piece});  // one that fills it alone
  CHECK(log.bytes() <= Log::kMostBytes);
  log.clear();
  CHECK(log.to_json() == "[]");
}

TEST_CASE("a display's update stands where it stood") {
  Log log;
  log.add({"display", 1, "id", message("1")});
  log.add({"stream", 1, "", message("2")});
  CHECK(log.update("id", message("3")));
  CHECK(log.to_json() == "[3,2]");
  CHECK_FALSE(log.update("other", message("4")));
  for (size_t i = 0; i < Log::kMostMessages; ++i) log.add({"stream", 2, "", message("5")});
  CHECK_FALSE(log.update("id", message("6")));  // has gone with its block
}

#include "repl/session/highlight.h"

#include <doctest/doctest.h>

using namespace tessera::repl;

namespace {

// The text with the first letter of each token's class below it.
std::string classes(const std::string& text) {
  constexpr std::string_view kLetters = ".kCbdns#@(!o";  // in the order of TokenClass
  std::string shown(text.size(), '.');
  for (const TokenSpan& span : highlight(text))
    for (size_t i = span.begin; i < span.end; ++i) shown[i] = kLetters[static_cast<size_t>(span.what)];
  return shown;
}

}  // namespace

TEST_CASE("tokens have classes") {
  CHECK(classes("def f(x): return 1") == "kkk.d(.(..kkkkkk.n");
  CHECK(classes("x = len(y) # why") == "....bbb(.(.#####");
  CHECK(classes("@nn.no_grad") == "@@@@@@@@@@@");
  CHECK(classes("a @ b") == ".....");
  CHECK(classes("x.print if None else 0x1f") == "........kk.CCCC.kkkk.nnnn");
  CHECK(classes("1e-3+2.5j") == "nnnn.nnnn");
  CHECK(classes("match x:") == "kkkkk...");
  CHECK(classes("match = 3") == "........n");
}

TEST_CASE("strings, also half typed") {
  CHECK(classes("r'a' + b'c'") == "ssss...ssss");
  CHECK(classes("r'\\'' + x") == "sssss....");
  CHECK(classes("'open") == "ooooo");
  CHECK(classes("'open\nx = 1") == "ooooo.....n");
  CHECK(classes("'''a\nb") == "ssssss");
  CHECK(classes("f'a{x + 1:>5}b'") == "sss(....nsss(ss");
  CHECK(classes("f'{{x}}'") == "ssssssss");
  CHECK(classes("f'{x") == "ss(.");
}

TEST_CASE("commands") {
  CHECK(classes(":time f(1)") == "!!!!!..(n(");
  CHECK(classes("%%timeit") == "!!!!!!!!");
  CHECK(classes("!ls 'x") == "!.....");
  CHECK(classes("torch.add??") == ".........!!");
}

TEST_CASE("brackets find their partners") {
  const std::string text = "f(a, [1, ')'], {2})";
  const auto pair_at = [&](size_t cursor) { return matching_brackets(text, highlight(text), cursor); };
  CHECK(pair_at(1) == std::make_pair(size_t{1}, size_t{18}));
  CHECK(pair_at(19) == std::make_pair(size_t{1}, size_t{18}));
  CHECK(pair_at(5) == std::make_pair(size_t{5}, size_t{12}));
  CHECK(!pair_at(10));  // in a string
  const std::string open = "g((";
  CHECK(!matching_brackets(open, highlight(open), 2));
}

TEST_CASE("the next line's indentation") {
  CHECK(next_indentation("if x:") == "    ");
  CHECK(next_indentation("if x:  # why") == "    ");
  CHECK(next_indentation("    y = 1") == "    ");
  CHECK(next_indentation("    return 1") == "");
  CHECK(next_indentation("        pass") == "    ");
  CHECK(next_indentation("        returned = 1") == "        ");
  CHECK(next_indentation("f(") == "    ");
  CHECK(next_indentation("x = f(a,") == "      ");
  CHECK(next_indentation("x = f(a,\n      g(b))") == "");
  CHECK(next_indentation("    x = f(\n        a)") == "    ");
  CHECK(next_indentation("def f(a,\n      b):") == "    ");
  CHECK(next_indentation("x = 1 + \\") == "    ");
  CHECK(next_indentation("x = '''\n  text") == "  ");
  CHECK(next_indentation("x = 'a:") == "");
  CHECK(next_indentation("d = {'a': 1}  # (") == "");
}

TEST_CASE("a clause belongs to the statement above it") {
  CHECK(clause_indentation("if x:\n    y\n    else:") == "");
  CHECK(clause_indentation("for i in a:\n    if x:\n        y\n        else:") == "    ");
  CHECK(!clause_indentation("if x:\n    y\nelse:"));
  CHECK(!clause_indentation("if x:\n    if y:\n        z\n    else:"));
  CHECK(!clause_indentation("else:"));
  CHECK(clause_indentation("try:\n    f()\n    except ValueError:") == "");
}

#include "lang/syntax/definitions.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "lang/syntax/parse.h"

using namespace tessera::lang;

namespace {

// The lines from which `x`, read at the last `x  ` of the text (two blanks behind), may have its value.
std::string origin(const std::string& text) {
  const auto source = std::make_shared<Source>("t", text);
  const ParseResult parsed = parse(*source);
  REQUIRE(parsed);
  const auto place = static_cast<uint32_t>(text.rfind("x  "));
  Origin found = origin_of(*parsed.tree, "x", place);
  if (found.of_module) {
    found = origin_in_module(*parsed.tree, "x", place);
  }
  if (found.unknown) return "unknown";
  std::string lines = found.argument ? "argument " : found.before ? "before " : "";
  for (const uint32_t at : found.places) lines += std::to_string(source->line_number(at)) + " ";
  return lines.empty() ? lines : lines.substr(0, lines.size() - 1);
}

}  // namespace

TEST_CASE("reaching definitions: straight lines and branches") {
  CHECK(origin("x = 1\nx = 2\nprint(x  )") == "2");
  CHECK(origin("x = 1\nx = x  + 2") == "1");
  CHECK(origin("x, (y, *z) = 1, (2, 3)\nprint(x  )") == "1");
  CHECK(origin("if a:\n  x = 1\nelif b:\n  x = 2\nelse:\n  x = 3\nprint(x  )") == "2 4 6");
  CHECK(origin("x = 1\nif a:\n  x = 2\nprint(x  )") == "1 3");
  CHECK(origin("if a:\n  x = 1\nprint(x  )") == "before 2");
  CHECK(origin("x = 1\nif a:\n  x = 2\n  raise b\nprint(x  )") == "1");
  CHECK(origin("x = 1\nx += 2\nprint(x  )") == "1");
  CHECK(origin("print((x := 3), x  )") == "before");
  CHECK(origin("f(x := 3)\nprint(x  )") == "before 1");
  CHECK(origin("x = 1\ndel x\nprint(x  )") == "before");
  CHECK(origin("import a.b as x\nprint(x  )") == "1");
  CHECK(origin("x = 1\nfrom a import *\nprint(x  )") == "before 1");
  CHECK(origin("match a:\n  case [x, 1]:\n    print(x  )") == "2");
}

TEST_CASE("reaching definitions: loops") {
  CHECK(origin("x = 1\nfor i in a:\n  print(x  )\n  x = 2") == "1 4");
  CHECK(origin("for x in a:\n  print(x  )") == "1");
  CHECK(origin("x = 1\nwhile True:\n  x = 2\n  if a: break\n  x = 3\nprint(x  )") == "3");
  CHECK(origin("x = 1\nwhile a:\n  x = 2\n  if b: continue\n  x = 3\nelse:\n  pass\nprint(x  )") == "1 3 5");
  CHECK(origin("for i in a:\n  for j in b:\n    print(x  )\n    x = 1\n  x = 2") == "before 4 5");
}

TEST_CASE("reaching definitions: try and with") {
  CHECK(origin("x = 1\ntry:\n  x = 2\n  x = 3\nexcept E:\n  print(x  )") == "1 3");
  CHECK(origin("x = 1\ntry:\n  x = 2\nexcept E:\n  x = 3\nelse:\n  x = 4\nprint(x  )") == "5 7");
  CHECK(origin("try:\n  x = 1\nfinally:\n  y = 2\nprint(x  )") == "2");
  CHECK(origin("x = 0\ntry:\n  x = 1\nfinally:\n  print(x  )") == "1 3");
  CHECK(origin("with a as x, b:\n  print(x  )") == "1");
  CHECK(origin("try:\n  a\nexcept E as x:\n  print(x  )") == "3");
}

TEST_CASE("reaching definitions: scopes") {
  CHECK(origin("x = 1\ndef f(x):\n  print(x  )") == "argument");
  CHECK(origin("def f(x=1):\n  if a:\n    x = 2\n  print(x  )") == "argument 3");
  CHECK(origin("def f(x):\n  x = x.float()\n  print(x  )") == "2");
  CHECK(origin("x = 1\ndef f():\n  global x\n  print(x  )") == "unknown");
  CHECK(origin("x = 1\ndef f():\n  global x\n  x = 2\nprint(x  )") == "unknown");
  CHECK(origin("def f():\n  x = 1\n  def g():\n    return x  + 1\n  return g") == "2");
  CHECK(origin("def f(x):\n  return lambda: x  + 1") == "unknown");
  CHECK(origin("y = lambda x: x  + 1") == "argument");
  CHECK(origin("x = 1\ny = [x  + 1 for x in a]") == "2");
  CHECK(origin("x = 1\ny = [z for z in x  ]") == "1");
  CHECK(origin("class C:\n  x = 1\n  y = x  + 1") == "2");
}

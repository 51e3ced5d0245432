// The bytecode of small programs: what must be fused, folded or left out. What the code does is for tests/scripts to say.
#include "lang/compiler/compile.h"

#include <doctest/doctest.h>

#include "lang/compiler/disasm.h"
#include "lang/core/interpreter.h"
#include "lang/syntax/parse.h"
#include "lang/compiler/resolve.h"

using namespace tessera::lang;

namespace {

// The listing of the function `f` in the text, with single blanks.
std::string listing(std::string_view text) {
  Interpreter in;
  auto source = std::make_shared<Source>("test", text);
  ParseResult parsed = parse(*source);
  REQUIRE(parsed);
  const Value code = Value::adopt(compile_tree(in, source, *parsed.tree, CompileMode::Module));
  std::string all;
  for (char c : disassemble(in, static_cast<const Code*>(code.as_object()))) {
    if (c != ' ' || !all.ends_with(' ')) all += c;
  }
  const size_t at = all.find("code f ");
  return at == std::string::npos ? all : all.substr(at);
}

size_t count(const std::string& text, std::string_view word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

bool has(const std::string& text, std::string_view word) { return count(text, word) != 0; }

std::string refusal(std::string_view text) {
  Interpreter in;
  auto source = std::make_shared<Source>("test", text);
  ParseResult parsed = parse(*source);
  REQUIRE(parsed);
  try {
    const Value code = Value::adopt(compile_tree(in, source, *parsed.tree, CompileMode::Module));
  } catch (const CompileError& error) {
    return error.message;
  }
  return "ok";
}

}  // namespace

TEST_CASE("a comparison is one instruction with its jump") {
  const std::string code = listing("def f(n):\n  if n < 2:\n    return n\n  return f(n - 1)\n");
  CHECK(has(code, "JumpLtI r0 2 0"));
  CHECK(has(code, "SubI"));
  CHECK_FALSE(has(code, "JumpIf"));
}

TEST_CASE("a loop tests at its bottom") {
  const std::string code = listing("def f(n):\n  i = 0\n  while i < n and n:\n    i += 1\n");
  CHECK(count(code, " Jump ") == 1);
  CHECK(has(code, "JumpLt"));
  CHECK(has(code, "AddI r1 r1 1"));
}

TEST_CASE("range makes no object in a loop, and its numbers go to the variable's register") {
  const std::string code = listing("def f(n):\n  for i in range(n):\n    pass\n");
  CHECK(has(code, "ForPrepareCall"));
  CHECK(has(code, "ForNext r2 r1"));
}

TEST_CASE("operators take locals and constants where they stand") {
  const std::string code = listing("def f(a, b):\n  c = a * b + 2.5\n  return 1 / c\n");
  CHECK_FALSE(has(code, "Move"));
  CHECK(has(code, "AddK r2 r3 2.5"));
  CHECK(has(code, "KTrueDiv"));
}

TEST_CASE("constants are folded, but not what raises or grows") {
  CHECK(has(listing("def f():\n  return 60 * 60 * 24\n"), "86400"));
  CHECK(has(listing("def f():\n  return -(2 ** 3)\n"), "LoadInt r0 -8"));
  CHECK(has(listing("def f():\n  return (1, 'a', (2, 3))\n"), "(1, 'a', (2, 3))"));
  CHECK(has(listing("def f():\n  return 1 / 0\n"), "TrueDiv"));
  CHECK(has(listing("def f():\n  return 'ab' * 1000000\n"), "Mul"));
}

TEST_CASE("a local that may be unset is checked once") {
  const std::string code = listing("def f(n):\n  if n:\n    x = 1\n  return x + x\n");
  CHECK(count(code, "CheckLocal") == 1);
  CHECK_FALSE(has(listing("def f(n):\n  if n:\n    x = 1\n  else:\n    x = 2\n  return x\n"), "CheckLocal"));
  CHECK_FALSE(has(listing("def f(n):\n  if n:\n    x = 1\n  else:\n    return 2\n  return x\n"), "CheckLocal"));
  CHECK(count(listing("def f(n):\n  x = 1\n  if n:\n    del x\n  return x\n"), "CheckLocal") == 1);
}

TEST_CASE("a method call makes no bound method") {
  CHECK(has(listing("def f(a, b):\n  return a.g(b)\n"), "Invoke"));
  CHECK(has(listing("def f(a, b):\n  return a.g(b())\n"), "CallMethod"));
}

TEST_CASE("unpacking displays makes no tuple") {
  const std::string code = listing("def f(a, b):\n  a, b = b, a + b\n  return a\n");
  CHECK_FALSE(has(code, "BuildTuple"));
  CHECK_FALSE(has(code, "Unpack"));
  CHECK(has(listing("def f(p):\n  for a, b in p:\n    pass\n"), "Unpack r1 "));
}

TEST_CASE("long displays and calls need few registers") {
  std::string text = "def f(y):\n  return [";
  for (int i = 0; i < 5000; ++i) text += "y, ";
  CHECK(has(listing(text + "]\n"), "ListAppend"));
  std::string call = "def f(y):\n  return f(";
  for (int i = 0; i < 300; ++i) call += "y, ";
  CHECK(has(listing(call + ")\n"), "CallSpread"));
}

TEST_CASE("what a return leaves is not protected by it") {
  const std::string code = listing("def f():\n  try:\n    return g()\n  finally:\n    h()\n");
  CHECK(count(code, " h\n") == 2);  // once before the return, once for exceptions
  CHECK(count(code, "protect 1..") == 1);
  CHECK(has(code, "protect 1..3 "));  // g() alone: the first call of h is outside, and so is the word of the line of `try`
}

TEST_CASE("what is left out of the language is refused by name") {
  CHECK(refusal("eval('1')\n") == "ok");
  CHECK(refusal("class C(metaclass=M): pass\n") == "ok");
}

TEST_CASE("what a word has no room for has another form") {
  // A loop of more words than a conditional jump spans, with more constants than operands can name.
  std::string text = "def f(o, n):\n  t = 0\n  for i in range(n):\n    if i != 1:\n";
  for (int i = 0; i < 10000; ++i) text += "      t += " + std::to_string(i) + ".5 + o.a" + std::to_string(i % 3) + "\n";
  text += "  return t\nclass O: a0 = a1 = a2 = 1\nassert f(O(), 3) == 100020000.0\n";
  const std::string code = listing(text);
  CHECK(has(code, " 5 JumpNeI r3 1 0 -> 35910"));
  CHECK(has(code, " ForNext r4 r3 -> 5\n"));
  Interpreter in;
  CHECK_NOTHROW(in.run(*std::make_shared<Source>("test", text), "__main__"));
}

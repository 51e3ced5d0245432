// Code as bytes and back: the same bytes again, and no damage that leads the reader out of them.
#include "lang/compiler/code_bytes.h"

#include <doctest/doctest.h>

#include "lang/compiler/chunk.h"
#include "lang/compiler/compile.h"
#include "lang/compiler/disasm.h"
#include "lang/core/interpreter.h"
#include "lang/core/object_cast.h"

using namespace tessera::lang;

namespace {

constexpr const char* kText = R"('''doc'''
import sys, os.path as path
from json import (loads as l, dumps)
WORDS = ("a b", ("b", None, ...), b"bytes", 3j, -0.0, 2 ** 100, -2 ** 90, 1.5, "\ud800\u03b1", True)
class C(object, metaclass=type):
    "text"
    n: int = 4
    def f(self, *a, k=1, **m):
        nonlocal_ = [x for x in {*a} if x in {1, 2, 'three'}]
        def g():
            nonlocal nonlocal_
            nonlocal_ += m[k],
            return lambda: (yield nonlocal_)
        return g, {k: v for k, v in m.items()}, (i async for i in self)
async def h(x):
    async with x as y:
        await y
    try:
        assert x, f"{x!r:>{y}}"
    except* (KeyError, ValueError) as e:
        pass
    finally:
        del x
    match x:
        case [1, *r] | {"k": r}: return r
)";

const Code* code_of(const Value& v) { return known_cast<const Code>(v); }

}  // namespace

TEST_CASE("code is the same after a way through bytes") {
  Interpreter in;
  std::string text = kText;
  for (int i = 0; i < 300; ++i) text += "def many" + std::to_string(i) + "(a, b=" + std::to_string(i) + "):\n    return a.x" + std::to_string(i) + " + b\n";
  const auto source = std::make_shared<Source>("test", text);
  const Value code = compile_source(in, source, CompileMode::Module);
  const std::string bytes = code_to_bytes(in, *code_of(code));
  REQUIRE(!bytes.empty());
  const Value again = code_from_bytes(in, bytes, source);
  REQUIRE(!again.is_undefined());
  CHECK(code_to_bytes(in, *code_of(again)) == bytes);
  CHECK(disassemble(in, code_of(again)) == disassemble(in, code_of(code)));
}

TEST_CASE("functions too deep in each other have no bytes") {
  Interpreter in;
  std::string text;
  for (int i = 0; i < 90; ++i) text += std::string(static_cast<size_t>(i), ' ') + "def f():\n";
  text += std::string(90, ' ') + "x = " + std::string(80, '(') + "1," + std::string(80, ')') + "\n";
  const auto source = std::make_shared<Source>("test", text);
  const Value code = compile_source(in, source, CompileMode::Module);
  const std::string bytes = code_to_bytes(in, *code_of(code));
  CHECK((bytes.empty() || !code_from_bytes(in, bytes, source).is_undefined()));
}

TEST_CASE("damaged bytes end the reading, or give code that is not run") {
  Interpreter in;
  const auto source = std::make_shared<Source>("test", kText);
  const std::string whole = code_to_bytes(in, *code_of(compile_source(in, source, CompileMode::Module)));
  uint32_t random = 1;
  const auto next = [&] { return random = random * 1664525 + 1013904223; };
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    for (const unsigned bits : {0x01u, 0x80u, 0xffu}) {
      damaged[at] = static_cast<char>(static_cast<unsigned char>(whole[at]) ^ bits);
      try {
        code_from_bytes(in, damaged, source);
      } catch (const std::exception&) {  // a set of what has no hash, digits that are none
      }
    }
    CHECK(code_from_bytes(in, std::string_view(whole).substr(0, at), source).is_undefined());
  }
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = whole;
    for (uint32_t k = next() >> 30; k-- != UINT32_MAX;) damaged[(next() >> 8) % whole.size()] = static_cast<char>(next() >> 24);
    if ((next() >> 31) != 0) damaged.erase((next() >> 8) % damaged.size(), (next() >> 28));
    try {
      code_from_bytes(in, damaged, source);
    } catch (const std::exception&) {
    }
  }
}

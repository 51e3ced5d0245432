// The listing of `tsr --dump`.
#include "lang/compiler/disasm.h"

#include <doctest/doctest.h>

#include "lang/compiler/compile.h"
#include "lang/core/interpreter.h"
#include "lang/syntax/source.h"

using namespace tessera::lang;

TEST_CASE("a listing shows source lines, operands, jump targets and inner code") {
  Interpreter in;
  auto source = std::make_shared<Source>("test", "def f(x):\n    while x:\n        x -= 1\n");
  const Value code = compile_source(in, source, CompileMode::Module);
  const std::string text = disassemble(in, static_cast<const Code*>(code.as_object()));
  CHECK(text.starts_with("code <module> (line 1): 4 words, 1 registers\n  # 1: def f(x):\n"));
  CHECK(text.find("MakeFunction      r0 0 0 <code f>") != std::string::npos);
  CHECK(text.find("StoreGlobal       r0 f") != std::string::npos);
  CHECK(text.find("\ncode f (line 1): 4 words, 1 registers; r0 x\n") != std::string::npos);
  CHECK(text.find("  # 3: x -= 1\n      1  SubI              r0 r0 1\n") != std::string::npos);
  CHECK(text.find("      2  JumpIf            r0 1 -> 1\n") != std::string::npos);
}

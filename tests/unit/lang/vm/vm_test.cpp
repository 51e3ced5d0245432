// What hosts see of the machine: answers, exceptions, interruption, calls from C++.
#include "lang/vm/vm.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "lang/compiler/chunk.h"
#include "lang/core/error.h"
#include "lang/objects/exception.h"
#include "lang/core/interpreter.h"
#include "lang/objects/module.h"
#include "lang/core/protocol.h"
#include "lang/syntax/source.h"
#include "lang/types/str.h"

using namespace tessera::lang;

namespace {

std::shared_ptr<Source> source(std::string_view text) { return std::make_shared<Source>("test", text); }

Value eval(Interpreter& in, std::string_view text) { return in.eval(*source(text)); }

std::string report(Interpreter& in, std::string_view text) {
  try {
    in.run(*source(text), "__main__");
  } catch (const Thrown& thrown) {
    return in.format_exception(thrown.exception);
  }
  return "";
}

}  // namespace

TEST_CASE("an expression's value, and a name that a run has bound") {
  Interpreter in;
  in.run(*source("x = 6\ndef twice(n): return n * 2\n"), "__main__");
  CHECK(eval(in, "twice(x) + 1").as_int() == 13);
  const Value function = get_attr(in, Value(in.main_module()), intern(in, "twice"));
  CHECK(call(in, function, {Value::integer(21)}).as_int() == 42);
}

TEST_CASE("an exception leaves the machine as it was") {
  Interpreter in;
  CHECK(report(in, "def f(n):\n  return [1][n]\nf(3)\n") ==
        "Traceback (most recent call last):\n  File \"test\", line 3, in <module>\n    f(3)\n"
        "  File \"test\", line 2, in f\n    return [1][n]\n           ~~~^^^\nIndexError: list index out of range\n");
  CHECK(in.vm().depth() == 0);
  CHECK(in.vm().top() == nullptr);
  CHECK(eval(in, "1 + 1").as_int() == 2);
}

TEST_CASE("runaway recursion through scripts and through natives is an exception") {
  Interpreter in;
  CHECK(report(in, "def f(): f()\nf()\n").ends_with("RecursionError: maximum recursion depth exceeded\n"));
  CHECK(report(in, "def f(x): return sorted([1, 2], key=f)\nf(1)\n")
            .ends_with("RecursionError: maximum recursion depth exceeded\n"));
  CHECK(report(in, "class A:\n  def __repr__(self): return repr(self)\nrepr(A())\n").find("RecursionError") !=
        std::string::npos);
}

TEST_CASE("a flag stops a loop that would not end") {
  Interpreter in;
  in.interrupt.store(1);
  CHECK(report(in, "while True: pass\n").ends_with("KeyboardInterrupt\n"));
  CHECK(in.interrupt.load() == 0);
}

TEST_CASE("two interpreters know nothing of each other") {
  Interpreter a, b;
  a.run(*source("x = 'a'\n"), "__main__");
  b.run(*source("x = 'b'\n"), "__main__");
  CHECK(text_of(eval(a, "x")) == "a");
  CHECK(text_of(eval(b, "x")) == "b");
}

TEST_CASE("a function whose making is interrupted is given back") {
  Interpreter in;
  in.run(*source("def make(x): return lambda: x\nmade = make(1)\n"), "__main__");
  const Value made = get_attr(in, Value(in.main_module()), intern(in, "made"));
  const Function* const model = static_cast<Function*>(made.as_object());
  // A slab ends at the function or at its closure; which of them looks for an interruption differs with what lies before.
  std::vector<Value> kept;
  size_t interrupted = 0;
  for (size_t round = 0; round < 64; ++round) {
    for (size_t i = 0; i < round; ++i) kept.push_back(make_cell(in, Value()));
    in.interrupt = kCancelled;
    try {
      while (true) kept.push_back(make_function(in, model->code, model->globals));
    } catch (const Error&) {
      ++interrupted;
    }
    in.interrupt = 0;
    kept.push_back(make_function(in, model->code, model->globals));
  }
  CHECK(interrupted == 64);
  CHECK(call(in, made, {}).as_int() == 1);
}

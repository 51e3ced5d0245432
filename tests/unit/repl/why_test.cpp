// :why's text: frames with their variables, chains, and the line that would mend it.
#include "repl/inspector/why.h"

#include <doctest/doctest.h>

#include <string>

#include "lang/core/error.h"
#include "lang/syntax/source.h"
#include "lang/vm/vm.h"
#include "stdlib/standard.h"

using namespace tessera;
using namespace tessera::lang;
using repl::Style;

namespace {

// A session's blocks, one after another.
class Blocks {
 public:
  Blocks() : in_(stdlib::make_interpreter({}, {})) { in_->vm().keep_variables(true); }

  // Runs a block; answers what :why says of its error, or an empty text.
  std::string run(const std::string& text) {
    const std::string name = "In [" + std::to_string(++number_) + "]";
    try {
      in_->run_interactive(*std::make_shared<Source>(name, text));
    } catch (const Thrown& thrown) {
      raised_ = thrown.exception;
      return repl::why_text(*in_, raised_, style_);
    }
    return "";
  }
  std::string interrupt() { return repl::interrupt_text(*in_, raised_); }
  Interpreter& in() { return *in_; }

 private:
  std::unique_ptr<Interpreter> in_;
  Value raised_;
  Style style_;
  int number_ = 0;
};

bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("why: frames, variables with their numbers, and the mended line") {
  Blocks s;
  s.run("import torch\na = torch.ones(2, 3)");
  s.run("b = torch.ones(4, 3)");
  s.run("def f(x, k=2):\n    y = x * float('nan')\n    return x @ b\n");
  const std::string why = s.run("f(a)");
  CHECK(has(why, "In [4]:1, in <module>\n  > 1 | f(a)\n"));
  CHECK(has(why, "    a  float32[2, 3], all 1\n"));
  CHECK(has(why, "In [3]:3, in f\n"));
  CHECK(has(why, "  > 3 |     return x @ b\n                   ^^^^^\n"));
  CHECK(has(why, "    x  float32[2, 3], all 1\n    k  2\n    y  float32[2, 3], 6 NaN\n"));
  CHECK(has(why, "x: float32[2, 3], passed at In [4]:1 (a, made at In [1]:2)\nb: float32[4, 3], made at In [2]:1\n"));
  CHECK(has(why, "To mend it, In [3]:3\n  -     return x @ b\n  +     return x @ b.T\n"));
}

TEST_CASE("why: a variable of other blocks has the line of the last one that came to it") {
  Blocks s;
  s.run("import torch\na = torch.ones(2)");
  s.run("b = torch.ones(3)");
  s.run("1 / 0\na = torch.ones(9)");
  CHECK(has(s.run("a + b"), "a: float32[2], made at In [1]:2\nb: float32[3], made at In [2]:1\n"));
  s.run("if a.sum() > 0: a = torch.ones(4)");
  CHECK(has(s.run("a + b"), "a: float32[4], made at In [5]:1 or In [1]:2\n"));
  s.run("def change():\n    global b\n    b = torch.ones(5)\n");
  s.run("change()");
  CHECK(has(s.run("a + b"), "\nb: float32[5]\n"));
}

TEST_CASE("why: an assignment is named only where nothing else has set the name since") {
  Blocks s;
  s.run("import torch, sys, __main__\nwide = torch.ones(5)");
  s.run("x = torch.ones(2)");
  CHECK(has(s.run("__main__.x = torch.ones(3)\nx + wide"), "x: float32[3]\nwide: float32[5], made at In [1]:2\n"));
  CHECK(has(s.run("x + wide"), "x: float32[3]\nwide"));
  CHECK(has(s.run("x = torch.ones(2)\nx + wide"), "x: float32[2], made at In [5]:1\n"));
  CHECK(has(s.run("x + wide"), "x: float32[2], made at In [5]:1\n"));
  CHECK(has(s.run("x = torch.ones(2)\nsetattr(sys.modules['__main__'], 'x', torch.ones(7))\nx + wide"),
            "x: float32[7]\nwide"));
  s.run("y = torch.ones(2)\ndef change():\n    globals().update(y=torch.ones(6))\n");
  CHECK(has(s.run("y + wide"), "y: float32[2], made at In [8]:1\n"));
  CHECK(has(s.run("change(); y + wide"), "y: float32[6]\nwide"));
  s.run("def assign():\n    global z\n    z = torch.ones(4)\n");
  s.run("z = torch.ones(2)");
  CHECK(has(s.run("assign(); z + wide"), "z: float32[4]\nwide"));
  s.in().run(*std::make_shared<Source>("other.tsr", "wide = torch.ones(8)\n"), "__main__");
  CHECK(has(s.run("z + wide"), "wide: float32[8]\n"));
}

TEST_CASE("why: scripts have no part in it") {
  Blocks s;
  s.run("class Loud:\n    def __repr__(self): raise ValueError('repr')\n    def __len__(self): return 1 / 0\n");
  s.run("class Slow(Exception):\n    def __str__(self):\n        while True: pass\n");
  const std::string why = s.run("x = [Loud(), 'text', None]\nraise Slow(x)");
  CHECK(has(why, "    x  [<Loud>, 'text', None]\n"));
  CHECK(has(why, "Slow: <exception str() failed>\n"));
}

TEST_CASE("why: chains, and calls without end") {
  Blocks s;
  const std::string why = s.run("try:\n    {}['key']\nexcept KeyError as e:\n    raise ValueError('no') from e");
  CHECK(has(why, "KeyError: 'key'\n\nThe above was the direct cause of the following:\n\n"));
  CHECK(why.find("KeyError") < why.find("ValueError: no"));
  s.run("def f(n):\n    return f(n + 1)\n");
  const std::string deep = s.run("f(0)");
  CHECK(has(deep, "more calls\n"));
  CHECK(deep.size() < 4000);
}

TEST_CASE("why: what is misspelt, missing or no Python is mended") {
  Blocks s;
  CHECK(has(s.run("prnit(1)"), "  - prnit(1)\n  + print(1)\n"));
  CHECK(has(s.run("print 1"), "  - print 1\n  + print(1)\n"));
  CHECK(has(s.run("if number = 3:\n    pass"), "  - if number = 3:\n  + if number == 3:\n"));
  CHECK(has(s.run("while True\n    pass"), "  - while True\n  + while True:\n"));
  CHECK(has(s.run("if True:\nx = 1\n"), "  - x = 1\n  +     x = 1\n"));
  CHECK(has(s.run("np.ones(3)"), ", before it is used\n  + import numpy as np\n"));
  s.run("class A:\n    def __init__(self): self.size = 3\n    def twice(self):\n        return 2 * size\n");
  CHECK(has(s.run("A().twice()"), "  -         return 2 * size\n  +         return 2 * self.size\n"));
  s.run("values = [1, 2, 3]");
  CHECK(has(s.run("values[len(values) / 2]"), "  + values[len(values) // 2]\n"));
  CHECK_FALSE(has(s.run("1 / 0"), "To mend it"));
}

TEST_CASE("why: the line that made an operand") {
  Blocks s;
  s.run("import torch");
  const std::string why = s.run("x = torch.ones(4, 3)\nm = x.mean(1)\ny = x - m");
  CHECK(has(why, "To mend it, In [2]:2\n  - m = x.mean(1)\n  + m = x.mean(1, keepdim=True)\n"));
}

TEST_CASE("an interrupt says where it was") {
  Blocks s;
  s.run("import torch, time\ndef wait():\n    raise KeyboardInterrupt\n");
  s.run("wait()");
  CHECK(s.interrupt() ==
        "Traceback (most recent call last):\n  File \"In [2]\", line 1, in <module>\n    wait()\n"
        "  File \"In [1]\", line 3, in wait\n    raise KeyboardInterrupt\nKeyboardInterrupt\n");
}

// The collector: what it frees and what it leaves alone.
#include "lang/core/cycles.h"

#include <doctest/doctest.h>

#include "lang/core/interpreter.h"
#include "lang/objects/module.h"
#include "lang/syntax/source.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/str.h"

using namespace tessera::lang;

namespace {

void run(Interpreter& in, std::string_view text) { in.run(*std::make_shared<Source>("test", text), "__main__"); }

}  // namespace

TEST_CASE("a list in itself is garbage when its last name goes") {
  Interpreter in;
  in.collector().collect();
  const size_t before = in.collector().tracked_count();
  {
    const Value list = make_list(in);
    list_append(in, as_list(list), list);
    CHECK(in.collector().collect() == 0);  // still held
  }
  CHECK(in.collector().tracked_count() == before + 1);
  CHECK(in.collector().collect() == 1);
  CHECK(in.collector().tracked_count() == before);
}

TEST_CASE("instances, dicts, closures and classes in cycles are freed, what is reachable stays") {
  Interpreter in;
  run(in,
      "class Node:\n  def __init__(self): self.me = self; self.all = {'n': [self]}\n"
      "def make():\n  def f(): return f\n  class C:\n    def g(self): return C\n  return f\n"
      "kept = Node()\n");
  in.collector().collect();
  const size_t before = in.collector().tracked_count();
  run(in, "for _ in range(10): Node(); make()\n");
  CHECK(in.collector().tracked_count() > before);
  CHECK(in.collector().collect() > 0);
  CHECK(in.collector().tracked_count() <= before + 5);
  run(in, "assert kept.me is kept and kept.all['n'][0] is kept\n");
}

TEST_CASE("finalizers in a cycle run once, and may bring an object back") {
  Interpreter in;
  run(in,
      "log = []\nclass N:\n  def __del__(self): log.append(1); log.append(self)\n"
      "def make():\n  a = N(); a.me = a\nmake()\n");
  in.collector().collect();
  run(in, "assert log[0] == 1 and log[1].me is log[1], log\nlog.clear()\n");
  in.collector().collect();
  run(in, "assert log == [], log\n");
}

TEST_CASE("a program that makes cycles for ever does not grow") {
  Interpreter in;
  run(in, "class N: pass\nfor i in range(200_000):\n  n = N(); n.me = n\n");
  CHECK(in.collector().collections() > 0);
  CHECK(in.collector().tracked_count() < 100'000);
}

TEST_CASE("a long chain is destroyed without deep recursion") {
  Interpreter in;
  run(in, "x = None\nfor i in range(300_000): x = [x]\nx = None\n");
  CHECK(in.collector().tracked_count() < 100'000);
}

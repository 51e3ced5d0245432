// Host types, conversions, callbacks, tasks and lifetimes of <tessera/tessera.h>.
#include <doctest/doctest.h>
#include <tessera/tessera.h>

#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "runtime/dtype.h"

using namespace tessera;
using namespace std::chrono_literals;

// A host's dtypes, which are those of tessera_c.h, are the rows of the table: the same ones with the same numbers.
#define DTYPE(NAME, ...) static_assert(int(DType::NAME) == int(tensor::DType::NAME));
#include "runtime/dtypes.def"

namespace {

struct Counter {
  int count = 0;
  double step = 1.0;
  int add(int n) { return count += n; }
  int value() const { return count; }
  void set_value(int n) { count = n; }
};

Class<Counter> add_counter(Interpreter& tsr) {
  Class<Counter> made = tsr.add_class<Counter>("Counter", "Counts.");
  made.init("__init__(self, start: int = 0)", [](int start) { return Counter{start}; });
  made.method("add(self, n: int) -> int", "Add n.", &Counter::add);
  made.method("__len__(self)", "", [](const Counter& self) { return self.count; });
  made.property("value", "What was counted.", &Counter::value, &Counter::set_value);
  made.property("twice", "", [](const Counter& self) { return self.count * 2; });
  made.property("step", "", &Counter::step);
  return made;
}

std::string raised(Interpreter& tsr, const char* code) {
  ScriptError error;
  return tsr.try_run(code, nullptr, &error) ? "" : error.class_name() + ": " + error.message();
}

enum class Colour : uint8_t { Red, Green = 7 };

}  // namespace

TEST_CASE("embed: a class of the host's has methods, properties and special methods") {
  Interpreter tsr;
  const auto counter = add_counter(tsr);
  CHECK(tsr.run("c = Counter(3)\nc.add(n=4)\nc.value").as<int>() == 7);
  CHECK(tsr.run("c.value = 10\nlen(c) + c.twice").as<int>() == 30);
  CHECK(tsr.run("c.step = 2.5\nc.step").as<double>() == 2.5);
  CHECK(tsr.run("type(c).__name__ + Counter.add.__doc__").as<std::string>() == "CounterAdd n.");
  CHECK(raised(tsr, "c.add('x')") == "TypeError: 'str' object cannot be interpreted as an integer");
  CHECK(raised(tsr, "Counter.add(3, 4)") ==
        "TypeError: descriptor 'add' for 'Counter' objects doesn't apply to a 'int' object");
  CHECK(raised(tsr, "c.twice = 1").starts_with("AttributeError"));
  // A script may derive from it.
  CHECK(tsr.run("class Twice(Counter):\n    def add(self, n): return super().add(2 * n)\nTwice(1).add(2)").as<int>() ==
        5);
  // Objects of the host's, lent or given.
  Counter mine;
  tsr.set("mine", counter.wrap(&mine));
  tsr.run("mine.add(5)");
  CHECK(mine.count == 5);
  tsr.set("given", counter.own(std::make_unique<Counter>(Counter{8})));
  CHECK(tsr.eval("given.value").as<int>() == 8);
  tsr.def("read(c)", "", [](const Counter& c) { return c.count; });
  CHECK(tsr.eval("read(mine) + read(Twice(1))").as<int>() == 6);
  CHECK(raised(tsr, "read(3)") == "TypeError: 'int' object is not of the host's class");
}

TEST_CASE("embed: a class without __init__ has instances of the host's making only, each freed once") {
  static int alive = 0;
  struct Noted {
    Noted() { ++alive; }
    ~Noted() { --alive; }
  };
  {
    Interpreter tsr;
    const auto noted = tsr.add_class<Noted>("Noted");
    CHECK(raised(tsr, "Noted()") == "TypeError: cannot create 'Noted' instances");
    tsr.set("n", noted.own(std::make_unique<Noted>()));
    CHECK(alive == 1);
    tsr.run("m = n\nm.me = m\nn = None");  // a cycle
    CHECK(alive == 1);
    tsr.run("m = None\nimport gc\ngc.collect()");
    CHECK(alive == 0);
    tsr.set("last", noted.own(std::make_unique<Noted>()));
  }
  CHECK(alive == 0);
}

TEST_CASE("embed: a pointer to a host's object is an instance of its class") {
  Interpreter tsr;
  Counter mine;
  CHECK_THROWS_WITH_AS(tsr.set("early", &mine), "TypeError: the interpreter has no class for this type of the host's",
                       ScriptError);
  add_counter(tsr);
  tsr.set("mine", &mine);
  const auto grow = tsr.run("def grow(c):\n    return None if c is None else c.add(2)\ngrow")
                        .as<std::function<std::optional<int>(Counter*)>>();
  CHECK(grow(&mine) == 2);
  CHECK(tsr.eval("mine.add(3)").as<int>() == 5);
  CHECK(mine.count == 5);
  CHECK_FALSE(grow(nullptr).has_value());
}

TEST_CASE("embed: containers, optionals and enums cross the border") {
  Interpreter tsr;
  tsr.set("m", std::map<std::string, std::vector<int>>{{"a", {1, 2}}, {"b", {}}});
  CHECK(tsr.eval("m").repr() == "{'a': [1, 2], 'b': []}");
  CHECK(tsr.eval("{k: len(v) for k, v in m.items()}").as<std::map<std::string, int>>() ==
        std::map<std::string, int>{{"a", 2}, {"b", 0}});
  tsr.set("t", std::tuple<int, std::string, bool>{1, "two", true});
  CHECK(tsr.eval("t").repr() == "(1, 'two', True)");
  CHECK(tsr.eval("(1.5, 'x')").as<std::pair<double, std::string>>() == std::pair<double, std::string>{1.5, "x"});
  CHECK_THROWS_AS((tsr.eval("(1, 2, 3)").as<std::pair<int, int>>()), ScriptError);
  CHECK_FALSE(tsr.eval("None").as<std::optional<int>>().has_value());
  CHECK(tsr.eval("4").as<std::optional<int>>() == 4);
  tsr.set("nothing", std::optional<double>());
  CHECK(tsr.eval("nothing is None").truth());
  tsr.set("colour", Colour::Green);
  CHECK(tsr.eval("colour").as<Colour>() == Colour::Green);
  CHECK(tsr.eval("3 + 4j").as<std::complex<double>>() == std::complex<double>(3, 4));
  CHECK(tsr.eval("{1, 2, 2}").as<std::set<int>>() == std::set<int>{1, 2});
  CHECK(tsr.eval("[1, 2]").type() == TSR_TYPE_LIST);
  CHECK(tsr.eval("len").type() == TSR_TYPE_FUNCTION);
  CHECK(tsr.eval("'ab'")[1].as<std::string>() == "b");
  CHECK_THROWS_AS(tsr.set("big", UINT64_MAX), ScriptError);
}

TEST_CASE("embed: a span is the tensor's own memory, both ways") {
  Interpreter tsr;
  tsr.def("brighten(image, by: float)", "", [](std::span<float> image, double by) {
    for (float& x : image) x += static_cast<float>(by);
  });
  CHECK(tsr.run("import torch\nx = torch.zeros(2, 3)\nbrighten(x, by=2)\nx.sum().item()").as<double>() == 12);
  CHECK(raised(tsr, "brighten(torch.zeros(2, 3).T, 1)") ==
        "ValueError: the tensor is not contiguous: pass x.contiguous()");
  CHECK(raised(tsr, "brighten(torch.zeros(2, dtype=torch.int64), 1)") ==
        "TypeError: the tensor's elements have another type");
  std::vector<double> own = {1, 2, 3};
  tsr.set("own", std::span<double>(own));
  tsr.run("own *= 2");
  CHECK(own == std::vector<double>{2, 4, 6});
}

TEST_CASE("embed: functions of scripts are std::functions, and the other way round") {
  Interpreter tsr;
  const auto f = tsr.run("def f(a, b=1): return a * b\nf").as<std::function<double(double, double)>>();
  CHECK(f(3, 4) == 12);
  CHECK(tsr.get("f")(3, arg("b", 5)).as<int>() == 15);
  tsr.set("half", std::function<double(double)>([](double x) { return x / 2; }));
  CHECK(tsr.eval("list(map(half, [1, 3]))").as<std::vector<double>>() == std::vector<double>{0.5, 1.5});
  tsr.def("apply(f, x)", "", [](const std::function<int(int)>& g, int x) { return g(x); });
  CHECK(tsr.eval("apply(lambda n: n + 1, 41)").as<int>() == 42);
  tsr.def("boom()", "", []() -> int { throw std::out_of_range("too far"); });
  CHECK(raised(tsr, "boom()") == "IndexError: too far");
  CHECK(tsr.run("try:\n    boom()\nexcept IndexError as e:\n    s = str(e)\ns").as<std::string>() == "too far");
  tsr.def("refuse()", "", [] { throw ScriptError("PermissionError", "not you"); });
  CHECK(raised(tsr, "refuse()") == "PermissionError: not you");
}

TEST_CASE("embed: modules of the host's, an importer, input and help") {
  std::vector<std::string> lines = {"first\n", "second\n"};
  size_t next = 0;
  Interpreter tsr({.read_line =
                       [&](std::string& line) {
                         if (next == lines.size()) return false;
                         line = lines[next++];
                         return true;
                       },
                   .import_source = [](std::string_view name) -> std::optional<std::string> {
                     if (name != "settings") return std::nullopt;
                     return "depth = 3\ndef twice(): return 2 * depth\n";
                   }});
  Module game = tsr.module("game", "What a script may do.");
  game.set("lives", 3).def("jump(height: float = 1.0) -> float", "Jump.", [](double height) { return height * 2; });
  CHECK(tsr.run("import game\nfrom game import jump\njump(3) + game.lives").as<double>() == 9);
  CHECK(tsr.run("import settings\nsettings.twice()").as<int>() == 6);
  CHECK(raised(tsr, "import missing") == "ModuleNotFoundError: No module named 'missing'");
  CHECK(tsr.eval("input() + input('? ')").as<std::string>() == "firstsecond");
  CHECK(raised(tsr, "input()") == "EOFError: EOF when reading a line");
  CHECK(tsr.get("jump").help() == "jump(height: float = 1.0) -> float\n\n    Jump.\n");
  CHECK(tsr.complete("x = game.li") == std::vector<std::string>{"lives"});
  CHECK(tsr.complete("game.jump(hei") == std::vector<std::string>{"height="});
  tsr.run("d = {'one': 1, 'other': 2}");
  CHECK(tsr.complete("d['o") == std::vector<std::string>{"one", "other"});
  CHECK(tsr.complete("from game import ju") == std::vector<std::string>{"jump"});
  CHECK(tsr.is_complete("def f():") == TSR_INCOMPLETE);
  CHECK(tsr.is_complete("x = 1") == TSR_COMPLETE);
  CHECK(tsr.is_complete("x = )") == TSR_INVALID);
}

TEST_CASE("embed: compiled code is kept and run again") {
  Interpreter tsr;
  tsr.set("x", 1);
  const Program next = tsr.compile("x + 1", TSR_EXPRESSION), step = tsr.compile("x += 10\nx * 2\n");
  CHECK(next.run().as<int>() == 2);
  CHECK(step.run().as<int>() == 22);
  CHECK(next.run().as<int>() == 12);
  CHECK_THROWS_AS(tsr.compile("x +"), ScriptError);
}

TEST_CASE("embed: a task pauses in recursion and between the items of generators") {
  Interpreter tsr({.time_limit = 20});
  tsr.run(
      "class A:\n  def fib(self, n): return n if n < 2 else self.fib(n - 1) + self.fib(n - 2)\n"
      "a = A()\ndef fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\n"
      "def inner(n):\n  i = 0\n  while i < n:\n    yield i\n    i += 1\n"
      "def outer(n): yield from inner(n)\n"
      "def drain(n):\n  s = 0\n  for x in outer(n): s += x\n  return s");
  const char* const code[] = {"fib(16)", "a.fib(16)", "drain(2000)"};
  const int64_t wanted[] = {987, 987, 1999000};
  for (int i = 0; i < 3; ++i) {
    Task task(tsr.compile(code[i]));
    int pieces = 1;
    while (!task.run_for(0.0)) {  // each goes on a little
      ++pieces;
      if (pieces % 64 == 0) tsr.eval("fib(3)");
    }
    CHECK(pieces > 1000);
    CHECK(task.result().as<int64_t>() == wanted[i]);
  }
}

TEST_CASE("embed: a task pauses in whatever a script's class does for an instruction") {
  Interpreter tsr({.time_limit = 60});
  tsr.run(
      "import torch\n"
      "def spin(n=200):\n"
      "    for i in range(n): pass\n"
      "class Busy:\n"
      "    def __call__(self, *a, **k): spin(); return 1\n"
      "    def __add__(self, o): spin(); return 1 if o else NotImplemented\n"
      "    def __radd__(self, o): spin(); return 1\n"
      "    def __iadd__(self, o): spin(); return self\n"
      "    def __lt__(self, o): spin(); return 1\n"
      "    def __neg__(self): spin(); return 1\n"
      "    def __getitem__(self, k): spin(); return 1\n"
      "    def __setitem__(self, k, v): spin()\n"
      "    def __delitem__(self, k): spin()\n"
      "    def __enter__(self): spin(); return 1\n"
      "    def __exit__(self, *a): spin()\n"
      "    def __iter__(self): spin(); self.left = 3; return self\n"
      "    def __next__(self):\n"
      "        spin()\n"
      "        self.left -= 1\n"
      "        if self.left < 0: raise StopIteration\n"
      "        return self.left\n"
      "    @property\n"
      "    def value(self): spin(); return 1\n"
      "def found(): spin(); return [1]\n"
      "class Model(torch.nn.Module):\n"
      "    def __init__(self):\n"
      "        super().__init__()\n"
      "        self.inner = Inner()\n"
      "    def forward(self, x, *, k=1): return self.inner(x) + k\n"
      "class Inner(torch.nn.Module):\n"
      "    def forward(self, x): spin(); return x\n"
      "b, m, x = Busy(), Model(), torch.zeros(1)\n");
  const char* const code[] = {"b()",
                              "b(1, k=2)",
                              "b(*[1])",
                              "b(**{'k': 1})",
                              "b + 1",
                              "1 + b",
                              "[] + b",
                              "b += 1",
                              "b < 1",
                              "-b",
                              "b[1]",
                              "b['k']",
                              "b[1:2]",
                              "b[1] = 2",
                              "del b[1]",
                              "with b as c: pass",
                              "for c in b: pass",
                              "for c in found(): pass",
                              "b.value",
                              "class C:\n    for i in range(200): pass",
                              "m(x)",
                              "m(x, k=2)",
                              "m.inner.forward(x)"};
  for (const char* const line : code) {
    Task task(tsr.compile(line));
    int pieces = 1;
    while (!task.run_for(0.0)) {
      ++pieces;
      CHECK(tsr.eval("sum(i for i in range(4))").as<int>() == 6);
    }
    CHECK_MESSAGE(pieces > 100, std::string(line));
  }
  // What natives call comes to its end first.
  Task sorting(tsr.compile("sorted([3, 1, 2], key=lambda n: (spin(), n)[1])", TSR_EXPRESSION));
  int pieces = 1;
  while (!sorting.run_for(0.0)) ++pieces;
  CHECK(pieces <= 4);
  CHECK(sorting.result().repr() == "[1, 2, 3]");
}

TEST_CASE("embed: what a with block of a paused task sets for tensors is not the host's") {
  Interpreter tsr;
  tsr.run("import torch\nw = torch.ones(1, requires_grad=True)");
  Task task(tsr.compile(
      "with torch.no_grad():\n    for i in range(10): y = w * 2\n(y.requires_grad, (w * 2).requires_grad)"));
  int pieces = 0;
  for (; !task.run_for(0.0); ++pieces) CHECK(tsr.eval("(w * 3).requires_grad").truth());
  CHECK(pieces > 5);
  CHECK(task.result().repr() == "(False, True)");
}

TEST_CASE("embed: a task that stands in a special method is given up, raises and ends as others") {
  Interpreter tsr;
  tsr.run(
      "ended = []\nclass A:\n"
      "    def __add__(self, o):\n"
      "        held = Noted()\n"
      "        while True: pass\n"
      "    def __iter__(self): return self\n"
      "    def __next__(self):\n"
      "        for i in range(20000): pass\n"
      "        raise KeyError('k')\n"
      "class Noted:\n    def __del__(self): ended.append(1)\n");
  {
    Task task(tsr.compile("A() + 1"));
    CHECK_FALSE(task.run_for(1ms));
    CHECK_FALSE(task.run_for(1ms));
  }
  CHECK(tsr.eval("len(ended)").as<int>() == 1);
  Task failing(tsr.compile("for x in A(): pass"));
  std::string name;
  try {
    while (!failing.run_for(0.0)) {}
  } catch (const ScriptError& error) {
    name = error.class_name();
    CHECK(error.lines().back().function == "__next__");
  }
  CHECK(name == "KeyError");
  CHECK(tsr.eval("1 + 1").as<int>() == 2);
}

TEST_CASE("embed: a task runs in pieces and goes on where it stopped") {
  Interpreter tsr;
  tsr.run("seen = []\nstop = False\ndef wait():\n    rounds = 0\n    while not stop: rounds += 1\n    return rounds\n");
  Task task(tsr.compile(
      "try:\n    a = wait() > 0\n    b = sum(i for i in range(1000))\nfinally:\n    seen.append('end')\n(a, b)\n"));
  for (int piece = 0; piece < 3; ++piece) {
    CHECK_FALSE(task.run_for(1ms));
    CHECK(tsr.eval("sum(range(10))").as<int>() == 45);  // the host goes on meanwhile
  }
  tsr.set("stop", true);
  while (!task.run_for(1ms)) {}
  CHECK(task.result().repr() == "(True, 499500)");
  CHECK(tsr.eval("seen").repr() == "['end']");
  CHECK_THROWS_AS(task.run_for(1ms), ScriptError);
  // Exceptions end it.
  Task failing(tsr.compile("for i in range(100000): pass\n1 / 0\n"));
  std::string name;
  try {
    while (!failing.run_for(0.0005)) {}
  } catch (const ScriptError& error) {
    name = error.class_name();
  }
  CHECK(name == "ZeroDivisionError");
}

TEST_CASE("embed: tasks may be given up, and the newest ends first") {
  Interpreter tsr;
  const Program endless = tsr.compile("class Held:\n    pass\nheld = [Held()]\nwhile True: pass\n");
  auto outer = std::make_unique<Task>(endless);
  CHECK_FALSE(outer->run_for(1ms));
  {
    Task inner(endless);
    CHECK_FALSE(inner.run_for(1ms));
    CHECK_THROWS_AS(outer->run_for(1ms), ScriptError);
  }
  CHECK_FALSE(outer->run_for(1ms));
  outer.reset();
  CHECK(tsr.eval("len(held)").as<int>() == 1);
  // One that is left paused ends with its interpreter.
  Task last(endless);
  CHECK_FALSE(last.run_for(1ms));
  { const Interpreter gone = std::move(tsr); }
  CHECK_THROWS_AS(last.run_for(1ms), ScriptError);
}

TEST_CASE("embed: what was got from an interpreter may outlive it") {
  std::vector<float> data = {1, 2, 3};
  Ref list, function;
  Tensor made, lent;
  Program program;
  bool freed = false;
  {
    Interpreter tsr;
    tsr.set("x", Tensor::from_blob(data.data(), {3}, kFloat32, [&] { freed = true; }));
    list = tsr.run("import torch\n[x, object()]");
    function = tsr.run("def f(): return x\nf");
    made = tsr.eval("torch.arange(4.)").as<Tensor>();
    lent = tsr.get("x").as<Tensor>();
    program = tsr.compile("1 + 1");
  }
  CHECK(made.to_vector<float>() == std::vector<float>{0, 1, 2, 3});
  CHECK_FALSE(freed);
  CHECK(lent.data<float>() == data.data());
  lent = Tensor();
  CHECK(freed);
  CHECK_THROWS_AS(list.repr(), ScriptError);
  CHECK_THROWS_AS(function(), ScriptError);
  CHECK_THROWS_AS(program.run(), ScriptError);
  const Ref copy = list;
  list = Ref();
}

TEST_CASE("embed: an interpreter that is ended by its own script ends when the script has") {
  auto tsr = std::make_unique<Interpreter>();
  tsr_interpreter* const handle = tsr->handle();
  tsr->def("end()", "", [&] { tsr_free(handle); });
  ScriptError error;
  CHECK_FALSE(tsr->try_run("end()\nwhile True: pass\n", nullptr, &error));
  CHECK(error.kind() == TSR_ERROR_CANCELLED);
  CHECK_FALSE(tsr->try_run("1", nullptr, &error));
  CHECK(error.kind() == TSR_ERROR_USAGE);
}

TEST_CASE("embed: kinds of errors, usage and clearing") {
  Interpreter tsr({.memory_limit = 64 << 20, .step_limit = 1'000'000});
  ScriptError error;
  CHECK_FALSE(tsr.try_run("while True: pass", nullptr, &error));
  CHECK(error.kind() == TSR_ERROR_LIMIT);
  CHECK_FALSE(tsr.try_run("1 / 0", nullptr, &error));
  CHECK(error.kind() == TSR_ERROR_SCRIPT);
  tsr.run("import torch\nbig = [0] * 1000000\nt = torch.zeros(1000000)");
  CHECK(tsr.usage().object_bytes > 16'000'000);
  CHECK(tsr.usage().tensor_bytes >= 4'000'000);
  tsr.clear();
  CHECK(tsr.usage().object_bytes < 16'000'000);
  CHECK(tsr.usage().tensor_bytes < 4'000'000);
  CHECK_FALSE(tsr.has("big"));
  Interpreter other;
  CHECK_THROWS_AS(other.set("x", tsr.eval("[1]")), ScriptError);
}

TEST_CASE("embed: operations and gradients without an interpreter") {
  const Tensor x = Tensor::from_values(std::vector<double>{1, 2, 3, 4}, {2, 2});
  x.requires_grad_();
  op("sum", x * x, arg("dim", Ints{0, 1})).backward();
  CHECK(x.grad().to_vector<double>() == std::vector<double>{2, 4, 6, 8});
  x.clear_grad();
  CHECK_FALSE(x.grad().defined());
  const std::vector<Tensor> top = ops("topk", x, 1);
  CHECK(top.size() == 2);
  CHECK(top[1].to_vector<int64_t>() == std::vector<int64_t>{1, 1});
  CHECK(op("cat", std::vector<Tensor>{x, x}, 1).sizes() == Ints{2, 4});
  CHECK(op("sum", x, arg("dtype", kFloat32)).dtype() == kFloat32);
  {
    const NoGrad none;
    op("add_", x, 1);
    CHECK_FALSE((x * 2).requires_grad());
  }
  CHECK((10.0 - x).to_vector<double>() == std::vector<double>{8, 7, 6, 5});
  CHECK((1.0 / x).to_vector<double>()[1] == 1.0 / 3);
  CHECK_THROWS_AS(op("no_such_operation", x), ScriptError);
  CHECK_THROWS_AS(op("softmax", x, "a"), ScriptError);
  CHECK_THROWS_AS(matmul(x, Tensor::zeros({3})), ScriptError);
}

TEST_CASE("embed: a reloaded module gets new functions and keeps its state") {
  std::string text = "import torch\nif 'w' not in globals(): w = torch.zeros(2)\ndef learn(): w.add_(1)\n";
  Options options;
  options.import_source = [&](std::string_view name) { return name == "model" ? std::optional(text) : std::nullopt; };
  Interpreter tsr(options);
  const Ref model = tsr.import("model");
  const Tensor weights = model.attribute("w").as<Tensor>();
  model.call("learn");
  text = "def learn(): w.mul_(10)\nnew = True\n";
  tsr.reload(model);
  model.call("learn");
  CHECK(weights.to_vector<float>() == std::vector<float>{10, 10});
  CHECK(model.attribute("new").truth());
  text = "def learn(:";
  CHECK_THROWS_AS(tsr.reload(model), ScriptError);
  model.call("learn");
  CHECK(weights.to_vector<float>() == std::vector<float>{100, 100});
}

TEST_CASE("embed: a limit that is hit in the last line's finalizer is told") {
  Options options;
  options.step_limit = 100'000;
  Interpreter tsr(options);
  ScriptError error;
  const char* const code = "class A:\n    def __del__(self):\n        while True: pass\ndef f(): A()\nf()\n";
  CHECK_FALSE(tsr.try_run(code, nullptr, &error));
  CHECK(error.is_limit());
  CHECK_THROWS_AS(tsr.get("f")(), ScriptError);
  CHECK(tsr.eval("1 + 1").as<int>() == 2);
}

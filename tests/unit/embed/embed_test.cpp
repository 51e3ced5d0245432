// The embedding API as a host uses it.
#include <doctest/doctest.h>
#include <tessera/tessera.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

using namespace tessera;

// A host's own names: of Tessera's only the few types come in.
static const int sum = 3, stack = 4;

TEST_CASE("embed: the namespace brings no names of operations") {
  CHECK(sum + stack == 7);
  const Tensor x = Tensor::zeros({2}, kFloat32);
  CHECK((x + x).numel() == 2);
}

TEST_CASE("embed: values go in and out") {
  Interpreter tsr;
  tsr.set("n", 3);
  tsr.set("name", "word");
  tsr.set("numbers", std::vector<double>{1.5, 2.5});
  CHECK(tsr.eval("n * 2").as<int>() == 6);
  CHECK(tsr.eval("name + '!'").as<std::string>() == "word!");
  CHECK(tsr.eval("sum(numbers)").as<double>() == 4.0);
  CHECK(tsr.eval("[n, n + 1]").as<std::vector<int>>() == std::vector<int>{3, 4});
  CHECK(tsr.eval("None").is_none());
  CHECK(tsr.run("x = 1\nx + 1\n").as<int>() == 2);
  CHECK(tsr.get("x").as<int>() == 1);
}

TEST_CASE("embed: a tensor shares the host's memory both ways") {
  std::vector<float> data = {1, 2, 3, 4, 5, 6};
  Interpreter tsr;
  tsr.set("x", Tensor::from_blob(data.data(), {2, 3}, kFloat32));
  tsr.run("x *= 10");
  CHECK(data[5] == 60.0f);
  const Tensor seen = tsr.get("x").as<Tensor>();
  CHECK(seen.data<float>() == data.data());
}

TEST_CASE("embed: host functions have keywords, defaults and checks") {
  Interpreter tsr;
  tsr.def("scale(x: Tensor, k: float = 2.0) -> Tensor", "Multiply by k.",
          [](const Tensor& x, double k) { return x * k; });
  tsr.def("join(words: list, by: str = ' ') -> str", "Join words.",
          [](const std::vector<std::string>& words, const std::string& by) {
            std::string text;
            for (const std::string& word : words) text += (text.empty() ? "" : by) + word;
            return text;
          });
  CHECK(tsr.run("import torch\nscale(torch.ones(2), k=3).sum().item()").as<double>() == 6.0);
  CHECK(tsr.eval("scale(torch.ones(2)).tolist()").as<std::vector<double>>() == std::vector<double>{2, 2});
  CHECK(tsr.eval("join(['a', 'b'], by='-')").as<std::string>() == "a-b");
  CHECK_THROWS_AS(tsr.eval("scale(1)"), ScriptError);
  CHECK_THROWS_AS(tsr.eval("scale()"), ScriptError);
}

TEST_CASE("embed: errors arrive with class, message and traceback, and the interpreter lives on") {
  Interpreter tsr;
  ScriptError error;
  CHECK_FALSE(tsr.try_run("def f(d):\n    return d['missing']\nf({})\n", nullptr, &error));
  CHECK(error.class_name() == "KeyError");
  CHECK(error.message() == "'missing'");
  CHECK(error.traceback().find("line 2, in f") != std::string::npos);
  CHECK_FALSE(tsr.try_run("x = (1,\n", nullptr, &error));
  CHECK(error.class_name() == "SyntaxError");
  CHECK(tsr.eval("1 + 1").as<int>() == 2);
}

TEST_CASE("embed: nothing is granted that the host does not grant") {
  Interpreter tsr;
  CHECK_THROWS_AS(tsr.run("open('/etc/hostname')"), ScriptError);
  std::string printed;
  Interpreter talking({.print = [&](std::string_view text) { printed += text; }});
  talking.run("print('hello', 1)");
  CHECK(printed == "hello 1\n");
}

TEST_CASE("embed: a limit of steps ends a loop that a script cannot hold on to") {
  Interpreter tsr({.step_limit = 100000});
  CHECK_THROWS_AS(tsr.run("while True:\n    try:\n        while True: pass\n    except Exception: pass\n"),
                  ScriptError);
  CHECK(tsr.eval("2 + 2").as<int>() == 4);
}

TEST_CASE("embed: two interpreters on two threads do not see each other") {
  const std::string program =
      "import torch\n"
      "torch.manual_seed(seed)\n"
      "w = torch.zeros(4, requires_grad=True)\n"
      "x = torch.rand(64, 4)\n"
      "y = x @ torch.tensor([1., 2., 3., 4.])\n"
      "for step in range(50):\n"
      "    loss = ((x @ w - y) ** 2).mean()\n"
      "    loss.backward()\n"
      "    with torch.no_grad():\n"
      "        w -= 0.1 * w.grad\n"
      "    w.grad = None\n"
      "result = loss.item()\n";
  auto train = [&](int seed) {
    Interpreter tsr;
    tsr.set("seed", seed);
    tsr.run(program);
    return tsr.get("result").as<double>();
  };
  const double alone[2] = {train(1), train(2)};
  double together[2] = {0, 0};
  std::thread first([&] { together[0] = train(1); }), second([&] { together[1] = train(2); });
  first.join();
  second.join();
  CHECK(alone[0] == together[0]);
  CHECK(alone[1] == together[1]);
  CHECK(alone[0] != alone[1]);
}

TEST_CASE("embed: a run can be cancelled from another thread") {
  Interpreter tsr;
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    tsr.cancel();
  });
  CHECK_THROWS_AS(tsr.run("while True: pass"), ScriptError);
  stopper.join();
}

TEST_CASE("embed: natives that iterate, wait or compute end at the limit of time") {
  Interpreter tsr({.time_limit = 0.3});
  tsr.run("import time, torch\na = torch.ones(1500, 1500)");
  for (const char* code : {"sum(range(10**12))", "time.sleep(60)", "while True: a @ a", "max(range(10**12))",
                           "torch.ones(1).expand(10**12).sum()", "'ab' * 10 in iter(range(10**12))"}) {
    const auto start = std::chrono::steady_clock::now();
    ScriptError error;
    CHECK_FALSE(tsr.try_run(code, nullptr, &error));
    CHECK_MESSAGE(error.class_name() == "TimeoutError", code);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    CHECK_MESSAGE(seconds < 1.0, code);
  }
  CHECK(tsr.eval("1 + 1").as<int>() == 2);
}

TEST_CASE("embed: items that a native pulls are steps") {
  Interpreter tsr({.step_limit = 100000});
  ScriptError error;
  CHECK_FALSE(tsr.try_run("sum(range(10**12))", nullptr, &error));
  CHECK(error.message() == "step limit exceeded");
  CHECK(tsr.eval("sum(range(1000))").as<int>() == 499500);
}

TEST_CASE("embed: a limit that was hit stays hit until the run has ended") {
  Interpreter tsr({.time_limit = 0.1});
  ScriptError error;
  CHECK_FALSE(
      tsr.try_run("class A:\n    def __del__(self):\n        while True: pass\nwhile True: A()\n", nullptr, &error));
  CHECK(error.class_name() == "TimeoutError");
  { const Ref kept = tsr.eval("A()"); }  // its finalizer has a limit too
  CHECK(tsr.eval("1 + 1").as<int>() == 2);
}

TEST_CASE("embed: after a MemoryError whose data still stands the interpreter answers") {
  Interpreter tsr({.memory_limit = 16 << 20});
  ScriptError error;
  CHECK_FALSE(tsr.try_run("kept = []\nwhile True: kept.append([0])\n", nullptr, &error));
  CHECK(error.class_name() == "MemoryError");
  CHECK(tsr.eval("1 + 1").as<int>() == 2);
  CHECK(tsr.eval("len(kept) > 1000").as<bool>());
  tsr.run("kept = None");
  CHECK(tsr.eval("len([0] * 100000)").as<int>() == 100000);
}

TEST_CASE("embed: an integer that does not fit the host's is refused") {
  Interpreter tsr;
  CHECK(tsr.eval("5000000000").as<int64_t>() == 5000000000);
  CHECK_THROWS_AS(tsr.eval("5000000000").as<int>(), ScriptError);
  CHECK_THROWS_AS(tsr.eval("-1").as<uint8_t>(), ScriptError);
  CHECK(tsr.eval("255").as<uint8_t>() == 255);
}

TEST_CASE("embed: an exception keeps its class through a host function") {
  Interpreter tsr;
  tsr.def("apply(f, x)", "f(x)", [](const Ref& f, double x) { return f(x); });
  const Ref caught = tsr.run(
      "class Mine(Exception): pass\n"
      "def f(x): raise Mine(x)\n"
      "out = []\n"
      "try: apply(lambda x: 1 / 0, 1)\n"
      "except ZeroDivisionError as e: out.append(str(e))\n"
      "try: apply(f, 2)\n"
      "except Mine as e: out.append(str(e.args[0]))\n"
      "out\n");
  CHECK(caught.as<std::vector<std::string>>() == std::vector<std::string>{"division by zero", "2.0"});
}

TEST_CASE("embed: a signature must name the function's parameters") {
  Interpreter tsr;
  const auto two = [](double a, double b) { return a + b; };
  CHECK_THROWS_AS(tsr.def("f(a)", "", two), ScriptError);
  CHECK_THROWS_AS(tsr.def("f(a, b, c)", "", two), ScriptError);
  tsr.def("f(a, b)", "", two);
  CHECK(tsr.eval("f(1, 2)").as<double>() == 3);
}

TEST_CASE("embed: no clock, no folder, no process without a grant") {
  Interpreter tsr;
  for (const char* code : {"import time; time.time()", "import time; time.perf_counter()", "import os; os.getcwd()",
                           "import os; os.getpid()", "import datetime; datetime.datetime.now()"}) {
    ScriptError error;
    CHECK_FALSE(tsr.try_run(code, nullptr, &error));
    CHECK_MESSAGE(error.class_name() == "PermissionError", code);
  }
  CHECK(tsr.run("import sys, platform\nsys.executable + platform.node()").as<std::string>().empty());
  Interpreter granted({.allow_clock = true});
  CHECK(granted.run("import time\ntime.time() > 1e9").as<bool>());
}

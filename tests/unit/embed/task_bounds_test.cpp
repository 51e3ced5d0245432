// What lies between a task and the rest: the host's runs between its pieces, functions of the host that begin one, limits.
#include <doctest/doctest.h>
#include <tessera/tessera.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace tessera;

namespace {

template <class F>
std::string raised(F&& f) {
  try {
    f();
  } catch (const ScriptError& error) {
    return error.class_name() + ": " + error.message();
  }
  return "";
}

}  // namespace

TEST_CASE("embed: what the host runs between the pieces of a task does not see its frames") {
  Interpreter tsr;
  tsr.run(
      "import sys, traceback\ndef depth(): return len(traceback.extract_stack())\n"
      "def caller(): return sys._getframe(1)\n");
  const int depth = tsr.eval("depth()").as<int>();
  Task task(
      tsr.compile("def f():\n    try: 1 / 0\n    except ZeroDivisionError:\n        for i in range(9): pass\n"
                  "        return sys.exc_info()[0].__name__\nseen = f()\n"));
  int pieces = 0;
  while (!task.run_for(0.0)) {
    ++pieces;
    CHECK(tsr.eval("sys.exc_info()[0]").is_none());
    CHECK(tsr.eval("depth()").as<int>() == depth);
    CHECK(raised([&] { tsr.run("raise"); }) == "RuntimeError: No active exception to reraise");
    CHECK(tsr.run("try: [][1]\nexcept IndexError as e: alone = e.__context__ is None\nalone").as<bool>());
    CHECK(tsr.eval("caller().f_back").is_none());
  }
  CHECK(pieces > 2);
  CHECK(tsr.get("seen").as<std::string>() == "ZeroDivisionError");
  CHECK(tsr.eval("sys.exc_info()[0]").is_none());
}

TEST_CASE("embed: a task that is begun under a running script comes to its end in one piece") {
  Interpreter tsr;
  std::vector<Task> kept;
  const auto begin = [&] {
    kept.emplace_back(tsr.compile("for i in range(5): inner = [i]\ndel i\n"));
    return kept.back().run_for(0.0);
  };
  tsr.def("begin() -> bool", "", begin);
  const char* const code =
      "def after(x): return [x]\ndef f(n):\n    x = [n]\n    y = begin()\n    return after(x), y\n"
      "r = [f(i) for i in range(3)]\nr\n";
  const char* const answer = "[([[0]], True), ([[1]], True), ([[2]], True)]";
  CHECK(tsr.run(code).repr() == answer);
  CHECK(raised([&] { kept[0].run_for(0.0); }) == "UsageError: the task has ended");
  Task outer(tsr.compile(code));
  int pieces = 0;
  while (!outer.run_for(0.0)) ++pieces;
  CHECK(pieces > 2);  // its own pieces are as before
  CHECK(outer.result().repr() == answer);
  // Where no script runs, it may wait.
  CHECK_FALSE(begin());
  CHECK(tsr.eval("f(3)").repr() == "([[3]], True)");
  CHECK(kept[kept.size() - 2].run_for(1.0));
}

TEST_CASE("embed: a limit leaves no mode of a with block behind") {
  Interpreter tsr;
  tsr.run("import torch\n");
  const char* const endless =
      "with torch.no_grad(), torch.device('meta'), torch.inference_mode():\n    while True: pass\n";
  const auto as_before = [&] {
    return tsr.eval("torch.is_grad_enabled() and not torch.is_inference_mode_enabled() and str(torch.ones(1).device)")
               .repr() == "'cpu'";
  };
  tsr.set_step_limit(5000);
  CHECK(raised([&] { tsr.run(endless); }) == "RuntimeError: step limit exceeded");
  CHECK(as_before());
  tsr.def("stop()", "", [&] { tsr.cancel(); });
  CHECK(raised([&] { tsr.run("with torch.no_grad():\n    stop()\n    while True: pass\n"); }) ==
        "KeyboardInterrupt: cancelled by the host");
  CHECK(as_before());
  tsr.set_step_limit(0);
  Task task(tsr.compile(endless));
  for (int i = 0; i < 40; ++i) CHECK_FALSE(task.run_for(0.0));
  CHECK(as_before());
  tsr.set_step_limit(100);
  CHECK(raised([&] { task.run_for(1.0); }) == "RuntimeError: step limit exceeded");
  tsr.set_step_limit(0);
  CHECK(as_before());
  CHECK_FALSE(tsr.run("torch.set_grad_enabled(False)\ntorch.is_grad_enabled()").as<bool>());
  CHECK_FALSE(tsr.eval("torch.is_grad_enabled()").as<bool>());  // what a run that came to its end has set, stays
}

TEST_CASE("embed: cancel() is told as such wherever it comes: while a text is read, in a native, between two lines") {
  Interpreter tsr;
  std::atomic<bool> over{false};
  std::thread other([&] {
    for (int i = 0; i < 5000; ++i) {
      tsr.cancel();
      std::this_thread::sleep_for(std::chrono::microseconds(i % 40));
    }
    over = true;
  });
  int runs = 0, cancelled = 0;
  bool only = true;
  while (!over) {
    ScriptError error;
    ++runs;
    if (tsr.try_run("sorted(range(300), key=lambda v: -v)\nfor i in range(3000): pass", nullptr, &error)) continue;
    ++cancelled;
    only = only && error.kind() == TSR_ERROR_CANCELLED && error.message() == "cancelled by the host";
  }
  other.join();
  CHECK(only);
  CHECK(cancelled > 0);
  CHECK(runs > 0);
  CHECK(tsr.eval("1 + 1").as<int>() == 2);
}

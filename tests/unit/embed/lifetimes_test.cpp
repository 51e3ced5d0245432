// What a host may destroy, and when: programs, tasks and interpreters in their own runs, objects of the host's under a method of
// theirs, what is empty, and finalizers of an interpreter's end.
#include <doctest/doctest.h>
#include <tessera/tessera.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
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

struct Counter {
  int n = 0;
  std::shared_ptr<int> alive = std::make_shared<int>(1);
  int with(const std::function<int(int)>& f) {
    const std::weak_ptr<int> mine = alive;
    f(n);
    return mine.expired() ? -1 : n;
  }
};

}  // namespace

TEST_CASE("a program may be replaced by its own run") {
  Interpreter tsr;
  Program program;
  tsr.def("swap()", "", [&] { program = tsr.compile("1"); });
  program = tsr.compile("swap()\nx = [i for i in range(1000)]\nlen(x)");
  CHECK(program.run().as<int>() == 1000);
  CHECK(program.run().as<int>() == 1);
  CHECK(raised([] { Program().run(); }) == "UsageError: there is no program");
}

TEST_CASE("a task may be destroyed by its own run, and is given up behind that piece") {
  Interpreter tsr;
  std::optional<Task> task;
  tsr.def("stop()", "", [&] { task.reset(); });
  task.emplace(tsr.compile("stop()\nstopped = 1\nwhile True: pass"));
  CHECK_FALSE(task->run_for(0.001));
  CHECK(tsr.get("stopped").as<int>() == 1);
  Task first(tsr.compile("7"));
  Task second(std::move(first));
  CHECK(second.run_for(1));
  CHECK(second.result().as<int>() == 7);
  CHECK(raised([&] { first.run_for(1); }) == "UsageError: there is no task");  // NOLINT(bugprone-use-after-move)
}

TEST_CASE("tasks are given up in any order, and leave nothing") {
  Interpreter tsr;
  for (int round = 0; round < 40; ++round) {
    std::vector<Task> tasks;
    for (int i = 0; i < 50; ++i) {
      tasks.emplace_back(tsr.compile("while True: pass"));
      CHECK_FALSE(tasks.back().run_for(0.0));
    }
    for (Task& task : tasks) const Task dead = std::move(task);  // the oldest first
  }
  // Their frames would fill the stack of calls.
  CHECK(tsr.run("def f(n): return n and 1 + f(n - 1)\nf(900)").as<int>() == 900);

  struct Watch {
    std::shared_ptr<int> alive;
  };
  const auto held = std::make_shared<int>(0);
  Class<Watch> watch = tsr.add_class<Watch>("Watch");
  watch.init("__init__(self)", [&] { return Watch{held}; });
  std::optional<Task> below(
      tsr.compile("def f():\n  w = Watch()\n  global ready; ready = True\n  while True: pass\nf()"));
  std::optional<Task> above(tsr.compile("while True: pass"));
  while (!tsr.has("ready")) below->run_for(0.001);
  above->run_for(0.0);
  below.reset();
  CHECK(held.use_count() == 2);
  above.reset();
  CHECK(held.use_count() == 1);
}

TEST_CASE("an interpreter that a callback destroys") {
  std::unique_ptr<Interpreter> tsr;
  const auto make = [&](Options options) {
    tsr = std::make_unique<Interpreter>(std::move(options));
    tsr->def("kill()", "", [&] { tsr.reset(); });
  };
  const auto mine = std::make_shared<int>(1);
  make({});
  // A run whose interpreter went in it is a cancelled one.
  CHECK(raised([&] { tsr->run("kill()"); }) == "KeyboardInterrupt: cancelled by the host");
  make({});
  const Ref kill = tsr->eval("kill");
  CHECK(raised([&] { kill(); }) == "KeyboardInterrupt: cancelled by the host");
  Options options;
  int printed = 0;
  options.print = [&tsr, &printed, mine](std::string_view) {
    ++printed;
    tsr.reset();
  };
  make(options);
  options = {};
  CHECK(raised([&] { tsr->run("try: print(1)\nfinally: print(2)\nwhile True: pass"); }) ==
        "KeyboardInterrupt: cancelled by the host");
  CHECK(printed >= 1);
  CHECK(mine.use_count() == 1);  // what the callbacks held is gone with the interpreter
}

TEST_CASE("a script cannot free a host's object under its methods") {
  Interpreter tsr;
  Class<Counter> counter = tsr.add_class<Counter>("Counter");
  counter.init("__init__(self, n: int = 0)", [](int n) { return Counter{n}; });
  counter.method("each(self, f)", "", &Counter::with);
  CHECK(tsr.run("c = Counter(5)\ndef again(n):\n"
                "  try: c.__init__(9)\n"
                "  except TypeError as e: global why; why = str(e)\n"
                "  return n\n"
                "c.each(again)")
            .as<int>() == 5);
  CHECK(tsr.get("why").str() == "'Counter' object has been made already");
  Counter own{3};
  tsr.set("own", &own);
  CHECK(raised([&] { tsr.run("own.__init__(4)"); }) == "TypeError: 'Counter' object has been made already");
}

TEST_CASE("methods whose signature does not fit are refused") {
  Interpreter tsr;
  Class<Counter> counter = tsr.add_class<Counter>("Counter");
  CHECK(raised([&] { counter.method("each()", "", &Counter::with); }) ==
        "UsageError: the signature 'each()' names 0 parameters, the function has 2");
  CHECK(raised([&] { counter.init("__init__(self, a, b)", [](int n) { return Counter{n}; }); }) ==
        "UsageError: the signature '__init__(self, a, b)' names 3 parameters, the function has 2");
  CHECK(tsr.eval("hasattr(Counter, 'each')").truth() == false);
}

TEST_CASE("finalizers of an interpreter's end call the host") {
  int calls = 0;
  Ref kept;
  {
    Interpreter tsr;
    Class<Counter> counter = tsr.add_class<Counter>("Counter");
    counter.init("__init__(self, n: int = 0)", [](int n) { return Counter{n}; });
    counter.method("__del__(self)", "", [&](Counter& self) {
      calls += self.n;
      throw std::runtime_error("ignored");
    });
    tsr.def("keep(x)", "", [&](const Ref& x) {
      kept = x;
      return tsr.eval("6 * 7").as<int>();
    });
    tsr.run("c = Counter(3)\nclass A:\n  def __del__(self): keep([self])\na = A()");
  }
  CHECK(calls == 3);
  CHECK(kept.type() == TSR_TYPE_NONE);
}

TEST_CASE("what is empty is refused, not read") {
  Interpreter moved;
  Interpreter tsr = std::move(moved);
  CHECK(raised([&] { moved.set("x", 1); }) ==
        "UsageError: the interpreter has ended");  // NOLINT(bugprone-use-after-move)
  CHECK_FALSE(moved.has("x"));
  moved.cancel();
  CHECK(moved.usage().steps == 0);
  const Tensor none;
  CHECK(none.dim() == 0);
  CHECK(raised([&] { none + 1.0; }) == "UsageError: the tensor is undefined");
  CHECK(raised([&] { (void)none.data<float>(); }) == "ValueError: the tensor is undefined");
  CHECK(raised([&] {
          op("cat", std::vector<Tensor>{Tensor::zeros({1}), none});
        }) == "UsageError: the tensor is undefined");
  CHECK(tsr.make(none).is_none());
  const char* const text = nullptr;
  CHECK(tsr.make(text).is_none());
  CHECK(tsr.make(std::function<int()>()).is_none());
  CHECK_FALSE(tsr.eval("None").as<std::function<int()>>());
  CHECK(raised([&] { (void)tsr.eval("5").as<std::function<int()>>(); }) == "TypeError: 'int' object is not callable");
}

TEST_CASE("dimensions from the end, and those that are not there") {
  const Tensor t = Tensor::zeros({2, 3});
  CHECK(t.size(0) == 2);
  CHECK(t.size(-1) == 3);
  CHECK(raised([&] { (void)t.size(2); }) == "IndexError: the tensor has 2 dimensions, there is no dimension 2");
  CHECK(raised([&] { (void)t.size(-3); }) == "IndexError: the tensor has 2 dimensions, there is no dimension -3");
  CHECK(ops("unbind", Tensor::zeros({200, 2})).size() == 200);
}

TEST_CASE("NULL through the C interface is a mistake of the host's") {
  const auto mistake = [](auto&& call) {
    tsr_error* error = nullptr;
    const bool done = call(&error);
    const std::string text = done ? "done" : tsr_error_message(error);
    CHECK((done || tsr_error_get_kind(error) == TSR_ERROR_USAGE));
    tsr_error_free(error);
    return text;
  };
  tsr_interpreter* const in = tsr_new(nullptr, nullptr);
  tsr_value out = tsr_none();
  tsr_value hollow = tsr_none();
  hollow.kind = TSR_OBJECT;
  hollow.as.object = nullptr;
  CHECK_FALSE(tsr_has_name(nullptr, "x"));
  CHECK_FALSE(tsr_has_name(in, nullptr));
  CHECK(tsr_type_of(hollow) == TSR_TYPE_NONE);
  // What came with a function is given back though there is no interpreter to make it in.
  int dropped = 0;
  const tsr_drop drop = [](void* user) { ++*static_cast<int*>(user); };
  const tsr_function nothing = [](void*, tsr_interpreter*, const tsr_value*, size_t, tsr_value*) { return true; };
  CHECK(mistake([&](tsr_error** e) {
          return tsr_make_function(nullptr, "f()", "", nothing, &dropped, drop, &out, e);
        }) == "the interpreter has ended");
  CHECK(mistake([&](tsr_error** e) {
          return tsr_add_property(nullptr, tsr_none(), "p", "", nothing, nullptr, &dropped, drop, e);
        }) == "the interpreter has ended");
  CHECK(dropped == 2);
  CHECK(mistake([&](tsr_error** e) { return tsr_get_name(in, nullptr, &out, e); }) == "a name that is NULL");
  CHECK(mistake([&](tsr_error** e) { return tsr_import(in, nullptr, &out, e); }) == "a name that is NULL");
  CHECK(mistake([&](tsr_error** e) { return tsr_str(in, nullptr, SIZE_MAX, &out, e); }) == "a text that is NULL");
  CHECK(mistake([&](tsr_error** e) { return tsr_list(in, nullptr, 3, &out, e); }) == "a list that is NULL");
  CHECK(mistake([&](tsr_error** e) { return tsr_make_function(in, "f()", "", nullptr, nullptr, nullptr, &out, e); }) ==
        "a function that is NULL");
  CHECK(mistake([&](tsr_error** e) { return tsr_from_tensor(in, nullptr, &out, e); }) == "the tensor is undefined");
  CHECK(mistake([&](tsr_error** e) { return tsr_program_run(nullptr, &out, e); }) == "there is no program");
  CHECK(mistake([&](tsr_error** e) { return tsr_run_file(in, "/tmp", nullptr, 0, e); }) == "cannot read '/tmp'");
  tsr_tensor* tensor = nullptr;
  CHECK(mistake([&](tsr_error** e) { return tsr_tensor_new(nullptr, 2, TSR_DTYPE_FLOAT32, &tensor, e); }) ==
        "sizes that are NULL");
  CHECK(mistake([&](tsr_error** e) { return tsr_tensor_from_dlpack(nullptr, &tensor, e); }) ==
        "a DLPack tensor that is NULL");
  CHECK(std::string(tsr_error_class(nullptr)) == "MemoryError");
  tsr_free(in);
}

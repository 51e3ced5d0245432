// Blocks, their results and names, states of blocks, commands, interrupts.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "repl/session/command_line.h"
#include "tests/sanitized.h"
#include "tests/unit/repl/fake_client.h"

using namespace tessera;
using namespace tessera::repl;

TEST_CASE("a session shows the last expression and keeps it") {
  FakeSession s;
  CHECK(s.run("1 + 1") == "Out[1]: 2\n");
  CHECK(s.run("_ + 40") == "Out[2]: 42\n");
  CHECK(s.run("x = 5") == "");
  CHECK(s.run("x; None") == "");
  CHECK(s.run("x;") == "");
  CHECK(s.run("x;  # quiet") == "");
  CHECK(s.run("';'") == "Out[7]: ';'\n");
  CHECK(s.run("_, __, ___") == "Out[8]: (';', 42, 2)\n");
  CHECK(s.run("_1, _2, Out[1], In[3], _i3, _i") == "Out[9]: (2, 42, 2, 'x = 5', 'x = 5', '_, __, ___')\n");
  CHECK(s.run("   \n") == "");
  CHECK(s.session->number() == 10);
}

TEST_CASE("a name of the person's is not overwritten") {
  FakeSession s;
  s.run("_ = 'mine'");
  CHECK(s.run("3") == "Out[2]: 3\n");
  CHECK(s.run("_") == "Out[3]: 'mine'\n");
  CHECK(s.run("_2") == "Out[4]: 3\n");
}

TEST_CASE("results are kept up to a bound") {
  FakeSession s;
  s.run("torch.zeros(40 << 20)");  // 160 MiB
  s.run("torch.ones(2)");
  s.run("torch.zeros(40 << 20)");
  CHECK(s.run("1 in Out, 3 in Out, 2 in Out") == "Out[4]: (True, True, True)\n");
  CHECK(s.run("1 in Out, 3 in Out, 2 in Out") == "Out[5]: (False, True, True)\n");
  CHECK(s.run("_1").find("NameError") != std::string::npos);
  s.run(":reset out");
  CHECK(s.run("len(Out)") == "Out[8]: 0\n");
}

TEST_CASE("modules are there without import, and no variables") {
  FakeSession s;
  CHECK(s.run(":who") == "Interactive namespace is empty.\n");
  CHECK(s.run("nn.Linear(2, 3), F.relu, np.arange(2)").find("Linear(in_features=2, out_features=3") !=
        std::string::npos);
  CHECK(s.run("f'{torch.ones(1)}'") == "Out[3]: 'tensor([1.])'\n");
  CHECK(s.run(":who") == "Interactive namespace is empty.\n");
  s.run("F = 3");
  CHECK(s.run("F, 'np'") == "Out[6]: (3, 'np')\n");
  CHECK(s.run(":who") == "F\t \n");
}

TEST_CASE("a session can read ahead") {
  FakeSession s;
  int steps = 0;
  while (s.session->prepare()) ++steps;
  CHECK(steps >= 3);
  CHECK(s.run("'nn' in globals(), 'torch' in globals()") == "Out[1]: (False, False)\n");
  CHECK(s.run("import sys; 'torch.nn' in sys.modules") == "Out[2]: True\n");
}

TEST_CASE("what is raised is shown and the session goes on") {
  FakeSession s;
  CHECK(s.run("1 / 0").find("ZeroDivisionError: division by zero") != std::string::npos);
  CHECK(s.run("class R:\n    def __repr__(self): raise ValueError('no')\n\nR()").find("ValueError: no") !=
        std::string::npos);
  CHECK(s.run("'here'") == "Out[3]: 'here'\n");
  CHECK(s.session->run("exit(3)").kind == Outcome::Kind::kLeft);
  CHECK(s.session->run("exit(3)").status == 3);
  CHECK(s.session->run("exit").kind == Outcome::Kind::kLeft);
  CHECK(s.session->run(":quit").kind == Outcome::Kind::kLeft);
}

TEST_CASE("an interrupt from another thread ends the block and leaves the session") {
  FakeSession s;
  for (const char* block :
       {"while True: pass", "sum(range(10 ** 12))", "print(list(range(10 ** 6)) * 4)", "list(range(10 ** 6)) * 4",
        ":time while True: pass", "!sleep 60", ":timeit -n 1000000000 1 + 1"}) {
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      s.session->interrupt();
    });
    const auto begin = std::chrono::steady_clock::now();
    const Outcome outcome = s.session->run(block);
    CHECK_MESSAGE(outcome.status == 130, block);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(30));
    other.join();
  }
  CHECK(s.run("'alive'").find("'alive'") != std::string::npos);
}

TEST_CASE("states of blocks") {
  FakeSession s;
  using Kind = BlockState::Kind;
  const auto kind = [&](const char* text) { return s.session->state_of(text).kind; };
  CHECK(kind("x = 1\n") == Kind::kComplete);
  CHECK(kind("def f():\n") == Kind::kIncomplete);
  CHECK(kind("x = )\n") == Kind::kInvalid);
  for (const char* command :
       {":tensors\n", "%time f(\n", "!ls (\n", "x?\n", "x??\n", "?x\n", "files = !ls\n", ":time f()\n", "%ls\n"})
    CHECK_MESSAGE((kind(command) == Kind::kComplete || command[1] == 't'), command);
  CHECK(kind("%time f(\n") == Kind::kIncomplete);
  CHECK(kind(":time for i in range(3):\n") == Kind::kIncomplete);
  CHECK(kind("%%timeit\n") == Kind::kIncomplete);
  CHECK(kind("%%timeit\nx = 1\n") == Kind::kIncomplete);
  CHECK(kind("%%timeit\nx = 1\n\n") == Kind::kComplete);
  CHECK(kind("x = 1\n%time x\n") == Kind::kComplete);
}

TEST_CASE("lines that are commands, and lines that are not") {
  const auto kind = [](const char* text) {
    const auto found = command_of(text);
    return found ? static_cast<int>(found->kind) : -1;
  };
  using Kind = CommandLine::Kind;
  CHECK(kind("x = 1") == -1);
  CHECK(kind("'what?'") == -1);
  CHECK(kind("# what?") == -1);
  CHECK(kind("x % 2") == -1);
  CHECK(kind("d[':a']") == -1);
  CHECK(kind("x == '!ls'") == -1);
  CHECK(kind("x != y") == -1);
  CHECK(kind("x?") == static_cast<int>(Kind::Inspect));
  CHECK(kind("model[0].weight??") == static_cast<int>(Kind::Source));
  CHECK(kind("?torch.add") == static_cast<int>(Kind::Inspect));
  CHECK(kind("größe?") == static_cast<int>(Kind::Inspect));
  CHECK(command_of("?")->name == "help");
  CHECK(kind("!ls -l") == static_cast<int>(Kind::Shell));
  CHECK(command_of("files = !ls -l")->target == "files");
  CHECK(command_of(":time x + 1")->arguments == "x + 1");
  CHECK(command_of("%%timeit n = 3\nx\ny")->body == "x\ny");
  CHECK(words_of("a 'b c' d\\ e \"f\"") == std::vector<std::string>{"a", "b c", "d e", "f"});
}

TEST_CASE("commands between statements") {
  FakeSession s;
  CHECK(s.run("x = [1]\n%who\nx.append(2)\nx") == "x\t \nOut[1]: [1, 2]\n");
  const std::string failed = s.run("a = 1\n:nothing\na = 2");
  CHECK(failed == "there is no command :nothing; :help lists them\n");
  CHECK(s.run("a") == "Out[3]: 1\n");
  CHECK(s.run("y = 1\n%who\n\n1 / 0").find("line 4") != std::string::npos);
}

TEST_CASE("a misspelt command names the nearest") {
  FakeSession s;
  CHECK(s.run(":timeeit 1") == "there is no command :timeeit; did you mean :timeit?\n");
  CHECK(s.run("%hisotry") == "there is no command %hisotry; did you mean %history?\n");
}

TEST_CASE("the shell's lines") {
  FakeSession s;
  CHECK(s.run("!echo hello") == "hello\n");
  s.run("name = 'wor ld'");
  CHECK(s.run("!echo $name {1 + 1} $$HOME_OF_NOBODY") == "wor ld 2\n");
  s.run("lines = !printf 'a\\nb\\n'");
  // The braces of a format, of the shell and of nothing.
  CHECK(s.run("!echo '{40 + 2:>5}|{name!s}|{{name}}|{nobody:3}'") == "   42|{name!s}|{name}|{nobody:3}\n");
  CHECK(s.run("lines") == "Out[6]: ['a', 'b']\n");
  s.run("!exit 3");
  CHECK(s.run("_exit_code") == "Out[8]: 3\n");
}

TEST_CASE("times") {
  FakeSession s;
  const std::string time = s.run(":time 6 * 7");
  CHECK(time.find("CPU times: user ") == 0);
  CHECK(time.find("\nWall time: ") != std::string::npos);
  CHECK(time.ends_with("Out[1]: 42\n"));
  const std::string loops = s.run("%timeit -n 100 -r 3 6 * 7");
  CHECK(loops.find(" per loop (mean ± std. dev. of 3 runs, 100 loops each)\n") != std::string::npos);
  CHECK(
      s.run(
           "%%timeit -n 1 -r 1 n = 3\ntext = '''a\nb'''\nassert n == 3 and text == 'a' + chr(10) + 'b'\nif True:\n    pass")
          .find("of 1 run, 1 loop each)") != std::string::npos);
  CHECK(s.run(":timeit x = = 1").find("SyntaxError") != std::string::npos);
  CHECK(s.run(":timeit") == "usage: :timeit [-n LOOPS] [-r REPEATS] STATEMENT\n");
  CHECK(s.run("'_timed' in globals()") == "Out[6]: False\n");
}

TEST_CASE("a profile says which line took the time") {
  FakeSession s;
  s.run("def slow(n):\n    total = 0\n    for i in range(n):\n        total += i * i % 7\n    return total\n");
  s.run("def products(a):\n    for i in range(20):\n        b = a @ a\n    return b\n");
  s.run(kSanitized ? "n, side = 1_000_000, 200" : "n, side = 5_000_000, 500");
  const std::string text = s.run(":profile (slow(n), products(torch.ones(side, side)))[0]");
  CHECK(text.find("looked at") != std::string::npos);
  CHECK(text.find("for i in range(n):") != std::string::npos);  // a loop that calls nothing is told as a whole
  CHECK(text.find("slow  (In [1])") != std::string::npos);
  CHECK(text.find("b = a @ a") != std::string::npos);
  CHECK(text.find("operation") != std::string::npos);
  s.run("w = torch.ones(side, side, requires_grad=True)");
  const std::string swept = s.run(":profile [(w @ w).sum().backward() for i in range(30)][0]");
  CHECK(swept.find("MmBackward0") != std::string::npos);
  CHECK(s.run(":profile pass").find("try :timeit") != std::string::npos);
}

TEST_CASE("sessions on several threads are profiled at once") {
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&good] {
      FakeSession s;
      for (int round = 0; round < 3; ++round)
        good += s.run(":profile sum(i * i for i in range(400_000))").find("looked at") != std::string::npos;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 9);
}

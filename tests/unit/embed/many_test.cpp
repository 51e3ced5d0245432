// Many interpreters: what one costs, and that nothing is left of those that are gone.
#include <doctest/doctest.h>
#include <tessera/tessera.h>

#include <fstream>
#include <memory>
#include <vector>

#include <unistd.h>

using namespace tessera;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kPlain = false;  // a sanitizer keeps what is freed, and takes its time
#else
constexpr bool kPlain = true;
#endif

// What of this process lies in memory.
long resident_bytes() {
  long all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

void make_and_drop(int count, const char* code) {
  for (int i = 0; i < count; ++i) {
    Interpreter tsr;
    tsr.run(code);
  }
}

// Resident bytes of each of `count` that stand at the same time.
long bytes_of_each(int count, const char* code) {
  std::vector<std::unique_ptr<Interpreter>> all;
  const long before = resident_bytes();
  for (int i = 0; i < count; ++i) {
    all.push_back(std::make_unique<Interpreter>());
    all.back()->run(code);
  }
  return (resident_bytes() - before) / count;
}

}  // namespace

TEST_CASE("embed: ten thousand interpreters come and go without growth") {
  const int count = kPlain ? 10'000 : 50;
  make_and_drop(100, "x = [1, 2, 3]\n");
  const long before = resident_bytes();
  make_and_drop(count, "x = [1, 2, 3]\n");
  if (kPlain) CHECK(resident_bytes() - before < 512 << 10);
}

TEST_CASE("embed: a thousand with tensors, classes and errors come and go without growth") {
  const char* const code =
      "import torch\n"
      "class Node(list):\n"
      "    def __init__(self): self.me = self\n"
      "node = Node()\n"
      "try: node.append(torch.ones(3).sum().item() / 0)\n"
      "except ZeroDivisionError as error: node.append(error)\n";
  const int count = kPlain ? 1'000 : 20;
  make_and_drop(100, code);
  const long before = resident_bytes();
  make_and_drop(count, code);
  if (kPlain) CHECK(resident_bytes() - before < 512 << 10);
}

TEST_CASE("embed: an interpreter that has run a statement is small") {
  make_and_drop(1, "import torch\nx = torch.ones(3)\n");  // what the process has once
  const long plain = bytes_of_each(200, "x = 1\n");
  const long with_torch = bytes_of_each(100, "import torch\nx = torch.ones(3)\n");
  Interpreter tsr;
  CHECK(tsr.usage().object_bytes <= 160 << 10);
  if (!kPlain) return;
  INFO("bytes of each: " << plain << ", with torch " << with_torch);
  CHECK(plain < 200'000);
  CHECK(with_torch < 400'000);
}

TEST_CASE("embed: the built-in types are whole though they are made when asked for, and at a limit of memory too") {
  Interpreter tsr;
  CHECK(tsr.eval("type('Mine', (OSError,), {}).__mro__[1].__subclasses__()[0].__name__").as<std::string>() ==
        "BlockingIOError");
  CHECK(tsr.eval("[].append.__self__").as<std::vector<int>>().empty());
  tsr.def("told(error: UnicodeError) -> str", "", [](const Ref& error) { return error.type_name(); });
  CHECK_THROWS_AS(tsr.eval("told(1)"), ScriptError);
  CHECK(tsr.eval("told(UnicodeError('x'))").as<std::string>() == "UnicodeError");
  // Under sanitizers each object is a block of the system's, and an interpreter has more of them.
  Interpreter small({.memory_limit = (kPlain ? 4u : 32u) << 20});
  small.run(
      "kept = None\n"
      "try:\n"
      "    while True: kept = (kept,)\n"
      "except MemoryError:\n"
      "    seen = [isinstance(1.5.hex(), str), {1}.union({2}) == {1, 2}, sorted({}.keys()) == []]\n"
      "    try: 1 // 0\n"
      "    except ArithmeticError as error: seen.append(error.args == ('integer division or modulo by zero',))\n"
      "    kept = None\n");
  CHECK(small.eval("all(seen) and len(seen) == 4").as<bool>());
}

// The smallest useful host: text in, answer out. `calculator -` reads lines; without arguments it checks itself.
#include <tessera/tessera.h>

#include <iostream>
#include <string>

// Names stay from line to line, and no line harms the next: limits hold, and nothing of the machine is granted.
std::string answer(tessera::Interpreter& tsr, const std::string& line) {
  try {
    const tessera::Ref value = tsr.run(line);
    return value.is_none() ? "" : value.repr();
  } catch (const tessera::ScriptError& error) {
    return error.class_name() + ": " + error.message();
  }
}

int main(int argc, char**) {
  tessera::Interpreter tsr({.memory_limit = 64 << 20, .time_limit = 0.3});
  tsr.run("from math import *\nimport torch");
  if (argc > 1) {
    for (std::string line; std::getline(std::cin, line);) std::cout << answer(tsr, line) << std::endl;
    return 0;
  }
  const std::pair<std::string, std::string> session[] = {{"radius = 2", ""},
                                                         {"round(pi * radius ** 2, 3)", "12.566"},
                                                         {"torch.tensor([3., 4.]).norm()", "tensor(5.)"},
                                                         {"1 / 0", "ZeroDivisionError: division by zero"},
                                                         {"while True: pass", "TimeoutError: time limit exceeded"}};
  for (const auto& [line, wanted] : session)
    if (answer(tsr, line) != wanted) return std::cerr << line << " gives " << answer(tsr, line) << "\n", 1;
}

// A host that runs a stranger's script from standard input under limits, and says what became of it: the class of the
// exception, the seconds, the peak of memory in KB, and whether the interpreter lives on. tests/sandbox/run.py reads that.
//
//   tessera_sandbox SECONDS MEGABYTES STEPS CANCEL_AFTER < script
#include <sys/resource.h>
#include <tessera/tessera.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <string>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;

long peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const std::string script(std::istreambuf_iterator<char>(std::cin), {});
  const double cancel_after = std::atof(argv[4]);
  tessera::Interpreter tsr({.memory_limit = static_cast<uint64_t>(std::atoll(argv[2])) << 20,
                            .step_limit = static_cast<uint64_t>(std::atoll(argv[3])),
                            .time_limit = std::atof(argv[1])});
  std::thread canceller;
  if (cancel_after > 0)
    canceller = std::thread([&] {
      std::this_thread::sleep_for(std::chrono::duration<double>(cancel_after));
      tsr.cancel();
    });
  std::string raised = "None", message;
  const auto start = Clock::now();
  try {
    tsr.run(script);
  } catch (const tessera::ScriptError& error) {
    raised = error.class_name();
    message = error.message();
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (canceller.joinable()) canceller.join();
  std::string after;
  try {
    after = tsr.eval("1 + 1").as<int>() == 2 ? "alive" : "wrong";
  } catch (const tessera::ScriptError& error) {
    after = error.class_name();
  }
  std::printf("%s\t%.4f\t%ld\t%s\t%s\n", raised.c_str(), seconds, peak_kilobytes(), after.c_str(),
              first_line(message).c_str());
  return 0;
}

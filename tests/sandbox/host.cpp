// A host that runs a stranger's script from standard input under limits, and says what became of it: the class of the
// exception, the seconds, the peak of memory in KB, whether the interpreter lives on, how many bytes were printed, and
// how long it still worked after its deadline (a busy machine lets it wait, too).
// tests/sandbox/run.py reads that.
//
//   tessera_sandbox [NAME=NUMBER...] [grant=NAME...] [root=FOLDER] < script
#include <pthread.h>
#include <sys/resource.h>
#include <tessera/tessera.h>
#include <time.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;

long peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// The seconds that a thread has worked since a moment.
class Overrun {
 public:
  explicit Overrun(double seconds) {
    pthread_getcpuclockid(pthread_self(), &clock_);
    if (seconds > 0)
      watcher_ = std::thread([this, seconds] {
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return done_; })) from_ = now();
      });
  }
  double end() {
    const double to = now();
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_one();
    if (watcher_.joinable()) watcher_.join();
    return from_ < 0 ? 0 : to - from_;
  }

 private:
  double now() const {
    timespec t{};
    clock_gettime(clock_, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
  }
  clockid_t clock_{};
  double from_ = -1;
  bool done_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread watcher_;
};

bool set_option(tessera::Options& options, double& cancel_after, const std::string& name, const std::string& value) {
  const auto count = static_cast<uint64_t>(std::atoll(value.c_str()));
  if (name == "time") options.time_limit = std::atof(value.c_str());
  else if (name == "memory") options.memory_limit = count << 20;
  else if (name == "steps") options.step_limit = count;
  else if (name == "cancel") cancel_after = std::atof(value.c_str());
  else if (name == "output") options.output_limit = count;
  else if (name == "open") options.open_files = static_cast<uint32_t>(count);
  else if (name == "threads") options.threads = static_cast<uint32_t>(count);
  else if (name == "root") options.allow_files = true, options.files_root = value;
  else if (name == "grant" && value == "entropy") options.allow_entropy = true;
  else if (name == "grant" && value == "code") options.allow_code = true;
  else if (name == "grant" && value == "files") options.allow_files = true;
  else return false;
  return true;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

int main(int argc, char** argv) {
  const std::string script(std::istreambuf_iterator<char>(std::cin), {});
  double cancel_after = 0;
  size_t printed = 0;
  tessera::Options options;
  options.print = options.print_error = [&](std::string_view text) { printed += text.size(); };
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const size_t equals = word.find('=');
    if (equals == std::string::npos ||
        !set_option(options, cancel_after, word.substr(0, equals), word.substr(equals + 1)))
      return 2;
  }
  const double deadline = cancel_after > 0 ? cancel_after : options.time_limit;
  tessera::Interpreter tsr(std::move(options));
  std::thread canceller;
  if (cancel_after > 0)
    canceller = std::thread([&] {
      std::this_thread::sleep_for(std::chrono::duration<double>(cancel_after));
      tsr.cancel();
    });
  std::string raised = "None", message;
  const auto start = Clock::now();
  Overrun overrun(deadline);
  try {
    tsr.run(script);
  } catch (const tessera::ScriptError& error) {
    raised = error.class_name();
    message = error.message();
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count(), late = overrun.end();
  if (canceller.joinable()) canceller.join();
  std::string after;
  try {
    after = tsr.eval("1 + 1").as<int>() == 2 ? "alive" : "wrong";
  } catch (const tessera::ScriptError& error) {
    after = error.class_name();
  }
  std::printf("%s\t%.4f\t%.4f\t%ld\t%s\t%zu\t%s\n", raised.c_str(), seconds, late, peak_kilobytes(), after.c_str(),
              printed, first_line(message).c_str());
  return 0;
}

#include "tests/cuda/agreement/workers.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "runtime/context.h"
#include "runtime/device/backend.h"
#include "runtime/device/plugin_loader.h"
#include "tests/cuda/agreement/compare.h"

namespace tessera::agreement {
namespace {

constexpr int64_t kHostMemory = int64_t(1) << 30;  // what a child may hold: a call that goes wrong fails alone
constexpr std::chrono::seconds kLongest(60);       // of a call: what takes longer hangs

/// What a child tells of where it is, in memory that outlives it.
struct Progress {
  int64_t entry = -1;  // that it is in
  int64_t call = 0;    // the number of the call of that entry, 1 the first; 0: it makes the calls
  int64_t passed = 0;
  char label[2048] = {};
};
struct Shared {
  std::atomic<int64_t> next_entry{0};  // nobody has it yet
  Progress progress[];
};

struct Work {
  const std::vector<const OpEntry*>& entries;
  int depth;
  Shared& shared;
};

// ---- in a child ----

void tell(int pipe, char kind, const std::string& what, std::string more) {
  for (char& c : more)
    if (c == '\n') c = ' ';
  const std::string line = kind + what + '\t' + more + '\n';
  if (write(pipe, line.data(), line.size()) != ssize_t(line.size())) _exit(3);
}

// PyTorch's words for it: "Expected all tensors to be on the same device", and some kernels' own.
bool says_two_devices(const std::string& error) {
  for (const char* words : {"the same device", "on same device", "Input type (", "to have device",
                            " Device, but got tensor with ", "devices must match"})
    if (error.find(words) != error.npos) return true;
  return false;
}

void judge(const Call& given, Progress& progress, int pipe) {
  const Call call = as_on_cuda(given);
  if (const int line = not_determined(call); line >= 0) return tell(pipe, 'E', std::to_string(line), "");
  const Outcome expected = run(call, kCpu);
  const Outcome got = run(call, Device(DeviceType::Cuda, 0));
  std::string differs;
  if (!(call.mixed && says_two_devices(got.error))) {
    try {
      differs = difference(call, expected, got);
      if (differs.empty() && got.error.empty() && call.form == Form::Function && !call.entry->has(kDataDependent))
        differs = inferred_otherwise(call, got);
    } catch (const TensorError& e) {
      differs = "cannot be compared: " + e.message();
    }
  }
  if (differs.empty()) progress.passed++;
  else if (const int line = expectation(call, got.error, differs); line >= 0) tell(pipe, 'E', std::to_string(line), "");
  else tell(pipe, 'F', call.label, differs);
}

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

// The calls of an entry behind number `done`.
void run_entry(const Work& work, Progress& progress, int64_t entry, int64_t done, int pipe) {
  progress.entry = entry;
  int64_t number = 0;
  const double begin = processor_seconds();
  try {
    each_call(*work.entries[size_t(entry)], work.depth, [&](const Call& call) {
      if (++number <= done) return;
      std::snprintf(progress.label, sizeof progress.label, "%s", call.label.c_str());
      progress.call = number;
      judge(call, progress, pipe);
    });
  } catch (const TensorError& e) {
    tell(pipe, 'F', std::string(work.entries[size_t(entry)]->schema_text) + ": its calls",
         "cannot be made: " + e.message());
  }
  progress.call = 0;
  tell(pipe, 'T', std::to_string(entry), std::to_string(processor_seconds() - begin));
}

// First what is left of the entry that the child before was in, then entries that nobody has.
[[noreturn]] void run_child(const Work& work, Progress& progress, int pipe) {
  Context::current().account->set_limit(kHostMemory);
  Context::current().warning_sink = [](const std::string&) {};
  if (progress.entry >= 0) run_entry(work, progress, progress.entry, progress.call, pipe);
  for (;;) {
    const int64_t entry = work.shared.next_entry++;
    if (entry >= int64_t(work.entries.size())) break;
    run_entry(work, progress, entry, 0, pipe);
  }
  _exit(0);
}

// ---- in the parent ----

struct Worker {
  pid_t child = 0;
  int out = -1, err = -1;
  std::string text, errors;
  Progress* progress = nullptr;
  Progress seen;  // where it was when it moved last
  std::chrono::steady_clock::time_point moved;
  bool hangs = false;
};

void start(Worker& worker, const Work& work) {
  int out[2], err[2];
  if (pipe(out) != 0 || pipe(err) != 0) std::perror("pipe"), std::exit(2);
  std::fflush(stdout);
  worker.child = fork();
  if (worker.child == 0) {
    dup2(err[1], 2);
    close(out[0]), close(err[0]);
    run_child(work, *worker.progress, out[1]);
  }
  close(out[1]), close(err[1]);
  worker.out = out[0], worker.err = err[0];
  worker.text.clear(), worker.errors.clear();
  worker.moved = std::chrono::steady_clock::now();
  worker.hangs = false;
}

// Reads what there is; false at the end.
bool read_more(int file, std::string& into) {
  char room[8192];
  const ssize_t got = read(file, room, sizeof room);
  if (got > 0) into.append(room, size_t(got));
  return got > 0;
}

void watch(Worker& worker) {
  const auto now = std::chrono::steady_clock::now();
  if (worker.seen.entry != worker.progress->entry || worker.seen.call != worker.progress->call) {
    worker.seen = *worker.progress;
    worker.moved = now;
  } else if (now - worker.moved > kLongest && !worker.hangs) {
    worker.hangs = true;
    kill(worker.child, SIGKILL);
  }
}

std::string death(const Worker& worker, int status) {
  std::string why;
  if (worker.hangs) why = "no end in " + std::to_string(kLongest.count()) + " seconds";
  else if (WIFSIGNALED(status)) why = std::string("killed by ") + strsignal(WTERMSIG(status));
  else why = "exit status " + std::to_string(WEXITSTATUS(status));
  if (!worker.errors.empty()) why += ": " + worker.errors;
  while (!why.empty() && why.back() == '\n') why.pop_back();
  return why;
}

// True when the child came to the end; else what it died of is a failure of the call that it was in.
bool ended(Worker& worker, const Work& work, const std::function<void(const std::string&, const std::string&)>& fail) {
  int status = 0;
  waitpid(worker.child, &status, 0);
  close(worker.out), close(worker.err);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  Progress& at = *worker.progress;
  if (at.entry < 0) {
    fail("a child", death(worker, status));
    return true;
  }
  if (at.call > 0) {
    fail(at.label, death(worker, status));
  } else {
    fail(std::string(work.entries[size_t(at.entry)]->schema_text) + ": its calls", death(worker, status));
    at.entry = -1;
  }
  return false;
}

}  // namespace

Outcomes run_calls(const std::vector<const OpEntry*>& entries, int depth, int jobs,
                   const std::function<void(const std::string&, const std::string&)>& fail) {
  Outcomes outcomes;
  void* room = mmap(nullptr, sizeof(Shared) + sizeof(Progress) * size_t(jobs), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) std::perror("mmap"), std::exit(2);
  Shared* shared = new (room) Shared;
  const Work work{entries, depth, *shared};
  std::vector<Worker> workers{size_t(jobs)};
  for (size_t k = 0; k < workers.size(); k++) {
    workers[k].progress = new (&shared->progress[k]) Progress;
    start(workers[k], work);
  }
  const auto lines = [&](Worker& worker) {
    for (size_t end; (end = worker.text.find('\n')) != std::string::npos; worker.text.erase(0, end + 1)) {
      const std::string line = worker.text.substr(1, end - 1);
      const size_t tab = line.find('\t');
      const std::string more = line.substr(tab + 1);
      if (worker.text[0] == 'F') fail(line.substr(0, tab), more);
      else if (worker.text[0] == 'T') outcomes.seconds[entries[std::stoul(line)]] += std::stod(more);
      else outcomes.allowed[std::stoul(line)]++;
    }
  };
  for (;;) {
    std::vector<pollfd> files;
    for (const Worker& worker : workers)
      if (worker.child != 0) files.push_back({worker.out, POLLIN, 0}), files.push_back({worker.err, POLLIN, 0});
    if (files.empty()) break;
    poll(files.data(), files.size(), 1000);
    size_t next = 0;
    for (Worker& worker : workers) {
      if (worker.child == 0) continue;
      const pollfd out = files[next], err = files[next + 1];
      next += 2;
      watch(worker);
      const bool spoke = out.revents != 0 && read_more(worker.out, worker.text);
      const bool cried = err.revents != 0 && read_more(worker.err, worker.errors);
      lines(worker);
      if (out.revents == 0 || spoke || cried) continue;
      while (read_more(worker.err, worker.errors)) {}
      if (ended(worker, work, fail)) worker.child = 0;
      else start(worker, work);
    }
  }
  for (const Worker& worker : workers) outcomes.passed += worker.progress->passed;
  munmap(room, sizeof(Shared) + sizeof(Progress) * size_t(jobs));
  return outcomes;
}

}  // namespace tessera::agreement

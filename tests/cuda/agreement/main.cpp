// tessera_cuda_agreement [WORD...]: CUDA gives what the CPU gives, for the samples of every entry in every form (calls.h). Run on
// the host executor by scripts/test cuda, and on a GPU by scripts/gpu-test; TESSERA_CUDA_PLUGIN names which.
//
//     --depth 1   every dtype in every form     --all   each failure, not three of an entry     --jobs N
//     WORD        entries whose schema begins with it
//
// Calls run in children, for a fault of the program ends a process: the parent notes the call and goes on behind it. What
// raises NotImplementedError for a slot of tests/ops/missing_kernels.def is counted and told once, with the list's reason.
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "runtime/context.h"
#include "runtime/device/backend.h"
#include "runtime/device/cuda_plugin.h"
#include "tests/cuda/agreement/compare.h"

using namespace tessera::agreement;

namespace {

constexpr int64_t kHostMemory = int64_t(1) << 30;  // what a child may hold: a call that goes wrong fails alone

struct Options {
  int depth = 0;
  bool all = false, list = false;
  int jobs = int(sysconf(_SC_NPROCESSORS_ONLN));
  std::vector<std::string> words;

  bool wants(const OpEntry& entry) const {
    for (const std::string& word : words)
      if (std::string_view(entry.schema_text).starts_with(word)) return true;
    return words.empty();
  }
};

/// What a child tells of itself, in memory that outlives it.
struct Progress {
  int64_t started = -1;  // the number of the call that it is in
  int64_t passed = 0;
  char label[2048];
};

const std::map<std::string, std::string>& missing_slots() {
  static const std::map<std::string, std::string> slots = {
#define MISSING(BACKEND, SLOT, REASON) {#BACKEND "/" SLOT, REASON},
#include "tests/ops/missing_kernels.def"
#undef MISSING
  };
  return slots;
}
/// The slot that an error says is missing and is known to be; else empty.
std::string missing_slot(const std::string& error) {
  const std::string begin = "NotImplementedError: Could not run 'aten::", end = "' with arguments from the 'CUDA'";
  const size_t at = error.find(end);
  if (error.rfind(begin, 0) != 0 || at == error.npos) return {};
  const std::string slot = error.substr(begin.size(), at - begin.size());
  return missing_slots().count("cuda/" + slot) ? slot : "";
}

// ---- in a child ----

void tell(int pipe, char kind, const std::string& what, const std::string& more) {
  const std::string line = kind + what + '\t' + more + '\n';
  if (write(pipe, line.data(), line.size()) != ssize_t(line.size())) _exit(3);
}

// PyTorch's words for it: "Expected all tensors to be on the same device", and some kernels' own.
bool says_two_devices(const std::string& error) {
  for (const char* words : {"on the same device", "Input type (", "to have device"})
    if (error.find(words) != error.npos) return true;
  return false;
}

void judge(const Call& call, Progress& progress, int pipe) {
  std::snprintf(progress.label, sizeof progress.label, "%s", call.label.c_str());
  const Outcome expected = run(call, kCpu);
  const Outcome got = run(call, Device(DeviceType::Cuda, 0));
  if (const std::string slot = missing_slot(got.error); !slot.empty()) return tell(pipe, 'M', slot, call.label);
  if (call.mixed && says_two_devices(got.error)) {
    progress.passed++;
    return;
  }
  std::string differs = difference(call, expected, got);
  if (differs.empty() && got.error.empty() && call.form == Form::Function && !call.entry->has(kDataDependent))
    differs = inferred_otherwise(call, got);
  if (differs.empty()) progress.passed++;
  else tell(pipe, 'F', call.label, differs);
}

// Calls of part `part` of `parts`, from number `from` on.
void run_part(const Options& options, int part, int64_t from, Progress& progress, int pipe) {
  if (device_backend(DeviceType::Cuda) == nullptr) {
    if (part == 0) tell(pipe, 'F', "device cuda", "there is no plugin: TESSERA_CUDA_PLUGIN names one");
    return;
  }
  Context::current().account->set_limit(kHostMemory);
  int64_t number = 0;
  for (const OpEntry* entry : all_ops()) {
    if (!options.wants(*entry)) continue;
    each_call(*entry, options.depth, [&](const Call& call) {
      if (number++ % options.jobs != part || number <= from) return;
      progress.started = number;
      judge(call, progress, pipe);
    });
  }
  progress.started = -1;
}

// ---- in the parent ----

struct Report {
  bool all = false;
  long failed = 0, lacking = 0;
  std::map<std::string, long> slots, entries;

  void failure(const std::string& label, const std::string& why) {
    failed++;
    const std::string entry = label.substr(0, label.find(": ", label.find(" -> ")));
    if (++entries[entry] <= 3 || all) std::printf("FAILED %s\n    %s\n", label.c_str(), why.c_str());
    std::fflush(stdout);
  }
  void line(const std::string& text) {
    const size_t tab = text.find('\t');
    const std::string what = text.substr(1, tab - 1), more = text.substr(tab + 1);
    if (text[0] == 'F') failure(what, more);
    else slots[what]++, lacking++;
  }
};

struct Worker {
  pid_t child = 0;
  int out = -1, err = -1;
  std::string text, errors;
  Progress* progress = nullptr;
};

void start(Worker& worker, const Options& options, int part) {
  int out[2], err[2];
  if (pipe(out) != 0 || pipe(err) != 0) std::perror("pipe"), std::exit(2);
  std::fflush(stdout);
  const int64_t from = worker.progress->started < 0 ? 0 : worker.progress->started;
  worker.child = fork();
  if (worker.child == 0) {
    dup2(err[1], 2);
    close(out[0]), close(err[0]);
    run_part(options, part, from, *worker.progress, out[1]);
    _exit(0);
  }
  close(out[1]), close(err[1]);
  worker.out = out[0], worker.err = err[0];
  worker.text.clear(), worker.errors.clear();
}

// Reads what there is; false at the end of both.
bool listen(Worker& worker, Report& report) {
  pollfd files[2] = {{worker.out, POLLIN, 0}, {worker.err, POLLIN, 0}};
  poll(files, 2, 100);
  bool open = false;
  for (int k = 0; k < 2; k++) {
    if ((files[k].revents & (POLLIN | POLLHUP)) == 0) {
      open = true;
      continue;
    }
    char room[8192];
    const ssize_t got = read(files[k].fd, room, sizeof room);
    if (got > 0) (k == 0 ? worker.text : worker.errors).append(room, size_t(got)), open = true;
  }
  for (size_t end; (end = worker.text.find('\n')) != std::string::npos; worker.text.erase(0, end + 1))
    report.line(worker.text.substr(0, end));
  return open;
}

// True when the child came to the end of its part; else what it died of is a failure of the call that it was in.
bool ended(Worker& worker, Report& report) {
  int status = 0;
  waitpid(worker.child, &status, 0);
  close(worker.out), close(worker.err);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  std::string why = WIFSIGNALED(status) ? std::string("killed by ") + strsignal(WTERMSIG(status))
                                        : "exit status " + std::to_string(WEXITSTATUS(status));
  if (!worker.errors.empty()) why += ":" + worker.errors;
  while (!why.empty() && why.back() == '\n') why.pop_back();
  report.failure(worker.progress->label, why);
  return worker.progress->started < 0;
}

Options read(int argc, char** argv) {
  Options options;
  for (int k = 1; k < argc; k++) {
    const std::string word = argv[k];
    const auto number = [&] { return k + 1 < argc ? std::atoi(argv[++k]) : 0; };
    if (word == "--depth") options.depth = number();
    else if (word == "--jobs") options.jobs = std::max(1, number());
    else if (word == "--all") options.all = true;
    else if (word == "--list") options.list = true;
    else options.words.push_back(word);
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read(argc, argv);
  if (options.list) {
    for (const OpEntry* entry : all_ops()) {
      if (!options.wants(*entry)) continue;
      long count = 0;
      each_call(*entry, options.depth, [&](const Call&) { count++; });
      std::printf("%5ld %s%s%s %s\n", count, entry->shape ? "structured" : "composed",
                  entry->fast.binary ? " binary" : "", entry->has(kView) ? " view" : "", entry->schema_text);
    }
    return 0;
  }
  Report report;
  report.all = options.all;
  auto* progress = static_cast<Progress*>(mmap(nullptr, sizeof(Progress) * size_t(options.jobs), PROT_READ | PROT_WRITE,
                                               MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::vector<Worker> workers(static_cast<size_t>(options.jobs));
  long passed = 0;
  for (int part = 0; part < options.jobs; part++) {
    workers[size_t(part)].progress = new (progress + part) Progress;
    start(workers[size_t(part)], options, part);
  }
  for (bool busy = true; busy;) {
    std::fflush(stdout);
    busy = false;
    for (int part = 0; part < options.jobs; part++) {
      Worker& worker = workers[size_t(part)];
      if (worker.child == 0) continue;
      busy = true;
      if (listen(worker, report)) continue;
      if (ended(worker, report)) worker.child = 0;
      else start(worker, options, part);
    }
  }
  for (int part = 0; part < options.jobs; part++) passed += progress[part].passed;
  for (const auto& [slot, count] : report.slots)
    std::printf("missing: %s, %ld calls: %s\n", slot.c_str(), count, missing_slots().at("cuda/" + slot).c_str());
  for (const auto& [entry, count] : report.entries) std::printf("%4ld failures: %s\n", count, entry.c_str());
  std::printf("%ld passed, %ld failed, %ld not there yet\n", passed, report.failed, report.lacking);
  return report.failed == 0 ? 0 : 1;
}

// tessera_cuda_agreement [WORD...]: CUDA gives what the CPU gives, for the samples of every entry in every form (calls.h). Run on
// the host executor by scripts/test cuda, and on a GPU by scripts/gpu-test; TESSERA_CUDA_PLUGIN names which.
//
//     --depth 1   every dtype, 2: in every form     --all   each failure, not three of an entry     --jobs N
//     WORD        entries whose schema begins with it          -WORD   and none of those
//     --list      how many calls each entry has             --times     the entries that took longest
//
// expected.def says what may end otherwise. The last line is `N passed, N failed`.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "runtime/device/backend.h"
#include "tests/cuda/agreement/workers.h"

using namespace tessera::agreement;

namespace {

struct Options {
  int depth = 0;
  bool all = false, list = false, times = false;
  int jobs = int(sysconf(_SC_NPROCESSORS_ONLN));
  std::vector<std::string> words, without;

  bool wants(const OpEntry& entry) const {
    const auto begins = [&](const std::string& word) { return std::string_view(entry.schema_text).starts_with(word); };
    if (std::any_of(without.begin(), without.end(), begins)) return false;
    return words.empty() || std::any_of(words.begin(), words.end(), begins);
  }
  bool whole() const { return words.empty() && without.empty(); }
};

Options read(int argc, char** argv) {
  Options options;
  for (int k = 1; k < argc; k++) {
    const std::string word = argv[k];
    const auto number = [&] { return k + 1 < argc ? std::atoi(argv[++k]) : 0; };
    if (word == "--depth") options.depth = number();
    else if (word == "--jobs") options.jobs = std::max(1, number());
    else if (word == "--all") options.all = true;
    else if (word == "--list") options.list = true;
    else if (word == "--times") options.times = true;
    else if (word[0] == '-') options.without.push_back(word.substr(1));
    else options.words.push_back(word);
  }
  return options;
}

void list(const std::vector<const OpEntry*>& entries, int depth) {
  for (const OpEntry* entry : entries) {
    long count = 0;
    each_call(*entry, depth, [&](const Call&) { count++; });
    std::printf("%5ld %s%s%s %s\n", count, entry->shape ? "structured" : "composed",
                entry->fast.binary ? " binary" : "", entry->has(kView) ? " view" : "", entry->schema_text);
  }
}

struct Report {
  bool all = false;
  long failed = 0;
  std::map<std::string, long> entries;

  void failure(const std::string& label, const std::string& why) {
    failed++;
    const std::string entry = label.substr(0, label.find(": ", label.find(" -> ")));
    if (++entries[entry] <= 3 || all) std::printf("FAILED %s: %s\n", label.c_str(), why.c_str());
    std::fflush(stdout);
  }
  // What was allowed, and what need not be any more.
  void expected(const Outcomes& outcomes, bool whole) {
    for (size_t k = 0; k < outcomes.allowed.size(); k++) {
      const Expected& line = all_expected()[k];
      static constexpr const char* kKinds[] = {"refused",   "missing", "differs", "left", "not determined",
                                               "unwritten", "on CUDA", "ties",    "near", "factors"};
      if (const long count = outcomes.allowed[k]; count > 0)
        std::printf("%s: %s, %ld calls: %s\n", kKinds[int(line.kind)], line.what, count, line.reason);
      else if (whole && line.kind < Expected::Kind::Unwritten)
        failure(std::string("expected.def: ") + line.what, std::string("no call needs this line: ") + line.detail);
    }
  }
};

void print_slowest(const Outcomes& outcomes) {
  std::vector<std::pair<double, const OpEntry*>> order;
  for (const auto& [entry, seconds] : outcomes.seconds) order.push_back({seconds, entry});
  std::sort(order.rbegin(), order.rend());
  double all = 0;
  for (const auto& [seconds, entry] : order) all += seconds;
  std::printf("%6.1f s of a processor in all\n", all);
  for (size_t k = 0; k < order.size() && k < 40; k++)
    std::printf("%6.1f s of a processor: %s\n", order[k].first, order[k].second->schema_text);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read(argc, argv);
  setenv("NVIDIA_TF32_OVERRIDE", "0", 1);  // convolutions may use TF32, which agrees with nothing else
  std::vector<const OpEntry*> entries;
  for (const OpEntry* entry : all_ops())
    if (options.wants(*entry)) entries.push_back(entry);
  if (options.list) {
    list(entries, options.depth);
    return 0;
  }
  Report report;
  report.all = options.all;
  Outcomes outcomes = run_calls(entries, options.depth, options.jobs,
                                [&](const std::string& label, const std::string& why) { report.failure(label, why); });
  report.expected(outcomes, options.whole());
  for (const auto& [entry, count] : report.entries) std::printf("%4ld failures: %s\n", count, entry.c_str());
  if (options.times) print_slowest(outcomes);
  long allowed = 0;
  for (const long count : outcomes.allowed) allowed += count;
  std::printf("%ld calls ended as expected.def says\n", allowed);
  std::printf("%ld passed, %ld failed\n", outcomes.passed, report.failed);
  return report.failed == 0 ? 0 : 1;
}

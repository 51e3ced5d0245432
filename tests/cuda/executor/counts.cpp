// What a run did, for tests of speed without a GPU: launches, copies, allocations, waits of the host, and for each kernel the bytes it
// moved beside those there were to move, and the sectors (32 bytes) that its warps asked for beside the least that would do.
// TESSERA_EXECUTOR=report=FILE writes it at the end of the process, as JSON.
#include <algorithm>
#include <cstdio>
#include <map>
#include <unordered_map>

#include "executor.h"

namespace tessera_executor {
namespace {

struct KernelCounts {
  uint64_t launches = 0, blocks = 0, threads = 0;
  Traffic traffic;
  uint64_t sectors[2] = {}, ideal_sectors[2] = {}, accesses[2] = {},
           access_bytes[2] = {};  // of sampled warps: reads, writes
};

struct Sample {
  const void* site;
  int thread;
  bool write;
  uint32_t turn;  // the how manieth of its thread at that site
  uint64_t address;
  uint32_t bytes;
};

struct Report {
  std::map<std::string, KernelCounts> kernels;
  std::unordered_map<const char*, KernelCounts*> by_address;  // of the name
  std::map<std::string, long> calls;
  std::vector<Sample> samples;
  KernelCounts* running = nullptr;
  Counts counts;
};
Report& report() {
  static Report* made = new Report;
  return *made;
}

KernelCounts& counts_of(const char* name) {
  KernelCounts*& found = report().by_address[name];
  if (found == nullptr) found = &report().kernels[readable(name)];
  return *found;
}

constexpr size_t kMostSamples = 1 << 16;  // of a block

// One access of a warp: the lanes' at one site, in the same turn.
void count_sectors(const Sample* begin, const Sample* end, KernelCounts& k) {
  std::vector<std::pair<uint64_t, uint64_t>> parts;
  for (const Sample* s = begin; s != end; s++) parts.push_back({s->address, s->address + s->bytes});
  std::sort(parts.begin(), parts.end());
  uint64_t bytes = 0, sectors = 0, byte_end = 0, sector_end = 0;
  for (const auto& [from, to] : parts) {
    if (to > byte_end) bytes += to - std::max(from, byte_end), byte_end = to;
    const uint64_t first = std::max(from / 32, sector_end), last = (to + 31) / 32;
    if (last > first) sectors += last - first, sector_end = last;
  }
  k.sectors[begin->write] += sectors;
  k.ideal_sectors[begin->write] += (bytes + 31) / 32;
  k.accesses[begin->write] += 1;
  k.access_bytes[begin->write] += bytes;
}

void number_turns(std::vector<Sample>& samples) {
  std::map<std::pair<const void*, int>, uint32_t> turns;
  for (Sample& s : samples) s.turn = turns[{s.site, s.thread}]++;
  std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) {
    return std::tuple(a.site, a.thread / 32, a.turn, a.address) < std::tuple(b.site, b.thread / 32, b.turn, b.address);
  });
}

double ratio(double a, double b) { return b == 0 ? 1.0 : a / b; }

void write_kernel(FILE* out, const std::string& name, const KernelCounts& k, bool last) {
  const Traffic& t = k.traffic;
  std::fprintf(out,
               "    \"%s\": {\"launches\": %llu, \"blocks\": %llu, \"threads\": %llu, \"bytes_read\": %llu, "
               "\"ideal_read\": %llu, \"bytes_written\": %llu, \"ideal_written\": %llu, ",
               name.c_str(), (unsigned long long)k.launches, (unsigned long long)k.blocks,
               (unsigned long long)k.threads, (unsigned long long)t.read, (unsigned long long)t.read_once,
               (unsigned long long)t.written, (unsigned long long)t.written_once);
  const char* const names[] = {"load", "store"};
  for (int w = 0; w < 2; w++)
    std::fprintf(out, "\"%s_sectors\": %llu, \"ideal_%s_sectors\": %llu, \"bytes_of_a_warp_%s\": %.1f%s", names[w],
                 (unsigned long long)k.sectors[w], names[w], (unsigned long long)k.ideal_sectors[w], names[w],
                 ratio(double(k.access_bytes[w]), double(k.accesses[w])), w == 0 ? ", " : "}");
  std::fprintf(out, "%s\n", last ? "" : ",");
}

}  // namespace

void write_report() {
  FILE* out = std::fopen(options().report.c_str(), "w");
  if (out == nullptr) return std::perror("TESSERA_EXECUTOR report");
  const Counts& c = counts();
  const std::pair<const char*, long> numbers[] = {{"launches", c.launches},
                                                  {"library_calls", c.library_calls},
                                                  {"copies", c.copies},
                                                  {"fills", c.fills},
                                                  {"synchronisations", c.synchronisations},
                                                  {"graph_launches", c.graph_launches},
                                                  {"allocations", c.allocations},
                                                  {"frees", c.frees},
                                                  {"host_allocations", c.host_allocations},
                                                  {"events", c.events},
                                                  {"stream_waits", c.stream_waits},
                                                  {"bytes_copied", c.bytes_copied},
                                                  {"bytes_to_host", c.bytes_to_host},
                                                  {"bytes_from_host", c.bytes_from_host},
                                                  {"current_device", current_device()}};
  std::fprintf(out, "{\n");
  for (const auto& [name, number] : numbers) std::fprintf(out, "  \"%s\": %ld,\n", name, number);
  std::fprintf(out, "  \"marks\": [");
  for (size_t k = 0; k < marks_heard().size(); k++)
    std::fprintf(out, "%s\"%s\"", k == 0 ? "" : ", ", marks_heard()[k].c_str());
  std::fprintf(out, "],\n  \"kernels\": {\n");
  for (const auto& [name, k] : report().kernels) write_kernel(out, name, k, name == report().kernels.rbegin()->first);
  std::fprintf(out, "  }\n}\n");
  std::fclose(out);
}

bool options_report = [] {
  if (options().report.empty()) return false;
  report();
  std::atexit(write_report);
  return true;
}();

Counts& counts() { return report().counts; }

bool wants_samples(unsigned block, unsigned warp) { return options_report && (block + warp) % 8 == 0 && block < 64; }

void sample(const void* site, const void* address, size_t bytes, bool write) {
  auto& samples = report().samples;
  if (samples.size() < kMostSamples)
    samples.push_back({site, running.thread, write, 0, reinterpret_cast<uint64_t>(address), uint32_t(bytes)});
}

void end_of_samples(const char* kernel) {
  auto& samples = report().samples;
  if (samples.empty()) return;
  const bool whole = samples.size() < kMostSamples;
  number_turns(samples);
  const auto same = [](const Sample& a, const Sample& b) {
    return a.site == b.site && a.thread / 32 == b.thread / 32 && a.turn == b.turn;
  };
  for (size_t k = 0; whole && k < samples.size();) {
    size_t end = k + 1;
    while (end < samples.size() && same(samples[k], samples[end])) end++;
    count_sectors(&samples[k], &samples[k] + (end - k), counts_of(kernel));
    k = end;
  }
  samples.clear();
}

void count_launch(const Kernel& kernel, const Traffic& traffic) {
  KernelCounts& k = counts_of(kernel.name);
  const uint64_t blocks = uint64_t(kernel.grid_size.x) * kernel.grid_size.y * kernel.grid_size.z;
  k.launches++;
  k.blocks += blocks;
  k.threads += blocks * kernel.block_size.x * kernel.block_size.y * kernel.block_size.z;
  k.traffic.read += traffic.read;
  k.traffic.written += traffic.written;
  k.traffic.read_once += traffic.read_once;
  k.traffic.written_once += traffic.written_once;
}

}  // namespace tessera_executor

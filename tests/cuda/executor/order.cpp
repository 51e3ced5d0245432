// What happened before what: streams by clocks (operations, events, waits of the host), threads of a kernel by barriers, blocks
// of one launch only by atomics with a fence (the last block that adds up what the others left).
#include "executor.h"

#include <algorithm>
#include <unordered_map>

namespace tessera_executor {

Running running;

namespace {

Stamp next_stamp = kFirstStamp;

struct Operation {
  Stamp first;
  int stream;
  uint32_t number;  // on its stream
  const char* name;
};

constexpr size_t kMostOperations = 1 << 18;  // the oldest ones are taken for done

struct Order {
  std::vector<Clock> clocks;
  std::vector<size_t> known;  // by stream: so many operations of the list happened before its next one
  std::vector<Operation> operations;
  std::shared_ptr<const Clock> host = std::make_shared<Clock>();
};
Order& order() {
  static Order* made = new Order;
  return *made;
}

bool has(const Clock& clock, const Operation& o) {
  return size_t(o.stream) < clock.size() && clock[size_t(o.stream)] >= o.number;
}

const Operation* operation_of(Stamp stamp) {
  const auto& all = order().operations;
  const auto next =
      std::upper_bound(all.begin(), all.end(), stamp, [](Stamp s, const Operation& o) { return s < o.first; });
  return next == all.begin() ? nullptr : &*std::prev(next);
}

void drop_old_operations() {
  Order& o = order();
  const size_t half = o.operations.size() / 2;
  o.operations.erase(o.operations.begin(), o.operations.begin() + long(half));
  for (size_t& known : o.known) known -= std::min(known, half);
}

// ---- of the kernel that runs ----

// Stamps that were given together, to threads from `thread` on.
struct Given {
  Stamp first;
  unsigned thread, block;
};
// What a block had done when it said so at an atomic: the stamps from `begin` to `end`, and its thread's own.
struct Told {
  Stamp begin, end, own;
};
// What the running block heard: the first `count` of what was told at an address, at first only its thread.
struct Heard {
  const std::vector<Told>* told;
  size_t count;
  Stamp by;
};

constexpr unsigned kMaxThreads = 1024;

struct Launch {
  unsigned threads = 0, block = 0;
  std::vector<Given> given;
  std::unordered_map<const void*, std::vector<Told>> told;
  std::vector<Heard> heard;
  Stamp fence = 0;
  bool warps_met = false;
  Stamp met[kMaxThreads][32];  // [thread][lane]: what that lane of the warp had done when they met
};
Launch& launch() {
  static Launch* made = new Launch;
  return *made;
}

const Given& given_with(Stamp stamp) {
  const auto& all = launch().given;
  return *std::prev(
      std::upper_bound(all.begin(), all.end(), stamp, [](Stamp s, const Given& g) { return s < g.first; }));
}

bool was_heard(Stamp stamp) {
  for (const Heard& h : launch().heard) {
    if (h.by != running.mine && h.by >= running.interval_base) continue;  // the others hear it behind the barrier
    const auto end = h.told->begin() + long(h.count);
    const auto next = std::upper_bound(h.told->begin(), end, stamp, [](Stamp s, const Told& t) { return s < t.begin; });
    for (auto at = next; at != h.told->begin() && std::prev(at)->begin == std::prev(next)->begin; --at)
      if (stamp < std::prev(at)->end || stamp == std::prev(at)->own) return true;
  }
  return false;
}

}  // namespace

// ---- streams ----

int add_clock() {
  Order& o = order();
  o.clocks.emplace_back();
  o.known.push_back(0);
  return int(o.clocks.size()) - 1;
}
Clock& clock_of(int stream) { return order().clocks[size_t(stream)]; }
void join(Clock& into, const Clock& other) {
  if (into.size() < other.size()) into.resize(other.size());
  for (size_t k = 0; k < other.size(); k++) into[k] = std::max(into[k], other[k]);
}
std::shared_ptr<const Clock> host_knows() { return order().host; }
void host_learns(const Clock& clock) {
  Clock more = *order().host;
  join(more, clock);
  if (more != *order().host) order().host = std::make_shared<Clock>(std::move(more));
}

Stamp begin_operation(int stream, const char* name) {
  Order& o = order();
  if (next_stamp > kLastStamp) {
    forget_stamps();
    o.operations.clear();
    std::fill(o.known.begin(), o.known.end(), 0);
    next_stamp = kFirstStamp;
  }
  if (o.operations.size() > kMostOperations) drop_old_operations();
  Clock& clock = clock_of(stream);
  if (clock.size() <= size_t(stream)) clock.resize(size_t(stream) + 1);
  const Stamp first = next_stamp++;
  o.operations.push_back({first, stream, ++clock[size_t(stream)], name});
  size_t& known = o.known[size_t(stream)];
  while (known < o.operations.size() && has(clock, o.operations[known])) known++;
  running.ordered_below = known < o.operations.size() ? o.operations[known].first : first;
  running.mine = running.launch_base = first;
  running.block_base = running.interval_base = running.interval_before = next_stamp;
  return first;
}

bool happened_before(Stamp stamp, Space space) {
  stamp &= ~kAtomic;
  if (stamp < running.ordered_below || stamp == running.mine) return true;
  if (stamp < running.launch_base) {
    const Operation* o = operation_of(stamp);
    return o == nullptr || has(clock_of(order().operations.back().stream), *o);
  }
  if (stamp < running.block_base) return space == Space::Shared || was_heard(stamp);
  if (stamp < running.interval_base) return true;
  const Given& g = given_with(stamp);
  const int thread = int(g.thread + (stamp - g.first));
  if (thread == running.thread) return true;
  if (!launch().warps_met || thread / 32 != running.thread / 32) return false;
  return stamp <= launch().met[running.thread][thread % 32];
}

std::string who(Stamp stamp) {
  stamp &= ~kAtomic;
  if (stamp < running.launch_base || launch().given.empty() || stamp < launch().given.front().first) {
    const Operation* o = operation_of(stamp);
    if (o == nullptr) return "earlier work";
    return readable(o->name) + " on stream " + std::to_string(o->stream);
  }
  const Given& g = given_with(stamp);
  return "thread " + thread_name(g.thread + (stamp - g.first)) + " of block " + block_name(g.block);
}

// ---- threads ----

void begin_launch(unsigned threads_in_block) {
  Launch& l = launch();
  l.threads = threads_in_block;
  l.given.clear();
  l.told.clear();
  l.heard.clear();
  l.fence = 0;
  if (l.warps_met) std::fill(&l.met[0][0], &l.met[0][0] + kMaxThreads * 32, 0);
  l.warps_met = false;
}

static Stamp give_stamps(unsigned first_thread, unsigned count) {
  Launch& l = launch();
  const Stamp first = next_stamp;
  next_stamp += count;
  l.given.push_back({first, first_thread, l.block});
  return first;
}

Stamp begin_block(unsigned block) {
  Launch& l = launch();
  l.block = block;
  l.heard.clear();
  running.block_base = running.interval_base = running.interval_before = next_stamp;
  return give_stamps(0, l.threads);
}
Stamp pass_barrier() {
  running.interval_before = running.interval_base;
  running.interval_base = next_stamp;
  return give_stamps(0, launch().threads);
}

void meet_in_warp(unsigned first_thread, unsigned lanes, unsigned mask, Stamp* stamps) {
  Launch& l = launch();
  l.warps_met = true;
  Stamp all[32] = {};
  for (unsigned lane = 0; lane < lanes; lane++) {
    if (!(mask >> lane & 1)) continue;
    const Stamp* mine = l.met[first_thread + lane];
    for (unsigned k = 0; k < 32; k++) all[k] = std::max(all[k], mine[k]);
    all[lane] = std::max(all[lane], stamps[lane]);
  }
  const Stamp first = give_stamps(first_thread, 32);
  for (unsigned lane = 0; lane < lanes; lane++) {
    if (!(mask >> lane & 1)) continue;
    std::copy(all, all + 32, l.met[first_thread + lane]);
    stamps[lane] = first + lane;
  }
}

// The fence may be the thread's own before the atomic, or the other threads' before the barrier before it.
void pass_fence() { launch().fence = running.mine; }
void pass_atomic(const void* address) {
  Launch& l = launch();
  auto found = l.told.find(address);
  const bool tells = l.fence >= running.interval_before && l.fence >= running.block_base;
  if (found == l.told.end()) {
    if (!tells) return;
    found = l.told.emplace(address, std::vector<Told>()).first;
  }
  std::vector<Told>& told = found->second;
  if (!told.empty() && told.front().begin < running.block_base) {
    const size_t others =
        size_t(std::count_if(told.rbegin(), told.rend(), [](const Told& t) { return t.begin < running.block_base; }));
    l.heard.push_back({&told, others, running.mine});
  }
  if (tells) told.push_back({running.block_base, running.interval_base, running.mine});
}

}  // namespace tessera_executor

// One block of a kernel. Threads run one after another on one fiber for as long as none has to wait; when one does (at a
// barrier, in an exchange within its warp), the next thread goes on in a new fiber. A kernel without meeting points is a plain loop so.
#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "executor.h"

namespace tessera_executor {

namespace context = boost::context;

struct SharedPart {
  const void* place;
  const char* name;
  char* begin;
  size_t bytes;
};

namespace {

constexpr size_t kStackBytes = 128 << 10;
constexpr size_t kMaxThreads = 1024;
constexpr size_t kSharedBytes = 227 << 10;  // of a block, at most
constexpr size_t kStaticSharedBytes = 48 << 10;

enum class Wait { None, Block, Warp, Done };

struct Thread {
  Here here;
  Stamp stamp = 0;
  Wait wait = Wait::None;
  bool orders = false;         // what it waits at orders accesses too: not an exchange
  const void* site = nullptr;  // where it waits
  unsigned mask = 0;           // whom it waits for
  unsigned turn = 0;           // of exchanges: two slots are used in turn
  alignas(16) char slots[2][16];
  bool vote = false;
  context::fiber* fiber = nullptr;  // what runs it while it waits
};

// Stacks of fibers in one range, so that an address on one is known as such.
class Stacks {
 public:
  Stacks() {
    base_ = static_cast<char*>(mmap(nullptr, kStackBytes * (kMaxThreads + 1), PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    for (size_t k = kMaxThreads + 1; k-- > 0;) free_.push_back(base_ + k * kStackBytes);
  }
  context::stack_context allocate() {
    context::stack_context made;
    made.size = kStackBytes;
    made.sp = free_.back() + kStackBytes;
    free_.pop_back();
    return made;
  }
  void deallocate(context::stack_context& stack) { free_.push_back(static_cast<char*>(stack.sp) - kStackBytes); }
  char* begin() const { return base_; }
  static constexpr size_t bytes() { return kStackBytes * (kMaxThreads + 1); }

 private:
  char* base_;
  std::vector<char*> free_;
};
Stacks& stacks() {
  static Stacks* made = new Stacks;
  return *made;
}
struct StackAllocator {
  context::stack_context allocate() { return stacks().allocate(); }
  void deallocate(context::stack_context& stack) { stacks().deallocate(stack); }
};

std::mt19937_64& randomness() {
  static std::mt19937_64 random(options().seed);
  return random;
}

class Block {
 public:
  Block(const Kernel& kernel, const void* params, int device) : kernel_(kernel), params_(params), device_(device) {
    threads_.resize(size_t(kernel.block_size.x) * kernel.block_size.y * kernel.block_size.z);
    order_.resize(threads_.size());
    alignas(16) static char shared[kSharedBytes];
    static Stamp cells[3][kSharedBytes];
    shared_ = shared;
    running.shared_begin = shared;
    running.shared_bytes = kSharedBytes;
    running.shared_cells = {cells[0], cells[1], cells[2]};
    running.stacks_begin = stacks().begin();
    running.stacks_bytes = stacks().bytes();
    running.device_begin = range_of(device);
    running.device_cells = cells_of(running.device_begin);
    begin_launch(unsigned(threads_.size()));
  }

  void run(Triple block, unsigned number) {
    parts_.clear();
    number_ = number;
    shared_used_ = (kernel_.shared + 15) / 16 * 16;
    if (kernel_.shared) {
      parts_.push_back({nullptr, "the launch's shared memory", shared_, kernel_.shared});
      std::memset(shared_, 0xb5, kernel_.shared);
    }
    index_threads(block);
    next_ = 0;
    for (size_t done = 0; done < threads_.size();) {
      if (next_ < threads_.size()) start_worker();
      while (Thread* ready = take_ready()) resume(*ready);
      if (next_ < threads_.size()) continue;
      done = size_t(std::count_if(threads_.begin(), threads_.end(), [](Thread& t) { return t.wait == Wait::Done; }));
      if (done < threads_.size() && !release_waiting()) stuck();
    }
    current_ = nullptr;
    if (options_report) end_of_samples(kernel_.name);
  }

  Thread* current() const { return current_; }
  int index_of(const Thread* t) const { return int(t - threads_.data()); }
  const Kernel& kernel() const { return kernel_; }
  int device() const { return device_; }
  Thread& thread(int k) { return threads_[size_t(k)]; }
  int count() const { return int(threads_.size()); }

  void* shared(const void* place, const char* name, size_t bytes) {
    for (const SharedPart& part : parts_)
      if (part.place == place) return part.begin;
    char* begin = shared_ + shared_used_;
    shared_used_ += (bytes + 15) / 16 * 16;
    if (shared_used_ - kernel_.shared > kStaticSharedBytes + 16)
      violation("more than 48 kB of shared memory are named in the kernel");
    parts_.push_back({place, name, begin, bytes});
    std::memset(begin, 0xb5, bytes);
    return begin;
  }
  void* launch_shared() { return kernel_.shared ? shared_ : nullptr; }
  const std::vector<SharedPart>& parts() const { return parts_; }

  // The running thread waits; returns when all that it waits for have come.
  void wait(Wait kind, const void* site, unsigned mask, bool orders) {
    if (running.unsettled) settle();
    Thread& mine = *current_;
    mine.wait = kind, mine.site = site, mine.mask = mask, mine.orders = orders;
    context::fiber* own = worker_;
    mine.fiber = own;
    watched = false;
    *own = std::move(*own).resume();  // to the scheduler, which holds the fiber's other end in *own meanwhile
    enter(mine);
    worker_ = own;
  }

 private:
  void enter(Thread& t) {
    current_ = &t;
    running.thread = index_of(&t);
    running.mine = t.stamp;
    running.sampled = wants_samples(number_, unsigned(running.thread) / 32);
    watched = watches_;
  }

  void index_threads(Triple block) {
    const Stamp first = begin_block(number_);
    const Triple size = kernel_.block_size;
    for (size_t k = 0; k < threads_.size(); k++) {
      Thread& t = threads_[k];
      t = Thread{};
      const unsigned i = unsigned(k);
      t.here = {{i % size.x, i / size.x % size.y, i / (size.x * size.y)}, block, size, kernel_.grid_size};
      t.stamp = first + i;
      order_[k] = i;
    }
    if (options().shuffle) shuffle_threads();
  }
  // Forwards, backwards, from somewhere in the middle, or thoroughly.
  void shuffle_threads() {
    const uint64_t drawn = randomness()();
    if (drawn & 1) std::reverse(order_.begin(), order_.end());
    if ((drawn >> 1 & 3) == 1)
      std::rotate(order_.begin(), order_.begin() + long((drawn >> 8) % order_.size()), order_.end());
    if ((drawn >> 1 & 7) == 2) std::shuffle(order_.begin(), order_.end(), randomness());
  }

  // Runs threads in a fiber until one has to wait or none is left.
  void start_worker() {
    auto* ends = new context::fiber;  // this side's end while the worker runs, the worker's while it waits
    *ends = context::fiber(std::allocator_arg, StackAllocator{}, [this, ends](context::fiber&& scheduler) {
      *ends = std::move(scheduler);
      while (next_ < threads_.size()) {
        Thread& mine = threads_[order_[next_++]];
        enter(mine);
        worker_ = ends;
        kernel_.run(params_);
        watched = false;
        if (running.unsettled) settle();
        mine.wait = Wait::Done;
      }
      return std::move(*ends);
    });
    go_on(ends);
  }
  void resume(Thread& t) { go_on(t.fiber); }
  void go_on(context::fiber* ends) {
    worker_ = ends;
    *ends = std::move(*ends).resume();
    if (!*ends) delete ends;
  }

  Thread* take_ready() {
    while (!ready_.empty()) {
      Thread* t = ready_.back();
      ready_.pop_back();
      return t;
    }
    return nullptr;
  }

  // Lets those go on whose meeting is complete.
  bool release_waiting() {
    bool any = false;
    for (size_t first = 0; first < threads_.size(); first += 32) any |= release_warp(first);
    if (any) return true;
    for (Thread& t : threads_)
      if (t.wait != Wait::Block) return false;
    for (Thread& t : threads_)
      if (t.site != threads_[0].site) violation("threads of a block wait at different barriers");
    votes_ = 0;
    for (Thread& t : threads_) votes_ += t.vote;
    const Stamp first = pass_barrier();
    for (size_t k = 0; k < threads_.size(); k++) threads_[k].stamp = first + Stamp(k);
    for (size_t k = threads_.size(); k-- > 0;) set_ready(threads_[order_[k]]);
    return true;
  }
  bool release_warp(size_t first) {
    bool any = false;
    const size_t last = std::min(first + 32, threads_.size());
    for (size_t k = first; k < last; k++) {
      Thread& t = threads_[k];
      if (t.wait != Wait::Warp) continue;
      bool complete = true;
      for (size_t other = first; other < last; other++)
        if (t.mask >> (other - first) & 1)
          complete &=
              threads_[other].wait == Wait::Warp && threads_[other].mask == t.mask && threads_[other].site == t.site;
      if (last - first < 32 && t.mask >> (last - first) != 0 && t.mask != 0xffffffffu)
        violation("a mask of a warp names lanes that there are not");
      if (!complete) continue;
      const unsigned mask = t.mask;
      if (t.orders) meet(first, last - first, mask);
      for (size_t other = last; other-- > first;)
        if (mask >> (other - first) & 1) set_ready(threads_[other]);
      any = true;
    }
    return any;
  }
  void meet(size_t first, size_t lanes, unsigned mask) {
    Stamp stamps[32];
    for (size_t k = 0; k < lanes; k++) stamps[k] = threads_[first + k].stamp;
    meet_in_warp(unsigned(first), unsigned(lanes), mask, stamps);
    for (size_t k = 0; k < lanes; k++) threads_[first + k].stamp = stamps[k];
  }
  void set_ready(Thread& t) {
    t.wait = Wait::None;
    ready_.push_back(&t);
  }
  [[noreturn]] void stuck() {
    std::string text = "threads of a block wait for others that do not come:";
    char line[120];
    for (int k = 0; k < count(); k++) {
      const Thread& t = threads_[size_t(k)];
      if (k > 0 && t.wait == threads_[size_t(k - 1)].wait && t.site == threads_[size_t(k - 1)].site) continue;
      std::snprintf(line, sizeof line, "\n    from thread %d on: %s", k,
                    t.wait == Wait::Done    ? "has ended"
                    : t.wait == Wait::Block ? "waits at a barrier"
                                            : "waits in its warp");
      text += line;
    }
    violation(text);
  }

  const Kernel& kernel_;
  const void* params_;
  int device_;
  std::vector<Thread> threads_;
  std::vector<unsigned> order_;
  std::vector<Thread*> ready_;
  char* shared_;
  std::vector<SharedPart> parts_;
  size_t shared_used_ = 0;
  size_t next_ = 0;
  Thread* current_ = nullptr;
  context::fiber* worker_ = nullptr;
  unsigned number_ = 0;  // of the block that runs
  const bool watches_ = options().check;

 public:
  int votes_ = 0;
};

Block* running_block = nullptr;

}  // namespace

Triple thread_index() { return running_block->current()->here.thread; }
Triple block_index() { return running_block->current()->here.block; }
Triple block_size() { return running_block->current()->here.block_size; }
Triple grid_size() { return running_block->current()->here.grid_size; }

int lane() { return running.thread % 32; }
void* shared_memory(const void* place, const char* name, size_t bytes) {
  return running_block->shared(place, name, bytes);
}
void* launch_shared_memory() { return running_block->launch_shared(); }
void block_barrier() { running_block->wait(Wait::Block, __builtin_return_address(0), 0, true); }
int block_count(bool condition) {
  running_block->current()->vote = condition;
  running_block->wait(Wait::Block, __builtin_return_address(0), 0, true);
  return running_block->votes_;
}
void warp_barrier(unsigned mask) { running_block->wait(Wait::Warp, __builtin_return_address(0), mask, true); }

// An exchange orders no accesses of memory: CUDA promises that of __syncwarp alone.
void exchange_bytes(unsigned mask, void* value, size_t bytes, int from) {
  Thread& mine = *running_block->current();
  const int me = running_block->index_of(&mine), first = me / 32 * 32;
  if (!(mask >> (me - first) & 1)) violation("a thread exchanges with a warp whose mask leaves it out");
  const unsigned slot = mine.turn++ & 1;
  std::memcpy(mine.slots[slot], value, bytes);
  running_block->wait(Wait::Warp, __builtin_return_address(0), mask, false);
  if (first + from >= running_block->count()) return;  // no such lane: its own value
  if (!(mask >> from & 1)) violation("a thread asks a lane that the mask leaves out");
  std::memcpy(value, running_block->thread(first + from).slots[slot], bytes);
}

unsigned ballot(unsigned mask, bool condition) {
  Thread& mine = *running_block->current();
  const int first = running_block->index_of(&mine) / 32 * 32;
  const unsigned slot = mine.turn++ & 1;
  mine.slots[slot][0] = condition;
  running_block->wait(Wait::Warp, __builtin_return_address(0), mask, false);
  unsigned found = 0;
  for (int lane = 0; lane < 32 && first + lane < running_block->count(); lane++)
    if (mask >> lane & 1 && running_block->thread(first + lane).slots[slot][0]) found |= 1u << lane;
  return found;
}

// ---- for reports ----

namespace {

struct Library {
  const char* name = nullptr;
  int device = 0;
} library;

std::string written(Triple t, Triple of) {
  if (of.y == 1 && of.z == 1) return std::to_string(t.x);
  return "(" + std::to_string(t.x) + ", " + std::to_string(t.y) + ", " + std::to_string(t.z) + ")";
}
Triple part(unsigned number, Triple of) { return {number % of.x, number / of.x % of.y, number / (of.x * of.y)}; }

const SharedPart* part_of(const void* address) {
  if (running_block == nullptr) return nullptr;
  for (const SharedPart& p : running_block->parts())
    if (address >= p.begin && address < p.begin + p.bytes) return &p;
  return nullptr;
}

}  // namespace

int running_device() { return running_block == nullptr ? library.device : running_block->device(); }
bool is_shared(const void* address, size_t bytes) {
  const SharedPart* p = part_of(address);
  return p != nullptr && static_cast<const char*>(address) + bytes <= p->begin + p->bytes;
}
std::string describe_shared(const void* address) {
  const long at = long(static_cast<const char*>(address) - running.shared_begin);
  if (const SharedPart* p = part_of(address))
    return std::string(p->name) + " of " + std::to_string(p->bytes) + " bytes (byte " +
           std::to_string(at - (p->begin - running.shared_begin)) + ")";
  return "in no array (byte " + std::to_string(at) + " of the block's)";
}
std::string thread_name(unsigned thread) {
  const Triple size = running_block->kernel().block_size;
  return written(part(thread, size), size);
}
std::string block_name(unsigned block) {
  const Triple size = running_block->kernel().grid_size;
  return written(part(block, size), size);
}

std::string readable(const char* name) {
  std::string text = name;
  if (const size_t at = text.find("kernel = "); at != std::string::npos) {
    text = text.substr(at + 9);
    text = text.substr(0, text.rfind(']'));
  }
  for (const std::string cut : {"tessera::tensor::cuda::", "tessera::tensor::", "tessera::", "{anonymous}::",
                                "(anonymous namespace)::", "<unnamed>::"})
    for (size_t at; (at = text.find(cut)) != std::string::npos;) text.erase(at, cut.size());
  return text;
}

std::string where() {
  if (library.name != nullptr) return std::string("in ") + library.name;
  if (running_block == nullptr) return "outside of kernels";
  const Kernel& kernel = running_block->kernel();
  const std::string text = "in " + readable(kernel.name);
  if (running_block->current() == nullptr) return text;
  const Here& h = running_block->current()->here;
  return text + ", block " + written(h.block, h.grid_size) + " of " + written(h.grid_size, h.grid_size) + ", thread " +
         written(h.thread, h.block_size) + " of " + written(h.block_size, h.block_size);
}

// ---- launches ----

// Blocks in an order of their own: forwards, backwards, or in steps that meet each once.
static unsigned long step_of_blocks(unsigned long count) {
  if (!options().shuffle || count < 2) return 1;
  const uint64_t drawn = randomness()();
  if (drawn % 4 == 0) return 1;
  if (drawn % 4 == 1) return count - 1;
  unsigned long step = (drawn >> 8) % count;
  while (std::gcd(step, count) != 1) step = (step + 1) % count;
  return step;
}

void run_kernel(const Kernel& kernel, const void* params, size_t bytes, int device) {
  const OpenMemory open;
  Block block(kernel, params, device);
  running_block = &block;
  running.params = static_cast<const char*>(params);
  running.params_bytes = bytes;
  running.traffic = {};
  const Triple size = kernel.grid_size;
  const unsigned long count = (unsigned long)size.x * size.y * size.z, step = step_of_blocks(count);
  unsigned long at = step == 1 ? 0 : count - 1;
  for (unsigned long k = 0; k < count; k++, at = (at + step) % count)
    block.run({unsigned(at % size.x), unsigned(at / size.x % size.y), unsigned(at / size.x / size.y)}, unsigned(at));
  running_block = nullptr;
  if (options_report) count_launch(kernel, running.traffic);
}

void run_library(const char* name, void (*run)(const void*), const void* params, int device) {
  const OpenMemory open;
  library = {name, device};
  running.library = true;
  running.sampled = false;
  running.thread = 0;
  running.device_begin = range_of(device);
  running.device_cells = cells_of(running.device_begin);
  running.shared_bytes = running.stacks_bytes = 0;
  begin_launch(1);
  watched = options().check;
  run(params);
  watched = false;
  running.library = false;
  library = {};
}

}  // namespace tessera_executor

// One block of a kernel. Threads run one after another on one fiber for as long as none has to wait; when one does (at a
// barrier, in an exchange within its warp), the next thread goes on in a new fiber. A kernel without meeting points is a plain loop so.
#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
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
  Wait wait = Wait::None;
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
  bool has(const void* address) const { return address >= base_ && address < base_ + kStackBytes * (kMaxThreads + 1); }

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

class Block {
 public:
  Block(const Kernel& kernel, const void* params, int device) : kernel_(kernel), params_(params), device_(device) {
    threads_.resize(size_t(kernel.block_size.x) * kernel.block_size.y * kernel.block_size.z);
    order_.resize(threads_.size());
    shared_.resize(kSharedBytes);
  }

  void run(Triple block) {
    parts_.clear();
    shared_used_ = (kernel_.shared + 15) / 16 * 16;
    if (kernel_.shared) {
      parts_.push_back({nullptr, "the launch's shared memory", shared_.data(), kernel_.shared});
      std::memset(shared_.data(), 0xb5, kernel_.shared);
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
    current_thread = nullptr;
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
    char* begin = shared_.data() + shared_used_;
    shared_used_ += (bytes + 15) / 16 * 16;
    if (shared_used_ - kernel_.shared > kStaticSharedBytes + 16)
      violation("more than 48 kB of shared memory are named in the kernel");
    parts_.push_back({place, name, begin, bytes});
    std::memset(begin, 0xb5, bytes);
    return begin;
  }
  void* launch_shared() { return kernel_.shared ? shared_.data() : nullptr; }
  const SharedPart* part_of(const void* address) const {
    for (const SharedPart& part : parts_)
      if (address >= part.begin && address < part.begin + part.bytes) return &part;
    return nullptr;
  }
  bool in_shared(const void* address) const {
    return address >= shared_.data() && address < shared_.data() + shared_.size();
  }

  // The running thread waits; returns when all that it waits for have come.
  void wait(Wait kind, const void* site, unsigned mask) {
    Thread& mine = *current_;
    mine.wait = kind, mine.site = site, mine.mask = mask;
    context::fiber* own = worker_;
    mine.fiber = own;
    *own = std::move(*own).resume();  // to the scheduler, which holds the fiber's other end in *own meanwhile
    current_ = &mine;
    current_thread = &mine.here;
    worker_ = own;
  }

 private:
  void index_threads(Triple block) {
    const Triple size = kernel_.block_size;
    for (size_t k = 0; k < threads_.size(); k++) {
      Thread& t = threads_[k];
      t = Thread{};
      const unsigned i = unsigned(k);
      t.here = {{i % size.x, i / size.x % size.y, i / (size.x * size.y)}, block, size, kernel_.grid_size};
      order_[k] = i;
    }
    if (!options().shuffle) return;
    static std::mt19937_64 random(options().seed);
    if (random() & 1) std::reverse(order_.begin(), order_.end());
  }

  // Runs threads in a fiber until one has to wait or none is left.
  void start_worker() {
    auto* ends = new context::fiber;  // this side's end while the worker runs, the worker's while it waits
    *ends = context::fiber(std::allocator_arg, StackAllocator{}, [this, ends](context::fiber&& scheduler) {
      *ends = std::move(scheduler);
      while (next_ < threads_.size()) {
        Thread& mine = threads_[order_[next_++]];
        current_ = &mine;
        current_thread = &mine.here;
        worker_ = ends;
        kernel_.run(params_);
        current_->wait = Wait::Done;
        if (current_ != &mine) violation("a thread changed its fiber");
      }
      return std::move(*ends);
    });
    go_on(ends);
  }
  void resume(Thread& t) { go_on(t.fiber); }
  void go_on(context::fiber* ends) {
    worker_ = ends;
    *ends = std::move(*ends).resume();
    current_thread = nullptr;
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
    epoch++;
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
      for (size_t other = last; other-- > first;)
        if (mask >> (other - first) & 1) set_ready(threads_[other]);
      any = true;
    }
    return any;
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
  std::vector<char> shared_;
  std::vector<SharedPart> parts_;
  size_t shared_used_ = 0;
  size_t next_ = 0;
  Thread* current_ = nullptr;
  context::fiber* worker_ = nullptr;

 public:
  int votes_ = 0;
  uint64_t epoch = 0;  // barriers of the block so far
};

Block* running = nullptr;

}  // namespace

Here* current_thread = nullptr;
Triple thread_index() { return current_thread->thread; }
Triple block_index() { return current_thread->block; }
Triple block_size() { return current_thread->block_size; }
Triple grid_size() { return current_thread->grid_size; }

int lane() { return running->index_of(running->current()) % 32; }
void* shared_memory(const void* place, const char* name, size_t bytes) { return running->shared(place, name, bytes); }
void* launch_shared_memory() { return running->launch_shared(); }
void block_barrier() { running->wait(Wait::Block, __builtin_return_address(0), 0); }
int block_count(bool condition) {
  running->current()->vote = condition;
  running->wait(Wait::Block, __builtin_return_address(0), 0);
  return running->votes_;
}
void warp_barrier(unsigned mask) { running->wait(Wait::Warp, __builtin_return_address(0), mask); }

void exchange_bytes(unsigned mask, void* value, size_t bytes, int from) {
  Thread& mine = *running->current();
  const int me = running->index_of(&mine), first = me / 32 * 32;
  if (!(mask >> (me - first) & 1)) violation("a thread exchanges with a warp whose mask leaves it out");
  const unsigned slot = mine.turn++ & 1;
  std::memcpy(mine.slots[slot], value, bytes);
  running->wait(Wait::Warp, __builtin_return_address(0), mask);
  if (first + from >= running->count()) return;  // no such lane: its own value
  if (!(mask >> from & 1)) violation("a thread asks a lane that the mask leaves out");
  std::memcpy(value, running->thread(first + from).slots[slot], bytes);
}

unsigned ballot(unsigned mask, bool condition) {
  Thread& mine = *running->current();
  const int first = running->index_of(&mine) / 32 * 32;
  const unsigned slot = mine.turn++ & 1;
  mine.slots[slot][0] = condition;
  running->wait(Wait::Warp, __builtin_return_address(0), mask);
  unsigned found = 0;
  for (int lane = 0; lane < 32 && first + lane < running->count(); lane++)
    if (mask >> lane & 1 && running->thread(first + lane).slots[slot][0]) found |= 1u << lane;
  return found;
}

bool on_a_stack(const void* address) { return stacks().has(address); }
int running_device() { return running->device(); }
const SharedPart* shared_part(const void* address) { return running->part_of(address); }

std::string where() {
  if (running == nullptr || running->current() == nullptr) return "outside of kernels";
  const Here& h = running->current()->here;
  char text[200];
  std::snprintf(text, sizeof text, ", block (%u, %u, %u) of %u, thread (%u, %u, %u) of %u", h.block.x, h.block.y,
                h.block.z, h.grid_size.x, h.thread.x, h.thread.y, h.thread.z, h.block_size.x);
  return std::string("in ") + running->kernel().name + text;
}

void run_kernel(const Kernel& kernel, const void* params, int device) {
  const OpenMemory open;
  Block block(kernel, params, device);
  running = &block;
  for (unsigned z = 0; z < kernel.grid_size.z; z++)
    for (unsigned y = 0; y < kernel.grid_size.y; y++)
      for (unsigned x = 0; x < kernel.grid_size.x; x++) block.run({x, y, z});
  running = nullptr;
}

}  // namespace tessera_executor

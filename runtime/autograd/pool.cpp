#include "runtime/autograd/pool.h"

#include <cstddef>
#include <new>

#include "runtime/context.h"

// Under a sanitizer every block is its own allocation, so that a use after free is seen.
#if defined(__SANITIZE_ADDRESS__)
#define TS_POOL 0
#else
#define TS_POOL 1
#endif

namespace tessera::tensor {

#if TS_POOL
namespace {

constexpr size_t kGrain = 32, kLargest = 1024, kClasses = kLargest / kGrain;
constexpr unsigned kKept = 4096;  // blocks of one class that a thread keeps for itself

struct Block {
  Block* next;
};

struct Lists {
  Block* first[kClasses];
  unsigned count[kClasses];
  bool closing;
};

// Plain data without a destructor: it is still there when other objects of the thread go. Drain empties it.
constinit thread_local Lists lists{};

struct Drain {
  bool used = false;
  ~Drain() {
    lists.closing = true;
    for (Block*& first : lists.first)
      while (Block* block = first) first = block->next, ::operator delete(block);
  }
};
thread_local Drain drain;  // per thread: free blocks

void* take(size_t bytes) {
  if (bytes > kLargest) return ::operator new(bytes);
  const size_t kind = (bytes + kGrain - 1) / kGrain - 1;
  if (Block* block = lists.first[kind]) {
    lists.first[kind] = block->next;
    lists.count[kind]--;
    return block;
  }
  drain.used = true;  // makes the thread run ~Drain when it ends
  return ::operator new((kind + 1) * kGrain);
}

void put_back(void* memory, size_t bytes) noexcept {
  const size_t kind = (bytes + kGrain - 1) / kGrain - 1;
  if (bytes > kLargest || lists.closing || lists.count[kind] >= kKept) return ::operator delete(memory);
  auto* block = static_cast<Block*>(memory);
  block->next = lists.first[kind];
  lists.first[kind] = block;
  lists.count[kind]++;
}

}  // namespace
#else
namespace {
void* take(size_t bytes) { return ::operator new(bytes); }
void put_back(void* memory, size_t) noexcept { ::operator delete(memory); }
}  // namespace
#endif

namespace {

// In front of each block stands who pays for it; nobody, where memory has no limit.
struct alignas(std::max_align_t) Payer {
  Account* account;
};

}  // namespace

void* pool_allocate(size_t bytes) {
  bytes += sizeof(Payer);
  Account* account = Context::current().account;
  if (account->limit() == Account::kUnlimited) [[likely]]
    account = nullptr;
  else account->charge(bytes);
  try {
    return new (take(bytes)) Payer{account} + 1;
  } catch (const std::bad_alloc&) {
    if (account != nullptr) account->refund(bytes);
    throw;
  }
}

void pool_release(void* memory, size_t bytes) noexcept {
  bytes += sizeof(Payer);
  Payer* const payer = static_cast<Payer*>(memory) - 1;
  Account* const account = payer->account;
  put_back(payer, bytes);
  if (account) account->refund(bytes);
}

}  // namespace tessera::tensor

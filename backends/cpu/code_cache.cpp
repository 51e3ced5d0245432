// Memory for generated functions, on systems that have mmap.
#include "backends/cpu/code_cache.h"

#if defined(__x86_64__) && defined(__unix__)
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "runtime/context.h"

namespace tessera::tensor::cpu {

// Where the kernels were compiled for another instruction set, their bits may be others.
CodeCache* CodeCache::of(const ChainCall& call) {
  if (!call.cache) return nullptr;
  if (!*call.cache) {
    static const bool has_vectors = std::string_view(instruction_set()) == "AVX3";
    if (!has_vectors) return nullptr;
    std::unique_ptr<CodeCache> made(new CodeCache);
    if (!made->open()) return nullptr;
    *call.cache = std::move(made);
  }
  CodeCache* const cache = static_cast<CodeCache*>(call.cache->get());
  if (!cache->memory_) return nullptr;
  if (call.chains_to_plan > 0) cache->make_room(std::min(call.chains_to_plan, kMostChains));
  return cache;
}

// False: not now. The cache takes no memory that the program may need.
bool CodeCache::open() {
  Account& account = *Context::current().account;
  if (account.limit() != Account::kUnlimited && account.limit() - account.used() < int64_t(16 * kCharge)) return false;
  entries_.reserve(kMostEntries);
  packed_.reserve(kPackedBytes);
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return true;
  memory_ = static_cast<uint8_t*>(memory);
  account.charge(kCharge);
  account_ = &account;
  return true;
}

CodeCache::~CodeCache() {
  if (!memory_) return;
  munmap(memory_, kBytes);
  account_->refund(kCharge);
}

// Functions of chains that are about to run stay until their end.
void CodeCache::make_room(int chains) {
  if (kBytes - used_ >= size_t(chains + 1) * kMostBytesOfOne && entries_.size() + kMostOfChain <= kMostEntries) return;
  entries_.clear();
  packed_.clear();
  used_ = 0;
}

ChainFunction CodeCache::function(const ChainCode& code) {
  if (is_lost()) return nullptr;
  uint8_t packed[sizeof(ChainCode)];
  const size_t size = code.pack(packed);
  size_t begin = 0;
  for (const Entry& entry : entries_) {
    if (entry.end - begin == size && std::memcmp(packed_.data() + begin, packed, size) == 0) return entry.function;
    begin = entry.end;
  }
  if (entries_.size() == kMostEntries || kPackedBytes - begin < size) return nullptr;
  size_t length;
  const ChainFunction function = generate(code, length);
  packed_.insert(packed_.end(), packed, packed + size);
  entries_.push_back({packed_.size(), function});
  used_ += (length + 63) / 64 * 64;
  return function;
}

ChainFunction CodeCache::try_out(const ChainCode& code) {
  size_t length;
  return is_lost() ? nullptr : generate(code, length);
}

ChainFunction CodeCache::generate(const ChainCode& code, size_t& size) {
  size = 0;
  if (mprotect(memory_, kBytes, PROT_READ | PROT_WRITE) != 0) return nullptr;
  uint8_t* const begin = memory_ + used_;
  const GeneratedChain chain = generate_chain(code, begin, kBytes - used_);
  if (mprotect(memory_, kBytes, PROT_READ | PROT_EXEC) != 0) {
    munmap(memory_, kBytes);
    account_->refund(kCharge);
    memory_ = nullptr;
    return nullptr;
  }
  size = chain.size;
  return size == 0 ? nullptr : reinterpret_cast<ChainFunction>(begin + chain.entry);
}

}  // namespace tessera::tensor::cpu
#else

namespace tessera::tensor::cpu {

CodeCache* CodeCache::of(const ChainCall&) { return nullptr; }
CodeCache::~CodeCache() = default;
ChainFunction CodeCache::function(const ChainCode&) { return nullptr; }
ChainFunction CodeCache::try_out(const ChainCode&) { return nullptr; }

}  // namespace tessera::tensor::cpu
#endif

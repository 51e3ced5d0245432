// The functions that were generated for one queue's chains, in memory that is either written or run, never both. When it is full all of them
// go, and the next chains are generated again.
#pragma once

#include <memory>
#include <vector>

#include "backends/cpu/chain_code.h"
#include "runtime/alloc.h"

namespace tessera::tensor::cpu {

class CodeCache final : public ChainCache {
 public:
  /// Returns the code cache of a chain's queue, with room for the functions of the chains to plan; the first call makes the cache. Returns null if no code
  /// can be generated: the processor has no AVX-512, the system refuses memory for code, the memory limit leaves too little, or the Context
  /// generates no code (TSR_JIT=0).
  static CodeCache* of(const ChainCall& call);
  ~CodeCache() override;

  /// Null if no function can be generated, or only behind the end of this chain.
  ChainFunction function(const ChainCode& code);
  /// A function that is gone when the next one is asked for, or null.
  ChainFunction try_out(const ChainCode& code);
  /// True once the system has refused to make written memory executable: no function that this cache has returned may be called any more.
  bool is_lost() const { return memory_ == nullptr; }
  /// The same of the cache of a queue, which may have none.
  static bool is_lost(const std::unique_ptr<ChainCache>* cache) {
    return cache && *cache && static_cast<const CodeCache*>(cache->get())->is_lost();
  }
  RecordedBodies bodies{*this};

 private:
  struct Entry {
    size_t end;              // of its packed code, which begins where the one before ends
    ChainFunction function;  // null: this code has none
  };
  static constexpr size_t kBytes = 98304, kMostBytesOfOne = 8192, kPackedBytes = 16384;
  static constexpr int kMostEntries = 64, kMostOfChain = ChainCall::kMostSteps / 2, kMostChains = 3;
  static constexpr size_t kCharge = kBytes + kPackedBytes;

  CodeCache() = default;
  bool open();
  void make_room(int chains);
  ChainFunction generate(const ChainCode& code, size_t& size);

  std::vector<Entry> entries_;
  std::vector<uint8_t> packed_;  // codes of the entries, one after the other
  uint8_t* memory_ = nullptr;    // null: the system refuses memory for code
  size_t used_ = 0;
  Account* account_ = nullptr;
};

}  // namespace tessera::tensor::cpu

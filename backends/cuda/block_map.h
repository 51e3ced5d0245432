// Address to block, for the blocks that are in use: open addressing, so that taking and giving back costs no node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::tensor::cuda {

struct Block;

class BlockMap {
 public:
  void insert(const void* address, Block* block) {
    if ((used_ + 1) * 2 > slots_.size()) grow();
    place(address, block);
    used_++;
  }
  Block* find(const void* address) const {
    if (slots_.empty()) return nullptr;
    for (size_t k = home(address);; k = (k + 1) & mask())
      if (slots_[k].address == address) return slots_[k].block;
      else if (slots_[k].address == nullptr) return nullptr;
  }
  /// What was there, or null.
  Block* erase(const void* address) {
    if (slots_.empty()) return nullptr;
    size_t k = home(address);
    while (slots_[k].address != address) {
      if (slots_[k].address == nullptr) return nullptr;
      k = (k + 1) & mask();
    }
    Block* const block = slots_[k].block;
    close_gap(k);
    used_--;
    return block;
  }
  template <class F>
  void for_each(const F& f) const {
    for (const Slot& slot : slots_)
      if (slot.address != nullptr) f(slot.block);
  }

 private:
  struct Slot {
    const void* address = nullptr;
    Block* block = nullptr;
  };
  size_t mask() const { return slots_.size() - 1; }
  size_t home(const void* address) const {
    return size_t((uint64_t(uintptr_t(address) >> 9) * 0x9e3779b97f4a7c15u) >> 32) & mask();
  }
  void place(const void* address, Block* block) {
    size_t k = home(address);
    while (slots_[k].address != nullptr) k = (k + 1) & mask();
    slots_[k] = {address, block};
  }
  // Those behind a gap move up unless they stand at or behind their own home already.
  void close_gap(size_t gap) {
    for (size_t k = (gap + 1) & mask(); slots_[k].address != nullptr; k = (k + 1) & mask())
      if (((k - home(slots_[k].address)) & mask()) >= ((k - gap) & mask())) {
        slots_[gap] = slots_[k];
        gap = k;
      }
    slots_[gap] = {};
  }
  void grow() {
    std::vector<Slot> before(slots_.empty() ? 256 : slots_.size() * 2);
    before.swap(slots_);
    for (const Slot& slot : before)
      if (slot.address != nullptr) place(slot.address, slot.block);
  }

  std::vector<Slot> slots_;
  size_t used_ = 0;
};

}  // namespace tessera::tensor::cuda

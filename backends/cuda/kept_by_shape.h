// What a library was asked to prepare for calls of one shape (an algorithm, a plan), kept for the next one.
//
//     thread_local KeptByShape<Key, Plan> kept(256);
//     Plan* plan = kept.find(key);
//     return plan != nullptr ? *plan : kept.keep(key, std::make_unique<Plan>(key));
//
// Each thread has its own: most of it may not be used by two at a time, and none needs a lock.
#pragma once

#include <cstring>
#include <memory>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace tessera::tensor::cuda {

/// A key is integers without gaps, so that it is compared and hashed as bytes.
template <class Key, class Value>
class KeptByShape {
 public:
  /// With `most` of them all are let go: programs have few shapes, or ever new ones.
  explicit KeptByShape(size_t most) : most_(most) {}

  Value* find(const Key& key) const {
    const auto found = kept_.find(key);
    return found == kept_.end() ? nullptr : found->second.get();
  }
  Value& keep(const Key& key, std::unique_ptr<Value> value) {
    if (kept_.size() >= most_) kept_.clear();
    return *kept_.emplace(key, std::move(value)).first->second;
  }

 private:
  static_assert(std::has_unique_object_representations_v<Key>);
  struct Same {
    bool operator()(const Key& a, const Key& b) const { return std::memcmp(&a, &b, sizeof a) == 0; }
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      return std::hash<std::string_view>()({reinterpret_cast<const char*>(&key), sizeof key});
    }
  };

  size_t most_;
  std::unordered_map<Key, std::unique_ptr<Value>, Hash, Same> kept_;
};

}  // namespace tessera::tensor::cuda

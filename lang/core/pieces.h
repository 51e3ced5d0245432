// Long loops of natives: in pieces, between which the program can be stopped.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "lang/core/error.h"
#include "lang/core/interpreter.h"
#include "lang/core/signals.h"

namespace tessera::lang {

/// Items or bytes between two looks; a step is counted for each thousand.
inline constexpr size_t kPieceItems = size_t{1} << 15;
inline constexpr int64_t kPieceSteps = kPieceItems >> 10;

/// Of what is copied.
inline constexpr size_t kPieceBytes = size_t{1} << 18;

/// f(begin, end) over [0, n) in order. No script may change meanwhile what f works on.
template <class F>
inline void in_pieces(Interpreter& in, size_t n, const F& f) {
  if (n <= kPieceItems) [[likely]] {
    if (n != 0) f(size_t{0}, n);
    return;
  }
  for (size_t i = 0; i < n; i += kPieceItems) {
    if (i != 0) in.check_stop(kPieceSteps);
    f(i, std::min(n, i + kPieceItems));
  }
}

/// memcpy for bytes that are mostly few: up to 16 are copied by two words that may overlap, without a call.
inline void copy_few(char* to, const char* from, size_t bytes) noexcept {
  const auto copy_ends = [&](auto first) {
    auto last = first;
    std::memcpy(&first, from, sizeof first);
    std::memcpy(&last, from + bytes - sizeof last, sizeof last);
    std::memcpy(to, &first, sizeof first);
    std::memcpy(to + bytes - sizeof last, &last, sizeof last);
  };
  if (bytes > 16) std::memcpy(to, from, bytes);
  else if (bytes >= 8) copy_ends(uint64_t{});
  else if (bytes >= 4) copy_ends(uint32_t{});
  else if (bytes >= 2) copy_ends(uint16_t{});
  else if (bytes == 1) *to = *from;
}

inline void copy_in_pieces(Interpreter& in, char* to, const char* from, size_t bytes) {
  if (bytes <= kPieceBytes) [[likely]]
    return copy_few(to, from, bytes);
  for (size_t i = 0; i < bytes; i += kPieceBytes) {
    in.check_stop(kPieceSteps);
    std::memcpy(to + i, from + i, std::min(kPieceBytes, bytes - i));
  }
}

/// `part` again and again, `bytes` in all: a whole number of times. What stands there already is copied.
inline void repeat_in_pieces(Interpreter& in, char* to, std::string_view part, size_t bytes) {
  if (bytes == 0) return;
  if (part.size() == 1) {
    for (size_t i = 0; i < bytes; i += kPieceBytes) {
      if (i != 0) in.check_stop(kPieceSteps);
      std::memset(to + i, part[0], std::min(kPieceBytes, bytes - i));
    }
    return;
  }
  std::memmove(to, part.data(), part.size());
  for (size_t done = part.size(); done < bytes;) {
    const size_t some = std::min({done, bytes - done, std::max(part.size(), kPieceBytes / part.size() * part.size())});
    if (done >= kPieceBytes) in.check_stop(kPieceSteps);
    copy_in_pieces(in, to + done, to, some);
    done += some;
  }
}

/// For loops whose steps differ: what they cost is taken off until the next look.
class StopBudget {
 public:
  explicit StopBudget(Interpreter& in) : in_(in) {}
  void take(size_t items = 1) {
    if (items < left_) [[likely]] {
      left_ -= items;
      return;
    }
    left_ = kPieceItems;
    in_.check_stop(kPieceSteps);
  }

 private:
  Interpreter& in_;
  size_t left_ = kPieceItems;
};

/// Natives that only make things are stopped where they make them, by an error that the limit's own follows at the next safe point.
[[noreturn, gnu::cold]] void throw_while_making();
inline void look_while_making(const std::atomic<uint32_t>& interrupt) {
  const uint32_t wanted = interrupt.load(std::memory_order_relaxed);
  if ((wanted & (kTimeIsUp | kCancelled)) != 0 && (wanted & kLimitHit) == 0) [[unlikely]]
    throw_while_making();
}

}  // namespace tessera::lang

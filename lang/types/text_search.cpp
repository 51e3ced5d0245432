#include "lang/types/text_search.h"

#include <bit>
#include <cstdint>
#include <cstring>

#include "lang/core/interpreter.h"

namespace tessera::lang {
namespace {

constexpr size_t kLanes = 16;
constexpr size_t kLongNeedle = 64;  // beyond it a mismatch may be expensive, and memmem's guarantee pays

using Lanes = unsigned char __attribute__((vector_size(kLanes)));

Lanes load(const char* p) noexcept {
  Lanes lanes;
  std::memcpy(&lanes, p, kLanes);
  return lanes;
}

// The candidates among sixteen places, 0xff in the byte of each: first and last byte of the needle stand there.
struct Candidates {
  uint64_t halves[2];
  Candidates(const char* first, const char* last, Lanes wanted_first, Lanes wanted_last) noexcept {
    const Lanes both =
        reinterpret_cast<Lanes>(load(first) == wanted_first) & reinterpret_cast<Lanes>(load(last) == wanted_last);
    std::memcpy(halves, &both, kLanes);
  }
};

size_t find_short(std::string_view text, std::string_view needle, size_t from) noexcept {
  const size_t n = needle.size(), tail = n - 1;
  const Lanes first = Lanes{} + static_cast<unsigned char>(needle[0]);
  const Lanes last = Lanes{} + static_cast<unsigned char>(needle[tail]);
  size_t i = from;
  for (; i + tail + kLanes <= text.size(); i += kLanes) {
    Candidates found(text.data() + i, text.data() + i + tail, first, last);
    for (size_t half = 0; half < 2; ++half) {
      for (uint64_t bits = found.halves[half]; bits != 0;) {
        const size_t byte = static_cast<size_t>(std::countr_zero(bits)) / 8;
        const size_t at = i + half * 8 + byte;
        if (std::memcmp(text.data() + at + 1, needle.data() + 1, tail) == 0) return at;
        bits &= ~(uint64_t{0xff} << (byte * 8));
      }
    }
  }
  for (; i + n <= text.size(); ++i) {
    if (text[i] == needle[0] && std::memcmp(text.data() + i, needle.data(), n) == 0) return i;
  }
  return kNowhere;
}

size_t find_all(std::string_view text, std::string_view needle, size_t from) noexcept {
  const void* found;
  if (needle.size() == 1) {
    if (text.size() - from <= kLanes) {  // shorter than the call is long
      for (size_t i = from; i < text.size(); ++i)
        if (text[i] == needle[0]) return i;
      return kNowhere;
    }
    found = std::memchr(text.data() + from, needle[0], text.size() - from);
  } else if (needle.size() <= kLongNeedle && std::endian::native == std::endian::little) {
    return find_short(text, needle, from);
  } else {
    found = memmem(text.data() + from, text.size() - from, needle.data(), needle.size());
  }
  return found == nullptr ? kNowhere : static_cast<size_t>(static_cast<const char*>(found) - text.data());
}

size_t rfind_all(std::string_view text, std::string_view needle) noexcept {
  size_t room = text.size() - needle.size() + 1;  // places that are left
  while (room != 0) {
    const void* found = memrchr(text.data(), needle[0], room);
    if (found == nullptr) return kNowhere;
    room = static_cast<size_t>(static_cast<const char*>(found) - text.data());
    if (std::memcmp(found, needle.data(), needle.size()) == 0) return room;
  }
  return kNowhere;
}

constexpr size_t kWindow = size_t{1} << 20;  // bytes between two looks at whether to stop
constexpr int64_t kWindowSteps = kWindow >> 10;

}  // namespace

size_t find_text(Interpreter& in, std::string_view text, std::string_view needle, size_t from) {
  if (from > text.size() || needle.size() > text.size() - from) return kNowhere;
  if (needle.empty()) return from;
  in.check_stop();
  while (text.size() - from > kWindow + needle.size()) {
    const size_t at = find_all(text.substr(0, from + kWindow + needle.size() - 1), needle, from);
    if (at != kNowhere) return at;
    from += kWindow;
    in.check_stop(kWindowSteps);
  }
  return find_all(text, needle, from);
}

void PlacesOf::check_stop() { in_.check_stop(kWindowSteps); }

size_t rfind_text(Interpreter& in, std::string_view text, std::string_view needle) {
  if (needle.size() > text.size()) return kNowhere;
  if (needle.empty()) return text.size();
  in.check_stop();
  while (text.size() > kWindow + needle.size()) {
    const size_t start = text.size() - kWindow - needle.size() + 1;
    const size_t at = rfind_all(text.substr(start), needle);
    if (at != kNowhere) return start + at;
    text = text.substr(0, text.size() - kWindow);
    in.check_stop(kWindowSteps);
  }
  return rfind_all(text, needle);
}

}  // namespace tessera::lang

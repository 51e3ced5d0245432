// The character tables: runs of code points that share a record, found by binary search; the first alphabets, which are
// nearly everything, are answered by a small table that the compiler works out from them.
#include "lang/types/unicode.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "lang/types/str.h"

namespace tessera::lang::unicode {
namespace {

struct Record {
  uint16_t flags;
  int32_t delta[4];  // by Case
};
struct Run {
  uint32_t start;
  uint16_t record;
};
struct Special {
  uint32_t code_point;
  uint32_t mapped[4][3];  // by Case; zeros behind the last character
};

#include "lang/types/unicode_table.inc"

const Run& run_of(uint32_t cp) noexcept {
  const Run* after = std::upper_bound(std::begin(kRuns), std::end(kRuns), cp,
                                      [](uint32_t value, const Run& run) { return value < run.start; });
  return after[-1];
}

// The alphabets up to Arabic: every second letter there begins a run of its own.
constexpr uint32_t kDirect = 0x800;

constexpr std::array<uint16_t, kDirect> direct_records() {
  std::array<uint16_t, kDirect> table{};
  size_t run = 0;
  for (uint32_t cp = 0; cp < kDirect; ++cp) {
    while (kRuns[run + 1].start <= cp) ++run;
    table[cp] = kRuns[run].record;
  }
  return table;
}
constexpr std::array<uint16_t, kDirect> kDirectRecords = direct_records();

const Record& record_of(uint32_t cp) noexcept {
  return kRecords[cp < kDirect ? kDirectRecords[cp] : run_of(cp).record];
}

}  // namespace

uint16_t flags(uint32_t cp) noexcept { return record_of(cp).flags; }

// Digits stand together in tens that begin with zero.
int decimal_value(uint32_t cp) noexcept {
  if (cp < 128) return cp >= '0' && cp <= '9' ? static_cast<int>(cp - '0') : -1;
  const Run& run = run_of(cp);
  if (!(kRecords[run.record].flags & kDecimal)) return -1;
  return static_cast<int>((cp - run.start) % 10);
}

void append_case(std::string& out, uint32_t cp, Case which) {
  const Record& record = record_of(cp);
  if (!(record.flags & kSpecial)) {
    append_char(out, static_cast<uint32_t>(static_cast<int32_t>(cp) + record.delta[static_cast<int>(which)]));
    return;
  }
  const Special* special = std::lower_bound(std::begin(kSpecials), std::end(kSpecials), cp,
                                            [](const Special& s, uint32_t value) { return s.code_point < value; });
  for (uint32_t c : special->mapped[static_cast<int>(which)]) {
    if (c != 0) append_char(out, c);
  }
}

bool is_identifier(std::string_view text) noexcept {
  if (text.empty()) return false;
  const char* p = text.data();
  const char* const end = p + text.size();
  if (!is(decode_char(p), kIdStart)) return false;
  while (p < end) {
    if (!is(decode_char(p), kIdContinue)) return false;
  }
  return true;
}

}  // namespace tessera::lang::unicode

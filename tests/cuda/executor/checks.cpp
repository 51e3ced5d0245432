// What the sources' accesses call, as -fsanitize=thread compiles them. An access of a kernel has to be within a block of its own
// device, in the block's shared memory, on a stack, or in what the compiler keeps in the plugin itself (constants); it may
// read only what was written, and nobody else may write there without an order (cells.h).
#include <dlfcn.h>
#include <link.h>

#include <cstring>

#include "executor.h"

namespace tessera_executor {
namespace {

// Constants of the plugin: its segments.
struct Image {
  const char* begin = nullptr;
  const char* end = nullptr;
};
const Image& image() {
  static const Image found = [] {
    struct Search {
      const char* inside;
      Image image;
    } search{reinterpret_cast<const char*>(&image), {}};
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* data) {
          auto& s = *static_cast<Search*>(data);
          const char* begin = reinterpret_cast<const char*>(info->dlpi_addr);
          const char* end = begin;
          for (int k = 0; k < info->dlpi_phnum; k++)
            if (info->dlpi_phdr[k].p_type == PT_LOAD)
              end = std::max(end, begin + info->dlpi_phdr[k].p_vaddr + info->dlpi_phdr[k].p_memsz);
          if (s.inside < begin || s.inside >= end) return 0;
          s.image = {begin, end};
          return 1;
        },
        &search);
    return search.image;
  }();
  return found;
}

enum class Access { Read, Write, Atomic };

std::string described(const void* address, Space space) {
  return space == Space::Shared ? describe_shared(address) : describe(address);
}

// ---- the slow way: byte by byte, with a report ----

[[noreturn]] void refuse(const void* address, size_t bytes, Access access) {
  const char* doing = access == Access::Read ? " reads " : " writes ";
  const std::string what = (running.library ? "a library" : "a kernel") + std::string(" of device ") +
                           std::to_string(running_device()) + doing + std::to_string(bytes) + " bytes ";
  if (is_device_address(address) && device_of(address) != running_device())
    violation(what + "of another device's memory: " + describe(address));
  const char* bad = is_device_address(address) ? first_bad_byte(address, bytes) : nullptr;
  violation(what + "where it may not: " + describe(bad ? bad : address));
}

std::string race_text(const void* address, size_t bytes, Access access, Stamp other, bool other_wrote, Space space) {
  const char* doing = access == Access::Read ? " bytes are read that " : " bytes are written that ";
  const bool streams = (other & ~kAtomic) < running.launch_base;
  return std::string(streams                  ? "a race between streams: "
                     : space == Space::Shared ? "a race in shared memory: "
                                              : "a race: ") +
         std::to_string(bytes) + doing + who(other) + (other_wrote ? " wrote" : " reads") +
         (streams ? ", with no event or wait between them: " : ", with nothing that orders the two: ") +
         described(address, space);
}
[[noreturn]] void race(const void* address, size_t bytes, Access access, Stamp other, bool other_wrote, Space space) {
  violation(race_text(address, bytes, access, other, other_wrote, space));
}

// Two threads may write the same: looked at when the writing has been done, at the thread's next step.
struct Unsettled {
  const char* address = nullptr;
  size_t bytes = 0;
  char before[16] = {};
  std::string text;
};
Unsettled& unsettled() {
  static Unsettled one;
  return one;
}
void settle_later(const void* address, size_t bytes, std::string text) {
  Unsettled& u = unsettled();
  u.address = static_cast<const char*>(address);
  u.bytes = bytes;
  std::memcpy(u.before, address, bytes);
  u.text = std::move(text);
  running.unsettled = true;
}

[[noreturn]] void unwritten(const void* address, size_t bytes, Space space) {
  violation("nobody wrote what is read, or not before: " + std::to_string(bytes) + " bytes, " +
            described(address, space));
}

inline bool ordered(Stamp s, Space space) { return s < kFirstStamp || happened_before(s, space); }

void note_reader(Cells c, Space space) {
  if (*c.read == running.mine || *c.also_read == running.mine) return;
  if (ordered(*c.read, space)) *c.read = running.mine;
  else if (ordered(*c.also_read, space)) *c.also_read = running.mine;
}

void look_slowly(const void* address, size_t bytes, Cells c, Access access, Space space) {
  const char* at = static_cast<const char*>(address);
  if (space == Space::Device && first_bad_byte(address, bytes) != nullptr) refuse(address, bytes, access);
  if (space == Space::Shared && !is_shared(address, bytes))
    violation("a kernel touches " + std::to_string(bytes) +
              " bytes of shared memory that are in no array: " + describe_shared(address));
  bool met = false;
  for (size_t k = 0; k < bytes; k++, c = c + 1) {
    const Stamp wrote = *c.wrote;
    const bool fresh = wrote == kUnwritten || (space == Space::Shared && (wrote & ~kAtomic) < running.block_base);
    if (fresh && access != Access::Write && options().unwritten) unwritten(at + k, bytes, space);
    if (!fresh && !ordered(wrote & ~kAtomic, space) && !(access == Access::Atomic && wrote & kAtomic)) {
      const bool may_be_same = access == Access::Write && wrote >= running.launch_base && !(wrote & kAtomic);
      if (!may_be_same || bytes > sizeof Unsettled::before) race(at + k, bytes, access, wrote, true, space);
      if (!met) settle_later(address, bytes, race_text(at + k, bytes, access, wrote, true, space));
      met = true;
    }
    if (access == Access::Read) {
      note_reader(c, space);
      continue;
    }
    for (const Stamp reader : {*c.read, *c.also_read})
      if (!ordered(reader, space)) race(at + k, bytes, access, reader, false, space);
    *c.wrote = running.mine | (access == Access::Atomic ? kAtomic : 0);
  }
}

// ---- the fast way: all bytes of an access have the same, harmless stamp ----

template <size_t N>
inline bool same(const Stamp* cells) {
  Stamp differs = 0;
  for (size_t k = 1; k < N; k++) differs |= cells[k] ^ cells[0];
  return differs == 0;
}
template <size_t N>
inline void set(Stamp* cells) {
  for (size_t k = 0; k < N; k++) cells[k] = running.mine;
}
inline bool plain(Stamp s, Stamp below) {
  return s < below || s == running.mine || s - running.block_base < running.interval_base - running.block_base;
}

template <size_t N>
inline void look_at_read(const void* address, Cells c, Stamp below, Space space) {
  const Stamp wrote = c.wrote[0];
  const Stamp first = space == Space::Shared ? running.block_base : kWrittenLongAgo;
  if (!same<N>(c.wrote) || !plain(wrote, below) || wrote < first) [[unlikely]]
    return look_slowly(address, N, c, Access::Read, space);
  const Stamp read = c.read[0];
  if (read == running.mine && same<N>(c.read)) return;
  if (same<N>(c.read) && plain(read, below)) set<N>(c.read);
  else if (!same<N>(c.read)) look_slowly(address, N, c, Access::Read, space);
  else if (same<N>(c.also_read) && plain(c.also_read[0], below)) set<N>(c.also_read);
}

template <size_t N>
inline void look_at_write(const void* address, Cells c, Stamp below, Space space) {
  const Stamp wrote = c.wrote[0];
  if (!same<N>(c.wrote) || !plain(wrote, below) || !same<N>(c.read) || !plain(c.read[0], below) ||
      !same<N>(c.also_read) || !plain(c.also_read[0], below)) [[unlikely]]
    return look_slowly(address, N, c, Access::Write, space);
  if (space == Space::Shared ? wrote < running.block_base && !is_shared(address, N)
                             : wrote == kUnwritten && first_bad_byte(address, N) != nullptr) [[unlikely]]
    return look_slowly(address, N, c, Access::Write, space);
  set<N>(c.wrote);
}

// Each byte once: those that had no stamp of this launch yet.
inline void count(Cells c, size_t bytes, bool write) {
  Traffic& t = running.traffic;
  (write ? t.written : t.read) += bytes;
  const Stamp* cells = write ? c.wrote : c.read;
  size_t first_time = 0;
  for (size_t k = 0; k < bytes; k++) first_time += (cells[k] & ~kAtomic) < running.launch_base;
  (write ? t.written_once : t.read_once) += first_time;
}

bool elsewhere(const void* address, size_t bytes, bool write) {
  const char* at = static_cast<const char*>(address);
  if (running.library && !is_device_address(address)) return true;
  if (write) return false;
  return (at >= image().begin && at < image().end) ||
         (at >= running.params && at + bytes <= running.params + running.params_bytes);
}

template <size_t N>
inline void touch(const void* address, bool write, const void* site) {
  if (!watched) [[likely]]
    return;  // host code of the same file
  if (running.unsettled) [[unlikely]]
    settle();
  if (uintptr_t(address) % N != 0 && !running.library)
    violation("a kernel touches " + std::to_string(N) +
              " bytes at an address that is no multiple: " + describe(address));
  const char* at = static_cast<const char*>(address);
  if (const size_t k = size_t(at - running.device_begin); k < kRange) {
    const Cells c = running.device_cells + k;
    if (running.sampled) [[unlikely]]
      sample(site, address, N, write);
    if (options_report) count(c, N, write);
    if (write) look_at_write<N>(address, c, running.ordered_below, Space::Device);
    else look_at_read<N>(address, c, running.ordered_below, Space::Device);
  } else if (const size_t s = size_t(at - running.shared_begin); s < running.shared_bytes) {
    const Cells c = running.shared_cells + s;
    if (write) look_at_write<N>(address, c, running.interval_base, Space::Shared);
    else look_at_read<N>(address, c, running.interval_base, Space::Shared);
  } else if (size_t(at - running.stacks_begin) >= running.stacks_bytes && !elsewhere(address, N, write)) {
    refuse(address, N, write ? Access::Write : Access::Read);
  }
}

inline void look_at_range(const void* address, size_t bytes, Cells c, Access access, Space space) {
  const Stamp below = space == Space::Shared ? running.interval_base : running.ordered_below;
  if (access != Access::Atomic) switch (bytes) {
#define TS_SIZE(N)                                                              \
  case N:                                                                       \
    return access == Access::Write ? look_at_write<N>(address, c, below, space) \
                                   : look_at_read<N>(address, c, below, space);
      TS_SIZE(2) TS_SIZE(4) TS_SIZE(8) TS_SIZE(16)
#undef TS_SIZE
    }
  look_slowly(address, bytes, c, access, space);
}

// Any number of bytes at any address: structs, memcpy.
void touch_range(const void* address, size_t bytes, Access access, const void* site) {
  if (!watched || bytes == 0) return;
  if (running.unsettled) [[unlikely]]
    settle();
  const char* at = static_cast<const char*>(address);
  const bool write = access != Access::Read;
  if (const size_t k = size_t(at - running.device_begin); k < kRange) {
    const Cells c = running.device_cells + k;
    if (running.sampled && bytes <= 64) sample(site, address, bytes, write);
    if (options_report) count(c, bytes, write);
    look_at_range(address, bytes, c, access, Space::Device);
  } else if (const size_t s = size_t(at - running.shared_begin); s < running.shared_bytes) {
    look_at_range(address, bytes, running.shared_cells + s, access, Space::Shared);
  } else if (size_t(at - running.stacks_begin) >= running.stacks_bytes && !elsewhere(address, bytes, write)) {
    refuse(address, bytes, access);
  }
}

}  // namespace

void settle() {
  running.unsettled = false;
  const Unsettled& u = unsettled();
  if (std::memcmp(u.before, u.address, u.bytes) != 0) violation(u.text);
}

thread_local bool watched = false;  // per thread: it runs a kernel

void note_atomic(void* at, size_t bytes) {
  if (!watched) return;
  if (uintptr_t(at) % bytes != 0) violation("an atomic step at an address that is no multiple: " + describe(at));
  touch_range(at, bytes, Access::Atomic, __builtin_return_address(0));
  pass_atomic(at);
}

// ---- copies, fills, libraries: the operation's own stamp ----

void read_range(const void* at, size_t bytes, const char* what) {
  if (bytes == 0 || !is_device_address(at)) return;
  if (const char* bad = first_bad_byte(at, bytes)) violation(std::string(what) + " reads " + describe(bad));
  if (!options().check) return;
  Cells c = cells_of(at);
  for (size_t k = 0; k < bytes; k++, c = c + 1) {
    if (!ordered(*c.wrote & ~kAtomic, Space::Device))
      race(static_cast<const char*>(at) + k, bytes, Access::Read, *c.wrote, true, Space::Device);
    note_reader(c, Space::Device);
  }
}

void write_range(void* at, size_t bytes, const char* what) {
  if (bytes == 0 || !is_device_address(at)) return;
  if (const char* bad = first_bad_byte(at, bytes)) violation(std::string(what) + " writes " + describe(bad));
  if (!options().check) return;
  Cells c = cells_of(at);
  for (size_t k = 0; k < bytes; k++, c = c + 1) {
    const char* byte = static_cast<const char*>(at) + k;
    if (!ordered(*c.wrote & ~kAtomic, Space::Device)) race(byte, bytes, Access::Write, *c.wrote, true, Space::Device);
    for (const Stamp reader : {*c.read, *c.also_read})
      if (!ordered(reader, Space::Device)) race(byte, bytes, Access::Write, reader, false, Space::Device);
    *c.wrote = running.mine;
  }
}

void copy_cells(void* to, const void* from, size_t bytes) {
  if (!is_device_address(to) || !is_device_address(from)) return;
  Stamp* target = cells_of(to).wrote;
  const Stamp* source = cells_of(from).wrote;
  for (size_t k = 0; k < bytes; k++)
    if (source[k] == kUnwritten) target[k] = kUnwritten;
}

void library_reads(const void* at, size_t bytes) { touch_range(at, bytes, Access::Read, nullptr); }
void library_writes(void* at, size_t bytes) { touch_range(at, bytes, Access::Write, nullptr); }

}  // namespace tessera_executor

using namespace tessera_executor;

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
#define TS_SITE __builtin_return_address(0)
#define TS_SIZES(F) F(1) F(2) F(4) F(8) F(16)
#define TS_ACCESS(N)                                                                     \
  void __tsan_read##N(void* at) { touch<N>(at, false, TS_SITE); }                        \
  void __tsan_write##N(void* at) { touch<N>(at, true, TS_SITE); }                        \
  void __tsan_unaligned_read##N(void* at) { touch_range(at, N, Access::Read, TS_SITE); } \
  void __tsan_unaligned_write##N(void* at) { touch_range(at, N, Access::Write, TS_SITE); }
TS_SIZES(TS_ACCESS)
void __tsan_read_range(void* at, size_t bytes) { touch_range(at, bytes, Access::Read, TS_SITE); }
void __tsan_write_range(void* at, size_t bytes) { touch_range(at, bytes, Access::Write, TS_SITE); }

// Atomic steps of host code (counters, statics that are made once); kernels have CUDA's.
#define TS_ATOMIC(BITS, T)                                                                                            \
  T __tsan_atomic##BITS##_load(const volatile T* at, int) { return __atomic_load_n(at, __ATOMIC_SEQ_CST); }           \
  void __tsan_atomic##BITS##_store(volatile T* at, T x, int) { __atomic_store_n(at, x, __ATOMIC_SEQ_CST); }           \
  T __tsan_atomic##BITS##_exchange(volatile T* at, T x, int) { return __atomic_exchange_n(at, x, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##BITS##_fetch_add(volatile T* at, T x, int) { return __atomic_fetch_add(at, x, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##BITS##_fetch_sub(volatile T* at, T x, int) { return __atomic_fetch_sub(at, x, __ATOMIC_SEQ_CST); } \
  bool __tsan_atomic##BITS##_compare_exchange_strong(volatile T* at, T* wanted, T x, int, int) {                      \
    return __atomic_compare_exchange_n(at, wanted, x, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                     \
  }                                                                                                                   \
  bool __tsan_atomic##BITS##_compare_exchange_weak(volatile T* at, T* wanted, T x, int, int) {                        \
    return __atomic_compare_exchange_n(at, wanted, x, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                      \
  }
TS_ATOMIC(8, uint8_t)
TS_ATOMIC(16, uint16_t)
TS_ATOMIC(32, uint32_t)
TS_ATOMIC(64, uint64_t)

    // What kernels are compiled to call instead of the library's (the compiler puts moves of its own in the place of memcpy,
    // which it does not tell of).
    void* tessera_kernel_memcpy(void* to, const void* from, size_t bytes) {
  touch_range(from, bytes, Access::Read, TS_SITE);
  touch_range(to, bytes, Access::Write, TS_SITE);
  return std::memcpy(to, from, bytes);
}
void* tessera_kernel_memmove(void* to, const void* from, size_t bytes) {
  touch_range(from, bytes, Access::Read, TS_SITE);
  touch_range(to, bytes, Access::Write, TS_SITE);
  return std::memmove(to, from, bytes);
}
void* tessera_kernel_memset(void* to, int value, size_t bytes) {
  touch_range(to, bytes, Access::Write, TS_SITE);
  return std::memset(to, value, bytes);
}

}  // extern "C"

// Devices' memory. Each device has a range of addresses without access rights; kernels and copies of streams open the part
// that was ever used while they run. A shadow has one byte for every 8 bytes, how many of them may be touched, and cells say
// who was at each byte (cells.h).
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <vector>

#include "executor.h"

namespace tessera_executor {
namespace {

constexpr int kMaxDevices = 8;
constexpr size_t kPage = size_t(2) << 20;
constexpr size_t kAlign = 512;
constexpr unsigned char kFreshByte = 0xb5;  // memory that nobody wrote

char* map_range(size_t bytes, int rights) {
  void* range = mmap(nullptr, bytes, rights, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) std::perror("the executor's memory"), std::abort();
  return static_cast<char*>(range);
}

struct Freed {
  size_t bytes;
  Stamp by;
};
Stamp* map_cells() {
  return reinterpret_cast<Stamp*>(map_range(kRange * kMaxDevices * sizeof(Stamp), PROT_READ | PROT_WRITE));
}

struct DeviceMemory {
  size_t used = 0;                     // bytes in allocations
  char* top;                           // beyond it nothing was ever used
  std::map<char*, Allocation> blocks;  // by begin: what may be touched
  std::map<char*, size_t> segments;    // what cudaMalloc gave
  std::map<char*, Freed> freed;        // parts that were a block, and when that ended
  std::multimap<size_t, char*> spare;  // segments that were freed
};

struct AllMemory {
  char* base = map_range(kRange * kMaxDevices, PROT_NONE);
  unsigned char* shadow = reinterpret_cast<unsigned char*>(map_range(kRange * kMaxDevices / 8, PROT_READ | PROT_WRITE));
  Cells cells{map_cells(), map_cells(), map_cells()};
  DeviceMemory devices[kMaxDevices];
  int open = 0;
  uint64_t serial = 0;
  AllMemory() {
    for (int d = 0; d < kMaxDevices; d++) devices[d].top = base + size_t(d) * kRange;
  }
};
AllMemory& all() {
  static AllMemory memory;
  return memory;
}

unsigned char* shadow_of(const void* address) {
  return all().shadow + (static_cast<const char*>(address) - all().base) / 8;
}

// Pages of the shadow for blocks of gigabytes of which a few elements are used: all show the same memory until they are
// written to.
constexpr size_t kShadowPages = size_t(16) << 20;

int touchable_pages() {
  static const int file = [] {
    const int made = memfd_create("touchable", 0);
    const std::vector<unsigned char> whole(kShadowPages, 8);
    if (made < 0 || write(made, whole.data(), whole.size()) != ssize_t(whole.size()))
      std::perror("the executor's memory"), std::abort();
    return made;
  }();
  return file;
}
void map_shadow(unsigned char* begin, unsigned char* end, bool may) {
  for (unsigned char* at = begin; at < end; at += kShadowPages) {
    const size_t bytes = std::min(kShadowPages, size_t(end - at));
    const int how = MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE | (may ? 0 : MAP_ANONYMOUS);
    if (mmap(at, bytes, PROT_READ | PROT_WRITE, how, may ? touchable_pages() : -1, 0) == MAP_FAILED)
      std::perror("the executor's memory"), std::abort();
  }
}
void fill_shadow(unsigned char* begin, size_t bytes, bool may) {
  const auto page = [](uintptr_t address) { return reinterpret_cast<unsigned char*>(address & ~uintptr_t(4095)); };
  unsigned char *const end = begin + bytes, *from = end, *to = end;
  if (bytes > 2 * kShadowPages) from = page(uintptr_t(begin) + 4095), to = page(uintptr_t(end));
  map_shadow(from, to, may);
  std::memset(begin, may ? 8 : 0, size_t(from - begin));
  std::memset(to, may ? 8 : 0, size_t(end - to));
}

void set_touchable(char* begin, size_t bytes, bool may) {
  unsigned char* shadow = shadow_of(begin);
  fill_shadow(shadow, bytes / 8, may);
  if (bytes % 8) shadow[bytes / 8] = may ? (unsigned char)(bytes % 8) : 0;
}

// Nobody wrote these bytes. Whole pages go back to the system.
void clear_cells(char* begin, size_t bytes) {
  const Cells cells = cells_of(begin);
  for (Stamp* row : {cells.wrote, cells.read, cells.also_read}) {
    constexpr size_t kSystemPage = 4096;
    char* from = reinterpret_cast<char*>(row);
    char* to = reinterpret_cast<char*>(row + bytes);
    char* from_page = reinterpret_cast<char*>((uintptr_t(from) + kSystemPage - 1) & ~(kSystemPage - 1));
    char* to_page = reinterpret_cast<char*>(uintptr_t(to) & ~(kSystemPage - 1));
    if (to_page - from_page < long(64 * kSystemPage)) {
      std::memset(from, 0, size_t(to - from));
      continue;
    }
    madvise(from_page, size_t(to_page - from_page), MADV_DONTNEED);
    std::memset(from, 0, size_t(from_page - from));
    std::memset(to_page, 0, size_t(to - to_page));
  }
}

void spoil(char* begin, size_t bytes) {
  const OpenMemory open;
  std::memset(begin, kFreshByte, std::min<size_t>(bytes, size_t(1) << 20));
}

size_t rounded(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

void set_rights(DeviceMemory& d, char* begin, int rights) {
  if (d.top > begin) mprotect(begin, size_t(d.top - begin), rights);
}

// A segment of the device's range: a freed one of that size, or the next addresses, with a gap behind.
char* take_segment(int device, size_t bytes) {
  DeviceMemory& d = all().devices[device];
  if (auto found = d.spare.find(bytes); found != d.spare.end()) {
    char* segment = found->second;
    d.spare.erase(found);
    return segment;
  }
  char* segment = d.top;
  if (size_t(segment - all().base) + bytes + kPage > kRange * size_t(device + 1)) return nullptr;
  char* top = segment + rounded(bytes + 4096, kPage);
  if (all().open) mprotect(segment, size_t(top - segment), PROT_READ | PROT_WRITE);
  d.top = top;
  return segment;
}

cudaError_t allocate(void** out, size_t bytes) {
  const int device = current_device();
  DeviceMemory& d = all().devices[device];
  *out = nullptr;
  if (bytes == 0) return cudaSuccess;
  const size_t size = rounded(bytes, kAlign);
  if (d.used + size > options().memory) return cudaErrorMemoryAllocation;
  char* segment = take_segment(device, size);
  if (segment == nullptr) return cudaErrorMemoryAllocation;
  d.used += size;
  d.segments[segment] = size;
  d.blocks[segment] = {segment, bytes, device, ++all().serial};
  set_touchable(segment, bytes, true);
  spoil(segment, bytes);
  *out = segment;
  return cudaSuccess;
}

// What ended as a block in these bytes is told to `look`, and no longer known.
template <class Look>
void take_freed(DeviceMemory& d, char* begin, size_t bytes, const Look& look) {
  auto at = d.freed.lower_bound(begin);
  if (at != d.freed.begin() && std::prev(at)->first + std::prev(at)->second.bytes > begin) --at;
  while (at != d.freed.end() && at->first < begin + bytes) {
    const auto [start, part] = *at;
    at = d.freed.erase(at);
    look(part.by);
    if (start < begin) d.freed[start] = {size_t(begin - start), part.by};
    if (start + part.bytes > begin + bytes)
      at = std::next(
          d.freed.insert_or_assign(begin + bytes, Freed{size_t(start + part.bytes - (begin + bytes)), part.by}).first);
  }
}
void forget_freed(DeviceMemory& d, char* begin, size_t bytes) {
  take_freed(d, begin, bytes, [](Stamp) {});
}

cudaError_t release(void* block) {
  const int device = device_of(block);
  if (device < 0) return cudaErrorInvalidValue;
  DeviceMemory& d = all().devices[device];
  const auto segment = d.segments.find(static_cast<char*>(block));
  if (segment == d.segments.end()) return cudaErrorInvalidValue;
  const size_t size = segment->second;
  d.segments.erase(segment);
  for (auto at = d.blocks.lower_bound(static_cast<char*>(block));
       at != d.blocks.end() && at->first < static_cast<char*>(block) + size;)
    at = d.blocks.erase(at);
  set_touchable(static_cast<char*>(block), size, false);
  clear_cells(static_cast<char*>(block), size);
  forget_freed(d, static_cast<char*>(block), size);
  d.spare.insert({size, static_cast<char*>(block)});
  d.used -= size;
  return cudaSuccess;
}

std::map<char*, size_t>& pinned() {
  static std::map<char*, size_t> blocks;
  return blocks;
}

bool is_pinned(const void* address) {
  char* at = static_cast<char*>(const_cast<void*>(address));
  const auto next = pinned().upper_bound(at);
  return next != pinned().begin() && at < std::prev(next)->first + std::prev(next)->second;
}

}  // namespace

int device_of(const void* address) {
  const char* at = static_cast<const char*>(address);
  if (at < all().base || at >= all().base + kRange * kMaxDevices) return -1;
  return int(size_t(at - all().base) / kRange);
}
bool is_device_address(const void* address) { return device_of(address) >= 0; }

const char* first_bad_byte(const void* address, size_t bytes) {
  const char* at = static_cast<const char*>(address);
  const char* end = at + bytes;
  while (at < end) {
    const unsigned valid = *shadow_of(at);
    const unsigned inside = unsigned(uintptr_t(at) & 7);
    const unsigned wanted = unsigned(std::min<size_t>(8 - inside, size_t(end - at)));
    if (inside + wanted > valid) return at + (inside < valid ? valid - inside : 0);
    at += wanted;
  }
  return nullptr;
}

std::string describe(const void* address) {
  const int device = device_of(address);
  if (device < 0) return std::string(is_pinned(address) ? "pinned memory" : "memory") + " of the host";
  const char* at = static_cast<const char*>(address);
  const DeviceMemory& d = all().devices[device];
  auto next = d.blocks.upper_bound(const_cast<char*>(at));
  char text[160];
  if (next != d.blocks.begin()) {
    const Allocation& before = std::prev(next)->second;
    const long beyond = long(at - (before.begin + before.bytes));
    std::snprintf(text, sizeof text, "device %d, %s block %llu of %zu bytes (byte %ld)", device,
                  beyond < 0 ? "in" : "behind", (unsigned long long)before.serial, before.bytes,
                  long(at - before.begin));
    return text;
  }
  std::snprintf(text, sizeof text, "device %d, in no block", device);
  return text;
}

OpenMemory::OpenMemory() {
  if (all().open++ != 0) return;
  for (int d = 0; d < options().devices; d++)
    set_rights(all().devices[d], all().base + size_t(d) * kRange, PROT_READ | PROT_WRITE);
}
OpenMemory::~OpenMemory() {
  if (--all().open != 0) return;
  for (int d = 0; d < options().devices; d++) set_rights(all().devices[d], all().base + size_t(d) * kRange, PROT_NONE);
}

void copy_memory(void* to, const void* from, size_t bytes, const char* what) {
  const OpenMemory open;
  read_range(from, bytes, what);
  write_range(to, bytes, what);
  copy_cells(to, from, bytes);
  std::memmove(to, from, bytes);
}

Cells cells_of(const void* address) { return all().cells + size_t(static_cast<const char*>(address) - all().base); }
char* range_of(int device) { return all().base + size_t(device) * kRange; }

void forget_stamps() {
  for (DeviceMemory& d : all().devices)
    for (const auto& [segment, bytes] : d.segments) {
      const Cells cells = cells_of(segment);
      for (size_t k = 0; k < bytes; k++)
        if (cells.wrote[k] != kUnwritten) cells.wrote[k] = kWrittenLongAgo;
      for (Stamp* row : {cells.read, cells.also_read})
        for (size_t k = 0; k < bytes; k++)
          if (row[k] != 0) row[k] = 0;
    }
  for (DeviceMemory& d : all().devices) d.freed.clear();
}

// ---- blocks of the plugin's allocator ----

namespace {

std::map<char*, Allocation>::iterator first_overlap(DeviceMemory& d, char* begin, size_t bytes) {
  auto at = d.blocks.lower_bound(begin);
  if (at != d.blocks.begin() && std::prev(at)->first + std::prev(at)->second.bytes > begin) --at;
  return at != d.blocks.end() && at->first < begin + bytes ? at : d.blocks.end();
}
void end_overlaps(DeviceMemory& d, char* begin, size_t bytes) {
  for (auto at = first_overlap(d, begin, bytes); at != d.blocks.end(); at = first_overlap(d, begin, bytes)) {
    set_touchable(at->first, rounded(at->second.bytes, 8), false);
    d.blocks.erase(at);
  }
}
void make_block(DeviceMemory& d, char* begin, size_t bytes, int device) {
  d.blocks[begin] = {begin, bytes, device, ++all().serial};
  set_touchable(begin, rounded(bytes, 8), false);
  set_touchable(begin, bytes, true);
  clear_cells(begin, bytes);
  spoil(begin, bytes);
}

}  // namespace

void segment_taken(void* segment, size_t bytes) {
  const std::lock_guard guard(lock());
  all().devices[device_of(segment)].blocks.erase(static_cast<char*>(segment));
  set_touchable(static_cast<char*>(segment), bytes, false);
}

void begin_block_of(void* block, size_t bytes, bool in_graph) {
  const int device = device_of(block);
  DeviceMemory& d = all().devices[device];
  char* begin = static_cast<char*>(block);
  if (in_graph) end_overlaps(d, begin, bytes);  // of its launch before this
  if (first_overlap(d, begin, bytes) != d.blocks.end())
    violation("the allocator gives memory that somebody has: " + describe(block));
  take_freed(d, begin, rounded(bytes, 8), [&](Stamp by) {
    if (!happened_before(by, Space::Device))
      violation("memory goes from one stream to another with no order between them: it was freed by " + who(by) + ", " +
                describe(block));
  });
  make_block(d, begin, bytes, device);
}

void show_captured_block(void* block, size_t bytes) {
  const int device = device_of(block);
  DeviceMemory& d = all().devices[device];
  end_overlaps(d, static_cast<char*>(block), bytes);
  make_block(d, static_cast<char*>(block), bytes, device);
}

void end_block_of(void* block, bool in_graph) {
  DeviceMemory& d = all().devices[device_of(block)];
  const auto found = d.blocks.find(static_cast<char*>(block));
  if (found == d.blocks.end()) {
    if (in_graph) return;
    violation("the allocator takes back what is no block: " + describe(block));
  }
  const Allocation gone = found->second;
  if (options().check && running.ordered_below < running.launch_base) {
    // Other streams have work that is not known to be done: none of it may have this block.
    const Cells cells = cells_of(gone.begin);
    for (const Stamp* row : {cells.wrote, cells.read, cells.also_read})
      for (size_t k = 0; k < gone.bytes; k++)
        if ((row[k] & ~kAtomic) >= kFirstStamp && !happened_before(row[k], Space::Device))
          violation("a block is freed that another stream still uses (record_stream is missing): " +
                    describe(gone.begin + k) + ", used by " + who(row[k]));
  }
  set_touchable(gone.begin, gone.bytes, false);
  clear_cells(gone.begin, gone.bytes);
  d.freed[gone.begin] = {rounded(gone.bytes, 8), running.mine};
  d.blocks.erase(found);
}

}  // namespace tessera_executor

using namespace tessera_executor;

extern "C" {

cudaError_t cudaMalloc(void** out, size_t bytes) {
  const std::lock_guard guard(lock());
  if (cudaError_t fault = asked_fault("cudaMalloc")) return remember(fault);
  if (cudaError_t refused = refused_in_capture()) return remember(refused);
  counts().allocations++;
  return remember(allocate(out, bytes));
}

cudaError_t cudaFree(void* block) {
  const std::lock_guard guard(lock());
  if (cudaError_t fault = asked_fault("cudaFree")) return remember(fault);
  if (cudaError_t refused = refused_in_capture()) return remember(refused);
  if (block == nullptr) return cudaSuccess;
  counts().frees++;
  finish_all();  // as CUDA's, it waits
  return remember(release(block));
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total) {
  const std::lock_guard guard(lock());
  if (cudaError_t fault = asked_fault("cudaMemGetInfo")) return remember(fault);
  *total = options().memory;
  *free_bytes = options().memory - all().devices[current_device()].used;
  return cudaSuccess;
}

cudaError_t cudaHostAlloc(void** out, size_t bytes, unsigned) {
  const std::lock_guard guard(lock());
  if (cudaError_t fault = asked_fault("cudaHostAlloc")) return remember(fault);
  if (cudaError_t refused = refused_in_capture()) return remember(refused);
  counts().host_allocations++;
  *out = std::malloc(bytes);
  pinned()[static_cast<char*>(*out)] = bytes;
  return cudaSuccess;
}

cudaError_t cudaFreeHost(void* block) {
  const std::lock_guard guard(lock());
  if (cudaError_t fault = asked_fault("cudaFreeHost")) return remember(fault);
  if (cudaError_t refused = refused_in_capture()) return remember(refused);
  if (pinned().erase(static_cast<char*>(block)) == 0) return cudaErrorInvalidValue;
  finish_all();
  std::free(block);
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* out, const void* address) {
  const std::lock_guard guard(lock());
  *out = {};
  const int device = device_of(address);
  if (device >= 0) {
    *out = {cudaMemoryTypeDevice, device, const_cast<void*>(address), nullptr};
    return cudaSuccess;
  }
  void* at = const_cast<void*>(address);
  if (is_pinned(address)) *out = {cudaMemoryTypeHost, 0, at, at};
  return cudaSuccess;
}

}  // extern "C"

// Devices' memory. Each device has a range of addresses without access rights; kernels and copies of streams open the part
// that was ever used while they run. A shadow has one byte for every 8 bytes: how many of them may be touched.
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <new>
#include <vector>

#include "executor.h"

namespace tessera_executor {
namespace {

constexpr int kMaxDevices = 8;
constexpr size_t kRange = size_t(64) << 30;  // addresses of a device
constexpr size_t kPage = size_t(2) << 20;
constexpr size_t kAlign = 512;
constexpr unsigned char kFreshByte = 0xb5;  // memory that nobody wrote

char* map_range(size_t bytes, int rights) {
  void* range = mmap(nullptr, bytes, rights, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) std::perror("the executor's memory"), std::abort();
  return static_cast<char*>(range);
}

struct DeviceMemory {
  size_t used = 0;                     // bytes in allocations
  char* top;                           // beyond it nothing was ever used
  std::map<char*, Allocation> blocks;  // by begin: what may be touched
  std::map<char*, size_t> segments;    // what cudaMalloc gave
  std::multimap<size_t, char*> spare;  // segments that were freed
};

struct AllMemory {
  char* base = map_range(kRange * kMaxDevices, PROT_NONE);
  unsigned char* shadow = reinterpret_cast<unsigned char*>(map_range(kRange * kMaxDevices / 8, PROT_READ | PROT_WRITE));
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

void set_touchable(char* begin, size_t bytes, bool may) {
  unsigned char* shadow = shadow_of(begin);
  std::memset(shadow, may ? 8 : 0, bytes / 8);
  if (bytes % 8) shadow[bytes / 8] = may ? (unsigned char)(bytes % 8) : 0;
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
  const OpenMemory open;
  std::memset(segment, kFreshByte, bytes < (size_t(1) << 20) ? bytes : size_t(1) << 20);
  *out = segment;
  return cudaSuccess;
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
  d.spare.insert({size, static_cast<char*>(block)});
  d.used -= size;
  return cudaSuccess;
}

std::map<char*, size_t>& pinned() {
  static std::map<char*, size_t> blocks;
  return blocks;
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
  if (device < 0) return "memory of the host";
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

void copy_memory(void* to, const void* from, size_t bytes) {
  for (const void* side : {static_cast<const void*>(to), from})
    if (is_device_address(side) && first_bad_byte(side, bytes) != nullptr)
      violation("a copy of " + std::to_string(bytes) + " bytes touches " + describe(first_bad_byte(side, bytes)));
  const OpenMemory open;
  std::memmove(to, from, bytes);
}

void segment_taken(void* segment, size_t bytes) {
  const std::lock_guard guard(lock());
  all().devices[device_of(segment)].blocks.erase(static_cast<char*>(segment));
  set_touchable(static_cast<char*>(segment), bytes, false);
}

namespace {

void take_block(char* begin, size_t bytes, int device) {
  all().devices[device].blocks[begin] = {begin, bytes, device, ++all().serial};
  set_touchable(begin, rounded(bytes, 8), false);
  set_touchable(begin, bytes, true);
}

void free_block(char* begin, int device) {
  DeviceMemory& d = all().devices[device];
  const auto found = d.blocks.find(begin);
  if (found == d.blocks.end()) return;  // taken in a capture, whose graph was not run since
  set_touchable(found->first, rounded(found->second.bytes, 8), false);
  d.blocks.erase(found);
}

}  // namespace

void block_taken(void* block, size_t bytes, cudaStream_t stream) {
  const std::lock_guard guard(lock());
  const int device = device_of(block);
  if (device < 0) violation("the allocator gave a block that is no memory of a device");
  char* const begin = static_cast<char*>(block);
  queue_note(
      stream, device, [=] { take_block(begin, bytes, device); }, true);
}

void block_freed(void* block, cudaStream_t stream) {
  const std::lock_guard guard(lock());
  const int device = device_of(block);
  if (device < 0) violation("the allocator takes back what is no memory of a device");
  char* const begin = static_cast<char*>(block);
  queue_note(
      stream, device, [=] { free_block(begin, device); }, false);
}

}  // namespace tessera_executor

using namespace tessera_executor;

extern "C" {

cudaError_t cudaMalloc(void** out, size_t bytes) {
  const std::lock_guard guard(lock());
  if (cudaError_t fault = asked_fault("cudaMalloc")) return fault;
  return allocate(out, bytes);
}

cudaError_t cudaFree(void* block) {
  const std::lock_guard guard(lock());
  if (cudaError_t fault = asked_fault("cudaFree")) return fault;
  if (block == nullptr) return cudaSuccess;
  finish_all();  // as CUDA's, it waits
  return release(block);
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total) {
  const std::lock_guard guard(lock());
  if (cudaError_t fault = asked_fault("cudaMemGetInfo")) return fault;
  *total = options().memory;
  *free_bytes = options().memory - all().devices[current_device()].used;
  return cudaSuccess;
}

cudaError_t cudaHostAlloc(void** out, size_t bytes, unsigned) {
  const std::lock_guard guard(lock());
  if (cudaError_t fault = asked_fault("cudaHostAlloc")) return fault;
  *out = std::malloc(bytes);
  pinned()[static_cast<char*>(*out)] = bytes;
  return cudaSuccess;
}

cudaError_t cudaFreeHost(void* block) {
  const std::lock_guard guard(lock());
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
  char* at = static_cast<char*>(const_cast<void*>(address));
  const auto next = pinned().upper_bound(at);
  if (next != pinned().begin() && at < std::prev(next)->first + std::prev(next)->second)
    *out = {cudaMemoryTypeHost, 0, nullptr, at};
  return cudaSuccess;
}

}  // extern "C"

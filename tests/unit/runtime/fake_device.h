// Two CUDA devices that are not there. Their memory may be touched by kernels and copies only (anything else is a fault of
// the processor), their kernels are the CPU's, and what is asked of them is written down. So a host that reads what lies on
// a device, or hands a kernel something that is not there, shows without a GPU.
#pragma once

#include <sys/mman.h>

#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "runtime/context.h"
#include "runtime/device/backend.h"
#include "runtime/device/host_backend.h"
#include "runtime/error.h"

namespace fake {

using namespace tessera::tensor;

struct Record {
  std::vector<Launch> launches;
  std::vector<CopyRequest> copies;
  std::vector<StreamHandle> released;  // the stream of each block that went back
  int waits = 0;                       // how often the host waited
  bool strangers = false;              // a kernel was given an address that is not the device's
};

inline constexpr size_t kArena = size_t(16) << 20;  // bytes of a device, never used again: a test needs little

struct State {
  Record record;
  char* arena[2];
  size_t used[2];
  int open;
  ErrorWord errors[2];
};
inline State*& state() {
  static State* now = nullptr;
  return now;
}

/// Device memory can be touched while one of these lives.
struct Open {
  Open() { set(PROT_READ | PROT_WRITE, state()->open++ == 0); }
  ~Open() { set(PROT_NONE, --state()->open == 0); }
  static void set(int protection, bool really) {
    for (char* arena : state()->arena)
      if (really) mprotect(arena, kArena, protection);
  }
};

inline bool is_on(Device device, const void* address) {
  const char* arena = state()->arena[device.index];
  return address >= arena && address < arena + kArena;
}

inline void* allocate(Device device, StreamHandle, size_t& bytes) {
  bytes = (bytes + 511) / 512 * 512;
  size_t& used = state()->used[device.index];
  if (used + bytes > kArena) fail(TensorErrorKind::OutOfMemory, "CUDA out of memory.");
  used += bytes;
  return state()->arena[device.index] + used - bytes;
}
inline void release(Device, StreamHandle stream, void*, size_t) noexcept {
  if (state() != nullptr) state()->record.released.push_back(stream);
}
inline void copy(const CopyRequest& request) {
  const Open open;
  state()->record.copies.push_back(request);
  if (request.wait && (request.to_device.is_cpu() || request.from_device.is_cpu())) state()->record.waits++;
  std::memmove(request.to, request.from, request.bytes);
}
inline bool take_error(Device device, ErrorWord& out) {
  out = std::exchange(state()->errors[device.index], ErrorWord{});
  return out.kind != ErrorWord::None;
}

// Which of a call's addresses lie elsewhere: a number of the host must lie in the loop itself.
inline bool has_stranger(const Loop& loop, Device device) {
  for (int k = 0; k < loop.operands; k++) {
    const bool number = loop.host_scalars >> k & 1;
    if (number ? loop.data[k] != loop.numbers[k] : !is_on(device, loop.data[k])) return true;
  }
  return false;
}
template <class Call>
bool has_stranger(const Call& call) {
  if constexpr (requires { call.loop; }) return has_stranger(call.loop, call.launch.device);
  else return false;
}

template <class Call>
Kernel<Call>*& slot_of() {
  static Kernel<Call>* slot = nullptr;
  return slot;
}

// The CPU's kernel on the device's memory. What it throws goes to the error word.
template <class Call>
void run(const Call& call) {
  Record& record = state()->record;
  record.launches.push_back(call.launch);
  record.strangers |= has_stranger(call);
  const Open open;
  try {
    slot_of<Call>()->get(DeviceType::Cpu)(call);
  } catch (const TensorError&) {
    if (call.launch.errors->kind == ErrorWord::None) *call.launch.errors = {ErrorWord::Index, 0, 7, 3};
  }
}

/// While this lives there are cuda:0 and cuda:1, with kernels in the core's slots.
class Devices {
 public:
  Devices() {
    state_.record = {};
    for (int i = 0; i < 2; i++) {
      state_.arena[i] = static_cast<char*>(mmap(nullptr, kArena, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
      state_.used[i] = 0;
    }
    state_.open = 0;
    state() = &state_;
    table_ = kHostBackend;
    table_.name = "fake";
    table_.traits = {.has_streams = true, .has_generators = true, .words = Words::Cuda};
    table_.no_such_index =
        "CUDA error: invalid device ordinal\nGPU device may be out of range, do you have enough GPUs?";
    table_.device_count = [] { return 2; };
    table_.allocate = allocate;
    table_.release = release;
    table_.copy = copy;
    table_.synchronize = [](Device) { state()->record.waits++; };
    table_.error_word = [](Device device) { return &state()->errors[device.index]; };
    table_.take_error = take_error;
    register_device_backend(DeviceType::Cuda, &table_);
    fill(pointwise_kernel), fill(copy_kernel), fill(fill_kernel), fill(range_kernel), fill(reduce_kernel);
    fill(along_kernel), fill(gemm_kernel);
  }
  ~Devices() {
    for (const auto& restore : restore_) restore();
    register_device_backend(DeviceType::Cuda, nullptr);
    state() = nullptr;
    for (char* arena : state_.arena) munmap(arena, kArena);
  }
  Devices(const Devices&) = delete;

  template <class Call>
  void fill(Kernel<Call>& slot) {
    slot_of<Call>() = &slot;
    restore_.push_back([&slot, before = slot.get(DeviceType::Cuda)] { slot.set(DeviceType::Cuda, before); });
    slot.set(DeviceType::Cuda, run<Call>);
  }
  Record& record() { return state_.record; }

 private:
  State state_{};
  DeviceBackend table_;
  std::vector<std::function<void()>> restore_;
};

}  // namespace fake

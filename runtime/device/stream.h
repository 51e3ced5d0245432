// Streams and events as handles of the device's backend, and what a kernel call needs to know of its place.
//
// A stream is a queue of work that a device does in order. Null is the device's default stream (and all that a CPU has:
// there the caller's thread does the work). Which stream is current belongs to the Context, per device.
#pragma once

#include "runtime/device/device.h"

#ifdef __CUDACC__
#define TS_ON_BOTH __host__ __device__  // for the few functions of the runtime that kernels call
#else
#define TS_ON_BOTH
#endif

namespace tessera::tensor {

using StreamHandle = void*;
using EventHandle = void*;

struct ErrorWord;  // runtime/device/error_word.h

/// Where a kernel reports a fault, and the number of the launch that it belongs to: the host knows which line gave it.
struct ErrorTarget {
  ErrorWord* word = nullptr;  // in memory that the device's kernels can write; null on the CPU, whose kernels throw
  uint32_t launch = 0;

  TS_ON_BOTH operator ErrorWord*() const { return word; }
  TS_ON_BOTH ErrorWord* operator->() const { return word; }
};

/// Where a kernel call runs. Every call struct has one as its last member, `launch`; the slot fills it in.
struct Launch {
  Device device;
  StreamHandle stream = nullptr;
  ErrorTarget errors{};
};

/// The stream of the running thread's Context for that device.
StreamHandle current_stream(Device device);
void set_current_stream(Device device, StreamHandle stream);

/// Device, its current stream and its error word, for a call of that slot.
Launch launch_on(Device device, const char* slot = nullptr);

/// Whether every launch is waited for (TESSERA_SYNC=1), so that a fault is raised by the line that made it.
bool launches_wait();
/// What TESSERA_SYNC=1 does after each launch.
void wait_for_launch(Device device);

/// What the language notes at each launch on a device, to tell later where a kernel's fault came from.
class LaunchLog {
 public:
  virtual uint32_t note(const char* slot) = 0;              // the launch's number, never 0
  virtual std::string describe(uint32_t launch) const = 0;  // "" when it is too long ago

 protected:
  ~LaunchLog() = default;
};

}  // namespace tessera::tensor

// Streams and events as handles of the device's backend, and what a kernel call needs to know of its place.
//
// A stream is a queue of work that a device does in order. Null is the device's default stream (and all that a CPU has:
// there the caller's thread does the work). Which stream is current belongs to the Context, per device.
#pragma once

#include "runtime/device/device.h"

namespace tessera::tensor {

using StreamHandle = void*;
using EventHandle = void*;

struct ErrorWord;  // runtime/device/error_word.h

/// Where a kernel call runs. Every call struct has one as its last member, `launch`; the slot fills it in.
struct Launch {
  Device device;
  StreamHandle stream = nullptr;
  ErrorWord* errors = nullptr;  // in memory that the device's kernels can write; null on the CPU, whose kernels throw
};

/// The stream of the running thread's Context for that device.
StreamHandle current_stream(Device device);
void set_current_stream(Device device, StreamHandle stream);

/// Device, its current stream and its error word.
Launch launch_on(Device device);

}  // namespace tessera::tensor

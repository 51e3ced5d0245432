// The traits of a device: what it can do, and in which words it refuses. Ops ask for these before they plan; which backend answers they
// do not know. Each DeviceBackend carries its own (backend.h).
#pragma once

#include "runtime/device/device.h"
#include "runtime/dtype.h"

namespace tessera::tensor {

/// PyTorch's backends have kernels by different names, and refuse in different sentences and places.
enum class Words : uint8_t { Cpu, Cuda };

struct DeviceTraits {
  /// An accelerator: its memory is its own, work goes to streams and is done later, so that a fault is raised by the next synchronisation.
  bool has_streams = false;
  /// Its kernels draw random numbers, from generators of the device (generator.h); else the host draws.
  bool has_generators = false;
  /// linalg.lstsq solves problems of deficient rank there: the drivers gelsy, gelsd and gelss.
  bool solves_deficient = true;
  /// autocast goes by the lists of PyTorch's CUDA, not by those of its CPU.
  bool autocasts_as_cuda = false;
  Words words = Words::Cpu;
  DTypeSet products = kElementTypes;  // the dtypes of matrices that it multiplies
};

/// The host's, where the device type has no backend.
const DeviceTraits& traits_of(Device device);

inline bool has_streams(Device device) { return !device.is_cpu() && traits_of(device).has_streams; }
inline bool has_generators(Device device) { return !device.is_cpu() && traits_of(device).has_generators; }
inline bool autocasts_as_cuda(Device device) { return !device.is_cpu() && traits_of(device).autocasts_as_cuda; }
/// Whether refusals are those of PyTorch's CUDA.
inline bool words_are_cudas(Device device) { return !device.is_cpu() && traits_of(device).words == Words::Cuda; }

/// The one type of device that has streams, pinned copies and generators, as PyTorch's torch.accelerator has one: that of a backend
/// that is there, else the first that a plugin could bring. Opens no plugin.
DeviceType accelerator();

}  // namespace tessera::tensor

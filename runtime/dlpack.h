// DLPack: tensors handed between libraries without copies. The structs are those of version 1 of the format
// (https://dmlc.github.io/dlpack/latest/c_api.html), laid out as every library that speaks it lays them out; hosts know
// them from <dlpack/dlpack.h>.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/tensor.h"

struct DLDevice {
  int32_t device_type;  // 1: host, 2: CUDA
  int32_t device_id;
};

struct DLDataType {
  uint8_t code;  // 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool
  uint8_t bits;
  uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: row-major
  uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};

struct DLPackVersion {
  uint32_t major, minor;
};

struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  uint64_t flags;  // 1: must not be written, 2: is a copy
  DLTensor dl_tensor;
};

namespace tessera::tensor {

/// The number of a device type in DLPack; 0: it has none, and its tensors are not shared.
int32_t dlpack_type(DeviceType type);
/// The type of that number. Nothing where tensors on it cannot be taken.
std::optional<DeviceType> type_of_dlpack(int64_t number);

/// A share in t's memory. Whoever has it calls its deleter once, on any thread. BufferError's text as a RuntimeError for
/// tensors that require a gradient or stand for conjugates.
DLManagedTensor* to_dlpack(const Tensor& t);
DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& t);

/// A tensor on that memory, whose deleter is called when the last one on it is gone; on failure it stays the caller's.
/// RuntimeError for types and devices that there are not here, ValueError for negative strides.
Tensor from_dlpack(DLManagedTensor* managed);
Tensor from_dlpack(DLManagedTensorVersioned* managed);

}  // namespace tessera::tensor

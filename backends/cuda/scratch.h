// Memory that a call needs for its own kernels: taken from the stream's pool, given back to it when the call's host side
// returns. What is queued on the stream by then still has it: whoever gets the memory next runs behind that.
//
//     const Scratch partial(call.launch, blocks * sizeof(double));
//     launch<add_up<double>>(place, {blocks, kThreads}, ..., partial.as<double>());
#pragma once

#include "backends/cuda/cuda.h"

namespace tessera::tensor::cuda {

void* take_memory(Device device, StreamHandle stream, size_t& bytes);  // of at least one byte, 512-byte aligned
void give_memory(Device device, StreamHandle stream, void* block, size_t bytes) noexcept;

class Scratch {
 public:
  Scratch(const Launch& launch, size_t bytes) : Scratch(launch.device, launch.stream, bytes) {}
  Scratch(const Place& place, size_t bytes) : Scratch(place.device(), place.stream(), bytes) {}
  ~Scratch() {
    if (block_ != nullptr) give_memory(device_, stream_, block_, bytes_);
  }
  Scratch(const Scratch&) = delete;

  void* get() const { return block_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(block_);
  }

 private:
  Scratch(Device device, StreamHandle stream, size_t bytes)
      : device_(device),
        stream_(stream),
        bytes_(bytes),
        block_(bytes == 0 ? nullptr : take_memory(device, stream, bytes_)) {}  // of no bytes: null

  Device device_;
  StreamHandle stream_;
  size_t bytes_;
  void* block_;
};

}  // namespace tessera::tensor::cuda

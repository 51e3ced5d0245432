// What the driver of a device says went wrong: torch.AcceleratorError, a RuntimeError with the driver's number.
#pragma once

#include "runtime/error.h"

namespace tessera::tensor {

constexpr int kInvalidDevice = 101;  // cudaErrorInvalidDevice: there is no such, and those that there are are well

class AcceleratorError : public TensorError {
 public:
  AcceleratorError(int code, std::string message)
      : TensorError(TensorErrorKind::Runtime, std::move(message)), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

}  // namespace tessera::tensor

// The toolkit's libraries (cuBLAS, cuFFT, cuSOLVER): opened by the first call that needs one, never linked. Loading cuBLASLt
// takes 0.2 s and 200 MB, and most programs need no more than one of them.
//
//     struct Fft {
//       Library library{"cuFFT", "libcufft.so", CUFFT_VER_MAJOR};
//       TS_FUNCTION(cufftCreate)
//     };
//     const Fft& fft() { static const Fft functions; return functions; }   // throws again at each call while it is missing
//     fft().cufftCreate(&plan);
#pragma once

#include <string>

#include "backends/cuda/cuda.h"

namespace tessera::tensor::cuda {

class Library {
 public:
  /// RuntimeError that says which file is missing and where it was looked for.
  Library(const char* name, const char* file, int major);
  /// For a library that one can do without: what that error would say; empty where it is there.
  static std::string why_missing(const char* file, int major);
  /// RuntimeError when the library has no such function: it is older than the one whose header this was built with.
  void* find(const char* function) const;

 private:
  const char* name_;
  const char* file_;
  void* handle_ = nullptr;
};

/// A member with a function's own name and type, found in the member `library`.
#define TS_FUNCTION(NAME) decltype(&::NAME) NAME = reinterpret_cast<decltype(&::NAME)>(library.find(#NAME));

/// RuntimeError "CUDA error: TEXT when calling `FUNCTION`".
[[noreturn]] void fail_library(const char* text, const char* function);

}  // namespace tessera::tensor::cuda

// Types of the row kernels: the type that each dtype is computed in, the conversion of other elements, and the registration of kernel slots.
#pragma once

#include <algorithm>

#include "backends/cpu/convert.h"
#include "backends/cpu/scratch.h"
#include "runtime/dtype.h"

namespace tessera::tensor::cpu {

/// f(In(), T()): elements of type In, computed in T. The runtime has refused other dtypes.
template <class F>
void with_row_type(DType dtype, const F& f) {
  switch (dtype) {
    case kFloat32: return f(float(), float());
    case kFloat64: return f(double(), double());
    case kFloat16: return f(Half(), float());
    default: return f(BFloat16(), float());
  }
}
/// f(T()) alone, for kernels that see halves as Elements<float>.
template <class F>
void with_arithmetic_type(DType dtype, const F& f) {
  if (dtype == kFloat64) f(double());
  else f(float());
}

/// The elements of a tensor as a kernel for T reads and writes them: where they are, or, those of a half, in a buffer. So a kernel is
/// compiled for float and double alone.
template <class T>
class Elements {
 public:
  Elements(DType dtype, const void* tensor) : dtype_(dtype), tensor_(static_cast<char*>(const_cast<void*>(tensor))) {}
  DType dtype() const { return dtype_; }
  bool direct() const { return dtype_ == dtype_of<T>; }
  explicit operator bool() const { return tensor_; }
  char* at(int64_t offset) const { return tensor_ + offset * int64_t(item_size(dtype_)); }
  /// A buffer for n elements, if they are not direct.
  Scratch<T> buffer(int64_t n) const { return Scratch<T>(direct() ? 0 : n); }

  /// n elements from `offset` on.
  const T* read(int64_t offset, int64_t n, T* buffer) const {
    if (direct()) return reinterpret_cast<const T*>(at(offset));
    converter(dtype_of<T>, dtype_)(buffer, 1, at(offset), 1, n);
    return buffer;
  }
  /// Where n elements from `offset` on are to be written, before `written` is called. Null if there is no tensor.
  T* place(int64_t offset, T* buffer) const {
    return !tensor_ ? nullptr : direct() ? reinterpret_cast<T*>(at(offset)) : buffer;
  }
  void written(int64_t offset, int64_t n, const T* buffer) const {
    if (tensor_ && !direct()) converter(dtype_, dtype_of<T>)(at(offset), 1, buffer, 1, n);
  }

 private:
  DType dtype_;
  char* tensor_;
};

/// After the functions for every instruction set (HWY_ONCE): the slot calls the one for this processor.
#define TS_ROW_KERNEL(SLOT, CALL, FUNCTION)                                                         \
  HWY_EXPORT(FUNCTION);                                                                             \
  const KernelRegistration<CALL> FUNCTION##_registration{SLOT, DeviceType::Cpu, [](const CALL& c) { \
                                                           HWY_DYNAMIC_DISPATCH(FUNCTION)(c);       \
                                                         }};

}  // namespace tessera::tensor::cpu

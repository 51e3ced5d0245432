// The body of kernels that move elements without looking at them: one for each size.
#pragma once

#include "backends/cuda/elementwise.cuh"

namespace tessera::tensor::cuda {

template <class T>
struct RawBody {
  using Lane = T;
  using Result = T;
  struct Types {
    static constexpr TypeBits kLoads = 1u << int(is_complex_number<T> ? DType::Complex128 : dtype_of<T>);
    static constexpr TypeBits kStores = kLoads;
  };
  static constexpr int kInputs = 1, kOutputs = 1;
  static constexpr bool kShort = true;
  static constexpr DType kType = is_complex_number<T> ? DType::Complex128 : dtype_of<T>;

  __device__ void operator()(const T (&in)[1], T (&out)[1]) const { out[0] = in[0]; }
};

/// f(TypeTag<unsigned type of the size>) for an element's size; 16 bytes are two doubles.
template <class F>
void with_raw_type(DType type, const F& f) {
  switch (item_size(type)) {
    case 1: return f(TypeTag<uint8_t>{});
    case 2: return f(TypeTag<uint16_t>{});
    case 4: return f(TypeTag<uint32_t>{});
    case 16: return f(TypeTag<Cx<double>>{});
    default: return f(TypeTag<uint64_t>{});
  }
}

}  // namespace tessera::tensor::cuda

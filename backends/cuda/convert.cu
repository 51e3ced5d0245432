// Conversions between all dtypes. A kernel loads into the smallest of seven types that holds every value of the source and
// converts once from there: integers never pass through floating point.
#include "backends/cuda/convert.h"

#include "backends/cuda/elementwise.cuh"

namespace tessera::tensor::cuda {
namespace {

template <class T>
constexpr DTypeSet sources() {
  if constexpr (std::is_same_v<T, float>) return DTypeSet(DType::Float32) | kHalfTypes;
  else if constexpr (std::is_same_v<T, double>) return DType::Float64;
  else if constexpr (std::is_same_v<T, int32_t>)
    return DTypeSet(DType::Bool) | DType::UInt8 | DType::Int8 | DType::Int16 | DType::UInt16 | DType::Int32;
  else if constexpr (std::is_same_v<T, int64_t>) return DTypeSet(DType::Int64) | DType::UInt32;
  else if constexpr (std::is_same_v<T, uint64_t>) return DType::UInt64;
  else return sizeof(T) == 8 ? DType::Complex64 : DType::Complex128;
}

template <class T>
struct ConvertBody {
  using Lane = T;
  using Result = T;
  struct Types {
    static constexpr TypeBits kLoads = bits_of(sources<T>()), kStores = bits_of(kAllTypes);
  };
  static constexpr int kInputs = 1, kOutputs = 1;
  static constexpr bool kShort = true;

  __device__ void operator()(const T (&in)[1], T (&out)[1]) const { out[0] = in[0]; }
};

template <class T>
void run(const Loop& loop, const Place& place) {
  using Body = ConvertBody<T>;
  Operands<Body> operands{};
  operands.out[0] = loop.data[0];
  const Body body{};
  run_elementwise(place, loop, kKernels<Body>, &body, operands, {{1}});
}

}  // namespace

void convert_elements(const Loop& loop, const Place& place) {
  const DType from = loop.dtype[1];
  if (sources<float>().has(from) || is_float8(from)) return run<float>(loop, place);
  if (sources<int32_t>().has(from)) return run<int32_t>(loop, place);
  if (sources<int64_t>().has(from)) return run<int64_t>(loop, place);
  if (from == DType::Float64) return run<double>(loop, place);
  if (from == DType::UInt64) return run<uint64_t>(loop, place);
  if (from == DType::Complex64 || kSmallComplexTypes.has(from)) return run<Cx<float>>(loop, place);
  run<Cx<double>>(loop, place);
}

}  // namespace tessera::tensor::cuda

// Loads and stores of the elements that a thread handles at a time: some rounds of four. Where memory allows it a round is
// one access of up to 16 bytes (two for numbers of 8 bytes), else four accesses; in each, neighbouring threads read
// neighbouring elements. All loads come before the first conversion, so that all are on their way at once.
#pragma once

#include "backends/cuda/divide.cuh"
#include "backends/cuda/half.cuh"

namespace tessera::tensor::cuda {

inline constexpr int kMaxNestDims = 16;  // after neighbours are merged
inline constexpr int kPack = 4;
template <class T>
inline constexpr int kRounds = sizeof(T) == 8 ? 1 : 2;
/// Elements of all rounds.
template <class T>
inline constexpr int kThreadElements = kRounds<T>* kPack;

template <class T>
struct Values {
  T v[kRounds<T>][kPack];
};

/// Number i of a nest of loops, innermost first, as an offset.
class Nest {
 public:
  Nest(int dims, const int64_t* sizes, const int64_t* strides) : dims_(dims), is_small_(true) {
    if (dims > kMaxNestDims)
      fail_with(TensorErrorKind::Runtime,
                "tensors with more than 16 dimensions that do not merge are not supported on CUDA");
    if (dims == 0) dims_ = 1, strides_[0] = 0;
    int64_t numel = 1;
    for (int d = 0; d < dims; d++) {
      strides_[d] = strides[d];
      numel = sizes[d] > 0 && numel > (int64_t(1) << 62) / sizes[d] ? int64_t(1) << 62 : numel * sizes[d];
    }
    is_small_ = numel < int64_t(1) << 31;
    for (int d = 0; d + 1 < dims; d++) {
      const int64_t size = sizes[d] > 0 ? sizes[d] : 1;
      if (is_small_) small_[d] = FastDivide<uint32_t>(uint32_t(size));
      else large_[d] = FastDivide<uint64_t>(uint64_t(size));
    }
  }

  __device__ bool is_line() const { return dims_ == 1; }
  __device__ int64_t stride() const { return strides_[0]; }
  __device__ int64_t offset(int64_t i) const {
    int64_t at = 0;
    int d = 0;
    if (is_small_) {
      uint32_t rest = uint32_t(i);
      for (; d + 1 < dims_; d++) {
        const auto r = small_[d].divide(rest);
        at += r.rest * strides_[d];
        rest = r.quotient;
      }
      return at + rest * strides_[d];
    }
    uint64_t rest = uint64_t(i);
    for (; d + 1 < dims_; d++) {
      const auto r = large_[d].divide(rest);
      at += int64_t(r.rest) * strides_[d];
      rest = r.quotient;
    }
    return at + int64_t(rest) * strides_[d];
  }

 private:
  int dims_;
  bool is_small_;
  int64_t strides_[kMaxNestDims];
  FastDivide<uint32_t> small_[kMaxNestDims];
  FastDivide<uint64_t> large_[kMaxNestDims];
};

/// A thread's share of a line: in round r of some, elements base + r * round and on, as it stands among the others.
struct Share {
  int64_t base;   // of the line's elements, the first one of these rounds
  int left;       // elements from there on, at most kMany
  int first;      // the thread's first element of a round
  int one, two;   // element j of a pack stands (j & 1) * one + (j / 2) * two behind it
  int round;      // elements that the team handles in a round
  int vector;     // elements side by side in memory: 1, 2 or 4
  int64_t start;  // offset of the line in its tensor
  int64_t stride;
  const Nest* nest;  // null: elements are `stride` apart

  static constexpr int kMany = 1 << 30;

  /// Thread `rank` of `size` that share a line from `base` to `end`.
  __device__ Share(int rank, int size, int vector, int64_t start, int64_t stride, const Nest* nest = nullptr)
      : base(0),
        left(0),
        first(rank * vector),
        one(vector == 1 ? size : 1),
        two(vector == 4 ? 2 : 2 * size),
        round(size * kPack),
        vector(vector),
        start(start),
        stride(stride),
        nest(nest) {}
  __device__ void go_to(int64_t begin, int64_t end) {
    base = begin;
    const int64_t rest = end > begin ? end - begin : 0;
    left = rest < kMany ? int(rest) : kMany;
  }

  __device__ int number(int r, int j) const { return first + r * round + (j & 1) * one + (j >> 1) * two; }
  __device__ bool has(int r, int j) const { return number(r, j) < left; }
  /// Whether any thread of the team has an element in the round.
  __device__ bool any(int r) const { return r * round < left; }
  __device__ int64_t index(int r, int j) const { return base + number(r, j); }
  __device__ int64_t offset(int r, int j) const {
    return start + (nest ? nest->offset(index(r, j)) : index(r, j) * stride);
  }
  /// The same elements of a tensor that is one line without gaps.
  __device__ Share along() const {
    Share at = *this;
    at.start = 0, at.stride = 1, at.nest = nullptr;
    return at;
  }
};

/// S as one access of memory.
template <class S, int kCount>
struct alignas(sizeof(S) * kCount) Vector {
  S v[kCount];
};

template <class S, class T>
__device__ __forceinline__ T converted(S x) {
  if constexpr (std::is_same_v<S, Float16> || std::is_same_v<S, Brain16>) return T(float(x));
  else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, Brain16>) return T(float(x));
  else return T(x);
}

template <class S, class T>
__device__ void load_stored(Values<T>& to, const void* tensor, const Share& at, T missing) {
  const S* const x = static_cast<const S*>(tensor);
  constexpr int kVector = sizeof(S) == 8 ? 2 : 4;
  S raw[kRounds<T>][kPack] = {};
  if (at.vector == 1) {
#pragma unroll
    for (int r = 0; r < kRounds<T>; r++)
#pragma unroll
      for (int j = 0; j < kPack; j++)
        if (at.has(r, j)) raw[r][j] = x[at.offset(r, j)];
  } else {
#pragma unroll
    for (int r = 0; r < kRounds<T>; r++)
#pragma unroll
      for (int j = 0; j < kPack; j += kVector)
        if (at.has(r, j)) {
          const auto some = *reinterpret_cast<const Vector<S, kVector>*>(x + at.offset(r, j));
#pragma unroll
          for (int k = 0; k < kVector; k++) raw[r][j + k] = some.v[k];
        }
  }
#pragma unroll
  for (int r = 0; r < kRounds<T>; r++)
#pragma unroll
    for (int j = 0; j < kPack; j++) to.v[r][j] = at.has(r, j) ? converted<S, T>(raw[r][j]) : missing;
}

template <class S, class T>
__device__ void store_stored(const Values<T>& from, void* tensor, const Share& at) {
  S* const x = static_cast<S*>(tensor);
  constexpr int kVector = sizeof(S) == 8 ? 2 : 4;
  if (at.vector == 1) {
#pragma unroll
    for (int r = 0; r < kRounds<T>; r++)
#pragma unroll
      for (int j = 0; j < kPack; j++)
        if (at.has(r, j)) x[at.offset(r, j)] = converted<T, S>(from.v[r][j]);
    return;
  }
#pragma unroll
  for (int r = 0; r < kRounds<T>; r++)
#pragma unroll
    for (int j = 0; j < kPack; j += kVector)
      if (at.has(r, j)) {
        Vector<S, kVector> some;
#pragma unroll
        for (int k = 0; k < kVector; k++) some.v[k] = converted<T, S>(from.v[r][j + k]);
        *reinterpret_cast<Vector<S, kVector>*>(x + at.offset(r, j)) = some;
      }
}

template <class S>
struct StoredAs {
  using type = S;
};
/// f(StoredAs<S>()) for the dtypes whose arithmetic is done in T as a matter of course.
template <class T, class F>
__device__ void with_stored(DType dtype, const F& f) {
  if constexpr (std::is_same_v<T, double>) f(StoredAs<double>());
  else if constexpr (std::is_same_v<T, float>) {
    if (dtype == DType::Float16) f(StoredAs<Float16>());
    else if (dtype == DType::BFloat16) f(StoredAs<Brain16>());
    else f(StoredAs<float>());
  } else {
    switch (dtype) {
      case DType::Bool: return f(StoredAs<bool>());
      case DType::UInt8: return f(StoredAs<uint8_t>());
      case DType::Int8: return f(StoredAs<int8_t>());
      case DType::Int16: return f(StoredAs<int16_t>());
      case DType::Int32: return f(StoredAs<int32_t>());
      default: return f(StoredAs<int64_t>());
    }
  }
}
template <class T>
constexpr bool is_stored_for(DType dtype) {
  if (std::is_same_v<T, double>) return dtype == DType::Float64;
  if (std::is_same_v<T, float>) return dtype == DType::Float32 || is_half(dtype);
  return dtype == DType::Bool || (is_integral(dtype) && !is_wide_unsigned(dtype));
}

template <class T>
__device__ void load_values(Values<T>& to, const void* tensor, DType dtype, const Share& at, T missing) {
  with_stored<T>(dtype, [&](auto s) { load_stored<typename decltype(s)::type>(to, tensor, at, missing); });
}
template <class T>
__device__ void store_values(const Values<T>& from, void* tensor, DType dtype, const Share& at) {
  with_stored<T>(dtype, [&](auto s) { store_stored<typename decltype(s)::type>(from, tensor, at); });
}
template <class T>
__device__ T load_number(const void* tensor, DType dtype, int64_t at) {
  T x;
  with_stored<T>(dtype, [&](auto s) {
    using S = typename decltype(s)::type;
    x = converted<S, T>(static_cast<const S*>(tensor)[at]);
  });
  return x;
}
template <class T>
__device__ void store_number(T x, void* tensor, DType dtype, int64_t at) {
  with_stored<T>(dtype, [&](auto s) {
    using S = typename decltype(s)::type;
    static_cast<S*>(tensor)[at] = converted<T, S>(x);
  });
}

/// How many elements an access may have: of tensors of the dtype with runs of n elements that begin at `starts` and at
/// multiples of what all `steps` are multiples of.
class VectorRule {
 public:
  explicit VectorRule(DType dtype) : item_(item_size(dtype)), vector_(item_ == 8 ? 2 : 4) {}
  VectorRule& step(int64_t elements) {
    if (elements % vector_ != 0) vector_ = 1;
    return *this;
  }
  /// Null is not looked at.
  VectorRule& start(const void* tensor) { return start(tensor, item_); }
  VectorRule& start(const void* tensor, size_t item) {
    if (reinterpret_cast<uintptr_t>(tensor) % (item * size_t(vector_)) != 0) vector_ = 1;
    return *this;
  }
  int vector() const { return vector_; }

 private:
  size_t item_;
  int vector_;
};

}  // namespace tessera::tensor::cuda

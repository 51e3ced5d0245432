// Fourier transforms through cuFFT. Lines that one step leads from to the next are transformed where they are; others, and
// what the library would overwrite (the input of a transform to real numbers), go through a copy. The library does not
// scale, and of a real line gives the first half: both are made up for here.
#include <cufft.h>

#include <memory>

#include "backends/cuda/divide.cuh"
#include "backends/cuda/kept_by_shape.h"
#include "backends/cuda/library.h"
#include "backends/cuda/scratch.h"
#include "runtime/ops/fft.h"

namespace tessera::tensor::cuda {
namespace {

struct Fft {
  Library library{"cuFFT", "libcufft.so", CUFFT_VER_MAJOR};
  TS_FUNCTION(cufftCreate)
  TS_FUNCTION(cufftDestroy)
  TS_FUNCTION(cufftExecC2C)
  TS_FUNCTION(cufftExecC2R)
  TS_FUNCTION(cufftExecD2Z)
  TS_FUNCTION(cufftExecR2C)
  TS_FUNCTION(cufftExecZ2D)
  TS_FUNCTION(cufftExecZ2Z)
  TS_FUNCTION(cufftMakePlanMany64)
  TS_FUNCTION(cufftSetAutoAllocation)
  TS_FUNCTION(cufftSetStream)
  TS_FUNCTION(cufftSetWorkArea)
};
const Fft& fft_library() {
  static const Fft functions;
  return functions;
}

void check_result(cufftResult result, const char* function) {
  if (result == CUFFT_SUCCESS) return;
  const char* const names[] = {"CUFFT_SUCCESS",      "CUFFT_INVALID_PLAN",  "CUFFT_ALLOC_FAILED",
                               "CUFFT_INVALID_TYPE", "CUFFT_INVALID_VALUE", "CUFFT_INTERNAL_ERROR",
                               "CUFFT_EXEC_FAILED",  "CUFFT_SETUP_FAILED",  "CUFFT_INVALID_SIZE"};
  const bool known = int(result) >= 0 && size_t(result) < sizeof names / sizeof *names;
  fail_library(known ? names[int(result)] : "an error of cuFFT", function);
}

// ---- lines ----

constexpr int kMostDims = 16;

/// Where many lines begin, in two tensors, dimensions from the innermost that merge taken together.
struct Lines {
  int ndim = 0;
  int64_t count = 1;
  FastDivide<uint64_t> sizes[kMostDims];
  int64_t strides[2][kMostDims] = {};

  Lines(Ints lines, Ints in, Ints out) {
    int64_t before = 1;
    for (size_t d = lines.size(); d-- > 0;) {
      if (lines[d] == 1) continue;
      count *= lines[d];
      const int last = ndim - 1;
      if (ndim > 0 && in[d] == strides[0][last] * before && out[d] == strides[1][last] * before) {
        before *= lines[d];
        sizes[last] = FastDivide<uint64_t>(uint64_t(before));
        continue;
      }
      if (ndim == kMostDims)
        fail_with(TensorErrorKind::Runtime,
                  "tensors with more than 16 dimensions that do not merge are not supported on "
                  "CUDA");
      before = lines[d];
      sizes[ndim] = FastDivide<uint64_t>(uint64_t(before));
      strides[0][ndim] = in[d], strides[1][ndim] = out[d];
      ndim++;
    }
  }
  __device__ int64_t begin(int tensor, uint64_t line) const {
    int64_t at = 0;
    for (int d = 0; d < ndim; d++) {
      const auto [rest, here] = sizes[d].divide(line);
      at += int64_t(d + 1 < ndim ? here : line) * strides[tensor][d];
      line = rest;
    }
    return at;
  }
  /// From one line to the next, where there is such a step: all lines are then a batch of the library's.
  bool even() const { return ndim <= 1; }
  int64_t step(int tensor) const { return ndim == 0 ? 0 : strides[tensor][0]; }
};

/// A line's numbers in memory: those of tensor 0 or 1 of a Lines, or one line after the other without gaps.
struct Side {
  int tensor;  // -1: without gaps
  int64_t step, length;
  __device__ int64_t at(const Lines& lines, uint64_t line, int64_t k) const {
    return tensor < 0 ? int64_t(line) * length + k : lines.begin(tensor, line) + k * step;
  }
};

template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T re, im;
};
template <class T>
__device__ Pair<T> parts(T x) {
  return {x, T(0)};
}
template <class T>
__device__ Pair<T> parts(Pair<T> x) {
  return x;
}

// to[line][k] = scale * from[line][k] for the first `n` numbers of each line, as complex or real numbers.
template <class From, class To, class T>
__global__ void move_lines(const From* from, Side from_side, To* to, Side to_side, const __grid_constant__ Lines lines,
                           FastDivide<uint64_t> by_n, T scale, bool conjugate) {
  const int64_t n = int64_t(by_n.divisor()), total = lines.count * n;
  each_in_grid(total, [&](int64_t i) {
    const auto [line, k] = by_n.divide(uint64_t(i));
    const Pair<T> x = parts(from[from_side.at(lines, line, int64_t(k))]);
    To& target = to[to_side.at(lines, line, int64_t(k))];
    if constexpr (std::is_same_v<To, Pair<T>>) target = {x.re * scale, (conjugate ? -x.im : x.im) * scale};
    else target = x.re * scale;
  });
}

// The other half of a real line's transform.
template <class T>
__global__ void mirror(Pair<T>* out, Side side, int64_t n, const __grid_constant__ Lines lines,
                       FastDivide<uint64_t> by_missing) {
  const int64_t missing = int64_t(by_missing.divisor()), total = lines.count * missing;
  each_in_grid(total, [&](int64_t i) {
    const auto [line, k] = by_missing.divide(uint64_t(i));
    const Pair<T> x = out[side.at(lines, line, int64_t(k) + 1)];
    out[side.at(lines, line, n - 1 - int64_t(k))] = {x.re, -x.im};
  });
}

// ---- plans ----

struct Key {
  int64_t kind, device, n, batch, in_step, in_line, out_step, out_line;
};

/// A plan without memory of its own for the work: that comes from the call's stream.
class Plan {
 public:
  explicit Plan(const Key& k) {
    check_result(fft_library().cufftCreate(&plan_), "cufftCreate");
    check_result(fft_library().cufftSetAutoAllocation(plan_, 0), "cufftSetAutoAllocation");
    long long n = k.n, in_size = k.n, out_size = k.n;  // without sizes the library would not look at the steps
    check_result(fft_library().cufftMakePlanMany64(plan_, 1, &n, &in_size, k.in_step, k.in_line, &out_size, k.out_step,
                                                   k.out_line, cufftType(k.kind), k.batch, &work_),
                 "cufftMakePlanMany64");
  }
  ~Plan() { fft_library().cufftDestroy(plan_); }
  Plan(const Plan&) = delete;

  void run(const FftCall& c, const Place& place, cufftType kind, void* in, void* out) const {
    const Fft& f = fft_library();
    const Scratch work(c.launch, work_);
    check_result(f.cufftSetStream(plan_, place.stream()), "cufftSetStream");
    if (work_ != 0) check_result(f.cufftSetWorkArea(plan_, work.get()), "cufftSetWorkArea");
    const int direction = c.inverse ? CUFFT_INVERSE : CUFFT_FORWARD;
    switch (kind) {
      case CUFFT_C2C:
        return check_result(f.cufftExecC2C(plan_, as<cufftComplex>(in), as<cufftComplex>(out), direction),
                            "cufftExecC2C");
      case CUFFT_Z2Z:
        return check_result(f.cufftExecZ2Z(plan_, as<cufftDoubleComplex>(in), as<cufftDoubleComplex>(out), direction),
                            "cufftExecZ2Z");
      case CUFFT_R2C:
        return check_result(f.cufftExecR2C(plan_, as<cufftReal>(in), as<cufftComplex>(out)), "cufftExecR2C");
      case CUFFT_D2Z:
        return check_result(f.cufftExecD2Z(plan_, as<cufftDoubleReal>(in), as<cufftDoubleComplex>(out)),
                            "cufftExecD2Z");
      case CUFFT_C2R:
        return check_result(f.cufftExecC2R(plan_, as<cufftComplex>(in), as<cufftReal>(out)), "cufftExecC2R");
      case CUFFT_Z2D:
        return check_result(f.cufftExecZ2D(plan_, as<cufftDoubleComplex>(in), as<cufftDoubleReal>(out)),
                            "cufftExecZ2D");
    }
  }

 private:
  template <class T>
  static T* as(void* data) {
    return static_cast<T*>(data);
  }
  cufftHandle plan_{};
  size_t work_ = 0;
};

// Plans are kept for the shapes of a program, in each thread: one plan has one stream at a time.
const Plan& plan_for(const Key& key) {
  thread_local KeptByShape<Key, Plan> kept(256);
  const Plan* const known = kept.find(key);
  return known != nullptr ? *known : kept.keep(key, std::make_unique<Plan>(key));
}

// ---- a call ----

template <class T>
class Transform {
 public:
  explicit Transform(const FftCall& c)
      : c_(c),
        place_(c.launch),
        lines_(c.lines, c.in_strides, c.out_strides),
        in_length_(c.kind == FftCall::ToReal ? c.n / 2 + 1 : c.n),
        out_length_(c.kind == FftCall::FromReal ? c.n / 2 + 1 : c.n) {}

  void run() {
    switch (c_.kind) {
      case FftCall::Complex: return through<Pair<T>, Pair<T>>(sizeof(T) == 4 ? CUFFT_C2C : CUFFT_Z2Z);
      case FftCall::FromReal: return through<T, Pair<T>>(sizeof(T) == 4 ? CUFFT_R2C : CUFFT_D2Z);
      case FftCall::ToReal: return through<Pair<T>, T>(sizeof(T) == 4 ? CUFFT_C2R : CUFFT_Z2D);
    }
  }

 private:
  template <class From, class To>
  void through(cufftType kind) {
    const Side in{0, c_.in_step, in_length_}, out{1, c_.out_step, out_length_};
    // To real numbers the sign is the library's own, so the other one is asked for by conjugates; and from them.
    const bool turned = c_.kind == FftCall::FromReal ? c_.inverse : c_.kind == FftCall::ToReal ? !c_.inverse : false;
    if (c_.n == 1) {
      move<From, To>(c_.in, in, c_.out, out, 1, c_.scale, turned);
    } else {
      const bool repeats = c_.in_step < 1 || line_step(0) < 1;  // expanded: the library wants steps
      const bool copies_in = !lines_.even() || repeats || c_.kind == FftCall::ToReal ||
                             (c_.kind == FftCall::FromReal && (c_.in_step != 1 || !is_aligned(c_.in)));
      const bool copies_out =
          !lines_.even() || (c_.kind == FftCall::ToReal && (c_.out_step != 1 || !is_aligned(c_.out)));
      const Scratch in_memory(c_.launch, copies_in ? size_t(lines_.count * in_length_) * sizeof(From) : 0);
      const Scratch out_memory(c_.launch, copies_out ? size_t(lines_.count * out_length_) * sizeof(To) : 0);
      const Side in_dense{-1, 1, in_length_}, out_dense{-1, 1, out_length_};
      if (copies_in)
        move<From, From>(c_.in, in, in_memory.get(), in_dense, in_length_, 1, turned && c_.kind == FftCall::ToReal);
      void* const from = copies_in ? in_memory.get() : const_cast<void*>(c_.in);
      void* const to = copies_out ? out_memory.get() : c_.out;
      const Key key{kind,
                    index_of(c_.launch.device),
                    c_.n,
                    lines_.count,
                    copies_in ? 1 : c_.in_step,
                    copies_in ? in_length_ : line_step(0),
                    copies_out ? 1 : c_.out_step,
                    copies_out ? out_length_ : line_step(1)};
      plan_for(key).run(c_, place_, kind, from, to);
      const bool conjugates = turned && c_.kind == FftCall::FromReal;
      if (copies_out || c_.scale != 1 || conjugates)
        move<To, To>(to, copies_out ? out_dense : out, c_.out, out, out_length_, c_.scale, conjugates);
    }
    if (c_.kind == FftCall::FromReal && c_.whole) complete(out);
  }

  static bool is_aligned(const void* data) { return reinterpret_cast<uintptr_t>(data) % sizeof(Pair<T>) == 0; }
  // One line alone may say 0; the library wants a step.
  int64_t line_step(int tensor) const { return lines_.count == 1 ? c_.n : lines_.step(tensor); }

  template <class From, class To>
  void move(const void* from, Side from_side, void* to, Side to_side, int64_t n, double scale, bool conjugate) {
    launch<move_lines<From, To, T>>(place_, {blocks_for(lines_.count * n, 1), kThreads}, static_cast<const From*>(from),
                                    from_side, static_cast<To*>(to), to_side, lines_, FastDivide<uint64_t>(uint64_t(n)),
                                    T(scale), conjugate);
  }

  void complete(const Side& out) {
    const int64_t missing = c_.n - out_length_;
    if (missing <= 0) return;
    launch<mirror<T>>(place_, {blocks_for(lines_.count * missing, 1), kThreads}, static_cast<Pair<T>*>(c_.out), out,
                      c_.n, lines_, FastDivide<uint64_t>(uint64_t(missing)));
  }

  const FftCall& c_;
  const Place place_;
  const Lines lines_;
  const int64_t in_length_, out_length_;
};

void fft(const FftCall& c) {
  if (c.dtype == DType::Float64) Transform<double>(c).run();
  else Transform<float>(c).run();
}

const CudaKernel<FftCall> entry("fft", fft);

}  // namespace
}  // namespace tessera::tensor::cuda

// cuFFT's transforms (fourier.h), in float64. As the library does, a transform to
// real numbers overwrites what it read, and the work area is somebody's memory: both are filled with nonsense here.
#include "cufft.h"

#include <cstring>
#include <map>

#include "fourier.h"
#include "libraries.h"

using namespace tessera_executor;

namespace {

struct Plan {
  int device = 0;
  bool made = false, automatic = true;
  cufftType type{};
  long long n = 0, batch = 0, in_step = 0, in_line = 0, out_step = 0, out_line = 0;
  size_t work = 0;
  void* area = nullptr;
  cudaStream_t stream = nullptr;
};
std::map<cufftHandle, Plan>& plans() {
  static std::map<cufftHandle, Plan> all;
  return all;
}

bool is_single(cufftType type) { return type == CUFFT_C2C || type == CUFFT_R2C || type == CUFFT_C2R; }
bool from_real(cufftType type) { return type == CUFFT_R2C || type == CUFFT_D2Z; }
bool to_real(cufftType type) { return type == CUFFT_C2R || type == CUFFT_Z2D; }

struct Execution {
  Plan plan;
  void *in, *out;
  int sign;

  void run() const {
    if (is_single(plan.type)) work<float>();
    else work<double>();
  }

 private:
  size_t bytes(long long count, long long step, long long line, size_t element) const {
    return size_t((count - 1) * step + (plan.batch - 1) * line + 1) * element;
  }

  template <class T>
  void work() const {
    const long long half = plan.n / 2 + 1;
    const long long reads = to_real(plan.type) ? half : plan.n, writes = from_real(plan.type) ? half : plan.n;
    const size_t in_element = sizeof(T) * (from_real(plan.type) ? 1 : 2);
    const size_t out_element = sizeof(T) * (to_real(plan.type) ? 1 : 2);
    check_block("cuFFT", "the input", in, bytes(reads, plan.in_step, plan.in_line, in_element), plan.device);
    check_block("cuFFT", "the output", out, bytes(writes, plan.out_step, plan.out_line, out_element), plan.device);
    check_block("cuFFT", "the work area", plan.area, plan.work, plan.device);
    std::memset(plan.area, 0xee, plan.work);
    for (long long line = 0; line < plan.batch; line++) {
      const Line y = transformed(read<T>(line, half), sign);
      for (long long k = 0; k < writes; k++) {
        T* to = static_cast<T*>(out) + (line * plan.out_line + k * plan.out_step) * (to_real(plan.type) ? 1 : 2);
        to[0] = T(y[size_t(k)].real());
        if (!to_real(plan.type)) to[1] = T(y[size_t(k)].imag());
      }
    }
  }

  template <class T>
  Line read(long long line, long long half) const {
    Line x(size_t(plan.n));
    T* from = static_cast<T*>(in);
    for (long long k = 0; k < plan.n; k++) {
      const bool mirrored = to_real(plan.type) && k >= half;
      const long long place = line * plan.in_line + (mirrored ? plan.n - k : k) * plan.in_step;
      if (from_real(plan.type)) x[size_t(k)] = from[place];
      else x[size_t(k)] = Complex(from[2 * place], mirrored ? -from[2 * place + 1] : from[2 * place + 1]);
    }
    if (to_real(plan.type)) {
      x[0] = x[0].real();
      if (plan.n % 2 == 0) x[size_t(plan.n / 2)] = x[size_t(plan.n / 2)].real();
      for (long long k = 0; k < half; k++)
        std::memset(from + 2 * (line * plan.in_line + k * plan.in_step), 0xee, 2 * sizeof(T));
    }
    return x;
  }
};

cufftResult execute(cufftHandle handle, void* in, void* out, int sign, cufftType type) {
  const auto found = plans().find(handle);
  if (found == plans().end() || !found->second.made) return CUFFT_INVALID_PLAN;
  const Plan& plan = found->second;
  if (plan.type != type) return CUFFT_INVALID_TYPE;
  if (plan.device != current_device()) violation("cuFFT: the plan belongs to another device");
  if (plan.work != 0 && plan.area == nullptr) violation("cuFFT: the plan has no work area");
  const size_t aligned = is_single(type) ? 8 : 16;
  for (const void* side : {in, out})
    if (uintptr_t(side) % aligned != 0) violation("cuFFT: data is not aligned as complex numbers are");
  if (sign != CUFFT_FORWARD && sign != CUFFT_INVERSE) return CUFFT_INVALID_VALUE;
  queue_work("cufftExec", plan.stream, Execution{plan, in, out, sign});
  return CUFFT_SUCCESS;
}

}  // namespace

extern "C" {

cufftResult cufftCreate(cufftHandle* plan) {
  static int last = 0;
  *plan = ++last;
  plans()[*plan] = {};
  return CUFFT_SUCCESS;
}
cufftResult cufftDestroy(cufftHandle plan) { return plans().erase(plan) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN; }
cufftResult cufftSetAutoAllocation(cufftHandle plan, int automatic) {
  plans()[plan].automatic = automatic != 0;
  return CUFFT_SUCCESS;
}
cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
  plans()[plan].stream = stream;
  return CUFFT_SUCCESS;
}
cufftResult cufftSetWorkArea(cufftHandle plan, void* area) {
  plans()[plan].area = area;
  return CUFFT_SUCCESS;
}
cufftResult cufftMakePlanMany64(cufftHandle handle, int rank, long long* n, long long* in_sizes, long long in_step,
                                long long in_line, long long* out_sizes, long long out_step, long long out_line,
                                cufftType type, long long batch, size_t* work) {
  Plan& plan = plans()[handle];
  if (rank != 1 || in_sizes == nullptr || out_sizes == nullptr || plan.automatic) return CUFFT_INVALID_VALUE;
  if (*n < 1 || batch < 1) return CUFFT_INVALID_SIZE;
  if (in_step < 1 || out_step < 1 || in_line < 1 || out_line < 1) return CUFFT_INVALID_VALUE;
  plan.device = current_device();
  plan.made = true;
  plan.type = type;
  plan.n = *n, plan.batch = batch;
  plan.in_step = in_step, plan.in_line = in_line, plan.out_step = out_step, plan.out_line = out_line;
  plan.work = size_t(*n) >= 8 ? size_t(*n) * 16 : 0;
  *work = plan.work;
  return CUFFT_SUCCESS;
}

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int direction) {
  return execute(plan, in, out, direction, CUFFT_C2C);
}
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleComplex* out, int direction) {
  return execute(plan, in, out, direction, CUFFT_Z2Z);
}
cufftResult cufftExecR2C(cufftHandle plan, cufftReal* in, cufftComplex* out) {
  return execute(plan, in, out, CUFFT_FORWARD, CUFFT_R2C);
}
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* in, cufftDoubleComplex* out) {
  return execute(plan, in, out, CUFFT_FORWARD, CUFFT_D2Z);
}
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, cufftReal* out) {
  return execute(plan, in, out, CUFFT_INVERSE, CUFFT_C2R);
}
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleReal* out) {
  return execute(plan, in, out, CUFFT_INVERSE, CUFFT_Z2D);
}

}  // extern "C"

namespace {
const StandIn cufft("libcufft.so", {
                                       TS_STAND_IN(cufftCreate),
                                       TS_STAND_IN(cufftDestroy),
                                       TS_STAND_IN(cufftExecC2C),
                                       TS_STAND_IN(cufftExecC2R),
                                       TS_STAND_IN(cufftExecD2Z),
                                       TS_STAND_IN(cufftExecR2C),
                                       TS_STAND_IN(cufftExecZ2D),
                                       TS_STAND_IN(cufftExecZ2Z),
                                       TS_STAND_IN(cufftMakePlanMany64),
                                       TS_STAND_IN(cufftSetAutoAllocation),
                                       TS_STAND_IN(cufftSetStream),
                                       TS_STAND_IN(cufftSetWorkArea),
                                   });
}  // namespace

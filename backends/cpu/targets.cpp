// Which instruction sets this processor has, for Highway's dispatch.
//
// Highway's headers ask two functions of its library. The library itself is not linked: it calibrates a timer whenever it
// is loaded, which costs 4 ms, more than everything else that `tsr` does to start (docs/performance.md).
#include <hwy/targets.h>

namespace hwy {

int64_t SupportedTargets() {
  int64_t targets = HWY_ENABLED_BASELINE;
#if HWY_ARCH_X86
  // The compiler's check includes what the operating system saves of the registers.
  __builtin_cpu_init();
  const bool sse4 = __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2") &&
                    __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("aes");
  const bool avx2 = sse4 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool avx3 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd");
  if (__builtin_cpu_supports("ssse3")) targets |= HWY_SSSE3;
  if (sse4) targets |= HWY_SSE4;
  if (avx2) targets |= HWY_AVX2;
  if (avx3) targets |= HWY_AVX3;
#endif
  return targets;
}

ChosenTarget& GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

}  // namespace hwy

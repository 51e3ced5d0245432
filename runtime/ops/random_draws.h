// Draws that a device makes itself: the call of the slot "random", and where ops take their numbers from.
//
// A device's numbers are Philox 4x32-10 in the order of PyTorch's CUDA kernels: thread t of a grid owns subsequence t and
// draws four words at a time, for elements that lie a whole grid apart. So they depend on how many threads the device runs
// at once, which is asked of it once (draw_grid).
#pragma once

#include <optional>

#include "runtime/device/generator.h"
#include "runtime/device/kernel.h"
#include "runtime/plan.h"
#include "runtime/random.h"

namespace tessera::tensor {

enum class Distribution : uint8_t {
  Uniform,
  Normal,
  LogNormal,
  Bernoulli,
  Exponential,
  Cauchy,
  Geometric,
  Integers,
  Bits
};

/// What is drawn for each element. a and b are the distribution's parameters in the order of the op's arguments; Integers
/// are of [from, from + span), a span of 0 standing for 2^64; Bits are those that the dtype holds exactly.
struct Draw {
  Distribution of;
  double a = 0, b = 0;
  int64_t from = 0;
  uint64_t span = 0;
};

struct DrawGrid {
  unsigned blocks;  // of kDrawThreads
  RandomState state;
};
inline constexpr unsigned kDrawThreads = 256;

/// Fills operand 0 of the loop, element by element in the loop's order.
struct RandomCall {
  Draw draw;
  const Loop& loop;
  DrawGrid grid;
  Launch launch{};
};
extern Kernel<RandomCall> random_kernel;

/// out[i] = 1 with probability p[i]: contiguous, p in float64 where `dtype` is, else in float32. A p outside of [0, 1] is
/// reported.
struct CoinsCall {
  DType dtype;
  const void* p;
  void* out;
  int64_t n;
  RandomState state;
  Launch launch{};
};
extern Kernel<CoinsCall> coins_kernel;

/// Draws the mask, of n elements as they lie in memory, and writes out = x * mask / keep; `width` elements are next to each
/// other in a thread. With a width of 0 the mask is given. Of halves in float32, rounded once.
struct DropoutCall {
  DType dtype;
  int width;
  int64_t n;
  double keep;
  const void* x;
  void* out;
  bool* mask;
  DrawGrid grid;
  Launch launch{};
};
extern Kernel<DropoutCall> dropout_kernel;

/// Numbers for any device are drawn by the CPU's generator, so that a program prints the same on each of them: the
/// environment's TESSERA_CUDA_RANDOM=cpu.
bool draws_on_host();
/// Seeds the default generators of the CPU and of all devices.
void seed_everywhere(uint64_t seed);

/// The place in its sequence from which a tensor on `device` is drawn there; null where the host draws. Throws for a
/// generator of another kind of device.
DeviceGenerator* drawing_there(Device device, const Generator* given);
/// The grid for n > 0 elements, `at_once` for each draw of four words; takes its place in the sequence.
DrawGrid draw_grid(Device device, DeviceGenerator& place, int64_t n, int at_once);

/// The generator for numbers that the host draws for a tensor on `device`: the CPU's default one or the one that was given;
/// one that follows from the device's place, where a device has one but no kernel for the distribution.
class HostDraws {
 public:
  HostDraws(Generator* given, Device device);
  Generator& operator*() { return own_ ? *own_ : *shared_; }

 private:
  Generator* shared_ = nullptr;
  std::optional<Generator> own_;
};

}  // namespace tessera::tensor

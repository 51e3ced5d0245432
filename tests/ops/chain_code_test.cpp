// Generated loops against the kernels: every op whose body can be recorded, over numbers of all magnitudes, bit by bit.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/cpu/chain_code.h"
#include "backends/cpu/code_cache.h"
#include "backends/cpu/pointwise_table.h"
#include "runtime/ops/pointwise_ids.h"

using namespace tessera::tensor;
using namespace tessera::tensor::cpu;

namespace {

struct Row {
  const char* name;
  int operands;
};
#define UNARY(NAME, ...) {#NAME, 1},
#define UNARY1(NAME, ...) {#NAME, 1},
#define UNARY2(NAME, ...) {#NAME, 1},
#define BINARY(NAME, ...) {#NAME, 2},
#define TERNARY(NAME, ...) {#NAME, 3},
#define TERNARY1(NAME, ...) {#NAME, 3},
const Row kRows[] = {
#include "runtime/ops/pointwise.def"
};
#undef UNARY
#undef UNARY1
#undef UNARY2
#undef BINARY
#undef TERNARY
#undef TERNARY1

using Floats = std::vector<float>;

// Bit patterns at even distances, in an order that differs by operand, and small numbers.
Floats operand(int k, size_t n) {
  Floats x(n);
  const uint32_t turn[] = {1, 2654435761U, 40503U * 65537U}, step = uint32_t((uint64_t(1) << 32) / n);
  for (size_t i = 0; i < n; i++) {
    const uint32_t place = uint32_t(i) * turn[k] % uint32_t(n);
    x[i] = i % 4 == 3 ? float(int(place % 200000) - 100000) * 0.001F : std::bit_cast<float>(place * step + 77 * uint32_t(k));
  }
  return x;
}

// The generated loop of one step.
struct Generated {
  ChainRegion region;
  ChainFunction function = nullptr;
  size_t item = sizeof(float);  // bytes of a result

  Generated(CodeCache& cache, const ChainStep& step, InnerKernel kernel) {
    uint8_t values[3] = {};
    for (int k = 0; k < step.operands; k++) values[k] = region.add_input(ChainCode::Input::Memory);
    const uint8_t result = region.add_step(step, values, kernel, cache.bodies);
    if (result == ChainCode::kNone) return;
    if (region.code.is_mask(result)) item = 1;
    region.code.instruction[result - ChainCode::kFirstResult].stores = ChainCode::kInMemory;
    function = cache.try_out(region.code);
  }
};

// The first result that differs from the kernel's; n if none does.
size_t first_difference(const Generated& generated, const ChainStep& step, InnerKernel kernel, const std::vector<Floats>& in) {
  const size_t n = in[0].size(), item = generated.item;
  std::vector<char> want(n * item), got(n * item);
  Run run;
  run.params = step.params, run.out = want.data(), run.n = int64_t(n);
  for (int k = 0; k < step.operands; k++) run.in[k] = in[size_t(k)].data(), run.step[k] = 1;
  kernel(run);
  std::vector<const void*> pointers(run.in, run.in + step.operands);
  for (int k = step.operands; k < generated.region.code.inputs; k++) pointers.push_back(&generated.region.numbers[k]);
  pointers.push_back(got.data());
  generated.function(pointers.data(), int64_t(n) & -32, (1U << n % 32) - 1);
  for (size_t i = 0; i < n; i++)
    if (std::memcmp(&want[i * item], &got[i * item], item) != 0) return i;
  return n;
}

}  // namespace

TEST_CASE("chain code: loops from recorded bodies have the kernels' bits") {
  std::unique_ptr<ChainCache> memory;
  ChainCall call{.steps = {}, .numel = 0, .cache = &memory};
  CodeCache* const cache = CodeCache::of(call);
  if (!cache) return;  // no AVX-512
  const size_t n = (size_t(1) << 20) + 29;
  const std::vector<Floats> in = {operand(0, n), operand(1, n), operand(2, n)};
  std::vector<Floats> ordinary = in;  // positive, but for a few: loops go both ways (ChainCode::Do::Guard)
  for (Floats& numbers : ordinary)
    for (size_t i = 0; i < n; i++)
      if (i % 997 != 0) numbers[i] = std::isnormal(numbers[i]) ? std::abs(numbers[i]) : 0.25F;
  std::string recorded;
  for (int op = 0; op < pointwise::kPointwiseCount; op++) {
    const InnerKernel kernel = float_kernels()[op];
    if (!kernel || op == pointwise::k_where_) continue;  // whose condition is no float
    ChainStep step;
    step.op = op, step.operands = uint8_t(kRows[op].operands);
    step.params[0] = Scalar(0.75), step.params[1] = Scalar(1.5);
    const Generated generated(*cache, step, kernel);
    if (!generated.function) continue;
    recorded += std::string(recorded.empty() ? "" : " ") + kRows[op].name;
    for (const auto* numbers : {&std::as_const(in), &std::as_const(ordinary)}) {
      const size_t wrong = first_difference(generated, step, kernel, *numbers);
      INFO(kRows[op].name, " at ", wrong, " of ", (*numbers)[0][std::min(wrong, n - 1)]);
      CHECK(wrong == n);
    }
  }
  // Others look at single elements, or compute in doubles.
  CHECK(recorded ==
      "add sub add_scaled mul div trunc_divide neg abs sign square cube reciprocal sqrt rsqrt maximum minimum fmax fmin "
      "clamp_min clamp_max clamp_both addcmul addcdiv lerp copysign heaviside exp exp2 expm1 log log2 log1p "
      "logaddexp xlogy special_entr asin acos atan sinh cosh tanh deg2rad rad2deg erf erfinv floor ceil round trunc frac sigmoid relu relu6 leaky_relu elu celu selu silu mish "
      "gelu_erf gelu_tanh softplus softsign logsigmoid hardtanh hardsigmoid hardswish threshold softshrink hardshrink "
      "smooth_l1_of huber_of without_infinities eq ne lt le gt ge logical_and logical_or logical_xor logical_not isnan isinf "
      "isfinite isposinf isneginf signbit");
}

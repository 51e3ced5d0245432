// Fused derivatives on the host: rows of the loop in pieces, operands of another dtype through a buffer that stays in the
// first-level cache.
#include "runtime/ops/pointwise_grad.h"

#include "backends/cpu/convert.h"
#include "backends/cpu/pointwise_grad_table.h"
#include "backends/cpu/threads.h"
#include "backends/cpu/walk.h"

namespace tessera::tensor::cpu {
namespace {

constexpr int64_t kGrain = 32768;
constexpr int64_t kTile = 512;

// Where each operand of the loop goes in GradRun::in.
struct Places {
  int of[kMaxOperands] = {};
  explicit Places(unsigned reads) {
    int k = 2;
    for (int bit = 0; bit < 4; bit++)
      if (reads >> bit & 1) of[k++] = bit + 1;
  }
};

void run_rows(const PointwiseGradCall& call, GradKernel kernel, int64_t begin, int64_t end) {
  const Loop& loop = call.loop;
  const Places places(call.reads);
  alignas(64) char buffers[kMaxOperands][kTile * 8];
  ConvertRun load[kMaxOperands] = {};
  GradRun run{};
  run.params = call.params;
  bool buffered = false;
  for (int k = 1; k < loop.operands; k++) {
    const bool in_place = loop.dtype[k] == call.compute;
    run.step[places.of[k]] = in_place ? loop.strides[k][0] : 1;
    if (!in_place) load[k] = converter(call.compute, loop.dtype[k]), buffered = true;
  }
  Walker w(loop, begin);
  while (begin < end) {
    run.n = std::min(end - begin, w.row_left());
    if (buffered) run.n = std::min(run.n, kTile);
    for (int k = 0; k < 3; k++) run.out[k] = call.results[k] ? call.results[k] + (w.at(0) - loop.data[0]) : nullptr;
    for (int k = 1; k < loop.operands; k++) {
      if (load[k]) load[k](buffers[k], 1, w.at(k), loop.strides[k][0], run.n);
      run.in[places.of[k]] = load[k] ? buffers[k] : w.at(k);
    }
    kernel(run);
    w.advance(run.n);
    begin += run.n;
  }
}

// A short dense call, which is the cost of small models: no plan, no walk.
bool is_direct(const PointwiseGradCall& call) {
  const Loop& loop = call.loop;
  bool direct = loop.ndim == 1 && loop.numel <= kGrain;
  for (int k = 1; k < loop.operands; k++) direct = direct && loop.dtype[k] == call.compute;
  return direct;
}

void run_direct(const PointwiseGradCall& call, GradKernel kernel) {
  const Places places(call.reads);
  GradRun run{};
  run.params = call.params;
  run.n = call.loop.numel;
  for (int k = 0; k < 3; k++) run.out[k] = call.results[k];
  for (int k = 1; k < call.loop.operands; k++) {
    run.in[places.of[k]] = call.loop.data[k];
    run.step[places.of[k]] = call.loop.strides[k][0];
  }
  kernel(run);
}

void pointwise_grad(const PointwiseGradCall& call) {
  static const GradKernel* const tables[2] = {float_grad_kernels(), double_grad_kernels()};
  const GradKernel kernel = tables[call.compute == kFloat64][call.op];
  if (is_direct(call)) return run_direct(call, kernel);
  parallel_for(call.loop.numel, kGrain, [&](int64_t begin, int64_t end) { run_rows(call, kernel, begin, end); });
}

const KernelRegistration registration{pointwise_grad_kernel, DeviceType::Cpu, &pointwise_grad};

}  // namespace
}  // namespace tessera::tensor::cpu

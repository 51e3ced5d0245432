// Pointwise calls on the host. A dense call whose operands have the lane's type goes straight to the inner kernel;
// anything else (strides, halves, mixed dtypes) goes through tiles: operands are gathered and converted into buffers that
// stay in the first-level cache, the same kernel runs on them, and the result is converted back.
#include "runtime/device/backend.h"
#include "backends/cpu/convert.h"
#include "backends/cpu/pointwise_table.h"
#include "backends/cpu/threads.h"
#include "backends/cpu/walk.h"
#include "runtime/ops/pointwise_rows.h"

namespace tessera::tensor::cpu {
namespace {

constexpr int64_t kGrain = 16384;
constexpr int64_t kTile = 512;  // four float64 buffers of it are 16 KiB

InnerKernel inner_kernel(int op, DType lane) {
  static const InnerKernel* const tables[4] = {float_kernels(), double_kernels(), int32_kernels(), int64_kernels()};
  return tables[lane == kFloat32 ? 0 : lane == kFloat64 ? 1 : lane == kInt32 ? 2 : 3][op];
}

struct Job {
  InnerKernel kernel;
  const Loop& loop;
  const Scalar* params;
  DType lane;
  DType kernel_result;  // lane, or bool for predicates
};

// Long rows: operands of the lane's type with steps 0 or 1 are read where they are, others through a buffer.
void run_rows(const Job& job, int64_t begin, int64_t end) {
  const Loop& loop = job.loop;
  alignas(64) char buffers[kMaxOperands][kTile * 8];
  ConvertRun load[kMaxOperands] = {};
  Run run;
  run.params = job.params;
  bool buffered = false;
  for (int k = 1; k < loop.operands; k++) {
    const bool in_place = loop.dtype[k] == job.lane && uint64_t(loop.strides[k][0]) <= 1;
    run.step[k - 1] = in_place ? loop.strides[k][0] : 1;
    if (!in_place) load[k] = converter(job.lane, loop.dtype[k]), buffered = true;
  }
  const bool store_in_place = loop.dtype[0] == job.kernel_result && loop.strides[0][0] == 1;
  ConvertRun store = store_in_place ? nullptr : converter(loop.dtype[0], job.kernel_result);
  buffered |= !store_in_place;
  Walker w(loop, begin);
  while (begin < end) {
    run.n = std::min(end - begin, w.row_left());
    if (buffered) run.n = std::min(run.n, kTile);
    run.out = store ? buffers[0] : w.at(0);
    for (int k = 1; k < loop.operands; k++) {
      if (load[k]) load[k](buffers[k], 1, w.at(k), loop.strides[k][0], run.n);
      run.in[k - 1] = load[k] ? buffers[k] : w.at(k);
    }
    job.kernel(run);
    if (store) store(w.at(0), loop.strides[0][0], buffers[0], 1, run.n);
    w.advance(run.n);
    begin += run.n;
  }
}

// Short rows: a tile gathers several.
void run_tiled(const Job& job, int64_t begin, int64_t end) {
  const Loop& loop = job.loop;
  alignas(64) char buffers[kMaxOperands][kTile * 8];
  const size_t lane_size = item_size(job.lane);
  ConvertRun load[kMaxOperands];
  for (int k = 1; k < loop.operands; k++) load[k] = converter(job.lane, loop.dtype[k]);
  ConvertRun store = converter(loop.dtype[0], job.kernel_result);
  const size_t result_size = item_size(job.kernel_result);
  Walker w(loop, begin);
  while (begin < end) {
    const int64_t tile = std::min(end - begin, kTile);
    Walker reader = w;
    for (int64_t done = 0; done < tile;) {
      int64_t n = std::min(tile - done, reader.row_left());
      for (int k = 1; k < loop.operands; k++)
        load[k](buffers[k] + size_t(done) * lane_size, 1, reader.at(k), loop.strides[k][0], n);
      reader.advance(n);
      done += n;
    }
    Run run;
    run.params = job.params;
    run.n = tile;
    run.out = buffers[0];
    for (int k = 1; k < loop.operands; k++) run.in[k - 1] = buffers[k], run.step[k - 1] = 1;
    job.kernel(run);
    for (int64_t done = 0; done < tile;) {
      int64_t n = std::min(tile - done, w.row_left());
      store(w.at(0), loop.strides[0][0], buffers[0] + size_t(done) * result_size, 1, n);
      w.advance(n);
      done += n;
    }
    begin += tile;
  }
}

void pointwise(const PointwiseCall& call) {
  const Loop& loop = call.loop;
  const PointwiseRow& row = kPointwiseRows[call.op];
  InnerKernel kernel = inner_kernel(call.op, call.compute);
  if (!kernel) [[unlikely]]
    fail(TensorErrorKind::Runtime, '"', row.name, "_cpu\" not implemented for '", scalar_type_name(call.compute), "'");
  const bool predicate = row.row_class == PointwiseClass::Predicate || row.row_class == PointwiseClass::Compare;
  const DType kernel_result = predicate ? kBool : call.compute;
  bool direct = loop.dtype[0] == kernel_result && loop.strides[0][0] == 1;
  for (int k = 1; k < loop.operands; k++) direct &= loop.dtype[k] == call.compute && uint64_t(loop.strides[k][0]) <= 1;
  if (direct && loop.ndim == 1 && loop.numel <= kGrain) [[likely]] {
    Run run;
    run.params = call.params;
    run.n = loop.numel;
    run.out = loop.data[0];
    for (int k = 1; k < loop.operands; k++) run.in[k - 1] = loop.data[k], run.step[k - 1] = loop.strides[k][0];
    kernel(run);
    return;
  }
  const bool long_rows = loop.ndim == 1 || loop.sizes[0] >= 32;
  Job job{kernel, loop, call.params, call.compute, kernel_result};
  parallel_for(loop.numel, kGrain,
               [&](int64_t begin, int64_t end) { long_rows ? run_rows(job, begin, end) : run_tiled(job, begin, end); });
}

const KernelRegistration registration{pointwise_kernel, DeviceType::Cpu, &pointwise};

}  // namespace
}  // namespace tessera::tensor::cpu

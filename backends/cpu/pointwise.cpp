// Pointwise calls on the host. A dense call whose operands have the dtypes that the kernel reads goes straight to it;
// anything else (strides, mixed dtypes) goes through tiles: operands are gathered and converted into buffers that
// stay in the first-level cache, the same kernel runs on them, and the result is converted back. A transposed operand is
// turned strip by strip into such a buffer. A result too large for any cache goes past them.
#include "runtime/device/backend.h"
#include "backends/cpu/convert.h"
#include "backends/cpu/pointwise_job.h"
#include "backends/cpu/threads.h"
#include "backends/cpu/transpose.h"
#include "backends/cpu/walk.h"
#include "hwy/cache_control.h"
#include "runtime/ops/pointwise_rows.h"

#include <bit>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace tessera::tensor::cpu {
namespace {

constexpr int64_t kTile = 512;  // four float64 buffers of it are 16 KiB; complex128 takes twice that

InnerKernel inner_kernel(int op, DType lane) {
  switch (lane) {
    case DType::Float32: return float_kernels()[op];
    case DType::Float64: return double_kernels()[op];
    case DType::Int32: return int32_kernels()[op];
    case DType::Complex64: return complex64_kernels()[op];
    case DType::Complex128: return complex128_kernels()[op];
    default: return int64_kernels()[op];
  }
}

/// True if the operand is read, or the result written, where it is.
bool in_place(const Job& job, int k) {
  const int64_t step = job.loop.strides[k][0];
  return job.loop.dtype[k] == job.takes[k] && (k == 0 ? step == 1 : uint64_t(step) <= 1);
}

// A result that no cache holds costs two thirds of the traffic so.
void store_past_caches(void* to, int64_t, const void* from, int64_t bytes_each, int64_t n, ConvertRun::Pair) {
  copy_past_caches(to, from, n * bytes_each);
}

#ifdef __SSE2__
int64_t size_of_last_cache() {
  int64_t kib = 0;
  if (std::FILE* file = std::fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "re")) {
    if (std::fscanf(file, "%" SCNd64 "K", &kib) != 1) kib = 0;
    std::fclose(file);
  }
  return std::max<int64_t>(kib, 16384) * 1024;
}

// Bytes of an operand, an element that is read again and again counted once.
int64_t bytes_of(const Loop& loop, int k) {
  int64_t bytes = int64_t(item_size(loop.dtype[k]));
  for (int d = 0; d < loop.ndim; d++)
    if (loop.strides[k][d] != 0) bytes *= loop.sizes[d];
  return bytes;
}
#endif

// True for a result that no cache would hold to its end, beside what is read.
bool goes_past_caches(const Job& job) {
#ifdef __SSE2__
  const int64_t cache = last_cache_bytes();
  const Loop& loop = job.loop;
  int64_t bytes = bytes_of(loop, 0);
  if (bytes <= cache / 4 || !in_place(job, 0)) return false;
  for (int k = 1; k < loop.operands; k++) {
    if (loop.data[k] == loop.data[0]) return false;  // the line is read anyway
    bytes += bytes_of(loop, k);
  }
  return bytes > cache;
#else
  return false;
#endif
}

// Long rows: operands that the kernel can read where they are, are; others go through a buffer.
void run_rows(const Job& job, int64_t begin, int64_t end) {
  const Loop& loop = job.loop;
  alignas(64) char buffers[kMaxOperands][kTile * 16];
  ConvertRun load[kMaxOperands] = {};
  Run run;
  run.params = job.params;
  bool buffered = false;
  for (int k = 1; k < loop.operands; k++) {
    run.step[k - 1] = loop.strides[k][0] == 0 ? 0 : 1;
    if (in_place(job, k)) continue;
    load[k] = converter(job.takes[k], loop.dtype[k]);
    buffered |= run.step[k - 1] == 1;
  }
  ConvertRun store = in_place(job, 0) ? nullptr : converter(loop.dtype[0], job.takes[0]);
  int64_t store_from = 1;
  const bool past_caches = goes_past_caches(job);
  if (past_caches) store = {store_past_caches, {}}, store_from = int64_t(item_size(loop.dtype[0]));
  buffered |= bool(store);
  Walker w(loop, begin);
  while (begin < end) {
    run.n = std::min(end - begin, w.row_left());
    if (buffered) run.n = std::min(run.n, kTile);
    run.out = store ? buffers[0] : w.at(0);
    for (int k = 1; k < loop.operands; k++) {
      if (load[k]) load[k](buffers[k], 1, w.at(k), loop.strides[k][0], run.step[k - 1] ? run.n : 1);
      run.in[k - 1] = load[k] ? buffers[k] : w.at(k);
    }
    job.kernel(run);
    if (store) store(w.at(0), loop.strides[0][0], buffers[0], store_from, run.n);
    w.advance(run.n);
    begin += run.n;
  }
  if (past_caches) hwy::FlushStream();
}

// Operands whose neighbours lie along dimension 1, as a transposed matrix's do, are turned into buffers, a strip of rows at
// a time; all others are read where they are.
struct Strips {
  static constexpr int kMost = 2;
  static constexpr int64_t kColumns = 128, kBuffer = 16384;
  int turned[kMost], count = 0;
  int64_t rows, in_plane, all;

  /// Leaves count at 0 where operands lie otherwise.
  explicit Strips(const Job& job) {
    const Loop& loop = job.loop;
    if (loop.ndim < 2 || !in_place(job, 0)) return;
    int found = 0;
    int64_t size = 1;
    for (int k = 1; k < loop.operands; k++) {
      if (in_place(job, k)) continue;
      if (loop.strides[k][0] == 0 || loop.strides[k][1] != 1 || found == kMost) return;
      turned[found++] = k;
      size = std::max(size, int64_t(item_size(job.takes[k])));
    }
    count = found;
    rows = kBuffer / kColumns / size;
    in_plane = (loop.sizes[1] + rows - 1) / rows;
    all = loop.numel / (loop.sizes[0] * loop.sizes[1]) * in_plane;
  }
};

void run_strips(const Job& job, const Strips& strips, int64_t begin, int64_t end) {
  const Loop& loop = job.loop;
  alignas(64) char buffers[Strips::kMost][Strips::kBuffer];
  const auto transposer = [&](int t) { return Transposer(job.takes[strips.turned[t]], loop.dtype[strips.turned[t]]); };
  const Transposer turn[Strips::kMost] = {transposer(0), transposer(strips.count - 1)};
  Run run;
  run.params = job.params;
  for (int k = 1; k < loop.operands; k++) run.step[k - 1] = loop.strides[k][0] == 0 ? 0 : 1;
  for (; begin < end; begin++) {
    const int64_t row = begin % strips.in_plane * strips.rows, rows = std::min(strips.rows, loop.sizes[1] - row);
    const Walker w(loop, (begin / strips.in_plane * loop.sizes[1] + row) * loop.sizes[0]);
    for (int64_t c = 0; c < loop.sizes[0]; c += Strips::kColumns) {
      run.n = std::min(Strips::kColumns, loop.sizes[0] - c);
      char* at[kMaxOperands];
      int64_t next[kMaxOperands];
      for (int k = 0; k < loop.operands; k++) {
        const int64_t size = int64_t(item_size(loop.dtype[k]));
        at[k] = w.at(k) + c * loop.strides[k][0] * size, next[k] = loop.strides[k][1] * size;
      }
      for (int t = 0; t < strips.count; t++) {
        const int k = strips.turned[t];
        turn[t]({buffers[t], Strips::kColumns, at[k], loop.strides[k][0], run.n, rows});
        at[k] = buffers[t], next[k] = Strips::kColumns * int64_t(item_size(job.takes[k]));
      }
      for (int64_t r = 0; r < rows; r++) {
        run.out = at[0] + r * next[0];
        for (int k = 1; k < loop.operands; k++) run.in[k - 1] = at[k] + r * next[k];
        job.kernel(run);
      }
    }
  }
}

// Short rows: a tile gathers several.
void run_tiled(const Job& job, int64_t begin, int64_t end) {
  const Loop& loop = job.loop;
  alignas(64) char buffers[kMaxOperands][kTile * 16];
  ConvertRun load[kMaxOperands];
  for (int k = 1; k < loop.operands; k++) load[k] = converter(job.takes[k], loop.dtype[k]);
  ConvertRun store = converter(loop.dtype[0], job.takes[0]);
  const size_t result_size = item_size(job.takes[0]);
  Walker w(loop, begin);
  while (begin < end) {
    const int64_t tile = std::min(end - begin, kTile);
    Walker reader = w;
    for (int64_t done = 0; done < tile;) {
      int64_t n = std::min(tile - done, reader.row_left());
      for (int k = 1; k < loop.operands; k++)
        load[k](buffers[k] + size_t(done) * item_size(job.takes[k]), 1, reader.at(k), loop.strides[k][0], n);
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

// where on a mask moves elements of any dtype, if all have the same.
bool selects_bytes(const Loop& loop, const PointwiseRow& row) {
  return row.row_class == PointwiseClass::Select && is_bool(loop.dtype[1]) && loop.dtype[2] == loop.dtype[0] &&
         loop.dtype[3] == loop.dtype[0] && item_size(loop.dtype[0]) <= 8;
}

// The kernel that reads halves where they are, if all operands with steps are the same ones and so is the result.
bool use_halves(Job& job, const PointwiseCall& call, bool predicate) {
  const Loop& loop = call.loop;
  if (call.compute != kFloat32) return false;
  DType half = predicate ? loop.dtype[1] : loop.dtype[0];
  if (predicate && loop.operands > 2 && loop.strides[1][0] == 0) half = loop.dtype[2];
  const InnerKernel* kernels = half == kFloat16 ? float16_kernels() : half == kBFloat16 ? bfloat16_kernels() : nullptr;
  if (!kernels || !kernels[call.op]) return false;
  for (int k = 1; k < loop.operands; k++)
    if (loop.strides[k][0] != 0 && loop.dtype[k] != half) return false;
  job.kernel = kernels[call.op];
  job.takes[0] = predicate ? kBool : half;
  for (int k = 1; k < loop.operands; k++) job.takes[k] = loop.strides[k][0] == 0 ? kFloat32 : half;
  return true;
}

// True if every number among the operands and parameters of a call keeps its value in `type`.
bool numbers_fit(const PointwiseCall& call, DType type) {
  const Loop& loop = call.loop;
  for (int k = 1; k < loop.operands; k++) {
    if (loop.strides[k][0] != 0 || loop.dtype[k] == type) continue;
    if (!(loop.host_scalars >> k & 1) || !(is_integral(loop.dtype[k]) || is_bool(loop.dtype[k]))) return false;
    int64_t wide = 0, narrow = 0;
    char there[16];
    converter(kInt64, loop.dtype[k])(&wide, 1, loop.data[k], 1, 1);
    converter(type, loop.dtype[k])(there, 1, loop.data[k], 1, 1);
    converter(kInt64, type)(&narrow, 1, there, 1, 1);
    if (wide != narrow) return false;
  }
  for (int k = 0; k < kPointwiseRows[call.op].params; k++) {
    const int64_t number = call.params[k].to<int32_t>();
    if (number != (type == kInt16 ? int16_t(number) : type == kInt8 ? int8_t(number) : uint8_t(number))) return false;
  }
  return true;
}

// True if the kernel gives 0 or 1 for all operands of 0 and 1: a sum of bytes would give 2.
bool stays_bool(InnerKernel kernel) {
  const uint8_t x[] = {0, 0, 1, 1}, y[] = {0, 1, 0, 1};
  uint8_t out[4];
  kernel({out, {x, y, x}, {1, 1, 1}, 4, nullptr});
  return (out[0] | out[1] | out[2] | out[3]) <= 1;
}

// Sets the kernel that reads integers of one and two bytes without a conversion; false if the call needs one, as use_halves.
bool use_narrow(Job& job, const PointwiseCall& call, bool predicate) {
  const Loop& loop = call.loop;
  if (call.compute != kInt32) return false;
  DType type = predicate ? loop.dtype[1] : loop.dtype[0];
  if (predicate && loop.operands > 2 && loop.strides[1][0] == 0) type = loop.dtype[2];
  const InnerKernel* kernels = narrow_kernels(type);
  if (!kernels || !kernels[call.op]) return false;
  for (int k = 1; k < loop.operands; k++)
    if (loop.strides[k][0] != 0 && loop.dtype[k] != type) return false;
  if (!numbers_fit(call, type)) return false;
  if (is_bool(type) && (kPointwiseRows[call.op].params > 0 || (!predicate && !stays_bool(kernels[call.op])))) return false;
  job.kernel = kernels[call.op];
  for (int k = 0; k < loop.operands; k++) job.takes[k] = type;
  if (predicate) job.takes[0] = kBool;
  return true;
}

}  // namespace

int64_t last_cache_bytes() {
#ifdef __SSE2__
  static const int64_t bytes = size_of_last_cache();
  return bytes;
#else
  return INT64_MAX;
#endif
}

[[gnu::hot]] Job make_job(const PointwiseCall& call, bool by_rows) {
  const Loop& loop = call.loop;
  const PointwiseRow& row = kPointwiseRows[call.op];
  Job job{loop, nullptr, call.params, {}};
  if (selects_bytes(loop, row)) {
    job.kernel = select_kernels()[std::countr_zero(item_size(loop.dtype[0]))];
    for (int k = 0; k < loop.operands; k++) job.takes[k] = loop.dtype[k];
    return job;
  }
  const bool predicate = row.row_class == PointwiseClass::Predicate || row.row_class == PointwiseClass::Compare;
  if (by_rows && (use_halves(job, call, predicate) || use_narrow(job, call, predicate))) return job;
  job.kernel = inner_kernel(call.op, call.compute);
  if (!job.kernel) [[unlikely]]
    fail(TensorErrorKind::Runtime, '"', row.name, "_cpu\" not implemented for '", scalar_type_name(call.compute), "'");
  for (DType& type : job.takes) type = call.compute;
  if (predicate) job.takes[0] = kBool;
  return job;
}

namespace {

[[gnu::hot]] void pointwise(const PointwiseCall& call) {
  const Loop& loop = call.loop;
  const bool long_rows = loop.ndim == 1 || loop.sizes[0] >= 32;
  const Job job = make_job(call, long_rows);
  const int64_t few = kPointwiseRows[call.op].row_class == PointwiseClass::Float ? kFunctionGrain : kGrain;
  bool direct = loop.ndim == 1 && loop.numel <= few;
  for (int k = 0; k < loop.operands; k++) direct = direct && in_place(job, k);
  if (direct) [[likely]] {
    Run run;
    run.params = call.params;
    run.n = loop.numel;
    run.out = loop.data[0];
    for (int k = 1; k < loop.operands; k++) run.in[k - 1] = loop.data[k], run.step[k - 1] = loop.strides[k][0];
    job.kernel(run);
    return;
  }
  const Strips strips(job);
  if (long_rows && strips.count > 0) {
    const int64_t grain = std::max<int64_t>(1, few / (strips.rows * loop.sizes[0]));
    parallel_for(strips.all, grain, [&](int64_t begin, int64_t end) { run_strips(job, strips, begin, end); });
    return;
  }
  parallel_for(loop.numel, few,
               [&](int64_t begin, int64_t end) { long_rows ? run_rows(job, begin, end) : run_tiled(job, begin, end); });
}

const KernelRegistration registration{pointwise_kernel, DeviceType::Cpu, &pointwise};

}  // namespace
}  // namespace tessera::tensor::cpu

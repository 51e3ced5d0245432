// Attention tile by tile: a block has some queries and goes through the keys with them, so that no more of the scores exists at
// a time than a tile of them (Dao et al., 2022). The gradients compute the scores again: one kernel for those of the queries, and
// one in which a block has some keys and goes through the queries. Every sum has a fixed order, tile after tile.
//
// A block has 16 x 16 threads. Of a tile of scores each has some rows that follow each other and two columns 16 apart; the 16
// threads of a row lie side by side in a warp. Tiles lie in shared memory as float32; a row takes four numbers more than it
// has, so that eight threads that read 16 bytes of eight rows meet in no bank. Two blocks are to fit a multiprocessor, so loops over
// shared memory are not unrolled: with more of their loads on the way, registers would not do.
#include <cmath>

#include "backends/cuda/pack.cuh"
#include "backends/cuda/scratch.h"
#include "runtime/ops/attention.h"

namespace tessera::tensor::cuda {
namespace {

constexpr int kSide = 16;
constexpr int kStep = 32;           // rows of what a block goes through, at a time
constexpr int kScores = kStep + 4;  // from one row of scores to the next
using Four = Vector<float, 4>;

/// Which operands are loaded four elements at a time.
struct InFours {
  bool query, key, value, g;
};

/// Sizes of tiles with kRows rows a thread and at most kWidth columns.
template <int kRows, int kWidth>
struct Tiles {
  static constexpr int kTile = kSide * kRows, kPitch = kWidth + 4, kGroups = kWidth / 64;
  /// Bytes of shared memory for `own` tiles of the block's, one of those it goes through, and scores.
  static constexpr size_t bytes(int own) {
    return (size_t(own) * kTile * kPitch + kStep * kPitch + kTile * kScores) * sizeof(float);
  }
};

__device__ inline int lane_x() { return int(threadIdx.x) % kSide; }
__device__ inline int lane_y() { return int(threadIdx.x) / kSide; }

/// A head's part of an operand.
template <class T>
__device__ const T* head_of(const AttentionRows& rows, int64_t batch, int64_t head) {
  return static_cast<const T*>(rows.data) + batch * rows.steps[0] + head * rows.steps[1];
}

// Rows first ... of a head; zeros behind its end and behind a row's.
template <int kTileRows, int kWidth, class T>
__device__ void load_tile(float* tile, const T* rows, int64_t step, int64_t first, int64_t count, int width,
                          bool in_fours) {
  constexpr int kFours = kWidth / 4;
#pragma unroll 1
  for (int e = int(threadIdx.x); e < kTileRows * kFours; e += kSide * kSide) {
    const int row = e / kFours, column = e % kFours * 4;
    Four values = {};
    if (first + row < count) {
      const T* const from = rows + (first + row) * step + column;
      if (in_fours) {
        if (column < width) {
          const Vector<T, 4> raw = *reinterpret_cast<const Vector<T, 4>*>(from);
#pragma unroll
          for (int k = 0; k < 4; k++) values.v[k] = float(raw.v[k]);
        }
      } else {
#pragma unroll
        for (int k = 0; k < 4; k++)
          if (column + k < width) values.v[k] = float(from[k]);
      }
    }
    *reinterpret_cast<Four*>(tile + row * (kWidth + 4) + column) = values;
  }
}

__device__ inline Four four_at(const float* at) { return *reinterpret_cast<const Four*>(at); }

/// scores[i][j] = row lane_y * kRows + i of x times row lane_x + 16 j of y.
template <int kRows, int kWidth>
__device__ void match(const float* x, const float* y, float (&scores)[kRows][2]) {
  constexpr int kPitch = kWidth + 4;
#pragma unroll
  for (int i = 0; i < kRows; i++) scores[i][0] = scores[i][1] = 0;
#pragma unroll 1
  for (int d = 0; d < kWidth; d += 4) {
    Four b[2];
#pragma unroll
    for (int j = 0; j < 2; j++) b[j] = four_at(y + (lane_x() + kSide * j) * kPitch + d);
#pragma unroll
    for (int i = 0; i < kRows; i++) {
      const Four a = four_at(x + (lane_y() * kRows + i) * kPitch + d);
#pragma unroll
      for (int j = 0; j < 2; j++)
#pragma unroll
        for (int k = 0; k < 4; k++) scores[i][j] += a.v[k] * b[j].v[k];
    }
  }
}

template <int kRows>
__device__ void write_scores(float* to, const float (&scores)[kRows][2]) {
#pragma unroll
  for (int i = 0; i < kRows; i++)
#pragma unroll
    for (int j = 0; j < 2; j++) to[(lane_y() * kRows + i) * kScores + lane_x() + kSide * j] = scores[i][j];
}

/// total[i][g] += the row of weights times columns 64 g + 4 lane_x ... of y.
template <int kRows, int kWidth>
__device__ void mix(const float* weights, const float* y, float (&total)[kRows][kWidth / 64][4]) {
  constexpr int kPitch = kWidth + 4;
#pragma unroll 1
  for (int n = 0; n < kStep; n += 4) {
    Four w[kRows];
#pragma unroll
    for (int i = 0; i < kRows; i++) w[i] = four_at(weights + (lane_y() * kRows + i) * kScores + n);
#pragma unroll
    for (int k = 0; k < 4; k++)
#pragma unroll
      for (int g = 0; g < kWidth / 64; g++) {
        const Four b = four_at(y + (n + k) * kPitch + 64 * g + 4 * lane_x());
#pragma unroll
        for (int i = 0; i < kRows; i++)
#pragma unroll
          for (int e = 0; e < 4; e++) total[i][g][e] += w[i].v[k] * b.v[e];
      }
  }
}

// Rows first ... of a contiguous result.
template <int kRows, int kWidth, class T>
__device__ void write_rows(T* to, int64_t first, int64_t count, int width, const float (&total)[kRows][kWidth / 64][4],
                           const float (&factor)[kRows]) {
#pragma unroll
  for (int i = 0; i < kRows; i++) {
    const int64_t row = first + lane_y() * kRows + i;
    if (row >= count) continue;
#pragma unroll
    for (int g = 0; g < kWidth / 64; g++)
#pragma unroll
      for (int e = 0; e < 4; e++) {
        const int column = 64 * g + 4 * lane_x() + e;
        if (column < width) to[row * width + column] = T(total[i][g][e] * factor[i]);
      }
  }
}

/// A score as softmax takes it; minus infinity where the query does not see the key.
template <class T>
__device__ float seen(const AttentionCall& c, int64_t batch, int64_t head, int64_t query, int64_t key, float score) {
  if (query >= c.queries || key >= c.keys || (c.causal && key > query)) return -INFINITY;
  score *= c.scale;
  if (c.mask == nullptr) return score;
  const int64_t at = batch * c.mask_steps[0] + head * c.mask_steps[1] + query * c.mask_steps[2] + key * c.mask_steps[3];
  if (c.mask_dtype == DType::Bool) return static_cast<const bool*>(c.mask)[at] ? score : -INFINITY;
  if (c.mask_dtype == DType::Float32) return score + static_cast<const float*>(c.mask)[at];
  return score + float(static_cast<const T*>(c.mask)[at]);
}

// Over the threads of a row.
template <class F>
__device__ float across_row(float x, const F& combine) {
#pragma unroll
  for (int lanes = 1; lanes < kSide; lanes *= 2) x = combine(x, __shfl_xor_sync(0xffffffffu, x, lanes));
  return x;
}

template <class T, int kRows, int kWidth>
__global__ void __launch_bounds__(kSide* kSide, 2)
    attention_forward(const __grid_constant__ AttentionCall c, const InFours in_fours) {
  using S = Tiles<kRows, kWidth>;
  TS_SHARED_BYTES(float, memory);
  float *const own = memory, *const other = own + S::kTile * S::kPitch, *const weights = other + kStep * S::kPitch;
  const int64_t first = int64_t(blockIdx.x) * S::kTile;
  const int64_t end = c.causal && first + S::kTile < c.keys ? first + S::kTile : c.keys;
  for (int64_t number = blockIdx.y; number < c.batch * c.heads; number += gridDim.y) {
    const uint32_t batch = uint32_t(number) / uint32_t(c.heads), head = uint32_t(number) - batch * uint32_t(c.heads);
    const T *const keys = head_of<T>(c.key, batch, head), *const values = head_of<T>(c.value, batch, head);
    load_tile<S::kTile, kWidth>(own, head_of<T>(c.query, batch, head), c.query.steps[2], first, c.queries, int(c.width),
                                in_fours.query);
    float most[kRows], sum[kRows], total[kRows][S::kGroups][4] = {};
#pragma unroll
    for (int i = 0; i < kRows; i++) most[i] = -INFINITY, sum[i] = 0;
    for (int64_t start = 0; start < end; start += kStep) {
      load_tile<kStep, kWidth>(other, keys, c.key.steps[2], start, c.keys, int(c.width), in_fours.key);
      __syncthreads();
      float scores[kRows][2];
      match<kRows, kWidth>(own, other, scores);
#pragma unroll
      for (int i = 0; i < kRows; i++) {
        const int64_t query = first + lane_y() * kRows + i;
#pragma unroll
        for (int j = 0; j < 2; j++)
          scores[i][j] = seen<T>(c, batch, head, query, start + lane_x() + kSide * j, scores[i][j]);
        const float here = across_row(fmaxf(scores[i][0], scores[i][1]), [](float a, float b) { return fmaxf(a, b); });
        const float before = most[i];
        most[i] = fmaxf(before, here);
        const float shrink = before == most[i] ? 1.0f : __expf(before - most[i]);
#pragma unroll
        for (int j = 0; j < 2; j++) scores[i][j] = scores[i][j] == -INFINITY ? 0.0f : __expf(scores[i][j] - most[i]);
        sum[i] = sum[i] * shrink + across_row(scores[i][0] + scores[i][1], [](float a, float b) { return a + b; });
#pragma unroll
        for (int g = 0; g < S::kGroups; g++)
#pragma unroll
          for (int e = 0; e < 4; e++) total[i][g][e] *= shrink;
      }
      write_scores(weights, scores);
      __syncthreads();
      load_tile<kStep, kWidth>(other, values, c.value.steps[2], start, c.keys, int(c.value_width), in_fours.value);
      __syncthreads();
      mix<kRows, kWidth>(weights, other, total);
      __syncthreads();
    }
    float factor[kRows];
#pragma unroll
    for (int i = 0; i < kRows; i++) {
      const int64_t query = first + lane_y() * kRows + i;
      factor[i] = sum[i] == 0.0f ? 0.0f : 1.0f / sum[i];
      if (lane_x() == 0 && query < c.queries)
        c.totals[number * c.queries + query] = sum[i] == 0.0f ? -INFINITY : most[i] + std::log(sum[i]);
    }
    write_rows<kRows, kWidth>(static_cast<T*>(c.out) + number * c.queries * c.value_width, first, c.queries,
                              int(c.value_width), total, factor);
    __syncthreads();  // before the next head's queries
  }
}

// What a query's weights have in common in their gradient: the sum of g out. A warp has a query.
template <class T>
__global__ void __launch_bounds__(kThreads)
    attention_shares(const __grid_constant__ AttentionGradCall c, float* shares) {
  const AttentionCall& f = c.forward;
  const int64_t rows = f.batch * f.heads * f.queries, warps = int64_t(gridDim.x) * (kThreads / 32);
  for (int64_t row = int64_t(blockIdx.x) * (kThreads / 32) + threadIdx.x / 32; row < rows; row += warps) {
    const uint32_t number = uint32_t(row) / uint32_t(f.queries), query = uint32_t(row) - number * uint32_t(f.queries);
    const uint32_t batch = number / uint32_t(f.heads), head = number - batch * uint32_t(f.heads);
    const T* const g = head_of<T>(c.g, batch, head) + int64_t(query) * c.g.steps[2];
    const T* const out = static_cast<const T*>(f.out) + row * f.value_width;
    float sum = 0;
    for (int column = int(threadIdx.x) % 32; column < int(f.value_width); column += 32)
      sum += float(g[column]) * float(out[column]);
#pragma unroll
    for (int lanes = 1; lanes < 32; lanes *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
    if (threadIdx.x % 32 == 0) shares[row] = sum;
  }
}

// A weight from its score and the query's total.
__device__ inline float weight_of(float score, float total) {
  return score == -INFINITY || total == -INFINITY ? 0.0f : __expf(score - total);
}

template <class T, int kRows, int kWidth>
__global__ void __launch_bounds__(kSide* kSide, 2)
    attention_dquery(const __grid_constant__ AttentionGradCall call, const float* shares, const InFours in_fours) {
  using S = Tiles<kRows, kWidth>;
  const AttentionCall& c = call.forward;
  TS_SHARED_BYTES(float, memory);
  float *const own = memory, *const own_g = own + S::kTile * S::kPitch;
  float *const other = own_g + S::kTile * S::kPitch, *const weights = other + kStep * S::kPitch;
  const int64_t first = int64_t(blockIdx.x) * S::kTile;
  const int64_t end = c.causal && first + S::kTile < c.keys ? first + S::kTile : c.keys;
  for (int64_t number = blockIdx.y; number < c.batch * c.heads; number += gridDim.y) {
    const uint32_t batch = uint32_t(number) / uint32_t(c.heads), head = uint32_t(number) - batch * uint32_t(c.heads);
    const T *const keys = head_of<T>(c.key, batch, head), *const values = head_of<T>(c.value, batch, head);
    load_tile<S::kTile, kWidth>(own, head_of<T>(c.query, batch, head), c.query.steps[2], first, c.queries, int(c.width),
                                in_fours.query);
    load_tile<S::kTile, kWidth>(own_g, head_of<T>(call.g, batch, head), call.g.steps[2], first, c.queries,
                                int(c.value_width), in_fours.g);
    float all[kRows], share[kRows], factor[kRows], total[kRows][S::kGroups][4] = {};
#pragma unroll
    for (int i = 0; i < kRows; i++) {
      const int64_t query = first + lane_y() * kRows + i;
      all[i] = query < c.queries ? c.totals[number * c.queries + query] : -INFINITY;
      share[i] = query < c.queries ? shares[number * c.queries + query] : 0.0f;
      factor[i] = c.scale;
    }
    for (int64_t start = 0; start < end; start += kStep) {
      load_tile<kStep, kWidth>(other, keys, c.key.steps[2], start, c.keys, int(c.width), in_fours.key);
      __syncthreads();
      float scores[kRows][2], grads[kRows][2];
      match<kRows, kWidth>(own, other, scores);
      __syncthreads();
      load_tile<kStep, kWidth>(other, values, c.value.steps[2], start, c.keys, int(c.value_width), in_fours.value);
      __syncthreads();
      match<kRows, kWidth>(own_g, other, grads);
#pragma unroll
      for (int i = 0; i < kRows; i++)
#pragma unroll
        for (int j = 0; j < 2; j++) {
          const int64_t query = first + lane_y() * kRows + i, key = start + lane_x() + kSide * j;
          const float weight = weight_of(seen<T>(c, batch, head, query, key, scores[i][j]), all[i]);
          grads[i][j] = weight == 0.0f ? 0.0f : weight * (grads[i][j] - share[i]);
        }
      write_scores(weights, grads);
      __syncthreads();
      load_tile<kStep, kWidth>(other, keys, c.key.steps[2], start, c.keys, int(c.width), in_fours.key);
      __syncthreads();
      mix<kRows, kWidth>(weights, other, total);
      __syncthreads();
    }
    write_rows<kRows, kWidth>(static_cast<T*>(call.dquery) + number * c.queries * c.width, first, c.queries,
                              int(c.width), total, factor);
    __syncthreads();
  }
}

// Rows are keys here, columns queries.
template <class T, int kRows, int kWidth>
__global__ void __launch_bounds__(kSide* kSide, 2)
    attention_dkey(const __grid_constant__ AttentionGradCall call, const float* shares, const InFours in_fours) {
  using S = Tiles<kRows, kWidth>;
  const AttentionCall& c = call.forward;
  TS_SHARED_BYTES(float, memory);
  float *const own = memory, *const own_value = own + S::kTile * S::kPitch;
  float *const other = own_value + S::kTile * S::kPitch, *const weights = other + kStep * S::kPitch;
  const int64_t first = int64_t(blockIdx.x) * S::kTile;
  for (int64_t number = blockIdx.y; number < c.batch * c.heads; number += gridDim.y) {
    const uint32_t batch = uint32_t(number) / uint32_t(c.heads), head = uint32_t(number) - batch * uint32_t(c.heads);
    const T *const queries = head_of<T>(c.query, batch, head), *const g = head_of<T>(call.g, batch, head);
    load_tile<S::kTile, kWidth>(own, head_of<T>(c.key, batch, head), c.key.steps[2], first, c.keys, int(c.width),
                                in_fours.key);
    load_tile<S::kTile, kWidth>(own_value, head_of<T>(c.value, batch, head), c.value.steps[2], first, c.keys,
                                int(c.value_width), in_fours.value);
    float dkey[kRows][S::kGroups][4] = {}, dvalue[kRows][S::kGroups][4] = {}, factor[kRows], one[kRows];
#pragma unroll
    for (int i = 0; i < kRows; i++) factor[i] = c.scale, one[i] = 1.0f;
    for (int64_t start = c.causal ? first / kStep * kStep : 0; start < c.queries; start += kStep) {
      load_tile<kStep, kWidth>(other, queries, c.query.steps[2], start, c.queries, int(c.width), in_fours.query);
      __syncthreads();
      float scores[kRows][2], grads[kRows][2];
      match<kRows, kWidth>(own, other, scores);
      __syncthreads();
      load_tile<kStep, kWidth>(other, g, call.g.steps[2], start, c.queries, int(c.value_width), in_fours.g);
      __syncthreads();
      match<kRows, kWidth>(own_value, other, grads);
#pragma unroll
      for (int j = 0; j < 2; j++) {
        const int64_t query = start + lane_x() + kSide * j;
        const float all = query < c.queries ? c.totals[number * c.queries + query] : -INFINITY;
        const float share = query < c.queries ? shares[number * c.queries + query] : 0.0f;
#pragma unroll
        for (int i = 0; i < kRows; i++) {
          const int64_t key = first + lane_y() * kRows + i;
          scores[i][j] = weight_of(seen<T>(c, batch, head, query, key, scores[i][j]), all);
          grads[i][j] = scores[i][j] == 0.0f ? 0.0f : scores[i][j] * (grads[i][j] - share);
        }
      }
      write_scores(weights, scores);
      __syncthreads();
      mix<kRows, kWidth>(weights, other, dvalue);
      __syncthreads();
      write_scores(weights, grads);
      load_tile<kStep, kWidth>(other, queries, c.query.steps[2], start, c.queries, int(c.width), in_fours.query);
      __syncthreads();
      mix<kRows, kWidth>(weights, other, dkey);
      __syncthreads();
    }
    write_rows<kRows, kWidth>(static_cast<T*>(call.dkey) + number * c.keys * c.width, first, c.keys, int(c.width), dkey,
                              factor);
    write_rows<kRows, kWidth>(static_cast<T*>(call.dvalue) + number * c.keys * c.value_width, first, c.keys,
                              int(c.value_width), dvalue, one);
    __syncthreads();
  }
}

bool goes_in_fours(const AttentionRows& rows, DType dtype, int64_t width) {
  VectorRule rule(dtype);
  rule.start(rows.data).step(width);
  for (const int64_t step : rows.steps) rule.step(step);
  return rule.vector() == 4;
}
InFours in_fours_of(const AttentionCall& c, const AttentionRows& g) {
  return {goes_in_fours(c.query, c.dtype, c.width), goes_in_fours(c.key, c.dtype, c.width),
          goes_in_fours(c.value, c.dtype, c.value_width), goes_in_fours(g, c.dtype, c.value_width)};
}

template <class S>
Grid grid_of(const AttentionCall& c, int64_t rows, int own) {
  const int64_t heads = c.batch * c.heads;
  return {dim3(unsigned((rows + S::kTile - 1) / S::kTile), unsigned(heads < 65535 ? heads : 65535)), kSide * kSide,
          S::bytes(own)};
}

template <class T, int kRows, int kWidth>
void run_forward(const AttentionCall& c) {
  launch<attention_forward<T, kRows, kWidth>>(Place(c.launch), grid_of<Tiles<kRows, kWidth>>(c, c.queries, 1), c,
                                              in_fours_of(c, c.value));
}

template <class T, int kRows, int kWidth>
void run_backward(const AttentionGradCall& call) {
  const AttentionCall& c = call.forward;
  const Place place(call.launch);
  const InFours in_fours = in_fours_of(c, call.g);
  const int64_t queries = c.batch * c.heads * c.queries;
  const Scratch shares(place, size_t(queries) * sizeof(float));
  launch<attention_shares<T>>(place, {blocks_for(queries * 32, 1), kThreads}, call, shares.as<float>());
  launch<attention_dquery<T, kRows, kWidth>>(place, grid_of<Tiles<kRows, kWidth>>(c, c.queries, 2), call,
                                             shares.as<float>(), in_fours);
  launch<attention_dkey<T, kRows, kWidth>>(place, grid_of<Tiles<kRows, kWidth>>(c, c.keys, 2), call, shares.as<float>(),
                                           in_fours);
}

// Wider rows leave room for fewer of them.
template <class T>
void forward_of(const AttentionCall& c) {
  if (c.width <= 64 && c.value_width <= 64) run_forward<T, 4, 64>(c);
  else run_forward<T, 2, 128>(c);
}
template <class T>
void backward_of(const AttentionGradCall& c) {
  if (c.forward.width <= 64 && c.forward.value_width <= 64) run_backward<T, 2, 64>(c);
  else run_backward<T, 1, 128>(c);
}

void forward(const AttentionCall& c) {
  switch (c.dtype) {
    case DType::Float16: return forward_of<Float16>(c);
    case DType::BFloat16: return forward_of<Brain16>(c);
    default: return forward_of<float>(c);
  }
}
void backward(const AttentionGradCall& c) {
  switch (c.forward.dtype) {
    case DType::Float16: return backward_of<Float16>(c);
    case DType::BFloat16: return backward_of<Brain16>(c);
    default: return backward_of<float>(c);
  }
}

const CudaKernel<AttentionCall> entry("attention", forward);
const CudaKernel<AttentionGradCall> grad_entry("attention_backward", backward);

}  // namespace
}  // namespace tessera::tensor::cuda

// Kernels that put blocks of elements together in one pass over the result. Each is optional: on a device without it the op is
// a sentence of copies and look-ups.
#pragma once

#include "runtime/device/backend.h"

namespace tessera::tensor {

/// Rows of several matrices one behind the other: out [rows, sum of widths]. All row-major without gaps.
struct JoinCall {
  DType dtype;
  int64_t rows, count;
  const void* const* parts;
  const int64_t* widths;
  void* out;
  Launch launch{};
};
extern Kernel<JoinCall> join_kernel;

/// out[b, i, j] = in[b, places[0][i], places[1][j]], of `dims` dimensions besides b; the lists lie on the host.
struct EdgePadCall {
  DType dtype;
  int64_t batch;
  int dims;
  const int64_t* in_sizes;
  const int64_t* out_sizes;
  const int64_t* const* places;
  const void* in;
  void* out;
  Launch launch{};
};
extern Kernel<EdgePadCall> edge_pad_kernel;

/// The number of each of n runs, as often as the run is long: out[k] = i for ends[i - 1] <= k < ends[i].
struct RunNumbersCall {
  const int64_t* ends;
  int64_t n;
  int64_t* out;
  Launch launch{};
};
extern Kernel<RunNumbersCall> run_numbers_kernel;

}  // namespace tessera::tensor

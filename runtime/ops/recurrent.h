// A direction of a recurrent layer over all steps, and its gradient, as the backends' kernels see them.
#pragma once

#include "runtime/device/kernel.h"
#include "runtime/dtype.h"

namespace tessera::tensor {

/// An LSTM over `steps` steps of `batch` rows; everything is contiguous, weights as [4 * width, features or width], gates in
/// the order i, f, g, o. hidden and cells have the states before and after all steps, [steps + 1, batch, width], the first one
/// written already: it is number `steps` if the steps are taken backwards. seen is the tanh of the cells after each step; gates
/// and seen are null where no gradient will ask for them.
struct LstmCall {
  DType dtype;
  bool backwards;
  int64_t steps, batch, features, width;
  const void *input, *w_ih, *w_hh, *bias;  // bias: one for each gate's row, or null
  void *gates, *hidden, *cells, *seen;
  Launch launch{};
};
extern Kernel<LstmCall> lstm_kernel;

/// The gradients of what an LSTM was given. d_hidden and d_cell are those of the last state, and become those of the first;
/// d_bias is that of either bias; d_input is null where nobody asks for it.
struct LstmGradCall {
  DType dtype;
  bool backwards;
  int64_t steps, batch, features, width;
  const void *gates, *hidden, *cells, *seen, *d_output, *input, *w_ih, *w_hh;
  void *d_input, *d_w_ih, *d_w_hh, *d_bias, *d_hidden, *d_cell;
  Launch launch{};
};
extern Kernel<LstmGradCall> lstm_grad_kernel;

}  // namespace tessera::tensor

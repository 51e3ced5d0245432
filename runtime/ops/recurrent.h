// A direction of a recurrent layer over all steps, and its gradient, as the backends' kernels see them.
#pragma once

#include "runtime/device/kernel.h"
#include "runtime/dtype.h"

namespace tessera::tensor {

enum class RecurrentKind : uint8_t { Lstm, Gru, Tanh, Relu };

/// Rows of the weights for one of the hidden state: i, f, g, o of an LSTM; r, z, n of a GRU.
constexpr int64_t gates_of(RecurrentKind kind) {
  if (kind == RecurrentKind::Lstm) return 4;
  return kind == RecurrentKind::Gru ? 3 : 1;
}

/// A layer over `steps` steps of `batch` rows; everything is contiguous, weights as [gates * width, features or width]. hidden
/// has the states before and after all steps, [steps + 1, batch, width], the first one written already: it is number `steps` if
/// the steps are taken backwards. So have an LSTM's cells. gates are those of an LSTM or a GRU after their functions, seen the
/// tanh of an LSTM's cells after each step or the share of the hidden state in a GRU's n; both are null where no gradient will
/// ask for them.
struct RecurrentCall {
  DType dtype;
  RecurrentKind kind;
  bool backwards;
  int64_t steps, batch, features, width;
  const void *input, *w_ih, *w_hh, *b_ih, *b_hh;  // both biases or none; an LSTM's are one, b_ih
  void *gates, *hidden, *cells, *seen;
  bool tf32 = false;  // as in GemmCall
  Launch launch{};
};
extern Kernel<RecurrentCall> recurrent_kernel;

/// The gradients of what a layer was given. d_hidden and d_cell are those of the last state, and become those of the first;
/// d_input is null where nobody asks for it, and d_b_hh where it is d_b_ih: for all but a GRU.
struct RecurrentGradCall {
  DType dtype;
  RecurrentKind kind;
  bool backwards;
  int64_t steps, batch, features, width;
  const void *gates, *hidden, *cells, *seen, *d_output, *input, *w_ih, *w_hh;
  void *d_input, *d_w_ih, *d_w_hh, *d_b_ih, *d_b_hh, *d_hidden, *d_cell;
  bool tf32 = false;
  Launch launch{};
};
extern Kernel<RecurrentGradCall> recurrent_grad_kernel;

}  // namespace tessera::tensor

// What one step of a recurrent layer does to some rows of the batch beside its products.
#pragma once

#include "runtime/ops/recurrent.h"

namespace tessera::tensor::cpu {

/// Rows are contiguous. gates holds an LSTM's sums, or the input's share of the others'; they become the gates.
template <class T>
struct StepRows {
  RecurrentKind kind;
  int64_t width, count;
  T *gates, *shares;  // shares: of the hidden state, null for an LSTM
  const T *hidden, *cells;
  T *next_hidden, *next_cells, *seen;  // seen may be null
};
void finish_step(const StepRows<float>& rows);
void finish_step(const StepRows<double>& rows);

/// The way back: d_hidden, that of the state after the step, becomes what of it reaches the state before without the product; of
/// an LSTM or a plain layer nothing does, and d_hidden stays as it is.
template <class T>
struct StepGradRows {
  RecurrentKind kind;
  int64_t width, count;
  const T *gates, *hidden, *next_hidden, *cells, *seen, *d_output;
  T *d_hidden, *d_cells, *d_gates, *d_shares;  // d_shares: a GRU's
};
void back_through_step(const StepGradRows<float>& rows);
void back_through_step(const StepGradRows<double>& rows);

/// out += the sum of `count` rows of `width`, which are `row` apart.
void add_rows(const float* rows, int64_t row, int64_t count, int64_t width, float* out);
void add_rows(const double* rows, int64_t row, int64_t count, int64_t width, double* out);

}  // namespace tessera::tensor::cpu

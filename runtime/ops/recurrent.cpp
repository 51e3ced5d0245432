// The steps of recurrent layers as one op each; torch.nn's layers make a node of the graph of them (nn/rnn_steps.tsr).
#include "runtime/ops/recurrent.h"

#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

constinit Kernel<LstmCall> lstm_kernel("lstm");
constinit Kernel<LstmGradCall> lstm_grad_kernel("lstm_backward");

template <>
inline void return_value(OpCall& c, std::tuple<Tensor, Tensor, Tensor, Tensor> t) {
  Tensor list[] = {std::get<0>(t), std::get<1>(t), std::get<2>(t), std::get<3>(t)};
  return_tensors(c, list, 4);
}
template <>
inline void return_value(OpCall& c, std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> t) {
  Tensor list[] = {std::get<0>(t), std::get<1>(t), std::get<2>(t), std::get<3>(t), std::get<4>(t), std::get<5>(t)};
  return_tensors(c, list, 6);
}

namespace {

constexpr DTypeSet kTypes = DTypeSet(DType::Float32) | DType::Float64;

void* data_of(const Tensor& t) { return t.defined() ? t.data_ptr() : nullptr; }

void check_sizes(const Tensor& t, std::initializer_list<int64_t> sizes, const char* name) {
  check(t.sizes() == Ints(sizes), TensorErrorKind::Runtime, "Expected ", name, " of size ", Ints(sizes), ", got ",
        t.sizes());
}

/// Gates after their functions, the states before and after all steps, and the tanh of the cells; gates and tanh only if they
/// are to be kept for the gradients.
struct Lstm {
  static constexpr TypeRule types{kTypes, "lstm"};
  static std::array<Meta, 4> shape(const Tensor& input, const Tensor& hidden, const Tensor& cell, const Tensor& w_ih,
                                   const Tensor& w_hh, const OptionalTensor& b_ih, const OptionalTensor& b_hh, bool,
                                   bool keep) {
    check(input.dim() == 3 && w_hh.dim() == 2, TensorErrorKind::Runtime,
          "Expected an input of 3 dimensions and weights of 2, got ", input.dim(), " and ", w_hh.dim());
    const int64_t steps = input.size(0), batch = input.size(1), width = w_hh.size(1);
    check_sizes(w_hh, {4 * width, width}, "w_hh");
    check_sizes(w_ih, {4 * width, input.size(2)}, "w_ih");
    check_sizes(hidden, {batch, width}, "hidden");
    check_sizes(cell, {batch, width}, "cell");
    if (b_ih) check_sizes(*b_ih, {4 * width}, "b_ih");
    if (b_hh) check_sizes(*b_hh, {4 * width}, "b_hh");
    const Dims states{steps + 1, batch, width};
    const int64_t kept = keep ? steps : 0;
    return {Meta(Dims{kept, batch, 4 * width}, input), Meta(states, input), Meta(states, input),
            Meta(Dims{kept, batch, width}, input)};
  }
  static void run(const Tensor& gates, const Tensor& hiddens, const Tensor& cells, const Tensor& seen,
                  const Tensor& input, const Tensor& hidden, const Tensor& cell, const Tensor& w_ih, const Tensor& w_hh,
                  const OptionalTensor& b_ih, const OptionalTensor& b_hh, bool backwards, bool keep) {
    const int64_t steps = input.size(0), first = backwards ? steps : 0;
    copy_(select(hiddens, 0, first), hidden);
    copy_(select(cells, 0, first), cell);
    if (steps == 0 || hidden.numel() == 0) return;
    Tensor bias;
    if (b_ih && b_hh) bias = *b_ih + *b_hh;
    else if (b_ih || b_hh) bias = contiguous(b_ih ? *b_ih : *b_hh);
    const Tensor x = contiguous(input), u = contiguous(w_ih), w = contiguous(w_hh);
    lstm_kernel(input.device(), {input.dtype(), backwards, steps, input.size(1), input.size(2), w.size(1), x.data_ptr(),
                                 u.data_ptr(), w.data_ptr(), data_of(bias), keep ? gates.data_ptr() : nullptr,
                                 hiddens.data_ptr(), cells.data_ptr(), keep ? seen.data_ptr() : nullptr});
  }
};

/// The gradients of the input, both weights, a bias and the first state; that of the input only if it is wanted.
struct LstmBackward {
  static constexpr TypeRule types{kTypes, "lstm_backward"};
  static std::array<Meta, 6> shape(const Tensor& gates, const Tensor& hidden, const Tensor& cells, const Tensor& seen,
                                   const Tensor& d_output, const OptionalTensor& d_hidden, const OptionalTensor& d_cell,
                                   const Tensor& input, const Tensor& w_ih, const Tensor& w_hh, bool, bool wanted) {
    check(gates.dim() == 3 && w_hh.dim() == 2 && input.dim() == 3, TensorErrorKind::Runtime,
          "Expected gates and an input of 3 dimensions and weights of 2, got ", gates.dim(), ", ", input.dim(), " and ",
          w_hh.dim());
    const int64_t steps = gates.size(0), batch = gates.size(1), features = input.size(2), width = w_hh.size(1);
    check_sizes(w_hh, {4 * width, width}, "w_hh");
    check_sizes(w_ih, {4 * width, features}, "w_ih");
    check_sizes(input, {steps, batch, features}, "input");
    check_sizes(gates, {steps, batch, 4 * width}, "gates");
    check_sizes(hidden, {steps + 1, batch, width}, "hidden");
    check_sizes(cells, {steps + 1, batch, width}, "cells");
    check_sizes(seen, {steps, batch, width}, "seen");
    check_sizes(d_output, {steps, batch, width}, "d_output");
    if (d_hidden) check_sizes(*d_hidden, {batch, width}, "d_hidden");
    if (d_cell) check_sizes(*d_cell, {batch, width}, "d_cell");
    const Dims of_input{wanted ? steps : 0, batch, features}, state{batch, width};
    return {Meta(of_input, gates),        Meta(w_ih.sizes(), gates), Meta(w_hh.sizes(), gates),
            Meta(Dims{4 * width}, gates), Meta(state, gates),        Meta(state, gates)};
  }
  static void run(const Tensor& d_input, const Tensor& d_w_ih, const Tensor& d_w_hh, const Tensor& d_bias,
                  const Tensor& dh, const Tensor& dc, const Tensor& gates, const Tensor& hidden, const Tensor& cells,
                  const Tensor& seen, const Tensor& d_output, const OptionalTensor& d_hidden,
                  const OptionalTensor& d_cell, const Tensor& input, const Tensor& w_ih, const Tensor& w_hh,
                  bool backwards, bool wanted) {
    d_hidden ? copy_(dh, *d_hidden) : zero_(dh);
    d_cell ? copy_(dc, *d_cell) : zero_(dc);
    if (gates.numel() == 0) {
      for (const Tensor* t : {&d_input, &d_w_ih, &d_w_hh, &d_bias}) zero_(*t);
      return;
    }
    const Tensor g = contiguous(gates), h = contiguous(hidden), c = contiguous(cells), s = contiguous(seen),
                 d = contiguous(d_output), x = contiguous(input), u = contiguous(w_ih), w = contiguous(w_hh);
    lstm_grad_kernel(
        gates.device(),
        {gates.dtype(),     backwards,         gates.size(0),     gates.size(1), x.size(2),
         w.size(1),         g.data_ptr(),      h.data_ptr(),      c.data_ptr(),  s.data_ptr(),
         d.data_ptr(),      x.data_ptr(),      u.data_ptr(),      w.data_ptr(),  wanted ? d_input.data_ptr() : nullptr,
         d_w_ih.data_ptr(), d_w_hh.data_ptr(), d_bias.data_ptr(), dh.data_ptr(), dc.data_ptr()});
  }
};

TS_OP(
    _lstm_steps,
    "_lstm_steps(Tensor input, Tensor hidden, Tensor cell, Tensor w_ih, Tensor w_hh, Tensor? b_ih, Tensor? b_hh, bool "
    "backwards, bool keep) -> (Tensor, Tensor, Tensor, Tensor)",
    "One direction of an LSTM: its gates, its states, and the tanh of its cells.", kInternal | kNoGrad, Lstm,
    "f[3,2,5], f[2,4], f[2,4], f[16,5], f[16,4], f[16], f[16], False, True\n"
    "f[4,9,3], f[9,20], f[9,20], f[80,3], f[80,20], None, None, True, True\n"
    "f[1,1,1], f[1,1], f[1,1], f[4,1], f[4,1], f[4], None, False, False\n"
    "f[2,2,3], f[2,4], f[2,4], f[16,2], f[16,4], None, None, False, True -> RuntimeError: Expected w_ih of size [16, 3], "
    "got [16, 2]");
TS_OP(
    _lstm_steps_backward,
    "_lstm_steps_backward(Tensor gates, Tensor hidden, Tensor cells, Tensor seen, Tensor d_output, Tensor? d_hidden, "
    "Tensor? d_cell, Tensor input, Tensor w_ih, Tensor w_hh, bool backwards, bool of_input) -> (Tensor, Tensor, Tensor, "
    "Tensor, Tensor, Tensor)",
    "The gradients of _lstm_steps at its input, its weights, a bias and its first state.", kInternal | kNoGrad,
    LstmBackward,
    "p[3,2,16], f[4,2,4], f[4,2,4], p[3,2,4], f[3,2,4], f[2,4], f[2,4], f[3,2,5], f[16,5], f[16,4], False, True\n"
    "p[2,9,80], f[3,9,20], f[3,9,20], p[2,9,20], f[2,9,20], None, None, f[2,9,3], f[80,3], f[80,20], True, False\n"
    "p[2,1,4], f[3,1,1], f[2,1,1], p[2,1,1], f[2,1,1], None, None, f[2,1,1], f[4,1], f[4,1], True, True -> RuntimeError: "
    "Expected cells of size [3, 1, 1], got [2, 1, 1]");

}  // namespace
}  // namespace tessera::tensor

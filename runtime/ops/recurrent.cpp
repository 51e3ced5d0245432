// The steps of recurrent layers as one op; torch.nn's layers make a node of the graph of it (nn/rnn_steps.tsr).
// compile: small (the time is spent in the kernel of all steps)
#include "runtime/ops/recurrent.h"

#include "runtime/context.h"
#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

constinit Kernel<RecurrentCall> recurrent_kernel("recurrent");
constinit Kernel<RecurrentGradCall> recurrent_grad_kernel("recurrent_backward");

namespace {

using Kind = RecurrentKind;

Kind kind_of(const std::string& mode) {
  if (mode == "LSTM") return Kind::Lstm;
  if (mode == "GRU") return Kind::Gru;
  check(mode == "RNN_TANH" || mode == "RNN_RELU", TensorErrorKind::Value, "Unknown mode of a recurrent layer: ", mode);
  return mode == "RNN_TANH" ? Kind::Tanh : Kind::Relu;
}
bool has_gates(Kind kind) { return kind == Kind::Lstm || kind == Kind::Gru; }
size_t states_of(Kind kind) { return kind == Kind::Lstm ? 2 : 1; }

void* data_of(const Tensor& t) { return t.defined() ? t.data_ptr() : nullptr; }

/// What a layer is given has one type and fits together.
struct Sizes {
  Kind kind;
  const Tensor& input;
  int64_t steps, batch, features, width, sums;

  Sizes(Kind k, const Tensor& x, const Tensor& w_ih, const Tensor& w_hh) : kind(k), input(x) {
    check(x.dim() == 3 && w_hh.dim() == 2, TensorErrorKind::Runtime,
          "Expected an input of 3 dimensions and weights of 2, got ", x.dim(), " and ", w_hh.dim());
    check(x.dtype() == kFloat32 || x.dtype() == kFloat64, TensorErrorKind::NotImplemented,
          "recurrent layers as one op: not for ", scalar_type_name(x.dtype()));
    steps = x.size(0), batch = x.size(1), features = x.size(2), width = w_hh.size(1), sums = gates_of(k) * width;
    expect(w_hh, {sums, width}, "w_hh");
    expect(w_ih, {sums, features}, "w_ih");
  }
  void expect(const Tensor& t, std::initializer_list<int64_t> sizes, const char* name) const {
    check(t.sizes() == Ints(sizes), TensorErrorKind::Runtime, "Expected ", name, " of size ", Ints(sizes), ", got ",
          t.sizes());
    check(t.dtype() == input.dtype(), TensorErrorKind::Runtime, "mat1 and mat2 must have the same dtype, but got ",
          scalar_type_name(t.dtype()), " and ", scalar_type_name(input.dtype()));
  }
  void expect_count(size_t found, size_t wanted, const char* name) const {
    check(found == wanted, TensorErrorKind::Runtime, "Expected ", wanted, " ", name, ", got ", found);
  }
  Tensor make(std::initializer_list<int64_t> sizes) const { return empty(sizes, input.dtype(), input.device()); }
  bool nothing() const { return steps * batch * width == 0; }
};

/// The states before and after all steps: hidden, and an LSTM's cells; the gates and what else the gradients read, if they are
/// to be kept. What a layer does not have is empty.
TensorList recurrent_steps(const std::string& mode, const Tensor& input, const TensorList& state, const Tensor& w_ih,
                           const Tensor& w_hh, const OptionalTensor& b_ih, const OptionalTensor& b_hh, bool backwards,
                           bool keep) {
  const GradMode off(false);
  const Kind kind = kind_of(mode);
  const Sizes s(kind, input, w_ih, w_hh);
  s.expect_count(state.size(), states_of(kind), "states");
  for (const Tensor& t : state) s.expect(t, {s.batch, s.width}, "hidden");
  check(b_ih.has_value() == b_hh.has_value(), TensorErrorKind::Runtime, "Expected both biases or none");
  if (b_ih) s.expect(*b_ih, {s.sums}, "b_ih"), s.expect(*b_hh, {s.sums}, "b_hh");
  const bool cells = kind == Kind::Lstm, kept = keep && has_gates(kind);
  TensorList out{s.make({s.steps + 1, s.batch, s.width}), s.make({cells ? s.steps + 1 : 0, s.batch, s.width}),
                 s.make({kept ? s.steps : 0, s.batch, s.sums}), s.make({kept ? s.steps : 0, s.batch, s.width})};
  for (size_t i = 0; i < state.size(); i++) copy_(select(out[i], 0, backwards ? s.steps : 0), state[i]);
  if (s.nothing()) return out;
  Tensor bias, second;
  if (b_ih && cells) bias = *b_ih + *b_hh;
  else if (b_ih) bias = contiguous(*b_ih), second = contiguous(*b_hh);
  const Tensor x = contiguous(input), u = contiguous(w_ih), w = contiguous(w_hh);
  recurrent_kernel(input.device(), {.dtype = input.dtype(),
                                    .kind = kind,
                                    .backwards = backwards,
                                    .steps = s.steps,
                                    .batch = s.batch,
                                    .features = s.features,
                                    .width = s.width,
                                    .input = x.data_ptr(),
                                    .w_ih = u.data_ptr(),
                                    .w_hh = w.data_ptr(),
                                    .b_ih = data_of(bias),
                                    .b_hh = data_of(second),
                                    .gates = kept ? out[2].data_ptr() : nullptr,
                                    .hidden = out[0].data_ptr(),
                                    .cells = cells ? out[1].data_ptr() : nullptr,
                                    .seen = kept ? out[3].data_ptr() : nullptr,
                                    .tf32 = Context::current().tf32});
  return out;
}

/// From what recurrent_steps answered (`kept`), the gradients of the input (only if it is wanted), of both weights, of b_ih and
/// b_hh, and of the first states. That of b_hh is empty where it is b_ih's: for all but a GRU.
TensorList recurrent_steps_backward(const std::string& mode, const TensorList& kept, const Tensor& d_output,
                                    const std::vector<OptionalTensor>& d_last, const Tensor& input, const Tensor& w_ih,
                                    const Tensor& w_hh, bool backwards, bool of_input) {
  const GradMode off(false);
  const Kind kind = kind_of(mode);
  const Sizes s(kind, input, w_ih, w_hh);
  const bool cells = kind == Kind::Lstm, gates = has_gates(kind);
  s.expect_count(kept.size(), 4, "kept tensors");
  s.expect_count(d_last.size(), states_of(kind), "gradients of states");
  s.expect(kept[0], {s.steps + 1, s.batch, s.width}, "hidden");
  s.expect(kept[1], {cells ? s.steps + 1 : 0, s.batch, s.width}, "cells");
  s.expect(kept[2], {gates ? s.steps : 0, s.batch, s.sums}, "gates");
  s.expect(kept[3], {gates ? s.steps : 0, s.batch, s.width}, "seen");
  s.expect(d_output, {s.steps, s.batch, s.width}, "d_output");
  const int64_t second = kind == Kind::Gru ? s.sums : 0;
  TensorList out{s.make({of_input ? s.steps : 0, s.batch, s.features}), s.make({s.sums, s.features}),
                 s.make({s.sums, s.width}), s.make({s.sums}), s.make({second})};
  for (const OptionalTensor& d : d_last) {
    out.push_back(s.make({s.batch, s.width}));
    if (d) s.expect(*d, {s.batch, s.width}, "d_last");
    d ? copy_(out.back(), *d) : zero_(out.back());
  }
  if (s.nothing()) {
    for (size_t i = 0; i < 5; i++) zero_(out[i]);
    return out;
  }
  TensorList dense;
  for (const Tensor& t : kept) dense.push_back(contiguous(t));
  const Tensor d = contiguous(d_output), x = contiguous(input), u = contiguous(w_ih), w = contiguous(w_hh);
  recurrent_grad_kernel(input.device(), {.dtype = input.dtype(),
                                         .kind = kind,
                                         .backwards = backwards,
                                         .steps = s.steps,
                                         .batch = s.batch,
                                         .features = s.features,
                                         .width = s.width,
                                         .gates = gates ? dense[2].data_ptr() : nullptr,
                                         .hidden = dense[0].data_ptr(),
                                         .cells = cells ? dense[1].data_ptr() : nullptr,
                                         .seen = gates ? dense[3].data_ptr() : nullptr,
                                         .d_output = d.data_ptr(),
                                         .input = x.data_ptr(),
                                         .w_ih = u.data_ptr(),
                                         .w_hh = w.data_ptr(),
                                         .d_input = of_input ? out[0].data_ptr() : nullptr,
                                         .d_w_ih = out[1].data_ptr(),
                                         .d_w_hh = out[2].data_ptr(),
                                         .d_b_ih = out[3].data_ptr(),
                                         .d_b_hh = second ? out[4].data_ptr() : nullptr,
                                         .d_hidden = out[5].data_ptr(),
                                         .d_cell = cells ? out[6].data_ptr() : nullptr,
                                         .tf32 = Context::current().tf32});
  return out;
}

TS_OP(_recurrent_steps,
      "_recurrent_steps(str mode, Tensor input, Tensor[] state, Tensor w_ih, Tensor w_hh, Tensor? b_ih, Tensor? b_hh, "
      "bool backwards, bool keep) -> Tensor[]",
      "One direction of a recurrent layer: its states, its gates, and what else their gradients read.",
      kInternal | kNoGrad, &recurrent_steps,
      "'LSTM', f[3,2,5], (f[2,4], f[2,4]), f[16,5], f[16,4], f[16], f[16], False, True\n"
      "'LSTM', f[4,9,3], (f[9,20], f[9,20]), f[80,3], f[80,20], None, None, True, True\n"
      "'LSTM', f[1,1,1], (f[1,1], f[1,1]), f[4,1], f[4,1], f[4], f[4], False, False\n"
      "'GRU', f[3,2,5], (f[2,4]), f[12,5], f[12,4], f[12], f[12], False, True\n"
      "'GRU', f[4,9,3], (f[9,20]), f[60,3], f[60,20], None, None, True, False\n"
      "'RNN_TANH', f[3,2,5], (f[2,4]), f[4,5], f[4,4], f[4], f[4], False, True\n"
      "'RNN_RELU', f[4,9,3], (f[9,20]), f[20,3], f[20,20], None, None, True, False\n"
      "'LSTM', f[2,2,3], (f[2,4], f[2,4]), f[16,2], f[16,4], None, None, False, True -> RuntimeError: Expected w_ih of "
      "size [16, 3], got [16, 2]\n"
      "'GRU', f[2,2,3], (f[2,4]), f[12,3], f[12,4], f[12], None, False, True -> RuntimeError: Expected both biases or "
      "none\n"
      "'CNN', f[2,2,3], (f[2,4]), f[4,3], f[4,4], None, None, False, True -> ValueError: Unknown mode");
TS_OP(
    _recurrent_steps_backward,
    "_recurrent_steps_backward(str mode, Tensor[] kept, Tensor d_output, Tensor?[] d_last, Tensor input, Tensor w_ih, "
    "Tensor w_hh, bool backwards, bool of_input) -> Tensor[]",
    "The gradients of _recurrent_steps at its input, its weights, its biases and its first states.",
    kInternal | kNoGrad, &recurrent_steps_backward,
    "'LSTM', (f[4,2,4], f[4,2,4], p[3,2,16], p[3,2,4]), f[3,2,4], (f[2,4], f[2,4]), f[3,2,5], f[16,5], f[16,4], False, "
    "True\n"
    "'LSTM', (f[3,9,20], f[3,9,20], p[2,9,80], p[2,9,20]), f[2,9,20], (None, None), f[2,9,3], f[80,3], f[80,20], True, "
    "False\n"
    "'GRU', (f[4,2,4], f[0,2,4], p[3,2,12], p[3,2,4]), f[3,2,4], (f[2,4]), f[3,2,5], f[12,5], f[12,4], False, True\n"
    "'RNN_TANH', (f[3,9,20], f[0,9,20], f[0,9,20], f[0,9,20]), f[2,9,20], (None), f[2,9,3], f[20,3], f[20,20], True, "
    "True\n"
    "'LSTM', (f[3,1,1], f[2,1,1], p[2,1,4], p[2,1,1]), f[2,1,1], (None, None), f[2,1,1], f[4,1], f[4,1], True, True -> "
    "RuntimeError: Expected cells of size [3, 1, 1], got [2, 1, 1]");

}  // namespace
}  // namespace tessera::tensor

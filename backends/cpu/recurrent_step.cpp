// The gates' functions of recurrent layers and their gradients, on lanes. Runs of sigmoid and tanh are loops of their own: the rest
// is arithmetic, which is small for every kind of layer.
#include "backends/cpu/disabled_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/recurrent_step.cpp"
#include <algorithm>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include "backends/number.h"
#include "backends/cpu/lane_memory-inl.h"
#include "backends/cpu/recurrent_step.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {

template <class T>
HWY_NOINLINE void sigmoid_run(T* p, int64_t n) {
  each_lane<T>(n, [&](int64_t j, int count) HWY_ATTR {
    store_lane(m::sigmoid(load_lane(static_cast<const T*>(p) + j, count)), p + j, count);
  });
}
template <class T>
HWY_NOINLINE void tanh_run(const T* p, T* out, int64_t n) {
  each_lane<T>(n, [&](int64_t j, int count) HWY_ATTR { store_lane(m::tanh(load_lane(p + j, count)), out + j, count); });
}
template <class T>
HWY_NOINLINE void add_run(const T* p, T* out, int64_t n) {
  each_lane<T>(n, [&](int64_t j, int count) HWY_ATTR {
    store_lane(load_lane(static_cast<const T*>(out) + j, count) + load_lane(p + j, count), out + j, count);
  });
}

template <class T>
HWY_NOINLINE void lstm_row(int64_t width, T* gates, const T* cell, T* next_cell, T* seen, T* hidden) {
  sigmoid_run(gates, 2 * width);
  tanh_run<T>(gates + 2 * width, gates + 2 * width, width);
  sigmoid_run(gates + 3 * width, width);
  const T* const in = gates;
  each_lane<T>(width, [&](int64_t j, int count) HWY_ATTR {
    const Lane<T> i = load_lane(in + j, count), f = load_lane(in + width + j, count);
    const Lane<T> g = load_lane(in + 2 * width + j, count);
    store_lane(f * load_lane(cell + j, count) + i * g, next_cell + j, count);
  });
  T* const s = seen ? seen : hidden;
  tanh_run<T>(next_cell, s, width);
  each_lane<T>(width, [&](int64_t j, int count) HWY_ATTR {
    const Lane<T> o = load_lane(in + 3 * width + j, count);
    store_lane(o * load_lane(static_cast<const T*>(s) + j, count), hidden + j, count);
  });
}

template <class T>
HWY_NOINLINE void gru_row(int64_t width, T* gates, const T* shares, const T* hidden, T* next_hidden) {
  add_run(shares, gates, 2 * width);
  sigmoid_run(gates, 2 * width);
  T* const n = gates + 2 * width;
  const T* const in = gates;
  each_lane<T>(width, [&](int64_t j, int count) HWY_ATTR {
    const Lane<T> sum = load_lane(in + 2 * width + j, count), r = load_lane(in + j, count);
    store_lane(sum + r * load_lane(shares + 2 * width + j, count), n + j, count);
  });
  tanh_run<T>(n, n, width);
  const Lane<T> one = T(1), half = T(0.5);
  each_lane<T>(width, [&](int64_t j, int count) HWY_ATTR {
    const Lane<T> z = load_lane(in + width + j, count), x = load_lane(in + 2 * width + j, count);
    const Lane<T> h = load_lane(hidden + j, count), d = h - x;
    store_lane(m::select(z < half, x + z * d, h - d * (one - z)), next_hidden + j, count);
  });
}

template <class T>
HWY_NOINLINE void plain_row(bool relu, int64_t width, T* sums, const T* shares, T* next_hidden) {
  add_run(shares, sums, width);
  if (!relu) return tanh_run<T>(sums, next_hidden, width);
  const T* const in = sums;
  const Lane<T> zero = T(0);
  each_lane<T>(width, [&](int64_t j, int count) HWY_ATTR {
    const Lane<T> x = load_lane(in + j, count);
    store_lane(m::select(x < zero, zero, x), next_hidden + j, count);
  });
}

template <class T>
void finish_of(const StepRows<T>& s) {
  const int64_t w = s.width, gates = gates_of(s.kind) * w;
  for (int64_t r = 0; r < s.count; r++) {
    T* const g = s.gates + r * gates;
    T* const next = s.next_hidden + r * w;
    switch (s.kind) {
      case RecurrentKind::Lstm:
        lstm_row(w, g, s.cells + r * w, s.next_cells + r * w, s.seen ? s.seen + r * w : nullptr, next);
        break;
      case RecurrentKind::Gru:
        gru_row(w, g, s.shares + r * gates, s.hidden + r * w, next);
        if (s.seen) std::copy_n(s.shares + r * gates + 2 * w, w, s.seen + r * w);
        break;
      case RecurrentKind::Tanh:
      case RecurrentKind::Relu: plain_row(s.kind == RecurrentKind::Relu, w, g, s.shares + r * w, next); break;
    }
  }
}
void finish_float(const StepRows<float>& s) { finish_of(s); }
void finish_double(const StepRows<double>& s) { finish_of(s); }

/// The rows of StepGradRows from number `r` on.
template <class T>
StepGradRows<T> rows_from(const StepGradRows<T>& s, int64_t r) {
  const int64_t state = r * s.width, gates = state * gates_of(s.kind);
  StepGradRows<T> row = s;
  if (s.gates) row.gates += gates, row.seen += state;
  if (s.cells) row.cells += state, row.d_cells += state;
  if (s.d_shares) row.d_shares += gates;
  row.hidden += state;
  row.next_hidden += state;
  row.d_output += state;
  row.d_hidden += state;
  row.d_gates += gates;
  return row;
}

template <class T>
HWY_NOINLINE void lstm_grad_row(const StepGradRows<T>& r) {
  const int64_t width = r.width;
  const Lane<T> one = T(1);
  each_lane<T>(width, [&](int64_t j, int count) HWY_ATTR {
    const Lane<T> i = load_lane(r.gates + j, count), f = load_lane(r.gates + width + j, count);
    const Lane<T> g = load_lane(r.gates + 2 * width + j, count), o = load_lane(r.gates + 3 * width + j, count);
    const Lane<T> s = load_lane(r.seen + j, count);
    const Lane<T> dh = load_lane(static_cast<const T*>(r.d_hidden) + j, count) + load_lane(r.d_output + j, count);
    const Lane<T> dc = load_lane(static_cast<const T*>(r.d_cells) + j, count) + dh * o * (one - s * s);
    store_lane(dc * g * (i * (one - i)), r.d_gates + j, count);
    store_lane(dc * load_lane(r.cells + j, count) * (f * (one - f)), r.d_gates + width + j, count);
    store_lane(dc * i * (one - g * g), r.d_gates + 2 * width + j, count);
    store_lane(dh * s * (o * (one - o)), r.d_gates + 3 * width + j, count);
    store_lane(dc * f, r.d_cells + j, count);
  });
}

template <class T>
HWY_NOINLINE void gru_grad_row(const StepGradRows<T>& s) {
  const int64_t width = s.width;
  each_lane<T>(width, [&](int64_t j, int count) HWY_ATTR {
    const Lane<T> r = load_lane(s.gates + j, count), z = load_lane(s.gates + width + j, count);
    const Lane<T> n = load_lane(s.gates + 2 * width + j, count);
    const Lane<T> dh = load_lane(static_cast<const T*>(s.d_hidden) + j, count) + load_lane(s.d_output + j, count);
    const Lane<T> kept = dh * z, left = dh - kept, dn = left - left * n * n;
    const Lane<T> of_z = (load_lane(s.hidden + j, count) - n) * dh * z, dz = of_z - of_z * z;
    const Lane<T> of_r = dn * load_lane(s.seen + j, count) * r, dr = of_r - of_r * r;
    store_lane(kept, s.d_hidden + j, count);
    store_lane(dr, s.d_gates + j, count);
    store_lane(dr, s.d_shares + j, count);
    store_lane(dz, s.d_gates + width + j, count);
    store_lane(dz, s.d_shares + width + j, count);
    store_lane(dn, s.d_gates + 2 * width + j, count);
    store_lane(dn * r, s.d_shares + 2 * width + j, count);
  });
}

template <class T>
HWY_NOINLINE void plain_grad_row(const StepGradRows<T>& r) {
  const bool relu = r.kind == RecurrentKind::Relu;
  const Lane<T> zero = T(0);
  each_lane<T>(r.width, [&](int64_t j, int count) HWY_ATTR {
    const Lane<T> y = load_lane(r.next_hidden + j, count);
    const Lane<T> d = load_lane(static_cast<const T*>(r.d_hidden) + j, count) + load_lane(r.d_output + j, count);
    store_lane(relu ? m::select(y <= zero, zero, d) : d - d * y * y, r.d_gates + j, count);
  });
}

template <class T>
void back_of(const StepGradRows<T>& s) {
  for (int64_t r = 0; r < s.count; r++) {
    const StepGradRows<T> row = rows_from(s, r);
    switch (s.kind) {
      case RecurrentKind::Lstm: lstm_grad_row(row); break;
      case RecurrentKind::Gru: gru_grad_row(row); break;
      case RecurrentKind::Tanh:
      case RecurrentKind::Relu: plain_grad_row(row); break;
    }
  }
}
void back_float(const StepGradRows<float>& s) { back_of(s); }
void back_double(const StepGradRows<double>& s) { back_of(s); }

template <class T>
void sum_rows(const T* rows, int64_t row, int64_t count, int64_t width, T* out) {
  each_lane<T>(width, [&](int64_t j, int n) HWY_ATTR {
    Lane<T> sum = load_lane(rows + j, n);
    for (int64_t r = 1; r < count; r++) sum = sum + load_lane(rows + r * row + j, n);
    store_lane(load_lane(static_cast<const T*>(out) + j, n) + sum, out + j, n);
  });
}
void sum_float(const float* rows, int64_t row, int64_t count, int64_t width, float* out) {
  sum_rows(rows, row, count, width, out);
}
void sum_double(const double* rows, int64_t row, int64_t count, int64_t width, double* out) {
  sum_rows(rows, row, count, width, out);
}

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
namespace {
HWY_EXPORT(finish_float);
HWY_EXPORT(finish_double);
HWY_EXPORT(back_float);
HWY_EXPORT(back_double);
HWY_EXPORT(sum_float);
HWY_EXPORT(sum_double);
}  // namespace
void finish_step(const StepRows<float>& rows) { HWY_DYNAMIC_DISPATCH(finish_float)(rows); }
void finish_step(const StepRows<double>& rows) { HWY_DYNAMIC_DISPATCH(finish_double)(rows); }
void back_through_step(const StepGradRows<float>& rows) { HWY_DYNAMIC_DISPATCH(back_float)(rows); }
void back_through_step(const StepGradRows<double>& rows) { HWY_DYNAMIC_DISPATCH(back_double)(rows); }
void add_rows(const float* rows, int64_t row, int64_t count, int64_t width, float* out) {
  HWY_DYNAMIC_DISPATCH(sum_float)(rows, row, count, width, out);
}
void add_rows(const double* rows, int64_t row, int64_t count, int64_t width, double* out) {
  HWY_DYNAMIC_DISPATCH(sum_double)(rows, row, count, width, out);
}
}  // namespace tessera::tensor::cpu
#endif

#include "stdlib/numpy/native/sums.h"

#include <algorithm>
#include <vector>

namespace tessera::stdlib {
namespace {

struct Poll {
  void (*call)(void*);
  void* context;
  int64_t done = 0;

  void add(int64_t count) {
    constexpr int64_t kPiece = 1 << 20;
    if ((done += count) < kPiece) return;
    done = 0;
    call(context);
  }
};

// Eight sums beside each other, of elements that lie in a run, in vectors that every machine has: n is a multiple of 8.
template <class T>
void add_eights(const T* x, int64_t n, T (&sums)[8]) {
  using Vector [[gnu::vector_size(16)]] = T;
  constexpr int kEach = int(sizeof(Vector) / sizeof(T)), kCount = 8 / kEach;
  Vector r[kCount], next;
  __builtin_memcpy(r, x, sizeof r);
  for (int64_t i = 8; i < n; i += 8)
    for (int k = 0; k < kCount; ++k) {
      __builtin_memcpy(&next, x + i + k * kEach, sizeof next);
      r[k] += next;
    }
  __builtin_memcpy(sums, r, sizeof r);
}

template <class T>
T in_pairs(const T* x, int64_t n, int64_t step, Poll& poll) {
  if (n < 8) {
    T sum = -T{0};
    for (int64_t i = 0; i < n; ++i) sum += x[i * step];
    return sum;
  }
  if (n <= 128) {
    T r[8];
    int64_t i = n - n % 8;
    if (step == 1) {
      add_eights(x, i, r);
    } else {
      for (int64_t j = 0; j < 8; ++j) r[j] = x[j * step];
      for (i = 8; i < n - n % 8; i += 8)
        for (int64_t j = 0; j < 8; ++j) r[j] += x[(i + j) * step];
    }
    T sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    for (; i < n; ++i) sum += x[i * step];
    poll.add(n);
    return sum;
  }
  int64_t half = n / 2;
  half -= half % 8;
  const T left = in_pairs(x, half, step, poll);
  return left + in_pairs(x + half * step, n - half, step, poll);
}

struct Axis {
  int64_t size, step, out;  // `out`: the step in the result, 0 along what is summed
};

// The axes in the order of memory, the slowest first, and those that lie behind each other as one.
std::vector<Axis> ordered(std::vector<Axis> axes) {
  std::erase_if(axes, [](const Axis& a) { return a.size == 1; });
  std::ranges::stable_sort(axes, [](const Axis& a, const Axis& b) { return a.step > b.step; });
  std::vector<Axis> joined;
  for (const Axis& a : axes) {
    if (!joined.empty() && joined.back().step == a.step * a.size && joined.back().out == a.out * a.size)
      joined.back() = {joined.back().size * a.size, a.step, a.out};
    else joined.push_back(a);
  }
  if (joined.empty()) joined.push_back({1, 0, 0});
  return joined;
}

template <class T>
void sum_axes(const T* x, T* out, std::span<const Axis> axes, Poll& poll) {
  const Axis a = axes[0];
  if (axes.size() > 1) {
    for (int64_t i = 0; i < a.size; ++i) sum_axes(x + i * a.step, out + i * a.out, axes.subspan(1), poll);
    return;
  }
  if (a.out == 0) {
    *out += in_pairs(x, a.size, a.step, poll);
    return;
  }
  for (int64_t i = 0; i < a.size; ++i) out[i * a.out] += x[i * a.step];
  poll.add(a.size);
}

}  // namespace

Tensor sum_in_pairs(const Tensor& t, std::span<const int64_t> axes, void (*poll)(void*), void* context) {
  std::vector<int64_t> kept;
  std::vector<Axis> all;
  for (int64_t d = 0; d < t.dim(); ++d) {
    const bool summed = std::ranges::find(axes, d) != axes.end();
    all.push_back({t.size(d), t.stride(d), summed ? 0 : 1});
    if (!summed) kept.push_back(t.size(d));
  }
  int64_t step = 1;
  for (size_t d = all.size(); d-- > 0;)
    if (all[d].out != 0) all[d].out = step, step *= all[d].size;
  Tensor out = Tensor::empty(kept, t.dtype());
  Poll pieces{poll, context};
  const std::vector<Axis> order = ordered(all);
  const auto run = [&]<class T>(T) {
    T* const to = static_cast<T*>(out.data_ptr());
    std::fill(to, to + out.numel(), T{0});
    if (t.numel() != 0) sum_axes(static_cast<const T*>(t.data_ptr()), to, order, pieces);
  };
  t.dtype() == kFloat32 ? run(float{}) : run(double{});
  return out;
}

}  // namespace tessera::stdlib

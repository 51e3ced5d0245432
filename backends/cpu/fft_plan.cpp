// Plans of transforms: factors, twiddles, the order of passes.
// compile: small (a plan is made once and kept)
#include "backends/cpu/fft_plan.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <list>
#include <mutex>

#include "backends/cpu/fft_line.h"
#include "runtime/pieces.h"

namespace tessera::tensor::cpu {
namespace {

using Root = std::complex<double>;
constexpr int64_t kRootCost = 4;  // in elements of a loop

// exp(2 pi i k / n), 0 <= k < n, exact to a rounding: the angle is taken to the first eighth of the circle.
Root exact_root(int64_t k, int64_t n) {
  const double step = 2 * M_PI / double(n);
  const int64_t eighth = 8 * k / n;
  const auto at = [&](int64_t numerator) {
    return Root(std::cos(double(numerator) * step / 8), std::sin(double(numerator) * step / 8));
  };
  const auto swapped = [&](int64_t numerator) { return Root(at(numerator).imag(), at(numerator).real()); };
  switch (eighth) {
    case 0: return at(8 * k);
    case 1: return swapped(2 * n - 8 * k);
    case 2: return Root(-swapped(8 * k - 2 * n).real(), swapped(8 * k - 2 * n).imag());
    case 3: return Root(-at(4 * n - 8 * k).real(), at(4 * n - 8 * k).imag());
    case 4: return -at(8 * k - 4 * n);
    case 5: return -swapped(6 * n - 8 * k);
    case 6: return Root(swapped(8 * k - 6 * n).real(), -swapped(8 * k - 6 * n).imag());
    default: return std::conj(at(8 * n - 8 * k));
  }
}

// All roots of a length from about 2 sqrt(n) exact ones: a product of two is off by two roundings of double.
class Roots {
 public:
  explicit Roots(int64_t n) : n_(n) {
    while (int64_t(1) << (2 * shift_) < n) shift_++;
    for (int64_t k = 0; k < int64_t(1) << shift_ && k < n; k++) low_.push_back(exact_root(k, n));
    for (int64_t k = 0; k < n; k += int64_t(1) << shift_) high_.push_back(exact_root(k, n));
  }
  // exp(-2 pi i k / n)
  Root operator()(int64_t k) const {
    k %= n_;
    const Root a = low_[size_t(k & ((int64_t(1) << shift_) - 1))], b = high_[size_t(k >> shift_)];
    return {a.real() * b.real() - a.imag() * b.imag(), -(a.real() * b.imag() + a.imag() * b.real())};
  }

 private:
  int64_t n_;
  int shift_ = 0;
  std::vector<Root> low_, high_;
};

std::vector<int> radices_of(int64_t n) {
  std::vector<int> found;
  for (const int odd : {13, 11, 7, 5, 3})
    for (; n % odd == 0; n /= odd) found.push_back(odd);
  int twos = 0;
  for (; n % 2 == 0; n /= 2) twos++;
  if (n != 1) return {};
  // As many eights as leave no two over, which would be a pass for little work.
  for (; twos >= 3 && twos != 4; twos -= 3) found.push_back(8);
  for (; twos >= 2; twos -= 2) found.push_back(4);
  if (twos) found.push_back(2);
  return found;
}

bool is_smooth(int64_t n) { return n == 1 || !radices_of(n).empty(); }

template <class T>
FftPlan<T> make_passes(int64_t n) {
  FftPlan<T> plan{};
  plan.way = FftPlan<T>::Passes, plan.n = n;
  const Roots roots(n);
  int64_t length = n;
  for (const int radix : radices_of(n)) {
    typename FftPlan<T>::Pass pass{radix, length / radix, plan.table.size(), 0};
    const auto add = [&](Root w) { plan.table.push_back(T(w.real())), plan.table.push_back(T(w.imag())); };
    for (int64_t k = 0; k < radix; k++) add(std::conj(roots(n / radix * k)));
    pass.twiddles = plan.table.size();
    for (int64_t j = 0; j < pass.rest; j++)
      for (int64_t k = 1; k < radix; k++) add(roots(n / length * j * k));
    plan.passes.push_back(pass);
    length = pass.rest;
  }
  return plan;
}

// The divisor next to the root of n, in favour of multiples of 16: no part of a vector is left over.
int64_t rows_of(int64_t n) {
  int64_t best = 1;
  double least = 1e300;
  for (int64_t d = 1; d * d <= n; d++) {
    if (n % d) continue;
    for (const int64_t rows : {d, n / d}) {
      const auto waste = [](int64_t m) { return double((m + 15) / 16 * 16) / double(m); };
      const double cost =
          waste(rows) * waste(n / rows) * (1 + 0.1 * std::abs(std::log2(double(rows) / double(n / rows))));
      if (cost < least) least = cost, best = rows;
    }
  }
  return best;
}

template <class T>
FftPlan<T> make_split(int64_t n) {
  FftPlan<T> plan{};
  plan.way = FftPlan<T>::Split, plan.n = n;
  const int64_t rows = rows_of(n), columns = n / rows;
  plan.rows = passes_plan<T>(rows), plan.columns = passes_plan<T>(columns);
  plan.turn.re.reserve(size_t(n)), plan.turn.im.reserve(size_t(n));
  const Roots roots(n);
  PollBudget budget;
  for (int64_t k = 0; k < columns; k++)
    for (int64_t j = 0; j < rows; j++) {
      budget.take(kRootCost);
      const Root w = roots(j * k);
      plan.turn.re.push_back(T(w.real())), plan.turn.im.push_back(T(w.imag()));
    }
  return plan;
}

// The least smooth length that holds the convolution, with enough twos for whole vectors.
int64_t chirp_length(int64_t n) {
  int64_t best = INT64_MAX;
  for (const int64_t odd : {1, 3, 5, 9, 15}) {
    int64_t m = odd * 16;
    while (m < 2 * n - 1) m *= 2;
    best = std::min(best, m);
  }
  return best;
}

template <class T>
FftPlan<T> make_chirp(int64_t n) {
  FftPlan<T> plan{};
  plan.way = FftPlan<T>::Chirp, plan.n = n;
  const int64_t m = chirp_length(n);
  plan.inner = line_plan<T>(m);
  const Roots roots(2 * n);
  plan.chirp.re.reserve(size_t(n)), plan.chirp.im.reserve(size_t(n));
  Parts<double> whole;
  whole.re.reserve(size_t(m)), whole.im.reserve(size_t(m));
  in_pieces(m, [&](int64_t, int64_t end) { whole.re.resize(size_t(end)), whole.im.resize(size_t(end)); });
  PollBudget budget;
  for (int64_t k = 0; k < n; k++) {
    budget.take(kRootCost);
    const Root w = roots(int64_t(__int128(k) * k % (2 * n)));
    plan.chirp.re.push_back(T(w.real())), plan.chirp.im.push_back(T(w.imag()));
    for (const int64_t at : {k, (m - k) % m})
      whole.re[size_t(at)] = w.real() / double(m), whole.im[size_t(at)] = -w.imag() / double(m);
  }
  transform_parts(m, whole.re.data(), whole.im.data());
  plan.spectrum.re.reserve(size_t(m)), plan.spectrum.im.reserve(size_t(m));
  in_pieces(m, [&](int64_t begin, int64_t end) {
    plan.spectrum.re.insert(plan.spectrum.re.end(), whole.re.begin() + begin, whole.re.begin() + end);
    plan.spectrum.im.insert(plan.spectrum.im.end(), whole.im.begin() + begin, whole.im.begin() + end);
  });
  return plan;
}

template <class T>
Parts<T> make_half_roots(int64_t n) {
  const Roots roots(n);
  Parts<T> made;
  made.re.reserve(size_t(n / 2 + 1)), made.im.reserve(size_t(n / 2 + 1));
  PollBudget budget;
  for (int64_t k = 0; k <= n / 2; k++) {
    budget.take(kRootCost);
    const Root w = roots(k);
    made.re.push_back(T(w.real())), made.im.push_back(T(w.imag()));
  }
  return made;
}

// A few values by length, those used last; made outside of the lock, at worst twice.
template <class Value>
class Cache {
 public:
  template <class Make>
  std::shared_ptr<const Value> get(int64_t n, const Make& make) {
    if (auto found = find(n)) return found;
    auto made = std::make_shared<const Value>(make(n));
    const std::lock_guard lock(mutex_);
    kept_.push_front({n, size_of(*made), made});
    bytes_ += kept_.front().bytes;
    while (kept_.size() > 1 && (kept_.size() > kMost || bytes_ > kMostBytes)) {
      bytes_ -= kept_.back().bytes;
      kept_.pop_back();
    }
    return made;
  }

 private:
  static constexpr size_t kMost = 64, kMostBytes = size_t(32) << 20;
  struct Entry {
    int64_t n;
    size_t bytes;
    std::shared_ptr<const Value> value;
  };
  static size_t size_of(const Value& v) {
    if constexpr (requires { v.bytes(); }) return v.bytes();
    else return 2 * sizeof(v.re[0]) * v.re.size();
  }
  std::shared_ptr<const Value> find(int64_t n) {
    const std::lock_guard lock(mutex_);
    for (auto it = kept_.begin(); it != kept_.end(); ++it)
      if (it->n == n) {
        kept_.splice(kept_.begin(), kept_, it);
        return it->value;
      }
    return nullptr;
  }

  std::mutex mutex_;
  std::list<Entry> kept_;
  size_t bytes_ = 0;
};

// Of the process, as the pool of threads is: a plan depends on its length alone.
template <class Value, int kKind>
Cache<Value>& cache() {
  static Cache<Value> one;
  return one;
}

}  // namespace

template <class T>
size_t FftPlan<T>::bytes() const {
  return sizeof(T) * (table.size() + 2 * (turn.re.size() + chirp.re.size() + spectrum.re.size()));
}

bool has_passes(int64_t n) { return n <= kMostPasses && is_smooth(n); }

template <class T>
typename FftPlan<T>::Pointer passes_plan(int64_t n) {
  return cache<FftPlan<T>, 0>().get(n, make_passes<T>);
}
template <class T>
typename FftPlan<T>::Pointer line_plan(int64_t n) {
  return cache<FftPlan<T>, 1>().get(n, [](int64_t length) {
    if (length < 64 && has_passes(length)) return make_passes<T>(length);
    return is_smooth(length) ? make_split<T>(length) : make_chirp<T>(length);
  });
}
template <class T>
std::shared_ptr<const Parts<T>> half_roots(int64_t n) {
  return cache<Parts<T>, 2>().get(n, make_half_roots<T>);
}

template struct FftPlan<float>;
template struct FftPlan<double>;
template FftPlan<float>::Pointer passes_plan<float>(int64_t);
template FftPlan<double>::Pointer passes_plan<double>(int64_t);
template FftPlan<float>::Pointer line_plan<float>(int64_t);
template FftPlan<double>::Pointer line_plan<double>(int64_t);
template std::shared_ptr<const Parts<float>> half_roots<float>(int64_t);
template std::shared_ptr<const Parts<double>> half_roots<double>(int64_t);

}  // namespace tessera::tensor::cpu

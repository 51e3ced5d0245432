// Random ops. On the host each fills its elements in the order in which they lie in memory, in one thread, from one
// generator.
// compile: few-inlines (loops of its own, seldom run)
#include "runtime/ops/random_ops.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "runtime/autograd/record.h"
#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/memory_format.h"
#include "runtime/ops/out_types.h"
#include "runtime/ops/parametric_draws.h"
#include "runtime/ops/sorting.h"
#include "runtime/ops/views.h"
#include "runtime/pieces.h"
#include "runtime/plan.h"

namespace tessera::tensor {

namespace {

// The elements of a tensor in the order in which they lie in memory, from the largest stride to the smallest: runs of elements at
// equal distances.
class MemoryOrder {
 public:
  struct Run {
    int64_t offset, step, count;
  };

  explicit MemoryOrder(const Tensor& t) : left_(t.numel()) {
    if (t.is_contiguous()) return;
    sizes_ = t.sizes(), strides_ = t.strides();
    order_.resize(sizes_.size());
    at_.resize(sizes_.size());
    std::iota(order_.begin(), order_.end(), size_t(0));
    std::stable_sort(order_.begin(), order_.end(), [&](size_t a, size_t b) { return strides_[a] > strides_[b]; });
  }

  // Not inline: what draws the numbers stays small. The run behind the last one has no elements.
  [[gnu::noinline]] Run next() {
    Run run{offset_, 1, std::min(left_, kPieceElements)};
    if (!order_.empty() && left_ > 0) {
      run.step = strides_[order_.back()];
      run.count = std::min(sizes_[order_.back()] - at_.back(), kPieceElements);
      at_.back() += run.count;
    }
    offset_ += run.step * run.count;
    for (size_t d = order_.size(); d-- > 0 && at_[d] == sizes_[order_[d]];) {
      offset_ -= at_[d] * strides_[order_[d]];
      at_[d] = 0;
      if (d > 0) at_[d - 1]++, offset_ += strides_[order_[d - 1]];
    }
    left_ -= run.count;
    budget_.take(run.count);
    return run;
  }

 private:
  Ints sizes_, strides_;
  std::vector<size_t> order_;  // empty: one run
  std::vector<int64_t> at_;
  int64_t offset_ = 0, left_;
  PollBudget budget_;
};

// The first run; `order` gives the others, if there are any.
[[gnu::noinline]] MemoryOrder::Run first_run(const Tensor& t, std::unique_ptr<MemoryOrder>& order) {
  if (t.is_contiguous() && t.numel() <= kPieceElements) return {0, 1, t.numel()};
  order = std::make_unique<MemoryOrder>(t);
  return order->next();
}

// Calls f(element) in memory order. Flattened: the generator works in registers then, a quarter faster.
template <class T, class F>
[[gnu::flatten]] void each_in_memory_order(const Tensor& t, const F& f) {
  T* const base = static_cast<T*>(t.data_ptr());
  std::unique_ptr<MemoryOrder> order;
  for (auto run = first_run(t, order);; run = order->next()) {
    T* x = base + run.offset;
    for (int64_t i = 0; i < run.count; i++, x += run.step) f(*x);
    if (!order || run.count == 0) return;
  }
}

// Complex numbers are drawn as their parts in turn.
Tensor parts_of(const Tensor& t) { return is_complex(t.dtype()) ? view_as_real(t) : t; }

// Words of 64 bits where one of 32 would show which numbers it cannot reach evenly.
bool is_wide(const Draw& draw, DType dtype) {
  if (draw.of == Distribution::Integers) return draw.span == 0 || draw.span >= uint64_t(1) << 28;
  return dtype == kFloat64 || (draw.of == Distribution::Bits && dtype == kInt64);
}

void check_drawn_there(const Tensor& t, Distribution of, bool empty) {
  const auto refuse = [&](KernelName kernel, DTypeSet types) { require_type(types, t, kernel); };
  if (of == Distribution::Uniform) return refuse("check_uniform_bounds", kFloatTypes);
  if (empty) return;
  switch (of) {
    case Distribution::Normal: return refuse("normal_kernel_cpu", kFloatTypes);
    case Distribution::LogNormal: return refuse("log_normal_cpu", kFloatTypes);
    case Distribution::Exponential: return refuse("exponential_cpu", kFloatTypes);
    case Distribution::Cauchy: return refuse("cauchy_cpu", kFloatTypes);
    case Distribution::Geometric: return refuse("geometric_cpu", kRealTypes - kBool);
    case Distribution::Bernoulli: return refuse("bernoulli_scalar_cpu_", kRealTypes);
    case Distribution::Bits: return refuse("random_kernel_cpu", kRealTypes);
    default: return refuse("random_from_to_kernel_cpu", kRealTypes | kWideUnsignedTypes);
  }
}

void draw_there(const Tensor& given, const Draw& draw, DeviceGenerator& place) {
  const Tensor t = parts_of(given);
  const bool as_parts = draw.of == Distribution::Normal || draw.of == Distribution::Uniform;
  check_drawn_there(as_parts ? t : given, draw.of, t.numel() == 0);
  if (t.numel() == 0) return;
  const Tensor* operands[] = {&t};
  Loop loop;
  make_loop(loop, operands, 1);
  random_kernel(t.device(), {draw, loop, draw_grid(t.device(), place, t.numel(), is_wide(draw, t.dtype()) ? 2 : 4)});
}

// Lets `write` write all of a tensor: what was there before has no part in it.
template <class F>
void overwrite(const char* record_name, const Tensor& self, const F& write) {
  if (needs_grad(self)) check_inplace(self);
  check_no_internal_overlap(self);
  write();
  self.bump_version();
  if (!needs_grad(self)) return;
  Tensor handle = self;
  auto node =
      make_node(record_name, {&self}, Kept<0>{}, [](Sweep& s) { s.give(0, [&] { return zeros_like(s.g()); }); });
  rebase_history(handle, std::move(node));
}

// Memory of the host in which the elements lie as they do on the device: their order there is that of the draws.
Tensor laid_on_host(const Tensor& t) {
  int64_t last = 0;
  for (int d = 0; d < t.dim(); d++) last += (t.size(d) - 1) * t.stride(d);
  return as_strided(Tensor::empty({t.numel() ? last + 1 : 0}, t.dtype()), t.sizes(), t.strides());
}

// `fill` draws on the host: for the CPU and for devices that do not draw themselves.
template <class F>
void fill_random(const char* record_name, const Tensor& self, Generator* generator, const Draw& draw, const F& fill) {
  overwrite(record_name, self, [&] {
    const Device device = self.device();
    DeviceGenerator* place = drawing_there(device, generator);
    if (device.is_cpu()) return fill(self, generator ? *generator : Context::current().generator());
    if (device.is_meta()) return;
    if (place && random_kernel.has(device.type)) return draw_there(self, draw, *place);
    HostDraws draws(generator, device);
    const Tensor host = laid_on_host(self);
    fill(host, *draws);
    copy_into(self, host);
  });
}

constexpr double kPi = 3.14159265358979323846;

template <class F>
void with_float_type(DType t, const char* op, F&& f) {
  with_type<kFloatTypes>(t, f, op);
}

}  // namespace

void uniform_(const Tensor& self, double from, double to, Generator* generator) {
  check(from <= to, TensorErrorKind::Runtime, "uniform_ expects to return a [from, to) range, but found from=", from,
        " > to=", to);
  const Draw draw{Distribution::Uniform, from, to};
  fill_random("UniformBackward0", self, generator, draw, [&](const Tensor& given, Generator& g) {
    const Tensor t = parts_of(given);
    with_float_type(t.dtype(), "check_uniform_bounds", [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T lowest = convert_element<T>(from), highest = convert_element<T>(to);
      if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
        if (from == 0.0 && to == 1.0 && t.is_contiguous()) return g.fill_unit(static_cast<T*>(t.data_ptr()), t.numel());
      }
      each_in_memory_order<T>(t, [&](T& x) {
        if constexpr (is_narrow_float<T>) {  // a float between the ends as they were given, rounded; the upper end becomes the lower one
          x = T(scale_unit<float>(draw_unit<float>(g), float(from), float(to)));
          if (float(x) == float(highest)) x = lowest;
        } else {
          x = scale_unit<T>(draw_unit<T>(g), lowest, highest);
        }
      });
    });
  });
}

void normal_(const Tensor& self, double mean, double std, Generator* generator) {
  check(std >= 0.0, TensorErrorKind::Runtime, "normal expects std >= 0.0, but found std ", std);
  if (is_complex(self.dtype())) std /= std::sqrt(2.0);  // the parts share the variance
  const Draw draw{Distribution::Normal, mean, std};
  fill_random("NormalBackward0", self, generator, draw, [&](const Tensor& given, Generator& g) {
    if (given.numel() == 0) return;  // of whatever dtype
    const Tensor t = parts_of(given);
    with_float_type(t.dtype(), "normal_kernel_cpu", [&](auto tag) {
      using T = typename decltype(tag)::type;
      if (t.numel() >= kNormalBlock && t.is_contiguous()) {
        return fill_normal(g, static_cast<T*>(t.data_ptr()), t.numel(), mean, std);
      }
      each_in_memory_order<T>(t, [&](T& x) { x = convert_element<T>(g.normal() * std + mean); });
    });
  });
}

void bernoulli_(const Tensor& self, double p, Generator* generator) {
  check(p >= 0 && p <= 1, TensorErrorKind::Runtime, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  fill_random("BernoulliBackward2", self, generator, {Distribution::Bernoulli, p}, [&](const Tensor& t, Generator& g) {
    if (is_complex(t.dtype())) refuse_type(t, "bernoulli_scalar_cpu_");
    with_type(t.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      // A number, not a bool: the processor cannot guess a branch on a coin.
      each_in_memory_order<T>(t, [&](T& x) { x = convert_element<T>(int32_t(g.unit64() < p)); });
    });
  });
}

void exponential_(const Tensor& self, double rate, Generator* generator) {
  check(rate > 0, TensorErrorKind::Runtime, "exponential_ expects lambda > 0.0, but found lambda=", rate);
  check(is_floating(self.dtype()) || self.numel() == 0, TensorErrorKind::Runtime,
        "Exponential distribution is a continuous probability distribution. dtype must be a floating point but you "
        "specified ",
        scalar_type_name(self.dtype()));
  const Draw draw{Distribution::Exponential, rate};
  fill_random("ExponentialBackward0", self, generator, draw, [&](const Tensor& t, Generator& g) {
    if (t.numel() == 0) return;
    with_float_type(t.dtype(), "exponential_cpu", [&](auto tag) {
      using T = typename decltype(tag)::type;
      each_in_memory_order<T>(t, [&](T& x) { x = convert_element<T>(draw_exponential(g, rate)); });
    });
  });
}

void cauchy_(const Tensor& self, double median, double sigma, Generator* generator) {
  check(sigma > 0, TensorErrorKind::Runtime, "cauchy_ expects sigma > 0.0, but found sigma=", sigma);
  check(
      is_floating(self.dtype()), TensorErrorKind::Runtime,
      "Cauchy distribution is a continuous probability distribution. dtype must be a floating point but you specified ",
      cpp_name(self.dtype()));
  const Draw draw{Distribution::Cauchy, median, sigma};
  fill_random("CauchyBackward0", self, generator, draw, [&](const Tensor& t, Generator& g) {
    with_float_type(t.dtype(), "cauchy_cpu", [&](auto tag) {
      using T = typename decltype(tag)::type;
      each_in_memory_order<T>(
          t, [&](T& x) { x = convert_element<T>(median + sigma * std::tan(kPi * (g.unit64() - 0.5))); });
    });
  });
}

void log_normal_(const Tensor& self, double mean, double std, Generator* generator) {
  check(std > 0, TensorErrorKind::Runtime, "log_normal_ expects std > 0.0, but found std=", std);
  const Draw draw{Distribution::LogNormal, mean, std};
  fill_random("LogNormalBackward0", self, generator, draw, [&](const Tensor& t, Generator& g) {
    if (t.numel() == 0) return;
    with_float_type(t.dtype(), "log_normal_cpu", [&](auto tag) {
      using T = typename decltype(tag)::type;
      each_in_memory_order<T>(t, [&](T& x) { x = convert_element<T>(std::exp(g.normal() * std + mean)); });
    });
  });
}

// The number of the first success.
void geometric_(const Tensor& self, double p, Generator* generator) {
  check(p > 0 && p < 1, TensorErrorKind::Runtime, "geometric_ expects p to be in (0, 1), but got p=", p);
  if (self.numel() && (is_bool(self.dtype()) || is_complex(self.dtype()))) refuse_type(self, "geometric_cpu");
  const double log_failure = std::log(1 - p);
  fill_random("GeometricBackward0", self, generator, {Distribution::Geometric, p}, [&](const Tensor& t, Generator& g) {
    if (t.numel() == 0) return;
    with_type(t.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      each_in_memory_order<T>(t, [&](T& x) { x = convert_element<T>(std::ceil(std::log(g.unit64()) / log_failure)); });
    });
  });
}

namespace {

// random_() without bounds: a word, or its remainder by what the dtype holds exactly.
template <class T>
T draw_any(Generator& g) {
  if constexpr (std::is_same_v<T, bool>) return g.word32() & 1;
  else if constexpr (std::is_same_v<T, int64_t>) return int64_t(g.word64() % (uint64_t(1) << 63));
  else if constexpr (std::is_same_v<T, double>) return double(g.word64() % ((uint64_t(1) << 53) + 1));
  else if constexpr (std::is_same_v<T, float>) return float(g.word32() % ((1u << 24) + 1));
  else if constexpr (std::is_same_v<T, Half>) return Half(float(g.word32() % ((1u << 11) + 1)));
  else if constexpr (std::is_same_v<T, BFloat16>) return BFloat16(float(g.word32() % ((1u << 8) + 1)));
  else return T(g.word32() % (uint32_t(std::numeric_limits<T>::max()) + 1));
}

}  // namespace

namespace {

template <class T>
bool holds(int64_t x) {
  if constexpr (std::is_same_v<T, bool>) return x == 0 || x == 1;
  else if constexpr (std::is_integral_v<T>) return std::in_range<T>(x);
  else if constexpr (std::is_same_v<T, Half>) return std::abs(double(x)) <= 65504;
  else return true;
}

void check_random_bounds(DType t, int64_t from, int64_t last) {
  check(!is_complex(t), TensorErrorKind::Runtime,
        "check_random_bounds handles only integral, floating-point and boolean types");
  with_type(t, [&](auto tag) {
    using T = typename decltype(tag)::type;
    check(holds<T>(from), TensorErrorKind::Runtime, "from is out of bounds for ", cpp_name(t));
    check(holds<T>(last), TensorErrorKind::Runtime, "to - 1 is out of bounds for ", cpp_name(t));
  });
}

}  // namespace

namespace {

// Of [from, from + span); a span of 0 is all that 64 bits can say.
void fill_integers(const char* record_name, const Tensor& self, int64_t from, uint64_t span, Generator* generator) {
  const Draw draw{Distribution::Integers, 0, 0, span == 0 ? 0 : from, span};
  fill_random(record_name, self, generator, draw, [&](const Tensor& t, Generator& g) {
    with_type(t.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      each_in_memory_order<T>(t, [&](T& x) { x = convert_element<T>(draw_below(g, from, span)); });
    });
  });
}

// From `from` on.
void fill_integers_from(const Tensor& self, int64_t from, Generator* generator) {
  const char* const name = "RandomBackward0";
  if (from == std::numeric_limits<int64_t>::min()) return fill_integers(name, self, 0, 0, generator);
  const int64_t last = last_integer(self.dtype());
  check_random_bounds(self.dtype(), from, last);
  fill_integers(name, self, from, uint64_t(last) - uint64_t(from) + 1, generator);
}

}  // namespace

void random_(const Tensor& self, int64_t from, std::optional<int64_t> to, Generator* generator) {
  check(!to || from < *to, TensorErrorKind::Runtime, "random_ expects 'from' to be less than 'to', but got from=", from,
        " >= to=", to.value_or(0));
  if (to) {
    check_random_bounds(self.dtype(), from, *to - 1);
    return fill_integers(from ? "RandomBackward0" : "RandomBackward1", self, from, uint64_t(*to) - uint64_t(from),
                         generator);
  }
  if (is_complex(self.dtype())) refuse_type(self, "random_kernel_cpu");
  fill_random("RandomBackward2", self, generator, {Distribution::Bits}, [&](const Tensor& t, Generator& g) {
    with_type(t.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      each_in_memory_order<T>(t, [&](T& x) { x = draw_any<T>(g); });
    });
  });
}

Tensor rand(Ints size, DType dtype, Device device, Generator* generator) {
  const Tensor out = Tensor::empty(size, dtype, device);
  uniform_(out, 0, 1, generator);
  return out;
}

Tensor randn(Ints size, DType dtype, Device device, Generator* generator) {
  const Tensor out = Tensor::empty(size, dtype, device);
  normal_(out, 0, 1, generator);
  return out;
}

Tensor randint(int64_t low, int64_t high, Ints size, DType dtype, Device device, Generator* generator) {
  const Tensor out = Tensor::empty(size, dtype, device);
  random_(out, low, high, generator);
  return out;
}

// As PyTorch's CUDA kernel: random keys are sorted, as many bits of them that no two are likely to meet, and what meets is
// shuffled.
static Tensor permutation_there(int64_t n, DType dtype, Device device, Generator* generator, DeviceGenerator& place) {
  const double count = double(n), seldom = std::log(0.9) * 12;
  const int bits = std::min(64, int(std::ceil(std::log2(count - (6 * count * count + 1) / seldom))));
  const bool wide = bits > 32;
  const Tensor keys = Tensor::empty({n}, wide ? kInt64 : kInt32, device);
  if (wide) random_(keys, INT64_MIN, INT64_MAX, generator);
  else random_(keys, INT32_MIN, INT32_MAX, generator);
  const bool whole = bits == 32 || bits == 64;
  const auto [sorted, places] = sort(whole ? keys : bitwise_and(keys, Scalar((int64_t(1) << bits) - 1)));
  equal_keys_kernel(device, {wide, sorted.data_ptr(), places.data<int64_t>(), n, place.take(uint64_t(n))});
  return to_dtype(places, dtype);
}

Tensor randperm(int64_t n, DType dtype, Device device, Generator* generator) {
  check(n >= 0, TensorErrorKind::Runtime, "n must be non-negative, got", n);
  if (device.is_meta()) return Tensor::empty({n}, dtype, device);
  const Device where = resolve_device(device);
  if (DeviceGenerator* place = drawing_there(where, generator); place && n > 0 && equal_keys_kernel.has(where.type))
    return permutation_there(n, dtype, where, generator, *place);
  HostDraws draws(generator, where);
  Generator& g = *draws;
  const Tensor out = Tensor::empty({n}, kInt64);
  int64_t* p = out.data<int64_t>();
  in_pieces(n, [&](int64_t begin, int64_t end) { std::iota(p + begin, p + end, begin); });
  in_pieces(n - 1, 1 << 14, [&](int64_t i, int64_t end) {
    for (; i < end; i++) std::swap(p[i], p[i + int64_t(g.word32() % uint64_t(n - i))]);
  });
  return to(out, dtype, device);
}

// ---- the registry ----

namespace {

#define TS_OPTIONS "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
#define TS_LIKE "Generator? generator=None, " TS_OPTIONS ", MemoryFormat? memory_format=None"
using std::optional;

DType float_type(optional<DType> t) { return t.value_or(Context::current().default_dtype); }
Device device_of(optional<Device> d) { return d.value_or(Context::current().default_device); }

void rand_kernel(OpCall& c) {
  const Dims size = Unbox<Dims>::get(c, 0);
  return_value(c, rand(size, float_type(Unbox<optional<DType>>::get(c, 2)),
                       device_of(Unbox<optional<Device>>::get(c, 4)), Unbox<Generator*>::get(c, 1)));
}
void randn_kernel(OpCall& c) {
  const Dims size = Unbox<Dims>::get(c, 0);
  return_value(c, randn(size, float_type(Unbox<optional<DType>>::get(c, 2)),
                        device_of(Unbox<optional<Device>>::get(c, 4)), Unbox<Generator*>::get(c, 1)));
}
// randint(high, size) and randint(low, high, size): `first` is where the size stands.
template <size_t first>
void randint_kernel(OpCall& c) {
  const int64_t low = first == 2 ? Unbox<int64_t>::get(c, 0) : 0, high = Unbox<int64_t>::get(c, first - 1);
  const Dims size = Unbox<Dims>::get(c, first);
  return_value(c, randint(low, high, size, Unbox<optional<DType>>::get(c, first + 2).value_or(kInt64),
                          device_of(Unbox<optional<Device>>::get(c, first + 4)), Unbox<Generator*>::get(c, first + 1)));
}
void randperm_kernel(OpCall& c) {
  return_value(c, randperm(Unbox<int64_t>::get(c, 0), Unbox<optional<DType>>::get(c, 2).value_or(kInt64),
                           device_of(Unbox<optional<Device>>::get(c, 4)), Unbox<Generator*>::get(c, 1)));
}
// The *_like forms: dtype, device and layout are self's unless given. The generator stands at `at`, then the options.
Tensor fresh_like(OpCall& c, size_t at) {
  const Tensor& self = c.tensor(0);
  const Meta made(self.sizes(), Unbox<optional<DType>>::get(c, at + 1).value_or(self.dtype()),
                  Unbox<optional<Device>>::get(c, at + 3).value_or(self.device()),
                  strides_in(self, Unbox<MemoryFormat>::get(c, at + 5)));
  return made.allocate();
}
void rand_like_kernel(OpCall& c) {
  const Tensor out = fresh_like(c, 1);
  uniform_(out, 0, 1, Unbox<Generator*>::get(c, 1));
  return_value(c, out);
}
void randn_like_kernel(OpCall& c) {
  const Tensor out = fresh_like(c, 1);
  normal_(out, 0, 1, Unbox<Generator*>::get(c, 1));
  return_value(c, out);
}
template <size_t first>
void randint_like_kernel(OpCall& c) {
  const Tensor out = fresh_like(c, first + 1);
  random_(out, first == 2 ? Unbox<int64_t>::get(c, 1) : 0, Unbox<int64_t>::get(c, first),
          Unbox<Generator*>::get(c, first + 1));
  return_value(c, out);
}

// The fillers exist in place only, so they are registered with the _ of their names.
const Tensor& target(OpCall& c) {
  c.results.emplace_back(c.tensor(0));
  return c.tensor(0);
}
void uniform_kernel(OpCall& c) {
  uniform_(target(c), Unbox<double>::get(c, 1), Unbox<double>::get(c, 2), Unbox<Generator*>::get(c, 3));
}
void normal_kernel(OpCall& c) {
  normal_(target(c), Unbox<double>::get(c, 1), Unbox<double>::get(c, 2), Unbox<Generator*>::get(c, 3));
}
void exponential_kernel(OpCall& c) { exponential_(target(c), Unbox<double>::get(c, 1), Unbox<Generator*>::get(c, 2)); }
void cauchy_kernel(OpCall& c) {
  cauchy_(target(c), Unbox<double>::get(c, 1), Unbox<double>::get(c, 2), Unbox<Generator*>::get(c, 3));
}
void log_normal_kernel(OpCall& c) {
  log_normal_(target(c), Unbox<double>::get(c, 1), Unbox<double>::get(c, 2), Unbox<Generator*>::get(c, 3));
}
void geometric_kernel(OpCall& c) { geometric_(target(c), Unbox<double>::get(c, 1), Unbox<Generator*>::get(c, 2)); }
void random_kernel(OpCall& c) { random_(target(c), 0, std::nullopt, Unbox<Generator*>::get(c, 1)); }
void random_to_kernel(OpCall& c) { random_(target(c), 0, Unbox<int64_t>::get(c, 1), Unbox<Generator*>::get(c, 2)); }
void random_from_kernel(OpCall& c) {
  const Tensor& self = target(c);
  const int64_t from = Unbox<int64_t>::get(c, 1);
  const optional<int64_t> to = Unbox<optional<int64_t>>::get(c, 2);
  Generator* generator = Unbox<Generator*>::get(c, 3);
  to ? random_(self, from, to, generator) : fill_integers_from(self, from, generator);
}

void bernoulli_fill_kernel(OpCall& c) { bernoulli_(target(c), Unbox<double>::get(c, 1), Unbox<Generator*>::get(c, 2)); }
void bernoulli_fill_tensor_kernel(OpCall& c) {
  const Tensor &self = target(c), &chances = c.tensor(1);
  Generator* generator = Unbox<Generator*>::get(c, 2);
  overwrite("BernoulliBackward1", self, [&] {
    if (self.device().is_meta()) return;
    const GradMode no_grad(false);
    const Tensor ordered = empty_like_strided(self, chances.dtype());  // as the elements of `self` lie in memory
    copy_into(ordered, expand(chances, self.sizes()));
    const Tensor drawn = bernoulli(as_strided(ordered, {self.numel()}, {1}), generator);
    copy_into(self, as_strided(drawn, self.sizes(), ordered.strides()));
  });
}
Tensor bernoulli_of(const Tensor& self, double p, Generator* g) {
  const Tensor out = Tensor::empty(self.sizes(), self.dtype(), self.device());
  bernoulli_(out, p, g);
  return out;
}

void normal_size_kernel(OpCall& c) {
  const Dims size = Unbox<Dims>::get(c, 2);
  const Tensor out =
      Tensor::empty(size, float_type(Unbox<optional<DType>>::get(c, 4)), device_of(Unbox<optional<Device>>::get(c, 6)));
  normal_(out, Unbox<double>::get(c, 0), Unbox<double>::get(c, 1), Unbox<Generator*>::get(c, 3));
  return_value(c, out);
}

constexpr uint32_t kMake = kFunction | kRandom | kNoGrad, kFill = kMethod | kRandom | kNoGrad;

TS_BOXED(rand, "rand(int[] size, *, Generator? generator=None, " TS_OPTIONS ") -> Tensor", "Uniform numbers of [0, 1).",
         kMake | kSizes | kOut, &rand_kernel, "[2, 3]",
         .forms =
             "int[] size, *, Generator? generator\n"
             "int[] size");
TS_BOXED(randn, "randn(int[] size, *, Generator? generator=None, " TS_OPTIONS ") -> Tensor", "Standard normal numbers.",
         kMake | kSizes | kOut, &randn_kernel, "[2, 3]",
         .forms =
             "int[] size, *, Generator? generator\n"
             "int[] size");
TS_BOXED(randint, "randint(int high, int[] size, *, Generator? generator=None, " TS_OPTIONS ") -> Tensor",
         "Integers of [0, high).", kMake | kOut, &randint_kernel<1>, "9, [2, 3]");
TS_BOXED(randint, "randint.low(int low, int high, int[] size, *, Generator? generator=None, " TS_OPTIONS ") -> Tensor",
         "Integers of [low, high).", kMake | kOut, &randint_kernel<2>, "3, 9, [2, 3]");
TS_BOXED(randperm, "randperm(int n, *, Generator? generator=None, " TS_OPTIONS ") -> Tensor",
         "0 to n - 1 in random order.", kMake | kOut, &randperm_kernel, "5",
         .forms =
             "int n, *, Generator? generator\n"
             "int n");
TS_BOXED(rand_like, "rand_like(Tensor self, *, " TS_LIKE ") -> Tensor", "Uniform numbers in self's shape.", kMake,
         &rand_like_kernel, "f[2,3]",
         .forms =
             "Tensor self, *, Generator generator, MemoryFormat? memory_format=None\n"
             "Tensor self, *, MemoryFormat? memory_format=None");
TS_BOXED(randn_like, "randn_like(Tensor self, *, " TS_LIKE ") -> Tensor", "Normal numbers in self's shape.", kMake,
         &randn_like_kernel, "f[2,3]",
         .forms =
             "Tensor self, *, Generator generator, MemoryFormat? memory_format=None\n"
             "Tensor self, *, MemoryFormat? memory_format=None");
TS_BOXED(randint_like, "randint_like(Tensor self, int high, *, " TS_LIKE ") -> Tensor",
         "Integers of [0, high) in self's shape.", kMake, &randint_like_kernel<1>, "f[2,3], 9",
         .forms =
             "Tensor self, int low, int high, *, Generator generator, MemoryFormat? memory_format=None\n"
             "Tensor self, int low, int high, *, MemoryFormat? memory_format=None\n"
             "Tensor self, int high, *, Generator generator, MemoryFormat? memory_format=None\n"
             "Tensor self, int high, *, MemoryFormat? memory_format=None");
TS_BOXED(randint_like, "randint_like.low(Tensor self, int low, int high, *, " TS_LIKE ") -> Tensor",
         "Integers of [low, high) in self's shape.", kMake, &randint_like_kernel<2>,
         "f[2,3], 3, 9\n"
         "c[2], 3, 9 -> RuntimeError: check_random_bounds handles only integral, floating-point and boolean types");
TS_BOXED(uniform_, "uniform_(Tensor self, float from=0, float to=1, *, Generator? generator=None) -> Tensor",
         "Fills with uniform numbers of [from, to).", kFill, &uniform_kernel, "f[3], -1, 2");
TS_BOXED(normal_, "normal_(Tensor self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor",
         "Fills with normal numbers.", kFill, &normal_kernel, "f[3], 1, 2");
TS_BOXED(exponential_, "exponential_(Tensor self, float lambd=1, *, Generator? generator=None) -> Tensor",
         "Fills with exponential numbers.", kFill, &exponential_kernel, "f[3], 2");
TS_BOXED(cauchy_, "cauchy_(Tensor self, float median=0, float sigma=1, *, Generator? generator=None) -> Tensor",
         "Fills with numbers of a Cauchy distribution.", kFill, &cauchy_kernel,
         "f[3], -1, 2\nf[3], 0, -1 -> RuntimeError: cauchy_ expects sigma > 0.0, but found sigma=-1");
TS_BOXED(log_normal_, "log_normal_(Tensor self, float mean=1, float std=2, *, Generator? generator=None) -> Tensor",
         "Fills with exponentials of normal numbers.", kFill, &log_normal_kernel,
         "f[3], 1, 2\nf[3], 0, -1 -> RuntimeError: log_normal_ expects std > 0.0, but found std=-1");
TS_BOXED(geometric_, "geometric_(Tensor self, float p, *, Generator? generator=None) -> Tensor",
         "Fills with numbers of trials up to the first success.", kFill, &geometric_kernel,
         "f[3], 0.3\ni[3]<2, 0.5\nf[3], 1 -> RuntimeError: geometric_ expects p to be in (0, 1), but got p=1");
TS_BOXED(random_, "random_(Tensor self, *, Generator? generator=None) -> Tensor",
         "Fills with integers that the dtype holds exactly.", kFill, &random_kernel, "f[3]");
TS_BOXED(random_, "random_.to(Tensor self, int to, *, Generator? generator=None) -> Tensor",
         "Fills with integers of [0, to).", kFill, &random_to_kernel,
         "i[3]<2, 9\n"
         "b[3], 5 -> RuntimeError: to - 1 is out of bounds for bool");
TS_BOXED(random_, "random_.from(Tensor self, int from, int? to, *, Generator? generator=None) -> Tensor",
         "Fills with integers of [from, to).", kFill, &random_from_kernel, "i[3]<2, 3, 9\ni[3]<2, 5, None");
TS_BOXED(bernoulli_, "bernoulli_.float(Tensor self, float p=0.5, *, Generator? generator=None) -> Tensor",
         "Fills with 1 with probability p, else 0.", kFill, &bernoulli_fill_kernel, "f[3], 0.3");
TS_BOXED(bernoulli_, "bernoulli_.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor",
         "Fills with 1 with each element's probability.", kFill, &bernoulli_fill_tensor_kernel, "f[3], p[3]");
TS_OP(bernoulli, "bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor",
      "1 with probability p, else 0.", kFunction | kMethod | kRandom | kNoGrad, &bernoulli_of, "f[3,4], 0.4",
      .out = kOutAnything);
TS_BOXED(normal,
         "normal.float_float(float mean, float std, int[] size, *, Generator? generator=None, " TS_OPTIONS
         ") -> Tensor",
         "Normal numbers.", kMake | kOut, &normal_size_kernel, "1.5, 2, [2, 3]",
         .out = {OutRule::Castable, "\"normal_kernel_cpu\" not implemented for '$O'", TensorErrorKind::NotImplemented});
#undef TS_OPTIONS
#undef TS_LIKE

}  // namespace
}  // namespace tessera::tensor

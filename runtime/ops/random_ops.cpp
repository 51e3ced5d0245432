// Random ops: each fills its elements in the order in which they lie in memory, in one thread, from one generator.
#include "runtime/ops/random_ops.h"

#include <algorithm>
#include <numeric>

#include "runtime/autograd/record.h"
#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {
namespace {

Generator& generator_or_default(Generator* g) { return g ? *g : Context::current().generator(); }

// Calls f(element) in memory order. Dimensions are walked from the largest stride to the smallest.
template <class T, class F>
void each_in_memory_order(const Tensor& t, const F& f) {
  if (t.numel() == 0) return;
  T* base = static_cast<T*>(t.data_ptr());
  if (t.is_contiguous()) {
    for (int64_t i = 0; i < t.numel(); i++) f(base[i]);
    return;
  }
  const size_t n = t.sizes().size();
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return t.strides()[a] > t.strides()[b]; });
  std::vector<int64_t> at(n, 0);
  for (;;) {
    f(*base);
    size_t d = n;
    for (; d-- > 0;) {
      const size_t dim = order[d];
      base += t.strides()[dim];
      if (++at[d] < t.sizes()[dim]) break;
      base -= t.sizes()[dim] * t.strides()[dim];
      at[d] = 0;
    }
    if (d == size_t(-1)) return;
  }
}

// Runs `fill` on the tensor, or on a host copy that is moved to its device.
template <class F>
void fill_random(const Tensor& self, const F& fill) {
  if (needs_grad(self)) check_inplace(self);
  if (self.device().is_cpu()) {
    fill(self);
  } else if (!self.device().is_meta()) {
    const Tensor host = Tensor::empty(self.sizes(), self.dtype());
    fill(host);
    copy_into(self, host);
  }
  self.bump_version();
  if (!needs_grad(self)) return;
  Tensor handle = self;
  auto node =
      make_node("UniformBackward0", {&self}, Kept<0>{}, [](Sweep& s) { s.give(0, [&] { return zeros_like(s.g()); }); });
  rebase_history(handle, std::move(node));
}

template <class F>
void with_float_type(DType t, const char* op, F&& f) {
  switch (t) {
    case DType::Float32: return f(TypeTag<float>{});
    case DType::Float64: return f(TypeTag<double>{});
    case DType::Float16: return f(TypeTag<Half>{});
    case DType::BFloat16: return f(TypeTag<BFloat16>{});
    default: fail(TensorErrorKind::Runtime, '"', op, "\" not implemented for '", scalar_type_name(t), "'");
  }
}

}  // namespace

void uniform_(const Tensor& self, double from, double to, Generator* generator) {
  check(from <= to, TensorErrorKind::Runtime, "uniform_ expects to return a [from, to) range, but found from=", from,
        " > to=", to);
  Generator& g = generator_or_default(generator);
  fill_random(self, [&](const Tensor& t) {
    with_float_type(t.dtype(), "check_uniform_bounds", [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T lowest = convert_element<T>(from), highest = convert_element<T>(to);
      if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
        if (from == 0.0 && to == 1.0 && t.is_contiguous()) return g.fill_unit(static_cast<T*>(t.data_ptr()), t.numel());
      }
      each_in_memory_order<T>(t, [&](T& x) { x = scale_unit<T>(draw_unit<T>(g), lowest, highest); });
    });
  });
}

void normal_(const Tensor& self, double mean, double std, Generator* generator) {
  check(std >= 0.0, TensorErrorKind::Runtime, "normal expects std >= 0.0, but found std ", std);
  Generator& g = generator_or_default(generator);
  fill_random(self, [&](const Tensor& t) {
    with_float_type(t.dtype(), "normal_kernel_cpu", [&](auto tag) {
      using T = typename decltype(tag)::type;
      if (t.numel() >= kNormalBlock && t.is_contiguous()) {
        if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
          return fill_normal(g, static_cast<T*>(t.data_ptr()), t.numel(), mean, std);
        }
      }
      each_in_memory_order<T>(t, [&](T& x) { x = convert_element<T>(g.normal() * std + mean); });
    });
  });
}

void bernoulli_(const Tensor& self, double p, Generator* generator) {
  check(p >= 0 && p <= 1, TensorErrorKind::Runtime, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  Generator& g = generator_or_default(generator);
  fill_random(self, [&](const Tensor& t) {
    with_type(t.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      each_in_memory_order<T>(t, [&](T& x) { x = convert_element<T>(g.unit64() < p); });
    });
  });
}

void exponential_(const Tensor& self, double rate, Generator* generator) {
  check(rate > 0, TensorErrorKind::Runtime, "exponential_ expects lambda > 0.0, but found lambda=", rate);
  Generator& g = generator_or_default(generator);
  fill_random(self, [&](const Tensor& t) {
    with_float_type(t.dtype(), "exponential_cpu", [&](auto tag) {
      using T = typename decltype(tag)::type;
      each_in_memory_order<T>(t, [&](T& x) { x = convert_element<T>(draw_exponential(g, rate)); });
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

void random_(const Tensor& self, int64_t from, std::optional<int64_t> to, Generator* generator) {
  check(!to || from < *to, TensorErrorKind::Runtime, "random_ expects 'from' to be less than 'to', but got from=", from,
        " >= to=", to.value_or(0));
  Generator& g = generator_or_default(generator);
  fill_random(self, [&](const Tensor& t) {
    with_type(t.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const uint64_t span = uint64_t(to.value_or(0)) - uint64_t(from);
      each_in_memory_order<T>(t,
                              [&](T& x) { x = to ? convert_element<T>(draw_below(g, from, span)) : draw_any<T>(g); });
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

Tensor randperm(int64_t n, DType dtype, Device device, Generator* generator) {
  check(n >= 0, TensorErrorKind::Runtime, "n must be non-negative, got", n);
  if (device.is_meta()) return Tensor::empty({n}, dtype, device);
  Generator& g = generator_or_default(generator);
  const Tensor out = Tensor::empty({n}, kInt64);
  int64_t* p = out.data<int64_t>();
  std::iota(p, p + n, int64_t(0));
  for (int64_t i = 0; i + 1 < n; i++) std::swap(p[i], p[i + int64_t(g.word32() % uint64_t(n - i))]);
  return to(out, dtype, device);
}

Tensor bernoulli(const Tensor& given, Generator* generator) {
  Generator& g = generator_or_default(generator);
  const bool has_data = !given.device().is_meta();
  const Tensor probabilities = has_data ? to_device(given, kCpu) : given;
  Tensor out = Tensor::empty(probabilities.sizes(), probabilities.dtype(), probabilities.device());
  with_float_type(probabilities.dtype(), "bernoulli_tensor_cpu_p_", [&](auto tag) {
    if (!has_data) return;
    using T = typename decltype(tag)::type;
    const Tensor p = contiguous(probabilities.view_of(probabilities.sizes(), probabilities.strides()));
    const T* from = static_cast<const T*>(p.data_ptr());
    T* to = static_cast<T*>(out.data_ptr());
    for (int64_t i = 0; i < p.numel(); i++) {
      const double chance = convert_element<double>(from[i]);
      check(
          chance >= 0 && chance <= 1, TensorErrorKind::Runtime,
          "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so, please report an "
          "enhancement request to PyTorch.)");
      to[i] = convert_element<T>((std::is_same_v<T, double> ? g.unit64() : double(g.unit32())) < chance);
    }
  });
  out = to_device(out, given.device());
  if (needs_grad(given))
    record(out, "BernoulliBackward0", {&given}, [](Sweep& s) { s.give(0, [&] { return zeros_like(s.g()); }); });
  return out;
}

namespace {

// Indices of the largest weight / exponential: a draw without replacement in one pass.
template <class T>
void draw_without(Generator& g, const T* weights, int64_t n, int64_t count, int64_t* out) {
  std::vector<T> keys(n);
  std::vector<int64_t> order(n);
  for (auto& key : keys) key = convert_element<T>(draw_exponential(g, 1.0));
  for (int64_t i = 0; i < n; i++) keys[i] = T(weights[i] / keys[i]);
  std::iota(order.begin(), order.end(), int64_t(0));
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return keys[a] > keys[b]; });
  std::copy(order.begin(), order.begin() + count, out);
}

template <class T>
void draw_with(Generator& g, const T* weights, int64_t n, int64_t count, int64_t* out) {
  std::vector<T> sums(n);
  T total = 0;
  for (int64_t i = 0; i < n; i++) sums[i] = total = T(total + weights[i]);
  for (auto& s : sums) s = T(s / total);
  sums[n - 1] = 1;
  for (int64_t k = 0; k < count; k++) {
    const double u = g.unit64();
    out[k] = std::lower_bound(sums.begin(), sums.end(), u, [](T s, double x) { return double(s) < x; }) - sums.begin();
  }
}

template <class T>
void check_weights(const T* w, int64_t n) {
  double total = 0;
  for (int64_t i = 0; i < n; i++) {
    check(std::isfinite(double(w[i])) && w[i] >= 0, TensorErrorKind::Runtime,
          "probability tensor contains either `inf`, `nan` or element < 0");
    total += double(w[i]);
  }
  check(total > 0, TensorErrorKind::Runtime, "invalid multinomial distribution (sum of probabilities <= 0)");
}

}  // namespace

Tensor multinomial(const Tensor& given, int64_t count, bool replacement, Generator* generator) {
  check(given.dim() == 1 || given.dim() == 2, TensorErrorKind::Runtime, "prob_dist must be 1 or 2 dim");
  check(is_floating(given.dtype()), TensorErrorKind::Runtime,
        "multinomial only supports floating-point dtypes for input, got: ", scalar_type_name(given.dtype()));
  check(count > 0, TensorErrorKind::Runtime, "cannot sample n_sample <= 0 samples");
  const int64_t n = given.size(-1), rows = given.dim() == 1 ? 1 : given.sizes()[0];
  check(replacement || count <= n, TensorErrorKind::Runtime,
        "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  if (given.device().is_meta())
    return Tensor::empty(given.dim() == 1 ? Dims{count} : Dims{rows, count}, kInt64, given.device());
  Generator& g = generator_or_default(generator);
  const GradMode no_grad(false);
  const Tensor weights = contiguous(to_dtype(to_device(given, kCpu), given.dtype() == kFloat64 ? kFloat64 : kFloat32));
  const Tensor out = Tensor::empty({rows, count}, kInt64);
  const auto draw = [&](auto* w) {
    for (int64_t r = 0; r < rows; r++) {
      check_weights(w + r * n, n);
      int64_t* to = out.data<int64_t>() + r * count;
      replacement ? draw_with(g, w + r * n, n, count, to) : draw_without(g, w + r * n, n, count, to);
    }
  };
  if (weights.dtype() == kFloat64) draw(weights.data<double>());
  else draw(weights.data<float>());
  return to_device(given.dim() == 1 ? reshape(out, {count}) : out, given.device());
}

Tensor dropout(const Tensor& self, double p, bool train) {
  check(p >= 0 && p <= 1, TensorErrorKind::Runtime, "dropout probability has to be between 0 and 1, but got ", p);
  if (p == 0 || !train || self.numel() == 0) return self;
  if (p == 1) return self * zeros({}, self.dtype(), self.device());
  Tensor mask = Tensor::empty(self.sizes(), self.dtype(), self.device());
  {
    const GradMode no_grad(false);
    bernoulli_(mask, 1 - p);
    mask = mask / (1 - p);
  }
  return self * mask;
}

// ---- the registry ----

namespace {

#define TS_OPTIONS "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
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
// The *_like forms: dtype and device are self's unless given, at `at` and two further.
Tensor fresh_like(OpCall& c, size_t at) {
  const Tensor& self = c.tensor(0);
  return Tensor::empty(self.sizes(), Unbox<optional<DType>>::get(c, at).value_or(self.dtype()),
                       Unbox<optional<Device>>::get(c, at + 2).value_or(self.device()));
}
void rand_like_kernel(OpCall& c) {
  const Tensor out = fresh_like(c, 1);
  uniform_(out, 0, 1);
  return_value(c, out);
}
void randn_like_kernel(OpCall& c) {
  const Tensor out = fresh_like(c, 1);
  normal_(out, 0, 1);
  return_value(c, out);
}
template <size_t first>
void randint_like_kernel(OpCall& c) {
  const Tensor out = fresh_like(c, first + 1);
  random_(out, first == 2 ? Unbox<int64_t>::get(c, 1) : 0, Unbox<int64_t>::get(c, first));
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
void random_kernel(OpCall& c) { random_(target(c), 0, std::nullopt, Unbox<Generator*>::get(c, 1)); }
void random_to_kernel(OpCall& c) { random_(target(c), 0, Unbox<int64_t>::get(c, 1), Unbox<Generator*>::get(c, 2)); }
void random_from_kernel(OpCall& c) {
  random_(target(c), Unbox<int64_t>::get(c, 1), Unbox<optional<int64_t>>::get(c, 2), Unbox<Generator*>::get(c, 3));
}

void bernoulli_fill_kernel(OpCall& c) { bernoulli_(target(c), Unbox<double>::get(c, 1), Unbox<Generator*>::get(c, 2)); }
void bernoulli_fill_tensor_kernel(OpCall& c) {
  const GradMode no_grad(false);
  const Tensor& self = target(c);
  copy_into(self, bernoulli(expand(c.tensor(1), self.sizes()), Unbox<Generator*>::get(c, 2)));
  self.bump_version();
}
Tensor bernoulli_of(const Tensor& self, double p, Generator* g) {
  const Tensor out = empty_like(self);
  bernoulli_(out, p, g);
  return out;
}

// torch.normal with tensors: standard normals of the shape, times std, plus mean.
Tensor normal_of(const Operand& mean, const Operand& std, Ints size, const Tensor& like, Generator* g) {
  const GradMode no_grad(false);
  return randn(size, like.dtype(), like.device(), g) * std.as_tensor() + mean.as_tensor();
}
Tensor normal_tensor_tensor(const Tensor& mean, const Tensor& std, Generator* g) {
  return normal_of(mean, std, broadcast_shapes(mean.sizes(), std.sizes()), mean, g);
}
Tensor normal_tensor_float(const Tensor& mean, double std, Generator* g) {
  return normal_of(mean, std, mean.sizes(), mean, g);
}
Tensor normal_float_tensor(double mean, const Tensor& std, Generator* g) {
  return normal_of(mean, std, std.sizes(), std, g);
}
void normal_size_kernel(OpCall& c) {
  const Dims size = Unbox<Dims>::get(c, 2);
  const Tensor out =
      Tensor::empty(size, float_type(Unbox<optional<DType>>::get(c, 4)), device_of(Unbox<optional<Device>>::get(c, 6)));
  normal_(out, Unbox<double>::get(c, 0), Unbox<double>::get(c, 1), Unbox<Generator*>::get(c, 3));
  return_value(c, out);
}

constexpr uint32_t kMake = kFunction | kRandom | kNoGrad, kFill = kMethod | kRandom | kNoGrad;

#define TS_KERNEL(NAME, SCHEMA, DOC, FLAGS, KERNEL, SAMPLES) \
  static const OpRegistration TS_OP_JOIN(ts_op_, __COUNTER__) { #NAME, SCHEMA, DOC, FLAGS, KERNEL, {}, 0, SAMPLES }

TS_KERNEL(rand, "rand(int[] size, *, Generator? generator=None, " TS_OPTIONS ") -> Tensor",
          "Uniform numbers of [0, 1).", kMake | kSizes | kOut, &rand_kernel, "[2, 3]");
TS_KERNEL(randn, "randn(int[] size, *, Generator? generator=None, " TS_OPTIONS ") -> Tensor",
          "Standard normal numbers.", kMake | kSizes | kOut, &randn_kernel, "[2, 3]");
TS_KERNEL(randint, "randint(int high, int[] size, *, Generator? generator=None, " TS_OPTIONS ") -> Tensor",
          "Integers of [0, high).", kMake | kOut, &randint_kernel<1>, "9, [2, 3]");
TS_KERNEL(randint, "randint.low(int low, int high, int[] size, *, Generator? generator=None, " TS_OPTIONS ") -> Tensor",
          "Integers of [low, high).", kMake | kOut, &randint_kernel<2>, "3, 9, [2, 3]");
TS_KERNEL(randperm, "randperm(int n, *, Generator? generator=None, " TS_OPTIONS ") -> Tensor",
          "0 to n - 1 in random order.", kMake | kOut, &randperm_kernel, "5");
TS_KERNEL(rand_like, "rand_like(Tensor self, *, " TS_OPTIONS ") -> Tensor", "Uniform numbers in self's shape.", kMake,
          &rand_like_kernel, "f[2,3]");
TS_KERNEL(randn_like, "randn_like(Tensor self, *, " TS_OPTIONS ") -> Tensor", "Normal numbers in self's shape.", kMake,
          &randn_like_kernel, "f[2,3]");
TS_KERNEL(randint_like, "randint_like(Tensor self, int high, *, " TS_OPTIONS ") -> Tensor",
          "Integers of [0, high) in self's shape.", kMake, &randint_like_kernel<1>, "f[2,3], 9");
TS_KERNEL(randint_like, "randint_like.low(Tensor self, int low, int high, *, " TS_OPTIONS ") -> Tensor",
          "Integers of [low, high) in self's shape.", kMake, &randint_like_kernel<2>, "f[2,3], 3, 9");
TS_KERNEL(uniform_, "uniform_(Tensor self, float from=0, float to=1, *, Generator? generator=None) -> Tensor",
          "Fills with uniform numbers of [from, to).", kFill, &uniform_kernel, "f[3], -1, 2");
TS_KERNEL(normal_, "normal_(Tensor self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor",
          "Fills with normal numbers.", kFill, &normal_kernel, "f[3], 1, 2");
TS_KERNEL(exponential_, "exponential_(Tensor self, float lambd=1, *, Generator? generator=None) -> Tensor",
          "Fills with exponential numbers.", kFill, &exponential_kernel, "f[3], 2");
TS_KERNEL(random_, "random_(Tensor self, *, Generator? generator=None) -> Tensor",
          "Fills with integers that the dtype holds exactly.", kFill, &random_kernel, "f[3]");
TS_KERNEL(random_, "random_.to(Tensor self, int to, *, Generator? generator=None) -> Tensor",
          "Fills with integers of [0, to).", kFill, &random_to_kernel, "i[3]<2, 9");
TS_KERNEL(random_, "random_.from(Tensor self, int from, int? to, *, Generator? generator=None) -> Tensor",
          "Fills with integers of [from, to).", kFill, &random_from_kernel, "i[3]<2, 3, 9");
TS_KERNEL(bernoulli_, "bernoulli_.float(Tensor self, float p=0.5, *, Generator? generator=None) -> Tensor",
          "Fills with 1 with probability p, else 0.", kFill, &bernoulli_fill_kernel, "f[3], 0.3");
TS_KERNEL(bernoulli_, "bernoulli_.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor",
          "Fills with 1 with each element's probability.", kFill, &bernoulli_fill_tensor_kernel, "f[3], p[3]");
TS_OP(bernoulli, "bernoulli(Tensor self, *, Generator? generator=None) -> Tensor",
      "1 with the probability that each element gives, else 0.", kFunction | kMethod | kRandom, &bernoulli, "p[3,4]");
TS_OP(bernoulli, "bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor",
      "1 with probability p, else 0.", kFunction | kMethod | kRandom | kNoGrad, &bernoulli_of, "f[3,4], 0.4");
TS_OP(normal, "normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor",
      "Normal numbers, each with its own mean and std.", kMake, &normal_tensor_tensor, "f[3], p[3]");
TS_OP(normal, "normal.Tensor_float(Tensor mean, float std=1, *, Generator? generator=None) -> Tensor",
      "Normal numbers, each with its own mean.", kMake, &normal_tensor_float, "f[3], 2");
TS_OP(normal, "normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor",
      "Normal numbers, each with its own std.", kMake, &normal_float_tensor, "1.5, p[3]");
TS_KERNEL(normal,
          "normal.float_float(float mean, float std, int[] size, *, Generator? generator=None, " TS_OPTIONS
          ") -> Tensor",
          "Normal numbers.", kMake | kOut, &normal_size_kernel, "1.5, 2, [2, 3]");
TS_OP(multinomial,
      "multinomial(Tensor self, int num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor",
      "Indices drawn by their weights.", kMake | kMethod, &multinomial,
      "p[3,4], 2\n"
      "p[4], 6, True");
TS_OP(dropout, "dropout(Tensor input, float p=0.5, bool train=True) -> Tensor",
      "Zeroes elements with probability p and scales the others by 1 / (1 - p).", kFunction | kFunctional | kRandom,
      &dropout,
      "f[3,4], 0.4\n"
      "f[3], 0.5, False");
#undef TS_KERNEL
#undef TS_OPTIONS

}  // namespace
}  // namespace tessera::tensor

// Draws by tensors of probabilities, weights, means: each element of the result follows its own.
// compile: small, dynamic-vectors (seldom run)
#include <algorithm>
#include <limits>

#include "runtime/autograd/record.h"
#include "runtime/device/meta.h"
#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/parametric_draws.h"
#include "runtime/ops/random_draws.h"
#include "runtime/ops/random_ops.h"
#include "runtime/ops/sorting.h"
#include "runtime/ops/views.h"
#include "runtime/pieces.h"

namespace tessera::tensor {

namespace {

// Where the numbers are drawn to: row by row, on the host.
Tensor on_host(const Tensor& out) {
  return out.device().is_cpu() && out.is_contiguous() ? out : Tensor::empty(out.sizes(), out.dtype());
}

struct Bernoulli {
  static Meta shape(const Tensor& self, Generator*) {
    if (self.numel()) {
      check(!words_are_cudas(self.device()) || is_floating(self.dtype()), TensorErrorKind::Runtime,
            "expected probabilities tensor to have floating type, got ", scalar_type_name(self.dtype()));
      if (is_complex(self.dtype())) refuse_type(self, "bernoulli_tensor_cpu_self_");
      require_type(kFloatTypes, self, "bernoulli_tensor_cpu_p_");
    }
    return Meta(self.sizes(), self);
  }
  static void run(const Tensor& out, const Tensor& self, Generator* generator) {
    if (self.numel() == 0) return;
    if (DeviceGenerator* place = drawing_there(self.device(), generator);
        place && coins_kernel.computes_on(self.device()))
      return toss_there(out, self, *place);
    const Tensor p = contiguous(to_device(self, kCpu)), drawn = on_host(out);
    HostDraws draws(generator, self.device());
    Generator& g = *draws;
    with_type<kFloatTypes>(p.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      draw(g, static_cast<const T*>(p.data_ptr()), static_cast<T*>(drawn.data_ptr()), p.numel());
    });
    if (!drawn.same(out)) copy_into(out, drawn);
  }
  static void grad(Tensor& out, const Tensor& self, Generator*) {
    record(out, "BernoulliBackward0", {&self}, [](Sweep& s) { s.give(0, [&] { return zeros_like(s.g()); }); });
  }

 private:
  static void toss_there(const Tensor& out, const Tensor& self, DeviceGenerator& place) {
    constexpr uint64_t kWords = 12;  // what PyTorch's kernel counts on, of which it draws four
    const Tensor p = contiguous(to_dtype(self, out.dtype() == kFloat64 ? kFloat64 : kFloat32));
    const Tensor drawn = out.is_contiguous() ? out : Tensor::empty(out.sizes(), out.dtype(), out.device());
    coins_kernel(out.device(), {out.dtype(), p.data_ptr(), drawn.data_ptr(), p.numel(), place.take(kWords)});
    if (!drawn.same(out)) copy_into(out, drawn);
  }

  template <class T>
  static void draw(Generator& g, const T* from, T* to, int64_t n) {
    in_pieces(n, [&](int64_t i, int64_t end) {
      for (; i < end; i++) {
        const double chance = convert_element<double>(from[i]);
        check(
            chance >= 0 && chance <= 1, TensorErrorKind::Runtime,
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so, please report an "
            "enhancement request to PyTorch.)");
        to[i] = convert_element<T>((std::is_same_v<T, double> ? g.unit64() : double(g.unit32())) < chance);
      }
    });
  }
};

}  // namespace

Tensor bernoulli(const Tensor& self, Generator* generator) { return apply<Bernoulli>(self, generator); }

namespace {

// Indices of the largest weight / exponential: a draw without replacement in one pass, and that of a single one.
template <class T>
void draw_without(Generator& g, const T* weights, int64_t n, int64_t count, int64_t* out) {
  const Tensor keys = Tensor::empty({n}, dtype_of<T>);
  T* key = keys.data<T>();
  in_pieces(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) key[i] = convert_element<T>(draw_exponential(g, 1.0));
    for (int64_t i = begin; i < end; i++) key[i] = T(weights[i] / key[i]);
  });
  const Tensor order = argsort(keys, 0, true);
  std::copy_n(order.data<int64_t>(), count, out);
}

// Asked of all at once, so that the loop becomes vectors.
template <class T>
void check_weights(const T* w, int64_t n) {
  int invalid = 0, any = 0;
  in_pieces(n, [&](int64_t i, int64_t end) {
    for (; i < end; i++)
      invalid |= int(!(w[i] >= 0)) | int(!(w[i] <= std::numeric_limits<T>::max())), any |= int(w[i] > 0);
  });
  check(!invalid, TensorErrorKind::Runtime, "probability tensor contains either `inf`, `nan` or element < 0");
  check(any, TensorErrorKind::Runtime, "invalid multinomial distribution (sum of probabilities <= 0)");
}

// The first sum that is not below `chance`; the last one is not. Several are looked for in step: each waits for memory.
template <class T, size_t kTogether>
void find_places(const T* sums, int64_t n, const double (&chance)[kTogether], int64_t (&place)[kTogether]) {
  std::fill_n(place, kTogether, 0);
  for (int64_t left = n; left > 1;) {
    const int64_t half = left / 2;
    for (size_t j = 0; j < kTogether; j++) place[j] += double(sums[place[j] + half - 1]) < chance[j] ? half : 0;
    left -= half;
  }
}

template <class T>
void draw_with(Generator& g, const T* weights, int64_t n, int64_t count, int64_t* out) {
  const Tensor memory = Tensor::empty({n}, dtype_of<T>);
  T* sums = memory.data<T>();
  T total = 0;
  in_pieces(n, [&](int64_t i, int64_t end) {
    for (; i < end; i++) {
      check(weights[i] >= 0, TensorErrorKind::Runtime,
            "invalid multinomial distribution (encountering probability entry < 0)");
      check(weights[i] <= std::numeric_limits<T>::max(), TensorErrorKind::Runtime,
            "invalid multinomial distribution (encountering probability entry = infinity or NaN)");
      sums[i] = total = T(total + weights[i]);
    }
  });
  check(total > 0, TensorErrorKind::Runtime, "invalid multinomial distribution (sum of probabilities <= 0)");
  in_pieces(n, [&](int64_t i, int64_t end) {
    for (; i < end; i++) sums[i] = T(sums[i] / total);
  });
  sums[n - 1] = 1;
  constexpr int64_t kTogether = 8;
  double chance[kTogether] = {};
  int64_t place[kTogether];
  for (int64_t k = 0; k < count; k += kTogether) {
    if (k % (1 << 13) == 0) Context::current().poll();
    const int64_t some = std::min(kTogether, count - k);
    for (int64_t j = 0; j < some; j++) chance[j] = g.unit64();
    find_places(sums, n, chance, place);
    std::copy_n(place, some, out + k);
  }
}

// On the device, as PyTorch's CUDA kernels do it.
void draw_places_there(const Tensor& out, const Tensor& self, int64_t count, bool again, Generator* generator,
                       DeviceGenerator& place) {
  const int64_t n = self.size(-1), rows = self.numel() / n;
  const Tensor w = contiguous(to_dtype(self, self.dtype() == kFloat64 ? kFloat64 : kFloat32));
  weights_kernel(w.device(), {w.dtype(), w.data_ptr(), rows, n});
  if (!again) {
    const Tensor waits = Tensor::empty(w.sizes(), w.dtype(), w.device());
    exponential_(waits, 1.0, generator);
    const Tensor keys = w / waits;
    return copy_into(out, count == 1 ? argmax(keys, -1, true) : std::get<1>(topk(keys, count)));
  }
  const Tensor shares = contiguous(w / sum(w, Dims{-1}, true)), sums = contiguous(cumsum(shares, -1));
  constexpr int64_t kMostRows = 65535;  // of PyTorch's grid; each of its threads draws once for each turn
  const bool direct = out.is_contiguous();
  const Tensor drawn = direct ? out : Tensor::empty(out.sizes(), kInt64, out.device());
  places_kernel(out.device(), {w.dtype(), sums.data_ptr(), shares.data_ptr(), drawn.data<int64_t>(), rows, n, count,
                               place.take(uint64_t((rows - 1) / kMostRows + 1) * 4)});
  if (!direct) copy_into(out, drawn);
}

struct Multinomial {
  static Meta shape(const Tensor& self, int64_t count, bool replacement, Generator*) {
    check(self.dim() == 1 || self.dim() == 2, TensorErrorKind::Runtime, "prob_dist must be 1 or 2 dim");
    check(is_floating(self.dtype()), TensorErrorKind::Runtime,
          "multinomial only supports floating-point dtypes for input, got: ", scalar_type_name(self.dtype()));
    check(count > 0, TensorErrorKind::Runtime, "cannot sample n_sample <= 0 samples");
    check(replacement || count <= self.size(-1), TensorErrorKind::Runtime,
          "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
    return {self.dim() == 1 ? Dims{count} : Dims{self.sizes()[0], count}, kInt64, self.device()};
  }
  static void run(const Tensor& out, const Tensor& self, int64_t count, bool replacement, Generator* generator) {
    const int64_t n = self.size(-1), rows = self.dim() == 1 ? 1 : self.sizes()[0];
    const bool again = replacement && count > 1;  // a single one is drawn as without replacement
    if (rows == 0) return;
    check(again || n > 0, TensorErrorKind::Runtime,
          "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.");
    if (DeviceGenerator* place = drawing_there(self.device(), generator);
        place && n > 0 && places_kernel.has(self.device().type))
      return draw_places_there(out, self, count, again, generator, *place);
    HostDraws draws(generator, self.device());
    Generator& g = *draws;
    const Tensor weights = contiguous(to_dtype(to_device(self, kCpu), self.dtype() == kFloat64 ? kFloat64 : kFloat32));
    const Tensor drawn = on_host(out);
    const auto draw = [&](auto* w) {
      for (int64_t r = 0; !again && r < rows; r++) check_weights(w + r * n, n);
      for (int64_t r = 0; r < rows; r++) {
        int64_t* to = drawn.data<int64_t>() + r * count;
        again ? draw_with(g, w + r * n, n, count, to) : draw_without(g, w + r * n, n, count, to);
      }
    };
    if (weights.dtype() == kFloat64) draw(weights.data<double>());
    else draw(weights.data<float>());
    if (!drawn.same(out)) copy_into(out, drawn);
  }
};

}  // namespace

Tensor multinomial(const Tensor& self, int64_t count, bool replacement, Generator* generator) {
  return apply<Multinomial>(self, count, replacement, generator);
}

namespace {

/// Elements that a thread of PyTorch's kernel takes next to each other: as many as it loads at once, and as fit n.
int dropout_width(const Tensor& x) {
  int width = 16 / int(item_size(x.dtype()));
  const auto address = reinterpret_cast<uintptr_t>(x.data_ptr());
  while (width > 1 && (address % (size_t(width) * item_size(x.dtype())) != 0 || x.numel() % width != 0)) width /= 2;
  return width;
}

Tensor dropout_gradient(const Tensor& g, const Tensor& mask, double share) {
  if (needs_grad(g) || g.strides() != mask.strides()) return g * mask * (1 / share);
  const Tensor out = empty_like_strided(g, g.dtype());
  dropout_kernel(g.device(), {.dtype = g.dtype(),
                              .width = 0,
                              .n = g.numel(),
                              .keep = share,
                              .x = g.data_ptr(),
                              .out = out.data_ptr(),
                              .mask = static_cast<bool*>(mask.data_ptr()),
                              .grid = {}});
  return out;
}

/// In one pass, with the mask kept as bool.
Tensor drop_there(const Tensor& self, double share, DeviceGenerator& place) {
  const Tensor mask = empty_like_strided(self, kBool), x = self.strides() == mask.strides() ? self : contiguous(self);
  Tensor out = empty_like_strided(self, self.dtype());
  dropout_kernel(self.device(), {.dtype = self.dtype(),
                                 .width = x.same(self) ? dropout_width(x) : 1,
                                 .n = x.numel(),
                                 .keep = share,
                                 .x = x.data_ptr(),
                                 .out = out.data_ptr(),
                                 .mask = static_cast<bool*>(mask.data_ptr()),
                                 .grid = draw_grid(self.device(), place, x.numel(), 4)});
  if (needs_grad(self))
    record(out, "NativeDropoutBackward0", {&self}, keep(mask),
           [share](Sweep& s) { s.give(0, [&] { return dropout_gradient(s.g(), s.kept(0), share); }); });
  return out;
}

}  // namespace

Tensor dropout(const Tensor& self, double p, bool train) {
  check(p >= 0 && p <= 1, TensorErrorKind::Runtime, "dropout probability has to be between 0 and 1, but got ", p);
  if (p == 0 || !train || self.numel() == 0) return self;
  if (p == 1) return self * zeros({}, self.dtype(), self.device());
  check(is_floating(self.dtype()) || is_complex(self.dtype()), TensorErrorKind::Runtime,
        "result type Float can't be cast to the desired output type ", scalar_type_name(self.dtype()));
  if (DeviceGenerator* place = drawing_there(self.device(), nullptr);
      place && is_floating(self.dtype()) && !is_float8(self.dtype()) && dropout_kernel.has(self.device().type))
    return drop_there(self, 1 - p, *place);
  Tensor mask = empty_like_strided(  // drawn as the elements of the input lie in memory
      self, is_complex(self.dtype()) ? real_type(self.dtype()) : self.dtype());
  {
    const GradMode no_grad(false);
    bernoulli_(mask, 1 - p);
    mask = mask / (1 - p);
  }
  return self * mask;
}

namespace {

// torch.normal with tensors: standard normals of the shape, times std, plus mean. Neither gets a gradient but zeros.
void check_std(double std) {
  check(std >= 0.0, TensorErrorKind::Runtime, "normal expects std >= 0.0, but found std ", std);
}
void check_std(const Tensor& std) {
  check(!is_complex(std.dtype()), TensorErrorKind::Runtime, "normal expects standard deviation to be non-complex");
}
void check_values(const Tensor& std) {
  check(!any_true(~(std >= 0.0)), TensorErrorKind::Runtime, "normal expects all elements of std >= 0.0");
}
void refuse_complex_gradient(const Tensor& out) {
  check(!is_complex(out.dtype()), TensorErrorKind::NotImplemented,
        "normal does not support automatic differentiation for outputs with complex dtype.");
}
void draw_normal(const Tensor& out, const Operand& mean, const Operand& std, Generator* g) {
  copy_into(out, randn(out.sizes(), out.dtype(), out.device(), g) * std.as_tensor() + mean.as_tensor());
}
void record_nothing(Tensor& out, const char* name, const Tensor& input) {
  refuse_complex_gradient(out);
  record(out, name, {&input}, [sizes = Dims(input.sizes()), dtype = input.dtype()](Sweep& s) {
    s.give(0, [&] { return zeros(sizes, dtype, s.g().device()); });
  });
}

struct NormalBoth {
  static constexpr TypeRule types{kFloatTypes | kComplexTypes, "normal_kernel_cpu"};
  static Meta shape(const Tensor& mean, const Tensor& std, Generator*) {
    check_std(std);
    return Meta(broadcast_shapes(mean.sizes(), std.sizes()), mean);
  }
  static void run(const Tensor& out, const Tensor& mean, const Tensor& std, Generator* g) {
    check_values(std);
    draw_normal(out, mean, std, g);
  }
  static void grad(Tensor& out, const Tensor& mean, const Tensor& std, Generator*) {
    refuse_complex_gradient(out);
    record(out, "NormalBackward3", {&mean, &std}, keep(mean, std), [](Sweep& s) {
      s.give(0, [&] { return zeros_like(s.kept(0)); });
      s.give(1, [&] { return zeros_like(s.kept(1)); });
    });
  }
};
struct NormalMean {
  static constexpr TypeRule types{kFloatTypes | kComplexTypes, "normal_kernel_cpu"};
  static Meta shape(const Tensor& mean, double std, Generator*) {
    check_std(std);
    return Meta(mean.sizes(), mean);
  }
  static void run(const Tensor& out, const Tensor& mean, double std, Generator* g) { draw_normal(out, mean, std, g); }
  static void grad(Tensor& out, const Tensor& mean, double, Generator*) {
    record_nothing(out, "NormalBackward1", mean);
  }
};
struct NormalStd {
  static constexpr TypeRule types{kFloatTypes | kComplexTypes, "normal_kernel_cpu"};
  static Meta shape(double, const Tensor& std, Generator*) {
    check_std(std);
    return Meta(std.sizes(), std);
  }
  static void run(const Tensor& out, double mean, const Tensor& std, Generator* g) {
    check_values(std);
    draw_normal(out, mean, std, g);
  }
  static void grad(Tensor& out, double, const Tensor& std, Generator*) { record_nothing(out, "NormalBackward2", std); }
};

constexpr uint32_t kDraw = kFunction | kRandom | kOut;
TS_OP(bernoulli, "bernoulli(Tensor self, *, Generator? generator=None) -> Tensor",
      "1 with the probability that each element gives, else 0.", kDraw | kMethod, Bernoulli,
      "p[3,4]\n"
      "p[3,4].t\n"
      "f{2} -> RuntimeError: Expected p_in >= 0 && p_in <= 1 to be true, but got false.\n"
      "i[2]<2 -> NotImplementedError: \"bernoulli_tensor_cpu_p_\" not implemented for 'Long'\n"
      "c[2] -> NotImplementedError: \"bernoulli_tensor_cpu_self_\" not implemented for 'ComplexFloat'",
      .out = kOutAnything);
TS_OP(normal, "normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor",
      "Normal numbers, each with its own mean and std.", kDraw, NormalBoth,
      "f[3], p[3]\n"
      "f[3,1], p[2]\n"
      "c[2], p[2]\n"
      "f[2], f{1,-1} -> RuntimeError: normal expects all elements of std >= 0.0\n"
      "f[2], c[2] -> RuntimeError: normal expects standard deviation to be non-complex\n"
      "f[2], p[3] -> RuntimeError: The size of tensor a (2) must match the size of tensor b (3)",
      .out = {OutRule::Castable, "\"normal_kernel_cpu\" not implemented for '$O'", TensorErrorKind::NotImplemented},
      .one_device = "Tensor_Tensor_normal");
TS_OP(normal, "normal.Tensor_float(Tensor mean, float std=1, *, Generator? generator=None) -> Tensor",
      "Normal numbers, each with its own mean.", kDraw, NormalMean,
      "f[3], 2\n"
      "f[2], -1 -> RuntimeError: normal expects std >= 0.0, but found std -1\n"
      "i[2]<3 -> NotImplementedError: \"normal_kernel_cpu\" not implemented for 'Long'",
      .out = {OutRule::Castable, "\"normal_kernel_cpu\" not implemented for '$O'", TensorErrorKind::NotImplemented});
TS_OP(normal, "normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor",
      "Normal numbers, each with its own std.", kDraw, NormalStd,
      "1.5, p[3]\n"
      "1.5, f{1,-1} -> RuntimeError: normal expects all elements of std >= 0.0",
      .out = {OutRule::Castable, "\"normal_kernel_cpu\" not implemented for '$O'", TensorErrorKind::NotImplemented});
TS_OP(multinomial,
      "multinomial(Tensor self, int num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor",
      "Indices drawn by their weights.", kDraw | kMethod | kNoGrad, Multinomial,
      "p[3,4], 2\n"
      "p[4], 6, True\n"
      "f{0,0}, 2, True -> RuntimeError: invalid multinomial distribution (sum of probabilities <= 0)\n"
      "f{1,-1}, 2, True -> RuntimeError: invalid multinomial distribution (encountering probability entry < 0)\n"
      "p[2,2,2], 1 -> RuntimeError: prob_dist must be 1 or 2 dim\n"
      "p[3], 0 -> RuntimeError: cannot sample n_sample <= 0 samples\n"
      "p[3], 4 -> RuntimeError: cannot sample n_sample > prob_dist.size(-1) samples without replacement\n"
      "i[3]<4, 1 -> RuntimeError: multinomial only supports floating-point dtypes for input, got: Long\n"
      "f{1,-1}, 1 -> RuntimeError: probability tensor contains either `inf`, `nan` or element < 0",
      .out = {OutRule::Same, "multinomial expects Long tensor out, got: $O"});
TS_OP(dropout, "dropout(Tensor input, float p=0.5, bool train=True) -> Tensor",
      "Zeroes elements with probability p and scales the others by 1 / (1 - p).", kFunction | kFunctional | kRandom,
      &dropout,
      "f[3,4], 0.4\n"
      "f[3], 0.5, False\n"
      "f[3], 1\n"
      "f[3], 1.5 -> RuntimeError: dropout probability has to be between 0 and 1, but got 1.5\n"
      "i[3]<4 -> RuntimeError: result type Float can't be cast to the desired output type Long");

}  // namespace
}  // namespace tessera::tensor

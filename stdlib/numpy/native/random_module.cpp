// numpy._random.Draws: a generator that fills tensors. Shapes, ranges and names of arguments are the scripts' part.
// compile: small (its functions read arguments, draws are elsewhere)
#include "stdlib/numpy/native/random_module.h"

#include <sys/random.h>

#include <chrono>

#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"
#include "stdlib/numpy/native/array_calls.h"
#include "stdlib/numpy/native/draws.h"
#include "stdlib/numpy/native/sums.h"
#include "stdlib/python/native/support.h"
#include "stdlib/torch/state.h"
#include "stdlib/torch/tensor_type.h"

namespace tessera::stdlib {
namespace {

struct DrawsObject : Object {
  std::unique_ptr<Draws> draws;
};

Draws& draws_of(const Args& args) { return *object_cast<DrawsObject>(args[0])->draws; }

void destroy_draws(Interpreter& in, Object* self) { free_object(in, known_cast<DrawsObject>(self)); }

Value make_draws(Interpreter& in, Type* type, const Args& args) {
  const Value* legacy = make_argument(args, 0, "legacy");
  const Value* kind = make_argument(args, 1, "kind");
  DrawsObject* made = make_object<DrawsObject>(in, type);
  Value result = Value::adopt(made);
  made->draws = std::make_unique<Draws>(legacy != nullptr && truth(in, *legacy),
                                        kind != nullptr && is_str(*kind) ? std::string(text_of(*kind)) : "MT19937");
  return result;
}

// The contiguous tensor that a method fills.
template <class T>
std::span<T> elements(Interpreter& in, const Value& v, DType dtype) {
  const Tensor& t = expect_tensor(in, v, "out");
  if (t.dtype() != dtype || !t.is_contiguous())
    throw Error(ErrorKind::ValueError, "out must be a contiguous tensor of " + std::string(name(dtype)));
  return {static_cast<T*>(t.data_ptr()), static_cast<size_t>(t.numel())};
}

void poll(Interpreter& in) { in.poll(1024); }

template <class T, class F>
Value fill(Interpreter& in, const Value& v, DType dtype, F&& draw) {
  const std::span<T> out = elements<T>(in, v, dtype);
  for (size_t i = 0; i < out.size(); ++i) {
    if ((i & 0xFFFF) == 0xFFFF) poll(in);
    out[i] = draw();
  }
  return v;
}

Value seed(Interpreter& in, const Args& args) {
  const int64_t value = int_argument(in, args[1]);
  if (draws_of(args).twister() == nullptr) throw Error(ErrorKind::TypeError, "this generator is seeded by words");
  draws_of(args).seed(static_cast<uint32_t>(value));
  return Value::none();
}

Value seed_words(Interpreter& in, const Args& args) {
  if (!is_list(args[1])) throw Error(ErrorKind::TypeError, "words must be a list");
  std::vector<uint32_t> words;
  for (uint32_t i = 0; i < as_list(args[1])->size; ++i)
    words.push_back(static_cast<uint32_t>(int_argument(in, as_list(args[1])->items[i])));
  if (words.empty()) throw Error(ErrorKind::ValueError, "Seed must be non-empty");
  draws_of(args).seed_words(words);
  return Value::none();
}

// Always the same for who may not ask the system.
Value fresh_words(Interpreter& in, const Args&) {
  uint32_t words[4] = {};
  if (in.limits.entropy && getrandom(words, sizeof words, 0) != static_cast<ssize_t>(sizeof words)) {
    const auto now = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    words[0] = static_cast<uint32_t>(now), words[1] = static_cast<uint32_t>(now >> 32), words[2] = words[3] = 0;
  }
  const Value list = make_list(in, 4);
  for (const uint32_t word : words) list_append(in, as_list(list), Value::integer(word));
  return list;
}

Value derived_words(Interpreter& in, const Args& args) {
  std::vector<uint32_t> entropy, words(static_cast<size_t>(int_argument(in, args[1])));
  for (uint32_t i = 0; is_list(args[0]) && i < as_list(args[0])->size; ++i)
    entropy.push_back(static_cast<uint32_t>(int_argument(in, as_list(args[0])->items[i])));
  const int64_t pool = int_argument(in, args[2]);
  if (pool < 4) throw_error(ErrorKind::ValueError, "The size of the entropy pool should be at least 4");
  constexpr int64_t kMostWords = 4096;  // mixing the pool takes the square of it in steps, and hears no interrupt
  if (pool > kMostWords) throw_error(ErrorKind::ValueError, "The size of the entropy pool should be at most 4096");
  seed_sequence(entropy, words, static_cast<size_t>(pool));
  const Value list = make_list(in, words.size());
  for (const uint32_t word : words) list_append(in, as_list(list), Value::integer(word));
  return list;
}

Value real(Interpreter& in, const Args& args) {
  return fill<double>(in, args[1], kFloat64, [&draws = draws_of(args)] { return draws.real(); });
}

Value normal(Interpreter& in, const Args& args) {
  return fill<double>(in, args[1], kFloat64, [&draws = draws_of(args)] { return draws.normal(); });
}

Value exponential(Interpreter& in, const Args& args) {
  return fill<double>(in, args[1], kFloat64, [&draws = draws_of(args)] { return draws.exponential(); });
}

Value real32(Interpreter& in, const Args& args) {
  return fill<float>(in, args[1], kFloat32, [&draws = draws_of(args)] { return draws.real32(); });
}

Value normal32(Interpreter& in, const Args& args) {
  return fill<float>(in, args[1], kFloat32, [&draws = draws_of(args)] { return draws.normal32(); });
}

Value exponential32(Interpreter& in, const Args& args) {
  return fill<float>(in, args[1], kFloat32, [&draws = draws_of(args)] { return draws.exponential32(); });
}

Value gamma32(Interpreter& in, const Args& args) {
  const float shape = static_cast<float>(real_argument(in, args[2]));
  return fill<float>(in, args[1], kFloat32, [&draws = draws_of(args), shape] { return draws.gamma32(shape); });
}

Value raw(Interpreter& in, const Args& args) {
  return fill<int64_t>(in, args[1], kInt64, [&draws = draws_of(args)] { return static_cast<int64_t>(draws.bits().raw()); });
}

// The words of a state as ints below 2^63 and their top bits: (low 32 bits, high 32 bits) of each.
Value get_words(Interpreter& in, const Args& args) {
  const Value list = make_list(in, 16);
  for (const uint64_t word : draws_of(args).bits().state())
    for (const uint64_t half : {word & 0xFFFFFFFFU, word >> 32}) list_append(in, as_list(list), Value::integer(static_cast<int64_t>(half)));
  return list;
}

Value set_words(Interpreter& in, const Args& args) {
  const std::span<uint64_t> state = draws_of(args).bits().state();
  if (!is_list(args[1]) || as_list(args[1])->size != 2 * state.size()) throw Error(ErrorKind::ValueError, "state is the wrong size");
  std::vector<uint64_t> halves;
  for (uint32_t i = 0; i < as_list(args[1])->size; ++i)
    halves.push_back(static_cast<uint32_t>(int_argument(in, as_list(args[1])->items[i])));
  for (size_t i = 0; i < state.size(); ++i) state[i] = halves[2 * i] | halves[2 * i + 1] << 32;
  return Value::none();
}

Value gamma(Interpreter& in, const Args& args) {
  const double shape = real_argument(in, args[2]);
  return fill<double>(in, args[1], kFloat64, [&draws = draws_of(args), shape] { return draws.gamma(shape); });
}

Value beta(Interpreter& in, const Args& args) {
  const double a = real_argument(in, args[2]), b = real_argument(in, args[3]);
  return fill<double>(in, args[1], kFloat64, [&draws = draws_of(args), a, b] { return draws.beta(a, b); });
}

Value poisson(Interpreter& in, const Args& args) {
  const double mean = real_argument(in, args[2]);
  return fill<int64_t>(in, args[1], kInt64, [&draws = draws_of(args), mean] { return draws.poisson(mean); });
}

Value binomial(Interpreter& in, const Args& args) {
  const int64_t count = int_argument(in, args[2]);
  const double chance = real_argument(in, args[3]);
  return fill<int64_t>(in, args[1], kInt64,
                       [&draws = draws_of(args), count, chance] { return draws.binomial(count, chance); });
}

Value geometric(Interpreter& in, const Args& args) {
  const double chance = real_argument(in, args[2]);
  return fill<int64_t>(in, args[1], kInt64, [&draws = draws_of(args), chance] { return draws.geometric(chance); });
}

Value integers(Interpreter& in, const Args& args) {
  const std::span<int64_t> out = elements<int64_t>(in, args[1], kInt64);
  const uint64_t low = static_cast<uint64_t>(int_argument(in, args[2]));
  const uint64_t last = static_cast<uint64_t>(int_argument(in, args[3])) - low;
  const std::span<uint64_t> words(reinterpret_cast<uint64_t*>(out.data()), out.size());
  draws_of(args).integers(last, static_cast<int>(int_argument(in, args[4])), words);
  for (uint64_t& word : words) word += low;
  return args[1];
}

// Swaps the elements of a list or of a flat int64 tensor, the last `size - first` of them final. choice() has its own
// way to draw their places.
Value shuffle(Interpreter& in, const Args& args) {
  Draws& draws = draws_of(args);
  const size_t first = static_cast<size_t>(int_argument(in, args[2]));
  const bool for_choice = truth(in, args[3]);
  const auto place = [&](uint64_t last) { return for_choice ? draws.integer(last) : draws.interval(last); };
  if (is_list(args[1])) {
    List& list = *as_list(args[1]);
    for (uint32_t i = list.size; i-- > first;) std::swap(list.items[i], list.items[place(i)]);
    return Value::none();
  }
  const std::span<int64_t> items = elements<int64_t>(in, args[1], kInt64);
  for (size_t i = items.size(); i-- > first;) std::swap(items[i], items[place(i)]);
  return Value::none();
}

// Puts some of the items, drawn one after the other, in front.
Value deal(Interpreter& in, const Args& args) {
  const std::span<int64_t> items = elements<int64_t>(in, args[1], kInt64);
  const size_t count = std::min(static_cast<size_t>(int_argument(in, args[2])), items.size());
  for (size_t i = 0; i < count; ++i) std::swap(items[i], items[i + draws_of(args).interval(items.size() - i - 1)]);
  return Value::none();
}

// Floyd's way to some of many without repetition.
Value sample(Interpreter& in, const Args& args) {
  Draws& draws = draws_of(args);
  const std::span<int64_t> out = elements<int64_t>(in, args[1], kInt64);
  const int64_t population = int_argument(in, args[2]), count = static_cast<int64_t>(out.size());
  std::vector<bool> taken(static_cast<size_t>(population));
  for (int64_t j = population - count; j < population; ++j) {
    int64_t drawn = static_cast<int64_t>(draws.integer(static_cast<uint64_t>(j)));
    if (taken[static_cast<size_t>(drawn)]) drawn = j;
    taken[static_cast<size_t>(drawn)] = true;
    out[static_cast<size_t>(j - population + count)] = drawn;
  }
  return args[1];
}

Value get_state(Interpreter& in, const Args& args) {
  Draws& draws = draws_of(args);
  if (draws.twister() == nullptr) throw Error(ErrorKind::TypeError, "only a Mersenne Twister has this state");
  std::vector<Value> state;
  for (size_t i = 0; i < Mersenne::kWords; ++i) state.push_back(Value::integer(draws.twister()->state()[i]));
  state.push_back(Value::integer(draws.twister()->position()));
  state.push_back(Value::integer(draws.has_spare));
  state.push_back(Value::real(draws.has_spare ? draws.spare : 0.0));
  return make_tuple_moving(in, state.data(), state.size());
}

Value set_state(Interpreter& in, const Args& args) {
  Draws& draws = draws_of(args);
  if (draws.twister() == nullptr || !is_tuple(args[1]) || as_tuple(args[1])->size != Mersenne::kWords + 3)
    throw Error(ErrorKind::ValueError, "state vector is the wrong size");
  const Tuple& state = *as_tuple(args[1]);
  uint32_t words[Mersenne::kWords];
  for (size_t i = 0; i < Mersenne::kWords; ++i) words[i] = static_cast<uint32_t>(int_argument(in, state[i]));
  const int64_t position = int_argument(in, state[Mersenne::kWords]);
  if (position < 0 || position > static_cast<int64_t>(Mersenne::kWords))
    throw Error(ErrorKind::ValueError, "invalid state");
  draws.twister()->set_state(words, static_cast<uint32_t>(position));
  draws.has_spare = int_argument(in, state[Mersenne::kWords + 1]) != 0;
  draws.spare = real_argument(in, state[Mersenne::kWords + 2]);
  return Value::none();
}

Value pairwise_sum(Interpreter& in, const Args& args) {
  const Tensor& t = expect_tensor(in, args[0], "t");
  if (t.dtype() != kFloat32 && t.dtype() != kFloat64) throw_error(ErrorKind::TypeError, "pairwise_sum takes float32 and float64");
  if (!is_list(args[1])) throw_error(ErrorKind::TypeError, "axes must be a list");
  std::vector<int64_t> axes;
  for (uint32_t i = 0; i < as_list(args[1])->size; ++i) axes.push_back(int_argument(in, as_list(args[1])->items[i]));
  return wrap_tensor(in, sum_in_pairs(t, axes, [](void* context) { static_cast<Interpreter*>(context)->check_stop(); }, &in));
}

const NativeDef kMethods[] = {
    {"seed(self, value, /)", seed, "Start again from one number."},
    {"seed_words(self, words, /)", seed_words, "Start again from 32-bit words."},
    {"real(self, out, /)", real, "Numbers of [0, 1)."},
    {"normal(self, out, /)", normal, "Standard normal numbers."},
    {"exponential(self, out, /)", exponential, "Standard exponential numbers."},
    {"real32(self, out, /)", real32, "Numbers of [0, 1) in single precision."},
    {"normal32(self, out, /)", normal32, "Standard normal numbers in single precision."},
    {"exponential32(self, out, /)", exponential32, "Standard exponential numbers in single precision."},
    {"gamma32(self, out, shape, /)", gamma32, "Standard gamma numbers in single precision."},
    {"raw(self, out, /)", raw, "The generator's own words."},
    {"get_words(self)", get_words, "The state, halves of its words."},
    {"set_words(self, halves, /)", set_words, "Go back to a state."},
    {"gamma(self, out, shape, /)", gamma, "Standard gamma numbers."},
    {"beta(self, out, a, b, /)", beta, "Beta numbers."},
    {"poisson(self, out, mean, /)", poisson, "Poisson numbers."},
    {"binomial(self, out, count, chance, /)", binomial, "Binomial numbers."},
    {"geometric(self, out, chance, /)", geometric, "Geometric numbers."},
    {"integers(self, out, low, last, width, /)", integers, "Whole numbers, the last one included."},
    {"deal(self, items, count, /)", deal, "Put some items of a flat int64 tensor, drawn one by one, in front."},
    {"shuffle(self, items, first, for_choice=False, /)", shuffle, "Shuffle a list or a flat int64 tensor."},
    {"sample(self, out, population, /)", sample, "Different whole numbers below one."},
    {"get_state(self)", get_state, "The twister's words, its position and the normal number kept."},
    {"set_state(self, state, /)", set_state, "Go back to a state."},
};

void fill_numpy_random(Interpreter& in, Module& module) {
  NativeTypeSpec spec;
  spec.name = "Draws";
  spec.module = "numpy._random";
  spec.size = sizeof(DrawsObject);
  spec.doc = "Random numbers out of a seed.";
  Type* type = in.new_type(spec);
  type->slots.destroy = destroy_draws;
  type->make = make_draws;
  in.add_methods(type, kMethods, std::size(kMethods));
  set_member(in, module, "Draws", Value(type));
  in.def(module, "pairwise_sum(t, axes)", "The sum along axes, in NumPy's order.", pairwise_sum);
  in.def(module, "fresh_words()", "Words that no seed decides.", fresh_words);
  add_array_calls(in, module);
  in.def(module, "derived_words(entropy, count, pool_size)", "The words of a SeedSequence.", derived_words);
}

}  // namespace

void add_numpy_modules(Interpreter& in) { in.add_native_module("numpy._random", fill_numpy_random); }

}  // namespace tessera::stdlib

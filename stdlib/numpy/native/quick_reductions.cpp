// compile: small (a call takes its time in the operation)
// Reductions and scans in front of numpy's.
#include <algorithm>
#include <cmath>

#include "stdlib/numpy/native/quick_functions.h"
#include "stdlib/numpy/native/sums.h"

namespace tessera::stdlib::arrays {

namespace {

// Sums in NumPy's order; without axis, or along one.
bool total(Interpreter& in, const ArrayCalls& s, const Args& args, bool mean, Value& answer) {
  const Tensor* const t = tensor_in(s, args[0]);
  if (t == nullptr || (t->dtype() != kFloat64 && (t->dtype() != kFloat32 || mean)) || t->numel() == 0) return false;
  int64_t axes[8];
  size_t count = 0;
  if (args.count == 2 && !args[1].is_none()) {
    if (!args[1].is_int() || args[1].as_int() < -t->dim() || args[1].as_int() >= t->dim()) return false;
    axes[count++] = args[1].as_int() < 0 ? args[1].as_int() + t->dim() : args[1].as_int();
  } else {
    if (t->dim() > 8) return false;
    for (int64_t d = 0; d < t->dim(); ++d) axes[count++] = d;
  }
  return attempt(in, [&] {
    Tensor made = sum_in_pairs(*t, {axes, count}, [](void* at) { static_cast<Interpreter*>(at)->poll(1024); }, &in);
    if (mean) {
      const double n = double(t->numel() / std::max<int64_t>(made.numel(), 1));
      auto* const x = static_cast<double*>(made.data_ptr());
      for (int64_t i = 0; i < made.numel(); ++i) x[i] /= n;
    }
    return is_fine(s, made, true) && give(in, s, std::move(made), answer);
  });
}

}  // namespace

bool quick_sum(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) { return total(in, s, args, false, answer); }
bool quick_mean(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) { return total(in, s, args, true, answer); }

namespace {

// The axes of a call: none given, or one number.
bool axis_of(const Args& args, const Tensor& t, std::optional<Dims>& out) {
  if (args.count < 2 || args[1].is_none()) return true;
  if (!args[1].is_int() || args[1].as_int() < -t.dim() || args[1].as_int() >= t.dim()) return false;
  out = Dims{args[1].as_int() < 0 ? args[1].as_int() + t.dim() : args[1].as_int()};
  return true;
}

// A reduction by the tensor operation of a name.
bool reduce_by(Interpreter& in, const ArrayCalls& s, const Args& args, const char* name, bool of_truths, Value& answer) {
  const Tensor* const t = tensor_in(s, args[0]);
  if (t == nullptr || t->numel() == 0 || (of_truths ? t->dtype() != kBool : !takes(BinaryOp::Add, t->dtype(), t->dtype()))) return false;
  std::optional<Dims> axis;
  const auto entries = tensor::find_op(name);
  if (!axis_of(args, *t, axis) || entries.empty() || entries[0]->fast.along == nullptr) return false;
  return attempt(in, [&] {
    Tensor made = entries[0]->fast.along(*t, axis, false);
    return (made.dtype() == t->dtype() || made.dtype() == kInt64) && is_fine(s, made, true) && give(in, s, std::move(made), answer);
  });
}

}  // namespace

bool quick_max(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) { return reduce_by(in, s, args, "amax", false, answer); }
bool quick_min(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) { return reduce_by(in, s, args, "amin", false, answer); }

namespace {

// any (`wanted`) or all of truths, looking no further than it must. A view of other bytes as truths may have more bits than one.
bool search(const ArrayCalls& s, const Args& args, bool wanted, Value& answer) {
  const Tensor* const t = tensor_in(s, args[0]);
  if (t == nullptr || t->dtype() != kBool || !t->is_contiguous() || (args.count > 1 && !args[1].is_none())) return false;
  const size_t n = size_t(t->numel());
  const char* const x = t->bytes();
  const bool is_true = wanted ? n != 0 && (x[0] != 0 || std::memcmp(x, x + 1, n - 1) != 0) : n == 0 || std::memchr(x, 0, n) == nullptr;
  return answer = s.truths[is_true], true;
}

}  // namespace

bool quick_any(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  return search(s, args, true, answer) || reduce_by(in, s, args, "any", true, answer);
}
bool quick_all(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  return search(s, args, false, answer) || reduce_by(in, s, args, "all", true, answer);
}

namespace {

// The standard deviation or the variance of all doubles, in NumPy's steps.
bool deviation(Interpreter& in, const ArrayCalls& s, const Args& args, bool root, Value& answer) {
  const Tensor* const t = tensor_in(s, args[0]);
  if (t == nullptr || args.count != 1 || t->dtype() != kFloat64 || t->numel() == 0 || !t->is_contiguous()) return false;
  return attempt(in, [&] {
    const auto sum = [&](const Tensor& x) {
      const int64_t axis = 0;
      const Tensor made = sum_in_pairs(x, {&axis, 1}, [](void* at) { static_cast<Interpreter*>(at)->poll(1024); }, &in);
      return *static_cast<const double*>(made.data_ptr());
    };
    const int64_t n = t->numel();
    const Tensor flat = t->view_of(Dims{n}, Dims{1});
    const double mean = sum(flat) / double(n);
    Tensor apart = Tensor::empty(Dims{n}, kFloat64);
    const auto* const from = static_cast<const double*>(flat.data_ptr());
    auto* const to = static_cast<double*>(apart.data_ptr());
    for (int64_t i = 0; i < n; ++i) to[i] = (from[i] - mean) * (from[i] - mean);
    const double made = sum(apart) / double(n);
    if (!std::isfinite(made)) return false;
    return answer = boxed(in, s.scalars[size_t(kFloat64)], Value::real(root ? std::sqrt(made) : made)), true;
  });
}

}  // namespace

bool quick_std(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) { return deviation(in, s, args, true, answer); }
bool quick_var(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) { return deviation(in, s, args, false, answer); }

bool quick_cumsum(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  const Tensor* const t = tensor_in(s, args[0]);
  if (t == nullptr || t->dim() != 1 || t->dtype() != kFloat64 || !t->is_contiguous()) return false;
  return attempt(in, [&] {
    Tensor made = Tensor::empty(t->sizes(), kFloat64);
    const auto* const from = static_cast<const double*>(t->data_ptr());
    auto* const to = static_cast<double*>(made.data_ptr());
    double sum = -0.0;
    for (int64_t i = 0; i < t->numel(); ++i) to[i] = sum += from[i];
    return std::isfinite(sum) && (answer = new_array(in, s, std::move(made)), true);
  });
}

namespace {

// The first place of the greatest or least double, which is that of the first NaN.
bool place(Interpreter& in, const ArrayCalls& s, const Args& args, double sign, Value& answer) {
  constexpr int64_t kShort = 64;
  const Tensor* const t = tensor_in(s, args[0]);
  if (t == nullptr || t->dtype() != kFloat64 || !t->is_contiguous() || t->numel() == 0) return false;
  std::optional<Dims> axis;
  if (!axis_of(args, *t, axis) || (axis && (*axis)[0] != t->dim() - 1)) return false;
  const int64_t n = axis ? t->sizes()[size_t(t->dim() - 1)] : t->numel(), rows = t->numel() / n;
  if (n > kShort) return reduce_by(in, s, args, sign > 0 ? "argmax" : "argmin", false, answer);
  return attempt(in, [&] {
    Tensor made = Tensor::empty(axis ? Ints(t->sizes().data(), size_t(t->dim() - 1)) : Ints(), kInt64);
    const auto* x = static_cast<const double*>(t->data_ptr());
    for (int64_t row = 0; row < rows; ++row, x += n) {
      int64_t best = 0;
      for (int64_t i = 0; i < n && x[best] == x[best]; ++i)
        if (!(sign * x[i] <= sign * x[best])) best = i;
      static_cast<int64_t*>(made.data_ptr())[row] = best;
    }
    return give(in, s, std::move(made), answer);
  });
}

}  // namespace

bool quick_argmax(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) { return place(in, s, args, 1, answer); }
bool quick_argmin(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) { return place(in, s, args, -1, answer); }

bool quick_prod(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  int64_t n;
  return args.count == 1 && doubles_in(s, args[0], n) != nullptr && reduce_by(in, s, args, "prod", false, answer);
}

bool count_truths(const ArrayCalls& s, const Value& array, int64_t& count) {
  const Tensor* const t = tensor_in(s, array);
  if (t == nullptr || t->dtype() != kBool || !t->is_contiguous()) return false;
  const char* const x = t->bytes();
  int64_t i = 0;
  count = 0;
  for (const int64_t n = t->numel(); i < n;) {
    uint64_t lanes = 0, seen = 0, word;
    for (int k = 0; k < 255 && i + 8 <= n; ++k, i += 8) std::memcpy(&word, x + i, 8), lanes += word, seen |= word;
    if ((seen & ~kTruths) != 0) return false;
    for (int k = 0; k < 8; ++k) count += int64_t(lanes >> 8 * k & 255);
    if (i + 8 > n)
      for (; i < n; ++i) count += x[i] != 0;
  }
  return true;
}

bool quick_count(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  int64_t count;
  return count_truths(s, args[0], count) && (answer = boxed(in, s.scalars[size_t(kInt64)], Value::integer(count)), true);
}

}  // namespace tessera::stdlib::arrays

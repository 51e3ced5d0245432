// compile: small (a call takes its time in the operation)
// Shapes, creation, parts and joins in front of numpy's, and the table of all functions that stand there.
#include <algorithm>
#include <cmath>

#include "lang/types/list.h"
#include "lang/types/range.h"
#include "lang/types/tuple.h"
#include "runtime/ops/join.h"
#include "runtime/ops/views.h"
#include "stdlib/numpy/native/array_slots.h"
#include "stdlib/numpy/native/quick_functions.h"

namespace tessera::stdlib::arrays {

namespace {

bool quick_shape(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  const Tensor* const t = tensor_in(s, args[0]);
  if (t == nullptr) return false;
  Value sizes[16];
  if (t->dim() > 16) return false;
  for (int64_t d = 0; d < t->dim(); ++d) sizes[d] = Value::integer(t->sizes()[size_t(d)]);
  answer = make_tuple(in, sizes, size_t(t->dim()));
  return true;
}

bool quick_dim(Interpreter&, const ArrayCalls& s, const Args& args, Value& answer) {
  const Tensor* const t = tensor_in(s, args[0]);
  if (t != nullptr) answer = Value::integer(t->dim());
  return t != nullptr;
}

bool quick_size(Interpreter&, const ArrayCalls& s, const Args& args, Value& answer) {
  const Tensor* const t = tensor_in(s, args[0]);
  if (t != nullptr) answer = Value::integer(t->numel());
  return t != nullptr;
}

bool quick_dtype(Interpreter&, const ArrayCalls& s, const Args& args, Value& answer) {
  const Tensor* const t = tensor_in(s, args[0]);
  if (t == nullptr || !is_usual(s, args[0])) return false;
  answer = s.dtypes[size_t(t->dtype())];
  return !answer.is_undefined();
}

bool quick_transposed(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  const Tensor* const t = tensor_in(s, args[0]);
  if (t == nullptr || !is_usual(s, args[0])) return false;
  const Dims sizes(t->sizes()), strides(t->strides());
  Dims back_sizes, back_strides;
  if (args.count > 1) {
    if (args.count - 1 != sizes.size() || sizes.size() > 8) return false;
    uint32_t seen = 0;
    for (uint32_t i = 1; i < args.count; ++i) {
      if (!args[i].is_int() || args[i].as_int() < 0 || args[i].as_int() >= t->dim() || (seen >> args[i].as_int() & 1) != 0) return false;
      seen |= uint32_t{1} << args[i].as_int();
      back_sizes.push_back(sizes[size_t(args[i].as_int())]), back_strides.push_back(strides[size_t(args[i].as_int())]);
    }
  } else {
    for (size_t d = sizes.size(); d-- > 0;) back_sizes.push_back(sizes[d]), back_strides.push_back(strides[d]);
  }
  return attempt(in, [&] { return answer = new_view(in, s, args[0], t->view_of(back_sizes, back_strides)), true; });
}

bool quick_copy(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  const Tensor* const t = tensor_in(s, args[0]);
  if (t == nullptr || !is_usual(s, args[0]) || !t->is_contiguous()) return false;
  return attempt(in, [&] {
    Tensor made = Tensor::empty(t->sizes(), t->dtype());
    if (t->numel() != 0) std::memcpy(made.data_ptr(), t->data_ptr(), t->nbytes());
    return answer = new_array(in, s, std::move(made)), true;
  });
}

bool quick_flat(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  const Tensor* const t = tensor_in(s, args[0]);
  if (t == nullptr || !is_usual(s, args[0]) || !t->is_contiguous()) return false;
  return attempt(in, [&] { return answer = new_view(in, s, args[0], t->view_of(Dims{t->numel()}, Dims{1})), true; });
}

bool quick_flatten(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  const Tensor* const t = tensor_in(s, args[0]);
  if (t == nullptr || !is_usual(s, args[0]) || !t->is_contiguous()) return false;
  return attempt(in, [&] {
    Tensor made = Tensor::empty(Dims{t->numel()}, t->dtype());
    if (t->numel() != 0) std::memcpy(made.data_ptr(), t->data_ptr(), t->nbytes());
    return answer = new_array(in, s, std::move(made)), true;
  });
}

bool quick_where(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  const Tensor* const mask = tensor_in(s, args[0]);
  const Tensor* const a = tensor_in(s, args[1]);
  const Tensor* const b = tensor_in(s, args[2]);
  if (mask == nullptr || a == nullptr || b == nullptr || mask->dtype() != kBool || a->dtype() != b->dtype()) return false;
  if (mask->dim() == 0 || !takes(BinaryOp::Add, a->dtype(), b->dtype())) return false;
  return attempt(in, [&] { return answer = new_array(in, s, tensor::where(*mask, *a, *b)), true; });
}

bool quick_concatenate(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  if (!is_plain_sequence(in, args[0]) || (args.count == 2 && !args[1].is_int())) return false;
  tensor::TensorList parts;
  Value part;
  for (size_t i = 0; plain_item(args[0], i, part); ++i) {
    const Tensor* const t = tensor_in(s, part);
    if (t == nullptr || t->dim() == 0 || (i != 0 && (t->dtype() != parts[0].dtype() || t->dim() != parts[0].dim()))) return false;
    parts.push_back(*t);
  }
  const int64_t axis = args.count == 2 ? args[1].as_int() : 0;
  if (parts.empty() || axis < 0 || axis >= parts[0].dim()) return false;
  return attempt(in, [&] { return answer = new_array(in, s, tensor::cat(parts, axis)), true; });
}

bool quick_dot(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  const Tensor* const a = tensor_in(s, args[0]);
  const Tensor* const b = tensor_in(s, args[1]);
  return a != nullptr && b != nullptr && a->dim() <= 2 && b->dim() <= 2 && array_binary(in, s, BinaryOp::MatMul, args[0], args[1], false, answer);
}

// Between doubles, float32 and int64, where every element fits.
bool quick_astype(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  const Tensor* const t = tensor_in(s, args[0]);
  if (t == nullptr || !is_usual(s, args[0]) || !t->is_contiguous() || !is_type(args[1])) return false;
  const Type* const wanted = as_type(args[1]);
  const DType to = wanted == in.types.real ? kFloat64 : wanted == in.types.integer ? kInt64
                   : wanted == s.scalars[size_t(kFloat64)]                        ? kFloat64
                   : wanted == s.scalars[size_t(kFloat32)]                        ? kFloat32
                   : wanted == s.scalars[size_t(kInt64)]                          ? kInt64
                                                                                  : kBool;
  const DType from = t->dtype();
  if (to == kBool || from == to || (from != kFloat64 && from != kFloat32 && from != kInt64)) return false;
  if (to == kInt64) {
    const int64_t n = t->numel();
    if (from != kFloat64) return false;
    const auto* const x = static_cast<const double*>(t->data_ptr());
    bool fits = true;
    for (int64_t i = 0; i < n; ++i) fits &= std::abs(x[i]) < 0x1p62;
    if (!fits) return false;
  }
  return attempt(in, [&] {
    Tensor made = tensor::to(*t, to, {}, true);
    return is_fine(s, made, from == kFloat64) && (answer = new_array(in, s, std::move(made)), true);
  });
}

// arange(n)
bool quick_range(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  if (!args[0].is_int() || args[0].as_int() < 0) return false;
  return attempt(in, [&] {
    Tensor made = Tensor::empty(Dims{args[0].as_int()}, kInt64);
    auto* const to = static_cast<int64_t*>(made.data_ptr());
    for (int64_t i = 0; i < made.numel(); ++i) to[i] = i;
    return answer = new_array(in, s, std::move(made)), true;
  });
}

// zeros_like and empty_like of numbers.
bool quick_like(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  const Tensor* const t = tensor_in(s, args[0]);
  if (t == nullptr || !is_usual(s, args[0]) || !t->is_contiguous()) return false;
  return attempt(in, [&] {
    Tensor made = Tensor::empty(t->sizes(), t->dtype());
    if (made.numel() != 0) std::memset(made.data_ptr(), 0, made.nbytes());
    return answer = new_array(in, s, std::move(made)), true;
  });
}

// An array of doubles of one value.
bool filled(Interpreter& in, const ArrayCalls& s, const Args& args, double value, Value& answer) {
  Dims sizes;
  if (args[0].is_int()) sizes.push_back(args[0].as_int());
  else if (is_tuple(args[0]))
    for (const Value& n : *as_tuple(args[0])) {
      if (!n.is_int()) return false;
      sizes.push_back(n.as_int());
    }
  else return false;
  if (sizes.size() > 16 || !std::ranges::all_of(sizes, [](int64_t n) { return n >= 0; })) return false;
  return attempt(in, [&] {
    Tensor made = Tensor::empty(sizes, kFloat64);
    auto* const to = static_cast<double*>(made.data_ptr());
    if (value != 0) {
      for (int64_t i = 0; i < made.numel(); ++i) to[i] = value;
    } else if (made.numel() != 0) {
      std::memset(to, 0, made.nbytes());
    }
    return answer = new_array(in, s, std::move(made)), true;
  });
}
bool quick_zeros(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) { return filled(in, s, args, 0, answer); }
bool quick_ones(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) { return filled(in, s, args, 1, answer); }
bool quick_full(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  return args[1].is_float() && filled(in, s, args, args[1].as_float(), answer);
}

// A list of floats alone, or of ints alone.
bool quick_array(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  if (!is_list(args[0]) || as_list(args[0])->size == 0) return false;
  const List* const list = as_list(args[0]);
  const bool real = list->items[0].is_float();
  for (uint32_t i = 0; i < list->size; ++i)
    if (real ? !list->items[i].is_float() : !list->items[i].is_int()) return false;
  return attempt(in, [&] {
    Tensor made = Tensor::empty(Dims{int64_t(list->size)}, real ? kFloat64 : kInt64);
    for (uint32_t i = 0; i < list->size; ++i) {
      if (real) static_cast<double*>(made.data_ptr())[i] = list->items[i].as_float();
      else static_cast<int64_t*>(made.data_ptr())[i] = list->items[i].as_int();
    }
    return answer = new_array(in, s, std::move(made)), true;
  });
}

bool quick_reshape(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  const Tensor* const t = tensor_in(s, args[0]);
  if (t == nullptr || !is_usual(s, args[0]) || !t->is_contiguous() || args.count < 2) return false;
  const Value* items = args.values + 1;
  size_t count = args.count - 1, free = SIZE_MAX;
  if (count == 1 && is_tuple(*items)) count = as_tuple(*items)->size, items = as_tuple(*items)->items;
  Dims sizes;
  int64_t known = 1;
  for (size_t i = 0; i < count; ++i) {
    if (!items[i].is_int() || count > 16) return false;
    const int64_t n = items[i].as_int();
    if (n < 0 && (n != -1 || free != SIZE_MAX)) return false;
    if (n < 0) free = i;
    else if (__builtin_mul_overflow(known, n, &known)) return false;
    sizes.push_back(n);
  }
  if (free != SIZE_MAX) {
    if (known == 0 || t->numel() % known != 0) return false;
    sizes[free] = t->numel() / known;
  } else if (known != t->numel()) {
    return false;
  }
  Dims strides(sizes);
  int64_t step = 1;
  for (size_t d = sizes.size(); d-- > 0;) strides[d] = step, step *= std::max<int64_t>(sizes[d], 1);
  return attempt(in, [&] { return answer = new_view(in, s, args[0], t->view_of(sizes, strides)), true; });
}


bool quick_take(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  const Tensor* const t = tensor_in(s, args[0]);
  const Tensor* const k = tensor_in(s, args[1]);
  if (t == nullptr || k == nullptr || k->dtype() != kInt64 || k->dim() == 0) return false;
  Tensor made;
  return attempt(in, [&] { return take_places(*t, *k, made) && give(in, s, std::move(made), answer); });
}

// Copies of parts of flat doubles behind each other: f(to) fills an array of `count`.
template <class F>
bool new_doubles(Interpreter& in, const ArrayCalls& s, int64_t count, Value& answer, F&& f) {
  return attempt(in, [&] {
    Tensor made = Tensor::empty(Dims{count}, kFloat64);
    f(static_cast<double*>(made.data_ptr()));
    return answer = new_array(in, s, std::move(made)), true;
  });
}

bool quick_roll(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  int64_t n;
  const double* const x = doubles_in(s, args[0], n);
  if (x == nullptr || n == 0 || !args[1].is_int()) return false;
  const int64_t by = ((args[1].as_int() % n) + n) % n;
  return new_doubles(in, s, n, answer, [&](double* to) {
    std::memcpy(to + by, x, size_t(n - by) * 8);
    std::memcpy(to, x + n - by, size_t(by) * 8);
  });
}

bool quick_tile(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  int64_t n;
  const double* const x = doubles_in(s, args[0], n);
  if (x == nullptr || n == 0 || !args[1].is_int() || args[1].as_int() < 0 || args[1].as_int() > (1 << 20)) return false;
  const int64_t times = args[1].as_int();
  return new_doubles(in, s, n * times, answer, [&](double* to) {
    for (int64_t k = 0; k < times; ++k) std::memcpy(to + k * n, x, size_t(n) * 8);
  });
}

bool quick_repeat(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  int64_t n;
  const double* const x = doubles_in(s, args[0], n);
  if (x == nullptr || !args[1].is_int() || args[1].as_int() < 0 || args[1].as_int() > (1 << 20)) return false;
  const int64_t times = args[1].as_int();
  return new_doubles(in, s, n * times, answer, [&](double* to) {
    for (int64_t i = 0; i < n; ++i)
      for (int64_t k = 0; k < times; ++k) *to++ = x[i];
  });
}

bool quick_clip(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  int64_t n;
  const double* const x = doubles_in(s, args[0], n);
  if (x == nullptr || !args[1].is_float() || !args[2].is_float()) return false;
  const double low = args[1].as_float(), high = args[2].as_float();
  if (!(low <= high) || n > kLookedAt) return false;
  return new_doubles(in, s, n, answer, [&](double* to) {
    for (int64_t i = 0; i < n; ++i) {
      const double raised = x[i] < low ? low : x[i];
      to[i] = raised > high ? high : raised;
    }
  });
}

bool quick_searchsorted(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  int64_t n;
  const double* const x = doubles_in(s, args[0], n);
  if (x == nullptr || !args[1].is_float() || args[1].as_float() != args[1].as_float()) return false;
  int64_t low = 0;
  while (low < n) {
    const int64_t middle = low + (n - low) / 2;
    if (x[middle] < args[1].as_float()) low = middle + 1;
    else n = middle;
  }
  return answer = boxed(in, s.scalars[size_t(kInt64)], Value::integer(low)), true;
}

bool quick_nonzero(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  const Tensor* const t = tensor_in(s, args[0]);
  int64_t count = 0;
  if (t == nullptr || t->dim() != 1 || !count_truths(s, args[0], count)) return false;
  return attempt(in, [&] {
    Tensor made = Tensor::empty(Dims{count}, kInt64);
    auto* const to = static_cast<int64_t*>(made.data_ptr());
    const char* const x = t->bytes();
    for (int64_t i = 0, at = 0; at < count; ++i) to[at] = i, at += x[i] != 0;
    return answer = make_tuple(in, {new_array(in, s, std::move(made))}), true;
  });
}

// stack of equal contiguous arrays, and vstack of flat ones.
bool quick_stack(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  if (!is_plain_sequence(in, args[0])) return false;
  const Tensor* first = nullptr;
  int64_t count = 0;
  Value part;
  for (; plain_item(args[0], size_t(count), part); ++count) {
    const Tensor* const t = tensor_in(s, part);
    if (t == nullptr || t->dim() == 0) return false;
    if (first == nullptr) first = t;
    if (t->dtype() != first->dtype() || !are_alike(*t, *first)) return false;
  }
  if (first == nullptr) return false;
  return attempt(in, [&] {
    Dims sizes{count};
    for (const int64_t n : first->sizes()) sizes.push_back(n);
    Tensor made = Tensor::empty(sizes, first->dtype());
    char* to = made.bytes();
    for (size_t i = 0; plain_item(args[0], i, part); ++i, to += first->nbytes())
      if (first->numel() != 0) std::memcpy(to, tensor_in(s, part)->bytes(), first->nbytes());
    return answer = new_array(in, s, std::move(made)), true;
  });
}
bool quick_vstack(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  Value part;
  if (!is_plain_sequence(in, args[0]) || !plain_item(args[0], 0, part)) return false;
  const Tensor* const t = tensor_in(s, part);
  return t != nullptr && t->dim() == 1 && quick_stack(in, s, args, answer);
}

bool quick_outer(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  int64_t n, m;
  if (doubles_in(s, args[0], n) == nullptr || doubles_in(s, args[1], m) == nullptr) return false;
  return attempt(in, [&] {
    const Tensor column = tensor_in(s, args[0])->view_of(Dims{n, 1}, Dims{1, 1});
    Tensor made = torch_state(in).binary_ops[size_t(BinaryOp::Mul)]->fast.binary(column, *tensor_in(s, args[1]), 0);
    return is_fine(s, made, true) && (answer = new_array(in, s, std::move(made)), true);
  });
}

constexpr QuickFunction kQuick[] = {
    {"shape", 1, 1, quick_shape}, {"ndim", 1, 1, quick_dim},   {"size", 1, 1, quick_size},      {"dtype", 1, 1, quick_dtype},
    {"T", 1, 1, quick_transposed}, {"sum", 1, 2, quick_sum},   {"mean", 1, 2, quick_mean},      {"copy", 1, 1, quick_copy},
    {"zeros", 1, 1, quick_zeros}, {"empty", 1, 1, quick_zeros}, {"ones", 1, 1, quick_ones},
    {"full", 2, 2, quick_full}, {"max", 1, 2, quick_max}, {"min", 1, 2, quick_min}, {"any", 1, 2, quick_any}, {"all", 1, 2, quick_all},
    {"std", 1, 1, quick_std}, {"var", 1, 1, quick_var}, {"ravel", 1, 1, quick_flat}, {"flatten", 1, 1, quick_flatten},
    {"transpose", 1, 9, quick_transposed}, {"cumsum", 1, 1, quick_cumsum}, {"where", 3, 3, quick_where}, {"concatenate", 1, 2, quick_concatenate},
    {"dot", 2, 2, quick_dot}, {"astype", 2, 2, quick_astype}, {"arange", 1, 1, quick_range}, {"zeros_like", 1, 1, quick_like},
    {"empty_like", 1, 1, quick_like}, {"argmax", 1, 2, quick_argmax}, {"argmin", 1, 2, quick_argmin}, {"prod", 1, 1, quick_prod},
    {"count_nonzero", 1, 1, quick_count}, {"take", 2, 2, quick_take}, {"roll", 2, 2, quick_roll}, {"tile", 2, 2, quick_tile},
    {"repeat", 2, 2, quick_repeat}, {"clip", 3, 3, quick_clip}, {"searchsorted", 2, 2, quick_searchsorted}, {"nonzero", 1, 1, quick_nonzero},
    {"stack", 1, 1, quick_stack}, {"vstack", 1, 1, quick_vstack}, {"outer", 2, 2, quick_outer}, {"array", 1, 1, quick_array}, {"reshape", 2, 17, quick_reshape},
};

}  // namespace

const double* doubles_in(const ArrayCalls& s, const Value& v, int64_t& count) {
  const Tensor* const t = tensor_in(s, v);
  if (t == nullptr || t->dim() != 1 || t->dtype() != kFloat64 || !t->is_contiguous()) return nullptr;
  count = t->numel();
  return static_cast<const double*>(t->data_ptr());
}

const QuickFunction* find_quick(std::string_view name) {
  for (const QuickFunction& row : kQuick)
    if (name == row.name) return &row;
  return nullptr;
}

}  // namespace tessera::stdlib::arrays

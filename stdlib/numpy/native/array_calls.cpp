// compile: small (a call takes its time in the operation)
// Note [Short ways of arrays]: ndarray and its scalars are classes of scripts, which know every case. Their everyday cases are answered
// here: the slots of the two kinds of classes, and functions that `quick` puts in front of a script's. Each looks whether its operands are
// plain (exactly ndarray, of a common type, nothing to report) and does otherwise what would have been done without it: it calls the slot
// or the function that it stands before. A result that is not finite is thrown away; the script computes it again and warns.
#include "stdlib/numpy/native/array_calls.h"

#include <array>
#include <cmath>
#include <cstring>

#include "lang/core/bind.h"
#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/attribute.h"
#include "lang/objects/class.h"
#include "lang/types/list.h"
#include "lang/types/number.h"
#include "lang/types/range.h"
#include "lang/types/tuple.h"
#include "runtime/ops.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/join.h"
#include "runtime/ops/math_bits.h"
#include "runtime/ops/views.h"
#include "stdlib/numpy/native/sums.h"
#include "stdlib/python/native/support.h"
#include "stdlib/torch/index.h"
#include "stdlib/torch/state.h"

namespace tessera::stdlib {

struct ArrayCalls {
  Type* array = nullptr;
  Type* scalars[kDTypeCount] = {};
  Value dtypes[kDTypeCount];
  Value truths[2];
  Str *tensor = nullptr, *base = nullptr, *value = nullptr;
  Type *ufunc = nullptr, *iterator = nullptr;
  const OpEntry* ufuncs[32] = {};
  TypeSlots of_arrays, of_scalars, of_ufuncs, of_dtypes;  // the slots that the scripts' methods have
  int notice = 1;                   // 0: no error is noticed, 1: warnings, 2: more than warnings
};

namespace {

// Sums and products of more elements are looked at only where an error is to raise: looking takes as long as adding.
constexpr int64_t kLookedAt = 4096;

// Null before numpy is imported, and when the interpreter ends.
ArrayCalls* calls_of(Interpreter& in) { return in.extension == nullptr ? nullptr : static_cast<ArrayCalls*>(torch_state(in).array_calls); }
ArrayCalls& calls(Interpreter& in) {
  if (ArrayCalls* const found = calls_of(in)) return *found;
  throw_error(ErrorKind::RuntimeError, "the interpreter ends");
}

// ---- Operands and results ----------------------------------------------------------------------------------------------

// The tensor of a plain array: of no class below, and its class has the attributes in their order.
const Tensor* tensor_in(const ArrayCalls& s, const Value& v) {
  if (!v.is_object() || v.as_object()->type != s.array) return nullptr;
  const Attributes& a = known_cast<Instance>(v)->attributes;
  if (a.dict != nullptr || a.count == 0 || !a.values[0].is_object()) return nullptr;
  const Tensor& t = tensor_of(a.values[0]);
  return t.is_tracked() || t.has_math_bits() ? nullptr : &t;
}

// It has no attributes but the tensor and what it is a view of: it may be written, and its bytes are in their order.
bool is_usual(const ArrayCalls&, const Value& v) { return known_cast<Instance>(v)->attributes.count <= 2; }

Value new_array(Interpreter& in, const ArrayCalls& s, Tensor t) {
  Value made = Value::adopt(make_object<Instance>(in, s.array));
  append_attribute(in, made.as_object(), 0, wrap_tensor(in, std::move(t)));
  return made;
}

Value new_view(Interpreter& in, const ArrayCalls& s, const Value& parent, Tensor t) {
  Value made = new_array(in, s, std::move(t));
  const Attributes& a = known_cast<Instance>(parent)->attributes;
  append_attribute(in, made.as_object(), 1, a.count == 2 ? a.values[1] : parent);
  return made;
}

Value boxed(Interpreter& in, Type* type, Value value) {
  Boxed* const box = make_object<Boxed>(in, type);
  box->value = std::move(value);
  return Value::adopt(box);
}

// The scalar at an address; Undefined for types that are made by scripts.
Value scalar_at(Interpreter& in, const ArrayCalls& s, DType type, const char* at) {
  const auto read = [&]<class T>(T value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  switch (type) {
    case kFloat64: return boxed(in, s.scalars[size_t(type)], Value::real(read(double{})));
    case kFloat32: return boxed(in, s.scalars[size_t(type)], Value::real(double{read(float{})}));
    case kInt64: return boxed(in, s.scalars[size_t(type)], Value::integer(read(int64_t{})));
    case kInt32: return boxed(in, s.scalars[size_t(type)], Value::integer(read(int32_t{})));
    case kUInt8: return boxed(in, s.scalars[size_t(type)], Value::integer(read(uint8_t{})));
    case kBool: return s.truths[read(uint8_t{}) != 0];
    default: return {};
  }
}

// An array, or a scalar where NumPy gives one.
bool give(Interpreter& in, const ArrayCalls& s, Tensor t, Value& answer) {
  answer = t.dim() == 0 ? scalar_at(in, s, t.dtype(), t.bytes()) : new_array(in, s, std::move(t));
  return !answer.is_undefined();
}

// False where an element is no finite number, or where their sum is none. In vectors that every machine has.
template <class T>
bool finite_run(const T* x, int64_t n) {
  using Vector [[gnu::vector_size(16)]] = T;
  constexpr int kEach = int(sizeof(Vector) / sizeof(T)), kStep = 8 * kEach;
  Vector sums[8] = {}, next;
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep)
    for (int k = 0; k < 8; ++k) {
      std::memcpy(&next, x + i + k * kEach, sizeof next);
      sums[k] += next;
    }
  T sum = 0;
  for (int k = 1; k < 8; ++k) sums[0] += sums[k];
  for (int k = 0; k < kEach; ++k) sum += sums[0][k];
  for (; i < n; ++i) sum += x[i];
  return std::isfinite(sum);
}

// Whether there is nothing to report about a result.
bool is_fine(const ArrayCalls& s, const Tensor& t, bool look = false) {
  if (s.notice == 0 || !(is_floating(t.dtype()) || is_complex(t.dtype()))) return true;
  if (s.notice == 1 && !look && t.numel() > kLookedAt) return true;
  if (!t.is_contiguous()) return false;
  if (t.dtype() == kFloat64) return finite_run(static_cast<const double*>(t.data_ptr()), t.numel());
  return t.dtype() == kFloat32 && finite_run(static_cast<const float*>(t.data_ptr()), t.numel());
}

// What f answers; false where the tensor operation refuses or someone is to be asked first.
[[gnu::noinline]] bool attempt(Interpreter& in, bool (*f)(void*), void* what) {
  TorchState& state = torch_state(in);
  if (state.modes != 0) [[unlikely]]
    return false;
  const ContextScope scope(state.context);
  try {
    return f(what);
  } catch (const TensorError&) {
    return false;
  }
}
template <class F>
bool attempt(Interpreter& in, F&& f) {
  return attempt(in, [](void* what) { return bool((*static_cast<std::remove_reference_t<F>*>(what))()); }, &f);
}

bool is_whole(DType t) { return t == kInt64 || t == kInt32 || t == kInt16 || t == kInt8 || t == kUInt8; }

// A number of Python, or a scalar of the array's own type, beside elements of a type.
bool number_beside(const ArrayCalls& s, const Value& v, DType type, Scalar& out) {
  if (v.is_object()) {
    if (type != kFloat64 && type != kInt64) return false;
    if (v.as_object()->type != s.scalars[size_t(type)]) return false;
    return to_scalar(known_cast<Boxed>(v)->value, out);
  }
  if (v.is_int() && (type == kInt64 || (type == kInt32 && v.as_int() == int32_t(v.as_int())))) return to_scalar(v, out);
  return (v.is_float() || v.is_int()) && (type == kFloat64 || type == kFloat32) && to_scalar(v, out);
}

// ---- Operators ---------------------------------------------------------------------------------------------------------

bool takes(BinaryOp op, DType a, DType b) {
  if (a != b)
    return op <= BinaryOp::TrueDiv && ((a == kFloat64 && (b == kInt64 || b == kInt32)) || (b == kFloat64 && (a == kInt64 || a == kInt32)));
  const bool real = a == kFloat64 || a == kFloat32;
  switch (op) {
    case BinaryOp::Add:
    case BinaryOp::Sub:
    case BinaryOp::Mul: return real || is_whole(a);
    case BinaryOp::TrueDiv:
    case BinaryOp::MatMul: return real;
    case BinaryOp::And:
    case BinaryOp::Or:
    case BinaryOp::Xor: return a == kBool || is_whole(a);
    default: return false;
  }
}

bool are_alike(const Tensor& a, const Tensor& b) {
  return a.dim() > 0 && a.is_contiguous() && b.is_contiguous() && std::ranges::equal(a.sizes(), b.sizes());
}

constexpr uint64_t kTruths = 0x0101010101010101;  // eight of them; a view of other bytes as truths may have more bits

// & | ^ of truths, eight at a time. Without `b`: of each and true.
bool join_truths(Interpreter& in, const ArrayCalls& s, BinaryOp op, const Tensor& a, const Tensor* b, Value& answer) {
  Tensor made = Tensor::empty(a.sizes(), kBool);
  const char *const x = a.bytes(), *const y = b != nullptr ? b->bytes() : nullptr;
  char* const to = made.bytes();
  const int64_t n = a.numel();
  uint64_t p = 0, q = kTruths, seen = 0;
  for (int64_t i = 0; i < n; i += 8) {
    const size_t size = size_t(std::min<int64_t>(8, n - i));
    if (size == 8) std::memcpy(&p, x + i, 8);
    else std::memcpy(&p, x + i, size);
    if (y != nullptr) {
      if (size == 8) std::memcpy(&q, y + i, 8);
      else std::memcpy(&q, y + i, size);
    }
    seen |= p | q;
    p = op == BinaryOp::And ? p & q : op == BinaryOp::Or ? p | q : p ^ q;
    if (size == 8) std::memcpy(to + i, &p, 8);
    else std::memcpy(to + i, &p, size);
  }
  return (seen & ~kTruths) == 0 && (answer = new_array(in, s, std::move(made)), true);
}

bool array_binary(Interpreter& in, const ArrayCalls& s, BinaryOp op, const Value& self, const Value& other, bool reflected, Value& answer) {
  const Tensor* const t = tensor_in(s, self);
  if (t == nullptr) return false;
  const TorchState& state = torch_state(in);
  const bool look = op == BinaryOp::TrueDiv || op == BinaryOp::MatMul;
  if (const Tensor* const u = tensor_in(s, other)) {
    if (reflected || !takes(op, t->dtype(), u->dtype())) return false;
    if (t->dtype() == kBool && are_alike(*t, *u)) return attempt(in, [&] { return join_truths(in, s, op, *t, u, answer); });
    const auto run = state.binary_ops[size_t(op)]->fast.binary;
    return attempt(in, [&] {
      if (op == BinaryOp::MatMul && (t->dim() == 0 || u->dim() == 0)) return false;
      Tensor made = run != nullptr ? run(*t, *u, 0) : tensor::matmul(*t, *u);
      return is_fine(s, made, look) && give(in, s, std::move(made), answer);
    });
  }
  Scalar number;
  if (op == BinaryOp::MatMul || !number_beside(s, other, t->dtype(), number)) return false;
  const bool is_square = op == BinaryOp::Pow && !reflected && other.is_int() && other.as_int() == 2;
  if (!is_square && (op > BinaryOp::TrueDiv || !takes(op, t->dtype(), t->dtype())) && op != BinaryOp::And) return false;
  if (op == BinaryOp::And || (is_square && !takes(BinaryOp::TrueDiv, t->dtype(), t->dtype()))) return false;
  return attempt(in, [&] {
    Tensor made;
    if (is_square) made = state.binary_ops[size_t(BinaryOp::Mul)]->fast.binary(*t, *t, 0);
    else if (reflected && (op == BinaryOp::Sub || op == BinaryOp::TrueDiv))
      made = state.binary_ops[size_t(op)]->fast.binary(Tensor::scalar(number, t->dtype()), *t, 0);
    else made = state.binary_ops[size_t(op)]->fast.tensor_scalar(*t, number, 0);
    return made.dtype() == t->dtype() && is_fine(s, made, look) && give(in, s, std::move(made), answer);
  });
}

Value binary_slot(Interpreter& in, BinaryOp op, const Value& self, const Value& other, bool reflected, uint8_t dying) {
  const ArrayCalls& s = calls(in);
  Value answer;
  if (array_binary(in, s, op, self, other, reflected, answer)) return answer;
  return s.of_arrays.binary(in, op, self, other, reflected, dying);
}

// `x += y`: in place where nothing is looked at; else the sum comes first.
Value inplace_slot(Interpreter& in, BinaryOp op, const Value& self, const Value& other) {
  const ArrayCalls& s = calls(in);
  const Tensor* const t = tensor_in(s, self);
  const Tensor* const u = tensor_in(s, other);
  const TorchState& state = torch_state(in);
  Scalar number;
  const bool fits = t != nullptr && is_usual(s, self) && t->is_contiguous() && op <= BinaryOp::TrueDiv && takes(op, t->dtype(), t->dtype()) &&
                    (u != nullptr ? u->dtype() == t->dtype() && (u->is_contiguous() || t->impl()->storage != u->impl()->storage)
                                  : number_beside(s, other, t->dtype(), number));
  if (fits && attempt(in, [&] {
        const FastPaths& fast = state.binary_ops[size_t(op)]->fast;
        const bool looks = s.notice != 0 && !is_whole(t->dtype()) && (s.notice == 2 || op == BinaryOp::TrueDiv || t->numel() <= kLookedAt);
        if (!looks && u != nullptr && fast.binary_inplace != nullptr && (t == u || t->impl()->storage != u->impl()->storage))
          return fast.binary_inplace(*t, *u), true;
        const Tensor made = u != nullptr ? fast.binary(*t, *u, 0) : fast.tensor_scalar(*t, number, 0);
        if (made.dtype() != t->dtype() || made.dim() != t->dim() || made.numel() != t->numel() || !made.is_contiguous() || !is_fine(s, made, looks))
          return false;
        std::memcpy(t->data_ptr(), made.data_ptr(), t->nbytes());
        t->bump_version();
        return true;
      }))
    return self;
  return s.of_arrays.inplace(in, op, self, other);
}

Value unary_slot(Interpreter& in, UnaryOp op, const Value& self) {
  const ArrayCalls& s = calls(in);
  const Tensor* const t = tensor_in(s, self);
  const bool fits = t != nullptr && (op == UnaryOp::Neg ? takes(BinaryOp::Add, t->dtype(), t->dtype())
                                                        : op == UnaryOp::Invert && takes(BinaryOp::And, t->dtype(), t->dtype()));
  Value answer;
  if (fits && t->dtype() == kBool && are_alike(*t, *t) && attempt(in, [&] { return join_truths(in, s, BinaryOp::Xor, *t, nullptr, answer); }))
    return answer;
  if (fits && attempt(in, [&] { return give(in, s, torch_state(in).unary_ops[size_t(op)]->fast.unary(*t), answer); })) return answer;
  return s.of_arrays.unary(in, op, self);
}

Value compare_slot(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  const ArrayCalls& s = calls(in);
  const Tensor* const t = tensor_in(s, self);
  const Tensor* const u = tensor_in(s, other);
  Scalar number;
  Value answer;
  if (t != nullptr && (u != nullptr ? t->dtype() == u->dtype() && takes(BinaryOp::And, t->dtype(), u->dtype()) + takes(BinaryOp::Add, t->dtype(), u->dtype()) > 0
                                    : number_beside(s, other, t->dtype(), number)) &&
      attempt(in, [&] {
        const FastPaths& fast = torch_state(in).compare_ops[size_t(op)]->fast;
        return give(in, s, u != nullptr ? fast.binary(*t, *u, 0) : fast.tensor_scalar(*t, number, 0), answer);
      }))
    return answer;
  return s.of_arrays.compare(in, op, self, other);
}

// ---- Scalars -----------------------------------------------------------------------------------------------------------

// The numbers of a scalar and what stands beside it: 'd' both doubles, 'l' both int64, 0 anything else.
char numbers_of(const ArrayCalls& s, const Value& a, const Value& b, Value& x, Value& y) {
  const auto* const type = a.as_object()->type;
  const bool real = type == s.scalars[size_t(kFloat64)];
  if (!real && type != s.scalars[size_t(kInt64)]) return 0;
  x = known_cast<Boxed>(a)->value;
  if (!b.is_object()) y = b;
  else if (b.as_object()->type == type) y = known_cast<Boxed>(b)->value;
  else return 0;
  if (real) return x.is_float() && y.is_float() ? 'd' : 0;
  return x.is_int() && y.is_int() ? 'l' : 0;
}

Value scalar_binary(Interpreter& in, BinaryOp op, const Value& self, const Value& other, bool reflected, uint8_t dying) {
  const ArrayCalls& s = calls(in);
  Value x, y;
  const char kind = op <= BinaryOp::TrueDiv ? numbers_of(s, self, other, x, y) : 0;
  if (kind == 'd') {
    const double a = reflected ? y.as_float() : x.as_float(), b = reflected ? x.as_float() : y.as_float();
    const double made = op == BinaryOp::Add ? a + b : op == BinaryOp::Sub ? a - b : op == BinaryOp::Mul ? a * b : a / b;
    if (std::isfinite(made)) return boxed(in, self.as_object()->type, Value::real(made));
  } else if (kind == 'l' && op != BinaryOp::TrueDiv) {
    const int64_t a = reflected ? y.as_int() : x.as_int(), b = reflected ? x.as_int() : y.as_int();
    int64_t made;
    const bool wraps = op == BinaryOp::Add   ? __builtin_add_overflow(a, b, &made)
                       : op == BinaryOp::Sub ? __builtin_sub_overflow(a, b, &made)
                                             : __builtin_mul_overflow(a, b, &made);
    if (!wraps) return boxed(in, self.as_object()->type, Value::integer(made));
  }
  Value answer;
  if (tensor_in(s, other) != nullptr && array_binary(in, s, op, other, self, !reflected, answer)) return answer;
  return s.of_scalars.binary(in, op, self, other, reflected, dying);
}

Value scalar_compare(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  const ArrayCalls& s = calls(in);
  Value x, y;
  if (numbers_of(s, self, other, x, y) != 0) {
    const Value answer = number_compare(in, op, x, y);
    if (answer.is_bool()) return s.truths[answer.as_bool()];
  }
  return s.of_scalars.compare(in, op, self, other);
}

// dtype == scalar class, or another of the usual dtypes.
Value dtype_compare(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  const ArrayCalls& s = calls(in);
  if ((op == CompareOp::Eq || op == CompareOp::Ne) && other.is_object())
    for (size_t i = 0; i < size_t(kDTypeCount); ++i)
      if (s.scalars[i] != nullptr && (other.is(s.dtypes[i]) || other.as_object() == s.scalars[i]))
        for (size_t k = 0; k < size_t(kDTypeCount); ++k)
          if (self.is(s.dtypes[k])) return Value::boolean((i == k) == (op == CompareOp::Eq));
  return s.of_dtypes.compare(in, op, self, other);
}

// ---- Indices -----------------------------------------------------------------------------------------------------------

struct Layout {
  Dims sizes, strides;
  int64_t offset = 0;
  bool is_element = true;  // an integer for each axis, and nothing else
};

bool bound(const Value& v, int64_t size, int64_t other, int64_t& out) {
  if (v.is_none()) return out = other, true;
  if (!v.is_int()) return false;
  out = clip_bound(v.as_int(), size, 0, size);
  return true;
}

// The view that a key of integers, slices with positive steps, None and ... stands for.
bool view_of_key(Interpreter& in, const Tensor& t, const Value& key, Layout& out) {
  const Value* items = &key;
  size_t count = 1;
  if (is_tuple(key)) items = as_tuple(key)->items, count = as_tuple(key)->size;
  size_t named = 0, dots = 0;
  for (size_t i = 0; i < count; ++i) {
    if (items[i].is(in.ellipsis)) ++dots;
    else if (!items[i].is_none()) ++named;
  }
  const size_t dims = size_t(t.dim());
  if (named > dims || dots > 1) return false;
  const Ints sizes = t.sizes(), strides = t.strides();
  size_t axis = 0;
  const auto whole = [&](size_t until) {
    for (; axis < until; ++axis) out.sizes.push_back(sizes[axis]), out.strides.push_back(strides[axis]), out.is_element = false;
  };
  for (size_t i = 0; i < count; ++i) {
    const Value& k = items[i];
    if (k.is_int()) {
      const int64_t at = k.as_int() < 0 ? k.as_int() + sizes[axis] : k.as_int();
      if (at < 0 || at >= sizes[axis]) return false;
      out.offset += at * strides[axis++];
    } else if (is_slice(k)) {
      const Slice* const slice = as_slice(k);
      int64_t start, stop;
      const int64_t step = slice->step.is_none() ? 1 : slice->step.is_int() ? slice->step.as_int() : 0;
      if (step < 1 || !bound(slice->start, sizes[axis], 0, start) || !bound(slice->stop, sizes[axis], sizes[axis], stop)) return false;
      const int64_t n = stop > start ? (stop - start - 1) / step + 1 : 0;
      if (n > 0) out.offset += start * strides[axis];
      out.sizes.push_back(n), out.strides.push_back(strides[axis] * step), out.is_element = false;
      ++axis;
    } else if (k.is_none()) {
      out.sizes.push_back(1), out.strides.push_back(-1), out.is_element = false;
    } else if (k.is(in.ellipsis)) {
      out.is_element = false;
      whole(axis + dims - named);
    } else {
      return false;
    }
  }
  whole(dims);
  for (size_t d = out.sizes.size(); d-- > 0;)  // a new axis has the stride that views of tensors give it
    if (out.strides[d] == -1) out.strides[d] = d + 1 < out.sizes.size() ? out.sizes[d + 1] * out.strides[d + 1] : 1;
  return true;
}

// x[places] of a flat array: every index is checked before.
bool take_places(const Tensor& t, const Tensor& places, Tensor& out) {
  const size_t width = item_size(t.dtype());
  if (t.dim() != 1 || !t.is_contiguous() || !places.is_contiguous() || (width != 8 && width != 4 && width != 1)) return false;
  const int64_t n = t.numel(), count = places.numel();
  const auto* const at = static_cast<const int64_t*>(places.data_ptr());
  bool good = true;
  for (int64_t i = 0; i < count; ++i) good &= uint64_t(at[i]) + uint64_t(n) < 2 * uint64_t(n);
  if (!good) return false;
  out = Tensor::empty(places.sizes(), t.dtype());
  const auto run = [&]<class T>(T) {
    const T* const from = static_cast<const T*>(t.data_ptr());
    T* const to = static_cast<T*>(out.data_ptr());
    for (int64_t i = 0; i < count; ++i) to[i] = from[at[i] < 0 ? at[i] + n : at[i]];
  };
  if (width == 8) run(uint64_t{});
  else if (width == 4) run(uint32_t{});
  else run(uint8_t{});
  return true;
}

bool get_quickly(Interpreter& in, const ArrayCalls& s, const Value& self, const Value& key, Value& answer) {
  const Tensor* const t = tensor_in(s, self);
  if (t == nullptr || !is_usual(s, self)) return false;
  if (key.is_int() && t->dim() == 1) {
    const int64_t n = t->sizes()[0], at = key.as_int() < 0 ? key.as_int() + n : key.as_int();
    if (at < 0 || at >= n) return false;
    answer = scalar_at(in, s, t->dtype(), t->bytes() + at * t->strides()[0] * int64_t(item_size(t->dtype())));
    return !answer.is_undefined();
  }
  if (const Tensor* const k = tensor_in(s, key)) {
    if (k->dtype() != kInt64 && (k->dtype() != kBool || k->dim() != t->dim() || !std::ranges::equal(k->sizes(), t->sizes()))) return false;
    return attempt(in, [&] {
      if (k->dim() == 0) return false;
      Tensor made;
      if (k->dtype() == kBool) made = tensor::masked_select(*t, *k);
      else if (!take_places(*t, *k, made)) return false;
      return give(in, s, std::move(made), answer);
    });
  }
  Layout to;
  if (!view_of_key(in, *t, key, to)) return false;
  if (to.is_element) {
    if (to.sizes.size() != 0) return false;
    answer = scalar_at(in, s, t->dtype(), t->bytes() + to.offset * int64_t(item_size(t->dtype())));
    return !answer.is_undefined();
  }
  return attempt(in, [&] { return answer = new_view(in, s, self, t->view_of(to.sizes, to.strides, to.offset)), true; });
}

Value get_item_slot(Interpreter& in, const Value& self, const Value& key) {
  const ArrayCalls& s = calls(in);
  Value answer;
  if (get_quickly(in, s, self, key, answer)) return answer;
  return s.of_arrays.get_item(in, self, key);
}

bool set_quickly(Interpreter& in, const ArrayCalls& s, const Value& self, const Value& key, const Value& value) {
  const Tensor* const t = tensor_in(s, self);
  if (t == nullptr || !is_usual(s, self)) return false;
  const DType type = t->dtype();
  const Tensor* const from = tensor_in(s, value);
  Scalar number;
  if (from != nullptr ? from->dtype() != type || from->impl()->storage == t->impl()->storage
                      : (type != kFloat64 && type != kInt64) || !number_beside(s, value, type, number))
    return false;
  const auto with_number = [&](auto&& put) {
    if (type == kFloat64) put(number.to_double());
    else put(number.to_int());
  };
  return attempt(in, [&] {
    if (const Tensor* const k = tensor_in(s, key)) {
      if (from != nullptr || k->dtype() != kBool || !k->is_contiguous() || !t->is_contiguous() || !std::ranges::equal(k->sizes(), t->sizes())) return false;
      const auto* const mask = static_cast<const uint8_t*>(k->data_ptr());
      with_number([&]<class T>(T what) {
        T* const to = static_cast<T*>(t->data_ptr());
        for (int64_t i = 0; i < t->numel(); ++i) to[i] = mask[i] != 0 ? what : to[i];
      });
    } else {
      Layout to;
      if (!view_of_key(in, *t, key, to)) return false;
      char* const start = t->bytes() + to.offset * int64_t(item_size(type));
      if (from != nullptr) {
        if (!std::ranges::equal(from->sizes(), Ints(to.sizes))) return false;
        const Value target = wrap_tensor(in, t->view_of(to.sizes, to.strides, to.offset));
        set_tensor_item(in, target, in.ellipsis, known_cast<Instance>(value)->attributes.values[0]);
        return true;
      }
      if (to.sizes.size() > 1) {
        const Value target = wrap_tensor(in, t->view_of(to.sizes, to.strides, to.offset));
        set_tensor_item(in, target, in.ellipsis, value.is_object() ? known_cast<Boxed>(value)->value : value);
        return true;
      }
      const int64_t n = to.sizes.size() == 0 ? 1 : to.sizes[0], step = to.sizes.size() == 0 ? 0 : to.strides[0];
      with_number([&]<class T>(T what) {
        for (int64_t i = 0; i < n; ++i) reinterpret_cast<T*>(start)[i * step] = what;
      });
    }
    t->bump_version();
    return true;
  });
}

void set_item_slot(Interpreter& in, const Value& self, const Value& key, const Value& value) {
  const ArrayCalls& s = calls(in);
  if (!set_quickly(in, s, self, key, value)) s.of_arrays.set_item(in, self, key, value);
}

int64_t length_slot(Interpreter& in, const Value& self) {
  const ArrayCalls& s = calls(in);
  const Tensor* const t = tensor_in(s, self);
  return t != nullptr && t->dim() > 0 ? t->sizes()[0] : s.of_arrays.length(in, self);
}

// ---- Iteration ---------------------------------------------------------------------------------------------------------

// Walks over the first axis of a plain array.
struct ArrayIterator : Object {
  Value array;
  int64_t at = 0;
};

bool next_item(Interpreter& in, const Value& self, Value& out) {
  auto* const it = known_cast<ArrayIterator>(self);
  if (it->array.is_undefined()) return false;
  if (it->at >= length(in, it->array)) return it->array = Value(), false;
  out = get_item_slot(in, it->array, Value::integer(it->at++));
  return true;
}

Value iter_slot(Interpreter& in, const Value& self) {
  const ArrayCalls& s = calls(in);
  const Tensor* const t = tensor_in(s, self);
  if (t == nullptr) return s.of_arrays.iter(in, self);
  if (t->dim() == 0) throw_error(ErrorKind::TypeError, "iteration over a 0-d array");
  auto* const made = make_object<ArrayIterator>(in, s.iterator);
  made->array = self;
  return Value::adopt(made);
}

// ---- Functions ---------------------------------------------------------------------------------------------------------

using Quick = bool (*)(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer);

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
bool quick_sum(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) { return total(in, s, args, false, answer); }
bool quick_mean(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) { return total(in, s, args, true, answer); }

bool quick_copy(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  const Tensor* const t = tensor_in(s, args[0]);
  if (t == nullptr || !is_usual(s, args[0]) || !t->is_contiguous()) return false;
  return attempt(in, [&] {
    Tensor made = Tensor::empty(t->sizes(), t->dtype());
    if (t->numel() != 0) std::memcpy(made.data_ptr(), t->data_ptr(), t->nbytes());
    return answer = new_array(in, s, std::move(made)), true;
  });
}

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
bool quick_max(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) { return reduce_by(in, s, args, "amax", false, answer); }
bool quick_min(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) { return reduce_by(in, s, args, "amin", false, answer); }

// Whether one truth of many is `wanted`, looking no further than the first.
bool search(const ArrayCalls& s, const Args& args, bool wanted, Value& answer) {
  const Tensor* const t = tensor_in(s, args[0]);
  if (t == nullptr || t->dtype() != kBool || !t->is_contiguous() || (args.count > 1 && !args[1].is_none())) return false;
  const bool found = t->numel() != 0 && std::memchr(t->data_ptr(), wanted, size_t(t->numel())) != nullptr;
  return answer = s.truths[found == wanted], true;
}
bool quick_any(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  return search(s, args, true, answer) || reduce_by(in, s, args, "any", true, answer);
}
bool quick_all(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  return search(s, args, false, answer) || reduce_by(in, s, args, "all", true, answer);
}

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
bool quick_std(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) { return deviation(in, s, args, true, answer); }
bool quick_var(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) { return deviation(in, s, args, false, answer); }

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

// The flat doubles of a plain array; null where it is none.
const double* doubles_in(const ArrayCalls& s, const Value& v, int64_t& count) {
  const Tensor* const t = tensor_in(s, v);
  if (t == nullptr || t->dim() != 1 || t->dtype() != kFloat64 || !t->is_contiguous()) return nullptr;
  count = t->numel();
  return static_cast<const double*>(t->data_ptr());
}

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
bool quick_argmax(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) { return place(in, s, args, 1, answer); }
bool quick_argmin(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) { return place(in, s, args, -1, answer); }

bool quick_prod(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer) {
  int64_t n;
  return args.count == 1 && doubles_in(s, args[0], n) != nullptr && reduce_by(in, s, args, "prod", false, answer);
}

bool quick_count(Interpreter&, const ArrayCalls& s, const Args& args, Value& answer) {
  const Tensor* const t = tensor_in(s, args[0]);
  if (t == nullptr || t->dtype() != kBool || !t->is_contiguous()) return false;
  const char* const x = t->bytes();
  int64_t count = 0, i = 0;
  for (const int64_t n = t->numel(); i < n;) {
    uint64_t lanes = 0, seen = 0, word;
    for (int k = 0; k < 255 && i + 8 <= n; ++k, i += 8) std::memcpy(&word, x + i, 8), lanes += word, seen |= word;
    if ((seen & ~kTruths) != 0) return false;
    for (int k = 0; k < 8; ++k) count += int64_t(lanes >> 8 * k & 255);
    if (i + 8 > n)
      for (; i < n; ++i) count += x[i] != 0;
  }
  return answer = Value::integer(count), true;
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
  Value count;
  if (t == nullptr || t->dim() != 1 || !quick_count(in, s, args, count)) return false;
  return attempt(in, [&] {
    Tensor made = Tensor::empty(Dims{count.as_int()}, kInt64);
    auto* const to = static_cast<int64_t*>(made.data_ptr());
    const char* const x = t->bytes();
    for (int64_t i = 0, at = 0; at < count.as_int(); ++i) to[at] = i, at += x[i] != 0;
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

struct QuickFunction {
  const char* name;
  uint32_t least, most;  // arguments, all by position
  Quick function;
};
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

struct Front {
  const QuickFunction* quick;
  Value function;  // the script's
};

Value call_front(Interpreter& in, const Args& args) {
  const auto& front = *static_cast<const Front*>(args.callee->data);
  Value answer;
  const ArrayCalls* const s = calls_of(in);
  const bool fits = s != nullptr && args.count >= front.quick->least && args.count <= front.quick->most;
  if (fits && args.keyword_names == nullptr && front.quick->function(in, *s, args, answer)) return answer;
  // axis=0 is the most frequent keyword.
  if (fits && args.count == 2 && args.keyword_names != nullptr && args.keyword_names->size == 1 && front.quick->most == 2 &&
      text_of(args.keyword_names->items[0]) == "axis" && front.quick->function(in, *s, {args.values, 2}, answer))
    return answer;
  return call(in, front.function, args);
}

// ---- Ufuncs ------------------------------------------------------------------------------------------------------------

// The tensor operation of a ufunc that is one for floats, kept in the object's first attribute as its place here.
constexpr const char* kUfuncs[][2] = {
    {"absolute", "abs"},   {"exp", "exp"},         {"log", "log"},         {"sqrt", "sqrt"},   {"sin", "sin"},           {"cos", "cos"},
    {"tanh", "tanh"},      {"log1p", "log1p"},     {"expm1", "expm1"},     {"floor", "floor"}, {"ceil", "ceil"},         {"isnan", "isnan"},
    {"isfinite", "isfinite"}, {"isinf", "isinf"},  {"maximum", "maximum"}, {"minimum", "minimum"}, {"add", "add"},       {"subtract", "sub"},
    {"multiply", "mul"},   {"divide", "div"},
};

bool apply_quickly(Interpreter& in, const ArrayCalls& s, const Value& self, const Args& args, Value& answer) {
  const Attributes& own = known_cast<Instance>(self)->attributes;
  if (own.dict != nullptr || own.count == 0 || !own.values[0].is_int() || own.values[0].as_int() < 0 || args.keyword_names != nullptr) return false;
  const OpEntry* const entry = s.ufuncs[own.values[0].as_int()];
  if (entry == nullptr || args.count == 0 || args.count > 2) return false;
  const Tensor* const a = tensor_in(s, args[0]);
  if (args.count == 2) {
    const Tensor* const b = tensor_in(s, args[1]);
    if (a == nullptr || b == nullptr || entry->fast.binary == nullptr || a->dtype() != b->dtype() || !takes(BinaryOp::TrueDiv, a->dtype(), b->dtype()))
      return false;
    return attempt(in, [&] {
      Tensor made = entry->fast.binary(*a, *b, 0);
      return is_fine(s, made, entry->fast.binary == torch_state(in).binary_ops[size_t(BinaryOp::TrueDiv)]->fast.binary) && give(in, s, std::move(made), answer);
    });
  }
  if (entry->fast.unary == nullptr) return false;
  if (a != nullptr && !takes(BinaryOp::TrueDiv, a->dtype(), a->dtype())) return false;
  Value held = args[0];
  if (a == nullptr && held.is_object() && held.as_object()->type == s.scalars[size_t(kFloat64)]) held = known_cast<Boxed>(held)->value;
  if (a == nullptr && !held.is_float()) return false;
  return attempt(in, [&] {
    Tensor made = entry->fast.unary(a != nullptr ? *a : Tensor::scalar(held.as_float(), kFloat64));
    return is_fine(s, made, own.values[0].as_int() != 0) && give(in, s, std::move(made), answer);
  });
}

Value call_slot(Interpreter& in, const Value& self, const Args& args) {
  const ArrayCalls& s = calls(in);
  Value answer;
  if (apply_quickly(in, s, self, args, answer)) return answer;
  return s.of_ufuncs.call(in, self, args);
}

Value ufunc_place(Interpreter&, const Args& args) {
  for (size_t i = 0; i < std::size(kUfuncs); ++i)
    if (text_of(args[0]) == kUfuncs[i][0]) return Value::integer(int64_t(i));
  return Value::integer(-1);
}

// ---- For scripts -------------------------------------------------------------------------------------------------------

// A function, or with `owner` a method, that answers everyday calls and leaves the others to a function of a script.
Value quick(Interpreter& in, const Args& args) {
  for (const QuickFunction& row : kQuick)
    if (text_of(args[0]) == row.name) {
      const Value made = in.new_function(row.name, "", call_front, new Front{&row, args[1]}, [](void* data) { delete static_cast<Front*>(data); });
      auto* const native = object_cast<NativeFunction>(made);
      if (is_type(args[2])) own_method(in, native, as_type(args[2]));
      else native->module = intern(in, "numpy");
      return made;
    }
  throw_error(ErrorKind::KeyError, "no short way of this name");
}

void put_slots(Interpreter& in, Type* type) {
  ArrayCalls* const s = calls_of(in);
  if (s == nullptr) return;
  TypeSlots& slots = type->slots;
  if (type == s->array) {
    s->of_arrays = slots;
    slots.binary = binary_slot, slots.inplace = inplace_slot, slots.unary = unary_slot, slots.compare = compare_slot;
    slots.get_item = get_item_slot, slots.set_item = set_item_slot, slots.length = length_slot, slots.iter = iter_slot;
  } else if (type == s->scalars[size_t(kFloat64)] || type == s->scalars[size_t(kInt64)]) {
    s->of_scalars = slots;
    slots.binary = scalar_binary, slots.compare = scalar_compare;
  } else if (type == s->ufunc) {
    s->of_ufuncs = slots;
    slots.call = call_slot;
  } else {
    for (const Value& dtype : s->dtypes)
      if (dtype.is_object() && dtype.as_object()->type == type) {
        s->of_dtypes = slots;
        slots.compare = dtype_compare;
        return;
      }
  }
}

// quicken(ndarray, ((torch dtype, scalar class, dtype), ...), False_, True_, ufunc)
Value quicken(Interpreter& in, const Args& args) {
  auto* const s = in.keep(new ArrayCalls);
  s->array = as_type(args[0]);
  for (const Value& row : *as_tuple(args[1])) {
    DType type;
    if (!to_dtype(in, as_tuple(row)->items[0], type)) continue;
    s->scalars[size_t(type)] = as_type(as_tuple(row)->items[1]);
    s->dtypes[size_t(type)] = as_tuple(row)->items[2];
  }
  s->truths[0] = args[2], s->truths[1] = args[3];
  const auto& keys = s->array->instance_keys;
  if (keys.size() < 2 || keys[0]->view() != "_t" || keys[1]->view() != "_base") return Value::none();
  s->ufunc = as_type(args[4]);
  for (size_t i = 0; i < std::size(kUfuncs); ++i)
    for (const OpEntry* entry : tensor::find_op(kUfuncs[i][1]))
      if (s->ufuncs[i] == nullptr && (entry->fast.unary != nullptr || entry->fast.binary != nullptr)) s->ufuncs[i] = entry;
  NativeTypeSpec spec;
  spec.name = "iterator", spec.module = "builtins", spec.size = sizeof(ArrayIterator), spec.flags = kFinalType;
  s->iterator = in.new_type(spec);
  s->iterator->slots.destroy = [](Interpreter& in, Object* self) { free_object(in, known_cast<ArrayIterator>(self)); };
  s->iterator->slots.iter = [](Interpreter&, const Value& self) { return self; };
  s->iterator->slots.next = next_item;
  torch_state(in).array_calls = s;
  for (Type* type : {s->array, s->scalars[size_t(kFloat64)], s->scalars[size_t(kInt64)], s->ufunc}) {
    type->slots.adjust = put_slots;
    put_slots(in, type);
    type_changed(in, type);
  }
  for (const Value& dtype : s->dtypes)
    if (dtype.is_object() && dtype.as_object()->type->slots.compare != dtype_compare) {
      Type* const type = dtype.as_object()->type;
      type->slots.adjust = put_slots;
      put_slots(in, type);
      type_changed(in, type);
    }
  return Value::none();
}

Value notice(Interpreter& in, const Args& args) {
  if (ArrayCalls* const s = calls_of(in)) s->notice = int(args[0].as_int());
  return Value::none();
}

}  // namespace

void add_array_calls(Interpreter& in, Module& module) {
  in.def(module, "quicken(ndarray, kinds: tuple, false, true, ufunc)", "", quicken);
  in.def(module, "quick(name: str, function, owner=None)", "", quick);
  in.def(module, "ufunc_place(name: str)", "", ufunc_place);
  in.def(module, "notice(level: int)", "", notice);
}

}  // namespace tessera::stdlib

// compile: small (a call takes its time in the operation)
// Operators and comparisons of arrays, their scalars and dtypes.
#include <algorithm>
#include <cmath>

#include "lang/types/number.h"
#include "stdlib/numpy/native/array_slots.h"

namespace tessera::stdlib::arrays {

namespace {

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

}  // namespace

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

namespace {

// Reads the two numbers of an operation between the scalar `a` and the operand `b`. Returns 'd' if both are doubles, 'l' if both are
// int64, and 0 for any other types.
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

}  // namespace

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

}  // namespace tessera::stdlib::arrays

// compile: small (a call takes its time in the operation)
// Operands and results of short ways.
#include "stdlib/numpy/native/array_operands.h"

#include <algorithm>
#include <cmath>

#include "lang/objects/attribute.h"
#include "runtime/ops/math_bits.h"

namespace tessera::stdlib::arrays {

// Null before numpy is imported, and when the interpreter ends.
ArrayCalls* calls_of(Interpreter& in) { return in.extension == nullptr ? nullptr : static_cast<ArrayCalls*>(torch_state(in).array_calls); }
ArrayCalls& calls(Interpreter& in) {
  if (ArrayCalls* const found = calls_of(in)) return *found;
  throw_error(ErrorKind::RuntimeError, "the interpreter ends");
}

// The tensor of a plain array: of no class below, and its class has the attributes in their order.
const Tensor* tensor_in(const ArrayCalls& s, const Value& v) {
  if (!v.is_object() || v.as_object()->type != s.array) return nullptr;
  const Attributes& a = known_cast<Instance>(v)->attributes;
  if (a.dict != nullptr || a.count == 0 || !a.values[0].is_object()) return nullptr;
  const Tensor& t = tensor_of(a.values[0]);
  return t.is_tracked() || t.has_math_bits() ? nullptr : &t;
}

// The array has no attributes but its tensor and its base: it may be written, and its bytes are in the machine's order.
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

namespace {

// Returns false if an element is infinite or NaN, or if the sum of the elements overflows: the sum is what is tested. The vectors have 16
// bytes, which every x86-64 machine has.
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

}  // namespace

// Says that there is nothing to report about a result.
bool is_fine(const ArrayCalls& s, const Tensor& t, bool look) {
  if (s.notice == 0 || !(is_floating(t.dtype()) || is_complex(t.dtype()))) return true;
  if (s.notice == 1 && !look && t.numel() > kLookedAt) return true;
  if (!t.is_contiguous()) return false;
  if (t.dtype() == kFloat64) return finite_run(static_cast<const double*>(t.data_ptr()), t.numel());
  return t.dtype() == kFloat32 && finite_run(static_cast<const float*>(t.data_ptr()), t.numel());
}

// The answer of f; false where the tensor operation refuses, or where a dispatch mode is to be asked first.
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

}  // namespace tessera::stdlib::arrays

// Tensor: a counted share in a tensor. Copying it copies the handle, never the data; scripts see the same memory.
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tessera/host/error.h"
#include "tessera/tessera_c.h"

namespace tessera {

enum class DType : int32_t {
  Bool = TSR_DTYPE_BOOL,
  UInt8 = TSR_DTYPE_UINT8,
  Int8 = TSR_DTYPE_INT8,
  Int16 = TSR_DTYPE_INT16,
  Int32 = TSR_DTYPE_INT32,
  Int64 = TSR_DTYPE_INT64,
  UInt16 = TSR_DTYPE_UINT16,
  UInt32 = TSR_DTYPE_UINT32,
  UInt64 = TSR_DTYPE_UINT64,
  Float16 = TSR_DTYPE_FLOAT16,
  BFloat16 = TSR_DTYPE_BFLOAT16,
  Float32 = TSR_DTYPE_FLOAT32,
  Float64 = TSR_DTYPE_FLOAT64,
  Complex64 = TSR_DTYPE_COMPLEX64,
  Complex128 = TSR_DTYPE_COMPLEX128,
  Float8E4M3FN = TSR_DTYPE_FLOAT8_E4M3FN,
  Float8E5M2 = TSR_DTYPE_FLOAT8_E5M2,
  Float8E4M3FNUZ = TSR_DTYPE_FLOAT8_E4M3FNUZ,
  Float8E5M2FNUZ = TSR_DTYPE_FLOAT8_E5M2FNUZ,
  Complex32 = TSR_DTYPE_COMPLEX32,
  BComplex32 = TSR_DTYPE_BCOMPLEX32,
  UInt1 = TSR_DTYPE_UINT1,
  UInt2 = TSR_DTYPE_UINT2,
  UInt3 = TSR_DTYPE_UINT3,
  UInt4 = TSR_DTYPE_UINT4,
  UInt5 = TSR_DTYPE_UINT5,
  UInt6 = TSR_DTYPE_UINT6,
  UInt7 = TSR_DTYPE_UINT7,
  Int1 = TSR_DTYPE_INT1,
  Int2 = TSR_DTYPE_INT2,
  Int3 = TSR_DTYPE_INT3,
  Int4 = TSR_DTYPE_INT4,
  Int5 = TSR_DTYPE_INT5,
  Int6 = TSR_DTYPE_INT6,
  Int7 = TSR_DTYPE_INT7,
  Float4E2M1FNx2 = TSR_DTYPE_FLOAT4_E2M1FN_X2,
  Bits1x8 = TSR_DTYPE_BITS1X8,
  Bits2x4 = TSR_DTYPE_BITS2X4,
  Bits4x2 = TSR_DTYPE_BITS4X2,
  Bits8 = TSR_DTYPE_BITS8,
  Bits16 = TSR_DTYPE_BITS16,
  QInt8 = TSR_DTYPE_QINT8,
  QUInt8 = TSR_DTYPE_QUINT8,
  QInt32 = TSR_DTYPE_QINT32,
  QUInt4x2 = TSR_DTYPE_QUINT4X2,
  QUInt2x4 = TSR_DTYPE_QUINT2X4,
  Float8E8M0FNU = TSR_DTYPE_FLOAT8_E8M0FNU,
};
inline constexpr DType kBool = DType::Bool, kUInt8 = DType::UInt8, kInt8 = DType::Int8, kInt16 = DType::Int16,
                       kInt32 = DType::Int32, kInt64 = DType::Int64, kUInt16 = DType::UInt16, kUInt32 = DType::UInt32,
                       kUInt64 = DType::UInt64, kFloat16 = DType::Float16, kBFloat16 = DType::BFloat16,
                       kFloat32 = DType::Float32, kFloat64 = DType::Float64, kComplex64 = DType::Complex64,
                       kComplex128 = DType::Complex128;

// The dtype whose elements are T in C++.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>) return kBool;
  else if constexpr (std::is_same_v<T, float>) return kFloat32;
  else if constexpr (std::is_same_v<T, double>) return kFloat64;
  else if constexpr (std::is_same_v<T, std::complex<float>>) return kComplex64;
  else if constexpr (std::is_same_v<T, std::complex<double>>) return kComplex128;
  else {
    static_assert(std::is_integral_v<T>, "no dtype has elements of this type");
    constexpr bool is_signed = std::is_signed_v<T>;
    if constexpr (sizeof(T) == 1) return is_signed ? kInt8 : kUInt8;
    else if constexpr (sizeof(T) == 2) return is_signed ? kInt16 : kUInt16;
    else if constexpr (sizeof(T) == 4) return is_signed ? kInt32 : kUInt32;
    else return is_signed ? kInt64 : kUInt64;
  }
}

// Some integers that somebody else keeps: for parameters, which may be given as {2, 3}.
class Ints {
 public:
  Ints(const int64_t* data, size_t size) : data_(data), size_(size) {}
  Ints(std::initializer_list<int64_t> list) : size_(list.size()) { data_ = list.begin(); }
  Ints(const std::vector<int64_t>& list) : data_(list.data()), size_(list.size()) {}
  const int64_t* data() const { return data_; }
  size_t size() const { return size_; }
  const int64_t* begin() const { return data_; }
  const int64_t* end() const { return data_ + size_; }
  int64_t operator[](size_t i) const { return data_[i]; }
  operator std::vector<int64_t>() const { return {begin(), end()}; }
  friend bool operator==(Ints a, Ints b) {
    if (a.size_ != b.size_) return false;
    for (size_t i = 0; i < a.size_; ++i)
      if (a.data_[i] != b.data_[i]) return false;
    return true;
  }

 private:
  const int64_t* data_;
  size_t size_;
};

class Tensor {
 public:
  Tensor() = default;
  // Takes a share over.
  static Tensor adopt(tsr_tensor* tensor) {
    Tensor made;
    made.tensor_ = tensor;
    return made;
  }
  Tensor(const Tensor& other) : tensor_(other.tensor_ != nullptr ? tsr_tensor_retain(other.tensor_) : nullptr) {}
  Tensor(Tensor&& other) noexcept : tensor_(std::exchange(other.tensor_, nullptr)) {}
  Tensor& operator=(Tensor other) noexcept {
    std::swap(tensor_, other.tensor_);
    return *this;
  }
  ~Tensor() { tsr_tensor_release(tensor_); }

  static Tensor zeros(Ints sizes, DType dtype = kFloat32) {
    detail::ErrorSlot error;
    tsr_tensor* made = nullptr;
    error.check(tsr_tensor_new(sizes.data(), sizes.size(), static_cast<tsr_dtype>(dtype), &made, error));
    return adopt(made);
  }
  // Copies the values, row-major.
  template <class T>
  static Tensor from_values(const std::vector<T>& values, Ints sizes) {
    const Tensor made = zeros(sizes, dtype_of<T>());
    if (made.numel() != static_cast<int64_t>(values.size()))
      throw ScriptError("ValueError",
                        std::to_string(values.size()) + " values for a tensor of " + std::to_string(made.numel()));
    std::copy(values.begin(), values.end(), made.data<T>());
    return made;
  }
  // Memory of the host's, shared: it has to stay until the deleter is called, or for good where there is none. Strides
  // are in elements; none: row-major. The deleter must not throw, for there is nobody to catch it.
  static Tensor from_blob(void* data, Ints sizes, DType dtype, std::function<void()> deleter = {}) {
    return from_blob(data, sizes, {nullptr, 0}, dtype, std::move(deleter));
  }
  static Tensor from_blob(void* data, Ints sizes, Ints strides, DType dtype, std::function<void()> deleter = {}) {
    detail::ErrorSlot error;
    tsr_tensor* made = nullptr;
    const bool given = strides.data() != nullptr;
    if (given && strides.size() != sizes.size()) throw ScriptError("ValueError", "as many strides as sizes are needed");
    auto owned = deleter ? std::make_unique<std::function<void()>>(std::move(deleter)) : nullptr;
    const tsr_drop drop = owned == nullptr ? nullptr : +[](void* user) noexcept {
      const std::unique_ptr<std::function<void()>> last(static_cast<std::function<void()>*>(user));
      (*last)();
    };
    error.check(tsr_tensor_from_blob(data, sizes.data(), given ? strides.data() : nullptr, sizes.size(),
                                     static_cast<tsr_dtype>(dtype), drop, owned.get(), &made, error));
    owned.release();
    return adopt(made);
  }
  template <class T>
  static Tensor from_blob(T* data, Ints sizes, std::function<void()> deleter = {}) {
    return from_blob(data, sizes, dtype_of<T>(), std::move(deleter));
  }
  // DLPack (<dlpack/dlpack.h>); the tensor takes `managed` over.
  static Tensor from_dlpack(DLManagedTensor* managed) {
    detail::ErrorSlot error;
    tsr_tensor* made = nullptr;
    error.check(tsr_tensor_from_dlpack(managed, &made, error));
    return adopt(made);
  }
  DLManagedTensor* to_dlpack() const {
    detail::ErrorSlot error;
    DLManagedTensor* made = nullptr;
    error.check(tsr_tensor_to_dlpack(tensor_, &made, error));
    return made;
  }

  bool defined() const { return tensor_ != nullptr; }
  explicit operator bool() const { return defined(); }
  tsr_tensor* handle() const { return tensor_; }

  int64_t dim() const { return static_cast<int64_t>(tsr_tensor_dims(tensor_)); }
  Ints sizes() const { return {tsr_tensor_sizes(tensor_), tsr_tensor_dims(tensor_)}; }
  Ints strides() const { return {tsr_tensor_strides(tensor_), tsr_tensor_dims(tensor_)}; }
  // Negative dimensions count from the end.
  int64_t size(int64_t dimension) const {
    const int64_t dims = dim(), at = dimension < 0 ? dimension + dims : dimension;
    if (at < 0 || at >= dims)
      throw ScriptError("IndexError", "the tensor has " + std::to_string(dims) + " dimensions, there is no dimension " +
                                          std::to_string(dimension));
    return sizes()[static_cast<size_t>(at)];
  }
  int64_t numel() const { return tsr_tensor_numel(tensor_); }
  DType dtype() const { return static_cast<DType>(tsr_tensor_dtype(tensor_)); }
  bool is_contiguous() const { return tsr_tensor_is_contiguous(tensor_); }
  bool on_host() const { return tsr_tensor_on_host(tensor_); }
  void* data_ptr() const { return tsr_tensor_data(tensor_); }
  // The elements, which lie as strides() says. ScriptError (TypeError) when they are no Ts, or not in the host's memory.
  template <class T>
  T* data() const {
    if (!defined()) throw ScriptError("ValueError", "the tensor is undefined");
    if (dtype() != dtype_of<std::remove_const_t<T>>())
      throw ScriptError("TypeError", "the tensor's elements have another type");
    if (!on_host()) throw ScriptError("TypeError", "the tensor is on another device");
    return static_cast<T*>(data_ptr());
  }
  // A copy of the elements, row-major.
  template <class T>
  std::vector<T> to_vector() const;
  // The one element: item(), item<int64_t>(), item<std::complex<double>>(). ScriptError when T cannot hold it.
  template <class T = double>
  T item() const {
    detail::ErrorSlot error;
    if constexpr (std::is_floating_point_v<T>) {
      double value = 0;
      error.check(tsr_tensor_item(tensor_, &value, error));
      return static_cast<T>(value);
    } else if constexpr (std::is_same_v<T, bool>) {
      double parts[2] = {};
      error.check(tsr_tensor_item_complex(tensor_, parts, error));
      return parts[0] != 0 || parts[1] != 0;
    } else if constexpr (std::is_integral_v<T>) {
      int64_t value = 0;
      error.check(tsr_tensor_item_int(tensor_, &value, error));
      using Limits = std::numeric_limits<T>;
      constexpr bool wide = sizeof(T) == 8 && std::is_unsigned_v<T>;
      const bool fits =
          value >= static_cast<int64_t>(Limits::min()) && (wide || value <= static_cast<int64_t>(Limits::max()));
      if (!fits && !(wide && dtype() == DType::UInt64))  // whose upper half comes as negative
        throw ScriptError("OverflowError", std::to_string(value) + " does not fit the host's integer");
      return static_cast<T>(value);
    } else {
      double parts[2] = {};
      error.check(tsr_tensor_item_complex(tensor_, parts, error));
      return T(static_cast<typename T::value_type>(parts[0]), static_cast<typename T::value_type>(parts[1]));
    }
  }
  std::string device() const {  // "cpu", "cuda:0"
    detail::ErrorSlot error;
    char* text = nullptr;
    error.check(tsr_tensor_device(tensor_, &text, error));
    const std::unique_ptr<char, void (*)(char*)> owned(text, tsr_text_free);
    return owned.get();
  }
  // With another dtype, on another device; the same tensor where that changes nothing.
  Tensor to(DType dtype) const { return converted(static_cast<tsr_dtype>(dtype), nullptr); }
  Tensor to(const char* device) const { return converted(TSR_DTYPE_SAME, device); }
  Tensor to(const std::string& device) const { return to(device.c_str()); }
  Tensor to(const char* device, DType dtype) const { return converted(static_cast<tsr_dtype>(dtype), device); }
  Tensor contiguous() const;
  Tensor clone() const;
  Tensor detach() const;
  Tensor reshape(Ints sizes) const;
  Tensor operator[](int64_t index) const;  // of the first dimension, shared
  std::string str() const {
    detail::ErrorSlot error;
    char* text = nullptr;
    error.check(tsr_tensor_text(tensor_, &text, error));
    const std::unique_ptr<char, void (*)(char*)> owned(text, tsr_text_free);
    return owned.get();
  }

  const Tensor& requires_grad_(bool wanted = true) const {
    detail::ErrorSlot error;
    error.check(tsr_tensor_set_requires_grad(tensor_, wanted, error));
    return *this;
  }
  bool requires_grad() const { return tsr_tensor_requires_grad(tensor_); }
  void backward() const {
    detail::ErrorSlot error;
    error.check(tsr_tensor_backward(tensor_, error));
  }
  // Undefined: there is none.
  Tensor grad() const {
    detail::ErrorSlot error;
    tsr_tensor* found = nullptr;
    error.check(tsr_tensor_grad(tensor_, &found, error));
    return adopt(found);
  }
  void clear_grad() const {
    detail::ErrorSlot error;
    error.check(tsr_tensor_clear_grad(tensor_, error));
  }

 private:
  Tensor converted(tsr_dtype dtype, const char* device) const {
    detail::ErrorSlot error;
    tsr_tensor* made = nullptr;
    error.check(tsr_tensor_to(tensor_, dtype, device, &made, error));
    return adopt(made);
  }

  tsr_tensor* tensor_ = nullptr;
};

// Operations of this block record no gradients.
class NoGrad {
 public:
  NoGrad() : before_(tsr_set_grad_enabled(false)) {}
  ~NoGrad() { tsr_set_grad_enabled(before_); }
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};

// An argument by name: op("sum", x, arg("dim", Ints{0})), and in calls of scripts: f(x, arg("k", 3)).
template <class T>
struct NamedArgument {
  const char* name;
  const T& value;
};
template <class T>
NamedArgument<T> arg(const char* name, const T& value) {
  return {name, value};
}

namespace detail {

inline tsr_argument argument(std::nullptr_t) { return {TSR_ARG_NONE, 0, nullptr, 0, {0}}; }
template <class T>
tsr_argument argument(const T& value) {
  tsr_argument made{TSR_ARG_NONE, 0, nullptr, 0, {0}};
  if constexpr (std::is_same_v<T, bool>) {
    made.kind = TSR_ARG_BOOL;
    made.as.integer = value ? 1 : 0;
  } else if constexpr (std::is_integral_v<T>) {
    made.kind = TSR_ARG_INT;
    made.as.integer = static_cast<int64_t>(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    made.kind = TSR_ARG_FLOAT;
    made.as.real = static_cast<double>(value);
  } else if constexpr (std::is_same_v<T, Tensor>) {
    made.kind = TSR_ARG_TENSOR;
    made.as.tensor = value.handle();
  } else if constexpr (std::is_same_v<T, std::vector<Tensor>>) {
    // A Tensor is one pointer.
    static_assert(sizeof(Tensor) == sizeof(tsr_tensor*));
    made.kind = TSR_ARG_TENSORS;
    made.count = value.size();
    made.as.tensors = reinterpret_cast<tsr_tensor* const*>(value.data());
  } else if constexpr (std::is_same_v<T, DType>) {
    made.kind = TSR_ARG_DTYPE;
    made.as.integer = static_cast<int64_t>(value);
  } else if constexpr (std::is_convertible_v<const T&, const char*>) {
    made.kind = TSR_ARG_TEXT;
    made.as.text = value;
  } else if constexpr (std::is_same_v<T, std::string>) {
    made.kind = TSR_ARG_TEXT;
    made.as.text = value.c_str();
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
    made.kind = TSR_ARG_FLOATS;
    made.count = value.size();
    made.as.reals = value.data();
  } else {
    static_assert(std::is_convertible_v<const T&, Ints>, "no operation takes an argument of this type");
    const Ints list = value;
    made.kind = TSR_ARG_INTS;
    made.count = list.size();
    made.as.integers = list.data();
  }
  return made;
}
template <class T>
tsr_argument argument(const NamedArgument<T>& named) {
  tsr_argument made = argument(named.value);
  made.name = named.name;
  return made;
}

}  // namespace detail

// Any operation of PyTorch's by its name, with its arguments in order or by arg("name", value): ops("topk", x, 3) answers all
// results, op("softmax", x, -1) the only one. In place: op("add_", x, y).
template <class... Arguments>
std::vector<Tensor> ops(const char* name, const Arguments&... arguments) {
  constexpr size_t kMost = 1024;
  const tsr_argument list[sizeof...(Arguments) + 1] = {detail::argument(arguments)...};
  const auto out = std::make_unique<tsr_tensor*[]>(kMost);
  size_t count = kMost;
  detail::ErrorSlot error;
  error.check(tsr_op(name, list, sizeof...(Arguments), out.get(), &count, error));
  std::vector<Tensor> results;
  for (size_t i = 0; i < count; ++i) results.push_back(Tensor::adopt(out[i]));
  return results;
}
template <class... Arguments>
Tensor op(const char* name, const Arguments&... arguments) {
  const tsr_argument list[sizeof...(Arguments) + 1] = {detail::argument(arguments)...};
  tsr_tensor* out = nullptr;
  size_t count = 1;
  detail::ErrorSlot error;
  error.check(tsr_op(name, list, sizeof...(Arguments), &out, &count, error));
  return Tensor::adopt(out);
}

inline Tensor operator+(const Tensor& x, const Tensor& y) { return op("add", x, y); }
inline Tensor operator-(const Tensor& x, const Tensor& y) { return op("sub", x, y); }
inline Tensor operator*(const Tensor& x, const Tensor& y) { return op("mul", x, y); }
inline Tensor operator/(const Tensor& x, const Tensor& y) { return op("div", x, y); }
inline Tensor operator+(const Tensor& x, double y) { return op("add", x, y); }
inline Tensor operator-(const Tensor& x, double y) { return op("sub", x, y); }
inline Tensor operator*(const Tensor& x, double y) { return op("mul", x, y); }
inline Tensor operator/(const Tensor& x, double y) { return op("div", x, y); }
inline Tensor operator+(double x, const Tensor& y) { return op("add", y, x); }
inline Tensor operator-(double x, const Tensor& y) { return op("rsub", y, x); }
inline Tensor operator*(double x, const Tensor& y) { return op("mul", y, x); }
inline Tensor operator/(double x, const Tensor& y) { return op("mul", op("reciprocal", y), x); }
inline Tensor operator-(const Tensor& x) { return op("neg", x); }
inline Tensor matmul(const Tensor& x, const Tensor& y) { return op("matmul", x, y); }

inline Tensor Tensor::contiguous() const { return op("contiguous", *this); }
inline Tensor Tensor::clone() const { return op("clone", *this); }
inline Tensor Tensor::detach() const {
  const NoGrad none;
  return op("as_strided", *this, sizes(), strides());
}
inline Tensor Tensor::reshape(Ints sizes) const { return op("reshape", *this, sizes); }
inline Tensor Tensor::operator[](int64_t index) const { return op("select", *this, 0, index); }

template <class T>
std::vector<T> Tensor::to_vector() const {
  const Tensor dense = is_contiguous() ? *this : contiguous();
  const T* const first = dense.data<T>();
  return {first, first + dense.numel()};
}

}  // namespace tessera

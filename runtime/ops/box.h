// From a C++ function to a boxed kernel: `box<&softmax>` unpacks OpArgs by the function's parameter types and packs
// what it returns. Parameters may be: Tensor (const Tensor&), std::optional<Tensor>, TensorList, int64_t,
// std::optional<int64_t>, double, bool, Scalar, std::optional<Scalar>, Ints, std::optional<Dims>, DType, Device
// (and optionals), std::string, Generator*. In-place and out= forms are made by copying the result.
#pragma once

#include <tuple>
#include <utility>

#include "runtime/ops/op.h"

namespace tessera::tensor {

/// Reads argument i of a call as T. The binding has already converted to the schema's kinds.
template <class T>
struct Unbox;

template <>
struct Unbox<Tensor> {
  static Tensor get(OpCall& c, size_t i);
};
template <>
struct Unbox<OptionalTensor> {
  static OptionalTensor get(OpCall& c, size_t i);
};
template <>
struct Unbox<TensorList> {
  static TensorList get(OpCall& c, size_t i);
};
template <>
struct Unbox<std::vector<OptionalTensor>> {
  static std::vector<OptionalTensor> get(OpCall& c, size_t i);
};
template <>
struct Unbox<bool> {
  static bool get(OpCall& c, size_t i);
};
template <>
struct Unbox<int64_t> {
  static int64_t get(OpCall& c, size_t i);
};
template <>
struct Unbox<double> {
  static double get(OpCall& c, size_t i);
};
template <>
struct Unbox<Scalar> {
  static Scalar get(OpCall& c, size_t i) { return c.scalar(i); }
};
template <>
struct Unbox<Dims> {
  static Dims get(OpCall& c, size_t i);
};
template <>
struct Unbox<Ints> {
  static Dims get(OpCall& c, size_t i) { return Unbox<Dims>::get(c, i); }
};
template <>
struct Unbox<std::vector<double>> {
  static std::vector<double> get(OpCall& c, size_t i);
};
template <>
struct Unbox<DType> {
  static DType get(OpCall& c, size_t i);
};
template <>
struct Unbox<Device> {
  static Device get(OpCall& c, size_t i);
};
template <>
struct Unbox<std::string> {
  static std::string get(OpCall& c, size_t i);
};
template <>
struct Unbox<Generator*> {
  static Generator* get(OpCall& c, size_t i);
};
template <class T>
struct Unbox<std::optional<T>> {
  static std::optional<T> get(OpCall& c, size_t i) {
    if (c.none(i)) return std::nullopt;
    return Unbox<T>::get(c, i);
  }
};

/// Hands results back: into `out` (copied) where the call has one, boxed otherwise.
void return_tensors(OpCall& c, Tensor* results, size_t n);

inline void return_value(OpCall& c, Tensor t) { return_tensors(c, &t, 1); }
inline void return_value(OpCall& c, TensorList list) { c.results.emplace_back(std::move(list)); }
inline void return_value(OpCall& c, bool x) { c.results.emplace_back(x); }
inline void return_value(OpCall& c, int64_t x) { c.results.emplace_back(x); }
inline void return_value(OpCall& c, double x) { c.results.emplace_back(x); }
inline void return_value(OpCall& c, DType x) { c.results.emplace_back(x); }
inline void return_value(OpCall& c, std::vector<int64_t> x) { c.results.emplace_back(std::move(x)); }
template <class... T>
void return_value(OpCall& c, std::tuple<T...> tuple) {
  Tensor list[] = {std::get<T>(tuple)...};
  return_tensors(c, list, sizeof...(T));
}
template <>
inline void return_value(OpCall& c, std::tuple<Tensor, Tensor> t) {
  Tensor list[] = {std::get<0>(t), std::get<1>(t)};
  return_tensors(c, list, 2);
}
template <>
inline void return_value(OpCall& c, std::tuple<Tensor, Tensor, Tensor> t) {
  Tensor list[] = {std::get<0>(t), std::get<1>(t), std::get<2>(t)};
  return_tensors(c, list, 3);
}

namespace detail {
template <class R, class... P, size_t... I>
void call_boxed(OpCall& c, R (*f)(P...), std::index_sequence<I...>) {
  if constexpr (std::is_void_v<R>) f(Unbox<std::remove_cvref_t<P>>::get(c, I)...);
  else return_value(c, f(Unbox<std::remove_cvref_t<P>>::get(c, I)...));
}
template <class R, class... P>
void call_boxed(OpCall& c, R (*f)(P...)) {
  call_boxed(c, f, std::index_sequence_for<P...>{});
}
}  // namespace detail

/// The boxed kernel of a C++ function. For an overloaded one: box<static_cast<Tensor (*)(const Tensor&, int64_t)>(&f)>.
template <auto F>
void box(OpCall& c) {
  detail::call_boxed(c, F);
}

}  // namespace tessera::tensor

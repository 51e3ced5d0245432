// From a C++ function to a boxed kernel: `box<&softmax>` unpacks Args by the function's parameter types and packs
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
  static Tensor get(const OpCall& c, size_t i) {
    if (c.args[i].is_tensor()) return c.args[i].tensor();
    if (c.none(i)) return {};
    return Tensor::wrapped_number(c.scalar(i));
  }
};
template <>
struct Unbox<OptionalTensor> {
  static OptionalTensor get(const OpCall& c, size_t i) {
    if (c.none(i)) return std::nullopt;
    return Unbox<Tensor>::get(c, i);
  }
};
template <>
struct Unbox<TensorList> {
  static const TensorList& get(const OpCall& c, size_t i) {
    if (c.args[i].kind() != Arg::Kind::Tensors) c.mismatch(i);
    return c.args[i].tensors();
  }
};
template <>
struct Unbox<std::vector<OptionalTensor>> {
  static const std::vector<OptionalTensor>& get(const OpCall& c, size_t i) {
    if (c.args[i].kind() != Arg::Kind::OptionalTensors) c.mismatch(i);
    return c.args[i].optional_tensors();
  }
};
template <>
struct Unbox<bool> {
  static bool get(const OpCall& c, size_t i) { return c.scalar(i).to_bool(); }
};
template <>
struct Unbox<int64_t> {
  static int64_t get(const OpCall& c, size_t i) { return c.scalar(i).to_int(); }
};
template <>
struct Unbox<double> {
  static double get(const OpCall& c, size_t i) { return c.scalar(i).to_double(); }
};
template <>
struct Unbox<Scalar> {
  static Scalar get(const OpCall& c, size_t i) { return c.scalar(i); }
};
template <>
struct Unbox<Ints> {
  static Ints get(const OpCall& c, size_t i) {
    if (c.none(i)) return {};
    if (c.args[i].kind() != Arg::Kind::Ints) c.mismatch(i);
    return c.args[i].ints();
  }
};
template <>
struct Unbox<Dims> {
  static Dims get(const OpCall& c, size_t i) { return Unbox<Ints>::get(c, i); }
};
template <>
struct Unbox<std::vector<double>> {
  static std::vector<double> get(const OpCall& c, size_t i) {
    if (c.args[i].kind() == Arg::Kind::Floats) return c.args[i].floats();
    const Ints whole = Unbox<Ints>::get(c, i);
    return {whole.begin(), whole.end()};
  }
};
template <>
struct Unbox<DType> {
  static DType get(const OpCall& c, size_t i) {
    if (c.args[i].kind() != Arg::Kind::DType) c.mismatch(i);
    return c.args[i].dtype();
  }
};
template <>
struct Unbox<Device> {
  static Device get(const OpCall& c, size_t i) {
    if (c.args[i].kind() != Arg::Kind::Device) c.mismatch(i);
    return c.args[i].device();
  }
};
template <>
struct Unbox<std::string> {
  static std::string get(const OpCall& c, size_t i) {
    if (c.args[i].kind() != Arg::Kind::Text) c.mismatch(i);
    return std::string(c.args[i].text());
  }
};
template <>
struct Unbox<Generator*> {
  static Generator* get(const OpCall& c, size_t i);
};
template <class T>
struct Unbox<std::optional<T>> {
  static std::optional<T> get(const OpCall& c, size_t i) {
    if (c.none(i)) return std::nullopt;
    return Unbox<T>::get(c, i);
  }
};

/// A parameter of the C++ function for the length of the call. A tensor is passed on without a count.
template <class P>
struct Parameter {
  static decltype(auto) get(const OpCall& c, size_t i) { return Unbox<std::remove_cvref_t<P>>::get(c, i); }
};
template <>
struct Parameter<const Tensor&> {
  class Held {
   public:
    Held(const OpCall& c, size_t i) : tensor_(&made_) {
      if (c.args[i].is_tensor()) tensor_ = &c.args[i].tensor();
      else made_ = Unbox<Tensor>::get(c, i);
    }
    Held(const Held&) = delete;
    operator const Tensor&() const { return *tensor_; }

   private:
    Tensor made_;
    const Tensor* tensor_;
  };
  static Held get(const OpCall& c, size_t i) { return Held(c, i); }
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
  if constexpr (std::is_void_v<R>) f(Parameter<P>::get(c, I)...);
  else return_value(c, f(Parameter<P>::get(c, I)...));
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

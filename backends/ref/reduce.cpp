// The definition of the reductions: the last column of reduce.def, a formula over the list of all elements in double or
// int64. It shares nothing with the kernels, which see one element after the other.
// compile: small (runs in tests)
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "runtime/device/backend.h"
#include "runtime/ops/reduce_ids.h"

namespace tessera::tensor::ref {
namespace {

// ---- what the formulas are made of ----

template <class T>
using List = std::vector<T>;

template <class T>
T total(const List<T>& v) {
  if constexpr (std::is_integral_v<T>) {
    uint64_t sum = 0;  // wraps round
    for (const T x : v) sum += uint64_t(x);
    return T(sum);
  } else {
    long double sum = 0;
    for (const T x : v) sum += x;
    return T(sum);
  }
}
template <class T>
T product(const List<T>& v) {
  if constexpr (std::is_integral_v<T>) {
    uint64_t p = 1;
    for (const T x : v) p *= uint64_t(x);
    return T(p);
  } else {
    long double p = 1;
    for (const T x : v) p *= x;
    return T(p);
  }
}
template <class T>
T count(const List<T>& v) {
  return T(v.size());
}
template <class T, class Test>
List<T> only(const List<T>& v, Test test) {
  List<T> out;
  std::copy_if(v.begin(), v.end(), std::back_inserter(out), test);
  return out;
}
template <class T>
List<T> nonzero(const List<T>& v) {
  return only(v, [](T x) { return x != 0; });
}
template <class T>
List<T> absolute(List<T> v) {
  for (T& x : v) x = x < 0 ? -x : std::abs(x);
  return v;
}
template <class T>
List<T> powers(List<T> v, double p) {
  for (T& x : v) x = T(std::pow(double(x), p));
  return v;
}
// NaN counts as larger and smaller than all.
template <class T>
T best(const List<T>& v, T none, bool (*before)(T, T)) {
  if (v.empty()) return none;
  for (const T x : v)
    if (x != x) return x;
  return *std::min_element(v.begin(), v.end(), before);
}
template <class T>
T largest(const List<T>& v) {
  using Limits = std::numeric_limits<T>;
  return best<T>(v, Limits::has_infinity ? -Limits::infinity() : Limits::min(), [](T a, T b) { return a > b; });
}
template <class T>
T smallest(const List<T>& v) {
  using Limits = std::numeric_limits<T>;
  return best<T>(v, Limits::has_infinity ? Limits::infinity() : Limits::max(), [](T a, T b) { return a < b; });
}

#define REDUCE(NAME, CLASS, SHOWN, DOC, IDENTITY, MAP, COMBINE, FINISH, DX, REFERENCE, ...) \
  struct Reference_##NAME {                                                            \
    template <class T>                                                                 \
    static T of(const List<T>& v, [[maybe_unused]] double p) {                         \
      return T(REFERENCE);                                                             \
    }                                                                                  \
  };
#include "runtime/ops/reduce.def"
#undef REDUCE

// ---- a call ----

int64_t offset(int64_t i, int dims, const int64_t* sizes, const int64_t* strides) {
  int64_t at = 0;
  for (int d = 0; d < dims; d++) {
    at += i % sizes[d] * strides[d];
    i /= sizes[d];
  }
  return at;
}

template <class Reference, class T>
void reduce_in(const ReduceCall& c) {
  const int64_t item = int64_t(item_size(c.in_dtype)), out_item = int64_t(item_size(c.out_dtype));
  for (int64_t kept = 0; kept < c.kept_numel; kept++) {
    List<T> elements;
    for (int64_t j = 0; j < c.reduced_numel; j++) {
      const char* at = c.in + item * (offset(kept, c.kept, c.kept_sizes, c.kept_strides) +
                                      offset(j, c.reduced, c.reduced_sizes, c.reduced_strides));
      with_type(c.in_dtype, [&](auto tag) {
        elements.push_back(convert_element<T>(*reinterpret_cast<const typename decltype(tag)::type*>(at)));
      });
    }
    const T result = Reference::template of<T>(elements, c.param.to_double());
    with_type(c.out_dtype, [&](auto tag) {
      using Out = typename decltype(tag)::type;
      *reinterpret_cast<Out*>(c.out + kept * out_item) = convert_element<Out>(result);
    });
  }
}
template <class Reference>
void reduce_one(const ReduceCall& c) {
  is_floating(c.compute) ? reduce_in<Reference, double>(c) : reduce_in<Reference, int64_t>(c);
}

void reduce(const ReduceCall& call) {
  static constexpr void (*kReductions[])(const ReduceCall&) = {
#define REDUCE(NAME, ...) &reduce_one<Reference_##NAME>,
#include "runtime/ops/reduce.def"
#undef REDUCE
  };
  kReductions[call.op](call);
}

const KernelRegistration registration{reduce_kernel, DeviceType::Ref, &reduce};

}  // namespace
}  // namespace tessera::tensor::ref

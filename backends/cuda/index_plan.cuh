// A nest of places as kernel parameters: from the number of a place to the elements that it names.
#pragma once

#include "backends/cuda/divide.cuh"
#include "backends/cuda/errors.cuh"
#include "backends/cuda/index_nest.h"

namespace tessera::tensor::cuda {

/// Some levels of a nest: the number of a place to its coordinates, innermost first, without a division.
template <class Number>
struct PlaceDims {
  int count = 0;
  FastDivide<Number> size[kMaxNestDims];

  void push(int64_t n) { size[count++] = FastDivide<Number>(Number(n)); }
  /// f(level, coordinate) for every level.
  template <class F>
  __device__ void each(Number place, const F& f) const {
    for (int d = 0; d + 1 < count; d++) {
      const auto split = size[d].divide(place);
      f(d, split.rest);
      place = split.quotient;
    }
    if (count > 0) f(count - 1, place);
  }
};

/// The indices of a call, and what they add to an offset.
struct IndexRule {
  int64_t extent[kMaxIndices], step[kMaxIndices];
  int dim[kMaxIndices];
  bool wrap, skip_negative;
  ErrorWord::Kind fault;
  decltype(Launch::errors) errors;

  explicit IndexRule(const IndexCall& call, SkipNegative skip)
      : wrap(call.negative == IndexCall::Negative::Wrap),
        skip_negative(skip == SkipNegative::Yes),
        fault(fault_of(call.complaint)),
        errors(call.launch.errors) {
    for (int k = 0; k < call.count; k++) extent[k] = call.extent[k], step[k] = call.step[k], dim[k] = int(call.dim[k]);
  }

  /// Adds what index k gives; false when it names no element. One out of bounds is reported.
  __device__ bool add(int k, int64_t index, int64_t& offset) const {
    if (wrap && index < 0) index += extent[k];
    if (uint64_t(index) >= uint64_t(extent[k])) {
      if (skip_negative) return false;
      report(errors, fault, dim[k], wrap && index < 0 ? index - extent[k] : index, extent[k]);
      return false;
    }
    offset += index * step[k];
    return true;
  }

 private:
  static ErrorWord::Kind fault_of(IndexCall::Complaint complaint) {
    switch (complaint) {
      case IndexCall::Complaint::Scatter: return ErrorWord::ScatterIndex;
      case IndexCall::Complaint::Copy: return ErrorWord::CopyIndex;
      case IndexCall::Complaint::Take: return ErrorWord::TakeIndex;
      case IndexCall::Complaint::Select: return ErrorWord::EmbeddingIndex;
      case IndexCall::Complaint::Target: return ErrorWord::Target;
      case IndexCall::Complaint::Index: break;
    }
    return ErrorWord::Index;
  }
};

/// kIndices: how many there can be.
template <class Number, int kIndices>
struct IndexPlan {
  PlaceDims<Number> dims;
  int64_t total;
  int indices;
  int64_t self_strides[kMaxNestDims], value_strides[kMaxNestDims], index_strides[kIndices][kMaxNestDims];
  const int64_t* index[kIndices];
  IndexRule rule;

  IndexPlan(const IndexCall& call, const IndexNest& nest, SkipNegative skip)
      : total(nest.places()), indices(nest.indices), rule(call, skip) {
    for (int d = 0; d < nest.count; d++) {
      const IndexLevel& level = nest.levels[d];
      dims.push(level.size);
      self_strides[d] = level.self, value_strides[d] = level.value;
      for (int k = 0; k < nest.indices; k++) index_strides[k][d] = level.index[k];
    }
    for (int k = 0; k < nest.indices; k++) index[k] = call.index[k];
  }

  /// The element of self and of values; false where there is none.
  __device__ bool find(Number place, int64_t& self, int64_t& value) const {
    int64_t at[kIndices];
#pragma unroll
    for (int k = 0; k < kIndices; k++) at[k] = 0;
    self = value = 0;
    dims.each(place, [&](int d, Number coordinate) {
      const int64_t i = int64_t(coordinate);
      self += i * self_strides[d];
      value += i * value_strides[d];
#pragma unroll
      for (int k = 0; k < kIndices; k++)
        if (k < indices) at[k] += i * index_strides[k][d];
    });
    bool inside = true;
#pragma unroll
    for (int k = 0; k < kIndices; k++)
      if (k < indices && inside) inside = rule.add(k, index[k][at[k]], self);
    return inside;
  }
};

}  // namespace tessera::tensor::cuda

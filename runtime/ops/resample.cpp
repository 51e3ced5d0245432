// Weighted sums of a few items along a dimension, and the transpose of that, which is the derivative.
// compile: small (seldom in a step, and the kernel takes longer)
#include "runtime/ops/resample.h"

#include "runtime/autograd/record.h"
#include "runtime/device/meta.h"
#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/join.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

constinit Kernel<TapsCall> taps_kernel("taps");

namespace {

constexpr DTypeSet kWeighted = DTypeSet(kFloat32) | kFloat64;

using Size = std::optional<int64_t>;

Tensor weighted_taps(const Tensor& self, int64_t dim, const Tensor& places, const Tensor& weights, const Size& size);

// Of each weight: the item that it made part of times the item that it took.
Tensor weights_grad(const Tensor& made, const Tensor& from, int64_t dim, const Tensor& places) {
  TensorList columns;
  for (int64_t k = 0; k < places.sizes()[1]; k++) {
    const Tensor product = transpose(made * index_select(from, dim, select(places, 1, k)), 0, dim);
    columns.push_back(sum(reshape(product, {product.sizes()[0], -1}), Dims{1}));
  }
  return stack(columns, 1);
}

/// With a size it is the transpose: each item goes to its places among so many.
struct WeightedTaps {
  static constexpr TypeRule types{kWeighted, "weighted_taps"};
  static Meta shape(const Tensor& self, int64_t dim_given, const Tensor& places, const Tensor& weights,
                    const Size& size) {
    const int64_t dim = wrap_dim(dim_given, self.dim());
    check(self.dim() > 0 && places.dim() == 2 && places.sizes() == weights.sizes() && places.sizes()[1] > 0,
          TensorErrorKind::Runtime, "taps: expected as many weights as places, for each item");
    check(places.dtype() == kInt64 && weights.dtype() == self.dtype(), TensorErrorKind::Runtime,
          "taps: expected int64 places, and weights of the items' dtype");
    check(!size || (*size >= 0 && self.sizes()[dim] == places.sizes()[0]), TensorErrorKind::Runtime,
          "taps: expected places for each item");
    check(!any_true((places < 0) | (places >= size.value_or(self.sizes()[dim]))), TensorErrorKind::Index,
          "taps: a place is out of bounds");
    Dims sizes(self.sizes());
    sizes[dim] = size.value_or(places.sizes()[0]);
    return Meta(sizes, self);
  }
  static void run(const Tensor& out, const Tensor& self, int64_t dim_given, const Tensor& places_given,
                  const Tensor& weights_given, const Size& spread) {
    if (out.numel() == 0) return;
    if (self.numel() == 0) return fill_into(out, 0);
    const int64_t dim = wrap_dim(dim_given, self.dim()), wanted = places_given.sizes()[0];
    const Tensor in = contiguous(self), places = contiguous(places_given), weights = contiguous(weights_given);
    const int64_t outer = numel_of(self.sizes().first(size_t(dim))), size = (spread ? out : self).sizes()[dim];
    taps_kernel(self.device(), TapsCall{spread.has_value(), self.dtype(), in.data_ptr(), out.data_ptr(),
                                        places.data<int64_t>(), weights.data_ptr(), outer, size, wanted,
                                        out.numel() / (outer * out.sizes()[dim]), places.sizes()[1]});
  }
  static void grad(Tensor& out, const Tensor& self, int64_t dim, const Tensor& places, const Tensor& weights,
                   const Size& size) {
    const Size back = size ? Size() : Size(self.size(dim));
    record(out, "WeightedTapsBackward0", {&self, &weights}, keep(self, places, weights), [dim, back](Sweep& s) {
      s.give(0, [&] { return weighted_taps(s.g(), dim, s.kept(1), s.kept(2), back); });
      s.give(1, [&] {
        return back ? weights_grad(s.g(), s.kept(0), dim, s.kept(1)) : weights_grad(s.kept(0), s.g(), dim, s.kept(1));
      });
    });
  }
};

Tensor weighted_taps(const Tensor& self, int64_t dim, const Tensor& places, const Tensor& weights, const Size& size) {
  return apply<WeightedTaps>(self, dim, places, weights, size);
}

TS_OP(weighted_taps,
      "weighted_taps(Tensor self, int dim, Tensor places, Tensor weights, int? spread_to=None) -> Tensor",
      "Sums of a few items along a dimension, each by its weight; or the transpose of that.", kFunctional | kInternal,
      WeightedTaps,
      "f[2,3,2], 1, i[5,2]<3, f[5,2]\n"
      "f[2,4], -1, i[3,3]<4, f[3,3]\n"
      "f[4,3].t, 1, i[7,2]<3, f[7,2]\n"
      "f[2,5,2], 1, i[5,2]<3, f[5,2], 3\n"
      "f[2,3], -1, i[3,3]<4, f[3,3], 4\n"
      "f[2,3], 1, i[2,2]<3, f[2,3] -> RuntimeError: taps: expected as many weights as places\n"
      "f[2,3], 1, i[2,2]<3, f[2,2], 3 -> RuntimeError: taps: expected places for each item");

}  // namespace
}  // namespace tessera::tensor

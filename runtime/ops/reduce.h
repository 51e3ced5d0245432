// Reductions by number (reduction::Id), for the ops that are made of them: which dimensions, what comes out, the kernel.
#pragma once

#include <optional>

#include "runtime/ops/op.h"
#include "runtime/ops/reduce_ids.h"

namespace tessera::tensor {

using MaybeDims = std::optional<Dims>;
using MaybeType = std::optional<DType>;

namespace reduction {

/// One reduction as asked for.
/// max(x), min(x): where they are NaN, the NaNs share the gradient, which amax, amin do not do.
constexpr double kOfAll = 1;

struct Request {
  Tensor x;
  uint64_t mask;  // the dimensions to reduce, as bits
  bool keepdim = false;
  MaybeType dtype = {};
  double param = 0;            // the row's own; of a largest or smallest: kOfAll
  const char* node = nullptr;  // of the tape; null: the row's own
};

/// The dims to reduce as bits; none or an empty list means all.
uint64_t dim_mask(const Tensor& x, const MaybeDims& dims);
Dims reduced_shape(Ints sizes, uint64_t mask, bool keepdim);
/// How many elements become one.
int64_t reduced_numel(Ints sizes, uint64_t mask);
/// Refuses a reduction over nothing for ops without an identity.
void check_not_empty(const char* name, const Tensor& x, const MaybeDims& dim);

Meta meta_of(int id, const Request& request);
void run_into(int id, const Tensor& out, const Request& request);
void record_into(int id, Tensor& out, const Request& request);
/// All three.
Tensor reduce(int id, const Request& request);

/// var and std in one pass, by an optional slot (ReduceCall with op 1 for the root, param the divisor): false where there is none.
bool variance_into(const Tensor& out, const Tensor& x, uint64_t mask, double divisor, bool root);

}  // namespace reduction
}  // namespace tessera::tensor

// Batching rules: how an op of single examples runs once for a whole batch (torch.vmap).
//
// A batched operand has the examples along dimension 0; an operand that every example shares has no such dimension. The rule of an op is a fact of
// its entry (OpFacts::batching, OpFacts::batched). The shape of one example's result is inferred before the rule runs: a call that is wrong for one
// example is refused in the op's own words, and a result of another shape is not taken: the call then runs once per example.
#pragma once

#include <span>
#include <vector>

#include "runtime/ops/op.h"

namespace tessera::tensor {

/// A tensor argument while examples are batched: one example of it, and all of them.
struct BatchOperand {
  Tensor example;  // on device 'meta': shape and dtype of one example
  Tensor value;    // with the batch in front
};

/// Whether random numbers are drawn for each example, once for all of them, or not at all.
enum class BatchDraws : unsigned char { Refused, Different, Same };

class BatchCall {
 public:
  /// The arguments are given in schema order. The `example` of an operand stands in the place of the operand.
  BatchCall(const OpEntry& entry, int64_t batch, BatchDraws draws, std::vector<OpArg> args,
            std::span<const BatchOperand> operands);

  /// Results with the batch in front. Throws what the call of one example would throw.
  std::vector<OpArg> run();
  /// Self, which is batched, is written to.
  void run_in_place();

  // ---- for rules ----
  const OpEntry& entry() const { return entry_; }
  int64_t batch() const { return batch_; }
  const std::vector<OpArg>& args() const { return args_; }
  const Tensor& example(size_t i) const { return std::get<Tensor>(args_[i]); }
  bool is_tensor(size_t i) const { return i < args_.size() && std::holds_alternative<Tensor>(args_[i]); }
  bool is_batched(size_t i) const { return is_tensor(i) && value_of(example(i)) != nullptr; }
  /// Dimensions of one example of tensor argument i.
  int64_t rank(size_t i) const { return example(i).dim(); }
  /// Tensor argument i as it is: with the batch in front if it is batched.
  const Tensor& value(size_t i) const;
  /// Tensor argument i with the batch in front (1 if it is not batched), then dimensions of size 1 up to `rank`, then those of the example.
  Tensor aligned(size_t i, int64_t rank) const { return aligned(example(i), rank); }
  Tensor aligned(const Tensor& example, int64_t rank) const;
  /// The tensor with the batch in front, expanded if every example shares it.
  Tensor whole(const Tensor& given) const;
  /// Shapes and dtypes of one example's results.
  const std::vector<Meta>& of_one() const { return metas_; }
  /// The batch, and behind it the shape of result i of one example.
  Dims shape_of_result(size_t i) const;

 private:
  const Tensor* value_of(const Tensor& given) const;
  bool draws() const;
  std::vector<OpArg> run_random();
  bool run_rule(std::vector<OpArg>& results);
  std::vector<OpArg> pointwise_args() const;
  bool run_loss(std::vector<OpArg>& results) const;
  bool run_derived(std::vector<OpArg>& results);
  bool only_first_is_batched() const;
  bool shift_dims(std::vector<OpArg>& args, size_t at, int64_t rank) const;
  std::vector<OpArg> with_values(bool all_whole) const;
  std::vector<OpArg> run_each(bool same_draws = false);
  std::vector<OpArg> example_at(int64_t index) const;
  bool fits(std::vector<OpArg>& results, bool reshapes) const;

  const OpEntry& entry_;
  int64_t batch_;
  BatchDraws draws_;
  std::vector<OpArg> args_;
  std::span<const BatchOperand> operands_;
  std::vector<Meta> metas_;
  bool reshapes_ = false;  // the rule gave examples without dimensions one
};

/// An Arg as an argument that owns what it holds.
OpArg owned(const Arg& arg);

// ---- Rules that several entries share -----------------------------------------------------------------------------------------

/// Only argument `At` may be batched; the op takes further dimensions in front of it.
template <size_t At>
bool batched_through(BatchCall& call, std::vector<OpArg>& results);
/// Products of matrices and vectors, as matmul; linear; as addmm.
bool batched_product(BatchCall& call, std::vector<OpArg>& results);
bool batched_linear(BatchCall& call, std::vector<OpArg>& results);
bool batched_added_product(BatchCall& call, std::vector<OpArg>& results);
bool batched_outer(BatchCall& call, std::vector<OpArg>& results);
/// The first argument in the shape of the result.
bool batched_reshape(BatchCall& call, std::vector<OpArg>& results);
bool batched_expand(BatchCall& call, std::vector<OpArg>& results);
bool batched_strided(BatchCall& call, std::vector<OpArg>& results);
bool batched_permute(BatchCall& call, std::vector<OpArg>& results);
bool batched_to_results(BatchCall& call, std::vector<OpArg>& results);  // a list of tensors, each expanded to a result's shape
bool batched_grid(BatchCall& call, std::vector<OpArg>& results);
bool batched_transpose(BatchCall& call, std::vector<OpArg>& results);
/// The examples of the first argument, a row of elements each.
Tensor example_rows(const BatchCall& call);
/// A reduction of all elements, by the function that reduces along dimensions.
template <Tensor (*Along)(const Tensor& x, const std::optional<Dims>& dim, bool keepdim, std::optional<DType> dtype)>
bool batched_whole(BatchCall& call, std::vector<OpArg>& results) {
  results = {Along(example_rows(call), Dims{1}, false, {})};
  return true;
}
/// nll_loss and cross_entropy without weights.
bool batched_class_loss(BatchCall& call, std::vector<OpArg>& results);
/// The first argument has `Spatial` dimensions behind one of examples and one of channels; the batch joins those examples.
template <int Spatial>
bool batched_images(BatchCall& call, std::vector<OpArg>& results);

}  // namespace tessera::tensor

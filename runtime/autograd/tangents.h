// Forward mode: tensors that carry tangents, the directional derivatives of what is computed from dual inputs.
//
// Note [Tangents]: A dual tensor has a tangent for each level that it takes part in (AutogradMeta::tangents) and the flag kDual. Who records
// asks `is_tracked`, so that a call with dual operands makes its node as one whose operands require gradients does; where the node becomes the
// history of the result (set_history, rebase_history), the tangent of the result is computed from it, and a node with nothing to tell a backward
// sweep is dropped. A tangent comes from the rows of pointwise.def by their formulas; from a struct that says how it depends on its operands
// (`forward` in ops/entry.h) by the op itself; from a view as a view of the tangent; from every other node by its own backward: u^T J is linear in
// u, and the derivative by u in the direction of the operands' tangents is J t.
//
// Levels are nested. The tangent of one level is computed while only the levels around it are seen: it carries their tangents, and no level
// takes a tangent of another for its own.
#pragma once

#include "runtime/autograd/node.h"

namespace tessera::tensor {

/// Enters a level; the answer is its number, larger than those of all levels before.
uint32_t enter_dual_level();
/// Ends the innermost level: its tangents are gone.
void exit_dual_level();
/// Whether a thread of the program is in the level.
bool is_live(uint32_t level);
/// Ends the innermost levels until `count` are left.
void exit_dual_levels(size_t count);

/// The tangents of levels that calls see now.
Tangents seen_tangents(const Tensor& t);
/// Undefined where the tensor has none of that level.
Tensor tangent_of(const Tensor& t, uint32_t level);
/// Takes the place of the tangent that was there. `value` has the shape of `t`.
void set_tangent(const Tensor& t, uint32_t level, Tensor value);
/// The tangent of a result of a node that did not compute it.
void give_tangent(const Tensor& result, uint32_t level, const Tensor& value);
/// After a write in place: changes the tangent that is there, which views of `self` and its base share.
void write_tangent(const Tensor& self, uint32_t level, const Tensor& value);
/// Copies of the tangents, for a copy of the elements.
void copy_tangents(const Tensor& copy, const Tensor& of);
/// `copy` has the elements of `of`: it takes the same place in the graph, and the same tangents.
void share_derivatives(const Tensor& copy, const Tensor& of);
/// The part of that for the graph alone.
void share_history(const Tensor& copy, const Tensor& of);
/// The tensor without the tangents of levels that are not seen: what tangents of such a level keep for their derivatives.
Tensor as_seen(const Tensor& t);
/// Gives a view the tangents of its base, as views of them.
void view_tangents(const Tensor& view, const Tensor& base);
/// A view that is made while levels are seen has the tangents of its base and follows those that the base gets later (by writes in place
/// through a relative). A tangent that the view is made without (the primal of unpack_dual) has an undefined entry: the view stays without it.
void join_base(const Tensor& view, const Tensor& base);
/// Gives a view that follows its base the tangents that the base has got since.
void follow_base(const Tensor& view);

/// Gives the result of a node its tangents. Whether it becomes part of the graph too. `writes`: the result is an operand that was changed in place.
bool record_tangents(const Tensor& out, Node& node, uint32_t output, bool writes = false);

/// Calls see only the levels around this one, for the length of a block.
class LevelsBelow {
 public:
  explicit LevelsBelow(uint32_t level);
  ~LevelsBelow();
  LevelsBelow(const LevelsBelow&) = delete;

 private:
  uint32_t seen_;
  bool records_;
};

/// Nodes that are made during the block have no result yet: its tangents are computed by rebase_history.
class TangentsLater {
 public:
  TangentsLater() : before_(std::exchange(Context::current().duals.later, true)) {}
  ~TangentsLater() { Context::current().duals.later = before_; }
  TangentsLater(const TangentsLater&) = delete;

 private:
  bool before_;
};

/// Refuses out= of a call that would be recorded.
void refuse_recorded_out(const char* name, bool requires_grad, bool is_dual);

// ---- what ops say by themselves (ops/entry.h) ----

/// An operand's tangent, zeros where it has none; an operand that has no derivative as it is.
Tensor tangent_operand(const Tensor& t, uint32_t level);
TensorList tangent_operand(const TensorList& list, uint32_t level);
template <class T>
const T& tangent_operand(const T& value, uint32_t) {
  return value;
}
bool has_tangent(const Tensor& t, uint32_t level);
bool has_tangent(const TensorList& list, uint32_t level);
template <class T>
bool has_tangent(const T&, uint32_t) {
  return false;
}
void add_tangent(Tensor& sum, Tensor part);

/// The next node's result has these tangents, of all levels that are seen.
class GivenTangents {
 public:
  explicit GivenTangents(Tangents tangents) : tangents_(std::move(tangents)) { Context::current().duals.given = &tangents_; }
  ~GivenTangents() { Context::current().duals.given = nullptr; }
  GivenTangents(const GivenTangents&) = delete;

 private:
  Tangents tangents_;
};

}  // namespace tessera::tensor

// How a row records, and its derivatives in one pass: which operands they read, and the loop over them.
#include "runtime/ops/pointwise_grad.h"

#include <algorithm>
#include <bit>
#include <span>

#include "runtime/context.h"
#include "runtime/autograd/tangents.h"
#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

constinit Kernel<PointwiseGradCall> pointwise_grad_kernel("pointwise_grad");

namespace {

bool is_number(const Tensor& t) { return t.dim() == 0 && t.device().is_cpu(); }

// A single number on the host goes along as a value of the lane's type.
void set_number(Loop& loop, int k, const Tensor& t, DType lane) {
  const double value = t.item().to_double();
  if (lane == kFloat64) __builtin_memcpy(loop.numbers[k], &value, sizeof value);
  else {
    const float narrow = float(value);
    __builtin_memcpy(loop.numbers[k], &narrow, sizeof narrow);
  }
  loop.use_number(k, lane);
}

// All operands of one shape and dense, or numbers: a loop of one dimension without a plan.
bool make_dense_loop(Loop& loop, const Tensor* const* operands, int count) {
  const Tensor& out = *operands[0];
  for (int k = 1; k < count; k++)
    if (!is_number(*operands[k]) && !(operands[k]->is_contiguous() && operands[k]->sizes() == out.sizes()))
      return false;
  loop.operands = count;
  loop.ndim = 1;
  loop.numel = loop.sizes[0] = out.numel();
  for (int k = 0; k < count; k++) {
    loop.data[k] = operands[k]->bytes();
    loop.dtype[k] = operands[k]->dtype();
    loop.strides[k][0] = k > 0 && is_number(*operands[k]) ? 0 : 1;
  }
  return true;
}

bool rows_are_dense(const Loop& loop) {
  for (int k = 0; k < loop.operands; k++)
    if (uint64_t(loop.strides[k][0]) > 1) return false;
  return true;
}

}  // namespace

unsigned fused_gradients(int id, const PointwiseRow& row, const GradArgs& a, unsigned wanted, Tensor* out) {
  const DType type = a.g.dtype(), lane = is_half(type) && row.facts.derives_once.has(type) ? kFloat32 : type;
  const DeviceType device = a.g.device().type;
  if ((lane != kFloat32 && lane != kFloat64) || !pointwise_grad_kernel.has(device) || a.g.numel() == 0) return 0;
  unsigned fused = 0, reads = 0;
  for (int k = 0; k < row.arity; k++)
    if ((wanted >> k & 1) && row.derivative[k].computed) fused |= 1u << k, reads |= row.derivative[k].reads;
  if (!fused) return 0;

  const Tensor* const sources[] = {&a.x, &a.y, &a.z, &a.result};
  const Tensor* operands[kMaxOperands] = {nullptr, &a.g};
  if (std::popcount(reads) + 2 > kMaxOperands) return 0;
  int count = 2;
  for (int k = 0; k < 4; k++) {
    if (!(reads >> k & 1)) continue;
    const Tensor& t = *sources[k];
    if (!t.defined() || is_complex(t.dtype()) || (t.device() != a.g.device() && !is_number(t))) return 0;
    operands[count++] = &t;
  }
  // Through a transposed operand the ops find the better order; their results keep its layout too.
  for (int k = 0; k < row.arity; k++)
    if (fused >> k & 1) out[k] = Tensor::empty(a.g.sizes(), lane, a.g.device());
  operands[0] = &out[std::countr_zero(fused)];
  Loop loop;
  if (!make_dense_loop(loop, operands, count)) {
    make_loop(loop, operands, count);
    if (!rows_are_dense(loop)) return 0;
  }
  for (int k = 1; k < count; k++)
    if (is_number(*operands[k])) set_number(loop, k, *operands[k], lane);
  PointwiseGradCall call{id, lane, loop, reads, {}, a.params};
  for (int k = 0; k < row.arity; k++)
    if (fused >> k & 1) call.results[k] = static_cast<char*>(out[k].data_ptr());
  pointwise_grad_kernel(a.g.device(), call);
  if (lane != type)
    for (int k = 0; k < row.arity; k++)
      if (fused >> k & 1) out[k] = to_dtype(out[k], type);
  return fused;
}

// ---- recording ----

namespace {

const char* node_name(const PointwiseRow& row, const Operand* in) {
  const RowNodes& nodes = row.facts.nodes;
  if (nodes.number_first && !in[0].is_tensor()) return nodes.number_first;
  if (nodes.of_tensors && in[row.arity - 1].is_tensor()) return nodes.of_tensors;
  return row.node();
}

/// The derivatives of a row, as `record` takes them.
struct RowDerivative {
  RowDerivative(int op, const PointwiseRow& op_row, const Operand* in, const Scalar* given, Ints result)
      : id(op), row(&op_row) {
    for (int k = 0; k < row->params; k++) params[k] = given[k];
    for (int k = 0; k < row->arity; k++) {
      if (!in[k].is_tensor()) continue;
      const Tensor& t = in[k].tensor();
      broadcast[k] = t.sizes() != result;
      if (broadcast[k]) shapes[k].assign(t.sizes());
      dtypes[k] = t.dtype();
    }
  }

  void operator()(Sweep& s) const {
    if (!s.g().defined()) return;
    const Tensor& g = s.g();
    const Tensor x = s.kept(0), y = s.kept(1), z = s.kept(2), r = s.kept(3);
    const GradArgs args{g, x, y, z, r, params};
    const bool once = row->facts.derives_once.has(g.dtype());
    const auto widened = [](const Tensor& t) { return t.defined() ? to_dtype(t, kFloat32) : t; };
    Tensor fused[3];
    unsigned wanted = 0;
    for (size_t k = 0; k < row->arity; k++) wanted |= s.needs(k) ? 1u << k : 0u;
    const unsigned in_one_pass = Context::current().records || waits(args) ? 0 : compute_fused(args, wanted, fused);
    for (size_t k = 0; k < row->arity; k++) {
      const auto formula = row->derivative[k].formula;
      if (!formula) continue;
      s.give(k, [&] {
        // Of a complex function the gradient is g * conj(f'); a formula is linear in g and says g * f'.
        Tensor d = in_one_pass >> k & 1    ? std::move(fused[k])
                   : is_complex(g.dtype()) ? conj(formula(GradArgs{conj(g), x, y, z, r, params}))
                   : once                  ? formula(GradArgs{widened(g), widened(x), y, z, widened(r), params})
                                           : formula(args);
        if (broadcast[k]) d = sum_to_size(d, shapes[k]);
        return d.dtype() == dtypes[k] ? d : to_dtype(d, dtypes[k]);
      });
    }
  }

  // Where launches wait for those that follow (runtime/fuse/), derivatives that are plain arithmetic do so too, and what takes the gradient further
  // joins them. Formulas with functions have other last bits on lanes than as ops.
  bool waits(const GradArgs& args) const {
    if (args.g.numel() < Context::current().fuses_from || args.g.dtype() != kFloat32 || !args.g.device().is_cpu()) return false;
    if (real_class(row->row_class) != PointwiseClass::Number || row->facts.of_number) return false;
    const Tensor* const operands[] = {&args.g, &args.x, &args.y, &args.z, &args.result};
    return std::all_of(operands, std::end(operands), [](const Tensor* t) { return !t->defined() || t->is_contiguous(); });
  }

  // x ** 2 and x ** 3 have simpler rows that read what is kept; other numbers as second operands are the tensor formula's.
  unsigned compute_fused(const GradArgs& args, unsigned wanted, Tensor* out) const {
    int simpler = id;
    if (row->facts.of_number && args.y.defined() && args.y.is_wrapped_number()) {
      simpler = row->facts.of_number(args.y.item());
      if (simpler < 0 || kPointwiseRows[simpler].derivative[0].reads != kReadsX) return 0;
    }
    return fused_gradients(simpler, kPointwiseRows[simpler], args, wanted, out);
  }

  int id;
  const PointwiseRow* row;
  bool broadcast[3];
  DType dtypes[3];
  Dims shapes[3];  // of operands that were broadcast
  Scalar params[2];
};

}  // namespace

unsigned recorded_reads(const PointwiseRow& row, const Operand* in) {
  unsigned reads = 0;
  for (int k = 0; k < row.arity; k++)
    if (row.derivative[k].formula && in[k].is_tensor() && in[k].tensor().is_tracked())
      reads |= row.derivative[k].reads;
  return reads;
}

// Made in place: the tape costs a short op as much as the op.
using RowNode = FormulaNode<Kept<4>, RowDerivative>;

CountedPtr<Node> row_node(int id, const PointwiseRow& row, const Operand* in, const Scalar* params, unsigned reads,
                          Ints result, const Tensor& before) {
  auto node = make_counted<RowNode>(node_name(row, in), id, row, in, params, result);
  for (int k = 0; k < row.arity; k++) {
    if (reads >> k & 1)
      node->kept().tensors[size_t(k)] = SavedTensor(k == 0 && before.defined() ? before : in[k].as_tensor());
    if (in[k].is_tensor()) node->add_input(in[k].tensor());
    else node->add_edge({});
  }
  return node;
}

namespace {

bool is_recorded(std::initializer_list<const Tensor*> tensors) {
  if (!Context::current().records) return false;
  return std::any_of(tensors.begin(), tensors.end(), [](const Tensor* t) { return t->defined() && ((t->requires_grad() && Context::current().grad_enabled) || (t->is_dual() && !seen_tangents(*t).empty())); });
}

}  // namespace

// An element of the result depends on one element of each operand, so a formula that takes a gradient takes a tangent as well. Functions of
// complex numbers may be other than holomorphic: their derivative is no product.
Tensor row_tangent(Node& node, std::span<const DualInput> inputs, const Tensor& out) {
  auto* const row_node = dynamic_cast<RowNode*>(&node);
  if (row_node == nullptr || is_complex(out.dtype())) return {};
  for (const DualInput& input : inputs)
    if (is_complex(input.tangent.dtype())) return {};
  const RowDerivative& own = row_node->formula();
  const auto& saved = row_node->kept().tensors;
  const Tensor x = saved[0].get(&node), y = saved[1].get(&node), z = saved[2].get(&node), r = saved[3].get(&node);
  Tensor sum;
  for (const DualInput& input : inputs) {
    const auto formula = own.row->derivative[input.operand].formula;
    if (!formula) continue;
    Tensor t = input.tangent.dtype() == out.dtype() ? input.tangent : to_dtype(input.tangent, out.dtype());
    if (t.sizes() != out.sizes()) t = expand(t, out.sizes());
    const GradArgs args{t, x, y, z, r, own.params};
    Tensor fused[3], part;
    if (!is_recorded({&t, &x, &y, &z, &r}) && own.compute_fused(args, 1u << input.operand, fused) != 0)
      part = std::move(fused[input.operand]);
    else part = formula(args);
    sum = sum.defined() ? add(sum, part) : part;
  }
  if (sum.defined() && sum.sizes() != out.sizes()) sum = contiguous(expand(sum, out.sizes()));
  return sum;
}

void keep_result(Node& node, const Tensor& result) {
  static_cast<RowNode&>(node).kept().tensors[3] = SavedTensor(result, true);
}

[[gnu::hot]] bool wants_grad(const PointwiseRow& row, const Operand* in, DType result) {
  bool wanted = false;
  for (int k = 0; k < row.arity; k++) wanted |= in[k].is_tensor() && in[k].tensor().is_tracked();
  if (!wanted || !Context::current().records || !is_differentiable(result)) return false;
  for (const auto& d : row.derivative)
    if (d.formula) return true;
  return false;
}

}  // namespace tessera::tensor

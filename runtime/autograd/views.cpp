#include "runtime/autograd/views.h"

#include <algorithm>

#include "runtime/autograd/tangents.h"
#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/math_bits.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {
namespace {

// Where a tensor's elements lie, counted from the start of the storage, and what they stand for.
struct Geometry {
  Dims sizes, strides;
  int64_t offset;
  DType dtype;
  uint8_t math_bits;
  explicit Geometry(const Tensor& t)
      : sizes(t.sizes()), strides(t.strides()), offset(t.offset()), dtype(t.dtype()), math_bits(t.math_bits()) {}
};

// A gradient's type on the other side of view_as_real or view_as_complex.
DType type_beside(DType type, const Geometry& here, const Geometry& there) {
  if (is_complex(here.dtype) == is_complex(there.dtype)) return type;
  return is_complex(there.dtype) ? complex_type(type) : real_type(type);
}

// The elements of the view in a tensor that is laid out as its base. Where the view conjugates, so does this.
Tensor part_of(const Tensor& all, const Geometry& base, const Geometry& view) {
  const DType type = type_beside(all.dtype(), base, view);
  const int64_t bytes = view.offset * int64_t(item_size(type)) - base.offset * int64_t(item_size(all.dtype()));
  const Tensor part =
      Tensor::adopt(TensorImpl::create_view(&all.storage(), all.impl()->address() + bytes, view.sizes, view.strides, type));
  part.set_math_bits(view.math_bits ^ base.math_bits);
  return part;
}

// The same as a differentiable view, where operations are recorded.
Tensor recorded_part(const Tensor& all, const Geometry& base, const Geometry& view) {
  Tensor part = part_of(all, base, view);
  if (Context::current().records) set_view_history(part, all, all.requires_grad() ? as_strided_node(part, all) : nullptr);
  return part;
}

// Zeros with the very layout of a base, gaps and all, so that a view's geometry fits.
Tensor zeros_laid_out(const Geometry& base, DType dtype, Device device) {
  int64_t span = 1;
  for (size_t d = 0; d < base.sizes.size(); d++) {
    if (base.sizes[d] == 0) return zeros(base.sizes, dtype, device);
    span += (base.sizes[d] - 1) * base.strides[d];
  }
  return zeros({span}, dtype, device).view_of(base.sizes, base.strides);
}

bool overlaps(const Geometry& g) {
  // Sorted by stride, every step has to clear all smaller ones. Rare layouts that fail this but do not overlap only
  // take the slower way.
  std::vector<std::pair<int64_t, int64_t>> dims;
  for (size_t d = 0; d < g.sizes.size(); d++)
    if (g.sizes[d] != 1) dims.emplace_back(g.strides[d], g.sizes[d]);
  std::sort(dims.begin(), dims.end());
  int64_t reach = 0;
  for (const auto& [stride, size] : dims) {
    if (stride <= reach) return true;
    reach += stride * (size - 1);
  }
  return false;
}

// One past the last element that a geometry reaches.
int64_t end_of(const Geometry& g) {
  int64_t last = g.offset;
  for (size_t d = 0; d < g.sizes.size(); d++) last += (g.sizes[d] - 1) * g.strides[d];
  return last + 1;
}

// Writes a gradient through the view into zeros that start at element `from` of the memory; what is seen several times gets the sum.
Tensor written(const Tensor& zeros, const Tensor& grad, const Geometry& view, int64_t from) {
  if (!overlaps(view)) {
    copy_(as_strided(zeros, view.sizes, view.strides, view.offset - from), grad);
    return zeros;
  }
  const Tensor places = arange(0, zeros.numel(), 1, kInt64, grad.device());
  const Tensor at = reshape(as_strided(places, view.sizes, view.strides, view.offset - from), {-1});
  return index_add(zeros, 0, at, reshape(grad, {-1}), 1);
}

// What a gradient of the view is for the base.
Tensor spread(const Tensor& given, const Geometry& view, const Geometry& base) {
  Tensor grad = given;
  const Tensor out = zeros_laid_out(base, type_beside(grad.dtype(), view, base), grad.device());
  if (grad.numel() == 0) return out;
  // The view may show more of the memory than the base does: what lies outside is lost.
  const bool outside = out.dtype() == grad.dtype() && (view.offset < base.offset || end_of(view) > end_of(base));
  if (!outside && !overlaps(view)) {
    copy_(recorded_part(out, base, view), grad);
    return out;
  }
  if (const uint8_t bits = view.math_bits ^ base.math_bits; bits != 0) {
    grad = without_math_bits(grad);
    grad.set_math_bits(bits);
    grad = resolved(grad);
  }
  if (outside) {
    const int64_t from = std::min(view.offset, base.offset), to = std::max(end_of(view), end_of(base));
    const Tensor all = written(zeros({to - from}, grad.dtype(), grad.device()), grad, view, from);
    return as_strided(all, base.sizes, base.strides, base.offset - from);
  }
  const int64_t count = out.storage().bytes() ? int64_t(out.storage().bytes() / item_size(out.dtype())) : 0;
  return as_strided(written(zeros({count}, grad.dtype(), grad.device()), grad, view, base.offset), base.sizes,
                    base.strides, 0);
}

struct AsStridedBackward final : Node {
  AsStridedBackward(const Tensor& view, const Tensor& base, const char* name) : Node(name), view(view), base(base) {}
  void backward(const TensorList& g, TensorList& gx) override {
    if (needs(0)) gx[0] = spread(g[0], view, base);
  }
  Geometry view, base;
};

// The history of a base after `inner` has written into one of its views.
struct CopySlices final : Node {
  CopySlices(const Tensor& base_tensor, const Tensor& view_tensor, CountedPtr<Node> fn)
      : Node("CopySlices"), base(base_tensor), view(view_tensor), inner(std::move(fn)) {
    add_input(base_tensor);
    for (size_t i = 1; i < inner->edges.size(); i++) add_edge(inner->edges[i]);
  }
  void backward(const TensorList& g, TensorList& gx) override {
    if (!inner) throw_freed();
    Tensor out = zeros_laid_out(base, g[0].dtype(), g[0].device());
    copy_(out, g[0]);
    const Tensor part = recorded_part(out, base, view);
    TensorList results(std::max<size_t>(inner->edges.size(), 1));
    inner->backward({clone(part)}, results);
    for (size_t i = 1; i < results.size(); i++) gx[i] = results[i];
    if (!needs(0)) return;
    if (results[0].defined()) copy_(part, results[0]);
    else if (Context::current().records) copy_(part, zeros(part.sizes(), part.dtype(), part.device()));
    else zero_(without_math_bits(part));
    gx[0] = out;
  }
  void release_saved() override {
    if (inner) inner->release_saved(), inner->released = true;
  }
  [[noreturn]] static void throw_freed() {
    fail(TensorErrorKind::Runtime, "Trying to backward through the graph a second time");
  }

  Geometry base, view;
  CountedPtr<Node> inner;
};

}  // namespace

void set_view_history(Tensor& view, const Tensor& base, CountedPtr<Node> node, uint32_t output, bool one_of_several) {
  if (!is_differentiable(view.dtype()) || !Context::current().records) return;
  AutogradMeta& meta = autograd_meta(view);
  const AutogradMeta* from = base.impl()->autograd;
  meta.view_base = from && from->view_base.defined() ? from->view_base : base;
  meta.view_version = view.version();
  meta.one_of_several_views = one_of_several || (from && from->one_of_several_views);
  if (base.is_dual() || Context::current().duals.seen > 0) [[unlikely]]
    join_base(view, base);
  if (!node || !Context::current().grad_enabled) return;
  remember_forward(*node);
  node->made(view);
  meta.grad_fn = std::move(node);
  meta.output = output;
  view.impl()->flags |= TensorImpl::kRequiresGrad;
}

CountedPtr<Node> as_strided_node(const Tensor& view, const Tensor& base, const char* name) {
  auto node = make_counted<AsStridedBackward>(view, base, name);
  node->add_input(base);
  return node;
}

void renew_view_history(const Tensor& view) {
  AutogradMeta& meta = autograd_meta(view);
  meta.view_version = view.version();
  if (!meta.view_base.requires_grad()) return;
  meta.grad_fn = as_strided_node(view, meta.view_base);
  meta.output = 0;
  view.impl()->flags |= TensorImpl::kRequiresGrad;
}

// "Split" of "SplitBackward0".
static std::string_view op_name(std::string_view node) { return node.substr(0, node.find("Backward")); }

void check_inplace(const Tensor& self) {
  if (!Context::current().grad_enabled) return;
  const AutogradMeta* meta = self.impl()->autograd;
  if (!meta) return;
  check(!(self.requires_grad() && !meta->grad_fn), TensorErrorKind::Runtime,
        "a leaf Variable that requires grad is being used in an in-place operation.");
  if (!meta->view_base.defined()) return;
  check(
      !meta->one_of_several_views || !meta->grad_fn, TensorErrorKind::Runtime, "Output ", meta->output, " of ",
      meta->grad_fn ? op_name(meta->grad_fn->name) : "",
      " is a view and is being modified inplace. This view is the output of a function that returns multiple views. Such functions do "
      "not allow the output views to be modified inplace. You should replace the inplace operation by an out-of-place one.");
  const AutogradMeta* base = meta->view_base.impl()->autograd;
  check(!(meta->view_base.requires_grad() && base && !base->grad_fn), TensorErrorKind::Runtime,
        "a view of a leaf Variable that requires grad is being used in an in-place operation.");
}

void rebase_history(Tensor& self, CountedPtr<Node> node) {
  if (!is_differentiable(self.dtype())) return;
  if (node->duals() != nullptr || !Context::current().grad_enabled) [[unlikely]]
    if (!record_tangents(self, *node, 0, true)) return;
  AutogradMeta& meta = autograd_meta(self);
  if (!meta.view_base.defined()) return set_history_alone(self, std::move(node));
  Tensor base = meta.view_base;
  auto slices = make_counted<CopySlices>(base, self, std::move(node));
  set_history_alone(base, std::move(slices));
  renew_view_history(self);
}

// ---- tangents of views ----

namespace {

bool is_laid_out_as(const Tensor& t, const Tensor& like) {
  for (size_t d = 0; d < like.sizes().size(); d++)
    if (like.sizes()[d] != 1 && t.strides()[d] != like.strides()[d]) return false;
  return true;
}

// The tangent of a base, in the base's own layout, so that views of it see their part.
Tensor tangent_laid_out(const Tensor& base, const Tangent& tangent) {
  if (is_laid_out_as(tangent.value, base)) return tangent.value;
  const Tensor out = zeros_laid_out(Geometry(base), tangent.value.dtype(), tangent.value.device());
  copy_(out, tangent.value);
  set_tangent(base, tangent.level, out);
  return out;
}

// The part of a base's tangent that belongs to a view of the base, as a view.
Tensor tangent_through(const Tensor& tangent, const Tensor& view, const Tensor& base) {
  Tensor part = part_of(tangent, Geometry(base), Geometry(view));
  part.set_math_bits(part.math_bits() ^ tangent.math_bits());
  set_view_history(part, tangent, tangent.requires_grad() ? as_strided_node(part, tangent) : nullptr);
  return part;
}

}  // namespace

void view_tangents(const Tensor& view, const Tensor& base) {
  for (const Tangent& tangent : seen_tangents(base)) {
    const LevelsBelow below(tangent.level);
    set_tangent(view, tangent.level, tangent_through(tangent_laid_out(base, tangent), view, base));
  }
}

namespace {

bool has_entry(const Tensor& t, uint32_t level) {
  const AutogradMeta* const meta = t.impl()->autograd;
  return meta != nullptr && meta->tangents &&
         std::any_of(meta->tangents->begin(), meta->tangents->end(), [&](const Tangent& each) { return each.level == level; });
}

}  // namespace

void join_base(const Tensor& view, const Tensor& base) {
  if (Context::current().duals.seen > 0) {
    view.impl()->flags |= TensorImpl::kDual;
    if (autograd_meta(base).view_base.defined()) base.impl()->flags |= TensorImpl::kDual;
  }
  view_tangents(view, base);
  const AutogradMeta* const from = autograd_meta(view).view_base.impl()->autograd;
  if (from == nullptr || !from->tangents) return;
  for (const Tangent& tangent : *from->tangents)
    if (is_live(tangent.level) && !has_entry(view, tangent.level)) set_tangent(view, tangent.level, Tensor());
}

void follow_base(const Tensor& view) {
  const AutogradMeta* const meta = view.impl()->autograd;
  if (!view.is_dual() || meta == nullptr || !meta->view_base.defined()) return;
  const Tensor base = meta->view_base;
  const AutogradMeta* const from = base.impl()->autograd;
  if (from == nullptr || !from->tangents) return;
  for (const Tangent& tangent : Tangents(*from->tangents)) {
    if (!tangent.value.defined() || !is_live(tangent.level) || has_entry(view, tangent.level)) continue;
    const LevelsBelow below(tangent.level);
    set_tangent(view, tangent.level, tangent_through(tangent_laid_out(base, tangent), view, base));
  }
}

void write_tangent(const Tensor& self, uint32_t level, const Tensor& value) {
  const LevelsBelow below(level);
  Tensor own = tangent_of(self, level);
  if (!own.defined()) {
    const AutogradMeta* meta = self.impl()->autograd;
    if (!meta || !meta->view_base.defined()) return set_tangent(self, level, value);
    const Tensor base = meta->view_base;
    if (!tangent_of(base, level).defined())
      set_tangent(base, level, zeros_laid_out(Geometry(base), base.dtype(), base.device()));
    own = tangent_through(tangent_laid_out(base, {level, tangent_of(base, level)}), self, base);
    set_tangent(self, level, own);
  }
  copy_(own, value);
}

}  // namespace tessera::tensor

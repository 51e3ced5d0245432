// Rows of a table by their number.
// compile: small (seldom in a step, and the kernel takes longer)
#include "runtime/autograd/record.h"
#include "runtime/class_text.h"
#include "runtime/device/two_devices.h"
#include "runtime/ops.h"
#include "runtime/ops/batching.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/index_along.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/norm_layers.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {
namespace {

struct Embedding {
  static constexpr Forward forward = Forward::Linear;
  static Meta shape(const Tensor& weight, const Tensor& indices, int64_t, bool, bool) {
    check(weight.dim() == 2, TensorErrorKind::Runtime, "'weight' must be 2-D");
    check(indices.dtype() == kInt64 || indices.dtype() == kInt32, TensorErrorKind::Runtime,
          "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got ",
          class_text(indices.dtype(), indices.device()), " instead (while checking arguments for embedding)");
    check_one_device("wrapper_CUDA__index_select", {{"self", weight}, {"index", indices}});
    Dims sizes(indices.sizes());
    sizes.push_back(weight.sizes()[1]);
    return Meta(sizes, weight);
  }
  static void run(const Tensor& out, const Tensor& weight, const Tensor& indices, int64_t, bool, bool) {
    const Tensor flat = reshape(to_dtype(indices, kInt64), {indices.numel()});
    check(weight.sizes()[0] > 0 || flat.numel() == 0, TensorErrorKind::Runtime,
          "index_select(): self indexing axis dim should be positive");
    const int64_t width = weight.sizes()[1];
    move_items({IndexCall::Mode::Read, 0, IndexCall::Complaint::Select}, weight, flat,
               out.view_of({flat.numel(), width}, {width, 1}));
  }
  static void grad(Tensor& out, const Tensor& weight, const Tensor& indices, int64_t padding_idx, bool by_frequency,
                   bool) {
    record(out, "EmbeddingBackward0", {&weight}, keep(indices),
           [sizes = Dims(weight.sizes()), padding_idx, by_frequency](Sweep& s) {
             s.give(0, [&] { return gradient(s.g(), s.kept(0), sizes, padding_idx, by_frequency); });
           });
  }

 private:
  static Tensor gradient(const Tensor& g, const Tensor& indices, Ints sizes, int64_t padding_idx, bool by_frequency) {
    const int64_t n = indices.numel();
    const Tensor at = reshape(indices, {n});
    Tensor rows = reshape(g, {n, sizes[1]});
    if (by_frequency) {  // what a row gets is the mean over its places
      const Tensor one = ones({n}, g.dtype(), g.device());
      const Tensor counts = index_add(zeros({sizes[0]}, g.dtype(), g.device()), 0, at, one, 1);
      rows = rows / unsqueeze(index_select(counts, 0, at), 1);
    }
    const Tensor all = index_add(zeros(sizes, g.dtype(), g.device()), 0, at, rows, 1);
    if (padding_idx < 0) return all;
    return index_fill(all, 0, to_device(Tensor::from_values<int64_t>({padding_idx}, {1}), g.device()), 0);
  }
};

}  // namespace

Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx) {
  return apply<Embedding>(weight, indices, padding_idx, false, false);
}

namespace {

TS_OP(
    embedding,
    "embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False) -> "
    "Tensor",
    "Rows of weight by their number.", kFunction, Embedding,
    "f[4,3], i[2,5]<4\n"
    "f[4,3].t, i[5]<4\n"
    "f[4,3], i[]<4:int32\n"
    "f[4,3], i[0]\n"
    "f[4,3], i{4} -> IndexError: index out of range in self\n"
    "f[4,3], i{-1} -> IndexError: index out of range in self\n"
    "f[4], i{0} -> RuntimeError: 'weight' must be 2-D\n"
    "f[4,3], f[2] -> RuntimeError: Expected tensor for argument #1 'indices' to have one of the following scalar types: "
    "Long, Int; but got torch.FloatTensor instead (while checking arguments for embedding)",
    .any_device = true, .batched = batched_through<1>);

}  // namespace
}  // namespace tessera::tensor

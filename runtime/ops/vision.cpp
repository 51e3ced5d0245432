// Entries that torch.ops.torchvision is made of: torch/_vision.tsr gives the ops their arguments and derivatives.
// compile: small (checks, the kernels take longer)
#include "runtime/ops/vision.h"

#include "runtime/ops.h"
#include "runtime/ops/entry.h"

namespace tessera::tensor {

constinit Kernel<RegionCall> region_kernel("vision_regions", ServedBy::Host);
constinit Kernel<DeformCall> deform_kernel("deform_columns", ServedBy::Host);

namespace {

void* data_of(const Tensor& t) { return t.defined() ? t.data_ptr() : nullptr; }

Tensor laid_out(const std::optional<Tensor>& t) { return t && t->defined() ? contiguous(*t) : Tensor(); }

void check_kind(const Tensor& self, std::initializer_list<const Tensor*> others) {
  if (self.dtype() != kFloat32 && self.dtype() != kFloat64)
    fail(TensorErrorKind::NotImplemented, "regions and deformable convolutions take float32 and float64");
  for (const Tensor* other : others)
    if (other->defined() && (other->dtype() != self.dtype() || other->device() != self.device()))
      fail(TensorErrorKind::Runtime, "all tensors of a region or a deformable convolution must have one dtype and one device");
}

std::tuple<Tensor, Tensor> vision_regions(const Tensor& self, const Tensor& rois, const std::optional<Tensor>& places, int64_t kind, Ints bins,
                                          int64_t samples, double scale, Ints size) {
  const bool backward = !size.empty();
  check_kind(self, {&rois});
  check(self.dim() == 4 && rois.dim() == 2 && rois.size(1) == 5 && bins.size() == 2 && bins[0] > 0 && bins[1] > 0 && kind >= 0 && kind <= 4 &&
            (!backward || size.size() == 4),
        TensorErrorKind::Runtime, "rois must have shape as Tensor[K, 5]");
  const Ints whole = backward ? size : self.sizes();
  const auto of = RegionKind(kind);
  const int64_t cells = bins[0] * bins[1];
  const bool sensitive = of >= RegionKind::SensitiveAlign;
  check(!sensitive || whole[1] % cells == 0, TensorErrorKind::Runtime, "input channels must be a multiple of pooling height * pooling width");
  const Dims pooled{rois.size(0), sensitive ? whole[1] / cells : whole[1], bins[0], bins[1]};
  check(!backward || self.sizes() == Ints(pooled), TensorErrorKind::Runtime, "the gradient must have the shape of the regions");
  const Tensor given = contiguous(self), at = contiguous(rois);
  const Tensor made = zeros(backward ? size : Ints(pooled), self.dtype(), self.device());
  Tensor chosen = laid_out(places);
  if (!backward && kind >= int64_t(RegionKind::Pool)) chosen = zeros(pooled, kInt32, self.device());
  check(!backward || of != RegionKind::Pool || (chosen.defined() && chosen.dtype() == kInt32 && chosen.sizes() == Ints(pooled)),
        TensorErrorKind::Runtime, "the gradient of regions' maxima needs their places");
  const Tensor &input = backward ? made : given, &out = backward ? given : made;
  if (out.numel() != 0)
    region_kernel(self.device(), {self.dtype(), of, backward, input.data_ptr(), at.data_ptr(), out.data_ptr(), static_cast<int32_t*>(data_of(chosen)),
                                  rois.size(0), whole[0], whole[1], whole[2], whole[3], bins[0], bins[1], samples, scale});
  return {made, chosen.defined() ? chosen : zeros({0}, kInt32, self.device())};
}
TS_OP(vision_regions,
      "vision_regions(Tensor self, Tensor rois, Tensor? places, int kind, int[] bins, int samples, float scale, int[] size=[]) -> (Tensor, Tensor)",
      "Regions of feature maps as maps of one size, and the places of their maxima; or with a size the gradient of the maps.", kInternal | kNoGrad,
      &vision_regions,
      "f[1,2,5,5], f[2,5].z, None, 0, [2, 2], -1, 1.0\n"
      "f[1,2,5,5], f[2,5].z, None, 2, [2, 1], 0, 0.5\n"
      "f[1,4,5,5], f[2,5].z, None, 3, [2, 2], 2, 1.0\n"
      "f[1,4,5,5], f[2,5].z, None, 4, [2, 2], 0, 1.0\n"
      "f[2,2,2,2], f[2,5].z, None, 1, [2, 2], 2, 1.0, [1, 2, 5, 5]\n"
      "f[1,3,5,5], f[2,5].z, None, 3, [2, 2], 2, 1.0 -> RuntimeError: input channels must be a multiple");

TensorList deform_columns(const Tensor& input, const Tensor& offset, const std::optional<Tensor>& mask, Ints geometry,
                          const std::optional<Tensor>& grad) {
  const Tensor in = contiguous(input), moved = contiguous(offset), counts = laid_out(mask), g = laid_out(grad);
  check_kind(in, {&moved, &counts, &g});
  check(in.dim() == 4 && geometry.size() == 9, TensorErrorKind::Runtime, "a deformable convolution takes images of four dimensions");
  DeformCall call{};
  call.dtype = in.dtype();
  call.images = in.size(0), call.channels = in.size(1), call.groups = geometry[8];
  bool fits = call.groups > 0 && call.channels % call.groups == 0;
  for (int d = 0; d < 2; d++) {
    call.sides[d] = in.size(2 + d);
    call.kernel[d] = geometry[size_t(d)], call.stride[d] = geometry[size_t(2 + d)];
    call.padding[d] = geometry[size_t(4 + d)], call.dilation[d] = geometry[size_t(6 + d)];
    fits = fits && call.kernel[d] > 0 && call.stride[d] > 0 && call.padding[d] >= 0 && call.dilation[d] > 0;
    if (fits) call.out[d] = (call.sides[d] + 2 * call.padding[d] - call.dilation[d] * (call.kernel[d] - 1) - 1) / call.stride[d] + 1;
    fits = fits && call.out[d] > 0;
  }
  check(fits, TensorErrorKind::Runtime, "a deformable convolution has no output");
  const int64_t taps = call.kernel[0] * call.kernel[1];
  const Dims places{call.images, 2 * call.groups * taps, call.out[0], call.out[1]}, masks{call.images, call.groups * taps, call.out[0], call.out[1]};
  const Dims shape{call.images, call.channels * taps, call.out[0] * call.out[1]};
  check(moved.sizes() == Ints(places) && (!counts.defined() || counts.sizes() == Ints(masks)) && (!g.defined() || g.sizes() == Ints(shape)),
        TensorErrorKind::Runtime, "the offset or the mask of a deformable convolution has another shape");
  TensorList made;
  if (!g.defined()) made.push_back(zeros(shape, in.dtype(), in.device()));
  else
    for (const Tensor* like : {&in, &moved, &counts})
      if (like->defined()) made.push_back(zeros(like->sizes(), in.dtype(), in.device()));
  call.input = in.data_ptr(), call.offset = moved.data_ptr(), call.mask = data_of(counts);
  call.columns = g.defined() ? g.data_ptr() : made[0].data_ptr();
  if (g.defined()) {
    call.grad_input = made[0].data_ptr(), call.grad_offset = made[1].data_ptr();
    if (counts.defined()) call.grad_mask = made[2].data_ptr();
  }
  deform_kernel(in.device(), call);
  return made;
}
TS_OP(deform_columns, "deform_columns(Tensor input, Tensor offset, Tensor? mask, int[] geometry, Tensor? grad=None) -> Tensor[]",
      "Columns of a convolution whose samples are moved; or with their gradient those of the input, the offset and the mask.", kInternal | kNoGrad,
      &deform_columns,
      "f[1,2,4,4], f[1,8,3,3], None, [2, 2, 1, 1, 0, 0, 1, 1, 1]\n"
      "f[2,4,5,4], f[2,16,2,3], f[2,8,2,3], [2, 2, 2, 1, 0, 0, 1, 1, 2]\n"
      "f[1,2,4,4], f[1,8,3,3], f[1,4,3,3], [2, 2, 1, 1, 0, 0, 1, 1, 1], f[1,8,9]\n"
      "f[1,2,4,4], f[1,8,3,3], None, [2, 2, 1, 1, 0, 0, 1] -> RuntimeError: a deformable convolution takes");

}  // namespace
}  // namespace tessera::tensor

// compile: small (seldom in a step, and the kernel takes longer)
#include "runtime/ops/parametric_draws.h"

#include "runtime/device/backend.h"
#include "runtime/ops.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

// The CPU's ops draw without a kernel, from one generator in the order of the memory; a permutation is drawn as swaps.
constinit Kernel<ParametricCall> parametric_kernel("random_by_parameters", ServedBy::Devices);
constinit Kernel<WeightsCall> weights_kernel("random_weights", ServedBy::Devices);
constinit Kernel<PlacesCall> places_kernel("random_places", ServedBy::Devices);
constinit Kernel<EqualKeysCall> equal_keys_kernel("random_equal_keys", ServedBy::Devices);

namespace {

const KernelRegistration known{parametric_kernel};
const KernelRegistration weights_known{weights_kernel};
const KernelRegistration places_known{places_kernel};
const KernelRegistration keys_known{equal_keys_kernel};

}  // namespace

void draw_there(Parametric of, const Tensor& out, std::initializer_list<Tensor> parameters, RandomState state) {
  if (out.numel() == 0) return;
  const DType type = out.dtype() == kFloat64 ? kFloat64 : kFloat32;
  Tensor given[3];
  size_t count = 0;
  for (const Tensor& p : parameters) given[count++] = contiguous(to_dtype(expand(p, out.sizes()), type));
  const auto address = [&](size_t k) { return k < count ? given[k].data_ptr() : nullptr; };
  const bool direct = out.is_contiguous() && out.dtype() == type;
  const Tensor drawn = direct ? out : Tensor::empty(out.sizes(), type, out.device());
  parametric_kernel(out.device(),
                    {of, type, address(0), address(1), address(2), drawn.data_ptr(), drawn.numel(), state});
  if (!direct) copy_into(out, drawn);
}

}  // namespace tessera::tensor

// compile: small (computes nothing)
#include "runtime/device/meta.h"

#include "runtime/context.h"
#include "runtime/ops.h"

namespace tessera::tensor {

void fail_on_meta(const char* op) {
  fail(
      TensorErrorKind::NotImplemented, "aten::", op,
      ": attempted to run this operator with Meta tensors, but there was no fake impl or Meta kernel registered. You may have "
      "run into this message while using an operator with PT2 compilation APIs (torch.compile/torch.export); in order to use "
      "this operator with those APIs you'll need to add a fake impl. Please see the following for next steps:  "
      "https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html");
}

void refuse_meta_nonzero(const Tensor& t) {
  check(
      !t.device().is_meta(), TensorErrorKind::NotImplemented,
      "The register_meta function for torch.nonzero() raises unimplemented by default, as a correct data-independent "
      "implementation does not exist. This implementation returns a fake value, assuming all elements of the tensor are "
      "non-zero. To enable this registration, please set 'torch.fx.experimental._config.meta_nonzero_assume_all_nonzero' to "
      "True.");
}

bool any_true(const Tensor& condition) {
  if (condition.device().is_meta()) return false;
  const GradMode no_grad(false);
  return any(condition).item().to_bool();
}

}  // namespace tessera::tensor

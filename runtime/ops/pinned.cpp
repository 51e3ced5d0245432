#include "runtime/ops/pinned.h"

#include "runtime/checked.h"
#include "runtime/device/backend.h"
#include "runtime/error.h"
#include "runtime/ops.h"

namespace tessera::tensor {
namespace {

// Null: there is no device that would copy.
const DeviceBackend* pinning_backend() {
  const DeviceBackend* backend = device_backend(accelerator());
  return backend == nullptr || backend->device_count() == 0 ? nullptr : backend;
}

}  // namespace

bool is_pinned(const Tensor& t) {
  if (!t.device().is_cpu() || t.numel() == 0) return false;
  const DeviceBackend* backend = pinning_backend();
  return backend != nullptr && backend->is_pinned(t.storage().data());
}

Tensor empty_pinned(Ints sizes, DType dtype) {
  resolve_device(Device(accelerator()));
  const DeviceBackend* backend = pinning_backend();
  size_t bytes = size_t(numel_of(sizes)) * item_size(dtype);
  void* memory = backend->allocate_pinned(bytes);
  return Tensor::from_blob(memory, sizes, dtype, [=](void* block) { backend->release_pinned(block, bytes); });
}

Tensor pin_memory(const Tensor& t) {
  if (pinning_backend() == nullptr || is_pinned(t)) return t;  // without a device all memory is as good
  check(t.device().is_cpu(), TensorErrorKind::Runtime, "cannot pin 'torch.", name(t.device().type), ".",
        scalar_type_name(t.dtype()), "Tensor' only dense CPU tensors can be pinned");
  const int64_t item = int64_t(item_size(t.dtype()));  // it lies as t does, gaps and all
  Tensor out = empty_pinned({storage_bytes_needed(t.sizes(), t.strides(), 0, item) / item}, t.dtype());
  out.impl()->set_layout(t.sizes(), t.strides());
  check_no_internal_overlap(out);
  copy_into(out, t);
  return out;
}

}  // namespace tessera::tensor

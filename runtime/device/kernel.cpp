#include "runtime/device/kernel.h"

#include "runtime/error.h"

namespace tessera::tensor {
namespace {

KernelSlot*& head() {
  static KernelSlot* list = nullptr;
  return list;
}

}  // namespace

KernelSlot* KernelSlot::first() { return head(); }

KernelSlot* KernelSlot::find(std::string_view name) {
  for (KernelSlot* slot = head(); slot != nullptr; slot = slot->next())
    if (name == slot->name()) return slot;
  return nullptr;
}

void KernelSlot::enter_list() {
  if (listed_) return;
  listed_ = true;
  next_ = head();
  head() = this;
}

void fail_no_kernel(const char* family, DeviceType type) {
  fail(TensorErrorKind::NotImplemented, "Could not run 'aten::", family, "' with arguments from the '",
       backend_name(type), "' backend.");
}

}  // namespace tessera::tensor

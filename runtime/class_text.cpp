// compile: small (runs after an error)
#include "runtime/class_text.h"

#include "runtime/device/traits.h"
#include "runtime/error.h"

namespace tessera::tensor {

std::string class_text(DType t, Device device) {
  const bool apart = has_streams(device);
  const DTypeFacts& f = facts(t);
  if (f.tensor_class == nullptr || f.class_is_unnamed)
    return text(apart ? backend_name(device.type) : backend_name(DeviceType::Cpu), f.scalar_type, "Type");
  return text("torch.", apart ? name(device.type) : "", apart ? "." : "", f.tensor_class);
}

}  // namespace tessera::tensor

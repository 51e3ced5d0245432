#include "runtime/ops/refuse.h"

namespace tessera::tensor {

std::string KernelName::in(Words words) const {
  if (words == Words::Cpu) return cpu;
  if (cuda != nullptr) return cuda;
  std::string name = cpu;
  if (const size_t at = name.find("_vml"); at != name.npos) name.erase(at, 4);
  if (const size_t at = name.find("_cpu"); at != name.npos) name.replace(at, 4, "_cuda");
  return name;
}

void refuse_type(DType t, Device device, KernelName kernel) {
  refuse_type(t, kernel.in(traits_of(device).words).c_str());
}
void refuse_type(const Tensor& t, KernelName kernel) { refuse_type(t.dtype(), t.device(), kernel); }

}  // namespace tessera::tensor

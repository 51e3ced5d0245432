// compile: small (runs after an error)
#include "runtime/ops/one_device.h"

#include <algorithm>

#include "runtime/device/two_devices.h"

namespace tessera::tensor {
namespace {

struct Row {
  std::string_view entry;
  const char* kernel;  // null: takes any device
};
constexpr Row kRows[] = {
#define ONE_DEVICE(ENTRY, KERNEL) {ENTRY, KERNEL},
#define ANY_DEVICE(ENTRY) {ENTRY, nullptr},
#include "runtime/ops/one_device.def"
#undef ONE_DEVICE
#undef ANY_DEVICE
};

const Row* row_of(const OpCall& call) {
  const OpSchema& schema = call.entry.schema();
  const std::string name = call.entry.name + (schema.overload.empty() ? "" : "." + schema.overload);
  const Row* const row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.entry == name; });
  return row == std::end(kRows) ? nullptr : row;
}

// Writing into self is a kernel of its own: the underscore stands behind the op's name, wherever that is.
std::string kernel_name(const OpCall& call, const char* kernel) {
  std::string name = kernel;
  const std::string op = call.entry.name;
  const size_t at = name.find(op);
  if (call.is_inplace() && at != name.npos && !name.ends_with('_')) name.insert(at + op.size(), "_");
  return "wrapper_CUDA_" + name;
}

template <class Visit>
void each_operand(const OpCall& call, const Visit& visit) {
  for (size_t i = 0; i < call.args.size(); i++) {
    const Arg& arg = call.args[i];
    if (arg.is_tensor() && arg.tensor().defined()) visit(i, arg.tensor());
    if (arg.kind() != Arg::Kind::Tensors) continue;
    for (const Tensor& t : arg.tensors()) visit(i, t);
  }
}

bool on_two_devices(const OpCall& call) {
  const Tensor* first = nullptr;
  bool differ = false;
  each_operand(call, [&](size_t, const Tensor& t) {
    if (first == nullptr) first = &t;
    differ |= t.device() != first->device();
  });
  return differ;
}

[[gnu::cold, gnu::noinline]] void refuse_two_devices(const OpCall& call) {
  const Row* const row = row_of(call);
  if (row != nullptr && row->kernel == nullptr) return;
  constexpr uint32_t kLooksItself = kView | kTakesMathBits | kNumberOperands;
  const bool has_kernel = call.entry.shape != nullptr || call.entry.has(kInternal);
  if (row == nullptr && (!has_kernel || (call.entry.flags & kLooksItself) != 0)) return;
  const Tensor* first = nullptr;
  each_operand(call, [&](size_t i, const Tensor& t) {
    if (first == nullptr) first = &t;
    if (t.device() == first->device()) return;
    if (row == nullptr) fail_two_devices(first->device(), t.device());
    fail_argument_device(kernel_name(call, row->kernel), call.entry.schema().args[i].name, t.device(), first->device());
  });
}

}  // namespace

void check_one_device(const OpCall& call) {
  if (on_two_devices(call)) [[unlikely]]
    refuse_two_devices(call);
}

}  // namespace tessera::tensor

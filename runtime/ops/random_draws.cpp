#include "runtime/ops/random_draws.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "runtime/context.h"
#include "runtime/device/backend.h"
#include "runtime/error.h"

namespace tessera::tensor {

// The CPU's ops draw without a kernel, from one generator in the order of the memory; dropout multiplies by a mask.
constinit Kernel<RandomCall> random_kernel("random", ServedBy::Devices);
constinit Kernel<CoinsCall> coins_kernel("random_coins", ServedBy::Devices);
constinit Kernel<DropoutCall> dropout_kernel("dropout", ServedBy::Devices);

namespace {

const KernelRegistration known{random_kernel};
const KernelRegistration coins_known{coins_kernel};
const KernelRegistration dropout_known{dropout_kernel};

// Of all multiprocessors together, asked of the device once for each generator.
unsigned blocks_at_once(Device device, DeviceGenerator& place) {
  if (place.blocks_at_once == 0) {
    DeviceProperties properties;
    device_backend(device.type)->properties(device, properties);
    place.blocks_at_once =
        unsigned(properties.multiprocessors) * (unsigned(properties.threads_per_multiprocessor) / kDrawThreads);
  }
  return place.blocks_at_once;
}

}  // namespace

bool draws_on_host() {
  static const bool asked = [] {
    const char* value = std::getenv("TESSERA_CUDA_RANDOM");
    return value != nullptr && std::string_view(value) == "cpu";
  }();
  return asked;
}

void seed_everywhere(uint64_t seed) {
  Context& context = Context::current();
  context.generator().manual_seed(seed);
  // A generator that a device gets later begins with this seed too. Where nothing draws on devices there is none yet.
  const DeviceType type = accelerator();
  if (!random_kernel.has(type)) return;
  for (int i = 0; i < device_backend(type)->device_count(); i++) context.generator(Device(type, i)).manual_seed(seed);
}

DeviceGenerator* drawing_there(Device device, const Generator* given) {
  if (draws_on_host()) return nullptr;
  if (!has_generators(device)) {
    check(given == nullptr || given->place() == nullptr || device.is_meta(), TensorErrorKind::Runtime,
          "Expected a 'cpu' device type for generator but found '", name(accelerator()), "'");
    return nullptr;
  }
  check(given == nullptr || given->place() != nullptr, TensorErrorKind::Runtime, "Expected a '", name(device.type),
        "' device type for generator but found 'cpu'");
  return given != nullptr ? given->place() : &Context::current().generator(device);
}

DrawGrid draw_grid(Device device, DeviceGenerator& place, int64_t n, int at_once) {
  const int64_t blocks = std::min<int64_t>(blocks_at_once(device, place), (n + kDrawThreads - 1) / kDrawThreads);
  const int64_t draws = (n - 1) / (blocks * kDrawThreads * at_once) + 1;
  return {unsigned(blocks), place.take(uint64_t(draws) * 4)};
}

HostDraws::HostDraws(Generator* given, Device device) {
  if (DeviceGenerator* place = drawing_there(device, given)) {
    const RandomState at = place->take(4);
    own_.emplace(at.seed ^ (at.offset / 4 + 1) * 0x9e3779b97f4a7c15);
  } else {
    shared_ = given != nullptr ? given : &Context::current().generator();
  }
}

}  // namespace tessera::tensor

// Every slot has the kernels that it says (ServedBy): on the CPU, and in the CUDA plugin.
// The plugin fills its slots on any machine, so this needs no GPU; without a plugin that part says so and passes, unless
// TESSERA_CUDA_PLUGIN names one (scripts/test cuda does).
#include <doctest/doctest.h>

#include <cstdlib>
#include <set>
#include <string>

#include "runtime/device/backend.h"
#include "runtime/device/plugin_loader.h"
#include "runtime/device/memory.h"
#include "runtime/error.h"
#include "runtime/ops.h"

using namespace tessera::tensor;

namespace {

// Compares what the backend fills with what each slot says.
void check_slots(DeviceType type) {
  const ServedBy other = type == DeviceType::Cpu ? ServedBy::Devices : ServedBy::Host;
  int filled = 0;
  for (KernelSlot* slot = KernelSlot::first(); slot != nullptr; slot = slot->next()) {
    filled += slot->has(type);
    INFO("the slot '", std::string(slot->name()), "' and ", std::string(name(type)),
         ": fill it, or say at the slot by whom it is served");
    CHECK(slot->has(type) == (slot->served_by() != other));
  }
  CHECK(filled > 0);
}

}  // namespace

TEST_CASE("every slot that the host serves has a kernel on the CPU") { check_slots(DeviceType::Cpu); }

TEST_CASE("every slot that devices serve has a kernel in the CUDA plugin") {
  std::string why;
  const DeviceBackend* backend = plugin_backend(DeviceType::Cuda, &why);
  if (backend == nullptr) {
    MESSAGE("no CUDA plugin: ", why);
    CHECK(std::getenv("TESSERA_CUDA_PLUGIN") == nullptr);
    return;
  }
  check_slots(DeviceType::Cuda);
  if (backend->device_count() == 0) CHECK(std::string(backend->why_none()) != "");
}

TEST_CASE("slots are found by name, and only those") {
  REQUIRE(KernelSlot::find("mm") != nullptr);
  CHECK(std::string(KernelSlot::find("mm")->name()) == "mm");
  CHECK(KernelSlot::find("m") == nullptr);
  std::set<std::string> names;
  for (KernelSlot* slot = KernelSlot::first(); slot != nullptr; slot = slot->next())
    CHECK(names.insert(slot->name()).second);
}

TEST_CASE("a plugin of another version, or with a kernel that does not fit, fills nothing") {
  void (*const function)(const CopyCall&) = [](const CopyCall&) {};
  const DeviceBackend* cpu = device_backend(DeviceType::Cpu);
  PluginKernel second{"fill_", sizeof(FillCall), reinterpret_cast<KernelSlot::AnyFunction>(function), nullptr};
  PluginKernel first{"copy_", sizeof(CopyCall), reinterpret_cast<KernelSlot::AnyFunction>(function), &second};
  const Plugin plugin{42, cpu, &first};
  std::string why;
  const auto taken = [&](const Plugin* p, uint64_t interface) {
    return take_plugin(p, interface, DeviceType::Mps, why);
  };
  CHECK(taken(&plugin, 43) == nullptr);
  CHECK(why == "the plugin was built from another version of Tessera (build the target `plugins` again)");
  CHECK(taken(nullptr, 42) == nullptr);
  second.call_size++;
  CHECK(taken(&plugin, 42) == nullptr);
  CHECK(why == "the plugin's kernel 'fill_' takes another call than the program's");
  second = {"fill", sizeof(FillCall), second.function, nullptr};
  CHECK(taken(&plugin, 42) == nullptr);
  CHECK(why == "the plugin's kernel 'fill' has no slot in this program");
  CHECK(!copy_kernel.has(DeviceType::Mps));
  first.next = nullptr;
  CHECK(taken(&plugin, 42) == cpu);
  CHECK((copy_kernel.get(DeviceType::Mps) == function));
  copy_kernel.set(DeviceType::Mps, nullptr);
}

TEST_CASE("a kernel gets its numbers by value") {
  // A copy of the loop's bytes is all that a kernel on a device sees.
  static double seen;
  static bool by_value;
  const auto probe = [](const PointwiseCall& call) {
    by_value = (call.loop.host_scalars >> 2 & 1) && call.loop.data[2] == call.loop.numbers[2] &&
               call.launch.device == Device(DeviceType::Mps, 0);
    float number;
    __builtin_memcpy(&number, call.loop.numbers[2], sizeof number);
    seen = number;
  };
  Loop loop;
  loop.operands = 3;
  const float half = 0.5f;
  __builtin_memcpy(loop.numbers[2], &half, sizeof half);
  loop.use_number(2, kFloat32);
  pointwise_kernel.set(DeviceType::Mps, probe);  // a device that has no kernels of its own
  pointwise_kernel(Device(DeviceType::Mps, 0), PointwiseCall{0, kFloat32, loop, nullptr});
  pointwise_kernel.set(DeviceType::Mps, nullptr);
  CHECK(by_value);
  CHECK(seen == 0.5);
}

TEST_CASE("faults that kernels report have PyTorch's words") {
  ErrorWord word{ErrorWord::Index, 1, 7, 3};
  CHECK_THROWS_WITH_AS(raise(word), "index 7 is out of bounds for dimension 1 with size 3", TensorError);
  word.kind = ErrorWord::Target;
  CHECK_THROWS_WITH_AS(raise(word), "Target 7 is out of bounds.", TensorError);
}

TEST_CASE("the CPU's streams and events are there and do nothing") {
  const DeviceBackend& cpu = *device_backend(DeviceType::Cpu);
  CHECK(cpu.device_count() == 1);
  CHECK(cpu.take_stream(kCpu, 0) == nullptr);
  EventHandle first = cpu.create_event(kCpu, {.timed = true}), second = cpu.create_event(kCpu, {.timed = true});
  cpu.record_event(kCpu, first, nullptr);
  cpu.record_event(kCpu, second, nullptr);
  CHECK(cpu.elapsed_ms(kCpu, first, second) >= 0);
  cpu.destroy_event(kCpu, first);
  cpu.destroy_event(kCpu, second);
  synchronize(kCpu);
}

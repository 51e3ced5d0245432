// The seam between ops and devices, on devices that only their kernels may touch (fake_device.h).
#include <doctest/doctest.h>

#include "runtime/autograd/engine.h"
#include "runtime/autograd/node.h"
#include "runtime/class_text.h"
#include "runtime/device/accelerator_error.h"
#include "runtime/device/generator.h"
#include "runtime/device/memory.h"
#include "runtime/ops.h"
#include "runtime/ops/pointwise_functions.h"
#include "runtime/ops/sorting.h"
#include "runtime/ops/views.h"
#include "tests/unit/runtime/fake_device.h"

using namespace tessera::tensor;

namespace {

const Device kFirst(DeviceType::Cuda, 0), kSecond(DeviceType::Cuda, 1);

bool same(const Tensor& device, const Tensor& host) { return all(eq(to_device(device, kCpu), host)).item().to_bool(); }

Tensor numbers(Ints sizes) { return reshape(sin(arange(0, numel_of(sizes), 1, kFloat32)), sizes); }

}  // namespace

TEST_CASE("tensors move to a device and back, and ops stay where their operands are") {
  fake::Devices devices;
  const Tensor x = numbers({3, 4}), there = to_device(x, Device(DeviceType::Cuda, 1));
  CHECK(there.device() == kSecond);
  CHECK(same(there, x));
  CHECK(same(transpose(there, 0, 1), transpose(x, 0, 1)));
  devices.record().launches.clear();
  CHECK(same(matmul(there, transpose(there, 0, 1)) + sum(there), matmul(x, transpose(x, 0, 1)) + sum(x)));
  for (const Launch& launch : devices.record().launches) CHECK(launch.device == kSecond);
  CHECK(to_device(there, kFirst).device() == kFirst);
  CHECK_THROWS_WITH_AS(to_device(x, Device(DeviceType::Cuda, 2)),
                       "CUDA error: invalid device ordinal\nGPU device may be out of range, do you have enough GPUs?",
                       AcceleratorError);
  CHECK_THROWS_WITH_AS(there + x,
                       "Expected all tensors to be on the same device, but found at least two devices, cuda:1 and cpu!",
                       TensorError);
}

TEST_CASE("numbers of the host travel by value, in every place and layout") {
  fake::Devices devices;
  const Tensor x = numbers({3, 4}), there = to_device(x, kFirst);
  const Tensor two = Tensor::scalar(2.0, kFloat64);  // a 0-dim tensor of the host joins as a number
  CHECK(same(there * 2.0, x * 2.0));
  CHECK(same(2.0 - there, 2.0 - x));
  CHECK(same(transpose(there, 0, 1) / 3, transpose(x, 0, 1) / 3));
  CHECK(same(there + two, x + two));
  CHECK(same(where(there > 0.0, there, -1.0), where(x > 0.0, x, -1.0)));
  CHECK(same(clamp(there, Scalar(-0.5), Scalar(0.5)), clamp(x, Scalar(-0.5), Scalar(0.5))));
  CHECK(!devices.record().strangers);
}

TEST_CASE("a training step waits for nothing and touches no device memory from the host") {
  fake::Devices devices;
  const auto step = [](Device device) {
    const Tensor x = to_device(numbers({5, 3}), device), target = to_device(numbers({5, 1}), device);
    Tensor w = to_device(numbers({3, 4}), device), v = to_device(numbers({4, 1}), device);
    set_requires_grad(w, true), set_requires_grad(v, true);
    const Tensor error = matmul(relu(matmul(x, w)), v) - target;
    backward({mean(error * error)});
    return std::pair(autograd_meta(w).grad, autograd_meta(v).grad);
  };
  const auto [w, v] = step(kCpu);
  devices.record().waits = 0;
  const auto [w_there, v_there] = step(kFirst);
  CHECK(devices.record().waits == 4);  // the four copies to the device
  CHECK(same(w_there, w));
  CHECK(same(v_there, v));
  CHECK(!devices.record().strangers);
}

TEST_CASE("work goes to the current stream, memory back to the stream that it came from") {
  fake::Devices devices;
  int queue;
  const Tensor x = to_device(numbers({4}), kFirst);
  devices.record().launches.clear();
  set_current_stream(kFirst, &queue);
  {
    const Tensor y = x + x;
    CHECK(devices.record().launches.back().stream == &queue);
    set_current_stream(kFirst, nullptr);
    devices.record().released.clear();
  }
  CHECK(devices.record().released == std::vector<StreamHandle>{&queue});
  set_current_stream(kSecond, &queue);
  const Tensor there = to_device(x, kSecond);
  CHECK(devices.record().copies.back().stream == &queue);  // of the device that is written
  CHECK(devices.record().copies.back().from_stream == nullptr);
  set_current_stream(kSecond, nullptr);
  CHECK_THROWS_AS(set_current_stream(kCpu, &queue), TensorError);
}

TEST_CASE("a kernel's fault is raised by the next synchronisation, once, and the device stays usable") {
  fake::Devices devices;
  const Tensor x = to_device(numbers({4}), kFirst);
  launch_on(kFirst).errors->kind = ErrorWord::Index;
  const Tensor y = x + 1.0;  // nobody looks
  CHECK_THROWS_WITH_AS(to_device(y, kCpu), "index 0 is out of bounds for dimension 0 with size 0", TensorError);
  CHECK(same(y, numbers({4}) + 1.0));
  *launch_on(kFirst).errors = {ErrorWord::Target, 0, 9, 3};
  synchronize(kSecond);  // not its fault
  CHECK_THROWS_WITH_AS(synchronize(kFirst), "Target 9 is out of bounds.", TensorError);
  synchronize(kFirst);
}

TEST_CASE("each device has a generator that the host counts on") {
  fake::Devices devices;
  Context context;
  DeviceGenerator& first = context.generator(kFirst);
  CHECK(&first == &context.generator(kFirst));
  CHECK(&first != &context.generator(kSecond));
  first.manual_seed(7);
  CHECK(first.take(5).offset == 0);
  CHECK(first.take(4).offset == 8);  // a thread's words come in fours
  CHECK(first.state().seed == 7);
  CHECK(first.state().offset == 12);
  CHECK(context.generator(kSecond).initial_seed() == DeviceGenerator::kDefaultSeed);
  CHECK_THROWS_AS(context.generator(kCpu), TensorError);
}

TEST_CASE("a slot that a device lacks says so") {
  fake::Devices devices;
  along_kernel.set(DeviceType::Cuda, nullptr);
  const Tensor x = to_device(numbers({4}), kFirst);
  CHECK_THROWS_WITH_AS(cumsum(x, 0), "Could not run 'aten::cumsum' with arguments from the 'CUDA' backend.",
                       TensorError);
}

// A backend that answers otherwise, and the ops that do otherwise then.
TEST_CASE("what a device can do, and how it refuses, its backend says") {
  const Device place(DeviceType::Ref, 0);
  DeviceBackend table = kHostBackend;
  register_device_backend(place.type, &table);
  const auto refusal = [&](const Tensor& t, auto op) {
    try {
      const Tensor there = to_device(t, place);
      op(there);
    } catch (const TensorError& error) {
      return error.message();
    }
    return std::string();
  };
  const auto sorted = [&] {
    return refusal(zeros(Dims{2}, kComplex64), [](const Tensor& t) { argsort(t, 0, false); });
  };
  const auto squared = [&] { return refusal(zeros(Dims{2, 2}, kInt64), [](const Tensor& t) { matmul(t, t); }); };
  CHECK(accelerator() == DeviceType::Cuda);  // the first that a plugin could bring
  CHECK(sorted() == " Sort does not support complex dtypes on CPU");
  CHECK(squared() == "Could not run 'aten::mm' with arguments from the 'Ref' backend.");
  CHECK(class_text(kFloat32, place) == "torch.FloatTensor");
  CHECK(refusal(zeros(Dims{2}, kFloat32), [&](const Tensor&) { set_current_stream(place, nullptr); }) ==
        "device ref:0 has no streams");

  table.traits = {.has_streams = true, .has_generators = true, .words = Words::Cuda, .products = kFloatTypes};
  CHECK(accelerator() == place.type);
  CHECK(sorted() == "Sort currently does not support complex dtypes on CUDA.");
  CHECK(squared() == "\"addmm_cuda\" not implemented for 'Long'");
  CHECK(class_text(kFloat32, place) == "torch.ref.FloatTensor");
  CHECK(class_text(DType::BFloat16, place) == "RefBFloat16Type");
  int queue;
  set_current_stream(place, &queue);
  CHECK(current_stream(place) == &queue);
  set_current_stream(place, nullptr);
  Context context;
  CHECK(context.generator(place).initial_seed() == DeviceGenerator::kDefaultSeed);
  register_device_backend(place.type, nullptr);
}

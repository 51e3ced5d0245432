// Context: defaults from the environment, warnings, cancellation.
#include "runtime/context.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "runtime/device/generator.h"
#include "runtime/device/traits.h"
#include "runtime/error.h"
#include "runtime/fuse/launch_queue.h"
#include "runtime/random.h"

namespace tessera::tensor {

int64_t fuses_from_setting(int64_t setting) {
  return setting <= 0 ? Context::kNever : setting == 1 ? Context::kFuses : setting;
}

int64_t fuses_from_environment() {
  const char* const value = std::getenv("TSR_FUSE");
  return fuses_from_setting(value != nullptr ? std::atoi(value) : 1);
}

bool generates_code_environment() {
  const char* const value = std::getenv("TSR_JIT");
  return value == nullptr || std::atoi(value) != 0;
}

namespace {

int threads_from_environment() {
  for (const char* name : {"TSR_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"})  // PyTorch's own order, ours before
    if (const char* value = std::getenv(name))
      if (int n = std::atoi(value); n > 0) return n;
  unsigned cores = std::thread::hardware_concurrency();
  return cores ? int(cores) : 1;
}

}  // namespace

Context::Context() : threads(threads_from_environment()), account(Account::create()) {}

Context::~Context() {
  launch_queue_.reset();
  account->close();
  for (const auto& [device, of_device] : device_accounts_) of_device->close();
}

LaunchQueue& Context::launch_queue() {
  if (!launch_queue_) launch_queue_ = std::make_unique<LaunchQueue>(*this);
  return *launch_queue_;
}

Account& Context::account_of(Device device) {
  if (device.is_cpu()) return *account;
  for (const auto& [known, of_device] : device_accounts_)
    if (known == device) return *of_device;
  Account* const made = device_accounts_.emplace_back(device, Account::create()).second;
  made->set_limit(device_limit);
  return *made;
}

Context& Context::make_default() {
  // Per thread, so that pure C++ programs need no set-up and threads do not share a generator by accident.
  thread_local std::unique_ptr<Context> own = std::make_unique<Context>();
  current_ = own.get();
  return *own;
}

Generator& Context::generator() {
  if (!generator_) generator_ = make_counted<Generator>();
  return static_cast<Generator&>(*generator_);
}

DeviceGenerator& Context::generator(Device device) {
  check(has_generators(device) && device.index >= 0, TensorErrorKind::Runtime, "device ", device.str(),
        " has no generator of its own");
  const size_t index = size_t(device.index);
  if (index >= device_generators_.size()) device_generators_.resize(index + 1);
  if (!device_generators_[index]) device_generators_[index] = make_counted<DeviceGenerator>(generator().initial_seed());
  return static_cast<DeviceGenerator&>(*device_generators_[index]);
}

void Context::throw_cancelled() { throw TensorError(TensorErrorKind::Cancelled, ""); }

void Context::warn(const std::string& message) {
  if (warning_sink) warning_sink(message);
  else std::fprintf(stderr, "UserWarning: %s\n", message.c_str());
}

}  // namespace tessera::tensor

// Kernel slots: how the runtime reaches the code that touches data.
//
// A slot is named like the op family that it serves and has one function pointer per device type; the call struct is its
// whole interface. Rules of a call struct:
//   1. Its last member is `Launch launch`: device, stream and error word, filled in by the slot.
//   2. Numbers travel by value. A pointer is device memory, or (sizes, strides) host memory that the kernel's host side
//      reads before it returns; nothing that runs on the device follows it.
//   3. Nothing is answered through it: results are tensors, faults go to the error word (or are thrown, on the CPU).
// A backend fills slots while it loads (KernelRegistration); a plugin brings a list of functions by name (plugin.h).
// Calling an empty slot raises PyTorch's NotImplementedError, never a silent copy. On device meta every slot does nothing.
#pragma once

#include <cstddef>
#include <string_view>

#include "runtime/device/stream.h"
#include "runtime/fuse/pending.h"

namespace tessera::tensor {

[[noreturn]] void fail_no_kernel(const char* family, DeviceType type);

/// Which backends have to fill a slot; whether they do is tested.
enum class ServedBy : uint8_t { All, Host, Devices };

/// What can be said of a slot without its call's type. All slots form one list, which they enter with their first kernel.
class KernelSlot {
 public:
  using AnyFunction = void (*)();  // a void(const Call&) in disguise

  const char* name() const { return name_; }
  virtual bool has(DeviceType type) const = 0;
  /// Whether the device computes it: a kernel of device meta does nothing.
  bool computes_on(Device device) const { return !device.is_meta() && has(device.type); }
  ServedBy served_by() const { return served_by_; }
  virtual size_t call_size() const = 0;  // a plugin's idea of the call struct must have it too
  virtual void fill(DeviceType type, AnyFunction function) = 0;

  static KernelSlot* first();
  KernelSlot* next() const { return next_; }
  /// Null when no slot has the name.
  static KernelSlot* find(std::string_view name);

 protected:
  constexpr KernelSlot(const char* name, ServedBy served_by) : name_(name), served_by_(served_by) {}
  ~KernelSlot() = default;
  void enter_list();

 private:
  const char* name_;
  KernelSlot* next_ = nullptr;
  bool listed_ = false;
  ServedBy served_by_;
};

/// A slot: constant-initialised, so that registrations in any order of files find it ready.
template <class Call>
class Kernel final : public KernelSlot {
 public:
  using Function = void (*)(const Call&);

  constexpr explicit Kernel(const char* name, ServedBy served_by = ServedBy::All) : KernelSlot(name, served_by) {
    functions_[int(DeviceType::Meta)] = [](const Call&) {};
  }

  void operator()(Device device, const Call& call) const {
    if (PendingLaunches::any()) [[unlikely]]
      PendingLaunches::flush();  // they may read what this one writes
    const Function function = functions_[int(device.type)];
    if (function == nullptr) [[unlikely]]
      fail_no_kernel(name(), device.type);
    if (!device.is_cpu()) [[unlikely]] {
      Call placed = call;
      placed.launch = launch_on(device, name());
      function(placed);
      if (launches_wait()) [[unlikely]]
        wait_for_launch(device);
      return;
    }
    function(call);
  }

  bool has(DeviceType type) const override { return functions_[int(type)] != nullptr; }
  size_t call_size() const override { return sizeof(Call); }
  void fill(DeviceType type, AnyFunction function) override { set(type, reinterpret_cast<Function>(function)); }
  Function get(DeviceType type) const { return functions_[int(type)]; }
  void set(DeviceType type, Function function) {
    functions_[int(type)] = function;
    enter_list();
  }

 private:
  Function functions_[kDeviceTypeCount] = {};
};

template <class Call>
struct KernelRegistration {
  KernelRegistration(Kernel<Call>& slot, DeviceType type, void (*function)(const Call&)) { slot.set(type, function); }
  /// Of a slot that the CPU does not fill: it is known from its first kernel on.
  explicit KernelRegistration(Kernel<Call>& slot) {
    slot.set(DeviceType::Meta, [](const Call&) {});
  }
};

}  // namespace tessera::tensor

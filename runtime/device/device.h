// Where a tensor lives. Kinds are a small fixed list; what each can do is in runtime/device/backend.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera::tensor {

enum class DeviceType : uint8_t { Cpu, Cuda, Mps, Meta, Ref };
inline constexpr int kDeviceTypeCount = 5;

struct Device {
  DeviceType type = DeviceType::Cpu;
  int8_t index = -1;  // -1: the current device of that type

  constexpr Device() = default;
  constexpr Device(DeviceType t, int i = -1) : type(t), index(int8_t(i)) {}

  bool is_cpu() const { return type == DeviceType::Cpu; }
  bool is_cuda() const { return type == DeviceType::Cuda; }
  bool is_meta() const { return type == DeviceType::Meta; }
  friend bool operator==(Device a, Device b) = default;

  /// "cpu", "cuda:0".
  std::string str() const;
  /// Reads "cuda:1"; throws PyTorch's RuntimeError for anything else.
  static Device parse(std::string_view text);
};

const char* name(DeviceType type);
/// "CPU", "CUDA": the name of a type's backend in PyTorch's messages.
const char* backend_name(DeviceType type);
inline constexpr Device kCpu{};

}  // namespace tessera::tensor

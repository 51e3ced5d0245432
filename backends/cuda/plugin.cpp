// The plugin's entry, what devices there are, and how errors of CUDA become the program's.
#include <mutex>
#include <string>

#include "backends/cuda/cuda.h"
#include "tessera_interface.h"

namespace tessera::tensor {

// What runtime/core.cpp says in the program: the numbers of a call were checked there, so that this is never reached.
void refuse_number(DType) {
  cuda::fail_with(TensorErrorKind::Runtime, "value cannot be converted to the kernel's type without overflow");
}

}  // namespace tessera::tensor

namespace tessera::tensor::cuda {

const PluginHost* host = nullptr;

const PluginKernel*& kernel_list() {
  static const PluginKernel* list = nullptr;
  return list;
}

void fail_with(TensorErrorKind kind, const char* message, const char* notes) {
  host->fail(kind, message, notes);
  __builtin_unreachable();
}

void check_call(cudaError_t result) {
  if (result == cudaSuccess) return;
  cudaGetLastError();  // an error that is not sticky must not show up again at the next check
  std::string message = std::string("CUDA error: ") + cudaGetErrorString(result);
  if (result == cudaErrorMemoryAllocation) fail_with(TensorErrorKind::OutOfMemory, "CUDA out of memory.");
  fail_with(TensorErrorKind::Runtime, message.c_str());
}

namespace {

// What there is, asked once: devices do not come and go while a program runs.
struct Devices {
  int count = 0;
  std::string why_none;

  Devices() {
    const cudaError_t result = cudaGetDeviceCount(&count);
    if (result == cudaSuccess && count > 0) {
      if (count > kMaxDevices) count = kMaxDevices;
      return;
    }
    cudaGetLastError();
    count = 0;
    int driver = 0;
    if (cudaDriverGetVersion(&driver) != cudaSuccess) cudaGetLastError();
    if (driver == 0)
      why_none =
          "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver from "
          "http://www.nvidia.com/Download/index.aspx";
    else if (result == cudaErrorInsufficientDriver)
      why_none = "The NVIDIA driver on your system is too old (found version " + std::to_string(driver) +
                 "). Please update your GPU driver by downloading and installing a new version from the URL: "
                 "http://www.nvidia.com/Download/index.aspx";
    else if (result == cudaErrorNoDevice || result == cudaSuccess) why_none = "No CUDA GPUs are available";
    else
      why_none = std::string("Unexpected error from cudaGetDeviceCount(). Error ") + std::to_string(int(result)) +
                 ": " + cudaGetErrorString(result);
  }
};

const Devices& devices() {
  static const Devices found;
  return found;
}

int device_count() { return devices().count; }
const char* why_none() { return devices().why_none.c_str(); }

void properties(Device device, DeviceProperties& out) {
  cudaDeviceProp found;
  check_call(cudaGetDeviceProperties(&found, index_of(device)));
  static_assert(sizeof found.name == sizeof out.name);
  __builtin_memcpy(out.name, found.name, sizeof out.name);
  out.total_memory = found.totalGlobalMem;
  out.major = found.major;
  out.minor = found.minor;
  out.multiprocessors = found.multiProcessorCount;
}

DeviceBackend make_table() {
  DeviceBackend table{};
  table.name = "cuda";
  table.device_count = device_count;
  table.why_none = why_none;
  table.properties = properties;
  fill_memory(table);
  fill_streams(table);
  return table;
}

}  // namespace
}  // namespace tessera::tensor::cuda

extern "C" __attribute__((visibility("default"))) const tessera::tensor::Plugin* tessera_plugin(
    const tessera::tensor::PluginHost& host) {
  using namespace tessera::tensor;
  if (host.interface != TESSERA_INTERFACE) return nullptr;
  static const PluginHost kept = host;
  cuda::host = &kept;
  static const DeviceBackend table = cuda::make_table();
  static const Plugin plugin = {TESSERA_INTERFACE, &table, cuda::kernel_list()};
  return &plugin;
}

// The plugin's entry, what devices there are, and how errors of CUDA become the program's.
#include <cstdlib>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

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

namespace {

// After one of these nothing that the process asks of the device goes well any more.
bool is_lasting(cudaError_t error) {
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchTimeout:
    case cudaErrorECCUncorrectable: return true;
    default: return false;
  }
}

// The second line of PyTorch's message.
std::string help_for(cudaError_t error) {
  if (error == cudaErrorInvalidDevice) return "\nGPU device may be out of range, do you have enough GPUs?";
  return std::string("\nSearch for `") + cudaGetErrorName(error) +
         "' in https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html for more information.";
}

const char* notes_for(cudaError_t error) {
  if (is_lasting(error))
    return "the device is lost to this process: save what is on the host and start it again\n"
           "kernels run later than the line that launches them: TESSERA_SYNC=1 shows which one it was";
  if (error == cudaErrorStreamCaptureUnsupported)
    return "what a graph captures has not run yet: item(), printing and copies to the host belong behind replay()";
  return nullptr;
}

}  // namespace

void check_call(cudaError_t result) {
  if (result == cudaSuccess) return;
  cudaGetLastError();  // an error that is not sticky must not show up again at the next check
  if (result == cudaErrorMemoryAllocation) fail_with(TensorErrorKind::OutOfMemory, "CUDA out of memory.");
  const std::string message = std::string("CUDA error: ") + cudaGetErrorString(result) + help_for(result);
  host->fail_device(int(result), message.c_str(), notes_for(result));
  __builtin_unreachable();
}

namespace {

#ifndef TESSERA_CUDA_ARCHITECTURES  // as CMake writes them: code and PTX, "-real" code alone, "-virtual" PTX alone
#define TESSERA_CUDA_ARCHITECTURES "75-real,80-real,80-virtual,90-real,100-real"
#endif

// What the kernels were built for.
struct Architectures {
  std::string list;  // as torch.cuda.get_arch_list has them
  std::vector<int> code, ptx;

  Architectures() {
    std::istringstream given(TESSERA_CUDA_ARCHITECTURES);
    std::string virtual_ones;
    for (std::string one; std::getline(given, one, ',');) {
      const int number = std::atoi(one.c_str());
      if (number == 0) continue;
      if (one.find("-virtual") == one.npos) code.push_back(number), list += "sm_" + std::to_string(number) + " ";
      if (one.find("-real") == one.npos)
        ptx.push_back(number), virtual_ones += "compute_" + std::to_string(number) + " ";
    }
    list += virtual_ones;
    if (!list.empty()) list.pop_back();
  }
  // Code runs on its own major version from its minor one on, PTX on everything that is newer.
  bool fit(int major, int minor) const {
    const int device = major * 10 + minor;
    for (const int built : code)
      if (built / 10 == major && built <= device) return true;
    for (const int built : ptx)
      if (built <= device) return true;
    return false;
  }
};
const Architectures& architectures() {
  static const Architectures built;
  return built;
}

std::string no_driver_text(cudaError_t result, int driver) {
  if (driver == 0)
    return "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver from "
           "http://www.nvidia.com/Download/index.aspx";
  if (result == cudaErrorInsufficientDriver) {
    int needed = 0;
    cudaRuntimeGetVersion(&needed);
    return "The NVIDIA driver on your system is too old (found version " + std::to_string(driver) +
           "). Please update your GPU driver by downloading and installing a new version from the URL: "
           "http://www.nvidia.com/Download/index.aspx (version " +
           std::to_string(needed) + " is needed)";
  }
  if (result == cudaErrorNoDevice || result == cudaSuccess) return "No CUDA GPUs are available";
  return "Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that "
         "might have already set an error? Error " +
         std::to_string(int(result)) + ": " + cudaGetErrorString(result);
}

// What there is, asked once: devices do not come and go while a program runs. A machine whose GPUs are all older than the
// kernels has none.
struct Devices {
  int count = 0;
  std::string why_none;

  Devices() {
    const cudaError_t result = cudaGetDeviceCount(&count);
    if (result != cudaSuccess || count <= 0) {
      cudaGetLastError();
      count = 0;
      int driver = 0;
      if (cudaDriverGetVersion(&driver) != cudaSuccess) cudaGetLastError();
      why_none = no_driver_text(result, driver);
      return;
    }
    if (count > kMaxDevices) count = kMaxDevices;
    for (int device = 0; device < count; device++) {
      cudaDeviceProp found;
      if (cudaGetDeviceProperties(&found, device) != cudaSuccess) cudaGetLastError();
      else if (architectures().fit(found.major, found.minor)) return;
      else if (why_none.empty())
        why_none =
            std::string(found.name) + " with CUDA capability sm_" + std::to_string(found.major * 10 + found.minor) +
            " is not compatible with the current PyTorch installation. The current PyTorch install supports CUDA "
            "capabilities " +
            architectures().list + ".";
    }
    count = 0;
    if (why_none.empty()) why_none = "No CUDA GPUs are available";
  }
};

const Devices& devices() {
  static const Devices found;
  return found;
}

int device_count() { return devices().count; }
const char* why_none() { return devices().why_none.c_str(); }

int attribute(cudaDeviceAttr which, Device device) {
  int value = 0;
  check_call(cudaDeviceGetAttribute(&value, which, index_of(device)));
  return value;
}

void properties(Device device, DeviceProperties& out) {
  cudaDeviceProp found;
  check_call(cudaGetDeviceProperties(&found, index_of(device)));
  static_assert(sizeof found.name == sizeof out.name && sizeof found.uuid == sizeof out.uuid);
  __builtin_memcpy(out.name, found.name, sizeof out.name);
  __builtin_memcpy(out.uuid, &found.uuid, sizeof out.uuid);
  out.total_memory = found.totalGlobalMem;
  out.major = found.major;
  out.minor = found.minor;
  out.multiprocessors = found.multiProcessorCount;
  out.warp_size = found.warpSize;
  out.threads_per_block = attribute(cudaDevAttrMaxThreadsPerBlock, device);
  out.threads_per_multiprocessor = found.maxThreadsPerMultiProcessor;
  out.registers_per_multiprocessor = found.regsPerMultiprocessor;
  out.shared_per_block = found.sharedMemPerBlock;
  out.shared_per_block_optin = found.sharedMemPerBlockOptin;
  out.shared_per_multiprocessor = found.sharedMemPerMultiprocessor;
  out.l2_bytes = size_t(found.l2CacheSize);
  out.clock_khz = attribute(cudaDevAttrClockRate, device);
  out.memory_clock_khz = attribute(cudaDevAttrMemoryClockRate, device);
  out.memory_bus_bits = attribute(cudaDevAttrGlobalMemoryBusWidth, device);
  out.pci_bus = found.pciBusID;
  out.pci_device = found.pciDeviceID;
  out.pci_domain = found.pciDomainID;
  out.integrated = found.integrated != 0;
  out.multi_gpu_board = found.isMultiGpuBoard != 0;
}

int driver_version() {
  int version = 0;
  if (cudaDriverGetVersion(&version) != cudaSuccess) cudaGetLastError();
  return version;
}
int runtime_version() {
  int version = 0;
  if (cudaRuntimeGetVersion(&version) != cudaSuccess) cudaGetLastError();
  return version;
}

DeviceBackend make_table() {
  DeviceBackend table{};
  table.name = "cuda";
  table.traits = {.has_streams = true,
                  .has_generators = true,
                  .solves_deficient = false,
                  .autocasts_as_cuda = true,
                  .words = Words::Cuda,
                  .products = kFloatTypes | kComplexTypes};
  table.no_such_index = "CUDA error: invalid device ordinal\nGPU device may be out of range, do you have enough GPUs?";
  table.device_count = device_count;
  table.why_none = why_none;
  table.properties = properties;
  table.driver_version = driver_version;
  table.runtime_version = runtime_version;
  table.arch_list = [] { return architectures().list.c_str(); };
  fill_memory(table);
  fill_streams(table);
  fill_graphs(table);
  fill_marks(table);
  return table;
}

}  // namespace
}  // namespace tessera::tensor::cuda

extern "C" __attribute__((visibility("default"))) const tessera::tensor::Plugin* tessera_plugin(
    const tessera::tensor::PluginHost& host) {
  using namespace tessera::tensor;
  if (host.interface != interface_number()) return nullptr;
  static const PluginHost kept = host;
  cuda::host = &kept;
  static const DeviceBackend table = cuda::make_table();
  static const Plugin plugin = {interface_number(), &table, cuda::kernel_list()};
  return &plugin;
}

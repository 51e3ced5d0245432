// What the API says of devices and errors, and the counters.
#include <cstdio>

#include "executor.h"

namespace tessera_executor {
namespace {

thread_local cudaError_t last_error = cudaSuccess;  // per thread: as in CUDA

}  // namespace

cudaError_t remember(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) last_error = error;
  return error;
}
void set_launch_error(cudaError_t error) { remember(error); }

}  // namespace tessera_executor

using namespace tessera_executor;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 0;
  if (cudaError_t fault = asked_fault("cudaGetDeviceCount")) return remember(fault);
  *count = options().devices;
  return *count == 0 ? remember(cudaErrorNoDevice) : cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = options().driver;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* out, int device) {
  *out = {};
  if (cudaError_t fault = asked_fault("cudaGetDeviceProperties")) return remember(fault);
  if (device < 0 || device >= options().devices) return remember(cudaErrorInvalidDevice);
  std::snprintf(out->name, sizeof out->name, "Host executor %d", device);
  for (int k = 0; k < 16; k++) out->uuid.bytes[k] = char(device * 16 + k);
  out->totalGlobalMem = options().memory;
  out->sharedMemPerBlock = 48 << 10;
  out->sharedMemPerBlockOptin = 227 << 10;
  out->sharedMemPerMultiprocessor = 228 << 10;
  out->regsPerBlock = out->regsPerMultiprocessor = 65536;
  out->warpSize = 32;
  out->major = options().capability / 10;
  out->minor = options().capability % 10;
  out->multiProcessorCount = 4;  // few, so that grids that stride are seen to
  out->maxThreadsPerMultiProcessor = 2048;
  out->l2CacheSize = 1 << 20;
  out->pciBusID = device;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp p;
  if (cudaError_t failed = cudaGetDeviceProperties(&p, device)) return failed;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = 1024; return cudaSuccess;
    case cudaDevAttrClockRate: *value = 1000000; return cudaSuccess;
    case cudaDevAttrMemoryClockRate: *value = 2000000; return cudaSuccess;
    case cudaDevAttrGlobalMemoryBusWidth: *value = 64; return cudaSuccess;
    case cudaDevAttrMultiProcessorCount: *value = p.multiProcessorCount; return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor: *value = p.major; return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor: *value = p.minor; return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = int(p.sharedMemPerBlockOptin); return cudaSuccess;
  }
  return remember(cudaErrorInvalidValue);
}
cudaError_t cudaDeviceGetPCIBusId(char* out, int length, int device) {
  std::snprintf(out, size_t(length), "0000:%02x:00.0", device);
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  *can = 0;
  if (cudaError_t fault = asked_fault("cudaDeviceCanAccessPeer")) return remember(fault);
  *can = device != peer;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return remember(asked_fault("cudaDeviceEnablePeerAccess")); }

cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}
cudaError_t cudaPeekAtLastError() { return last_error; }

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidConfiguration: return "invalid configuration argument";
    case cudaErrorInsufficientDriver: return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorNoDevice: return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice: return "invalid device ordinal";
    case cudaErrorNoKernelImageForDevice: return "no kernel image is available for execution on the device";
    case cudaErrorECCUncorrectable: return "uncorrectable ECC error encountered";
    case cudaErrorInvalidResourceHandle: return "invalid resource handle";
    case cudaErrorNotReady: return "device not ready";
    case cudaErrorIllegalAddress: return "an illegal memory access was encountered";
    case cudaErrorLaunchFailure: return "unspecified launch failure";
    case cudaErrorNotSupported: return "operation not supported";
    case cudaErrorStreamCaptureUnsupported: return "operation not permitted when stream is capturing";
    case cudaErrorStreamCaptureInvalidated: return "operation failed due to a previous error during capture";
    default: return "unknown error";
  }
}
const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorIllegalAddress: return "cudaErrorIllegalAddress";
    case cudaErrorStreamCaptureUnsupported: return "cudaErrorStreamCaptureUnsupported";
    case cudaErrorStreamCaptureInvalidated: return "cudaErrorStreamCaptureInvalidated";
    default: return "cudaErrorUnknown";
  }
}

}  // extern "C"

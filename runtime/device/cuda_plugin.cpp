#include "runtime/device/cuda_plugin.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>

#include "runtime/device/plugin.h"

namespace tessera::tensor {
namespace {

constexpr const char* kFileName = "libtessera_cuda.so";

std::string program_folder() {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  if (n <= 0) return ".";
  const std::string whole(path, size_t(n));
  return whole.substr(0, whole.rfind('/'));
}

void throw_for_plugin(TensorErrorKind kind, const char* message) { throw TensorError(kind, message); }

struct Opened {
  const DeviceBackend* backend = nullptr;
  std::string why;
};

void* open_library(std::string& why) {
  std::string places[4];
  if (const char* named = std::getenv("TESSERA_CUDA_PLUGIN"); named != nullptr && *named != 0) {
    places[0] = named;
  } else {
    const std::string folder = program_folder();
    places[0] = folder + "/" + kFileName;
    places[1] = folder + "/../lib/" + kFileName;
    places[2] = kFileName;
  }
  for (const std::string& place : places) {
    if (place.empty()) continue;
    if (void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    why += (why.empty() ? "" : "; ") + std::string(dlerror());
  }
  return nullptr;
}

Opened open_plugin() {
  Opened opened;
  void* library = open_library(opened.why);
  if (library == nullptr) return opened;
  const auto entry = reinterpret_cast<PluginEntry>(dlsym(library, kPluginEntryName));
  const PluginHost host = {kPluginVersion, throw_for_plugin, &pointwise_kernel, &copy_kernel,
                           &fill_kernel,   &range_kernel,    &reduce_kernel,    &gemm_kernel};
  opened.backend = entry == nullptr ? nullptr : entry(host);
  if (opened.backend == nullptr) opened.why = "the plugin belongs to another version of Tessera";
  return opened;
}

}  // namespace

const DeviceBackend* cuda_plugin(std::string* why) {
  // A process service: opened once, by whichever interpreter asks first, and never closed.
  static const Opened opened = open_plugin();
  if (why != nullptr) *why = opened.why;
  return opened.backend;
}

}  // namespace tessera::tensor

// compile: small (runs once)
#include "runtime/device/cuda_plugin.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <sstream>

#include "runtime/device/accelerator_error.h"
#include "runtime/device/plugin.h"
#include "tessera_interface.h"

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

void add_notes(TensorError& error, const char* notes) {
  if (notes == nullptr) return;
  std::istringstream lines(notes);
  for (std::string line; std::getline(lines, line);) error.add_note(line);
}
void throw_for_plugin(TensorErrorKind kind, const char* message, const char* notes) {
  TensorError error(kind, message);
  add_notes(error, notes);
  throw error;
}
void throw_for_device(int code, const char* message, const char* notes) {
  AcceleratorError error(code, message);
  add_notes(error, notes);
  throw error;
}

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
  const PluginHost host = {TESSERA_INTERFACE, throw_for_plugin, throw_for_device};
  opened.backend = take_plugin(entry == nullptr ? nullptr : entry(host), host.interface, DeviceType::Cuda, opened.why);
  return opened;
}

}  // namespace

const DeviceBackend* take_plugin(const Plugin* plugin, uint64_t interface, DeviceType type, std::string& why) {
  if (plugin == nullptr || plugin->interface != interface) {
    why = "the plugin was built from another version of Tessera (build the target `plugins` again)";
    return nullptr;
  }
  for (const PluginKernel* k = plugin->kernels; k != nullptr; k = k->next) {
    const KernelSlot* slot = KernelSlot::find(k->slot);
    if (slot != nullptr && slot->call_size() == k->call_size) continue;
    why = text("the plugin's kernel '", k->slot,
               slot == nullptr ? "' has no slot in this program" : "' takes another call than the program's");
    return nullptr;
  }
  for (const PluginKernel* k = plugin->kernels; k != nullptr; k = k->next)
    KernelSlot::find(k->slot)->fill(type, k->function);
  return plugin->backend;
}

const DeviceBackend* cuda_plugin(std::string* why) {
  // A process service: opened once, by whichever interpreter asks first, and never closed.
  static const Opened opened = open_plugin();
  if (why != nullptr) *why = opened.why;
  return opened.backend;
}

}  // namespace tessera::tensor

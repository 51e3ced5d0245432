// compile: small (runs once)
#include "runtime/device/plugin_loader.h"

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

// A device type whose backend is a file of its own, and PyTorch's error where a build has none.
struct PluginFile {
  DeviceType type;
  const char *name, *variable;  // null: there is no such plugin yet
  TensorErrorKind kind;
  const char* missing;
};
constexpr PluginFile kPlugins[] = {
    {DeviceType::Cuda, "libtessera_cuda.so", "TESSERA_CUDA_PLUGIN", TensorErrorKind::Assertion,
     "Torch not compiled with CUDA enabled"},
    {DeviceType::Mps, nullptr, nullptr, TensorErrorKind::Runtime, "PyTorch is not linked with support for mps devices"},
};

const PluginFile* plugin_of(DeviceType type) {
  for (const PluginFile& plugin : kPlugins)
    if (plugin.type == type) return &plugin;
  return nullptr;
}

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

void* open_library(const PluginFile& plugin, std::string& why) {
  std::string places[3];
  if (const char* named = std::getenv(plugin.variable); named != nullptr && *named != 0) {
    places[0] = named;
  } else {
    const std::string folder = program_folder();
    places[0] = folder + "/" + plugin.name;
    places[1] = folder + "/../lib/" + plugin.name;
    places[2] = plugin.name;
  }
  for (const std::string& place : places) {
    if (place.empty()) continue;
    if (void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    why += (why.empty() ? "" : "; ") + std::string(dlerror());
  }
  return nullptr;
}

Opened open_plugin(const PluginFile& plugin) {
  Opened opened;
  void* library = open_library(plugin, opened.why);
  if (library == nullptr) return opened;
  const auto entry = reinterpret_cast<PluginEntry>(dlsym(library, kPluginEntryName));
  const PluginHost host = {interface_number(), throw_for_plugin, throw_for_device};
  opened.backend = take_plugin(entry == nullptr ? nullptr : entry(host), host.interface, plugin.type, opened.why);
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

DeviceType first_plugin_type() { return kPlugins[0].type; }

const DeviceBackend* plugin_backend(DeviceType type, std::string* why) {
  // A process service: each opened once, by whichever interpreter asks first, and never closed.
  struct Service {
    std::once_flag once;
    Opened opened;
  };
  static Service services[std::size(kPlugins)];
  const PluginFile* plugin = plugin_of(type);
  if (plugin == nullptr || plugin->name == nullptr) return nullptr;
  Service& service = services[plugin - kPlugins];
  std::call_once(service.once, [&] { service.opened = open_plugin(*plugin); });
  if (why != nullptr) *why = service.opened.why;
  return service.opened.backend;
}

void fail_no_backend(DeviceType type) {
  const PluginFile* plugin = plugin_of(type);
  if (plugin == nullptr) fail_no_kernel("empty.memory_format", type);
  std::string why;
  plugin_backend(type, &why);
  TensorError error(plugin->kind, plugin->missing);
  if (!why.empty()) error.add_note(text("no ", backend_name(type), " plugin: ", why));
  throw error;
}

}  // namespace tessera::tensor

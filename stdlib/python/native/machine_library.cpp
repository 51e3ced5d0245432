#include "stdlib/python/native/machine_library.h"

#include <dlfcn.h>

namespace tessera::stdlib {

MachineLibrary::MachineLibrary(std::initializer_list<const char*> names) {
  for (const char* const name : names)
    if (handle_ == nullptr) handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

void* MachineLibrary::symbol(const char* name) {
  if (handle_ == nullptr) return nullptr;  // dlsym would look in the program itself
  void* const found = dlsym(handle_, name);
  if (found == nullptr) missing_ = name;
  return found;
}

}  // namespace tessera::stdlib

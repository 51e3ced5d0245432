#include "backends/cuda/library.h"

#include <cuda_runtime.h>
#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace tessera::tensor::cuda {
namespace {

#ifdef TESSERA_EXECUTOR  // which has a stand-in for each library
void* open(const std::string& file) { return tessera_executor::find_library(file.c_str()); }
void* find_in(void* library, const char* name) { return tessera_executor::find_function(library, name); }
#else
void* open(const std::string& file) { return dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL); }
void* find_in(void* library, const char* name) { return dlsym(library, name); }
#endif

// Where the system looks (LD_LIBRARY_PATH, ld.so.conf), then where the toolkit puts itself. Only the version whose header
// this was built with: another one's functions may take other arguments.
std::vector<std::string> places_of(const std::string& file) {
  std::vector<std::string> places{file};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = std::getenv(variable)) places.push_back(std::string(home) + "/lib64/" + file);
  places.push_back("/usr/local/cuda/lib64/" + file);
  return places;
}

// Null, and why, where there is none.
void* open_anywhere(const char* file, int major, std::string& why) {
  const std::string versioned = std::string(file) + "." + std::to_string(major);
  std::string tried;
  for (const std::string& place : places_of(versioned)) {
    if (void* opened = open(place)) return opened;
    tried += (tried.empty() ? "" : ", ") + place;
  }
  why = versioned + " could not be opened (tried " + tried +
        "): install the CUDA toolkit's library, or name its folder in LD_LIBRARY_PATH";
  return nullptr;
}

}  // namespace

Library::Library(const char* name, const char* file, int major) : name_(name), file_(file) {
  std::string why;
  handle_ = open_anywhere(file, major, why);
  if (handle_ == nullptr)
    fail_with(TensorErrorKind::Runtime, (std::string("this operation needs ") + name + ", and " + why).c_str());
}

std::string Library::why_missing(const char* file, int major) {
  std::string why;
  open_anywhere(file, major, why);
  return why;
}

void* Library::find(const char* function) const {
  if (void* found = find_in(handle_, function)) return found;
  fail_with(TensorErrorKind::Runtime,
            (std::string(name_) + " (" + file_ + ") has no function " + function + ": a newer one is needed").c_str());
}

void fail_library(const char* text, const char* function) {
  fail_with(TensorErrorKind::Runtime,
            (std::string("CUDA error: ") + text + " when calling `" + function + "`").c_str());
}

}  // namespace tessera::tensor::cuda

#include "libraries.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace tessera_executor {
namespace {

StandIn*& first() {
  static StandIn* list = nullptr;
  return list;
}

}  // namespace

StandIn::StandIn(const char* file, std::initializer_list<Function> functions)
    : file_(file), functions_(functions), next_(first()) {
  first() = this;
}

void* find_library(const char* path) {
  for (StandIn* s = first(); s != nullptr; s = s->next_)
    if (std::strncmp(path, s->file_, std::strlen(s->file_)) == 0 && options().without.count(s->file_) == 0) return s;
  return nullptr;
}

void* find_function(void* library, const char* name) {
  for (const StandIn::Function& f : static_cast<StandIn*>(library)->functions_)
    if (std::strcmp(f.name, name) == 0) return f.address;
  return nullptr;
}

bool allows_tf32() {
  static const char* const asked = std::getenv("NVIDIA_TF32_OVERRIDE");
  return asked == nullptr || std::strcmp(asked, "0") != 0;
}

float as_tf32(float x) {
  if (!std::isfinite(x)) return x;
  uint32_t bits = std::bit_cast<uint32_t>(x);
  bits += 0xfff + (bits >> 13 & 1);
  return std::bit_cast<float>(bits & ~0x1fffu);
}

void check_block(const char* library, const char* operand, const void* begin, size_t bytes, int device) {
  if (bytes == 0) return;
  const std::string which = std::string(library) + ": " + operand + " of " + std::to_string(bytes) + " bytes ";
  if (!is_device_address(begin)) violation(which + "is memory of the host");
  if (device_of(begin) != device)
    violation(which + "is memory of device " + std::to_string(device_of(begin)) + ", the call is for device " +
              std::to_string(device));
  if (const char* bad = first_bad_byte(begin, bytes)) violation(which + "reaches " + describe(bad));
}

}  // namespace tessera_executor

// Classes of the host's: instances carry one pointer.
#pragma once

#include "lang/core/interpreter.h"
#include "lang/core/object.h"
#include "lang/core/type.h"

namespace tessera::embed {

inline constexpr char kHostLayout[] = "host instance";

struct HostInstance : lang::GcObject {
  const void* tag = nullptr;
  void* pointer = nullptr;
  void* owner = nullptr;  // what keeps the object behind the pointer, for drop
  void (*drop)(void* owner) = nullptr;
};

inline bool is_host_instance(const lang::Value& value) noexcept { return lang::has_layout(value, kHostLayout); }

}  // namespace tessera::embed

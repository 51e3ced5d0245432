// The C++ stack of the calling thread, for code that recurses with its input.
#pragma once

#include <cstddef>

namespace tessera::lang {

// Bytes above the part that is kept for natives, which check_native_stack (lang/vm/vm.h) refuses to enter. SIZE_MAX if the system does not
// tell the bounds of the stack.
std::size_t native_stack_left();

}  // namespace tessera::lang

// The native part of `torch`: the module itself, `torch._C` and `torch._ops`.
#pragma once

#include <atomic>

#include "lang/core/interpreter.h"
#include "runtime/random.h"
#include "stdlib/namespaces.h"

namespace tessera::stdlib {

void add_torch_modules(Interpreter& in);

// What --device and --threads set. Throws Error where there is no such device.
void set_default_device(Interpreter& in, std::string_view device);
/// Waits for what a program launched, and raises what its kernels found wrong.
void wait_for_devices(Interpreter& in);
void set_tensor_threads(Interpreter& in, int threads);

// A seed from the system, or always the same for who may not ask it.
int64_t seed_anew(Interpreter& in, tensor::Generator& generator);

}  // namespace tessera::stdlib

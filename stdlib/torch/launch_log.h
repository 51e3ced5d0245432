// Which line of the script gave each of the last launches on a device: a kernel reports a fault when the program is further on.
#pragma once

#include "lang/objects/module.h"
#include "stdlib/torch/state.h"

namespace tessera::stdlib {

/// The Context notes launches from now on, for as long as the module lives.
void add_launch_log(Interpreter& in, Module& module);

}  // namespace tessera::stdlib

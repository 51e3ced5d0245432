// Which line of the script gave each of the last launches on a device: a kernel reports a fault when the program is further on.
#pragma once

#include "stdlib/torch/state.h"

namespace tessera::stdlib {

/// The interpreter's Context notes launches from now on.
void note_launches(Interpreter& in);
/// Whether anything was launched so far.
bool has_launched(Interpreter& in);

}  // namespace tessera::stdlib

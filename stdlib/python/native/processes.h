// What the natives of processes and of signals share.
#pragma once

#include <cerrno>

#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {

inline void require_processes(Interpreter& in) { require(in.limits.processes, "processes"); }
inline int small(Interpreter& in, const Value& v) { return static_cast<int>(int_argument(in, v)); }

// The answer of a system call that says -1 when it fails.
inline Value checked(Interpreter& in, int64_t answer) {
  if (answer < 0) throw_os_error(in, errno);
  return Value::integer(answer);
}

void add_signals(Interpreter& in, Module& module);

}  // namespace tessera::stdlib

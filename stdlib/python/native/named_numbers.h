// Tables of C's constants that modules show under C's names: fcntl, select, socket, termios.
#pragma once

#include <cstdint>
#include <span>

#include "stdlib/python/native/support.h"

namespace tessera::stdlib {

struct NamedNumber {
  const char* name;
  int64_t value;
};

#define TS_NUMBER(name) {#name, name}

inline void set_numbers(Interpreter& in, Module& module, std::span<const NamedNumber> numbers) {
  for (const NamedNumber& row : numbers) set_member(in, module, row.name, Value::integer(row.value));
}

}  // namespace tessera::stdlib

// Code objects as programs see them.
#pragma once

#include <cstdint>

namespace tessera::lang {

class Interpreter;
struct Code;
struct Type;

uint32_t first_line(const Code* code) noexcept;  // co_firstlineno

void set_code_slots(Type* type);
void fill_code(Interpreter& in, Type* type);

}  // namespace tessera::lang

// Code objects as programs see them.
#pragma once

namespace tessera::lang {

class Interpreter;
struct Type;

void set_code_slots(Type* type);
void fill_code(Interpreter& in, Type* type);

}  // namespace tessera::lang

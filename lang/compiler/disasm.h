// Bytecode for people: the last part of `tsr --dump`.
#pragma once

#include <string>

namespace tessera::lang {

class Interpreter;
struct Code;

// The code and, behind it, every code among its constants.
std::string disassemble(Interpreter& in, const Code* code);

}  // namespace tessera::lang

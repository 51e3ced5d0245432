// The standard library is where the language and the tensors meet: its files see the names of both as they are.
// Where one name means two things (`lang::index`, `tensor::index`), the arguments or the prefix tell them apart.
#pragma once

namespace tessera::lang {
class Interpreter;
}
namespace tessera::tensor {}

namespace tessera::stdlib {
using namespace lang;
using namespace tensor;
using lang::Interpreter;  // nearer than tessera::Interpreter, which is the host's
}  // namespace tessera::stdlib

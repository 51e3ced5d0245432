// Tessera in a C++ program: the one header that a host needs, in C++17 or later. It stands on <tessera/tessera_c.h> alone, so
// that a host keeps working with every later library of the same major version.
//
//   tessera::Interpreter tsr({.memory_limit = 256 << 20, .step_limit = 50'000'000});
//   tsr.def("scale(x: Tensor, k: float = 2.0) -> Tensor", "Multiply by k.",
//           [](const tessera::Tensor& x, double k) { return x * k; });
//   tsr.set("x", tessera::Tensor::from_blob(data, {2, 3}, tessera::kFloat32));
//   tessera::Tensor y = tsr.eval("scale(x, k=3) @ x.T").as<tessera::Tensor>();
//
// An Interpreter and everything got from it belong to one thread at a time; several interpreters may run on several
// threads. Nothing is granted that the host does not grant: no files, no clock, no environment. What a script raises
// arrives as ScriptError, and the interpreter lives on. What was got from an interpreter may outlive it.
#pragma once

#include "tessera/host/interpreter.h"

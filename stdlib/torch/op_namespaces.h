// Where ops are shown: torch, Tensor, torch.nn.functional, torch.linalg, torch.special, torch.fft. Each is a flag of the op's
// entries, and all of them find their names here.
#pragma once

#include <string_view>
#include <vector>

#include "stdlib/torch/state.h"

namespace tessera::stdlib {

struct Namespace {
  const char* module;       // "torch.linalg"; empty: the methods of Tensor
  OpFlag flag;              // of the entries that it shows
  std::string_view prefix;  // of their names in the registry, if they have it: linalg.norm is linalg_norm
};

// The namespace of a module, or null.
const Namespace* find_namespace(std::string_view module);
const Namespace& tensor_namespace();

// The function object of a name there, in-place forms (relu_) included; Undefined when no entry shows it.
Value find_in_namespace(Interpreter& in, const Namespace& where, std::string_view name);
// All its names, in-place forms included, sorted.
std::vector<std::string> names_in_namespace(const Namespace& where);

// From now on the module also has the names of its namespace, made when they are first asked for.
void show_ops_in(Module& module);

}  // namespace tessera::stdlib

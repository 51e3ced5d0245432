// The standard library's .tsr files inside the binary. The table is generated at build time (cmake/Embed.cmake):
// stdlib/python/json.tsr is module "json", stdlib/torch/nn/__init__.tsr is package "torch.nn".
#pragma once

#include <iterator>
#include <span>
#include <string_view>

namespace tessera::stdlib {

struct EmbeddedModule {
  std::string_view name;  // "torch.optim.sgd"
  std::string_view path;  // "stdlib/torch/optim/sgd.tsr", as tracebacks show it
  std::string_view text;
  bool is_package;
};

// All of them, in a fixed order.
std::span<const EmbeddedModule> embedded_modules();

// Null when there is none of that name.
const EmbeddedModule* find_embedded(std::string_view name);

}  // namespace tessera::stdlib

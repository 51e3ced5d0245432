// The standard library's .tsr files inside the binary. The table is generated at build time (cmake/Embed.cmake):
// stdlib/python/json.tsr is module "json", stdlib/torch/nn/__init__.tsr is package "torch.nn".
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tessera::stdlib {

// A row of a long table, which is why nothing is in it that follows from the rest.
struct EmbeddedModule {
  const char* name;      // "torch.optim.sgd"
  unsigned at, size;     // where in the block's text its own stands, in bytes, as it is kept there (with short indents)
  unsigned short block;  // its text as zlib compresses it behind embedded_dictionary(), or that of several modules by LZMA
  bool is_shared;        // the block is of several modules
  bool is_package;
  bool is_standard;      // its file is below stdlib/python
};

// "stdlib/torch/optim/sgd.tsr", as tracebacks show it.
std::string path_of(const EmbeddedModule& module);

// All of them, in the order of their names.
std::span<const EmbeddedModule> embedded_modules();
std::string_view embedded_block(unsigned number);
std::string_view embedded_dictionary();
// The modules whose texts, one after the other, are the dictionary of blocks of several modules, and LZMA's window there.
std::span<const unsigned short> embedded_known();
unsigned embedded_window();

// A checksum of all texts.
unsigned long long embedded_sum();

// Null when there is none of that name.
const EmbeddedModule* find_embedded(std::string_view name);

std::string text_of(const EmbeddedModule& module);

}  // namespace tessera::stdlib

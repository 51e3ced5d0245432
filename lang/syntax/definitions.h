// Which assignments of a program may have given a name the value that it has at some place: reaching definitions, over the
// tree and for one name. Asked when something has failed, so it costs a running program nothing.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lang/syntax/ast.h"

namespace tessera::lang {

// Where a value may come from. `places` are offsets of the assigned names, in the order of the text.
struct Origin {
  std::vector<uint32_t> places;
  bool argument = false;   // a parameter that has kept what was passed
  bool of_module = false;  // a variable of the module; where it was assigned, origin_in_module() says
  bool of_comprehension = false;
  bool before = false;   // of those: this text may not have assigned it, but another block, or a star import
  bool unknown = false;  // several scopes assign it, or another one at any time: nobody can know
};

constexpr uint32_t kEndOfText = UINT32_MAX;

// Of the name that is read at `place`.
Origin origin_of(ast::Tree& tree, std::string_view name, uint32_t place);
// Of a variable of the module when its own statements have come to `place`.
Origin origin_in_module(ast::Tree& tree, std::string_view name, uint32_t place);

}  // namespace tessera::lang

// The names that PyTorch's tape gives to nodes, made of an op's name while compiling.
#pragma once

#include <string_view>

namespace tessera::tensor {

struct NodeName {
  char text[40] = {};
};
/// "count_nonzero" and '0': "CountNonzeroBackward0".
constexpr NodeName node_name(std::string_view op, char number) {
  NodeName out;
  size_t n = 0;
  bool upper = true;
  for (const char c : op) {
    if (c != '_') out.text[n++] = upper && c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c;
    upper = c == '_';
  }
  for (const char c : std::string_view("Backward")) out.text[n++] = c;
  out.text[n] = number;
  return out;
}

}  // namespace tessera::tensor

// Where a person's cursor stands in a cell. Jupyter counts characters, a session bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tessera::repl {

int64_t characters_before(std::string_view text, size_t byte);
// The text's end for what lies behind it.
size_t byte_of_character(std::string_view text, int64_t character);

// What help is asked about there.
struct NamesAtCursor {
  std::string name;    // "torch.add", whose letters the cursor touches; may be empty
  std::string called;  // of the call whose arguments the cursor stands in; may be empty
};
NamesAtCursor names_at_cursor(std::string_view code, size_t cursor);

}  // namespace tessera::repl

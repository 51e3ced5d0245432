// What may stand where a person is typing. Nothing is called for it but properties of modules and classes: no script of the
// person's runs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::repl {

class Session;

struct Candidate {
  std::string text;  // what would stand between begin and end
  std::string kind;  // "function", "class", "module", "tensor", "keyword", "argument", "key", "file", "command" ...
  std::string note;  // shown beside it: a signature, a shape; may be empty
};

struct Completion {
  size_t begin = 0, end = 0;  // bytes of the text that a candidate replaces
  std::vector<Candidate> candidates;
};

// At byte `cursor` of a block. Names, attributes, keyword arguments of the call, modules of an import, keys of a dict and of a
// state dict, file paths in strings, commands and their arguments.
Completion complete(Session& session, std::string_view text, size_t cursor);

// The call that the cursor stands in.
struct CallHelp {
  std::string signature;            // "torch.add(input, other, *, alpha=1, out=None)"
  size_t active_begin, active_end;  // of the argument that is being typed, in `signature`; equal: none
};
std::optional<CallHelp> call_at(Session& session, std::string_view text, size_t cursor);

}  // namespace tessera::repl

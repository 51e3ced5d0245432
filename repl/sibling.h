// The programs that `tsr kernel` and `tsr serve` start. They are files of their own, so that tsr needs neither ZeroMQ nor a
// web server, and a build without these has tsr all the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::repl {

struct Sibling {
  std::string_view word;     // "kernel"
  std::string_view program;  // "tsr-kernel"
  std::string_view what;     // "the Jupyter kernel"
  std::string_view needs;    // Debian's packages without which a build has no such program
};

// Null: the word is none of these.
const Sibling* find_sibling(std::string_view word);

// Becomes the program: looked for beside this one, then in ../libexec/tessera, then in PATH. Returns only when there is none, or when it
// cannot be started: the sentence why.
std::string become_sibling(const Sibling& sibling, const std::vector<std::string>& arguments);

}  // namespace tessera::repl

// A statistical profile: a signal looks every millisecond at the frames of the running thread. Nothing is paid while there is
// none. A frame's place is that of its last step that called something, which an op or a builtin is; so a loop that calls
// nothing is told as a whole.
#pragma once

#include <memory>
#include <string>

#include "lang/core/interpreter.h"

namespace tessera::repl {

class Profile {
 public:
  // From here on the thread that makes it is looked at, until it is stopped.
  explicit Profile(lang::Interpreter& in);
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  void stop();
  // The lines, functions and operations that took longest.
  std::string text(unsigned columns) const;

  struct Table;

 private:
  std::unique_ptr<Table> table_;
};

}  // namespace tessera::repl

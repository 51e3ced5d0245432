// A statistical profile: a signal looks every millisecond at the frames of the running thread. Nothing is paid while there is
// none. Where the virtual machine is in the middle of its loop a frame's place is only as new as its last call, so then the
// stack is taken at the next safe point, some microseconds later; where a native runs for longer, an op or a sort, the
// place of the call is the truth, and the time is the native's.
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

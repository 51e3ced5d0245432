// A session: one interpreter and the blocks that a person runs in it one after another, with their numbers, results and
// history, and what is asked about them in between. It knows no terminal: a Client (client.h) shows what there is to show.
// Its prompt (repl/prompt) is one client; a notebook's kernel or a page are others, and need nothing that is not here.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "lang/core/interpreter.h"
#include "repl/session/client.h"

namespace tessera::repl {

// How a block ended.
struct Outcome {
  enum class Kind { kDone, kFailed, kLeft };  // kLeft: exit(), :quit; the client shall end with `status`
  Kind kind = Kind::kDone;
  int status = 0;  // as a program's exit status
};

// What a text would be as a block.
struct BlockState {
  enum class Kind { kComplete, kIncomplete, kInvalid };
  Kind kind = Kind::kComplete;
  std::string indentation;  // kIncomplete: that of the next line
};

class Session {
 public:
  // Both must outlive it.
  Session(lang::Interpreter& in, Client& client);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Runs one block: statements, whose last expression is shown; or a command of commands.h (":tensors", "x?", "%time ...",
  // "!ls"). What it raises is shown, not thrown. A block of blanks does nothing and has no number.
  Outcome run(const std::string& block);

  int number() const { return number_; }  // the next block's: In [n]
  BlockState state_of(std::string_view block) const;

  // Ends what runs with KeyboardInterrupt. From any thread, and from a handler of a signal.
  void interrupt() noexcept;

  lang::Interpreter& interpreter() { return in_; }
  Client& client() { return client_; }

 private:
  Outcome run_program(const std::string& block);
  Outcome fail(const lang::Value& exception);
  void keep_result(const lang::Value& value);

  lang::Interpreter& in_;
  Client& client_;
  int number_ = 1;
};

}  // namespace tessera::repl

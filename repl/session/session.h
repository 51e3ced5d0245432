// A session: one interpreter and the blocks that a person runs in it one after another, with their numbers, results and
// history, and what is asked about them in between. It knows no terminal: a Client (client.h) shows what there is to show.
// Its prompt (repl/prompt) is one client; a notebook's kernel or a page are others, and need nothing that is not here.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "lang/core/interpreter.h"
#include "repl/session/client.h"
#include "repl/session/results.h"

namespace tessera::repl {

struct CommandLine;

// How a block ended.
struct Outcome {
  enum class Kind { kDone, kFailed, kLeft };  // kLeft: exit(), :quit; the client shall end with `status`
  Kind kind = Kind::kDone;
  int status = 0;  // as a program's exit status
};

// What stays of a block besides its effects. kNothing: it takes no number, and neither its text nor its result is kept: what a
// notebook's extension asks. kSilent: its result is not shown either.
enum class Keep { kAll, kNothing, kSilent };

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

  // Runs one block: statements, whose last expression is shown unless a semicolon follows; or a command of commands.h
  // (":tensors", "x?", "%time ...", "!ls"). What it raises is shown, not thrown. A block of blanks does nothing and has no
  // number.
  Outcome run(const std::string& block, Keep keep = Keep::kAll);

  int number() const { return number_; }  // the next block's: In [n]
  BlockState state_of(std::string_view block) const;

  // Work for when a person does nothing: reads one of the modules that are there without import, so that the first use of it
  // and its completion need not wait. Some ten milliseconds. False: there is nothing left to do.
  bool prepare();

  // Ends what runs with KeyboardInterrupt. From any thread, and from a handler of a signal.
  void interrupt() noexcept;

  lang::Interpreter& interpreter() { return in_; }
  Client& client() { return client_; }
  Results& results() { return results_; }

  // --- for commands

  // Statements in the person's names; the value of a last expression, or Undefined. Throws what they raise.
  lang::Value execute(const std::string& text);
  // A block's pieces, statements and commands, one after another until one fails; shows what they give.
  Outcome run_pieces(const std::string& block);
  // Shows it and keeps it, as the block's result. None and Undefined: nothing.
  void show(const lang::Value& value);
  // Shows what was raised.
  Outcome fail(const lang::Value& exception);
  // The name under which the running block's text stands in tracebacks: "In [3]".
  std::string block_name() const;
  // The last exception that was shown, for `:why`; Undefined: none.
  const lang::Value& last_exception() const { return last_exception_; }
  // Is called when a block has ended, however it did, until there is another; an empty function: nothing is.
  void after_each_block(std::function<void(Session&)> call) { after_block_ = std::move(call); }
  // The running block has this number from now on: a restored session goes on behind its own.
  void set_number(int number) { number_ = number; }

 private:
  Outcome run_piece(const std::string& text);
  Outcome run_command(const CommandLine& line);
  void end_block();

  lang::Interpreter& in_;
  Client& client_;
  Results results_;
  lang::Value last_exception_;
  std::function<void(Session&)> after_block_;
  int number_ = 1;
  Keep keep_ = Keep::kAll;  // of the running block
};

}  // namespace tessera::repl

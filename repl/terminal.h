// Standard output, standard error and standard input as a host of the interpreter, and Ctrl-C.
#pragma once

#include <string>
#include <string_view>

#include "lang/core/host.h"
#include "lang/core/interpreter.h"
#include "stdlib/namespaces.h"

namespace tessera::repl {
using namespace stdlib;

// Output is collected and written in large pieces; a terminal sees each line at once, also one that is
// written over ('\r'), and everything is written
// before anything goes to standard error, before input is read, and at the end.
class Terminal {
 public:
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void write_out(std::string_view text);
  void write_error(std::string_view text);
  // A line with its end, which an unfinished last one lacks. False: the end of the input. Throws KeyboardInterrupt when Ctrl-C comes meanwhile.
  bool read_line(std::string& line);
  void flush();
  // From now on nothing is collected (-u).
  void write_at_once() { unbuffered_ = true; }
  // What was read of standard input and nobody asked for yet; and back: it is what read_line gives first. A prompt that reads
  // keys itself hands over so what was typed ahead.
  std::string take_input();
  void give_back(std::string input);
  bool output_failed() const { return failed_; }  // a full disk, a closed pipe

  Host host();

 private:
  bool read_more();

  std::string input_;  // read and not yet asked for
  size_t input_at_ = 0;
  std::string pending_;
  bool line_buffered_;
  bool unbuffered_ = false;
  bool failed_ = false;
  int error_ = 0;  // errno of the failure
};

// From now on Ctrl-C interrupts the program that `in` runs. One interpreter per process can have it. A second one that comes
// before the first was heard ends the process, unless a person sits at a prompt.
void interrupt_on_sigint(Interpreter& in, bool at_prompt);

// Ends the process as a SIGINT that nobody handles does, so that a shell stops its script, too.
[[noreturn]] void end_by_sigint() noexcept;

// C++'s own allocations: when there is no memory left, a reserve is given back so that what cannot fail does not, and the
// program hears of it as a MemoryError. Called again, it puts the reserve aside again.
void keep_reserve(Interpreter& in);

}  // namespace tessera::repl

// Standard output, standard error and standard input as a host of the interpreter, and Ctrl-C.
#pragma once

#include <string>
#include <string_view>

#include "lang/core/host.h"
#include "lang/core/interpreter.h"
#include "stdlib/namespaces.h"

namespace tessera::repl {
using namespace stdlib;

// Output is collected and written in large pieces; a terminal sees each line at once, and everything is written
// before anything goes to standard error, before input is read, and at the end.
class Terminal {
 public:
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void write_out(std::string_view text);
  void write_error(std::string_view text);
  bool read_line(std::string& line);
  void flush();
  bool output_failed() const { return failed_; }  // a full disk, a closed pipe

  Host host();

 private:
  std::string pending_;
  bool line_buffered_;
  bool failed_ = false;
  int error_ = 0;  // errno of the failure
};

// From now on Ctrl-C interrupts the program that `in` runs. One interpreter per process can have it.
void interrupt_on_sigint(Interpreter& in);

}  // namespace tessera::repl

// The process with the interpreter, as the server has it: started, spoken to line by line, ended.
//
// It is this same program with --worker, in a process group of its own with what it starts: Ctrl-C in the server's terminal does
// not reach it, and ending it ends what it started. It has none of the server's open files but its end of the channel.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "repl/page/descriptor.h"
#include "repl/page/loop.h"

namespace tessera::repl::page {

class WorkerProcess {
 public:
  struct Events {
    std::function<void(std::string_view line)> said;
    // On its standard output and error: what programs print that it starts.
    std::function<void(bool is_error, std::string_view text)> printed;
    // "killed by signal 9 (Killed)"; everything that it said before has been handed over.
    std::function<void(const std::string& reason)> ended;
  };

  static constexpr size_t kLongestLine = size_t(64) << 20;

  // `arguments`: of the program, behind --worker.
  WorkerProcess(Loop& loop, std::vector<std::string> arguments, std::string folder, Events events);
  ~WorkerProcess();

  // A sentence says why it could not be.
  std::string start();
  bool is_running() const { return process_ > 0; }
  void send(const std::string& line);
  // With all that it started. `ended` is called when it is gone.
  void kill();

 private:
  void read_lines();
  void take(std::string_view bytes);
  void read_printed(bool is_error);
  void write_more();
  void finish();
  void run_child(int channel, int out, int error);

  Loop& loop_;
  std::vector<std::string> arguments_;
  std::string folder_;
  Events events_;
  pid_t process_ = 0;
  Descriptor channel_, writing_, out_, error_, ending_;
  std::string input_;  // of a line that has not ended
  bool skips_line_ = false;
  std::string output_;
  std::unique_ptr<Loop::Watch> readable_, writable_, out_readable_, error_readable_, over_;
};

}  // namespace tessera::repl::page

// The worker's end of the channel: JSON, a line each. Any thread may write.
#pragma once

#include <unistd.h>

#include <mutex>
#include <string>

#include "repl/page/json_text.h"

namespace tessera::repl::page {

class WorkerChannel {
 public:
  explicit WorkerChannel(int file) : file_(file), owner_(getpid()) {}

  // A copy of the process (os.fork) has nothing to say here. A server that is gone makes no difference: the worker ends when it reads of that.
  void write(const Json& message) { write_line(to_text(message)); }
  void write_line(std::string line);
  // The next line without its end; false: the server is gone. Waits no longer than that (-1: for ever): then `line` is empty.
  bool read_line(std::string& line, int milliseconds);

 private:
  int file_;
  pid_t owner_;
  std::mutex mutex_;
  std::string input_;
  size_t looked_ = 0;  // bytes of it that have no line's end
};

}  // namespace tessera::repl::page

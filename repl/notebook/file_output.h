// What child processes and libraries write on the process's own standard output and error: a notebook shows it too.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace tessera::repl {

class FileOutput {
 public:
  // From now on files 1 and 2 are pipes, and `take` gets what comes out of them, on another thread, in whole characters. Where
  // there are no pipes to be had they stay as they are.
  explicit FileOutput(std::function<void(bool is_error, std::string_view text)> take);
  ~FileOutput();  // they are again what they were
  FileOutput(const FileOutput&) = delete;
  FileOutput& operator=(const FileOutput&) = delete;

  // Waits until what was written before has been taken; what somebody goes on writing is not waited for.
  void settle();
  // Standard error as it was, for those who have to say something to whoever started the program.
  int error_file() const { return own_[1]; }

 private:
  struct Stream {
    int read_end = -1;
    std::string cut;     // the beginning of a character whose end has not come
    uint64_t taken = 0;  // bytes, in all
  };
  void open(int index);
  void read_all();
  bool read(int index);

  std::function<void(bool is_error, std::string_view text)> take_;
  Stream streams_[2];
  int own_[2] = {1, 2};
  int wake_[2] = {-1, -1};
  std::mutex reading_;  // held from a read until what was read is taken
  std::thread thread_;
};

}  // namespace tessera::repl

// What a cell prints, on its way to a frontend: gathered for some milliseconds, so that ten thousand lines are some hundred
// messages; without what was written over (a progress bar's "\r") before anybody could see it; and bounded: what is beyond goes to
// a file, in which all of the cell's output then stands.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "repl/notebook/frontend.h"
#include "repl/notebook/kept_file.h"

namespace tessera::repl {

class OutputStream {
 public:
  struct Bounds {
    uint64_t shown = uint64_t(4) << 20;  // bytes of one cell that go to the frontend
    uint64_t kept = uint64_t(1) << 30;   // ... and that its file has at most
    std::chrono::milliseconds gather{15};
    size_t gathered = size_t(64) << 10;  // more than this is not gathered
  };

  // The files are made in `folder`, when they are needed.
  OutputStream(Frontend& frontend, std::string folder) : OutputStream(frontend, std::move(folder), Bounds()) {}
  OutputStream(Frontend& frontend, std::string folder, Bounds bounds);
  ~OutputStream();
  OutputStream(const OutputStream&) = delete;
  OutputStream& operator=(const OutputStream&) = delete;

  void begin_cell(int number);
  void write(bool is_error, std::string_view text);
  // Hands over what there is. A script's own flush is not one: what it printed is seen within `gather` anyway.
  void flush();
  // Hands over all and says what went beyond the bound.
  void end_cell();
  // What was written last, has no newline and was not handed over: the prompt of an input().
  std::string take_open_line();
  // While it is held nothing is handed over: for what else is said to the frontend.
  std::unique_lock<std::mutex> hold() { return std::unique_lock(mutex_); }

 private:
  void hand_over();  // this and what follows: mutex_ is held
  void show(std::string_view text);
  void keep(std::string_view text);
  void keep_time();

  Frontend& frontend_;
  const std::string folder_;
  const Bounds bounds_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string pending_;
  bool pending_is_error_ = false;
  std::chrono::steady_clock::time_point last_{};  // when something was handed over
  std::chrono::steady_clock::time_point due_{};   // when `pending_` is to be, while there is any
  int number_ = 0;                                // of the cell
  std::string shown_;                             // of the cell: what its file will begin with
  uint64_t beyond_ = 0;                           // bytes that were not shown
  std::unique_ptr<KeptFile> file_;
  bool ending_ = false;
  std::thread clock_;  // hands over what is due; made when something first waits
};

// Without what a later piece of the same line covers: "10%\r20%\r30%" is "10%\r30%" (where the line began is not known).
void drop_written_over(std::string& text);

}  // namespace tessera::repl

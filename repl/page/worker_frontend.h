// What the notebook's client says, as messages to the server.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "lang/core/interpreter.h"
#include "repl/notebook/frontend.h"
#include "repl/page/worker_channel.h"

namespace tessera::repl::page {

class WorkerFrontend : public Frontend {
 public:
  // `meanwhile` is called while a line is waited for: somebody may want to look.
  WorkerFrontend(WorkerChannel& channel, std::function<void()> meanwhile)
      : channel_(channel), meanwhile_(std::move(meanwhile)) {}

  void attach(lang::Interpreter& in) { in_ = &in; }
  void begin_block(int64_t block);
  bool was_interrupted() const { return was_interrupted_; }

  // From the reader's thread: the answer to a request.
  void answer_input(int64_t id, std::optional<std::string> line);
  void wake() { changed_.notify_all(); }

  void stream(bool is_error, std::string_view text) override;
  void display(const Forms& forms, const Metadata& metadata, const std::string& id, bool is_update) override;
  void result(int number, const Forms& forms, const Metadata& metadata) override;
  void error(const ErrorReport& report) override;
  void clear(bool wait) override;
  void page(const std::string& text) override;
  bool input(const std::string& prompt, bool is_hidden, std::string& line) override;
  void overflow(const std::string& path, uint64_t bytes) override;
  bool offer(const std::string& text) override;

 private:
  WorkerChannel& channel_;
  std::function<void()> meanwhile_;
  lang::Interpreter* in_ = nullptr;
  std::atomic<int64_t> block_{0};
  std::string held_[2];  // the beginning of a character whose end has not come
  bool was_interrupted_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t asked_ = 0;  // the number of the request
  bool is_answered_ = false;
  std::optional<std::string> line_;
};

}  // namespace tessera::repl::page

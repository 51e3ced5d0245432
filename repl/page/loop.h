// The one thread of the server: what happens on sockets, pipes and clocks, one thing after another.
#pragma once

#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>

namespace boost::asio {
class io_context;
}

namespace tessera::repl::page {

class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // What is asked for by one of these ends with it.
  class Watch {
   public:
    virtual ~Watch() = default;
  };
  // Whenever the open file, which stays the caller's, can be read; until the watch goes.
  std::unique_ptr<Watch> when_readable(int file, std::function<void()> call);
  // Once, when it can be written. One watch of a file at a time.
  std::unique_ptr<Watch> when_writable(int file, std::function<void()> call);
  std::unique_ptr<Watch> after(std::chrono::milliseconds time, std::function<void()> call);
  std::unique_ptr<Watch> on_signals(std::initializer_list<int> signals, std::function<void(int)> call);

  void run();
  void stop();

  boost::asio::io_context& context() { return *context_; }

 private:
  std::unique_ptr<boost::asio::io_context> context_;
};

}  // namespace tessera::repl::page

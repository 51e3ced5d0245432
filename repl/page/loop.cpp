#include "repl/page/loop.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdio>
#include <exception>
#include <utility>

namespace tessera::repl::page {
namespace {

namespace asio = boost::asio;
using Error = boost::system::error_code;

// What is called outlives the watch when it is the one that ends it.
template <class Object, class Call>
struct State {
  State(asio::io_context& context, Call what) : object(context), call(std::move(what)) {}
  Object object;
  Call call;
  bool is_over = false;
};

class FileWatch : public Loop::Watch {
 public:
  FileWatch(asio::io_context& context, int file, bool reads, std::function<void()> call)
      : state_(std::make_shared<Shared>(context, std::move(call))) {
    state_->object.assign(file);
    wait(state_, reads);
  }
  ~FileWatch() override {
    state_->is_over = true;
    state_->object.release();  // cancels, and does not close
  }

 private:
  using Shared = State<asio::posix::stream_descriptor, std::function<void()>>;

  static void wait(const std::shared_ptr<Shared>& state, bool reads) {
    state->object.async_wait(
        reads ? asio::posix::stream_descriptor::wait_read : asio::posix::stream_descriptor::wait_write,
        [state, reads](const Error& error) {
          if (error || state->is_over) return;
          state->call();
          if (reads && !state->is_over) wait(state, reads);
        });
  }

  std::shared_ptr<Shared> state_;
};

class TimeWatch : public Loop::Watch {
 public:
  TimeWatch(asio::io_context& context, std::chrono::milliseconds time, std::function<void()> call)
      : state_(std::make_shared<Shared>(context, std::move(call))) {
    state_->object.expires_after(time);
    state_->object.async_wait([state = state_](const Error& error) {
      if (!error && !state->is_over) state->call();
    });
  }
  ~TimeWatch() override {
    state_->is_over = true;
    state_->object.cancel();
  }

 private:
  using Shared = State<asio::steady_timer, std::function<void()>>;
  std::shared_ptr<Shared> state_;
};

class SignalWatch : public Loop::Watch {
 public:
  SignalWatch(asio::io_context& context, std::initializer_list<int> signals, std::function<void(int)> call)
      : state_(std::make_shared<Shared>(context, std::move(call))) {
    for (const int signal : signals) state_->object.add(signal);
    wait(state_);
  }
  ~SignalWatch() override {
    state_->is_over = true;
    Error ignored;
    state_->object.cancel(ignored);
  }

 private:
  using Shared = State<asio::signal_set, std::function<void(int)>>;

  static void wait(const std::shared_ptr<Shared>& state) {
    state->object.async_wait([state](const Error& error, int signal) {
      if (error || state->is_over) return;
      state->call(signal);
      if (!state->is_over) wait(state);
    });
  }

  std::shared_ptr<Shared> state_;
};

}  // namespace

Loop::Loop() : context_(std::make_unique<asio::io_context>(1)) {}

Loop::~Loop() = default;

std::unique_ptr<Loop::Watch> Loop::when_readable(int file, std::function<void()> call) {
  return std::make_unique<FileWatch>(*context_, file, true, std::move(call));
}

std::unique_ptr<Loop::Watch> Loop::when_writable(int file, std::function<void()> call) {
  return std::make_unique<FileWatch>(*context_, file, false, std::move(call));
}

std::unique_ptr<Loop::Watch> Loop::after(std::chrono::milliseconds time, std::function<void()> call) {
  return std::make_unique<TimeWatch>(*context_, time, std::move(call));
}

std::unique_ptr<Loop::Watch> Loop::on_signals(std::initializer_list<int> signals, std::function<void(int)> call) {
  return std::make_unique<SignalWatch>(*context_, signals, std::move(call));
}

// What goes wrong while one thing is done is said, and the next one is done.
void Loop::run() {
  for (;;) {
    try {
      context_->run();
      return;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "tsr serve: %s\n", error.what());
    }
  }
}

void Loop::stop() { context_->stop(); }

}  // namespace tessera::repl::page

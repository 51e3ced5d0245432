// Two threads. The main one has the interpreter: it runs blocks and answers what is asked in between. The reader takes what the
// server sends, and does what cannot wait for a block to end: interrupts, lines for input(), and "busy". Who wants to look at
// tensors while a block runs is served by the main thread at the block's next safe point (Host::attend).
#include "repl/page/worker.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "lang/core/error.h"
#include "lang/core/interpreter.h"
#include "repl/notebook/notebook_client.h"
#include "repl/page/worker_answers.h"
#include "repl/page/worker_channel.h"
#include "repl/page/worker_frontend.h"
#include "repl/session/session.h"
#include "repl/start.h"
#include "repl/terminal.h"
#include "runtime/counted.h"
#include "stdlib/standard.h"
#include "stdlib/torch/torch_module.h"

namespace tessera::repl::page {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kIdle = 200ms;           // then the session reads ahead
constexpr auto kBetweenTables = 300ms;  // while blocks follow one another
// A session forgets an interrupt when a block begins. One that comes with the block waits for its first safe point, and where
// there is none for so long.
constexpr auto kBeginning = 20ms;

Limits everything() {
  Limits limits;
  limits.files = limits.environment = limits.clock = limits.imports_of_files = limits.processes = limits.entropy = true;
  limits.code = limits.network = true;
  limits.threads = 4096;
  return limits;
}

// A copy of this process (os.fork, a DataLoader's workers) has neither the thread that hands output over nor a word in the
// channel: it prints on its standard output, which the server reads.
lang::Host host_of_copies_too(lang::Host host) {
  const auto print = [own = getpid()](int file, const std::function<void(std::string_view)>& original) {
    return [=](std::string_view text) {
      if (getpid() == own) return original(text);
      while (!text.empty()) {
        const ssize_t wrote = ::write(file, text.data(), text.size());
        if (wrote < 0 && errno != EINTR) return;
        if (wrote > 0) text.remove_prefix(static_cast<size_t>(wrote));
      }
    };
  };
  host.write_out = print(STDOUT_FILENO, host.write_out);
  host.write_error = print(STDERR_FILENO, host.write_error);
  host.read_line = [own = getpid(), original = host.read_line](std::string& line) {
    return getpid() == own && original(line);
  };
  return host;
}

class Worker {
 public:
  explicit Worker(const WorkerOptions& options);
  int run();

 private:
  // --- the reader's thread
  void read();
  void take(Json message);
  void interrupt(int64_t block);
  void interrupt_late();
  void ask(Json message);

  // --- the main thread
  bool next(Json& message, bool waits_on);
  void run_block(const Json& message);
  void attend();
  void send_tensors(bool running);
  void leave();

  WorkerChannel channel_;
  WorkerFrontend frontend_;
  NotebookClient client_;
  std::unique_ptr<Interpreter> in_;
  std::unique_ptr<Session> session_;
  pthread_t main_ = pthread_self();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Json> asks_, looks_, runs_;  // looks_: served also while a block runs
  int64_t running_ = 0;                   // the block
  int64_t unheard_ = 0;                   // the block that is to be interrupted as soon as it can hear it
  Clock::time_point began_;
  bool ends_ = false;

  Clock::time_point last_table_;
  int status_ = 0;
  bool leaves_ = false;
};

Worker::Worker(const WorkerOptions& options)
    : channel_(options.channel), frontend_(channel_, [this] { attend(); }), client_(frontend_, options.outputs, true) {
  lang::Host host = host_of_copies_too(client_.host());
  host.attend = [this] { attend(); };
  in_ = make_interpreter(std::move(host), everything());
  frontend_.attach(*in_);
  in_->argv = {""};
  add_search_path(*in_, "");
  interrupt_on_sigint(*in_, true);
  keep_reserve(*in_);
  if (options.threads > 0) set_tensor_threads(*in_, options.threads);
  if (!options.device.empty()) set_default_device(*in_, options.device);
  session_ = std::make_unique<Session>(*in_, client_);
}

void Worker::read() {
  std::string line;
  for (;;) {
    bool waits = false;
    {
      const std::lock_guard lock(mutex_);
      waits = unheard_ != 0;
    }
    if (!channel_.read_line(line, waits ? static_cast<int>(kBeginning.count()) : -1)) _exit(0);  // the server is gone
    if (line.empty()) interrupt_late();
    else if (std::optional<Json> message = parse_json(line); message && message->is_object()) take(std::move(*message));
  }
}

void Worker::take(Json message) {
  const std::string type = text_or(message, "type");
  if (type == "interrupt") return interrupt(integer_or(message, "block", 0));
  if (type == "state") return channel_.write(answer_block_state(*session_, message));
  if (type == "input") {
    const bool ended = is_true(message, "end");
    return frontend_.answer_input(integer_or(message, "id", 0),
                                  ended ? std::nullopt : std::optional(text_or(message, "text")));
  }
  const std::lock_guard lock(mutex_);
  if (type == "end") {
    ends_ = true;
  } else if (type == "run") {
    runs_.push_back(std::move(message));
  } else if (type == "tensors" || type == "tensor" || type == "graph") {
    looks_.push_back(std::move(message));
    if (running_ != 0) in_->interrupt.fetch_or(lang::kAttention);
    frontend_.wake();
  } else if (running_ != 0) {
    channel_.write({{"type", "answer"}, {"ask", message.value("ask", Json())}, {"busy", true}});
  } else {
    asks_.push_back(std::move(message));
  }
  changed_.notify_all();
}

void Worker::interrupt(int64_t block) {
  const std::lock_guard lock(mutex_);
  if (block == running_ && Clock::now() - began_ > kBeginning) {
    pthread_kill(main_, SIGINT);  // also wakes what waits in the kernel
    return;
  }
  if (block < running_ || block == 0) return;  // has ended meanwhile
  unheard_ = block;
  if (block == running_) in_->interrupt.fetch_or(lang::kAttention);
}

void Worker::interrupt_late() {
  const std::lock_guard lock(mutex_);
  if (unheard_ == 0 || unheard_ != running_) {
    if (unheard_ < running_) unheard_ = 0;
    return;
  }
  if (Clock::now() - began_ <= kBeginning) return;
  unheard_ = 0;
  pthread_kill(main_, SIGINT);
}

// The next thing to do; nothing for a while, unless it waits on: false.
bool Worker::next(Json& message, bool waits_on) {
  std::unique_lock lock(mutex_);
  const auto has_some = [this] { return ends_ || !asks_.empty() || !looks_.empty() || !runs_.empty(); };
  if (waits_on) changed_.wait(lock, has_some);
  else changed_.wait_for(lock, kIdle, has_some);
  for (auto* queue : {&asks_, &looks_, &runs_}) {
    if (queue->empty()) continue;
    message = std::move(queue->front());
    queue->pop_front();
    if (queue == &runs_) {
      running_ = integer_or(message, "block", 0);
      began_ = Clock::now();
    }
    return true;
  }
  if (ends_) leaves_ = true;
  return false;
}

void Worker::run_block(const Json& message) {
  const int64_t block = integer_or(message, "block", 0);
  const std::string text = text_or(message, "text");
  const int number = session_->number();
  const bool is_blank = text.find_first_not_of(" \t\r\n") == text.npos;
  channel_.write({{"type", "started"}, {"block", block}, {"number", is_blank ? Json() : Json(number)}});
  frontend_.begin_block(block);
  bool dropped = false;
  {
    const std::lock_guard lock(mutex_);
    dropped = unheard_ == block && Clock::now() - began_ > kBeginning;
  }
  Outcome outcome{.kind = Outcome::Kind::kFailed};
  const auto begin = Clock::now();
  keep_reserve(*in_);
  if (!dropped) outcome = client_.run(*session_, text);
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  {
    const std::lock_guard lock(mutex_);
    if (unheard_ <= block) unheard_ = 0;
    running_ = 0;
  }
  const char* word = "done";
  if (outcome.kind == Outcome::Kind::kFailed) word = dropped || frontend_.was_interrupted() ? "interrupted" : "failed";
  if (outcome.kind == Outcome::Kind::kLeft) {
    word = "left";
    leaves_ = true;
    status_ = outcome.status;
    channel_.write({{"type", "leaving"}, {"word", "left with status " + std::to_string(status_)}});
  }
  channel_.write({{"type", "finished"},
                  {"block", block},
                  {"outcome", word},
                  {"seconds", seconds},
                  {"number", is_blank ? Json() : Json(number)},
                  {"next", session_->number()}});
  if (!leaves_ && (!is_true(message, "more") || Clock::now() - last_table_ > kBetweenTables)) send_tensors(false);
}

// At a safe point of a block that runs.
void Worker::attend() {
  std::deque<Json> looks;
  int64_t block = 0;
  {
    const std::lock_guard lock(mutex_);
    looks.swap(looks_);
    block = running_;
    if (unheard_ != 0 && unheard_ == running_) {
      unheard_ = 0;
      in_->interrupt.fetch_or(lang::kKeyboard);
    }
  }
  for (const Json& message : looks) {
    if (text_or(message, "type") == "tensors") send_tensors(block != 0);
    else channel_.write(answer_ask(*session_, message, block != 0));
  }
}

void Worker::send_tensors(bool running) {
  channel_.write_line(tensors_line(*session_, running));
  last_table_ = Clock::now();
}

void Worker::leave() {
  const lang::Value raised = run_exit_functions(*in_);
  if (!raised.is_undefined()) session_->fail(raised);
}

int Worker::run() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the thread with the interpreter
  std::thread([this] { read(); }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  channel_.write({{"type", "ready"}, {"number", session_->number()}});
  bool prepares = true;
  while (!leaves_) {
    Json message;
    if (!next(message, !prepares)) {
      if (!leaves_) prepares = session_->prepare();
      continue;
    }
    const std::string type = text_or(message, "type");
    if (type == "run") run_block(message);
    else if (type == "tensors") send_tensors(false);
    else channel_.write(answer_ask(*session_, message, false));
  }
  leave();
  std::fflush(nullptr);
  _exit(status_);  // the reader still waits
}

}  // namespace

int run_worker(const WorkerOptions& options) {
  fcntl(options.channel, F_SETFD, FD_CLOEXEC);  // programs that a script starts shall not have it
  tensor::SharedCounts::keep_to_one_thread();   // the language has no others
  try {
    return Worker(options).run();
  } catch (const lang::Error& error) {
    std::fprintf(stderr, "tsr: %s\n", error.message.c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tsr: the worker cannot start: %s\n", error.what());
  }
  return 2;
}

}  // namespace tessera::repl::page

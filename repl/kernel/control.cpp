#include "repl/kernel/control.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "lang/core/signals.h"
#include "repl/kernel/answers.h"

namespace tessera::repl {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTick{100}, kTickAtEnd{10};
constexpr std::chrono::seconds kPatience{3};  // Jupyter kills after five

// A signal handler can reach nothing but globals.
std::atomic<bool> terminated{false};
std::atomic<std::atomic<uint32_t>*> flags_of_runner{nullptr};

void on_sigterm(int) {
  terminated.store(true);
  if (auto* const flags = flags_of_runner.load()) flags->fetch_or(lang::kCancelled);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;  // without SA_RESTART: waits end
  sigaction(signal, &action, nullptr);
}

// Jupyter's clients say who they are. A kernel that shall live on without them is not told.
pid_t parent_to_watch() {
  const char* const text = std::getenv("JPY_PARENT_PID");
  pid_t parent = 0;
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), parent);
  return parent > 1 ? parent : 0;
}

}  // namespace

Control::Control(Channels& channels, std::function<void()> give_up)
    : channels_(channels), give_up_(std::move(give_up)), runner_(pthread_self()), parent_(parent_to_watch()) {
  handle(SIGINT, SIG_IGN);  // until there is something to interrupt
  handle(SIGTERM, on_sigterm);
  handle(SIGHUP, on_sigterm);
  // The new thread shall not be given them.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { attend(); });
  sigset_t ours;
  sigemptyset(&ours);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ours, signal);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_sigmask(SIG_UNBLOCK, &ours, nullptr);
}

Control::~Control() {
  done_.store(true);
  thread_.join();
}

void Control::end_on_sigterm(lang::Interpreter& in) { flags_of_runner.store(&in.interrupt); }

void Control::forget_interpreter() {
  handle(SIGINT, SIG_IGN);
  flags_of_runner.store(nullptr);
}

bool Control::is_ending() const { return terminated.load(); }

bool Control::is_orphan() const {
  if (parent_ == 0 || getppid() == parent_) return false;
  // Somebody stands between, or the parent is gone.
  return kill(parent_, 0) != 0 && errno == ESRCH;
}

void Control::end() { pthread_kill(runner_, SIGTERM); }

void Control::attend() {
  while (!done_.load()) {
    if (const std::optional<Message> request = channels_.next_control(is_ending() ? kTickAtEnd : kTick))
      answer(*request);
    if (!is_ending() && is_orphan()) end();
    if (!is_ending()) continue;
    const Clock::time_point now = Clock::now();
    if (ended_at_ == Clock::time_point()) ended_at_ = now;
    if (now - ended_at_ < kPatience) continue;
    give_up_();
    _exit(1);
  }
}

void Control::answer(const Message& request) {
  const std::string& type = request.type();
  channels_.publish_status("busy", request.header);
  if (type == "interrupt_request") {
    pthread_kill(runner_, SIGINT);
    channels_.reply_control(request, "interrupt_reply", {{"status", "ok"}});
  } else if (type == "shutdown_request") {
    const Json content{{"status", "ok"}, {"restart", request.flag("restart", false)}};
    channels_.reply_control(request, "shutdown_reply", content);
    channels_.publish("shutdown_reply", content, request.header);
    end();
  } else if (type == "kernel_info_request") {
    channels_.reply_control(request, "kernel_info_reply", kernel_info_answer());
  } else if (type == "debug_request") {
    channels_.reply_control(request, "debug_reply",
                            {{"type", "response"},
                             {"request_seq", request.number("seq", 0)},
                             {"command", request.text("command")},
                             {"success", false},
                             {"message", "Tessera has no debugger for notebooks"}});
  }
  channels_.publish_status("idle", request.header);
}

}  // namespace tessera::repl

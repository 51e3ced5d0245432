#include "repl/terminal.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "lang/core/error.h"

namespace tessera::repl {
namespace {

constexpr size_t kBufferBytes = 64 * 1024;

// A signal handler can reach nothing but globals: the interpreter's flags, and whether a person sits at a prompt.
std::atomic<std::atomic<uint32_t>*> interrupt_flags{nullptr};
std::atomic<bool> prompted{false};

[[noreturn]] void die_of_sigint() noexcept {
  std::signal(SIGINT, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  raise(SIGINT);
  _exit(130);  // the first process of a container is not ended by it
}

void on_sigint(int) {
  auto* const flags = interrupt_flags.load();
  if (flags == nullptr) return;
  const bool unheard = (flags->fetch_or(kKeyboard) & kKeyboard) != 0;
  if (unheard && !prompted.load()) die_of_sigint();
}

// Nor can the handler of operator new. The block is address space only: nobody touches it.
constexpr size_t kReserveBytes = size_t{4} << 20;
std::atomic<void*> reserve{nullptr};

void on_no_memory() {
  void* const block = reserve.exchange(nullptr);
  if (block == nullptr) throw std::bad_alloc();
  std::free(block);
  if (auto* flags = interrupt_flags.load()) flags->fetch_or(kMemoryShort);
}

// Blocked for the length of a block: a signal that comes between a look at the flags and the wait would be slept over.
class SigintBlocked {
 public:
  SigintBlocked() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  ~SigintBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SigintBlocked(const SigintBlocked&) = delete;
  const sigset_t* before() const { return &before_; }

 private:
  sigset_t before_;
};

// Waits until standard input has something, or an end.
void wait_for_input() {
  auto* const flags = interrupt_flags.load();
  const SigintBlocked blocked;
  pollfd wanted{STDIN_FILENO, POLLIN, 0};
  for (;;) {
    if (flags != nullptr && (flags->load() & kKeyboard) != 0) {
      flags->fetch_and(~kKeyboard);
      throw Error(ErrorKind::KeyboardInterrupt, std::string());
    }
    if (ppoll(&wanted, 1, nullptr, blocked.before()) >= 0 || errno != EINTR) return;
  }
}

bool interrupted() {
  const auto* const flags = interrupt_flags.load();
  return flags != nullptr && (flags->load() & kKeyboard) != 0;
}

// What a terminal has not taken when Ctrl-C comes is dropped: nobody wants to read a million elements to their end. A file or
// a pipe gets all of it.
bool write_all(int file, std::string_view text) {
  constexpr size_t kPiece = 16 * 1024;
  const bool shown = text.size() > kPiece && isatty(file) != 0;
  for (bool first = true; !text.empty(); first = false) {
    if (shown && !first && interrupted()) {
      tcflush(file, TCOFLUSH);
      return true;
    }
    const ssize_t written = ::write(file, text.data(), shown ? std::min(text.size(), kPiece) : text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

Terminal::Terminal() : line_buffered_(isatty(STDOUT_FILENO) != 0) { pending_.reserve(kBufferBytes); }

Terminal::~Terminal() { flush(); }

void Terminal::write_out(std::string_view text) {
  pending_.append(text);
  if (unbuffered_ || pending_.size() >= kBufferBytes || (line_buffered_ && text.find_first_of("\n\r") != std::string_view::npos))
    flush();
  // A closed pipe or a full disk stops a program that would print for ever.
  if (failed_) throw Error(ErrorKind::OSError, "[Errno " + std::to_string(error_) + "] " + std::strerror(error_));
}

void Terminal::write_error(std::string_view text) {
  flush();
  write_all(STDERR_FILENO, text);
}

bool Terminal::read_line(std::string& line) {
  flush();
  for (size_t looked = input_at_;;) {
    const size_t end = input_.find('\n', looked);
    if (end != std::string::npos) {
      line.assign(input_, input_at_, end + 1 - input_at_);
      input_at_ = end + 1;
      return true;
    }
    looked = input_.size();
    const size_t dropped = input_at_;
    if (!read_more()) break;
    looked -= dropped;
  }
  line = input_.substr(input_at_);
  input_.clear();
  input_at_ = 0;
  return !line.empty();
}

// What was given out already makes room first. False: the end.
bool Terminal::read_more() {
  input_.erase(0, input_at_);
  input_at_ = 0;
  char some[4096];
  for (;;) {
    wait_for_input();
    const ssize_t got = ::read(STDIN_FILENO, some, sizeof some);
    if (got > 0) input_.append(some, static_cast<size_t>(got));
    if (got >= 0) return got > 0;
    if (errno != EINTR && errno != EAGAIN) return false;
  }
}

std::string Terminal::take_input() {
  std::string input = input_.substr(input_at_);
  input_.clear();
  input_at_ = 0;
  return input;
}

void Terminal::give_back(std::string input) {
  input += take_input();
  input_ = std::move(input);
}

void Terminal::flush() {
  if (!write_all(STDOUT_FILENO, pending_)) {
    failed_ = true;
    error_ = errno;
  }
  pending_.clear();
}

Host Terminal::host() {
  Host host;
  host.write_out = [this](std::string_view text) { write_out(text); };
  host.flush_out = [this] { flush(); };
  host.write_error = [this](std::string_view text) { write_error(text); };
  host.read_line = [this](std::string& line) { return read_line(line); };
  return host;
}

void interrupt_on_sigint(Interpreter& in, bool at_prompt) {
  interrupt_flags.store(&in.interrupt);
  prompted.store(at_prompt);
  struct sigaction action {};
  action.sa_handler = on_sigint;
  sigaction(SIGINT, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of write(), not the end of the process
}

void end_by_sigint() noexcept { die_of_sigint(); }

void keep_reserve(Interpreter& in) {
  interrupt_flags.store(&in.interrupt);
  if (reserve.load() == nullptr) reserve.store(std::malloc(kReserveBytes));
  std::set_new_handler(on_no_memory);
}

}  // namespace tessera::repl

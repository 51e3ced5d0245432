#include "repl/prompt/tty.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>

namespace tessera::repl {
namespace {

// A signal handler reaches nothing but globals. The modes are written before there is a handler.
constexpr uint32_t kChangedBit = 1, kHangUpBit = 2;
std::atomic<uint32_t> happened{0};
std::atomic<bool> is_raw{false};
termios cooked_modes, raw_modes;
sigset_t outside_mask;  // what is blocked when we are not between two waits

// Pastes are marked from now on, and not; the cursor has the terminal's own shape again, where it had another: not every
// terminal knows the sequence.
constexpr std::string_view kOn = "\x1b[?2004h", kOff = "\x1b[?2004l", kOwnShape = "\x1b[0 q";
std::atomic<bool> has_shape{false};

void write_sequence(std::string_view bytes) {
  [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
}

void leave_raw() {
  write_sequence(kOff);
  if (has_shape.exchange(false)) write_sequence(kOwnShape);
}

// TCSANOW: what was typed already stays, and a terminal that is gone cannot hold us up.
void set_modes(const termios& modes) { tcsetattr(STDIN_FILENO, TCSANOW, &modes); }

void on_end(int signal) {
  if (is_raw.exchange(false)) {
    set_modes(cooked_modes);
    leave_raw();
    write_sequence("\r\n");  // what is said next does not go on in the block
  }
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void on_stop(int) {
  const int error = errno;
  if (is_raw.load()) {
    set_modes(cooked_modes);
    leave_raw();
  }
  raise(SIGSTOP);
  errno = error;
}

void on_continue(int) {
  const int error = errno;
  if (is_raw.load()) {
    set_modes(raw_modes);
    write_sequence(kOn);
  }
  happened.fetch_or(kChangedBit);
  errno = error;
}

void on_resize(int) { happened.fetch_or(kChangedBit); }

// Once is enough: a terminal that goes may say so twice, and what the end of a session still does shall be done.
void on_hang_up(int) {
  happened.fetch_or(kHangUpBit);
  std::signal(SIGHUP, SIG_IGN);
}

constexpr struct {
  int signal;
  void (*handler)(int);
} kHandlers[] = {{SIGTERM, on_end},      {SIGQUIT, on_end},     {SIGTSTP, on_stop},
                 {SIGCONT, on_continue}, {SIGWINCH, on_resize}, {SIGHUP, on_hang_up}};

// Heard between two keys only, in the wait: a signal that comes before it would be slept over.
sigset_t heard_in_wait() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGWINCH, SIGHUP}) sigaddset(&set, signal);
  return set;
}

}  // namespace

Tty::Tty() {
  tcgetattr(STDIN_FILENO, &cooked_modes);
  raw_modes = cooked_modes;
  raw_modes.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | IEXTEN | ISIG);
  raw_modes.c_iflag &= ~static_cast<tcflag_t>(ICRNL | INLCR | IGNCR | IXON);
  raw_modes.c_cc[VMIN] = 1;
  raw_modes.c_cc[VTIME] = 0;
}

void Tty::raw() {
  if (is_raw.load()) return;
  const sigset_t set = heard_in_wait();
  pthread_sigmask(SIG_BLOCK, &set, &outside_mask);
  for (const auto& [signal, handler] : kHandlers) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_DFL) continue;  // the script's own, or ignored on purpose (nohup)
    struct sigaction action {};
    action.sa_handler = handler;
    sigaction(signal, &action, nullptr);
  }
  set_modes(raw_modes);
  is_raw.store(true);
  write_sequence(kOn);
}

void Tty::cooked() {
  if (!is_raw.exchange(false)) return;
  set_modes(cooked_modes);
  leave_raw();
  pthread_sigmask(SIG_SETMASK, &outside_mask, nullptr);  // what waited is heard by our handlers yet
  for (const auto& [signal, handler] : kHandlers) {
    struct sigaction now {};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler == handler) std::signal(signal, SIG_DFL);
  }
}

Tty::Event Tty::read(std::string& bytes, int milliseconds) {
  pollfd wanted{STDIN_FILENO, POLLIN, 0};
  const timespec limit{milliseconds / 1000, (milliseconds % 1000) * 1'000'000L};
  const int ready = ppoll(&wanted, 1, milliseconds < 0 ? nullptr : &limit, &outside_mask);
  const uint32_t events = happened.exchange(0);
  if ((events & kHangUpBit) != 0) return Event::kEnd;
  if ((events & kChangedBit) != 0) return Event::kChanged;
  if (ready == 0) return Event::kTimeout;
  if (ready < 0) return errno == EINTR ? Event::kSignal : Event::kEnd;
  char some[4096];
  const ssize_t got = ::read(STDIN_FILENO, some, sizeof some);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return Event::kSignal;
  if (got <= 0) return Event::kEnd;
  bytes.append(some, static_cast<size_t>(got));
  return Event::kInput;
}

bool Tty::set_shape(Shape shape) {
  has_shape.store(true);
  return write(shape == Shape::kBar ? "\x1b[6 q" : shape == Shape::kBlock ? "\x1b[2 q" : "\x1b[4 q");
}

bool Tty::has_input() const {
  pollfd wanted{STDIN_FILENO, POLLIN, 0};
  return poll(&wanted, 1, 0) > 0 && (wanted.revents & POLLIN) != 0;
}

bool Tty::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written > 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd wanted{STDOUT_FILENO, POLLOUT, 0};
      poll(&wanted, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

void Tty::size(int& columns, int& rows) {
  winsize found{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) == 0 && found.ws_col > 0 && found.ws_row > 0;
  columns = known ? found.ws_col : 80;
  rows = known ? found.ws_row : 24;
}

// The whole group, as the terminal itself does it at Ctrl-Z: what waits for us in a pipe stops with us.
void Tty::suspend() { kill(0, SIGTSTP); }

}  // namespace tessera::repl

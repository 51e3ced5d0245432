#include "repl/terminal.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>

#include "lang/core/error.h"

namespace tessera::repl {
namespace {

constexpr size_t kBufferBytes = 64 * 1024;

// A signal handler can reach nothing but a global; it holds the one flag that SIGINT sets.
std::atomic<std::atomic<uint32_t>*> interrupt_flag{nullptr};

void on_sigint(int) {
  if (auto* flag = interrupt_flag.load()) flag->store(1);
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
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
  if (pending_.size() >= kBufferBytes || (line_buffered_ && text.find('\n') != std::string_view::npos)) flush();
  // A closed pipe or a full disk stops a program that would print for ever.
  if (failed_) throw Error(ErrorKind::OSError, "[Errno " + std::to_string(error_) + "] " + std::strerror(error_));
}

void Terminal::write_error(std::string_view text) {
  flush();
  write_all(STDERR_FILENO, text);
}

bool Terminal::read_line(std::string& line) {
  flush();
  return static_cast<bool>(std::getline(std::cin, line));
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

void interrupt_on_sigint(Interpreter& in) {
  interrupt_flag.store(&in.interrupt);
  struct sigaction action {};
  action.sa_handler = on_sigint;
  sigaction(SIGINT, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of write(), not the end of the process
}

}  // namespace tessera::repl

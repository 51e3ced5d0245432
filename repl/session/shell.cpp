// "!ls": a line for /bin/sh. Its output goes where a script's goes, so that a notebook shows it too; it reads the session's own
// input.
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <optional>

#include "lang/assist/pieces.h"
#include "lang/core/host.h"
#include "lang/core/protocol.h"
#include "lang/core/signals.h"
#include "lang/objects/module.h"
#include "lang/syntax/source.h"
#include "lang/types/dict.h"
#include "repl/session/commands.h"
#include "stdlib/python/native/support.h"

namespace tessera::repl {
using namespace lang;

namespace {

// The text of `expression` or `expression:format`; nothing: it is none of the session.
std::optional<std::string> formatted(Session& session, std::string_view field) {
  Interpreter& in = session.interpreter();
  if (const Value value = value_of_name(session, field); !value.is_undefined()) return str_text(in, value);
  const size_t colon = field.rfind(':');
  if (colon == field.npos) return std::nullopt;
  const Value value = value_of_name(session, field.substr(0, colon));
  if (value.is_undefined()) return std::nullopt;
  return str_text(in, format(in, value, field.substr(colon + 1)));
}

// `{expression}` and `$name` become their texts, `$$` a dollar, `{{` and `}}` around something braces; what is no name or
// expression of the session stays.
std::string expanded(Session& session, std::string_view line) {
  Interpreter& in = session.interpreter();
  std::string out;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line.substr(i, 2) == "$$") {
      out += line[i++];
      continue;
    }
    size_t end = i + 1;
    if (line[i] == '$') {
      while (end < line.size() && is_name_byte(line[end])) ++end;
      const Value* found = dict_get_text(in.main_module()->dict, line.substr(i + 1, end - i - 1));
      if (end > i + 1 && found != nullptr) {
        out += str_text(in, *found);
        i = end - 1;
        continue;
      }
    }
    if (line.substr(i, 2) == "{{" && (end = line.find("}}", i)) != line.npos) {
      out += line.substr(i + 1, end - i);
      i = end + 1;
      continue;
    }
    if (line[i] == '{' && (end = line.find('}', i)) != line.npos) {
      if (const auto text = formatted(session, line.substr(i + 1, end - i - 1))) {
        out += *text;
        i = end;
        continue;
      }
    }
    out += line[i];
  }
  return out;
}

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() {
    if (pipe2(ends, O_CLOEXEC) != 0) ends[0] = ends[1] = -1;
  }
  ~Pipe() {
    for (const int end : ends)
      if (end >= 0) close(end);
  }
  Pipe(const Pipe&) = delete;
  void close_write() {
    if (ends[1] >= 0) close(ends[1]);
    ends[1] = -1;
  }
};

// A group of its own, which can be interrupted as a whole; but not at a terminal, where it could not read, and where the
// terminal interrupts all of them anyway.
pid_t start(const std::string& line, int output, bool with_errors, bool own_group) {
  const pid_t child = fork();
  if (child != 0) return child;
  if (own_group) setpgid(0, 0);
  dup2(output, STDOUT_FILENO);
  if (with_errors) dup2(output, STDERR_FILENO);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGINT, SIG_DFL);
  signal(SIGPIPE, SIG_DFL);
  execl("/bin/sh", "sh", "-c", line.c_str(), static_cast<char*>(nullptr));
  _exit(127);
}

// Reads until the end. Ctrl-C goes to the child, and a second after that nothing is asked any more.
int run(Session& session, std::string_view line, bool with_errors, const std::function<void(std::string_view)>& take) {
  Interpreter& in = session.interpreter();
  stdlib::require(in.limits.processes, "starting processes");
  const std::string text = expanded(session, line);
  if (in.host().flush_out) in.host().flush_out();
  Pipe pipe;
  const bool own_group = isatty(STDIN_FILENO) == 0;
  const pid_t child = pipe.ends[0] < 0 ? -1 : start(text, pipe.ends[1], with_errors, own_group);
  if (child < 0) stdlib::throw_os_error(in, errno);
  pipe.close_write();
  int told = 0;
  for (char buffer[4096];;) {
    pollfd wanted{pipe.ends[0], POLLIN, 0};
    const int ready = poll(&wanted, 1, 20);
    if (in.is_stopping() && (told == 0 || told == 50)) kill(own_group ? -child : child, told == 0 ? SIGINT : SIGKILL);
    if (in.is_stopping() && ++told > 50) break;
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t size = read(pipe.ends[0], buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    take({buffer, static_cast<size_t>(size)});
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  in.check_stop();
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

int run_shell(Session& session, std::string_view line) {
  Interpreter& in = session.interpreter();
  return run(session, line, true, [&](std::string_view text) {
    if (in.host().write_out) in.host().write_out(text);
    if (in.host().flush_out) in.host().flush_out();
  });
}

std::vector<std::string> shell_lines(Session& session, std::string_view line) {
  std::string all;
  run(session, line, false, [&](std::string_view text) { all += text; });
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < all.size();) {
    const size_t end = std::min(all.find('\n', begin), all.size());
    lines.push_back(all.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace tessera::repl

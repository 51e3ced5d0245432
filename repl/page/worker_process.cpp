#include "repl/page/worker_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace tessera::repl::page {
namespace {

constexpr int kChannel = 3;  // its number in the worker

void do_not_wait(int file) { fcntl(file, F_SETFL, fcntl(file, F_GETFL) | O_NONBLOCK); }

std::string reason_of(int status) {
  if (WIFSIGNALED(status))
    return "killed by signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
  return "ended with status " + std::to_string(WEXITSTATUS(status));
}

// Only what may be called between fork and exec.
bool move_to(int file, int number) {
  if (file == number) return fcntl(file, F_SETFD, 0) == 0;
  return dup2(file, number) == number;
}

}  // namespace

WorkerProcess::WorkerProcess(Loop& loop, std::vector<std::string> arguments, std::string folder, Events events)
    : loop_(loop), arguments_(std::move(arguments)), folder_(std::move(folder)), events_(std::move(events)) {}

WorkerProcess::~WorkerProcess() {
  if (process_ <= 0) return;
  kill();
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {}
}

std::string WorkerProcess::start() {
  int channel[2], out[2], error[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) != 0) return std::strerror(errno);
  channel_ = Descriptor(channel[0]);
  Descriptor theirs(channel[1]);
  if (pipe2(out, O_CLOEXEC) != 0) return std::strerror(errno);
  out_ = Descriptor(out[0]);
  Descriptor their_out(out[1]);
  if (pipe2(error, O_CLOEXEC) != 0) return std::strerror(errno);
  error_ = Descriptor(error[0]);
  Descriptor their_error(error[1]);
  for (const Descriptor* each : {&channel_, &out_, &error_}) do_not_wait(each->get());
  writing_ = Descriptor(fcntl(channel_.get(), F_DUPFD_CLOEXEC, 0));

  process_ = fork();
  if (process_ == 0) run_child(theirs.get(), their_out.get(), their_error.get());
  if (process_ < 0) {
    process_ = 0;
    return std::string("no process can be started: ") + std::strerror(errno);
  }
  setpgid(process_, process_);  // whoever comes first of the two
  input_.clear();
  output_.clear();
  skips_line_ = false;
  readable_ = loop_.when_readable(channel_.get(), [this] { read_lines(); });
  out_readable_ = loop_.when_readable(out_.get(), [this] { read_printed(false); });
  error_readable_ = loop_.when_readable(error_.get(), [this] { read_printed(true); });
  // The channel's end alone would not say it: what the worker has started may hold it open.
  ending_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, process_, 0)));
  if (ending_) over_ = loop_.when_readable(ending_.get(), [this] { finish(); });
  return "";
}

void WorkerProcess::run_child(int channel, int out, int error) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a killed server leaves no worker
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_DFL);
  // When memory ends the kernel takes this process and not the one with the document.
  const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (score >= 0) {
    if (write(score, "500", 3) < 0) {}
    close(score);
  }
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const bool moved = chdir(folder_.c_str()) == 0 && move_to(nothing, STDIN_FILENO) && move_to(out, STDOUT_FILENO) &&
                     move_to(error, STDERR_FILENO) && move_to(channel, kChannel);
  if (moved) {
    std::vector<char*> words;
    std::string program = "tsr-page", worker = "--worker", number = "3";
    for (std::string* word : {&program, &worker, &number}) words.push_back(word->data());
    for (std::string& word : arguments_) words.push_back(word.data());
    words.push_back(nullptr);
    execv("/proc/self/exe", words.data());
  }
  _exit(127);
}

void WorkerProcess::read_lines() {
  char some[1 << 16];
  for (int i = 0; i < 64 && channel_; ++i) {  // others have their turn in between
    const ssize_t got = ::read(channel_.get(), some, sizeof some);
    if (got > 0) {
      take({some, static_cast<size_t>(got)});
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    // Its end: without a pidfd this is how it is known.
    if (!ending_) finish();
    else readable_.reset();
    return;
  }
}

void WorkerProcess::take(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    if (!skips_line_) input_ += piece;
    if (input_.size() > kLongestLine) {
      input_.clear();
      skips_line_ = true;
      events_.printed(true, "\nsomething that is larger than 64 MB was to be shown: it is left out\n");
    }
    if (end == bytes.npos) return;
    bytes.remove_prefix(end + 1);
    const std::string line = std::exchange(input_, {});
    if (!std::exchange(skips_line_, false)) events_.said(line);
  }
}

void WorkerProcess::read_printed(bool is_error) {
  Descriptor& pipe = is_error ? error_ : out_;
  char some[1 << 16];
  const ssize_t got = ::read(pipe.get(), some, sizeof some);
  if (got > 0) events_.printed(is_error, {some, static_cast<size_t>(got)});
  if (got == 0) (is_error ? error_readable_ : out_readable_).reset();
}

void WorkerProcess::send(const std::string& line) {
  if (process_ <= 0) return;
  output_ += line;
  output_ += '\n';
  if (!writable_) write_more();
}

void WorkerProcess::write_more() {
  size_t done = 0;
  while (done < output_.size()) {
    const ssize_t wrote = ::send(writing_.get(), output_.data() + done, output_.size() - done, MSG_NOSIGNAL);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) break;
    done += static_cast<size_t>(wrote);
  }
  const bool waits = done < output_.size() && errno == EAGAIN;
  output_.erase(0, waits ? done : output_.size());  // else it is gone, which is told apart from this
  writable_.reset();                                // one watch of a file at a time
  if (waits) writable_ = loop_.when_writable(writing_.get(), [this] { write_more(); });
}

void WorkerProcess::kill() {
  if (process_ <= 0) return;
  ::kill(-process_, SIGKILL);
  ::kill(process_, SIGKILL);  // in case it has no group yet
}

void WorkerProcess::finish() {
  if (process_ <= 0) return;
  int status = 0;
  ::kill(-process_, SIGKILL);  // what it has left running
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {}
  // What it said last.
  char some[1 << 16];
  for (ssize_t got; (got = ::read(channel_.get(), some, sizeof some)) > 0;) take({some, static_cast<size_t>(got)});
  for (const bool is_error : {false, true})
    for (ssize_t got; (got = ::read((is_error ? error_ : out_).get(), some, sizeof some)) > 0;)
      events_.printed(is_error, {some, static_cast<size_t>(got)});
  process_ = 0;
  for (auto* watch : {&readable_, &writable_, &out_readable_, &error_readable_, &over_}) watch->reset();
  for (Descriptor* each : {&channel_, &writing_, &out_, &error_, &ending_}) each->close();
  events_.ended(reason_of(status));
}

}  // namespace tessera::repl::page

#include "repl/page/worker_channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace tessera::repl::page {

void WorkerChannel::write_line(std::string line) {
  if (getpid() != owner_) return;
  line += '\n';
  const std::lock_guard lock(mutex_);
  for (std::string_view rest = line; !rest.empty();) {
    const ssize_t wrote = ::send(file_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return;
    rest.remove_prefix(static_cast<size_t>(wrote));
  }
}

bool WorkerChannel::read_line(std::string& line, int milliseconds) {
  line.clear();
  char some[1 << 16];
  for (;;) {
    const size_t end = input_.find('\n', looked_);
    if (end != std::string::npos) {
      line.assign(input_, 0, end);
      input_.erase(0, end + 1);
      looked_ = 0;
      return true;
    }
    looked_ = input_.size();
    pollfd wanted{file_, POLLIN, 0};
    const int ready = poll(&wanted, 1, milliseconds);
    if (ready == 0) return true;
    const ssize_t got = ready < 0 ? -1 : ::read(file_, some, sizeof some);
    if (got > 0) input_.append(some, static_cast<size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) return false;
  }
}

}  // namespace tessera::repl::page

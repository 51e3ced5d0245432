// ZeroMQ's sockets as objects: of its C interface all that the kernel needs.
#pragma once

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::repl {

using Frames = std::vector<std::string>;  // one message of ZeroMQ

struct SocketError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class SocketContext {
 public:
  SocketContext();
  ~SocketContext();  // waits until what was sent is out, a second at most
  SocketContext(const SocketContext&) = delete;
  SocketContext& operator=(const SocketContext&) = delete;

  void* handle() const { return handle_; }

 private:
  void* handle_;
};

// For one thread at a time.
class Socket {
 public:
  enum class Kind { kRouter, kPublish, kReply };
  Socket(SocketContext& context, Kind kind);
  ~Socket();
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  void listen(const std::string& address);
  void send(const Frames& frames);
  std::optional<Frames> receive();  // what has arrived; never waits

  void* handle() const { return handle_; }

 private:
  void* handle_;
};

// Until one of them has something, at most so long; a signal ends it too.
void wait_for(const std::vector<Socket*>& sockets, std::chrono::milliseconds most);

}  // namespace tessera::repl

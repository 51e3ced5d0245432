#include "repl/kernel/sockets.h"

#include <zmq.h>

#include <cerrno>

namespace tessera::repl {
namespace {

constexpr int kLingerMilliseconds = 1000;
// Of a frontend that does not read: so many messages are kept for it, and what it misses then is dropped.
constexpr int kMostWaiting = 100'000;

int type_of(Socket::Kind kind) {
  switch (kind) {
    case Socket::Kind::kRouter: return ZMQ_ROUTER;
    case Socket::Kind::kPublish: return ZMQ_PUB;
    case Socket::Kind::kReply: break;
  }
  return ZMQ_REP;
}

[[noreturn]] void fail(const std::string& what) { throw SocketError(what + ": " + zmq_strerror(zmq_errno())); }

class Frame {
 public:
  Frame() { zmq_msg_init(&message_); }
  ~Frame() { zmq_msg_close(&message_); }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  bool receive(void* socket) {
    while (zmq_msg_recv(&message_, socket, ZMQ_DONTWAIT) < 0)
      if (zmq_errno() != EINTR) return false;
    return true;
  }
  std::string text() { return {static_cast<const char*>(zmq_msg_data(&message_)), zmq_msg_size(&message_)}; }
  bool has_more() { return zmq_msg_more(&message_) != 0; }

 private:
  zmq_msg_t message_;
};

}  // namespace

SocketContext::SocketContext() : handle_(zmq_ctx_new()) {
  if (handle_ == nullptr) fail("ZeroMQ does not start");
}

SocketContext::~SocketContext() {
  while (zmq_ctx_term(handle_) != 0 && zmq_errno() == EINTR) {}
}

Socket::Socket(SocketContext& context, Kind kind) : handle_(zmq_socket(context.handle(), type_of(kind))) {
  if (handle_ == nullptr) fail("ZeroMQ gives no socket");
  zmq_setsockopt(handle_, ZMQ_LINGER, &kLingerMilliseconds, sizeof kLingerMilliseconds);
  if (kind == Kind::kPublish) zmq_setsockopt(handle_, ZMQ_SNDHWM, &kMostWaiting, sizeof kMostWaiting);
  // A frontend that lost its connection comes back under its old name.
  const int yes = 1;
  if (kind == Kind::kRouter) zmq_setsockopt(handle_, ZMQ_ROUTER_HANDOVER, &yes, sizeof yes);
}

Socket::~Socket() { zmq_close(handle_); }

void Socket::listen(const std::string& address) {
  if (zmq_bind(handle_, address.c_str()) != 0) fail("cannot listen at " + address);
}

// One that is to nobody, or to somebody who is gone, is dropped.
void Socket::send(const Frames& frames) {
  for (size_t i = 0; i < frames.size(); ++i) {
    const int more = i + 1 < frames.size() ? ZMQ_SNDMORE : 0;
    while (zmq_send(handle_, frames[i].data(), frames[i].size(), more) < 0)
      if (zmq_errno() != EINTR) return;
  }
}

std::optional<Frames> Socket::receive() {
  Frames frames;
  for (bool more = true; more;) {
    Frame frame;
    if (!frame.receive(handle_)) return std::nullopt;
    frames.push_back(frame.text());
    more = frame.has_more();
  }
  return frames;
}

void wait_for(const std::vector<Socket*>& sockets, std::chrono::milliseconds most) {
  std::vector<zmq_pollitem_t> items;
  for (const Socket* each : sockets) items.push_back({each->handle(), 0, ZMQ_POLLIN, 0});
  zmq_poll(items.data(), static_cast<int>(items.size()), most.count());
}

}  // namespace tessera::repl

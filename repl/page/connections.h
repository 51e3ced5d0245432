// What the parts of the server share: the connections that there are, and the limits on them. Includes Beast: for those parts alone.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <chrono>
#include <list>
#include <memory>
#include <optional>

#include "repl/page/guard.h"
#include "repl/page/hub.h"

namespace tessera::repl::page {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using Error = beast::error_code;
using Request = http::request<http::empty_body>;

constexpr size_t kMostConnections = 64;
constexpr size_t kMostHeader = 16 << 10;
constexpr size_t kMostMessage = size_t(16) << 20;  // from a browser
constexpr size_t kMostUnsent = size_t(96) << 20;   // to a browser that does not read
constexpr std::chrono::seconds kHeaderTime{10}, kIdleTime{30}, kSendTime{30};

// Somebody who is connected and has not shown the token yet may have to make room.
class Connection {
 public:
  virtual ~Connection() = default;
  virtual void cut() = 0;
  bool is_known = false;
};

struct Shared {
  Hub& hub;
  std::optional<Guard> guard;
  std::list<Connection*> connections;  // the oldest first
};

// A slot in the list, from the first byte of a connection to its end, also when it becomes a WebSocket.
class Slot {
 public:
  Slot(std::shared_ptr<Shared> shared, Connection* connection) : shared_(std::move(shared)) {
    at_ = shared_->connections.insert(shared_->connections.end(), connection);
  }
  ~Slot() { shared_->connections.erase(at_); }
  Slot(const Slot&) = delete;
  void hand_to(Connection* connection) { *at_ = connection; }

 private:
  std::shared_ptr<Shared> shared_;
  std::list<Connection*>::iterator at_;
};

// Reads requests on a connection until it ends.
void serve_requests(std::shared_ptr<Shared> shared, tcp::socket socket);
// The connection becomes a tab.
void serve_tab(std::shared_ptr<Shared> shared, std::unique_ptr<Slot> slot, beast::tcp_stream stream,
               beast::flat_buffer read, Request request);

}  // namespace tessera::repl::page

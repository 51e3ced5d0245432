// A tab: one WebSocket.
// compile: foreign-templates (Beast: 24 s in a sanitized build, 34 with all checks)
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <deque>
#include <utility>

#include "repl/page/connections.h"

namespace tessera::repl::page {
namespace {

namespace websocket = beast::websocket;

class TabSocket : public Tab, public Connection, public std::enable_shared_from_this<TabSocket> {
 public:
  TabSocket(std::shared_ptr<Shared> shared, std::unique_ptr<Slot> slot, beast::tcp_stream stream)
      : shared_(std::move(shared)), slot_(std::move(slot)), socket_(std::move(stream)) {
    is_known = true;
    slot_->hand_to(this);
  }
  ~TabSocket() override = default;

  void start(Request request);
  void send(const Message& message) override;
  void cut() override { beast::get_lowest_layer(socket_).close(); }

 private:
  void read();
  void write();
  void leave();

  std::shared_ptr<Shared> shared_;
  std::unique_ptr<Slot> slot_;
  websocket::stream<beast::tcp_stream> socket_;
  Request request_;
  beast::flat_buffer buffer_;
  std::deque<Message> unsent_;
  size_t unsent_bytes_ = 0;
  bool is_joined_ = false;
};

void TabSocket::start(Request request) {
  request_ = std::move(request);
  websocket::stream_base::timeout times{};
  times.handshake_timeout = kHeaderTime;
  times.idle_timeout = std::chrono::seconds(60);  // half of it without a word: a ping
  times.keep_alive_pings = true;
  socket_.set_option(times);
  socket_.read_message_max(kMostMessage);
  socket_.auto_fragment(false);
  socket_.text(true);
  // Which library serves it is nobody's business.
  socket_.set_option(websocket::stream_base::decorator(
      [](websocket::response_type& response) { response.set(http::field::server, "Tessera"); }));
  socket_.async_accept(request_, [self = shared_from_this()](const Error& error) {
    if (error) return;
    self->is_joined_ = true;
    self->shared_->hub.join(*self);
    self->read();
  });
}

void TabSocket::read() {
  socket_.async_read(buffer_, [self = shared_from_this()](const Error& error, size_t) {
    if (error) return self->leave();
    if (!self->socket_.got_text()) {
      self->leave();
      return self->socket_.async_close(websocket::close_code::unknown_data, [self](const Error&) {});
    }
    const auto bytes = self->buffer_.data();
    self->shared_->hub.receive(*self, {static_cast<const char*>(bytes.data()), bytes.size()});
    self->buffer_.consume(bytes.size());
    if (self->buffer_.capacity() > size_t(1) << 20) self->buffer_.shrink_to_fit();
    if (self->is_joined_) self->read();
  });
}

void TabSocket::leave() {
  if (std::exchange(is_joined_, false)) shared_->hub.leave(*this);
}

// Who does not read is cut off: what is said to him would fill the memory.
void TabSocket::send(const Message& message) {
  if (!is_joined_) return;
  unsent_bytes_ += message->size();
  if (!unsent_.empty() && unsent_bytes_ > kMostUnsent) {
    leave();
    return cut();
  }
  unsent_.push_back(message);
  if (unsent_.size() == 1) write();
}

void TabSocket::write() {
  socket_.async_write(asio::buffer(*unsent_.front()), [self = shared_from_this()](const Error& error, size_t) {
    if (error) return self->leave();
    self->unsent_bytes_ -= self->unsent_.front()->size();
    self->unsent_.pop_front();
    if (!self->unsent_.empty()) self->write();
  });
}

}  // namespace

void serve_tab(std::shared_ptr<Shared> shared, std::unique_ptr<Slot> slot, beast::tcp_stream stream, beast::flat_buffer,
               Request request) {
  std::make_shared<TabSocket>(std::move(shared), std::move(slot), std::move(stream))->start(std::move(request));
}

}  // namespace tessera::repl::page

#include "repl/page/server.h"

#include <fcntl.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/steady_timer.hpp>
#include <utility>
#include <vector>

#include "repl/page/connections.h"

namespace tessera::repl::page {
namespace {

constexpr int kPortsTried = 50;

}  // namespace

struct Server::State : std::enable_shared_from_this<State> {
  State(Loop& event_loop, Hub& hub)
      : loop(event_loop),
        retry(event_loop.context()),
        shared(std::make_shared<Shared>(Shared{hub, std::nullopt, {}})) {}

  Error open(const tcp::endpoint& where);
  void accept(size_t number);
  void admit(tcp::socket socket);

  Loop& loop;
  std::vector<tcp::acceptor> acceptors;
  asio::steady_timer retry;
  std::shared_ptr<Shared> shared;
};

Error Server::State::open(const tcp::endpoint& where) {
  Error error;
  tcp::acceptor acceptor(loop.context());
  acceptor.open(where.protocol(), error);
  if (error) return error;
  fcntl(acceptor.native_handle(), F_SETFD, FD_CLOEXEC);
  acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (where.protocol() == tcp::v6()) acceptor.set_option(asio::ip::v6_only(true), error);
  acceptor.bind(where, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) acceptors.push_back(std::move(acceptor));
  return error;
}

void Server::State::accept(size_t number) {
  acceptors[number].async_accept([self = shared_from_this(), number](const Error& error, tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (!error) {
      self->admit(std::move(socket));
      return self->accept(number);
    }
    // No more open files: those that are there have to end first.
    self->retry.expires_after(std::chrono::milliseconds(100));
    self->retry.async_wait([self, number](const Error& gone) {
      if (!gone) self->accept(number);
    });
  });
}

void Server::State::admit(tcp::socket socket) {
  fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
  Error ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  if (shared->connections.size() >= kMostConnections) {
    Connection* oldest = nullptr;
    for (Connection* each : shared->connections)
      if (oldest == nullptr && !each->is_known) oldest = each;
    if (oldest == nullptr) return;  // closed: all of them are the person's own
    oldest->cut();
  }
  serve_requests(shared, std::move(socket));
}

Server::Server(Loop& loop, Hub& hub) : state_(std::make_shared<State>(loop, hub)) {}

Server::~Server() {
  for (tcp::acceptor& acceptor : state_->acceptors) {
    Error ignored;
    acceptor.close(ignored);
  }
}

std::string Server::listen(uint16_t port, bool or_next) {
  const auto v4 = asio::ip::address_v4::loopback();
  Error error;
  for (int i = 0; i < (or_next ? kPortsTried : 1); ++i) {
    error = state_->open({v4, static_cast<uint16_t>(port + (port == 0 ? 0 : i))});
    if (!error || error != asio::error::address_in_use) break;
  }
  if (error == asio::error::address_in_use)
    return "port " + std::to_string(port) +
           " is in use by another program: give another one with --port, or --port 0 for any that is free";
  if (error) return "cannot listen on 127.0.0.1:" + std::to_string(port) + ": " + error.message();
  // For browsers that take localhost for ::1. Not every machine has it.
  state_->open({asio::ip::address_v6::loopback(), this->port()});
  return "";
}

uint16_t Server::port() const { return state_->acceptors.front().local_endpoint().port(); }

void Server::admit(Guard guard) {
  state_->shared->guard.emplace(std::move(guard));
  for (size_t i = 0; i < state_->acceptors.size(); ++i) state_->accept(i);
}

}  // namespace tessera::repl::page

#include "repl/kernel/channels.h"

#include <utility>

namespace tessera::repl {

Channels::Channels(const Connection& connection, std::FILE* log)
    : log_(log),
      wire_(connection),
      shell_(context_, Socket::Kind::kRouter),
      stdin_(context_, Socket::Kind::kRouter),
      control_(context_, Socket::Kind::kRouter),
      heartbeat_(context_, Socket::Kind::kReply),
      iopub_(context_, Socket::Kind::kPublish) {
  iopub_.listen(connection.address(connection.iopub));
  heartbeat_.listen(connection.address(connection.heartbeat));
  control_.listen(connection.address(connection.control));
  stdin_.listen(connection.address(connection.stdin_));
  shell_.listen(connection.address(connection.shell));
}

void Channels::publish(const std::string& type, const Json& content, const Json& parent) {
  const Frames frames = wire_.write({"kernel." + wire_.session() + "." + type}, type, parent, content);
  const std::lock_guard lock(publishing_);
  iopub_.send(frames);
}

// What cannot be read, or was signed with another key, is nobody's request: it is said on standard error and passed over.
std::optional<Message> Channels::next(Socket& socket) {
  while (std::optional<Frames> frames = socket.receive()) {
    if (std::optional<Message> message = wire_.read(std::move(*frames))) return message;
    std::fputs("tsr-kernel: a message that is damaged or wrongly signed was ignored\n", log_);
  }
  return std::nullopt;
}

std::optional<Message> Channels::next_request(std::chrono::milliseconds wait) {
  if (std::optional<Message> request = next(shell_)) return request;
  wait_for({&shell_}, wait);
  return next(shell_);
}

void Channels::reply(const Message& to, const std::string& type, const Json& content, const Json& metadata) {
  shell_.send(wire_.write(to.identities, type, to.header, content, metadata));
}

std::string Channels::ask(const Message& request, const std::string& prompt, bool is_hidden) {
  while (next(stdin_)) {}
  std::string id;
  const Json content{{"prompt", prompt}, {"password", is_hidden}};
  stdin_.send(wire_.write(request.identities, "input_request", request.header, content, Json::object(), &id));
  return id;
}

std::optional<Message> Channels::next_answer(std::chrono::milliseconds wait) {
  wait_for({&stdin_}, wait);
  return next(stdin_);
}

std::optional<Message> Channels::next_control(std::chrono::milliseconds wait) {
  wait_for({&control_, &heartbeat_}, wait);
  if (const std::optional<Frames> beat = heartbeat_.receive()) heartbeat_.send(*beat);
  return next(control_);
}

void Channels::reply_control(const Message& to, const std::string& type, const Json& content) {
  control_.send(wire_.write(to.identities, type, to.header, content));
}

}  // namespace tessera::repl

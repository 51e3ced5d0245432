// The five sockets between a kernel and its frontends. Which thread may use which part of it is said at each.
#pragma once

#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>

#include "repl/kernel/message.h"

namespace tessera::repl {

class Channels {
 public:
  // `log`: where it is said that something was ignored. Throws SocketError.
  Channels(const Connection& connection, std::FILE* log);

  // --- any thread: what all frontends see
  void publish(const std::string& type, const Json& content, const Json& parent);
  void publish_status(const char* state, const Json& parent) {
    publish("status", {{"execution_state", state}}, parent);
  }

  // --- the thread that runs blocks
  std::optional<Message> next_request(std::chrono::milliseconds wait);
  void reply(const Message& to, const std::string& type, const Json& content, const Json& metadata = Json::object());
  // Asks the frontend that sent `request` for a line; forgets what was answered to earlier questions. The question's name.
  std::string ask(const Message& request, const std::string& prompt, bool is_hidden);
  std::optional<Message> next_answer(std::chrono::milliseconds wait);

  // --- the thread beside it
  // Says to whoever asks meanwhile that the kernel lives.
  std::optional<Message> next_control(std::chrono::milliseconds wait);
  void reply_control(const Message& to, const std::string& type, const Json& content);

 private:
  std::optional<Message> next(Socket& socket);

  std::FILE* log_;
  Wire wire_;
  SocketContext context_;
  Socket shell_, stdin_, control_, heartbeat_;
  std::mutex publishing_;
  Socket iopub_;
};

}  // namespace tessera::repl

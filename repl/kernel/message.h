// One message of Jupyter's protocol, and how it is written as frames: who it is to, a mark, a signature, four JSON objects.
#pragma once

#include <atomic>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "repl/kernel/connection.h"
#include "repl/kernel/sockets.h"
#include "repl/notebook/utf8.h"

namespace tessera::repl {

using Json = nlohmann::json;

struct Message {
  Frames identities;  // of the frontend that sent it
  Json header, parent, metadata, content;

  const std::string& type() const { return header.at("msg_type").get_ref<const std::string&>(); }
  // A field of the content, or what it is otherwise: also where it has another type than it should.
  std::string text(const char* name) const;
  bool flag(const char* name, bool otherwise) const;
  int64_t number(const char* name, int64_t otherwise) const;
};

class Wire {
 public:
  explicit Wire(const Connection& connection);

  // Nothing: it is no message, or not one that was signed with the key.
  std::optional<Message> read(Frames frames) const;
  // A new message; `to` stands before it. `id`: under which name. From any thread.
  Frames write(Frames to, const std::string& type, const Json& parent, const Json& content,
               const Json& metadata = Json::object(), std::string* id = nullptr) const;

  const std::string& session() const { return session_; }

 private:
  std::string signature(const std::string* four_parts) const;

  std::string key_, digest_, session_, user_;
  mutable std::atomic<uint64_t> count_{0};
};

// Of a JSON text. Nothing: it is none, or one that nests deeper than anybody means it: what writes it again calls itself for each level.
std::optional<Json> json_of(const std::string& text);
std::string time_now();  // ISO 8601, UTC, microseconds

}  // namespace tessera::repl

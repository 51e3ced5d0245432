#include "repl/kernel/connection.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "stdlib/python/native/digest.h"

namespace tessera::repl {
namespace {

using Json = nlohmann::json;

class Fields {
 public:
  Fields(const std::string& path, Json all) : path_(path), all_(std::move(all)) {}

  int port(const char* name) const {
    const auto found = all_.find(name);
    if (found == all_.end()) fail(std::string("it has no ") + name);
    const int64_t port = found->is_number_integer() ? found->get<int64_t>() : 0;
    if (port < 1 || port > 65535)
      fail(std::string(name) + " is " + found->dump() + ", and a port is a number from 1 to 65535");
    return static_cast<int>(port);
  }
  std::string text(const char* name, const char* otherwise) const {
    const auto found = all_.find(name);
    if (found == all_.end()) return otherwise;
    if (!found->is_string()) fail(std::string(name) + " is " + found->dump() + " and no text");
    return found->get<std::string>();
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw ConnectionError("the connection file " + path_ + " is damaged: " + why);
  }

 private:
  const std::string& path_;
  Json all_;
};

constexpr size_t kMostBytes = 64 << 10;  // ten short lines

std::string bytes_of(const std::string& path) {
  std::error_code error;
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path, error))
    throw ConnectionError("cannot read the connection file " + path + ": " + std::strerror(file ? EISDIR : errno));
  std::string text(kMostBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

}  // namespace

std::string Connection::address(int port) const {
  const std::string number = std::to_string(port);
  return transport == "ipc" ? "ipc://" + ip + "-" + number : transport + "://" + ip + ":" + number;
}

Connection read_connection(const std::string& path) {
  Json all = Json::parse(bytes_of(path), nullptr, false);
  const bool is_object = all.is_object();
  const Fields fields(path, std::move(all));
  if (!is_object) fields.fail("it is not a JSON object");
  Connection connection;
  connection.transport = fields.text("transport", "tcp");
  if (connection.transport != "tcp" && connection.transport != "ipc")
    fields.fail("transport is " + connection.transport + ", and it can be tcp or ipc");
  connection.ip = fields.text("ip", "127.0.0.1");
  connection.shell = fields.port("shell_port");
  connection.control = fields.port("control_port");
  connection.stdin_ = fields.port("stdin_port");
  connection.iopub = fields.port("iopub_port");
  connection.heartbeat = fields.port("hb_port");
  connection.key = fields.text("key", "");
  const std::string scheme = fields.text("signature_scheme", "hmac-sha256");
  if (scheme.starts_with("hmac-")) connection.digest = scheme.substr(5);
  if (stdlib::make_digest(connection.digest) == nullptr || connection.digest.starts_with("shake"))
    fields.fail("signature_scheme is " + scheme + ", and the schemes are hmac-sha256 and its like");
  return connection;
}

}  // namespace tessera::repl

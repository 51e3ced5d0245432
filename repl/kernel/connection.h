// The file in which Jupyter says where a kernel shall listen and how messages are signed.
#pragma once

#include <stdexcept>
#include <string>

namespace tessera::repl {

struct Connection {
  std::string transport, ip;  // "tcp", "127.0.0.1"
  int shell = 0, control = 0, stdin_ = 0, iopub = 0, heartbeat = 0;
  std::string key;     // empty: messages are not signed
  std::string digest;  // "sha256"

  std::string address(int port) const;  // as ZeroMQ has it
};

// One sentence on what is wrong with the file.
struct ConnectionError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Connection read_connection(const std::string& path);

}  // namespace tessera::repl

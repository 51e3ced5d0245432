// HTTP and the WebSocket on this machine's own addresses. Who may ask is decided by the guard; what is said on the WebSocket by
// the hub.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "repl/page/guard.h"
#include "repl/page/hub.h"
#include "repl/page/loop.h"

namespace tessera::repl::page {

class Server {
 public:
  Server(Loop& loop, Hub& hub);
  ~Server();

  // Listens on 127.0.0.1 and, where there is one, ::1. 0: a port that is free; with `or_next` one of those behind it where it is taken.
  // A sentence says why that is not possible.
  std::string listen(uint16_t port, bool or_next);
  uint16_t port() const;
  void admit(Guard guard);  // before the loop runs

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tessera::repl::page

// What the blocks have said, for tabs that come later: messages in their order, bounded.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>

#include "repl/page/message.h"

namespace tessera::repl::page {

struct LogEntry {
  std::string type;   // of the message
  int64_t block = 0;  // 0: of none
  std::string id;     // of a display that can be updated
  Message message;
};

class Log {
 public:
  static constexpr size_t kMostBytes = size_t(20) << 20;
  static constexpr size_t kMostMessages = 50'000;

  void add(LogEntry entry);
  // A display's later form stands where the first one does. False: there is none.
  bool update(const std::string& id, Message message);
  void clear();

  size_t bytes() const { return bytes_; }
  size_t dropped() const { return dropped_; }  // messages
  const std::deque<LogEntry>& entries() const { return entries_; }
  // A JSON list of the messages; what has gone is named in a first one.
  std::string to_json() const;

 private:
  void shrink();

  std::deque<LogEntry> entries_;
  std::unordered_map<std::string, uint64_t> displays_;  // by id: the number of the entry
  uint64_t first_ = 0;                                  // number of entries_.front()
  size_t bytes_ = 0, dropped_ = 0;
};

}  // namespace tessera::repl::page

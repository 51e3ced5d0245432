#include "repl/page/log.h"

#include <utility>

namespace tessera::repl::page {

void Log::add(LogEntry entry) {
  bytes_ += entry.message->size();
  if (!entry.id.empty()) displays_[entry.id] = first_ + entries_.size();
  entries_.push_back(std::move(entry));
  shrink();
}

bool Log::update(const std::string& id, Message message) {
  const auto found = displays_.find(id);
  if (found == displays_.end()) return false;
  LogEntry& entry = entries_[found->second - first_];
  bytes_ += message->size();
  bytes_ -= entry.message->size();
  entry.message = std::move(message);
  shrink();
  return true;
}

void Log::clear() {
  first_ += entries_.size();
  entries_.clear();
  displays_.clear();
  bytes_ = dropped_ = 0;
}

// The oldest go, and with the last of them what is left of their block: a block is there from its beginning or not at all. The
// block that stands last keeps its beginning and loses what it said first.
void Log::shrink() {
  const auto drop = [this](std::deque<LogEntry>::iterator at) {
    bytes_ -= at->message->size();
    ++dropped_;
    if (!at->id.empty()) displays_.erase(at->id);
    at->message = nullptr;
  };
  const auto is_full = [this] { return bytes_ > kMostBytes || entries_.size() > kMostMessages; };
  while (is_full() && entries_.size() > 1) {
    const int64_t block = entries_.front().block;
    if (block == entries_.back().block) break;
    while (entries_.size() > 1 && entries_.front().block == block) {
      drop(entries_.begin());
      entries_.pop_front();
      ++first_;
    }
  }
  if (!is_full()) return;
  // One block fills it: a half of what it said goes, so that this is not done at each message.
  std::deque<LogEntry> kept;
  const size_t wanted_bytes = kMostBytes / 2, wanted = kMostMessages / 2;
  for (auto at = entries_.begin(); at != entries_.end(); ++at) {
    const bool goes = at->type != "started" && at + 1 != entries_.end() &&
                      (bytes_ > wanted_bytes || kept.size() + static_cast<size_t>(entries_.end() - at) > wanted);
    if (goes) drop(at);
    else kept.push_back(std::move(*at));
  }
  first_ += entries_.size();
  entries_ = std::move(kept);
  displays_.clear();
  for (size_t i = 0; i < entries_.size(); ++i)
    if (!entries_[i].id.empty()) displays_[entries_[i].id] = first_ + i;
}

std::string Log::to_json() const {
  std::string out = "[";
  out.reserve(bytes_ + entries_.size() + 200);
  if (dropped_ > 0)
    out += R"({"type":"stream","block":null,"name":"stderr","text":"... )" + std::to_string(dropped_) +
           R"( earlier messages are not kept\n"})";
  for (const LogEntry& entry : entries_) {
    if (out.size() > 1) out += ',';
    out += *entry.message;
  }
  return out + "]";
}

}  // namespace tessera::repl::page

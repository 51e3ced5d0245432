#include "repl/prompt/history_walk.h"

#include <algorithm>
#include <utility>

namespace tessera::repl {

void HistoryWalk::start(const Blocks* blocks) {
  blocks_ = blocks;
  at_ = blocks->size();
  walking_ = false;
}

std::optional<std::string> HistoryWalk::older(const std::string& shown, std::string_view prefix) {
  if (!walking_) {
    prefix_ = prefix;
    if (at_ == blocks_->size()) draft_ = shown;
    const auto begins = [&](const std::string& block) { return block.starts_with(prefix_) && block != shown; };
    const auto end = blocks_->begin() + static_cast<std::ptrdiff_t>(at_);
    if (std::none_of(blocks_->begin(), end, begins)) prefix_.clear();
  }
  for (size_t i = at_; i-- > 0;) {
    const std::string& block = (*blocks_)[i];
    if (!block.starts_with(prefix_) || block == shown) continue;
    at_ = i;
    walking_ = true;
    return block;
  }
  return std::nullopt;
}

std::optional<std::string> HistoryWalk::newer(const std::string& shown) {
  if (at_ == blocks_->size()) return std::nullopt;
  for (size_t i = at_ + 1; i < blocks_->size(); ++i) {
    const std::string& block = (*blocks_)[i];
    if ((walking_ && !block.starts_with(prefix_)) || block == shown) continue;
    at_ = i;
    walking_ = true;
    return block;
  }
  at_ = blocks_->size();
  walking_ = false;
  return draft_;
}

std::string HistoryWalk::suggestion(std::string_view text) const {
  if (blocks_ == nullptr || text.find_first_not_of(" \t\n") == text.npos) return "";
  for (size_t i = blocks_->size(); i-- > 0;) {
    const std::string& block = (*blocks_)[i];
    if (block.size() <= text.size() || !block.starts_with(text)) continue;
    return block.substr(text.size(), std::min(block.find('\n', text.size()), block.size()) - text.size());
  }
  return "";
}

void HistorySearch::start(const std::vector<std::string>* blocks, std::string text, size_t cursor) {
  blocks_ = blocks;
  pattern_.clear();
  text_before_ = text_ = std::move(text);
  cursor_before_ = cursor;
  begin_ = cursor;
  at_ = blocks->size();
  found_ = true;
}

bool HistorySearch::look_at(size_t index) {
  const std::string& block = (*blocks_)[index];
  const size_t found = block.find(pattern_);
  if (found == std::string::npos) return false;
  at_ = index;
  text_ = block;
  begin_ = found;
  return found_ = true;
}

void HistorySearch::set_pattern(std::string pattern) {
  const bool grows = pattern.starts_with(pattern_);
  pattern_ = std::move(pattern);
  if (pattern_.empty()) {
    found_ = true;
    return;
  }
  for (size_t i = std::min(grows ? at_ + 1 : blocks_->size(), blocks_->size()); i-- > 0;)
    if (look_at(i)) return;
  found_ = false;
}

void HistorySearch::older() {
  if (pattern_.empty()) return;
  for (size_t i = at_; i-- > 0;)
    if ((*blocks_)[i] != text_ && look_at(i)) return;
  found_ = false;
}

void HistorySearch::newer() {
  if (pattern_.empty()) return;
  for (size_t i = at_ + 1; i < blocks_->size(); ++i)
    if ((*blocks_)[i] != text_ && look_at(i)) return;
  found_ = false;
}

bool HistorySearch::again(const std::vector<std::string>* blocks, const std::string& shown, size_t cursor, bool older) {
  if (pattern_.empty()) return false;
  if (blocks != blocks_ || at_ >= blocks->size() || (*blocks)[at_] != shown) at_ = blocks->size();
  blocks_ = blocks;
  text_before_ = text_ = shown;
  cursor_before_ = cursor;
  if (older) this->older();
  else newer();
  return found_;
}

}  // namespace tessera::repl

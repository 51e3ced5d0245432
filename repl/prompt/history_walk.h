// Going through the blocks of the history: one by one, those that begin with what is typed, those that contain what is
// searched for, and the one that would go on from here.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::repl {

class HistoryWalk {
 public:
  using Blocks = std::vector<std::string>;

  // At a new block; `blocks` stays as it is until the next start().
  void start(const Blocks* blocks);

  // The next older block that begins with `prefix` and is not what is shown; the first step keeps `shown` as the draft. When
  // none begins so, any other will do.
  std::optional<std::string> older(const std::string& shown, std::string_view prefix);
  // The next newer one, at last the draft.
  std::optional<std::string> newer(const std::string& shown);
  // What is shown was changed: the next step begins with it.
  void edited() { walking_ = false; }
  bool walking() const { return walking_; }

  // What the newest block that begins with `text` has behind it on the same line.
  std::string suggestion(std::string_view text) const;

 private:
  const Blocks* blocks_ = nullptr;
  size_t at_ = 0;
  bool walking_ = false;
  std::string prefix_, draft_;
};

// Ctrl-R: the pattern grows, the newest block that has it is shown.
class HistorySearch {
 public:
  void start(const std::vector<std::string>* blocks, std::string text, size_t cursor);

  void set_pattern(std::string pattern);  // looks on from the block that is shown
  void older();
  void newer();
  // The last pattern once more, from the block that it was found in if that is what is shown; false: no other one has it.
  bool again(const std::vector<std::string>* blocks, const std::string& shown, size_t cursor, bool older);

  const std::string& pattern() const { return pattern_; }
  bool found() const { return found_; }
  // The block that is shown, and where the pattern is in it.
  const std::string& text() const { return text_; }
  size_t begin() const { return begin_; }
  const std::string& text_before() const { return text_before_; }
  size_t cursor_before() const { return cursor_before_; }

 private:
  bool look_at(size_t index);

  const std::vector<std::string>* blocks_ = nullptr;
  std::string pattern_, text_, text_before_;
  size_t cursor_before_ = 0, begin_ = 0, at_ = 0;
  bool found_ = true;
};

}  // namespace tessera::repl

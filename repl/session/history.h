// The blocks that were run, in this session and before, in a file that several sessions share.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::repl {

class History {
 public:
  // With no file it is kept for this session alone.
  History() = default;
  // Reads what the file has. One that cannot be read or written is no error: problem() says why it is not kept.
  explicit History(std::string path);

  // A block that was run, whatever became of it; one like the last is not kept again. Written to the file at once.
  void add(const std::string& block);
  // Oldest first; those of other sessions that came meanwhile are read by refresh().
  const std::vector<std::string>& blocks() const { return blocks_; }
  void refresh();
  const std::string& problem() const { return problem_; }

 private:
  std::string path_;
  std::vector<std::string> blocks_;
  std::string problem_;
};

// Where a person's history lies: $TESSERA_HISTORY, else $XDG_STATE_HOME/tessera/history, else below $HOME; empty: nowhere.
std::string history_file();

}  // namespace tessera::repl

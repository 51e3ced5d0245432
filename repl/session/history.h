// The blocks that were run, in this session and before, in a file that several sessions share.
//
// One line of the file is one block, its newlines written "\n" and its backslashes "\\", so that grep finds things and a line
// that was cut off spoils no other. A block is appended with one write under a lock; when the file has grown far above what
// is kept, it is written anew beside and renamed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::repl {

class History {
 public:
  static constexpr size_t kBlocksKept = 10'000;

  // With no file it is kept for this session alone.
  History() = default;
  // Reads what the file has. One that cannot be read or written is no error: problem() says why it is not kept.
  explicit History(std::string path);

  // A block that was run, whatever became of it; one like the last is not kept again. Written to the file at once.
  void add(const std::string& block);
  // Oldest first. Those that other sessions ran meanwhile, which refresh() and add() read, stand before this session's own:
  // the newest is always what was run here last.
  const std::vector<std::string>& blocks() const { return blocks_; }
  // How many of them, at the end, were run here.
  size_t own() const { return blocks_.size() - first_own_; }
  void refresh();
  const std::string& problem() const { return problem_; }

 private:
  class File;
  void read_new(File& file);
  void fail(const char* what, int error);
  void bound();
  void compact(File& file);

  std::string path_;
  std::vector<std::string> blocks_;
  size_t first_own_ = 0;
  size_t read_to_ = 0;             // of the file
  unsigned long file_number_ = 0;  // its inode, which another session's rename changes
  size_t blocks_in_file_ = 0;
  std::string problem_;
};

// Where a person's history lies: $TESSERA_HISTORY, else $XDG_STATE_HOME/tessera/history, else
// ~/.local/state/tessera/history; empty: nowhere ($TESSERA_HISTORY is empty, or there is no home).
std::string history_file();

std::string history_line(std::string_view block);  // without its newline
std::string block_of_history_line(std::string_view line);

}  // namespace tessera::repl

// compile: small (waits for a person)
#include "repl/session/history.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

namespace tessera::repl {
namespace {

constexpr size_t kLongestBlock = size_t{1} << 20;  // longer ones are kept for the session alone
constexpr size_t kMostRead = size_t{64} << 20;     // of a file that something else has filled
constexpr int kLockTries = 50;                     // of 2 ms: somebody who holds it longer is stopped or gone

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool write_whole(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

// The file, opened and locked for one use: nothing of it is held while a person types.
class History::File {
 public:
  File(const std::string& path, bool to_write) {
    file_ = ::open(path.c_str(), (to_write ? O_RDWR | O_APPEND | O_CREAT : O_RDONLY) | O_CLOEXEC | O_NONBLOCK, 0600);
    if (file_ < 0) {
      error_ = errno;
      return;
    }
    for (int tried = 0; ::flock(file_, (to_write ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 && tried < kLockTries; ++tried) {
      const timespec moment{0, 2'000'000};
      nanosleep(&moment, nullptr);
    }
    if (::fstat(file_, &info_) != 0) info_ = {};
    // Renamed over while we waited for the lock: what we hold is thrown away.
    struct stat now {};
    stale_ = S_ISREG(info_.st_mode) && (::stat(path.c_str(), &now) != 0 || now.st_ino != info_.st_ino);
  }
  ~File() {
    if (file_ >= 0) ::close(file_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return file_ >= 0; }
  bool is_stale() const { return stale_; }
  bool is_regular() const { return S_ISREG(info_.st_mode); }  // /dev/null may be written to, but not read for ever
  int error() const { return error_; }
  size_t size() const { return static_cast<size_t>(info_.st_size); }
  unsigned long number() const { return static_cast<unsigned long>(info_.st_ino); }

  std::string read_from(size_t begin) const {
    std::string text(size() - std::min(begin, size()), '\0');
    size_t filled = 0;
    while (filled < text.size()) {
      const ssize_t got =
          ::pread(file_, text.data() + filled, text.size() - filled, static_cast<off_t>(begin + filled));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      filled += static_cast<size_t>(got);
    }
    text.resize(filled);
    return text;
  }

  // All of it or nothing: half a line would be joined to the next.
  bool append(std::string_view text) {
    if (write_whole(file_, text)) return true;
    error_ = errno;
    if (is_regular() && ::ftruncate(file_, static_cast<off_t>(size())) != 0) error_ = errno;
    return false;
  }

 private:
  int file_ = -1;
  int error_ = 0;
  bool stale_ = false;
  struct stat info_ {};
};

std::string history_line(std::string_view block) {
  std::string line;
  line.reserve(block.size() + 8);
  for (const char c : block) {
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\\') {
      line += "\\\\";
    } else {
      line += c;
    }
  }
  return line;
}

std::string block_of_history_line(std::string_view line) {
  std::string block;
  block.reserve(line.size());
  while (true) {  // pieces between backslashes: 10,000 blocks are read before the first prompt
    const size_t end = line.find('\\');
    block += line.substr(0, end);
    if (end == line.npos) return block;
    if (end + 1 == line.size()) return block += '\\';
    block += line[end + 1] == 'n' ? '\n' : line[end + 1];
    line.remove_prefix(end + 2);
  }
}

History::History(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  if (!folder.empty() && !std::filesystem::exists(folder, error)) {
    std::filesystem::create_directories(folder, error);
    if (error) {
      fail("cannot be kept", error.value());
      return;
    }
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  }
  // To be written as well: whether it can be kept is said now and not after the first block.
  File file(path_, true);
  if (!file.is_open()) {
    const int why = file.error();
    const File readable(path_, false);
    if (readable.is_open()) refresh();
    fail("cannot be kept", why);
    return;
  }
  read_new(file);
  if (blocks_in_file_ > kBlocksKept + kBlocksKept / 5) compact(file);
}

void History::fail(const char* what, int error) {
  problem_ = std::string("history ") + what + ": " + std::strerror(error) + ": " + path_;
  path_.clear();
}

// What stands in the file behind what was read of it: other sessions' blocks, since our own are read past as they are written.
void History::read_new(File& file) {
  if (!file.is_open() || !file.is_regular()) return;
  if (file.number() != file_number_ ||
      file.size() < read_to_) {  // another file: its end is new to us, we take none twice
    const bool first = file_number_ == 0;
    file_number_ = file.number();
    read_to_ = first ? 0 : file.size();
    if (file.size() > read_to_ + kMostRead) read_to_ = file.size() - kMostRead;
  }
  const std::string text = file.read_from(read_to_);
  std::vector<std::string> found;
  found.reserve(text.size() / 32);
  size_t at = 0;
  for (size_t end; (end = text.find('\n', at)) != text.npos; at = end + 1) {
    const std::string_view line(text.data() + at, end - at);
    ++blocks_in_file_;
    if (line.empty() || line.find('\0') != line.npos) continue;
    std::string block = block_of_history_line(line);
    if (found.empty() || found.back() != block) found.push_back(std::move(block));
  }
  read_to_ += at;
  blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(first_own_), std::make_move_iterator(found.begin()),
                 std::make_move_iterator(found.end()));
  first_own_ += found.size();
  bound();
}

void History::bound() {
  if (blocks_.size() <= kBlocksKept) return;
  const size_t too_many = blocks_.size() - kBlocksKept;
  blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(too_many));
  first_own_ -= std::min(first_own_, too_many);
}

void History::refresh() {
  if (path_.empty()) return;
  File file(path_, false);
  read_new(file);
}

void History::add(const std::string& block) {
  const size_t end = block.find_last_not_of(" \t\n");
  if (end == block.npos) return;
  const std::string kept = block.substr(0, end + 1);
  if (own() > 0 && blocks_.back() == kept) return;
  if (!path_.empty() && kept.size() <= kLongestBlock) {
    for (int tries = 0; tries < 3; ++tries) {
      File file(path_, true);
      if (file.is_stale()) continue;
      if (!file.is_open()) {
        fail("is not kept any more", file.error());
        break;
      }
      read_new(file);
      // A line that somebody could not finish is ended first.
      std::string line = read_to_ < file.size() && file.is_regular() ? "\n" : "";
      line += history_line(kept) + "\n";
      if (!file.append(line)) {
        fail("is not kept any more", file.error());
        break;
      }
      read_to_ = file.size() + line.size();
      ++blocks_in_file_;
      break;
    }
  }
  blocks_.push_back(kept);
  bound();
}

void History::compact(File& file) {
  std::error_code error;
  const std::string place = std::filesystem::canonical(path_, error).string();  // where a link leads
  if (error) return;
  const std::string fresh = place + "." + std::to_string(getpid());
  const int out = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (out < 0) return;
  std::string text;
  for (const std::string& block : blocks_) text += history_line(block) + "\n";
  const bool written = write_whole(out, text);
  struct stat info {};
  ::fstat(out, &info);
  ::close(out);
  // Under the old file's lock: nobody has appended to it since it was read.
  if (!written || !file.is_regular() || ::rename(fresh.c_str(), place.c_str()) != 0) {
    ::unlink(fresh.c_str());
    return;
  }
  file_number_ = static_cast<unsigned long>(info.st_ino);
  read_to_ = text.size();
  blocks_in_file_ = blocks_.size();
}

std::string history_file() {
  const std::string state = environment("XDG_STATE_HOME"), home = environment("HOME");
  std::string file = home.empty() ? "" : home + "/.local/state/tessera/history";
  if (!state.empty() && state[0] == '/') file = state + "/tessera/history";
  if (std::getenv("TESSERA_HISTORY") != nullptr) file = environment("TESSERA_HISTORY");
  if (file.empty()) return file;
  std::error_code error;  // a script may go to another folder
  const std::filesystem::path whole = std::filesystem::absolute(file, error);
  return error ? file : whole.string();
}

}  // namespace tessera::repl

#include "repl/kernel/scratch_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace tessera::repl {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBegin = "tessera-kernel-";
constexpr const char* kLock = "lock";

int locked(const fs::path& folder, int flags) {
  const int file = open((folder / kLock).c_str(), flags | O_CLOEXEC, 0600);
  if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0) return file;
  if (file >= 0) close(file);
  return -1;
}

bool is_own(const fs::path& folder) {
  struct stat info {};
  return lstat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid();
}

// Whose kernel lives has its lock.
void remove_left(const fs::path& place) {
  std::error_code error;
  for (fs::directory_iterator each(place, error), end; !error && each != end; each.increment(error)) {
    if (!each->path().filename().string().starts_with(kBegin) || !is_own(each->path())) continue;
    const int lock = locked(each->path(), O_RDWR);
    if (lock < 0) continue;
    std::error_code ignored;
    fs::remove_all(each->path(), ignored);
    close(lock);
  }
}

}  // namespace

ScratchFolder::ScratchFolder() {
  std::error_code error;
  const fs::path place = fs::temp_directory_path(error);
  if (error) return;
  remove_left(place);
  std::string folder = (place / (std::string(kBegin) + "XXXXXX")).string();
  if (mkdtemp(folder.data()) == nullptr) return;
  path_ = folder;
  lock_ = locked(folder, O_RDWR | O_CREAT);
}

void ScratchFolder::remove() noexcept {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
  path_.clear();
}

}  // namespace tessera::repl

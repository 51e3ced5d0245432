// Note [Below the root]
// A path is walked part by part from the root's descriptor, each part opened with O_NOFOLLOW; links are read and walked as
// text, and ".." goes to a folder that the walk itself came through: the system is never asked for it. So neither a link nor
// a folder that somebody moves meanwhile leads out, and /proc's links, which lead where their text does not say, are not
// followed. What is opened in the end is opened with O_NOFOLLOW, too: a link that was put there since is refused.
// compile: small (the system calls take longer)
#include "lang/core/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <utility>

#include "lang/core/interpreter.h"

namespace tessera::lang {

namespace {

static_assert(AT_FDCWD == -100);

constexpr size_t kMostParts = 256;  // of one path, with those of the links in it
constexpr int kFolder = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

int fail(int code) {
  errno = code;
  return -1;
}

class Descriptor {
 public:
  explicit Descriptor(int file) : file_(file) {}
  ~Descriptor() { reset(-1); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return file_; }
  int release() { return std::exchange(file_, -1); }
  void reset(int file) {
    const int before = std::exchange(file_, file);
    const int code = errno;
    if (before >= 0) ::close(before);
    errno = code;
  }

 private:
  int file_;
};

// Where an open descriptor lies now.
int path_of(int file, std::string& out) {
  char path[PATH_MAX];
  const ssize_t size = ::readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), path, sizeof path);
  if (size < 0) return -1;
  out.assign(path, static_cast<size_t>(size));
  return 0;
}

std::string_view take_part(std::string_view& rest) {
  while (rest.starts_with('/')) rest.remove_prefix(1);
  const std::string_view part = rest.substr(0, rest.find('/'));
  rest.remove_prefix(part.size());
  while (rest.starts_with('/')) rest.remove_prefix(1);
  return part;
}

}  // namespace

Files::Place::~Place() {
  if (!owned_) return;
  const int code = errno;
  ::close(folder_);
  errno = code;
}

Files::Files(const Limits& limits) : trusted_(limits.processes), most_(limits.open_files) {
  if (limits.files_root.empty()) return;
  given_root_ = limits.files_root;
  if (!given_root_.starts_with('/')) {
    char here[PATH_MAX];
    if (::getcwd(here, sizeof here) != nullptr) given_root_ = std::string(here) + "/" + given_root_;
  }
  while (given_root_.size() > 1 && given_root_.ends_with('/')) given_root_.pop_back();
  root_path_ = given_root_;
  root_ = ::open(given_root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root_ < 0) error_ = errno;  // said whenever a file is asked for
  else path_of(root_, root_path_);
}

Files::~Files() {
  for (const int file : opened_) ::close(file);
  if (root_ >= 0) ::close(root_);
}

// The part of an absolute path behind the root.
bool Files::below_root(std::string_view path, std::string_view& rest) const {
  for (std::string_view root : {std::string_view(root_path_), std::string_view(given_root_)}) {
    rest = path;
    bool same = true;
    while (same && !root.empty()) {
      const std::string_view wanted = take_part(root);
      if (wanted.empty()) break;
      std::string_view part = take_part(rest);
      while (part == ".") part = take_part(rest);
      same = part == wanted;
    }
    if (same) return true;
  }
  return false;
}

class Files::Walk {
 public:
  Walk(const Files& files, Last last) : files_(files), last_(last), folder_(-1) {}

  int run(std::string_view path, Place& place) {
    if (path.empty()) return fail(ENOENT);
    if (!start(path.starts_with('/') ? std::string(path)
                                     : files_.root_path_ + "/" + files_.current_ + "/" + std::string(path)))
      return -1;
    size_t parts = 0;
    for (std::string name; !rest_.empty();) {
      std::string_view rest = rest_;
      name = take_part(rest);
      rest_ = std::string(rest);
      if (++parts > kMostParts) return fail(ENAMETOOLONG);
      if (name.empty() || name == ".") continue;
      const bool is_last = rest_.empty();
      if (name == "..") {
        if (!leave()) return -1;
      } else if (const int is_link = follow(name, is_last); is_link != 0) {
        if (is_link < 0) return -1;
      } else if (is_last) {
        return answer(place, name);
      } else if (!enter(name)) {
        return -1;
      }
    }
    return answer(place, ".");
  }

 private:
  int folder() const { return folder_.get() < 0 ? files_.root_ : folder_.get(); }

  // From the root again, with what lies behind it in `path`.
  bool start(std::string path) {
    std::string_view rest;
    if (!files_.below_root(path, rest)) return fail(EACCES) == 0;
    rest_ = std::string(rest);
    names_.clear();
    folder_.reset(-1);
    return true;
  }

  bool enter(const std::string& name) {
    const int inner = ::openat(folder(), name.c_str(), kFolder);
    if (inner < 0) return false;
    folder_.reset(inner);
    names_.push_back(name);
    return true;
  }

  bool leave() {
    if (names_.empty()) return fail(EACCES) == 0;
    std::vector<std::string> names = std::move(names_);
    names.pop_back();
    names_.clear();
    folder_.reset(-1);
    return std::all_of(names.begin(), names.end(), [&](const std::string& name) { return enter(name); });
  }

  // 1: it was a link, and its text is to be walked now; 0: it was none; -1: it leads nowhere.
  int follow(const std::string& name, bool is_last) {
    if (is_last && last_ == Last::Kept) return 0;
    char text[PATH_MAX];
    const ssize_t size = ::readlinkat(folder(), name.c_str(), text, sizeof text);
    if (size < 0) return 0;  // what else is wrong with it, its opening tells
    constexpr int kMostLinks = 40;
    if (++links_ > kMostLinks) return fail(ELOOP);
    const std::string target(text, static_cast<size_t>(size));
    if (target.starts_with('/')) return start(target + "/" + rest_) ? 1 : -1;
    rest_ = rest_.empty() ? target : target + "/" + rest_;
    return 1;
  }

  int answer(Place& place, std::string_view name) {
    place.owned_ = folder_.get() >= 0;
    place.folder_ = place.owned_ ? folder_.release() : files_.root_;
    place.name_ = std::string(name);
    return 0;
  }

  const Files& files_;
  Last last_;
  Descriptor folder_;               // none: the root
  std::vector<std::string> names_;  // from the root to it
  std::string rest_;
  int links_ = 0;
};

int Files::find(std::string_view path, Last last, Place& place) {
  if (!has_root()) {
    place.name_ = std::string(path);
    return 0;
  }
  if (root_ < 0) return fail(error_);
  return Walk(*this, last).run(path, place);
}

int Files::open(std::string_view path, int flags, mode_t mode) {
  if (most_ != 0 && opened_.size() >= most_) return fail(EMFILE);
  Place place;
  const bool keeps = (flags & O_NOFOLLOW) != 0 || (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
  if (find(path, keeps ? Last::Kept : Last::Followed, place) != 0) return -1;
  if (!has_root()) {
    const int file = ::openat(place.folder(), place.name(), flags | O_CLOEXEC, mode);
    if (file >= 0 && (!trusted_ || most_ != 0)) opened_.insert(file);
    return file;
  }
  // Pipes and devices that somebody has put there could block for ever.
  Descriptor file(
      ::openat(place.folder(), place.name(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, mode & 0777));
  if (file.get() < 0) return -1;
  struct stat s {};
  if (::fstat(file.get(), &s) != 0) return -1;
  if (!S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode)) return fail(EACCES);
  opened_.insert(file.get());
  return file.release();
}

bool Files::owns(int file) const { return trusted_ || opened_.contains(file) || fail(EBADF) == 0; }

int Files::close(int file) {
  if (!owns(file)) return -1;
  opened_.erase(file);
  return ::close(file);
}

ssize_t Files::read(int file, void* to, size_t size) const { return owns(file) ? ::read(file, to, size) : -1; }
ssize_t Files::write(int file, const void* from, size_t size) const {
  return owns(file) ? ::write(file, from, size) : -1;
}
off_t Files::seek(int file, off_t offset, int whence) const { return owns(file) ? ::lseek(file, offset, whence) : -1; }
int Files::truncate(int file, off_t size) const { return owns(file) ? ::ftruncate(file, size) : -1; }
int Files::status(int file, struct stat* out) const { return owns(file) ? ::fstat(file, out) : -1; }
int Files::synchronize(int file) const { return owns(file) ? ::fsync(file) : -1; }

int Files::status(std::string_view path, Last last, struct stat* out) {
  Place place;
  if (find(path, last, place) != 0) return -1;
  return ::fstatat(place.folder(), place.name(), out, has_root() || last == Last::Kept ? AT_SYMLINK_NOFOLLOW : 0);
}

bool Files::is_file(std::string_view path) {
  struct stat s {};
  return status(path, Last::Followed, &s) == 0 && S_ISREG(s.st_mode);
}

bool Files::is_folder(std::string_view path) {
  struct stat s {};
  return status(path, Last::Followed, &s) == 0 && S_ISDIR(s.st_mode);
}

int Files::read_all(std::string_view path, std::string& out) {
  const int file = open(path, O_RDONLY);
  if (file < 0) return -1;
  char block[1 << 14];
  ssize_t got;
  while ((got = ::read(file, block, sizeof block)) != 0) {
    if (got > 0) out.append(block, static_cast<size_t>(got));
    else if (errno != EINTR) break;
  }
  const int code = errno;
  close(file);
  errno = code;
  return got < 0 ? -1 : 0;
}

int Files::current_folder(std::string& out) const {
  if (has_root()) {
    out = current_.empty() ? root_path_ : root_path_ + "/" + current_;
    return 0;
  }
  char path[PATH_MAX];
  if (::getcwd(path, sizeof path) == nullptr) return -1;
  out = path;
  return 0;
}

int Files::enter_folder(std::string_view path) {
  if (!has_root()) return ::chdir(std::string(path).c_str());
  std::string real;
  struct stat s {};
  if (status(path, Last::Followed, &s) != 0 || real_path(path, real) != 0) return -1;
  if (!S_ISDIR(s.st_mode)) return fail(ENOTDIR);
  std::string_view rest;
  if (!below_root(real, rest)) return fail(EACCES);
  current_ = std::string(rest);
  return 0;
}

int Files::real_path(std::string_view path, std::string& out) {
  if (!has_root()) {
    char target[PATH_MAX];
    if (::realpath(path.empty() ? "." : std::string(path).c_str(), target) == nullptr) return -1;
    out = target;
    return 0;
  }
  Place place;
  if (find(path.empty() ? "." : path, Last::Followed, place) != 0) return -1;
  const Descriptor file(::openat(place.folder(), place.name(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  return file.get() < 0 ? -1 : path_of(file.get(), out);
}

bool Files::allows_link_to(std::string_view target) const {
  if (!has_root()) return true;
  std::string_view rest = target;
  if (target.starts_with('/') && !below_root(target, rest)) return false;
  while (!rest.empty())
    if (take_part(rest) == "..") return false;
  return true;
}

}  // namespace tessera::lang

#include "repl/page/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "repl/page/descriptor.h"
#include "repl/page/guard.h"

namespace tessera::repl::page {
namespace {

constexpr std::string_view kEndings[] = {".tsr", ".py", ".ipynb"};

// resolved() says with EXDEV that a link leads out of the folder.
std::string reason() { return errno == EXDEV ? "a link in it leads out of this folder" : std::strerror(errno); }

bool is_document(std::string_view name) {
  return std::any_of(std::begin(kEndings), std::end(kEndings),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

// The names of a path from a browser; nothing where it leads anywhere but down.
std::optional<std::vector<std::string>> names_of(std::string_view path) {
  if (path.size() >= PATH_MAX || path.starts_with('/') || path.find('\0') != path.npos) return std::nullopt;
  std::vector<std::string> names;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    const std::string_view name = path.substr(0, end);
    if (name == ".." || name.size() > NAME_MAX) return std::nullopt;
    if (!name.empty() && name != ".") names.emplace_back(name);
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return names;
}

std::string joined(const std::string& root, const std::vector<std::string>& names) {
  std::string path = root;
  for (const std::string& name : names) path += (path.ends_with('/') ? "" : "/") + name;
  return path;
}

// Where the path leads when links are followed, as names below the root; nothing (and errno): not there, or elsewhere.
std::optional<std::vector<std::string>> resolved(const std::string& root, const std::vector<std::string>& names) {
  const std::unique_ptr<char, void (*)(void*)> real(realpath(joined(root, names).c_str(), nullptr), std::free);
  if (real == nullptr) return std::nullopt;
  const std::string path = real.get();
  if (path == root) return std::vector<std::string>{};
  const std::string prefix = root.ends_with('/') ? root : root + "/";
  errno = EXDEV;
  if (!path.starts_with(prefix)) return std::nullopt;
  return names_of(std::string_view(path).substr(prefix.size()));
}

// Each name opened in the one before it and no link followed: what was found to lie below the root is what is opened, also if
// somebody puts a link there meanwhile.
Descriptor open_below(const std::string& root, const std::vector<std::string>& names) {
  Descriptor folder(open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (const std::string& name : names) {
    if (!folder) break;
    folder = Descriptor(openat(folder.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  return folder;
}

Descriptor open_folder(const std::string& root, const std::vector<std::string>& names) {
  const auto real = resolved(root, names);
  return real ? open_below(root, *real) : Descriptor();
}

FileStamp stamp_of(const struct stat& info) {
  return {info.st_ino, static_cast<uint64_t>(info.st_size),
          int64_t(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec};
}

// A file's folder, open, and its name there; a link below the root is followed.
struct Place {
  Descriptor folder;
  std::string name;
};

std::optional<Place> place_of(const std::string& root, std::string_view path, std::string& problem) {
  std::optional<std::vector<std::string>> names = names_of(path);
  if (!names || names->empty()) {
    problem = "There can be no file " + in_quotes(path) + " in this folder.";
    return std::nullopt;
  }
  if (const auto real = resolved(root, *names)) {
    names = real;
    if (names->empty()) {
      problem = in_quotes(path) + " is a folder.";
      return std::nullopt;
    }
  } else if (errno != ENOENT) {
    problem = in_quotes(path) + " cannot be reached: " + reason() + ".";
    return std::nullopt;
  }
  Place place;
  place.name = names->back();
  names->pop_back();
  place.folder = open_folder(root, *names);
  if (!place.folder) {
    problem = "The folder of " + in_quotes(path) + " cannot be opened: " + reason() + ".";
    return std::nullopt;
  }
  return place;
}

std::optional<std::string> read_all(int file, uint64_t most) {
  std::string text;
  char some[1 << 16];
  for (;;) {
    const ssize_t got = ::read(file, some, sizeof some);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) return text;
    text.append(some, static_cast<size_t>(got));
    if (text.size() > most) {
      errno = EFBIG;
      return std::nullopt;
    }
  }
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(file, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return false;
    text.remove_prefix(static_cast<size_t>(wrote));
  }
  return true;
}

unsigned mode_of_new_files() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

}  // namespace

std::string in_quotes(std::string_view path) {
  constexpr size_t kMost = 200;
  std::string out = "“";
  size_t size = std::min(path.size(), kMost);
  while (size < path.size() && size > 0 && (static_cast<unsigned char>(path[size]) & 0xC0) == 0x80) --size;
  for (const char c : path.substr(0, size)) {
    constexpr const char* kDigits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && byte != 0x7F) out += c;
    else out += std::string("\\x") + kDigits[byte >> 4] + kDigits[byte & 15];
  }
  return out + (size < path.size() ? "…”" : "”");
}

std::string problem_of_name(std::string_view path) {
  for (const char c : path)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7F)
      return "A file's name can have no control characters or ends of lines: " + in_quotes(path) + ".";
  const size_t slash = path.rfind('/');
  const std::string_view name = slash == path.npos ? path : path.substr(slash + 1);
  if (name.starts_with('.'))
    return "A file's name cannot begin with a dot here (it would be hidden): " + in_quotes(path) + ".";
  return "";
}

Folder::Folder(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), std::free);
  if (real == nullptr) throw std::runtime_error("cannot open the folder " + path + ": " + reason());
  path_ = real.get();
  if (!Descriptor(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)))
    throw std::runtime_error("cannot open the folder " + path + ": " + reason());
}

std::optional<std::vector<FileEntry>> Folder::list(std::string_view folder, std::string& problem) const {
  const auto names = names_of(folder);
  Descriptor opened = names ? open_folder(path_, *names) : Descriptor();
  if (!opened) {
    problem = "The folder " + in_quotes(folder) + " cannot be opened" + (names ? ": " + reason() : "") + ".";
    return std::nullopt;
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(fdopendir(opened.get()), closedir);
  if (stream == nullptr) {
    problem = "The folder cannot be read: " + reason() + ".";
    return std::nullopt;
  }
  opened.release();
  std::vector<FileEntry> entries;
  while (const dirent* const each = readdir(stream.get())) {
    const std::string name = each->d_name;
    if (name.starts_with('.') || entries.size() >= kMostEntries) continue;
    struct stat info {};
    if (fstatat(dirfd(stream.get()), name.c_str(), &info, 0) != 0) continue;
    const bool is_folder = S_ISDIR(info.st_mode);
    if (!is_folder && !(S_ISREG(info.st_mode) && is_document(name))) continue;
    struct stat link {};
    if (fstatat(dirfd(stream.get()), name.c_str(), &link, AT_SYMLINK_NOFOLLOW) != 0) continue;
    std::vector<std::string> below = *names;
    below.push_back(name);
    if (S_ISLNK(link.st_mode) && !resolved(path_, below)) continue;  // leads out of the folder
    entries.push_back({name, is_folder, is_folder ? 0 : static_cast<uint64_t>(info.st_size), info.st_mtim.tv_sec});
  }
  std::sort(entries.begin(), entries.end(), [](const FileEntry& a, const FileEntry& b) {
    return a.is_folder != b.is_folder ? a.is_folder : a.name < b.name;
  });
  return entries;
}

std::optional<FileText> Folder::read(std::string_view file, std::string& problem) const {
  const auto place = place_of(path_, file, problem);
  if (!place) return std::nullopt;
  // Not waiting: it may be a pipe that nobody writes to.
  const Descriptor opened(
      openat(place->folder.get(), place->name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat info {};
  if (!opened || fstat(opened.get(), &info) != 0) {
    problem = in_quotes(file) + " cannot be opened: " + reason() + ".";
    return std::nullopt;
  }
  if (!S_ISREG(info.st_mode)) {
    problem = in_quotes(file) + " is " + (S_ISDIR(info.st_mode) ? "a folder." : "no file with a text.");
    return std::nullopt;
  }
  std::optional<std::string> text = read_all(opened.get(), kMostBytes);
  if (!text) {
    problem = errno == EFBIG ? in_quotes(file) + " is larger than 64 MB: it is not opened as a document."
                             : in_quotes(file) + " cannot be read: " + reason() + ".";
    return std::nullopt;
  }
  return FileText{std::move(*text), stamp_of(info)};
}

int write_whole(int folder, const std::string& name, std::string_view text, unsigned mode, bool replaces, bool lasts) {
  const std::string temporary = "." + name.substr(0, NAME_MAX - 24) + "." + random_token().substr(0, 12) + ".tmp";
  Descriptor file(openat(folder, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return errno;
  bool good = write_all(file.get(), text) && fchmod(file.get(), mode) == 0 && (!lasts || fsync(file.get()) == 0);
  if (good) {
    good = renameat2(folder, temporary.c_str(), folder, name.c_str(), replaces ? 0 : RENAME_NOREPLACE) == 0;
    // A file system without the flag: a second name for the file, which never replaces one.
    if (!good && !replaces && (errno == EINVAL || errno == ENOSYS) &&
        linkat(folder, temporary.c_str(), folder, name.c_str(), 0) == 0)
      good = unlinkat(folder, temporary.c_str(), 0) == 0;
  }
  const int error = good ? 0 : errno;
  if (!good) unlinkat(folder, temporary.c_str(), 0);
  else if (lasts) fsync(folder);
  return error;
}

Folder::Written Folder::write(std::string_view file, std::string_view text, const std::optional<FileStamp>& known,
                              bool overwrite, FileStamp& stamp, std::string& problem) const {
  const auto place = place_of(path_, file, problem);
  if (!place) return Written::kFailed;
  struct stat info {};
  const bool exists = fstatat(place->folder.get(), place->name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && !S_ISREG(info.st_mode)) {
    problem = in_quotes(file) + " is " + (S_ISDIR(info.st_mode) ? "a folder." : "no file that can be replaced.");
    return Written::kFailed;
  }
  if (exists && !overwrite && !(known && *known == stamp_of(info))) return known ? Written::kChanged : Written::kExists;
  const unsigned mode = exists ? info.st_mode & 0777 : mode_of_new_files();
  const int error = write_whole(place->folder.get(), place->name, text, mode, exists, true);
  if (error == EEXIST) return Written::kExists;
  if (error != 0) {
    problem =
        in_quotes(file) + " cannot be written: " + std::strerror(error) + ". What stood there stands there still.";
    return Written::kFailed;
  }
  if (fstatat(place->folder.get(), place->name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) stamp = stamp_of(info);
  return Written::kDone;
}

}  // namespace tessera::repl::page

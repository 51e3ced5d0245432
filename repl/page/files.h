// Files below one folder, by paths of a browser: nothing above it and nothing that a symbolic link leads out to is read, listed
// or written. A file is written whole or not at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::repl::page {

// By which a file that somebody else wrote meanwhile is known.
struct FileStamp {
  uint64_t inode = 0, size = 0;
  int64_t changed = 0;  // nanoseconds
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

// A path from a browser as it stands in a sentence: in quotes, cut, and without control characters.
std::string in_quotes(std::string_view path);

// Why a document cannot be saved by that name; empty: it can.
std::string problem_of_name(std::string_view path);

struct FileEntry {
  std::string name;
  bool is_folder = false;
  uint64_t bytes = 0;
  int64_t changed = 0;  // seconds since 1970
};

struct FileText {
  std::string text;
  FileStamp stamp;
};

class Folder {
 public:
  static constexpr uint64_t kMostBytes = uint64_t(64) << 20;
  static constexpr size_t kMostEntries = 5000;

  // Throws std::runtime_error with a sentence where there is no such folder.
  explicit Folder(const std::string& path);

  const std::string& path() const { return path_; }

  // Folders and what can be opened as a document; hidden ones are left out. Each `problem` is a whole sentence.
  std::optional<std::vector<FileEntry>> list(std::string_view folder, std::string& problem) const;
  std::optional<FileText> read(std::string_view file, std::string& problem) const;

  enum class Written { kDone, kExists, kChanged, kFailed };
  // `known`: the file that is to be replaced, as it was; another one there is kChanged, one where none is known kExists.
  Written write(std::string_view file, std::string_view text, const std::optional<FileStamp>& known, bool overwrite,
                FileStamp& stamp, std::string& problem) const;

 private:
  std::string path_;  // without symbolic links
};

// The file's bytes as they are to stand on the disk, in the open folder: under another name first, then renamed. errno or 0.
// Without `replaces` a file that is there makes it EEXIST. `lasts`: it is on the disk when this returns, for as long as that takes.
int write_whole(int folder, const std::string& name, std::string_view text, unsigned mode, bool replaces, bool lasts);

}  // namespace tessera::repl::page

// The one way from a script to the system's files. With a root folder nothing but what is below it is there; files that are
// open at once are counted; a number of a file counts only if the script has opened it. Nothing else in lang/ and stdlib/
// opens a file or names a path to the system: scripts/lint looks.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::lang {

struct Limits;

class Files {
 public:
  explicit Files(const Limits& limits);
  ~Files();  // closes what the script has left open
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  enum class Last : uint8_t { Followed, Kept };  // a symbolic link as the last part of a path

  // What system calls that end in "at" take: a folder, and a name in it that is no link unless links were kept.
  class Place {
   public:
    Place() = default;
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    int folder() const { return folder_; }
    const char* name() const { return name_.c_str(); }

   private:
    friend class Files;
    int folder_ = kHere;
    bool owned_ = false;
    std::string name_;
  };

  // All that follows answers as system calls do: -1 and errno where it cannot be.
  int find(std::string_view path, Last last, Place& place);
  int open(std::string_view path, int flags, mode_t mode = 0666);
  int close(int file);
  ssize_t read(int file, void* to, size_t size) const;
  ssize_t write(int file, const void* from, size_t size) const;
  off_t seek(int file, off_t offset, int whence) const;
  int truncate(int file, off_t size) const;
  int status(int file, struct stat* out) const;
  int synchronize(int file) const;
  // May the script name this file by its number? Else EBADF.
  bool owns(int file) const;

  int status(std::string_view path, Last last, struct stat* out);
  bool is_file(std::string_view path);
  bool is_folder(std::string_view path);
  int read_all(std::string_view path, std::string& out);
  int current_folder(std::string& out) const;
  int enter_folder(std::string_view path);
  int real_path(std::string_view path, std::string& out);
  // Would a link with this text stay below the root wherever it is moved to?
  bool allows_link_to(std::string_view target) const;

  bool has_root() const { return !root_path_.empty(); }

 private:
  static constexpr int kHere = -100;  // AT_FDCWD

  class Walk;
  bool below_root(std::string_view path, std::string_view& rest) const;

  bool trusted_;   // may do with the process what it likes, so with any of its files
  uint32_t most_;  // files at once; 0: as many as the system lets
  int root_ = -1, error_ = 0;
  std::string given_root_, root_path_;  // as the host wrote it (made absolute), and without links
  std::string current_;                 // below the root; the process's own where there is none
  std::set<int> opened_;
};

}  // namespace tessera::lang

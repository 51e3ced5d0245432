// compile: small (one call per imported file)
#include "lang/objects/code_cache.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler_checksum.h"
#include "lang/compiler/code_bytes.h"
#include "lang/core/files.h"
#include "lang/core/host.h"
#include "lang/core/interpreter.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/module.h"
#include "lang/types/dict.h"
#include "lang/types/str.h"

namespace tessera::lang {

namespace {

constexpr size_t kLeastText = 400;       // bytes; a shorter text is compiled in the time that opening a file takes
constexpr time_t kSecondsToWrite = 60;   // a file takes milliseconds
constexpr size_t kLargestFile = 64 << 20;  // bytes

// Two sums of products, eight bytes at a time. Tells texts apart; no defence against somebody who looks for two with the same sum.
uint64_t checksum(std::string_view bytes) {
  uint64_t sums[2] = {0x9e3779b97f4a7c15u ^ bytes.size(), 0xd6e8feb86659fd93u};
  const auto mix = [](uint64_t a, uint64_t b) {
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (uint64_t words[2]; left != 0; left -= std::min(left, sizeof words), at += sizeof words) {
    if (left < sizeof words) std::memset(words, 0, sizeof words);
    std::memcpy(words, at, std::min(left, sizeof words));
    for (int k = 0; k < 2; ++k) sums[k] = mix(sums[k] ^ words[k], 0xa0761d6478bd642fu);
  }
  return mix(sums[0], sums[1] ^ 0x8ebc6af09c88c6e3u);
}

struct Head {
  char magic[8];
  uint64_t compiler, text_size, text_sum, body_size, body_sum;
};
constexpr char kMagic[] = {'t', 's', 'r', ' ', 'c', 'o', 'd', 'e'};

// A setting that a program may change in the module sys; Undefined if that has not been imported, or has it no more.
Value setting(Interpreter& in, const char* name) {
  Module* const sys = in.modules().find("sys");
  const Value* const found = sys == nullptr ? nullptr : dict_get_text(sys->dict, name);
  return found == nullptr ? Value() : *found;
}

bool may_write(Interpreter& in) {
  const Value no = setting(in, "dont_write_bytecode");
  return no.is_undefined() ? in.host().flags.dont_write_bytecode == 0 : !truth(in, no);
}

// The folder of files of compiled code under which the source's own folders stand again; empty: they stand beside their sources.
std::string common_folder(Interpreter& in) {
  const Value prefix = setting(in, "pycache_prefix");
  if (prefix.is_undefined()) return in.host().flags.pycache_prefix;
  return is_str(prefix) ? std::string(text_of(prefix)) : "";
}

// True if the file or folder belongs to the user or to root, and group and others have no right to write to it.
bool is_trusted(const struct stat& s) {
  return (s.st_mode & (S_IWGRP | S_IWOTH)) == 0 && (s.st_uid == 0 || s.st_uid == ::geteuid());
}

constexpr size_t kFoldersKept = 3;  // of other builds, when a build makes its folder

// Removes the folders of builds that have not written for longest. Nothing in them is the user's: their names are checksums.
void remove_old_folders(const std::filesystem::path& above, const std::filesystem::path& own) {
  std::error_code error;
  std::vector<std::pair<std::filesystem::file_time_type, std::filesystem::path>> others;
  for (const auto& entry : std::filesystem::directory_iterator(above, error)) {  // not the script's: the program's own
    const std::string name = entry.path().filename().string();
    const bool is_sum = name.size() == 16 && name.find_first_not_of("0123456789abcdef") == name.npos;
    if (is_sum && entry.path() != own) others.emplace_back(entry.last_write_time(error), entry.path());
  }
  std::sort(others.rbegin(), others.rend());
  for (size_t i = kFoldersKept; i < others.size(); ++i) std::filesystem::remove_all(others[i].second, error);  // not the script's: the same
}

class CodeFile {
 public:
  CodeFile(Interpreter& in, const Source& source, const CompileOptions& options, const EmbeddedFile* embedded)
      : in_(in), files_(*in.host().files), source_(source), embedded_(embedded) {
    const int optimize = options.optimize < 0 ? in.host().flags.optimize : options.optimize;
    find_folder();
    if (optimize > 0) path_ += ".opt-" + std::to_string(optimize);
    path_ += options.names_in_mapping ? ".exec.tsrc" : ".tsrc";
    std::memcpy(head_.magic, kMagic, sizeof kMagic);
    head_.compiler = kCompilerChecksum;
    head_.text_size = embedded != nullptr ? embedded->size : source.text().size();
    head_.text_sum = embedded != nullptr ? embedded->sum ^ checksum(source.name()) : checksum(source.text());
  }

  // The code, or Undefined.
  Value read(const std::shared_ptr<const Source>& source) {
    const int file = files_.open(path_, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return Value();
    std::unique_ptr<char[]> bytes;
    const size_t size = read_bytes(file, bytes);
    files_.close(file);
    Head head;
    if (size < sizeof head) return Value();
    std::memcpy(&head, bytes.get(), sizeof head);
    const std::string_view body(bytes.get() + sizeof head, size - sizeof head);
    return is_of(head, body) ? code_from_bytes(in_, body, source) : Value();
  }

  // Opens the file before it makes the bytes: in a folder that is read-only, an import costs one failing system call more.
  void write(const Code& code) {
    if (!make_folder()) return;
    struct stat s;
    if (embedded_ != nullptr) s.st_mode = 0644;
    else if (files_.status(source_.name(), Files::Last::Followed, &s) != 0) return;
    const std::string beside = path_ + ".new";
    remove_left(beside);
    const int file = files_.open(beside, O_WRONLY | O_CREAT | O_EXCL, s.st_mode & 0644);
    if (file < 0) return;
    std::string body;
    try {
      body = code_to_bytes(in_, code);
    } catch (const std::exception&) {  // no memory is left for it
    }
    head_.body_size = body.size();
    head_.body_sum = checksum(body);
    bool whole = !body.empty() && body.size() <= kLargestFile - sizeof head_;
    whole = whole && put(file, {reinterpret_cast<const char*>(&head_), sizeof head_}) && put(file, body);
    if (files_.close(file) != 0 || !whole || !rename(beside)) remove(beside);
  }

 private:
  // `folder_`, and `path_` up to its ending. Modules of the program lie beside each other, as json.decoder.
  void find_folder() {
    std::string name = source_.name();
    common_ = common_folder(in_);
    if (embedded_ != nullptr) {
      char build[17];
      std::snprintf(build, sizeof build, "%016llx", static_cast<unsigned long long>(kCompilerChecksum ^ embedded_->sum));
      common_ = common_.empty() ? in_.host().code_folder : common_ + "/tessera";
      folder_ = common_ + "/" + build;
      name = name.substr(name.find('/') + 1);
      std::replace(name.begin(), name.end(), '/', '.');
      path_ = folder_ + "/" + name.substr(0, name.rfind('.'));
      return;
    }
    const size_t base = name.rfind('/') + 1;
    folder_ = name.substr(0, base);
    if (common_.empty()) {
      folder_ += "__tsrcache__";
    } else {
      std::string here;
      if (!folder_.starts_with('/') && files_.current_folder(here) == 0) here += '/';
      folder_ = common_ + "/" + here + folder_;
    }
    path_ = folder_ + "/" + name.substr(base, std::max(name.rfind('.'), base) - base);
  }

  bool is_of(const Head& head, std::string_view body) const {
    return std::memcmp(&head, &head_, offsetof(Head, body_size)) == 0 && head.body_size == body.size() && head.body_sum == checksum(body);
  }

  bool is_trusted_folder() {
    struct stat s;
    return files_.status(folder_, Files::Last::Kept, &s) == 0 && S_ISDIR(s.st_mode) && is_trusted(s);
  }

  size_t read_bytes(int file, std::unique_ptr<char[]>& bytes) {
    struct stat s;
    if (files_.status(file, &s) != 0 || !S_ISREG(s.st_mode) || !is_trusted(s) || !is_trusted_folder()) return 0;
    if (s.st_size <= 0 || static_cast<size_t>(s.st_size) > kLargestFile) return 0;
    bytes.reset(new char[static_cast<size_t>(s.st_size)]);
    size_t size = 0;
    while (size < static_cast<size_t>(s.st_size)) {
      const ssize_t got = files_.read(file, bytes.get() + size, static_cast<size_t>(s.st_size) - size);
      if (got <= 0) return 0;
      size += static_cast<size_t>(got);
    }
    return size;
  }

  // Those of `common_` are made as far as they lack; beside a source there is one to make.
  bool make_folder() {
    if (is_trusted_folder()) return true;
    for (size_t at = common_.empty() ? folder_.size() : 1; at != folder_.npos && at <= folder_.size(); ++at) {
      at = std::min(folder_.find('/', at), folder_.size());
      Files::Place place;
      if (files_.find(std::string_view(folder_).substr(0, at), Files::Last::Kept, place) == 0) ::mkdirat(place.folder(), place.name(), 0755);
    }
    if (embedded_ != nullptr) remove_old_folders(common_, folder_);
    return is_trusted_folder();
  }

  // Removes what a process left that was killed while it wrote. If that one is only slow, two write to one name; sums tell a mixture apart.
  void remove_left(const std::string& beside) {
    struct stat s;
    if (files_.status(beside, Files::Last::Kept, &s) == 0 && ::time(nullptr) - s.st_mtime > kSecondsToWrite) remove(beside);
  }

  bool put(int file, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t wrote = files_.write(file, bytes.data(), bytes.size());
      if (wrote <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(wrote));
    }
    return true;
  }

  bool rename(const std::string& from) {
    Files::Place old, fresh;
    return files_.find(from, Files::Last::Kept, old) == 0 && files_.find(path_, Files::Last::Kept, fresh) == 0 &&
           ::renameat(old.folder(), old.name(), fresh.folder(), fresh.name()) == 0;
  }

  void remove(const std::string& path) {
    Files::Place place;
    if (files_.find(path, Files::Last::Kept, place) == 0) ::unlinkat(place.folder(), place.name(), 0);
  }

  Interpreter& in_;
  Files& files_;
  const Source& source_;
  const EmbeddedFile* const embedded_;
  std::string common_, folder_, path_;
  Head head_{};
};

}  // namespace

Value code_of_file(Interpreter& in, std::shared_ptr<const Source> source, const CompileOptions& options, const EmbeddedFile* embedded) {
  const bool keeps = in.host().keeps_code && (embedded == nullptr ? source->text().size() : embedded->size) >= kLeastText;
  if (!keeps || (embedded != nullptr && in.host().code_folder.empty())) return compile_source(in, std::move(source), options);
  CodeFile file(in, *source, options, embedded);
  if (Value kept = file.read(source); !kept.is_undefined()) return kept;
  const Value code = compile_source(in, source, options);
  if (may_write(in)) file.write(*known_cast<Code>(code));
  return code;
}

}  // namespace tessera::lang

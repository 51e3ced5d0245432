// compile: small (one call per imported file)
#include "lang/objects/code_cache.h"

#include <cstring>
#include <optional>
#include <string>

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

Head head_of(const Source& source, std::string_view body) {
  return {{'t', 's', 'r', ' ', 'c', 'o', 'd', 'e'}, kCompilerChecksum, source.text().size(), checksum(source.text()), body.size(), checksum(body)};
}

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

// Is it the user's or root's, and may nobody else write to it?
bool is_trusted(const struct stat& s) { return (s.st_uid == ::geteuid() || s.st_uid == 0) && (s.st_mode & (S_IWGRP | S_IWOTH)) == 0; }

class CodeFile {
 public:
  CodeFile(Interpreter& in, const Source& source, const CompileOptions& options) : in_(in), files_(*in.host().files), source_(source) {
    const std::string& path = source.name();
    const size_t name = path.rfind('/') + 1, dot = path.rfind('.');
    folder_ = path.substr(0, name);
    if (common_ = common_folder(in); common_.empty()) {
      folder_ += "__tsrcache__";
    } else {
      std::string here;
      if (!folder_.starts_with('/') && files_.current_folder(here) == 0) here += '/';
      folder_ = common_ + "/" + here + folder_;
    }
    path_ = folder_ + "/" + path.substr(name, dot == path.npos || dot < name ? path.npos : dot - name);
    const int optimize = options.optimize < 0 ? in.host().flags.optimize : options.optimize;
    if (optimize > 0) path_ += ".opt-" + std::to_string(optimize);
    path_ += options.names_in_mapping ? ".exec.tsrc" : ".tsrc";
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
    const Head wanted = head_of(source_, body);
    return std::memcmp(&head, &wanted, sizeof head) == 0 ? code_from_bytes(in_, body, source) : Value();
  }

  void write(const Code& code) {
    const std::string body = code_to_bytes(in_, code);
    if (body.empty() || body.size() > kLargestFile - sizeof(Head) || !make_folder()) return;
    struct stat s;
    if (files_.status(source_.name(), Files::Last::Followed, &s) != 0) return;
    const std::string beside = path_ + "." + std::to_string(::getpid());
    const int file = files_.open(beside, O_WRONLY | O_CREAT | O_EXCL, s.st_mode & 0644);
    if (file < 0) return;
    const Head head = head_of(source_, body);
    const bool whole = put(file, {reinterpret_cast<const char*>(&head), sizeof head}) && put(file, body);
    if (files_.close(file) != 0 || !whole || !rename(beside)) remove(beside);
  }

 private:
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
    return is_trusted_folder();
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
  std::string common_, folder_, path_;
};

}  // namespace

Value code_of_file(Interpreter& in, std::shared_ptr<const Source> source, const CompileOptions& options) {
  const bool keeps = in.host().keeps_code && source->text().size() >= kLeastText && !source->name().starts_with("stdlib/");
  if (!keeps) return compile_source(in, std::move(source), options);
  CodeFile file(in, *source, options);
  if (Value kept = file.read(source); !kept.is_undefined()) return kept;
  const Value code = compile_source(in, source, options);
  if (may_write(in)) file.write(*known_cast<Code>(code));
  return code;
}

}  // namespace tessera::lang

// Where what is too long to be shown stands whole.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace tessera::repl {

// A file that is never fuller than it may be; what fails is said once, at the end.
class KeptFile {
 public:
  KeptFile(const std::string& folder, const std::string& name, uint64_t most);
  ~KeptFile();
  KeptFile(const KeptFile&) = delete;
  KeptFile& operator=(const KeptFile&) = delete;

  void write(std::string_view text);
  void flush();
  const std::string& path() const { return path_; }
  const std::string& problem() const { return problem_; }

 private:
  std::string path_, problem_;
  std::FILE* file_ = nullptr;
  uint64_t left_;
};

// The bytes of `text` up to `most` that cut no character in two.
size_t whole_characters(std::string_view text, size_t most);

}  // namespace tessera::repl

#include "repl/notebook/kept_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace tessera::repl {

KeptFile::KeptFile(const std::string& folder, const std::string& name, uint64_t most) : left_(most) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  path_ = folder + "/" + name;
  file_ = std::fopen(path_.c_str(), "wbe");
  if (file_ == nullptr) problem_ = std::strerror(errno);
}

KeptFile::~KeptFile() {
  if (file_ != nullptr) std::fclose(file_);
}

void KeptFile::write(std::string_view text) {
  const auto size = static_cast<size_t>(std::min<uint64_t>(text.size(), left_));
  left_ -= size;
  if (size < text.size() && problem_.empty()) problem_ = "it is longer than what is kept";
  if (file_ != nullptr && std::fwrite(text.data(), 1, size, file_) != size) problem_ = std::strerror(errno);
}

void KeptFile::flush() {
  if (file_ != nullptr && std::fflush(file_) != 0) problem_ = std::strerror(errno);
}

size_t whole_characters(std::string_view text, size_t most) {
  if (text.size() <= most) return text.size();
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return most;
}

}  // namespace tessera::repl

#include "repl/session/draft_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace tessera::repl {

DraftFile::DraftFile(const std::string& text) {
  std::error_code none;
  path_ = (std::filesystem::temp_directory_path(none) / "tessera-XXXXXX.tsr").string();
  if (none) {
    problem_ = "there is no folder for temporary files (TMPDIR): " + none.message();
    return;
  }
  const int file = mkstemps(path_.data(), 4);
  if (file >= 0) {
    close(file);
    std::ofstream out(path_, std::ios::binary);
    if (out << text && out.flush()) return;
  }
  problem_ = "there is no place for a file to be edited: " + path_ + ": " + std::strerror(errno);
}

DraftFile::~DraftFile() { unlink(path_.c_str()); }

std::optional<std::string> DraftFile::text() const {
  std::ifstream file(path_, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace tessera::repl

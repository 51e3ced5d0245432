// The kernel's folder below $TMPDIR, for output that is more than a notebook shows. It goes with the kernel; one that a killed
// kernel left goes when the next one starts.
#pragma once

#include <string>

namespace tessera::repl {

class ScratchFolder {
 public:
  ScratchFolder();  // without a place for it path() is empty
  ~ScratchFolder() { remove(); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  void remove() noexcept;

 private:
  std::string path_;
  int lock_ = -1;  // held while the kernel lives
};

}  // namespace tessera::repl

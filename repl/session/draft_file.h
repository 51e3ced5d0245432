// A text in a file of its own, for a person's editor.
#pragma once

#include <optional>
#include <string>

namespace tessera::repl {

// In the folder for temporary files; gone with the object. Not a script's file, so none of its limits are asked.
class DraftFile {
 public:
  explicit DraftFile(const std::string& text);
  ~DraftFile();
  DraftFile(const DraftFile&) = delete;
  DraftFile& operator=(const DraftFile&) = delete;

  const std::string& path() const { return path_; }
  // Why there is no file with the whole text; empty: there is.
  const std::string& problem() const { return problem_; }
  // What the editor left; nothing: it cannot be read.
  std::optional<std::string> text() const;

 private:
  std::string path_, problem_;
};

}  // namespace tessera::repl

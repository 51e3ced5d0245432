// Results, displays and errors that are too long for a message: the beginning is shown, the whole goes to a file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "repl/notebook/frontend.h"

namespace tessera::repl {

class LongTexts {
 public:
  struct Bounds {
    uint64_t text = uint64_t(1) << 20;    // bytes of a text/plain, of an error
    uint64_t markup = uint64_t(4) << 20;  // ... of what cannot be cut: HTML, SVG, JSON
    uint64_t kept = uint64_t(1) << 30;    // ... that the files of one cell have at most
  };
  struct Cut {
    std::string path, problem;
    uint64_t bytes = 0;  // that are not shown
    std::string word;    // of a form that is left out; of a text the word stands at the cut
  };

  explicit LongTexts(std::string folder) : LongTexts(std::move(folder), Bounds()) {}
  LongTexts(std::string folder, Bounds bounds) : folder_(std::move(folder)), bounds_(bounds) {}

  void begin_cell(int number);
  // What was cut, which is to be said when the forms have been shown. Some form always stays.
  std::vector<Cut> cut(Forms& forms);
  std::vector<Cut> cut(ErrorReport& report);

 private:
  Cut keep(std::string_view text, uint64_t shown, const char* ending);
  void cut_text(std::string& text, std::vector<Cut>& cuts);

  const std::string folder_;
  const Bounds bounds_;
  int number_ = 0, count_ = 0;  // of the cell; of its files
  uint64_t kept_ = 0;           // bytes of its files
};

}  // namespace tessera::repl

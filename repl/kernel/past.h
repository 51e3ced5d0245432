// The cells that were run: those of this kernel with what they gave, and those of the history that all of a person's sessions
// share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "repl/kernel/message.h"
#include "repl/session/history.h"

namespace tessera::repl {

class Past {
 public:
  Past() : shared_(history_file()) {}

  void add(int number, const std::string& cell, std::optional<std::string> output);
  // What a history_request asks for: lists of session, number, cell; with "output" cell and output are a pair.
  Json answer(const Message& request) const;

 private:
  struct Cell {
    int64_t session = 0, number = 0;
    const std::string* text = nullptr;
    const std::string* output = nullptr;
  };
  struct Own {
    int number;
    std::string text;
    std::optional<std::string> output;
  };
  std::vector<Cell> all() const;
  std::vector<Cell> found(const Message& request) const;
  std::vector<Cell> range(const Message& request) const;

  History shared_;
  std::vector<Own> own_;
};

// As a shell's: "*", "?", "[a-z]", "[^0]"; case matters. The whole text has to fit.
bool fits_pattern(std::string_view text, std::string_view pattern);

}  // namespace tessera::repl

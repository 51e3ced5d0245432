#include "repl/session/history.h"

#include <utility>

namespace tessera::repl {

History::History(std::string path) : path_(std::move(path)) {}

void History::add(const std::string& block) {
  if (blocks_.empty() || blocks_.back() != block) blocks_.push_back(block);
}

void History::refresh() {}

std::string history_file() { return ""; }

}  // namespace tessera::repl

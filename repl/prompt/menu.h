// The candidates of a completion, below the block: one below the other with their notes when they are few, else in columns.
#pragma once

#include <string>
#include <vector>

#include "repl/prompt/layout.h"
#include "repl/session/complete.h"

namespace tessera::repl {

class Menu {
 public:
  bool is_open() const { return open_; }
  void open(Completion completion);
  void close() { open_ = false; }

  // None is chosen at first.
  void step(int by);
  void step_row(int by);     // up and down
  void step_column(int by);  // left and right; in one column: nothing
  const Candidate* chosen() const;
  const Completion& completion() const { return completion_; }

  // As lines of at most `columns`; at most `most` of them.
  std::vector<Pieces> lines(int columns, int most);

 private:
  struct Shape {
    size_t in_a_column = 1;  // rows, of which some may not be shown
    size_t columns = 1;
    int width = 0;
  };
  Shape shape(int columns, int most) const;

  Completion completion_;
  bool open_ = false;
  long at_ = -1;
  Shape last_;
  size_t top_ = 0;  // the first row that is shown
};

// What all candidates begin with; whole characters.
std::string common_beginning(const std::vector<Candidate>& candidates);

}  // namespace tessera::repl

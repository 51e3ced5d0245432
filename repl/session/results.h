// What was typed and what came of it, under the names that IPython's users know: In, Out, _, __, ___, _3, _i, _ii, _iii, _i3.
// They are ordinary names of the main module.
//
// What is kept: every block's text, and the values of the last kKept blocks that had one. Of these, older tensors that hold
// more than kTensorBytes together are let go, the oldest first; the last three always stay (_, __, ___). `:reset out` lets
// all of them go.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lang/core/interpreter.h"

namespace tessera::repl {

class Results {
 public:
  static constexpr size_t kKept = 1000;
  static constexpr int64_t kTensorBytes = int64_t{1} << 28;

  explicit Results(lang::Interpreter& in) : in_(in) {}

  // Block `number` begins: In and the names of the last blocks' texts.
  void begin(int number, const std::string& block);
  void keep(int number, const lang::Value& value);
  void clear_out();
  void clear_in();
  // Makes room in a main module that was emptied, or numbers from another session: In and Out are as they are here.
  void publish();

  const std::vector<std::string>& blocks() const { return blocks_; }  // blocks()[3] is In[3]; [0] is empty
  // Puts the blocks of a restored session in the place of these.
  void set_blocks(std::vector<std::string> blocks);

 private:
  struct Kept {
    int number;
    int64_t bytes;
  };
  void set(std::string_view name, const lang::Value& value);
  void forget(int number);
  void drop_old();

  lang::Interpreter& in_;
  lang::Value in_list_, out_dict_;
  lang::Value shown_[3];  // what _, __ and ___ are, as far as the person has not given them another meaning
  std::vector<std::string> blocks_{""};
  std::vector<Kept> kept_;
};

// Is it a name that the session has made: "_", "_3", "_i", "Out"?
bool is_session_name(std::string_view name);

}  // namespace tessera::repl

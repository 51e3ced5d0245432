// Natives of processes and of signals: their common parts.
#pragma once

#include <cerrno>
#include <cstdint>
#include <string>
#include <vector>

#include "lang/types/bigint.h"
#include "lang/types/number.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {

inline void require_processes(Interpreter& in) { require(in.limits.processes, "processes"); }

// OverflowError: an int of C cannot hold it.
inline int small(Interpreter& in, const Value& v) {
  return whole_to_int(whole_index(in, v));
}

// The answer of a system call that says -1 when it fails.
inline Value checked(Interpreter& in, int64_t answer) {
  if (answer < 0) throw_os_error(in, errno);
  return Value::integer(answer);
}
inline Value checked_none(Interpreter& in, int64_t answer) {
  checked(in, answer);
  return Value::none();
}

// Texts as C wants them: an array of pointers that ends with a null one. `read` takes the text of an item.
class TextArray {
 public:
  template <class Read>
  TextArray(Interpreter& in, const Value& list, Read&& read) {
    const Value items = list_from(in, list);
    for (const Value& item : *as_list(items)) texts_.push_back(read(item));
    for (std::string& text : texts_) pointers_.push_back(text.data());
    pointers_.push_back(nullptr);
  }
  char** data() { return pointers_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

void add_signals(Interpreter& in, Module& module);

}  // namespace tessera::stdlib

// Texts of times, and how often a statement is run to time it: as IPython's %time and %timeit.
#pragma once

#include <string>
#include <vector>

#include "lang/core/interpreter.h"

namespace tessera::repl {

std::string duration_text(double seconds, int digits = 3);  // "1.23 µs", "2min 3s"

struct Timing {
  std::vector<double> runs;  // seconds a loop
  int64_t loops = 1;
};
std::string timing_text(const Timing& timing);

// A function that runs the statement as often as its first argument has items, and answers the seconds (timed by its second).
lang::Value timed_function(lang::Interpreter& in, const std::string& name, const std::string& setup,
                           const std::string& statement);
// `loops` 0: so many that they take a fifth of a second.
Timing time_it(lang::Interpreter& in, const lang::Value& function, int64_t loops, int repeats);

}  // namespace tessera::repl

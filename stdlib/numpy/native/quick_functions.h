// Functions that stand in front of numpy's: each answers everyday arguments, all by position, or returns false.
#pragma once

#include "stdlib/numpy/native/array_operands.h"

namespace tessera::stdlib::arrays {

using Quick = bool (*)(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer);

struct QuickFunction {
  const char* name;
  uint32_t least, most;  // arguments, all by position
  Quick function;
};

// Returns the native function that is called before numpy's function of this name, or null where numpy has no such native.
const QuickFunction* find_quick(std::string_view name);

// Returns the elements of a plain, contiguous array of doubles with one dimension, and their number; null for any other value.
const double* doubles_in(const ArrayCalls& s, const Value& v, int64_t& count);

// Counts the true elements of a plain, contiguous array of truths. Returns false for any other value, and where a byte is neither 0 nor 1.
bool count_truths(const ArrayCalls& s, const Value& array, int64_t& count);

// Reductions and scans.
bool quick_sum(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer);
bool quick_mean(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer);
bool quick_max(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer);
bool quick_min(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer);
bool quick_any(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer);
bool quick_all(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer);
bool quick_std(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer);
bool quick_var(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer);
bool quick_cumsum(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer);
bool quick_argmax(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer);
bool quick_argmin(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer);
bool quick_prod(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer);
bool quick_count(Interpreter& in, const ArrayCalls& s, const Args& args, Value& answer);

}  // namespace tessera::stdlib::arrays

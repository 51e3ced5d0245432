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

// Null where there is none of that name.
const QuickFunction* find_quick(std::string_view name);

// The flat doubles of a plain array; null where it is none.
const double* doubles_in(const ArrayCalls& s, const Value& v, int64_t& count);

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

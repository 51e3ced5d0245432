// compile: small (waits for a person)
#include "repl/session/timing.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "lang/assist/pieces.h"
#include "lang/builtins/builtins.h"
#include "lang/compiler/compile.h"
#include "lang/core/protocol.h"
#include "lang/objects/module.h"
#include "lang/syntax/source.h"
#include "lang/types/dict.h"
#include "lang/vm/vm.h"

namespace tessera::repl {
using namespace lang;

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

Value now_function(Interpreter&, const Args&) { return Value::real(now()); }

// Every line deeper, but for those that begin in the middle of a string.
std::string indented(const std::string& text, const std::string& by) {
  std::vector<size_t> inside;
  for (const Piece& piece : pieces_of(text))
    if (piece.kind == Piece::Kind::String)
      for (size_t i = piece.begin; i < piece.end; ++i)
        if (text[i] == '\n') inside.push_back(i);
  std::string out = by;
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] == '\n' && i + 1 < text.size() && !std::binary_search(inside.begin(), inside.end(), i)) out += by;
  }
  return out + (out.ends_with('\n') ? "" : "\n");
}

std::string grouped(int64_t number) {
  std::string text = std::to_string(number);
  for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

}  // namespace

std::string duration_text(double seconds, int digits) {
  if (seconds >= 60) {
    static constexpr struct {
      const char* name;
      int64_t seconds;
    } kParts[] = {{"d", 86400}, {"h", 3600}, {"min", 60}, {"s", 1}};
    std::string text;
    auto left = static_cast<int64_t>(seconds);
    for (const auto& part : kParts) {
      if (left >= part.seconds) text += (text.empty() ? "" : " ") + std::to_string(left / part.seconds) + part.name;
      left %= part.seconds;
    }
    return text;
  }
  static constexpr const char* kUnits[] = {"s", "ms", "µs", "ns"};
  const int order =
      seconds > 0 ? std::clamp(static_cast<int>(-std::floor(std::floor(std::log10(seconds)) / 3)), 0, 3) : 3;
  char text[64];
  std::snprintf(text, sizeof text, "%.*g %s", digits, seconds * std::pow(1000, order), kUnits[order]);
  return text;
}

std::string timing_text(const Timing& timing) {
  const auto count = static_cast<double>(timing.runs.size());
  double mean = 0, squares = 0;
  for (const double run : timing.runs) mean += run / count;
  for (const double run : timing.runs) squares += (run - mean) * (run - mean) / count;
  const auto [best, worst] = std::minmax_element(timing.runs.begin(), timing.runs.end());
  std::string text;
  if (*worst > 4 * *best && *best > 0 && *worst > 1e-6) {
    char line[160];
    std::snprintf(
        line, sizeof line,
        "The slowest run took %.2f times longer than the fastest. This could mean that an intermediate result is "
        "being cached.\n",
        *worst / *best);
    text = line;
  }
  return text + duration_text(mean) + " ± " + duration_text(std::sqrt(squares)) + " per loop (mean ± std. dev. of " +
         std::to_string(timing.runs.size()) + (timing.runs.size() == 1 ? " run, " : " runs, ") + grouped(timing.loops) +
         (timing.loops == 1 ? " loop each)\n" : " loops each)\n");
}

Value timed_function(Interpreter& in, const std::string& name, const std::string& setup, const std::string& statement) {
  for (const std::string* text : {&setup, &statement})  // by itself: what is wrong with it is said of its own lines
    in.compile(*std::make_shared<Source>(name, *text), CompileMode::Module);
  static constexpr const char* kName = "_timed";
  const std::string text = std::string("def ") + kName + "(_loops, _clock):\n" + indented(setup, "    ") +
                           "    _begin = _clock()\n    for _loop in _loops:\n" + indented(statement, "        ") +
                           "    return _clock() - _begin\n";
  Dict* const names = in.main_module()->dict;
  const Value* before = dict_get_text(names, kName);
  const Value kept = before == nullptr ? Value() : *before;
  in.run_interactive(*std::make_shared<Source>(name, text));
  const Value function = *dict_get_text(names, kName);
  if (kept.is_undefined()) dict_delete_str(in, names, intern(in, kName));
  else dict_set_str(in, names, intern(in, kName), kept);
  return function;
}

Timing time_it(Interpreter& in, const Value& function, int64_t loops, int repeats) {
  const RunScope run(in.vm());
  const Value clock = in.new_function("_clock()", "", now_function);
  const Value range = *find_builtin(in, intern(in, "range"));
  const auto take = [&](int64_t count) {
    return call(in, function, {call(in, range, {Value::integer(count)}), clock}).as_float();
  };
  if (loops == 0)
    for (loops = 1; loops < 1'000'000'000 && take(loops) < 0.2;) loops *= 10;
  Timing timing{{}, loops};
  for (int i = 0; i < repeats; ++i) timing.runs.push_back(take(loops) / static_cast<double>(loops));
  return timing;
}

}  // namespace tessera::repl

// Options from the environment, errors on demand, and the end of a process that broke a rule.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>

#include "executor.h"

namespace tessera_executor {
namespace {

struct AskedFault {
  long call;  // the n-th
  cudaError_t error;
  bool lasting;
};

struct State {
  Options options;
  std::multimap<std::string, AskedFault> faults;
  std::map<std::string, long> calls;
  cudaError_t lasting = cudaSuccess;
};

size_t bytes_of(const std::string& text) {
  char* unit = nullptr;
  const double number = std::strtod(text.c_str(), &unit);
  const int shift = *unit == 'K' ? 10 : *unit == 'M' ? 20 : *unit == 'G' ? 30 : 0;
  return size_t(number * double(size_t(1) << shift));
}

// fail=FUNCTION@CALL:ERROR, with ! behind it for an error that lasts; * is any function.
void ask_for(State& state, const std::string& text) {
  const size_t at = text.find('@'), colon = text.find(':');
  if (at == std::string::npos || colon == std::string::npos) {
    std::fprintf(stderr, "TESSERA_EXECUTOR: fail=FUNCTION@CALL:ERROR, not '%s'\n", text.c_str());
    std::exit(2);
  }
  state.faults.insert(
      {text.substr(0, at),
       {std::atol(text.c_str() + at + 1), cudaError_t(std::atoi(text.c_str() + colon + 1)), text.back() == '!'}});
}

void set(State& state, const std::string& name, const std::string& value) {
  Options& o = state.options;
  if (name == "seed") o.seed = std::strtoull(value.c_str(), nullptr, 10);
  else if (name == "devices") o.devices = std::atoi(value.c_str());
  else if (name == "memory") o.memory = bytes_of(value);
  else if (name == "check") o.check = value != "0";
  else if (name == "unwritten") o.unwritten = value != "0";
  else if (name == "report") o.report = value;
  else if (name == "shuffle") o.shuffle = value != "0";
  else if (name == "now") o.now = value != "0";
  else if (name == "driver") o.driver = std::atoi(value.c_str());
  else if (name == "capability") o.capability = std::atoi(value.c_str());
  else if (name == "without") o.without.insert(value);
  else if (name == "fail") ask_for(state, value);
  else std::fprintf(stderr, "TESSERA_EXECUTOR: there is no option '%s'\n", name.c_str()), std::exit(2);
}

State& state() {
  static State* state = [] {
    auto* made = new State;
    const char* given = std::getenv("TESSERA_EXECUTOR");
    std::istringstream words(given == nullptr ? "" : given);
    for (std::string word; std::getline(words, word, ',');) {
      const size_t equal = word.find('=');
      if (!word.empty()) set(*made, word.substr(0, equal), equal == std::string::npos ? "" : word.substr(equal + 1));
    }
    return made;
  }();
  return *state;
}

}  // namespace

Options& options() { return state().options; }
void ask_for_fault(const std::string& text) { ask_for(state(), text); }

std::recursive_mutex& lock() {
  static std::recursive_mutex mutex;
  return mutex;
}

void set_lasting_error(cudaError_t error) { state().lasting = error; }

cudaError_t asked_fault(const char* function) {
  State& s = state();
  if (s.options.driver < 13000) return cudaErrorInsufficientDriver;
  if (s.lasting != cudaSuccess) return s.lasting;
  if (s.faults.empty()) return cudaSuccess;
  for (const char* name : {function, "*"}) {  // * counts the calls of all functions
    const long call = ++s.calls[name];
    const auto [first, last] = s.faults.equal_range(name);
    for (auto f = first; f != last; ++f) {
      if (f->second.call != call) continue;
      if (f->second.lasting) s.lasting = f->second.error;
      return f->second.error;
    }
  }
  return cudaSuccess;
}

void violation(const std::string& what) {
  std::fflush(stdout);
  std::fprintf(stderr, "\nCUDA executor: %s\n  %s\n", what.c_str(), where().c_str());
  std::fflush(stderr);
  _exit(86);
}

}  // namespace tessera_executor

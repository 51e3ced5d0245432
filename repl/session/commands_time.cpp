// compile: small (waits for a person)
// :time, :timeit, :profile and their cells.
#include <sys/resource.h>

#include <charconv>
#include <chrono>

#include "repl/session/commands.h"
#include "repl/session/prelude.h"
#include "repl/session/profile.h"
#include "repl/session/timing.h"

namespace tessera::repl {
using namespace lang;

namespace {

double seconds_of(const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; }

void need(std::string_view arguments, const char* usage) {
  if (arguments.empty()) throw CommandError(std::string("usage: ") + usage);
}

Outcome run_time(Session& session, std::string_view arguments) {
  need(arguments, ":time STATEMENT");
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  const auto begin = std::chrono::steady_clock::now();
  const Value value = session.execute(std::string(arguments));
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  getrusage(RUSAGE_SELF, &after);
  const double user = seconds_of(after.ru_utime) - seconds_of(before.ru_utime);
  const double system = seconds_of(after.ru_stime) - seconds_of(before.ru_stime);
  session.client().write("CPU times: user " + duration_text(user) + ", sys: " + duration_text(system) +
                         ", total: " + duration_text(user + system) + "\nWall time: " + duration_text(wall) + "\n");
  session.show(value);
  return {};
}

struct TimeitOptions {
  int64_t loops = 0;
  int repeats = 7;
};

int64_t number_of(std::string_view text, const char* option) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1)
    throw CommandError(std::string("timeit: ") + option + " needs a number from 1 on");
  return number;
}

// Takes "-n 100 -r3 -q" from the front.
TimeitOptions options_of(std::string_view& arguments) {
  TimeitOptions options;
  while (arguments.size() > 1 && arguments[0] == '-' && arguments[1] >= 'a' && arguments[1] <= 'z') {
    const char option = arguments[1];
    if (std::string_view("nrtcqpo").find(option) == std::string_view::npos) break;
    arguments = trimmed(arguments.substr(2));
    if (option == 'o') throw CommandError("timeit: -o is not there: nothing is answered but the text");
    if (option != 'n' && option != 'r' && option != 'p') continue;
    const size_t end = std::min(arguments.find(' '), arguments.size());
    const int64_t number = number_of(arguments.substr(0, end), option == 'n' ? "-n" : option == 'r' ? "-r" : "-p");
    if (option == 'n') options.loops = number;
    if (option == 'r') options.repeats = static_cast<int>(std::min<int64_t>(number, 1'000'000));
    arguments = trimmed(arguments.substr(end));
  }
  return options;
}

Outcome time_statement(Session& session, const std::string& setup, const std::string& statement,
                       const TimeitOptions& options) {
  Interpreter& in = session.interpreter();
  import_prelude(in, setup);
  import_prelude(in, statement);
  const Value function = timed_function(in, session.block_name(), setup.empty() ? "pass" : setup, statement);
  session.client().write(timing_text(time_it(in, function, options.loops, options.repeats)));
  return {};
}

Outcome run_timeit(Session& session, std::string_view arguments) {
  const TimeitOptions options = options_of(arguments);
  need(arguments, ":timeit [-n LOOPS] [-r REPEATS] STATEMENT");
  return time_statement(session, "", std::string(arguments), options);
}

Outcome run_profile(Session& session, std::string_view arguments) {
  need(arguments, ":profile STATEMENT");
  Value value;
  std::string text;
  {
    Profile profile(session.interpreter());
    value = session.execute(std::string(arguments));
    profile.stop();
    text = profile.text(session.client().style().columns);
  }
  session.client().write(text);
  session.show(value);
  return {};
}

constexpr Command kCommands[] = {
    {"time", "STATEMENT", "runs it and says how long it took", Command::Takes::Statement, run_time},
    {"timeit", "[-n LOOPS] [-r REPEATS] STATEMENT", "runs it many times and says how long one takes",
     Command::Takes::Statement, run_timeit,
     "Without -n so many loops are made that they take a fifth of a second; they are repeated 7 times (-r). What the\n"
     "statement assigns is its own, as in a function. %%timeit times the lines below it; what stands behind it on its\n"
     "line runs before, untimed."},
    {"profile", "STATEMENT", "runs it and says which lines, functions and operations took the time",
     Command::Takes::Statement, run_profile,
     "Looks at the program every millisecond. `self` is the time in the line itself and the operations that it calls,\n"
     "`total` has also that in the functions which it calls."},
};

}  // namespace

std::span<const Command> time_commands() { return kCommands; }

Outcome run_cell(Session& session, const CommandLine& line) {
  if (line.name == "timeit") {
    std::string_view setup = line.arguments;
    const TimeitOptions options = options_of(setup);
    if (trimmed(line.body).empty()) return run_timeit(session, line.arguments);
    return time_statement(session, std::string(setup), line.body, options);
  }
  const Command* const command = find_command(line.name);
  if (command != nullptr && command->takes == Command::Takes::Statement)
    return command->run(session, line.arguments + "\n" + line.body);
  if (line.name == "writefile") return write_file(session, line);
  if (line.name == "bash" || line.name == "sh") {
    run_shell(session, line.body);
    return {};
  }
  throw CommandError("there is no cell command %%" + line.name +
                     "; there are %%time, %%timeit, %%profile, %%writefile and %%bash");
}

}  // namespace tessera::repl

// compile: small (waits for a person)
// :tensors, :watch, :inspect, :graph, :model: what the inspector sees, for the client's style.
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include "lang/syntax/source.h"
#include "repl/inspector/graph.h"
#include "repl/inspector/inspect_tensor.h"
#include "repl/inspector/live_tensors.h"
#include "repl/inspector/model.h"
#include "repl/inspector/tensors_text.h"
#include "repl/session/commands.h"
#include "repl/session/prelude.h"

namespace tessera::repl {
using namespace lang;

namespace {

Value evaluate(Session& session, std::string_view expression, const char* usage) {
  if (expression.empty()) throw CommandError(std::string("usage: ") + usage);
  Interpreter& in = session.interpreter();
  import_prelude(in, expression);
  return in.eval(*std::make_shared<Source>(session.block_name(), expression));
}

// What was stopped in the middle has said so; the person's Ctrl-C is heard after that.
Outcome answer(Session& session, const std::string& text) {
  session.client().write(text);
  session.interpreter().check_stop();
  return {};
}

Outcome run_tensors(Session& session, std::string_view arguments) {
  const LiveTensors live = live_tensors(session.interpreter());
  const TableChoice choice = table_choice(arguments);
  if (session.client().show_tensors(live, choice)) return answer(session, "");
  return answer(session, tensors_text(live, session.client().style(), choice));
}

// --- :watch

// After each block: less is read than where somebody asks once.
LookFor look_of_watch() {
  LookFor look;
  look.elements_of_one = look.elements_of_all = int64_t(1) << 26;
  return look;
}

struct Watch {
  TableChoice choice;
  LiveTensors before;  // without the tensors: a watch keeps nothing alive
  bool is_new = true;  // the block that began it
};

void show_changes(Session& session, Watch& watch) {
  const std::string& block = session.results().blocks().back();
  if (watch.is_new || command_of(trimmed(block))) {  // commands change little, and answer for themselves
    watch.is_new = false;
    return;
  }
  LiveTensors now = live_tensors(session.interpreter(), look_of_watch());
  session.client().write(changes_text(watch.before, now, session.client().style(), watch.choice));
  now.forget_tensors();
  watch.before = std::move(now);
}

Outcome run_watch(Session& session, std::string_view arguments) {
  if (arguments == "off") {
    session.after_each_block({});
    session.client().write("the tensors are not watched any more\n");
    return {};
  }
  const auto watch = std::make_shared<Watch>();
  watch->choice = table_choice(arguments);
  watch->before = live_tensors(session.interpreter(), look_of_watch());
  const std::string text = tensors_text(watch->before, session.client().style(), watch->choice);
  watch->before.forget_tensors();
  session.after_each_block([watch](Session& session) { show_changes(session, *watch); });
  return answer(session, text);
}

Outcome run_inspect(Session& session, std::string_view arguments) {
  const Value value = evaluate(session, arguments, ":inspect EXPRESSION");
  if (session.client().show_inspection(session.interpreter(), value, arguments)) return answer(session, "");
  return answer(session, inspect_text(session.interpreter(), value, arguments, session.client().style()));
}

Outcome run_model(Session& session, std::string_view arguments) {
  const Value value = evaluate(session, arguments, ":model EXPRESSION");
  return answer(session, model_text(session.interpreter(), value, arguments, session.client().style()));
}

// --- :graph

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) throw CommandError(path + ": " + std::strerror(errno));
}

bool is_dot_file(std::string_view word) { return word.ends_with(".dot") || word.ends_with(".gv"); }

Outcome run_graph(Session& session, std::string_view arguments) {
  const size_t blank = arguments.rfind(' ');
  const std::string_view last = blank == arguments.npos ? "" : arguments.substr(blank + 1);
  const std::string_view expression = is_dot_file(last) ? trimmed(arguments.substr(0, blank)) : arguments;
  const Value value = evaluate(session, expression, ":graph EXPRESSION [FILE.dot]");
  Interpreter& in = session.interpreter();
  if (!is_dot_file(last) && session.client().show_graph(in, value, expression)) return answer(session, "");
  if (!is_dot_file(last)) return answer(session, graph_text(in, value, expression, session.client().style()));
  const std::string dot = graph_dot(in, value, expression);
  if (dot.empty()) throw CommandError(std::string(expression) + " has no graph behind it: it requires no gradient");
  write_file(std::string(last), dot);
  return answer(session, std::string(last) + " has the graph; `dot -Tsvg " + std::string(last) + "` draws it\n");
}

constexpr Command kCommands[] = {
    {"tensors", "[NAME*] [size]", "the tensors that live, with their numbers", Command::Takes::Words, run_tensors,
     "Sorted by name, or by size. NAME may have * and ?. docs/inspector.md says what the columns mean."},
    {"watch", "[NAME*] [size] | off", ":tensors again after each block, what changed is marked", Command::Takes::Words,
     run_watch, "+ is new, * has other values or another layout, - is gone."},
    {"inspect", "EXPRESSION", "one tensor: layout, memory, numbers, pictures, gradient", Command::Takes::Name,
     run_inspect},
    {"graph", "EXPRESSION [FILE.dot]", "the autograd graph behind a tensor, as a tree or for Graphviz",
     Command::Takes::Name, run_graph},
    {"model", "EXPRESSION", "the layers of a model: shapes, parameters, bytes", Command::Takes::Name, run_model},
};

}  // namespace

std::span<const Command> tensor_commands() { return kCommands; }

}  // namespace tessera::repl

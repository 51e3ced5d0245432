// :who, :whos, :reset, :history, :device, :seed: what there is in the session, and its settings.
// compile: small (once for a look of a person)
#include <algorithm>
#include <charconv>

#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/module.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/vm/vm.h"
#include "repl/session/commands.h"
#include "repl/session/prelude.h"
#include "repl/session/variables.h"
#include "runtime/device/plugin_loader.h"
#include "stdlib/torch/state.h"
#include "stdlib/torch/torch_module.h"

namespace tessera::repl {
using namespace lang;

namespace {

std::string padded(std::string text, size_t width) {
  const size_t has = count_chars(text);
  return has < width ? text + std::string(width - has, ' ') : text;
}

// One line about a value that no script has a part in.
std::string summary(Interpreter& in, const Value& value) {
  if (!value.is_object() || is_str(value)) {
    std::string text = repr_text(in, value);
    if (count_chars(text) > 60)
      text = text.substr(0, static_cast<size_t>(skip_chars(text.data(), 57) - text.data())) + "...";
    return text;
  }
  if (in.extension != nullptr && stdlib::is_tensor(stdlib::torch_state(in), value)) {
    const auto& t = stdlib::tensor_of(value);
    return t.defined() ? stdlib::describe(t) : "";
  }
  const auto items = [](size_t count) { return std::to_string(count) + (count == 1 ? " item" : " items"); };
  if (is_list(value)) return items(as_list(value)->size);
  if (is_tuple(value)) return items(as_tuple(value)->size);
  if (is_dict(value)) return items(as_dict(value)->count);
  if (value.as_object()->kind == ObjectKind::Module)
    return std::string(object_cast<Module>(value)->name->view());
  return "";
}

bool has_type(Interpreter& in, const Variable& variable, const std::vector<std::string>& types) {
  return types.empty() || std::find(types.begin(), types.end(), type_name(in, variable.value)) != types.end();
}

Outcome run_who(Session& session, std::string_view arguments) {
  Interpreter& in = session.interpreter();
  const std::vector<std::string> types = words_of(arguments);
  std::string line;
  for (const Variable& variable : variables_of(in))
    if (has_type(in, variable, types)) line += variable.name + "\t ";
  session.client().write(line.empty() ? "Interactive namespace is empty.\n" : line + "\n");
  return {};
}

Outcome run_whos(Session& session, std::string_view arguments) {
  Interpreter& in = session.interpreter();
  const std::vector<std::string> types = words_of(arguments);
  std::vector<Variable> shown;
  for (Variable& variable : variables_of(in))
    if (has_type(in, variable, types)) shown.push_back(std::move(variable));
  if (shown.empty()) {
    session.client().write("Interactive namespace is empty.\n");
    return {};
  }
  size_t names = 8, kinds = 4;
  for (const Variable& variable : shown) {
    names = std::max(names, count_chars(variable.name));
    kinds = std::max(kinds, count_chars(type_name(in, variable.value)));
  }
  std::string text = padded("Variable", names + 3) + padded("Type", kinds + 3) + "Data/Info\n";
  text += std::string(text.size() - 1, '-') + "\n";
  for (const Variable& variable : shown)
    text += padded(variable.name, names + 3) + padded(std::string(type_name(in, variable.value)), kinds + 3) +
            summary(in, variable.value) + "\n";
  session.client().write(text);
  return {};
}

Outcome run_reset(Session& session, std::string_view arguments) {
  Interpreter& in = session.interpreter();
  bool names = true;
  for (const std::string& word : words_of(arguments)) {
    if (word == "-f" || word == "-s") continue;
    names = false;
    if (word == "out") session.results().clear_out();
    else if (word == "in") session.results().clear_in();
    else throw CommandError("usage: :reset [-f] [in] [out]");
  }
  if (!names) return {};
  size_t count = 0;
  for (const Variable& variable : variables_of(in))
    count += dict_delete_str(in, in.main_module()->dict, intern(in, variable.name));
  session.results().clear_out();
  session.client().write(std::to_string(count) + (count == 1 ? " name is" : " names are") + " gone\n");
  return {};
}

// "3", "2-5", "-4" (the last four)
bool is_range(std::string_view word, size_t count, size_t& first, size_t& last) {
  const auto number = [](std::string_view text, size_t& into) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
    return error == std::errc() && end == text.data() + text.size();
  };
  size_t back = 0;
  if (word.size() > 1 && word[0] == '-' && number(word.substr(1), back)) {
    last = count - 1;
    first = back >= last ? 1 : last - back + 1;
    return true;
  }
  const size_t dash = word.find('-');
  if (!number(word.substr(0, dash), first)) return false;
  last = first;
  return dash == word.npos || number(word.substr(dash + 1), last);
}

std::string history_line(size_t number, const std::string& block, bool numbered, size_t width) {
  if (!numbered) return block + "\n";
  const std::string shown = std::to_string(number);
  std::string text = std::string(width - shown.size(), ' ') + shown + ": ";
  for (const char c : block) {
    text += c;
    if (c == '\n') text += std::string(width, ' ') + "  ";
  }
  return text + "\n";
}

Outcome run_history(Session& session, std::string_view arguments) {
  const std::vector<std::string>& blocks = session.results().blocks();
  size_t first = 1, last = blocks.size() - 1;
  bool numbered = false, found = false;
  std::string wanted;
  const std::vector<std::string> words = words_of(arguments);
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "-n") numbered = true;
    else if (words[i] == "-g" && i + 1 < words.size()) wanted = words[++i], numbered = found = true;
    else if (words[i] == "-l" && i + 1 < words.size() && is_range("-" + words[i + 1], blocks.size(), first, last)) ++i;
    else if (!is_range(words[i], blocks.size(), first, last))
      throw CommandError("usage: :history [-n] [-g TEXT] [FIRST-LAST | -COUNT]");
  }
  std::string text;
  const size_t width = std::to_string(blocks.size()).size() + 1;
  for (size_t i = std::max<size_t>(first, 1); i <= last && i < blocks.size(); ++i)
    if (!found || blocks[i].find(wanted) != std::string::npos) text += history_line(i, blocks[i], numbered, width);
  session.client().write(text);
  return {};
}

Outcome run_device(Session& session, std::string_view arguments) {
  Interpreter& in = session.interpreter();
  in.import("torch");
  if (!arguments.empty()) stdlib::set_default_device(in, arguments);
  std::string why;
  const tensor::DeviceBackend* cuda = tensor::plugin_backend(tensor::DeviceType::Cuda, &why);
  const std::string now = str_text(in, stdlib::wrap_device(in, stdlib::torch_state(in).context.default_device));
  session.client().write("new tensors are made on " + now + "\nthere are cpu" +
                         (cuda == nullptr ? " alone (CUDA: " + why + ")"
                                          : " and " + std::to_string(cuda->device_count()) + " CUDA devices") +
                         "\n");
  return {};
}

Outcome run_seed(Session& session, std::string_view arguments) {
  Interpreter& in = session.interpreter();
  const Value torch(static_cast<Object*>(in.import("torch")));
  const RunScope run(in.vm());
  if (!arguments.empty()) {
    int64_t seed = 0;
    const auto [end, error] = std::from_chars(arguments.data(), arguments.data() + arguments.size(), seed);
    if (error != std::errc() || end != arguments.data() + arguments.size()) throw CommandError("usage: :seed [NUMBER]");
    call(in, get_attr(in, torch, intern(in, "manual_seed")), {Value::integer(seed)});
  }
  session.client().write("the seed of torch is " +
                         str_text(in, call(in, get_attr(in, torch, intern(in, "initial_seed")))) + "\n");
  return {};
}

constexpr Command kCommands[] = {
    {"who", "[TYPE ...]", "the names that were given", Command::Takes::Words, run_who},
    {"whos", "[TYPE ...]", "the names with their types and what they are", Command::Takes::Words, run_whos},
    {"reset", "[-f] [in] [out]", "takes all names away, or forgets results (out) or blocks (in)", Command::Takes::Words,
     run_reset, "`:reset out` lets go of Out and _, and so of the tensors that nothing else holds."},
    {"history", "[-n] [-g TEXT] [FIRST-LAST | -COUNT]", "the blocks of this session", Command::Takes::Words,
     run_history, "-n with numbers; -g those that have a text in them."},
    {"device", "[NAME]", "where new tensors are made; sets it", Command::Takes::Words, run_device},
    {"seed", "[NUMBER]", "the seed of torch; sets it", Command::Takes::Words, run_seed},
};

}  // namespace

std::span<const Command> name_commands() { return kCommands; }

}  // namespace tessera::repl

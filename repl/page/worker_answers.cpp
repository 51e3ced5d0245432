#include "repl/page/worker_answers.h"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "lang/core/error.h"
#include "lang/core/protocol.h"
#include "lang/core/value.h"
#include "repl/inspector/live_tensors.h"
#include "repl/inspector/tensors_text.h"
#include "repl/notebook/graph_forms.h"
#include "repl/notebook/tensor_forms.h"
#include "repl/page/utf16.h"
#include "repl/session/commands.h"
#include "repl/session/complete.h"
#include "repl/session/inspect.h"

namespace tessera::repl::page {
namespace {

constexpr size_t kMostCandidates = 2000;

size_t cursor_of(const Json& message, const std::string& text) {
  return byte_of_unit(text, static_cast<size_t>(std::max<int64_t>(0, integer_or(message, "cursor", 0))));
}

void complete_text(Session& session, const Json& message, Json& answer) {
  const std::string text = text_or(message, "text");
  const Completion found = complete(session, text, cursor_of(message, text));
  Json candidates = Json::array();
  for (const Candidate& each : found.candidates)
    if (candidates.size() < kMostCandidates)
      candidates.push_back({{"text", each.text}, {"kind", each.kind}, {"note", each.note}});
  answer["begin"] = units_before(text, found.begin);
  answer["end"] = units_before(text, found.end);
  answer["candidates"] = std::move(candidates);
}

void help_with_call(Session& session, const Json& message, Json& answer) {
  const std::string text = text_or(message, "text");
  const std::optional<CallHelp> found = call_at(session, text, cursor_of(message, text));
  answer["signature"] = found ? found->signature : "";
  answer["begin"] = found ? units_before(found->signature, found->active_begin) : 0;
  answer["end"] = found ? units_before(found->signature, found->active_end) : 0;
}

void say_help(Session& session, const Json& message, Json& answer) {
  const std::string name = text_or(message, "name");
  answer["name"] = name;
  answer["text"] = inspection(session, name, is_true(message, "source"));
}

void add_object(Json& answer, const std::string& text, const char* problem) {
  const std::optional<Json> object = text.empty() ? std::nullopt : parse_json(text);
  if (object && object->is_object()) answer.update(*object);
  else answer["problem"] = problem;
}

// By the name that the table of tensors has for it ("model.0.weight"), else what it is as an expression, which may run a
// script and is therefore left alone while one runs.
lang::Value value_at(Session& session, const std::string& name, bool running) {
  lang::Interpreter& in = session.interpreter();
  LookFor names_alone;
  names_alone.statistics = false;
  const LiveTensors live = live_tensors(in, names_alone);
  const auto row_of = [&](std::string_view wanted) {
    for (const TensorRow& row : live.rows)
      if (row.name == wanted) return row.value;
    return lang::Value();
  };
  if (lang::Value found = row_of(name); !found.is_undefined()) return found;
  constexpr std::string_view kGradient = ".grad";
  if (name.ends_with(kGradient)) {
    const lang::Value owner = row_of(std::string_view(name).substr(0, name.size() - kGradient.size()));
    if (!owner.is_undefined()) return lang::get_attr(in, owner, lang::intern(in, "grad"));
  }
  return running ? lang::Value() : value_of_name(session, name);
}

void look(Session& session, const Json& message, Json& answer, bool running) {
  const std::string name = text_or(message, "name");
  const bool graph = text_or(message, "type") == "graph";
  answer["name"] = name;
  const lang::Value value = value_at(session, name, running);
  if (value.is_undefined()) {
    answer["problem"] = "There is nothing of that name any more.";
    return;
  }
  if (graph)
    return add_object(answer, graph_json(session.interpreter(), value, name),
                      "There is no graph behind it: it needs no gradient, or is none of torch's tensors.");
  std::vector<int64_t> at;
  if (const auto given = message.find("at"); given != message.end() && given->is_array())
    for (const Json& each : *given)
      if (each.is_number_integer()) at.push_back(each.get<int64_t>());
  add_object(answer, tensor_json(session.interpreter(), value, name, at), "It is no tensor.");
}

}  // namespace

Json answer_ask(Session& session, const Json& message, bool running) {
  Json answer = {{"type", "answer"}, {"ask", message.value("ask", Json())}};
  const std::string type = text_or(message, "type");
  try {
    if (type == "complete") complete_text(session, message, answer);
    else if (type == "call") help_with_call(session, message, answer);
    else if (type == "help") say_help(session, message, answer);
    else look(session, message, answer, running);
  } catch (const lang::Error& error) {
    answer["problem"] = error.message;
  } catch (const lang::Thrown&) {
    answer["problem"] = "It cannot be looked at.";
  } catch (const std::exception& error) {
    answer["problem"] = error.what();
  }
  return answer;
}

Json answer_block_state(const Session& session, const Json& message) {
  static constexpr const char* kNames[] = {"complete", "incomplete", "invalid"};
  Json answer = {{"type", "answer"}, {"ask", message.value("ask", Json())}};
  try {
    const BlockState state = session.state_of(text_or(message, "text"));
    answer["state"] = kNames[static_cast<int>(state.kind)];
    answer["indent"] = state.indentation;
  } catch (const std::exception& error) {
    answer["problem"] = error.what();
  }
  return answer;
}

std::string tensors_line(Session& session, bool running) {
  LookFor look;
  // A table after each block shall not be what a person waits for.
  look.elements_of_one = int64_t(1) << 22;
  look.elements_of_all = int64_t(1) << 24;
  look.elements_of_sample = int64_t(1) << 18;
  try {
    const std::string table = to_json(live_tensors(session.interpreter(), look));
    return std::string(R"({"type":"tensors","running":)") + (running ? "true," : "false,") + table.substr(1);
  } catch (const std::exception& error) {
    return to_text({{"type", "tensors"},
                    {"running", running},
                    {"tensors", Json::array()},
                    {"totals", Json::array()},
                    {"more", 0},
                    {"problem", error.what()}});
  }
}

}  // namespace tessera::repl::page

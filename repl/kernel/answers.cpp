#include "repl/kernel/answers.h"

#include <utility>

#include "repl/kernel/cursor.h"
#include "repl/notebook/language_info.h"
#include "repl/session/commands.h"
#include "repl/session/complete.h"
#include "repl/session/inspect.h"

namespace tessera::repl {
namespace {

// The words that JupyterLab has icons for.
std::string kind_word(const std::string& kind) {
  constexpr std::pair<std::string_view, const char*> kWords[] = {
      {"tensor", "instance"}, {"argument", "param"}, {"key", "dict key"}, {"file", "path"},
      {"folder", "path"},     {"command", "magic"},  {"name", "instance"}};
  for (const auto& [ours, theirs] : kWords)
    if (ours == kind) return theirs;
  return kind;
}

size_t cursor_of(const Message& request, std::string_view code) {
  return byte_of_character(code, request.number("cursor_pos", static_cast<int64_t>(code.size())));
}

// Of a command its help, of a name what `name?` says. Empty: there is no such thing.
std::string help_on(Session& session, const std::string& name, bool source) {
  if (name.empty()) return "";
  if (!value_of_name(session, name).is_undefined()) return inspection(session, name, source);
  return "";
}

Json text_bundle(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return {{"text/plain", std::move(text)}};
}

}  // namespace

Json complete_answer(Session& session, const Message& request) {
  const std::string code = request.text("code");
  const size_t cursor = cursor_of(request, code);
  const Completion found = complete(session, code, cursor);
  const int64_t begin = characters_before(code, found.begin), end = characters_before(code, found.end);
  Json matches = Json::array(), types = Json::array();
  for (const Candidate& each : found.candidates) {
    matches.push_back(each.text);
    Json type{{"start", begin}, {"end", end}, {"text", each.text}, {"type", kind_word(each.kind)}};
    const size_t bracket = type["type"] == "function" || type["type"] == "class" ? each.note.find('(') : each.note.npos;
    type["signature"] = bracket == each.note.npos ? "" : each.note.substr(bracket);
    types.push_back(std::move(type));
  }
  return {{"status", "ok"},
          {"matches", std::move(matches)},
          {"cursor_start", begin},
          {"cursor_end", end},
          {"metadata", {{"_jupyter_types_experimental", std::move(types)}}}};
}

Json inspect_answer(Session& session, const Message& request) {
  const std::string code = request.text("code");
  const size_t cursor = cursor_of(request, code);
  const bool source = request.number("detail_level", 0) > 0;
  const NamesAtCursor names = names_at_cursor(code, cursor);
  std::string text = help_on(session, names.name, source);
  if (text.empty()) text = help_on(session, names.called, source);
  if (text.empty())
    if (const std::optional<CallHelp> call = call_at(session, code, cursor)) text = call->signature;
  const bool found = !text.empty();
  return {{"status", "ok"},
          {"found", found},
          {"data", found ? text_bundle(std::move(text)) : Json::object()},
          {"metadata", Json::object()}};
}

Json is_complete_answer(const Session& session, const Message& request) {
  const BlockState state = session.state_of(request.text("code"));
  switch (state.kind) {
    case BlockState::Kind::kComplete: return {{"status", "complete"}};
    case BlockState::Kind::kInvalid: return {{"status", "invalid"}};
    case BlockState::Kind::kIncomplete: break;
  }
  return {{"status", "incomplete"}, {"indent", state.indentation}};
}

// A cell is Python's text, so editors colour it as that: with IPython's mode, which knows "%time" and "!ls".
Json kernel_info_answer() {
  const auto link = [](const char* text, const char* url) { return Json{{"text", text}, {"url", url}}; };
  return {{"status", "ok"},
          {"protocol_version", "5.3"},
          {"implementation", "tessera"},
          {"implementation_version", TESSERA_VERSION},
          {"language_info", Json::parse(language_info())},
          {"banner", "Tessera " TESSERA_VERSION ": a tensor language. :help shows what there is."},
          {"help_links",
           Json::array({link("PyTorch", "https://pytorch.org/docs/stable/"),
                        link("NumPy", "https://numpy.org/doc/stable/"), link("Python", "https://docs.python.org/3.11/"),
                        link("Matplotlib", "https://matplotlib.org/stable/")})},
          {"debugger", false},
          {"supported_features", Json::array()}};
}

}  // namespace tessera::repl

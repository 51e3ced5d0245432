#include "repl/page/json_spans.h"

#include <algorithm>

#include "repl/page/json_text.h"

namespace tessera::repl::page {
namespace {

constexpr const char* kBlanks = " \t\r\n";

void skip_blanks(std::string_view text, size_t& at) { at = std::min(text.find_first_not_of(kBlanks, at), text.size()); }

// From the quote on.
void skip_string(std::string_view text, size_t& at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  at = std::min(at + 1, text.size());
}

void skip_value(std::string_view text, size_t& at) {
  size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      skip_string(text, at);
    } else if (c == '{' || c == '[') {
      ++depth;
      ++at;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return;
      --depth;
      ++at;
    } else if (depth > 0) {
      ++at;
      continue;
    } else {
      at = std::min(text.find_first_of(" \t\r\n,]}", at), text.size());
    }
    if (depth == 0) return;
  }
}

// Each part between the brackets: a name is skipped by `before`, which is told where the part begins.
template <class Before, class Call>
void each_part(std::string_view text, Before before, Call call) {
  size_t at = 0;
  skip_blanks(text, at);
  for (++at;; ++at) {
    skip_blanks(text, at);
    if (at >= text.size() || text[at] == '}' || text[at] == ']') return;
    before(at);
    const size_t begin = at;
    skip_value(text, at);
    call(text.substr(begin, at - begin));
    skip_blanks(text, at);
    if (at >= text.size() || text[at] != ',') return;
  }
}

}  // namespace

std::vector<JsonMember> members_of(std::string_view object) {
  std::vector<JsonMember> members;
  std::string name;
  const auto read_name = [&](size_t& at) {
    const size_t begin = at;
    skip_string(object, at);
    name = parse_json(object.substr(begin, at - begin)).value_or(Json("")).get<std::string>();
    skip_blanks(object, at);
    ++at;  // the colon
    skip_blanks(object, at);
  };
  each_part(object, read_name, [&](std::string_view value) { members.push_back({name, value}); });
  return members;
}

std::vector<std::string_view> elements_of(std::string_view list) {
  std::vector<std::string_view> elements;
  each_part(
      list, [](size_t) {}, [&](std::string_view value) { elements.push_back(value); });
  return elements;
}

std::string indent_of(std::string_view before, bool& has_lines) {
  const size_t newline = before.rfind('\n');
  has_lines = newline != before.npos;
  if (!has_lines) return "";
  const std::string_view line = before.substr(newline + 1);
  return std::string(line.substr(0, std::min(line.find_first_not_of(" \t"), line.size())));
}

std::string indented(std::string_view json, std::string_view indent) {
  std::string out;
  for (const char c : json) {
    out += c;
    if (c == '\n') out += indent;
  }
  return out;
}

std::string with_member(std::string_view object, std::string_view name, std::string value) {
  const std::vector<JsonMember> members = members_of(object);
  // Of several with one name the last is what is read.
  const auto found =
      std::find_if(members.rbegin(), members.rend(), [&](const JsonMember& each) { return each.name == name; });
  const std::string_view place = found != members.rend() ? found->value : object.substr(object.find('{') + 1, 0);
  const size_t at = static_cast<size_t>(place.data() - object.data());
  bool has_lines = false;
  const std::string indent = indent_of(object.substr(0, at), has_lines);
  value = has_lines ? indented(value, indent) : to_text(parse_json(value).value_or(Json()));
  if (found == members.rend()) value = to_text(Json(name)) + ": " + value + (members.empty() ? "" : ", ");
  return std::string(object.substr(0, at)) + value + std::string(object.substr(at + place.size()));
}

}  // namespace tessera::repl::page

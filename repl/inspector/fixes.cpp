// compile: small (once for a look of a person)
#include "repl/inspector/fixes.h"

#include <algorithm>

#include "lang/core/object_cast.h"
#include "lang/objects/exception.h"
#include "lang/syntax/parse.h"
#include "lang/syntax/source.h"
#include "lang/types/str.h"

namespace tessera::repl {
using namespace lang;

namespace {

// The failing place in the program's own text.
struct Place {
  std::shared_ptr<const Source> source;
  Span span;
};

std::optional<Place> failed_place(const Value& exception) {
  std::optional<Place> place;
  for (Value at = as_exception(exception)->traceback; at.is_object();) {
    const auto* entry = object_cast<const Traceback>(at);
    const Code& code = *entry->code;
    if (!code.source->name().starts_with("stdlib/") && entry->word < code.places.size())
      place = Place{code.source, code.places[entry->word].span};
    at = entry->next;
  }
  return place;
}

std::string place_text(const Source& source, uint32_t line) { return source.name() + ":" + std::to_string(line); }

bool is_code(std::string_view text, ParseMode mode) {
  if (text.empty() || text.find("...") != text.npos) return false;
  const auto source = std::make_shared<Source>("<hint>", text);
  return static_cast<bool>(parse(*source, mode));
}

// Of "hint: labels count from 0: F.nll_loss(x, y - 1) would fit" the last part that is code.
std::string code_of_hint(std::string_view hint) {
  for (size_t at = 0;; at += 2) {
    const std::string_view rest = hint.substr(at);
    if (is_code(rest, ParseMode::kExpression) || (rest.find('=') != rest.npos && is_code(rest, ParseMode::kFile)))
      return std::string(rest);
    at = hint.find(": ", at);
    if (at == hint.npos) return "";
  }
}

std::optional<Fix> line_with(const Place& place, std::string_view text) {
  const Source& source = *place.source;
  const uint32_t number = source.line_number(place.span.begin);
  if (source.line_number(place.span.end) != number) return std::nullopt;
  const std::string line(source.line(number));
  const uint32_t begin = place.span.begin - source.line_begin(number), end = place.span.end - source.line_begin(number);
  if (end > line.size() || begin >= end) return std::nullopt;
  Fix fix{place_text(source, number), line, line.substr(0, begin) + std::string(text) + line.substr(end)};
  if (fix.before == fix.after) return std::nullopt;
  return fix;
}

// "hint: with mean = x.mean(1, keepdim=True) it would fit": the line that made `mean`, by its note.
std::optional<Fix> other_line(const Place& place, const Value& exception, const std::string& statement) {
  const std::string head = statement.substr(0, statement.find(" = ")) + ": ";
  const std::string made = ", made at " + place.source->name() + ":";
  for (const std::string& note : as_exception(exception)->notes) {
    const size_t at = note.find(made);
    if (!note.starts_with(head) || at == note.npos) continue;
    const std::string number = note.substr(at + made.size());
    if (number.find_first_not_of("0123456789") != number.npos) continue;
    const auto line = static_cast<uint32_t>(std::stoul(number));
    const std::string before(place.source->line(line));
    const size_t indent = before.find_first_not_of(" \t");
    if (indent == before.npos) continue;
    return Fix{place_text(*place.source, line), before, before.substr(0, indent) + statement};
  }
  return std::nullopt;
}

// "... Did you mean: 'first'?" of a name or an attribute that is misspelt.
std::optional<Fix> other_name(const Place& place, const Value& exception, const std::string& message) {
  constexpr std::string_view kAsked = ". Did you mean: '";
  const size_t at = message.find(kAsked);
  const Value& wrong = as_exception(exception)->fields[0];
  if (at == message.npos || !is_str(wrong)) return std::nullopt;
  const size_t begin = at + kAsked.size(), end = message.find('\'', begin);
  const std::string text(place.source->text(place.span));
  if (end == message.npos || !text.ends_with(text_of(wrong))) return std::nullopt;
  return line_with(place, text.substr(0, text.size() - text_of(wrong).size()) + message.substr(begin, end - begin));
}

// Of a line that is no Python: what the message says is meant.
std::optional<Fix> syntax_fix(const Value& exception, const std::string& message) {
  const Value* const fields = as_exception(exception)->fields;  // msg, filename, lineno, offset, text
  if (!is_str(fields[4]) || !fields[2].is_int() || !fields[3].is_int()) return std::nullopt;
  std::string line(text_of(fields[4]));
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
  const size_t indent = line.find_first_not_of(" \t");
  const auto offset = static_cast<size_t>(std::max<int64_t>(0, fields[3].as_int() - 1));
  if (indent == line.npos) return std::nullopt;
  std::string after = line;
  const auto says = [&](std::string_view part) { return message.find(part) != message.npos; };
  if (says("Missing parentheses in call to 'print'") && line.compare(indent, 6, "print ") == 0) {
    after = line.substr(0, indent) + "print(" + line.substr(indent + 6) + ")";
  } else if (says("Maybe you meant '=='")) {
    size_t at = line.find('=', offset);
    while (at != line.npos &&
           (line[at + 1] == '=' || std::string_view("=<>!+-*/:").find(line[at - 1]) != std::string_view::npos))
      at = line.find('=', at + 2);
    if (at != line.npos) after.insert(at, 1, '=');
  } else if (says("expected ':'") && offset <= line.size()) {
    after.insert(std::min(offset, line.size()), 1, ':');
  } else if (says("expected an indented block")) {
    after = "    " + line;
  }
  if (after == line) return std::nullopt;
  const std::string file = is_str(fields[1]) ? std::string(text_of(fields[1])) : "<string>";
  return Fix{file + ":" + std::to_string(fields[2].as_int()), line, after};
}

std::optional<std::string_view> inside(std::string_view text, std::string_view before, std::string_view behind) {
  if (!text.starts_with(before) || !text.ends_with(behind) || text.size() <= before.size() + behind.size())
    return std::nullopt;
  return text.substr(before.size(), text.size() - before.size() - behind.size());
}

}  // namespace

std::optional<Fix> fix_of(Interpreter& in, const Value& exception, const std::string& message) {
  if (message.find("Error: ") != message.npos && is_error(in, exception, ErrorKind::SyntaxError))
    return syntax_fix(exception, message);
  const std::optional<Place> place = failed_place(exception);
  if (!place) return std::nullopt;
  for (const std::string& note : as_exception(exception)->notes) {
    if (const auto statement = inside(note, "hint: with ", " it would fit"))
      return other_line(*place, exception, std::string(*statement));
    if (const auto hint = inside(note, "hint: ", " would fit"))
      if (const std::string code = code_of_hint(*hint); !code.empty()) return line_with(*place, code);
    if (const auto name = inside(note, "hint: ", " is one")) return line_with(*place, *name);
    if (const auto line = inside(note, "hint: ", "");
        line && (line->starts_with("import ") || line->starts_with("from ")))
      if (is_code(*line, ParseMode::kFile)) return Fix{place_text(*place->source, 1), "", std::string(*line)};
  }
  return other_name(*place, exception, message);
}

}  // namespace tessera::repl

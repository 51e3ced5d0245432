// Parsing of signature strings.
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "lang/core/bind.h"
#include "lang/core/interpreter.h"
#include "lang/syntax/source.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"

namespace tessera::lang {
namespace {

std::string_view trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

[[noreturn]] void malformed(std::string_view text, const char* why) {
  throw std::invalid_argument("signature '" + std::string(text) + "': " + why);
}

// Few have such: the language's own parser reads them.
Value evaluated(Interpreter& in, std::string_view text, std::string_view whole) {
  try {
    return in.eval(*std::make_shared<Source>("<default>", text));
  } catch (const std::exception&) {
    malformed(whole, "a default that is not understood");
  }
}

Value parse_default(Interpreter& in, std::string_view text, std::string_view whole) {
  if (text == "...") return Value();
  if (text == "None") return Value::none();
  if (text == "True") return Value::boolean(true);
  if (text == "False") return Value::boolean(false);
  if (text == "()") return make_tuple(in, {});
  if (text.size() >= 2 && (text[0] == '\'' || text[0] == '"') && text.back() == text[0]) {
    std::string s;
    for (size_t i = 1; i + 1 < text.size(); ++i) {
      if (text[i] == '\\' && i + 2 < text.size()) {
        ++i;
        if (std::strchr("nt\\'\"", text[i]) == nullptr) return evaluated(in, text, whole);
        s += text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : text[i];
      } else {
        s += text[i];
      }
    }
    return make_str(in, s);
  }
  const std::string number(text);
  char* end = nullptr;
  if (number.starts_with("0x") || number.find_first_of(".einf") == number.npos) {
    const long long i = std::strtoll(number.c_str(), &end, 0);
    if (!number.empty() && *end == 0) return Value::integer(i);
  }
  const double d = std::strtod(number.c_str(), &end);
  if (number.empty() || *end != 0) return evaluated(in, text, whole);
  return Value::real(d);
}

void parse_type(std::string_view type, Parameter& p) {
  type = trim(type);
  p.type_name = std::string(type);
  bool several = false;
  std::string_view rest = type, single;
  while (!rest.empty()) {
    const size_t bar = rest.find('|');
    const std::string_view part = trim(rest.substr(0, bar));
    rest = bar == rest.npos ? std::string_view() : rest.substr(bar + 1);
    if (part == "None") {
      p.allows_none = true;
    } else {
      several = several || !single.empty();
      single = part;
    }
  }
  using Check = Parameter::Check;
  const std::string_view base = single.substr(0, single.find('['));
  p.check = several || single.empty() || base == "object" || base == "Any" ? Check::None
            : base == "int"                                                ? Check::Int
            : base == "float"                                              ? Check::Float
            : base == "str"                                                ? Check::Str
            : base == "bool"                                               ? Check::Bool
            : base == "list"                                               ? Check::List
            : base == "dict"                                               ? Check::Dict
            : base == "tuple"                                              ? Check::Tuple
            : base == "callable" || base == "Callable"                     ? Check::Callable
                                                                           : Check::Named;
}

// Splits at commas outside of brackets and quotes.
std::vector<std::string_view> split_parameters(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  char quoted = 0;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      else if (c == quoted) quoted = 0;
    } else if (c == '\'' || c == '"') {
      quoted = c;
    } else if (c == '[' || c == '(' || c == '{') {
      ++depth;
    } else if (c == ']' || c == ')' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0) {
      parts.push_back(trim(text.substr(start, i - start)));
      start = i + 1;
    }
  }
  const std::string_view last = trim(text.substr(start));
  if (!last.empty()) parts.push_back(last);
  return parts;
}

// The end of the parameter list: the parenthesis that closes the first one.
size_t closing(std::string_view text, size_t open) {
  int depth = 0;
  char quoted = 0;
  for (size_t i = open; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      else if (c == quoted) quoted = 0;
    } else if (c == '\'' || c == '"') {
      quoted = c;
    } else if (c == '(') {
      ++depth;
    } else if (c == ')' && --depth == 0) {
      return i;
    }
  }
  malformed(text, "no closing parenthesis");
}

Parameter parse_parameter(Interpreter& in, std::string_view part, Parameter::Kind kind, std::string_view whole) {
  Parameter p{};
  p.kind = kind;
  p.check = Parameter::Check::None;
  const auto is_of_name = [](char c) {  // beyond ASCII: whoever reads a host's text has looked at it
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80) != 0;
  };
  size_t name_end = 0;
  while (name_end < part.size() && is_of_name(part[name_end])) ++name_end;
  if (name_end == 0) malformed(whole, "a parameter without a name");
  p.name = intern(in, part.substr(0, name_end));
  std::string_view rest = trim(part.substr(name_end));
  std::string_view value;
  const size_t equal = rest.find('=');
  if (equal != rest.npos) {
    value = trim(rest.substr(equal + 1));
    rest = trim(rest.substr(0, equal));
    p.optional = true;
    p.default_value = parse_default(in, value, whole);
    p.allows_none = value == "None";
  }
  if (!rest.empty()) {
    if (rest[0] != ':') malformed(whole, "expected ':' behind a parameter's name");
    parse_type(rest.substr(1), p);
  }
  return p;
}

}  // namespace

Signature parse_signature(Interpreter& in, std::string_view text) {
  Signature signature;
  signature.text = std::string(text);
  const size_t open = text.find('(');
  if (open == text.npos) malformed(text, "no parenthesis");
  const size_t close = closing(text, open);
  signature.function_name = std::string(trim(text.substr(0, open)));
  const size_t arrow = text.find("->", close);
  if (arrow != text.npos) signature.result = std::string(trim(text.substr(arrow + 2)));
  using Kind = Parameter::Kind;
  Kind kind = Kind::Positional;
  for (std::string_view part : split_parameters(text.substr(open + 1, close - open - 1))) {
    if (part == "/") {
      for (Parameter& p : signature.parameters) p.kind = Kind::PositionalOnly;
    } else if (part == "*") {
      kind = Kind::KeywordOnly;
    } else if (part.starts_with("**")) {
      signature.parameters.push_back(parse_parameter(in, part.substr(2), Kind::VarKeyword, text));
      signature.parameters.back().check = Parameter::Check::None;  // its annotation is of each of them
    } else if (part.starts_with("*")) {
      signature.parameters.push_back(parse_parameter(in, part.substr(1), Kind::VarPositional, text));
      signature.parameters.back().check = Parameter::Check::None;
      kind = Kind::KeywordOnly;
    } else {
      signature.parameters.push_back(parse_parameter(in, part, kind, text));
    }
  }
  bool plain = true, by_position = true;
  uint32_t required = 0;
  for (const Parameter& p : signature.parameters) {
    if (p.kind <= Kind::Positional) ++signature.positional_count;
    if (!p.optional) required = signature.positional_count;
    plain = plain && p.kind <= Kind::Positional && p.check == Parameter::Check::None;
    by_position = by_position && (p.kind <= Kind::Positional || (p.kind == Kind::KeywordOnly && p.optional));
  }
  signature.plain = plain;
  if (plain) signature.plain_count = signature.positional_count;
  if (by_position) signature.plain_least = required;
  return signature;
}

}  // namespace tessera::lang

// compile: small (waits for a person)
#include "repl/session/highlight.h"

#include <algorithm>
#include <array>

namespace tessera::repl {
namespace {

// In order, for a binary search.
constexpr std::array<std::string_view, 32> kKeywords{
    "and",      "as",     "assert",  "async", "await", "break",  "class", "continue", "def",  "del",  "elif",
    "else",     "except", "finally", "for",   "from",  "global", "if",    "import",   "in",   "is",   "lambda",
    "nonlocal", "not",    "or",      "pass",  "raise", "return", "try",   "while",    "with", "yield"};

constexpr std::array<std::string_view, 52> kBuiltins{
    "abs",        "all",        "any",     "bool",   "bytearray", "bytes",  "callable", "chr",    "classmethod",
    "complex",    "dict",       "dir",     "divmod", "enumerate", "filter", "float",    "format", "frozenset",
    "getattr",    "globals",    "hasattr", "hash",   "help",      "hex",    "id",       "input",  "int",
    "isinstance", "issubclass", "iter",    "len",    "list",      "locals", "map",      "max",    "min",
    "next",       "object",     "open",    "ord",    "pow",       "print",  "property", "range",  "repr",
    "reversed",   "round",      "self",    "set",    "slice",     "sorted", "str"};
constexpr std::array<std::string_view, 7> kMoreBuiltins{"staticmethod", "sum", "super", "tuple", "type", "vars", "zip"};

template <size_t N>
bool among(const std::array<std::string_view, N>& sorted, std::string_view name) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool in_name(char c) { return begins_name(c) || is_digit(c); }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) { spans_.reserve(text.size() / 6); }

  std::vector<TokenSpan> scan() {
    command();
    while (at_ < text_.size()) token(false);
    return std::move(spans_);
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void add(size_t begin, TokenClass what) {
    if (at_ > begin) spans_.push_back({begin, at_, what});
  }

  // A block that is a command: ":time f(x)", "%timeit x", "!ls", "name?", "?name".
  void command() {
    at_ = text_.find_first_not_of(" \t\n");
    if (at_ == text_.npos) {
      at_ = text_.size();
      return;
    }
    const size_t begin = at_;
    if (peek() == '?' || peek() == '!') {
      ++at_;
      add(begin, TokenClass::kCommand);
      if (text_[begin] == '!') at_ = text_.size();
    } else if (peek() == ':' || peek() == '%') {
      while (peek() == ':' || peek() == '%' || in_name(peek())) ++at_;
      add(begin, TokenClass::kCommand);
    }
  }

  void token(bool in_field) {
    const size_t begin = at_;
    const char c = peek();
    if (c == '\n') {
      ++at_;
      line_begins_ = true;
    } else if (is_blank(c)) {
      ++at_;
    } else if (c == '#' && !in_field) {
      at_ = std::min(text_.find('\n', at_), text_.size());
      add(begin, TokenClass::kComment);
    } else if (begins_name(c)) {
      name(begin);
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      number(begin);
    } else if (c == '"' || c == '\'') {
      string(begin, false);
    } else {
      other(begin, c);
    }
  }

  void other(size_t begin, char c) {
    ++at_;
    switch (c) {
      case '(':
      case '[':
      case '{':
      case ')':
      case ']':
      case '}': add(begin, TokenClass::kBracket); break;
      case '?':
        if (text_.find_first_not_of(" \t\n?", at_) == text_.npos) add(begin, TokenClass::kCommand);
        break;
      case '\\':
        if (peek() == '\n') ++at_;  // the line goes on
        break;
      case '@':
        if (line_begins_) {
          while (in_name(peek()) || peek() == '.') ++at_;
          add(begin, TokenClass::kDecorator);
        }
        break;
      default: break;
    }
    line_begins_ = false;
    after_dot_ = c == '.';
    defines_ = false;
  }

  void name(size_t begin) {
    while (in_name(peek())) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if ((peek() == '"' || peek() == '\'') && is_string_prefix(word)) {
      string(begin, word.find_first_of("fF") != word.npos);
      return;
    }
    const bool member = after_dot_, defined = defines_, first = line_begins_;
    after_dot_ = defines_ = line_begins_ = false;
    if (defined) {
      add(begin, TokenClass::kDefined);
    } else if (member) {
      return;
    } else if (among(kKeywords, word)) {
      add(begin, TokenClass::kKeyword);
      defines_ = word == "def" || word == "class";
      line_begins_ = word == "async";
    } else if (word == "True" || word == "False" || word == "None") {
      add(begin, TokenClass::kConstant);
    } else if (first && (word == "match" || word == "case") && is_statement()) {
      add(begin, TokenClass::kKeyword);
    } else if (among(kBuiltins, word) || among(kMoreBuiltins, word)) {
      add(begin, TokenClass::kBuiltin);
    }
  }

  // `match` and `case` are keywords where a value and a ':' follow.
  bool is_statement() const {
    if (peek() != ' ') return false;
    const size_t next = text_.find_first_not_of(' ', at_), end = std::min(text_.find('\n', at_), text_.size());
    if (next >= end || std::string_view("=.,:)]}+*/%<>|&").find(text_[next]) != std::string_view::npos) return false;
    const size_t last = text_.find_last_not_of(" \t", end - 1);
    return text_[last] == ':';
  }

  static bool is_string_prefix(std::string_view word) {
    return word.size() <= 2 && word.find_first_not_of("rRbBuUfF") == word.npos;
  }

  void number(size_t begin) {
    while (in_name(peek()) || peek() == '.') {
      const char c = peek();
      ++at_;
      const bool hexadecimal = begin + 1 < text_.size() && (text_[begin + 1] == 'x' || text_[begin + 1] == 'X');
      if ((c == 'e' || c == 'E') && !hexadecimal && (peek() == '+' || peek() == '-')) ++at_;
    }
    add(begin, TokenClass::kNumber);
    line_begins_ = after_dot_ = false;
  }

  // At its quote; `begin` is where its prefix begins.
  void string(size_t begin, bool fields) {
    const char quote = peek();
    const bool triple = peek(1) == quote && peek(2) == quote;
    at_ += triple ? 3 : 1;
    size_t piece = begin;
    bool closed = false;
    while (at_ < text_.size()) {
      const char c = peek();
      if (c == '\n' && !triple) break;
      if (c == '\\') {
        at_ = std::min(at_ + 2, text_.size());  // in a raw one too: the quote behind it does not end it
        continue;
      }
      if (c == quote && (!triple || (peek(1) == quote && peek(2) == quote))) {
        at_ += triple ? 3 : 1;
        closed = true;
        break;
      }
      if (fields && c == '{' && peek(1) == '{') {
        at_ += 2;
      } else if (fields && c == '{') {
        add(piece, TokenClass::kString);
        field(quote);
        piece = at_;
      } else {
        ++at_;
      }
    }
    add(piece, closed || triple ? TokenClass::kString : TokenClass::kOpenString);
    if (!closed && triple) open_string_ = true;
    line_begins_ = after_dot_ = defines_ = false;
  }

  // "{...}" of an f-string, code in between.
  void field(char quote) {
    size_t begin = at_++;
    add(begin, TokenClass::kBracket);
    int depth = 0;
    while (at_ < text_.size() && peek() != '\n' && peek() != quote) {
      const char c = peek();
      if (depth == 0 && (c == '}' || c == ':' || c == '!')) break;
      if (c == '(' || c == '[' || c == '{') ++depth;
      if (c == ')' || c == ']' || c == '}') --depth;
      token(true);
    }
    begin = at_;
    while (at_ < text_.size() && peek() != '}' && peek() != '\n' && peek() != quote) ++at_;  // how it is formatted
    add(begin, TokenClass::kString);
    if (peek() != '}') return;
    begin = at_++;
    add(begin, TokenClass::kBracket);
  }

 public:
  bool open_string() const { return open_string_; }  // the text ends inside a string of several lines

 private:
  std::string_view text_;
  size_t at_ = 0;
  std::vector<TokenSpan> spans_;
  bool line_begins_ = true;  // nothing but blanks on this line yet
  bool after_dot_ = false, defines_ = false;
  bool open_string_ = false;
};

bool opens(char c) { return c == '(' || c == '[' || c == '{'; }

bool fit(char open, char close) {
  return (open == '(' && close == ')') || (open == '[' && close == ']') || (open == '{' && close == '}');
}

}  // namespace

std::vector<TokenSpan> highlight(std::string_view text) { return Scanner(text).scan(); }

std::optional<std::pair<size_t, size_t>> matching_brackets(std::string_view text, const std::vector<TokenSpan>& spans,
                                                           size_t cursor) {
  const auto is_bracket = [&](size_t at) {
    const auto found = std::lower_bound(spans.begin(), spans.end(), at,
                                        [](const TokenSpan& span, size_t where) { return span.begin < where; });
    return found != spans.end() && found->begin == at && found->what == TokenClass::kBracket;
  };
  size_t at = cursor;
  if (at >= text.size() || !is_bracket(at)) {
    if (cursor == 0 || !is_bracket(cursor - 1)) return std::nullopt;
    at = cursor - 1;
  }
  std::vector<size_t> open;
  for (const TokenSpan& span : spans) {
    if (span.what != TokenClass::kBracket) continue;
    if (opens(text[span.begin])) {
      open.push_back(span.begin);
      continue;
    }
    if (open.empty() || !fit(text[open.back()], text[span.begin])) {
      if (span.begin >= at) return std::nullopt;
      open.clear();  // broken before: what follows is looked at anew
      continue;
    }
    if (span.begin == at || open.back() == at) return std::make_pair(open.back(), span.begin);
    open.pop_back();
  }
  return std::nullopt;
}

namespace {

std::string_view indentation_of(std::string_view text, size_t line) {
  const size_t end = std::min(text.find_first_not_of(" \t", line), text.size());
  return text.substr(line, end - line);
}

size_t line_of(std::string_view text, size_t at) {
  if (at == 0) return 0;
  const size_t newline = text.rfind('\n', at - 1);
  return newline == text.npos ? 0 : newline + 1;
}

std::string_view word_at(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && in_name(text[end])) ++end;
  return text.substr(at, end - at);
}

// Where the last statement of a text begins (several lines when brackets or backslashes join them), and what is open there.
struct Layout {
  size_t statement = 0;      // its line's first byte
  std::vector<size_t> open;  // brackets
  bool in_string = false, joined = false;
  char last = '\0';  // its last character that is no blank and no comment
};

Layout layout_of(std::string_view text) {
  Scanner scanner(text);
  const std::vector<TokenSpan> spans = scanner.scan();
  Layout layout;
  layout.in_string = scanner.open_string();
  size_t next = 0;
  for (size_t at = 0; at < text.size();) {
    if (next < spans.size() && spans[next].begin == at) {
      const TokenSpan& span = spans[next++];
      if (span.what == TokenClass::kBracket) {
        if (opens(text[at])) {
          layout.open.push_back(at);
        } else if (!layout.open.empty()) {
          layout.open.pop_back();
        }
      }
      const bool string = span.what == TokenClass::kString || span.what == TokenClass::kOpenString;
      if (span.what != TokenClass::kComment) layout.last = string ? '"' : text[span.end - 1];
      at = span.end;
      continue;
    }
    const char c = text[at++];
    if (c == '\n' && layout.open.empty() && layout.last != '\\') {
      layout.statement = at;
      layout.last = '\0';
    } else if (!is_blank(c) && c != '\n') {
      layout.last = c;
    }
  }
  layout.joined = layout.last == '\\';
  return layout;
}

}  // namespace

std::string next_indentation(std::string_view text) {
  const Layout layout = layout_of(text);
  const size_t last_line = line_of(text, text.size());
  if (layout.in_string) return std::string(indentation_of(text, last_line));
  if (!layout.open.empty()) {
    const size_t bracket = layout.open.back(), line = line_of(text, bracket);
    const size_t follows = text.find_first_not_of(" \t", bracket + 1);
    const bool alone = follows == text.npos || text[follows] == '\n' || text[follows] == '#';
    if (alone) return std::string(indentation_of(text, line)) + std::string(kIndentation, ' ');
    std::string aligned;
    for (size_t at = line; at < follows; ++at)
      if ((static_cast<unsigned char>(text[at]) & 0xc0) != 0x80) aligned += text[at] == '\t' ? '\t' : ' ';
    return aligned;
  }
  std::string base(indentation_of(text, layout.statement));
  if (layout.last == ':' || layout.joined) return base + std::string(kIndentation, ' ');
  const std::string_view word = word_at(text, layout.statement + base.size());
  const bool ends = word == "return" || word == "pass" || word == "break" || word == "continue" || word == "raise";
  if (ends) base.resize(base.size() - std::min(base.size(), kIndentation));
  return base;
}

std::optional<std::string> clause_indentation(std::string_view text) {
  const size_t line = line_of(text, text.size());
  const std::string_view here = indentation_of(text, line);
  const std::string_view word = word_at(text, line + here.size());
  const auto opens_for = [&](std::string_view opener) {
    if (word == "else")
      return opener == "if" || opener == "elif" || opener == "for" || opener == "while" || opener == "except" ||
             opener == "try";
    if (word == "elif") return opener == "if" || opener == "elif";
    if (word == "except") return opener == "try" || opener == "except";
    if (word == "finally") return opener == "try" || opener == "except" || opener == "else";
    return false;
  };
  size_t wanted = here.size() + 1;  // lines as deep as this one, or less, count: the first that opens is the one
  for (size_t above = line; above > 0;) {
    above = line_of(text, above - 1);
    const std::string_view indentation = indentation_of(text, above);
    if (above + indentation.size() >= text.size() || text[above + indentation.size()] == '\n') continue;
    if (indentation.size() >= wanted) continue;
    if (opens_for(word_at(text, above + indentation.size()))) {
      if (indentation == here) return std::nullopt;
      return std::string(indentation);
    }
    wanted = indentation.size();
    if (wanted == 0) break;
  }
  return std::nullopt;
}

}  // namespace tessera::repl

// The lexer: PEGTL rules for single tokens, driven by a loop that knows lines, indentation and brackets.
//
// Bracket matching happens here because only here the opening bracket's position is at hand; a grammar could only say that
// something else was expected. The loop runs again, on a part of the text, for each expression inside an f-string.
// compile: few-inlines, sanitized-templates (runs once for a program's text)
#include "lang/syntax/lexer.h"

#include <algorithm>
#include <array>
#include <tao/pegtl.hpp>

#include "lang/syntax/lexer_faults.h"

namespace tessera::lang {
namespace {

namespace p = tao::pegtl;

constexpr std::size_t kMaxBrackets = 200;  // CPython's limits
constexpr std::size_t kMaxIndents = 100;
constexpr std::uint32_t kTabSize = 8;
constexpr int kMaxFieldDepth = 2;  // fields in the format of a field

// ---- Rules ----------------------------------------------------------------------------------------------------------

struct blank : p::plus<p::one<' ', '\t', '\f'>> {};
struct comment : p::seq<p::one<'#'>, p::star<p::not_one<'\n'>>> {};
struct line_end : p::one<'\n'> {};
struct joined_line : p::seq<p::one<'\\'>, p::one<'\n'>> {};
struct lone_backslash : p::one<'\\'> {};

struct name_begin : p::ranges<'a', 'z', 'A', 'Z', '_', '_', '\x80', '\xff'> {};
struct name_part : p::ranges<'a', 'z', 'A', 'Z', '0', '9', '_', '_', '\x80', '\xff'> {};
struct name : p::seq<name_begin, p::star<name_part>> {};

template <class Digit>
struct digits : p::seq<Digit, p::star<p::opt<p::one<'_'>>, Digit>> {};
template <class Digit, char... Mark>
struct radix_number : p::seq<p::one<'0'>, p::one<Mark...>, p::opt<p::one<'_'>>, digits<Digit>> {};
using decimal = digits<p::digit>;
struct exponent : p::seq<p::one<'e', 'E'>, p::opt<p::one<'+', '-'>>, decimal> {};
struct decimal_number
    : p::seq<p::sor<p::seq<decimal, p::opt<p::one<'.'>, p::opt<decimal>>>, p::seq<p::one<'.'>, decimal>>,
             p::opt<exponent>, p::opt<p::one<'j', 'J'>>> {};
struct number : p::sor<radix_number<p::xdigit, 'x', 'X'>, radix_number<p::range<'0', '7'>, 'o', 'O'>,
                       radix_number<p::range<'0', '1'>, 'b', 'B'>, decimal_number> {};

struct raw_mark : p::one<'r', 'R'> {};
struct string_prefix : p::sor<p::seq<raw_mark, p::opt<p::one<'b', 'B', 'f', 'F'>>>,
                              p::seq<p::one<'b', 'B', 'f', 'F'>, p::opt<raw_mark>>, p::one<'u', 'U'>> {};
struct escaped : p::seq<p::one<'\\'>, p::any> {};
template <char Quote>
struct long_string
    : p::seq<p::string<Quote, Quote, Quote>, p::until<p::string<Quote, Quote, Quote>, p::sor<escaped, p::any>>> {};
template <char Quote>
struct short_string : p::seq<p::not_at<p::string<Quote, Quote, Quote>>, p::one<Quote>,
                             p::star<p::sor<escaped, p::not_one<Quote, '\\', '\n'>>>, p::one<Quote>> {};
struct string_literal : p::seq<p::opt<string_prefix>,
                               p::sor<long_string<'"'>, long_string<'\''>, short_string<'"'>, short_string<'\''>>> {};
struct open_string : p::seq<p::opt<string_prefix>, p::one<'"', '\''>> {};

template <Token Kind, char... Text>
struct op : p::string<Text...> {};
using T = Token;
struct operators : p::sor<  // longest first
                       op<T::kDoubleStarAssign, '*', '*', '='>, op<T::kDoubleSlashAssign, '/', '/', '='>,
                       op<T::kShiftLeftAssign, '<', '<', '='>, op<T::kShiftRightAssign, '>', '>', '='>,
                       op<T::kEllipsis, '.', '.', '.'>, op<T::kArrow, '-', '>'>, op<T::kWalrus, ':', '='>,
                       op<T::kEqual, '=', '='>, op<T::kNotEqual, '!', '='>, op<T::kLessEqual, '<', '='>,
                       op<T::kGreaterEqual, '>', '='>, op<T::kShiftLeft, '<', '<'>, op<T::kShiftRight, '>', '>'>,
                       op<T::kDoubleStar, '*', '*'>, op<T::kDoubleSlash, '/', '/'>, op<T::kPlusAssign, '+', '='>,
                       op<T::kMinusAssign, '-', '='>, op<T::kStarAssign, '*', '='>, op<T::kSlashAssign, '/', '='>,
                       op<T::kPercentAssign, '%', '='>, op<T::kAtAssign, '@', '='>, op<T::kAmpersandAssign, '&', '='>,
                       op<T::kPipeAssign, '|', '='>, op<T::kCaretAssign, '^', '='>> {};
struct single_operators
    : p::sor<op<T::kAssign, '='>, op<T::kPlus, '+'>, op<T::kMinus, '-'>, op<T::kStar, '*'>, op<T::kSlash, '/'>,
             op<T::kPercent, '%'>, op<T::kAt, '@'>, op<T::kAmpersand, '&'>, op<T::kPipe, '|'>, op<T::kCaret, '^'>,
             op<T::kTilde, '~'>, op<T::kLess, '<'>, op<T::kGreater, '>'>> {};
struct punctuation : p::sor<op<T::kComma, ','>, op<T::kColon, ':'>, op<T::kDot, '.'>, op<T::kSemicolon, ';'>> {};

template <Token Kind, char Text>
struct opening : p::one<Text> {};
template <Token Kind, char Text, char Opener>
struct closing : p::one<Text> {};
struct brackets
    : p::sor<opening<T::kLeftParen, '('>, closing<T::kRightParen, ')', '('>, opening<T::kLeftBracket, '['>,
             closing<T::kRightBracket, ']', '['>, opening<T::kLeftBrace, '{'>, closing<T::kRightBrace, '}', '{'>> {};
struct foreign : p::any {};

struct token : p::sor<blank, string_literal, open_string, name, number, brackets, operators, punctuation,
                      single_operators, line_end, comment, joined_line, lone_backslash, foreign> {};

using Input = p::memory_input<p::tracking_mode::lazy, p::eol::lf, const char*>;

// ---- Keywords -------------------------------------------------------------------------------------------------------

struct Keyword {
  std::string_view text;
  Token token;
};

constexpr std::array kKeywords = std::to_array<Keyword>({
    {"False", T::kFalse},
    {"None", T::kNone},
    {"True", T::kTrue},
    {"_", T::kSoftUnderscore},
    {"and", T::kAnd},
    {"as", T::kAs},
    {"assert", T::kAssert},
    {"async", T::kAsync},
    {"await", T::kAwait},
    {"break", T::kBreak},
    {"case", T::kSoftCase},
    {"class", T::kClass},
    {"continue", T::kContinue},
    {"def", T::kDef},
    {"del", T::kDel},
    {"elif", T::kElif},
    {"else", T::kElse},
    {"except", T::kExcept},
    {"finally", T::kFinally},
    {"for", T::kFor},
    {"from", T::kFrom},
    {"global", T::kGlobal},
    {"if", T::kIf},
    {"import", T::kImport},
    {"in", T::kIn},
    {"is", T::kIs},
    {"lambda", T::kLambda},
    {"match", T::kSoftMatch},
    {"nonlocal", T::kNonlocal},
    {"not", T::kNot},
    {"or", T::kOr},
    {"pass", T::kPass},
    {"raise", T::kRaise},
    {"return", T::kReturn},
    {"try", T::kTry},
    {"while", T::kWhile},
    {"with", T::kWith},
    {"yield", T::kYield},
});

Token name_token(std::string_view text) {
  if (text.size() > 8) return T::kName;
  auto found = std::lower_bound(kKeywords.begin(), kKeywords.end(), text,
                                [](const Keyword& keyword, std::string_view value) { return keyword.text < value; });
  return found != kKeywords.end() && found->text == text ? found->token : T::kName;
}

// ---- The lexer ------------------------------------------------------------------------------------------------------

class Lexer {
 public:
  Lexer(const Source& source, Growth* growth) : source_(source), text_(source.text()), growth_(growth) {}

  Tokens run();

  // Called by the rules.
  void add(Token kind, Span span) {
    out_.kinds.push_back(static_cast<char>(kind));
    out_.spans.push_back(span);
    constexpr std::size_t kTokens = 8192;
    if (growth_ != nullptr && out_.spans.size() % kTokens == 0) growth_->grew(kTokens * (sizeof(Span) + 1));
  }
  void on_line_end(Span span);
  void on_name(Span span);
  void on_number(Span span);
  void on_string(Span span);
  void on_open_string(Span span);
  void on_opening(Token kind, char bracket, Span span);
  void on_closing(Token kind, char bracket, char opener, Span span);
  void on_backslash(Span span);
  void on_foreign(Span span);

  Span span_of(const char* begin, const char* end) const { return {offset(begin), offset(end)}; }

 private:
  struct Bracket {
    char kind;
    std::uint32_t at;
  };
  struct Indent {
    std::uint32_t column = 0;     // with tabs to multiples of eight
    std::uint32_t alternate = 0;  // with tabs as one column: both must agree on every comparison
  };

  std::uint32_t offset(const char* at) const { return static_cast<std::uint32_t>(at - text_.data()); }
  void fail(LexError error);
  void report(const Fault& fault, bool pervasive = true) {
    fail({.message = fault.message, .span = fault.span, .pervasive = pervasive});
  }
  void scan(Span range);
  void begin_line(Input& in);
  void change_indentation(Indent indent, Span here);
  void fail_indentation(SyntaxError::Class error_class, const char* message, Span here);
  void finish();

  void on_format_string(Span span, std::size_t prefix);
  void format_parts(std::uint32_t& at, Span body, bool raw, int depth);
  void format_text(std::uint32_t& at, Span body, bool raw, int depth);
  void format_field(std::uint32_t& at, Span body, bool raw, int depth);
  void field_suffix(std::uint32_t& at, Span body, bool raw, int depth);

  const Source& source_;
  std::string_view text_;
  Growth* growth_;
  Tokens out_;
  std::vector<Bracket> brackets_;
  std::vector<Indent> indents_{Indent{}};
  std::size_t fields_ = 0;  // f-string fields we are inside of; like brackets, they join lines
  bool at_line_begin_ = true;
};

// ---- Actions --------------------------------------------------------------------------------------------------------

template <class Rule>
struct action : p::nothing<Rule> {};

#define TS_ON(Rule, Call)                              \
  template <>                                          \
  struct action<Rule> {                                \
    template <class In>                                \
    static void apply(const In& in, Lexer& lexer) {    \
      Span span = lexer.span_of(in.begin(), in.end()); \
      lexer.Call(span);                                \
    }                                                  \
  };
TS_ON(name, on_name)
TS_ON(number, on_number)
TS_ON(string_literal, on_string)
TS_ON(open_string, on_open_string)
TS_ON(line_end, on_line_end)
TS_ON(lone_backslash, on_backslash)
TS_ON(foreign, on_foreign)
#undef TS_ON

template <Token Kind, char... Text>
struct action<op<Kind, Text...>> {
  template <class In>
  static void apply(const In& in, Lexer& lexer) {
    lexer.add(Kind, lexer.span_of(in.begin(), in.end()));
  }
};

template <Token Kind, char Text>
struct action<opening<Kind, Text>> {
  template <class In>
  static void apply(const In& in, Lexer& lexer) {
    lexer.on_opening(Kind, Text, lexer.span_of(in.begin(), in.end()));
  }
};

template <Token Kind, char Text, char Opener>
struct action<closing<Kind, Text, Opener>> {
  template <class In>
  static void apply(const In& in, Lexer& lexer) {
    lexer.on_closing(Kind, Text, Opener, lexer.span_of(in.begin(), in.end()));
  }
};

void Lexer::fail(LexError error) {
  if (out_.error) return;  // the first one counts
  add(T::kError, error.span);
  out_.error = std::move(error);
}

void Lexer::on_line_end(Span span) {
  if (!brackets_.empty() || fields_ != 0) return;
  add(T::kNewline, span);
  at_line_begin_ = true;
}

void Lexer::on_name(Span span) {
  std::string_view text = text_.substr(span.begin, span.end - span.begin);
  bool ascii = std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (!ascii) {
    if (auto fault = name_fault(text_, span)) return report(*fault);
  }
  add(name_token(text), span);
}

void Lexer::on_number(Span span) {
  if (auto fault = number_fault(text_, span.begin, span.end)) return report(*fault);
  add(T::kNumber, span);
}

void Lexer::on_string(Span span) {
  std::string_view text = text_.substr(span.begin, span.end - span.begin);
  std::string_view prefix = text.substr(0, text.find_first_of("'\""));
  if (prefix.find_first_of("fF") != std::string_view::npos) return on_format_string(span, prefix.size());
  add(prefix.find_first_of("bB") != std::string_view::npos ? T::kBytes : T::kString, span);
}

// The rule for whole strings did not match here.
void Lexer::on_open_string(Span span) {
  char quote = text_[span.end - 1];
  bool triple = text_.substr(span.end - 1, 3) == std::string(3, quote);
  std::uint32_t last = static_cast<std::uint32_t>(text_.size());
  if (!triple) last = std::min(last, static_cast<std::uint32_t>(text_.find('\n', span.end)));
  std::uint32_t line = source_.line_number(last);
  if (triple && text_.back() == '\n') --line;
  std::string message = triple ? "unterminated triple-quoted string literal" : "unterminated string literal";
  Span here{span.begin, span.begin + 1};
  fail({.message = message + " (detected at line " + std::to_string(line) + ")", .span = here, .at_end = triple});
}

void Lexer::on_opening(Token kind, char bracket, Span span) {
  if (brackets_.size() >= kMaxBrackets) return fail({.message = "too many nested parentheses", .span = span});
  brackets_.push_back({bracket, span.begin});
  add(kind, span);
}

void Lexer::on_closing(Token kind, char bracket, char opener, Span span) {
  if (brackets_.empty()) return fail({.message = std::string("unmatched '") + bracket + "'", .span = span});
  Bracket open = brackets_.back();
  if (open.kind == opener) {
    brackets_.pop_back();
    return add(kind, span);
  }
  std::string message = "closing parenthesis '";  // joined piece by piece: of a sum g++ 12 believes that it overflows
  message.append(1, bracket).append("' does not match opening parenthesis '").append(1, open.kind).append("'");
  std::uint32_t line = source_.line_number(open.at);
  if (line != source_.line_number(span.begin)) message += " on line " + std::to_string(line);
  fail({.message = message, .span = span});
}

void Lexer::on_backslash(Span span) {
  span = {span.begin + 1, span.end + 1};  // CPython points behind it
  if (span.begin >= text_.size()) {
    return fail({.message = "unexpected EOF while parsing", .span = span, .pervasive = false, .at_end = true});
  }
  fail({.message = "unexpected character after line continuation character", .span = span, .pervasive = false});
}

void Lexer::on_foreign(Span span) {
  std::string message = foreign_character(static_cast<unsigned char>(text_[span.begin]));
  if (!message.empty()) return fail({.message = message, .span = span});
  add(T::kOther, span);
}

// ---- Lines and indentation --------------------------------------------------------------------------------------------

// Measures the indentation of the next line that has a token; lines of blanks and comments have no meaning.
void Lexer::begin_line(Input& in) {
  Indent indent;
  std::uint32_t at = offset(in.current());
  const auto end = static_cast<std::uint32_t>(text_.size());
  for (; at < end; ++at) {
    char c = text_[at];
    if (c == ' ') {
      ++indent.column, ++indent.alternate;
    } else if (c == '\t') {
      indent.column = (indent.column / kTabSize + 1) * kTabSize;
      ++indent.alternate;
    } else if (c == '\f' || c == '\n') {
      indent = {};
    } else if (c == '\\' && at + 1 < end && text_[at + 1] == '\n' && at + 2 < end) {
      ++at;  // a joined line goes on with the column it had
    } else if (c == '#') {
      at = std::min(end, static_cast<std::uint32_t>(text_.find('\n', at))) - 1;
    } else {
      break;
    }
  }
  in.bump(at - offset(in.current()));
  if (at < end && text_[at] != '\\') change_indentation(indent, {at, at});  // a backslash that joins no lines is the fault
  at_line_begin_ = false;
}

void Lexer::fail_indentation(SyntaxError::Class error_class, const char* message, Span here) {
  std::uint32_t line_end = static_cast<std::uint32_t>(std::min(text_.find('\n', here.begin), text_.size()));
  fail({.error_class = error_class, .message = message, .span = {line_end, line_end}, .pervasive = false});
}

void Lexer::change_indentation(Indent indent, Span here) {
  constexpr auto kIndentationError = SyntaxError::Class::kIndentationError;
  constexpr const char* kMixed = "inconsistent use of tabs and spaces in indentation";
  auto mixed = [&] { fail_indentation(SyntaxError::Class::kTabError, kMixed, here); };
  if (indent.column > indents_.back().column) {
    if (indents_.size() >= kMaxIndents)
      return fail_indentation(kIndentationError, "too many levels of indentation", here);
    if (indent.alternate <= indents_.back().alternate) return mixed();
    indents_.push_back(indent);
    return add(T::kIndent, {source_.line_begin(source_.line_number(here.begin)), here.begin});
  }
  // The fault comes before the first DEDENT, as for CPython.
  std::size_t kept = indents_.size();
  while (indent.column < indents_[kept - 1].column) --kept;
  if (indent.column > indents_[kept - 1].column)
    return fail_indentation(kIndentationError, "unindent does not match any outer indentation level", here);
  if (indent.alternate != indents_[kept - 1].alternate) return mixed();
  for (; indents_.size() > kept; indents_.pop_back()) add(T::kDedent, here);
}

// ---- f-strings ----------------------------------------------------------------------------------------------------------

void Lexer::on_format_string(Span span, std::size_t prefix) {
  std::string_view text = text_.substr(span.begin, span.end - span.begin);
  bool raw = text.substr(0, prefix).find_first_of("rR") != std::string_view::npos;
  auto quotes = static_cast<std::uint32_t>(
      text.size() >= prefix + 6 && text.substr(prefix, 3) == std::string(3, text[prefix]) ? 3 : 1);
  Span body{span.begin + static_cast<std::uint32_t>(prefix) + quotes, span.end - quotes};
  add(T::kFStart, {span.begin, body.begin});
  std::uint32_t at = body.begin;
  format_parts(at, body, raw, 0);
  if (!out_.error) add(T::kFEnd, {body.end, span.end});
}

// Text and fields, up to the end, or, in the format of a field, up to its '}'.
void Lexer::format_parts(std::uint32_t& at, Span body, bool raw, int depth) {
  while (at < body.end && !out_.error) {
    if (text_[at] == '}' && depth > 0) return;
    bool doubled = depth == 0 && at + 1 < body.end && text_[at + 1] == text_[at];
    if (text_[at] == '{' && !doubled) format_field(at, body, raw, depth);
    else format_text(at, body, raw, depth);
  }
}

void Lexer::format_text(std::uint32_t& at, Span body, bool raw, int depth) {
  std::uint32_t begin = at;
  for (; at < body.end; ++at) {
    char c = text_[at];
    if (c == '\\' && !raw && at + 1 < body.end) {
      bool named = text_.substr(at + 1, 2) == "N{";
      std::size_t close = named ? text_.find('}', at) : std::string_view::npos;
      if (close < body.end) at = static_cast<std::uint32_t>(close);
      else if (text_[at + 1] != '{' && text_[at + 1] != '}') ++at;
      continue;
    }
    if (c != '{' && c != '}') continue;
    if (depth > 0) break;
    if (at + 1 < body.end && text_[at + 1] == c) {  // a doubled brace means one: the text ends after the first
      add(T::kFText, {begin, at + 1});
      at += 2;
      return;
    }
    if (c == '{') break;
    return fail({.message = "f-string: single '}' is not allowed", .span = {at, at + 1}, .pervasive = false});
  }
  if (at > begin) add(T::kFText, {begin, at});
}

void Lexer::format_field(std::uint32_t& at, Span body, bool raw, int depth) {
  auto refuse = [&](std::string message) {
    fail({.message = "f-string: " + std::move(message), .span = {at, at + 1}, .pervasive = false});
  };
  if (depth >= kMaxFieldDepth) return refuse("expressions nested too deeply");
  Span open{at, at + 1};
  std::optional<Fault> fault;
  std::uint32_t end = find_field_end(text_, body, open.end, fault);
  if (fault) return report(*fault, false);
  if (end >= body.end) return refuse("expecting '}'");
  if (text_.substr(open.end, end - open.end).find_first_not_of(" \t\n\f") == std::string_view::npos) {
    return refuse(text_[end] == '}' ? "empty expression not allowed" : std::string("expression required before '") + text_[end] + "'");
  }
  add(T::kFOpen, open);
  scan({open.end, end});
  if (out_.error) return;
  at = end;
  if (text_[at] == '=') {
    for (++at; at < body.end && std::string_view(" \t\n\f").find(text_[at]) != std::string_view::npos;) ++at;
    add(T::kFEqual, {open.end, at});
  }
  field_suffix(at, body, raw, depth);
}

// !conversion, :format and the closing brace.
void Lexer::field_suffix(std::uint32_t& at, Span body, bool raw, int depth) {
  auto refuse = [&](const char* message) { fail({.message = message, .span = {at, at + 1}, .pervasive = false}); };
  if (at < body.end && text_[at] == '!') {
    if (++at >= body.end) return refuse("f-string: expecting '}'");
    char c = text_[at];
    if (c != 's' && c != 'r' && c != 'a') {
      return refuse("f-string: invalid conversion character: expected 's', 'r', or 'a'");
    }
    add(T::kFConversion, {at, at + 1});
    ++at;
  }
  if (at < body.end && text_[at] == ':') {
    add(T::kFSpec, {at, at + 1});
    format_parts(++at, body, raw, depth + 1);
    if (out_.error) return;
  }
  if (at >= body.end || text_[at] != '}') return refuse("f-string: expecting '}'");
  add(T::kFClose, {at, at + 1});
  ++at;
}

// ---- The loop -------------------------------------------------------------------------------------------------------------

// The tokens of a field's expression; brackets in it are balanced, find_field_end saw to that.
void Lexer::scan(Span range) {
  ++fields_;
  Input in(text_.data() + range.begin, text_.data() + range.end, "");
  while (!in.empty() && !out_.error) (void)p::parse<token, action>(in, *this);
  --fields_;
}

Tokens Lexer::run() {
  if (text_.size() > Source::kMaxBytes) fail({.message = "source code is too long", .span = {0, 0}});
  else if (auto fault = encoding_fault(source_)) report(*fault);
  out_.kinds.reserve(text_.size() / 3 + 8);
  out_.spans.reserve(text_.size() / 3 + 8);
  Input in(text_.data(), text_.data() + text_.size(), "");
  while (!out_.error) {
    if (at_line_begin_) begin_line(in);
    if (in.empty()) break;
    if (!out_.error) (void)p::parse<token, action>(in, *this);
  }
  if (!out_.error) finish();
  return std::move(out_);
}

void Lexer::finish() {
  auto size = static_cast<std::uint32_t>(text_.size());
  Span end{size, size};
  if (!brackets_.empty()) {
    Bracket open = brackets_.back();
    return fail({.message = std::string("'") + open.kind + "' was never closed",
                 .span = {open.at, open.at + 1},
                 .pervasive = false,
                 .at_end = true,
                 .open_bracket = true});
  }
  if (!out_.kinds.empty() && out_.kind(out_.size() - 1) != T::kNewline) add(T::kNewline, end);
  for (std::size_t i = indents_.size(); i > 1; --i) add(T::kDedent, end);
  add(T::kEnd, end);
}

}  // namespace

Tokens tokenize(const Source& source, Growth* growth) { return Lexer(source, growth).run(); }

}  // namespace tessera::lang

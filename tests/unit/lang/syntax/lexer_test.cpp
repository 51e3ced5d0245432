// Tokens, indentation, and what the lexer refuses.
#include "lang/syntax/lexer.h"

#include <doctest/doctest.h>

#include <initializer_list>

using namespace tessera::lang;
using T = Token;

namespace {

Tokens lex(std::string_view text) { return tokenize(Source("test", text)); }

void check_tokens(std::string_view text, std::initializer_list<T> expected) {
  CAPTURE(text);
  std::string kinds;
  for (T token : expected) kinds += static_cast<char>(token);
  CHECK(lex(text).kinds == kinds);
}

std::string fault(std::string_view text) {
  Source source("test", text);
  Tokens tokens = tokenize(source);
  if (!tokens.error) return "none";
  SyntaxError error = make_syntax_error(source, tokens.error->span, tokens.error->message, tokens.error->error_class);
  return std::to_string(error.line) + ":" + std::to_string(error.column) + " " + error.message;
}

}  // namespace

TEST_CASE("lexer: a statement is its tokens and a NEWLINE") {
  check_tokens("", {T::kEnd});
  check_tokens("x = 1\n", {T::kName, T::kAssign, T::kNumber, T::kNewline, T::kEnd});
  check_tokens("x = 1", {T::kName, T::kAssign, T::kNumber, T::kNewline, T::kEnd});
  check_tokens("\n  # only a comment\n\n", {T::kEnd});
  check_tokens("a <= b << c <<= d", {T::kName, T::kLessEqual, T::kName, T::kShiftLeft, T::kName, T::kShiftLeftAssign,
                                     T::kName, T::kNewline, T::kEnd});
}

TEST_CASE("lexer: keywords are told from names, soft keywords from both") {
  check_tokens("if iff match _", {T::kIf, T::kName, T::kSoftMatch, T::kSoftUnderscore, T::kNewline, T::kEnd});
  check_tokens("naïve = Größe", {T::kName, T::kAssign, T::kName, T::kNewline, T::kEnd});
}

TEST_CASE("lexer: indentation opens and closes blocks") {
  check_tokens("if a:\n  b\n\n  # note\n  c\nd\n",
               {T::kIf, T::kName, T::kColon, T::kNewline, T::kIndent, T::kName, T::kNewline, T::kName, T::kNewline,
                T::kDedent, T::kName, T::kNewline, T::kEnd});
  check_tokens("if a:\n  if b:\n    c",
               {T::kIf, T::kName, T::kColon, T::kNewline, T::kIndent, T::kIf, T::kName, T::kColon, T::kNewline,
                T::kIndent, T::kName, T::kNewline, T::kDedent, T::kDedent, T::kEnd});
}

TEST_CASE("lexer: brackets and backslashes join lines") {
  check_tokens("(a,\n  b)\n", {T::kLeftParen, T::kName, T::kComma, T::kName, T::kRightParen, T::kNewline, T::kEnd});
  check_tokens("a + \\\n  b\n", {T::kName, T::kPlus, T::kName, T::kNewline, T::kEnd});
}

TEST_CASE("lexer: line ends of all systems, and a byte order mark, are one") {
  for (const char* text : {"a\nb\n", "a\r\nb\r\n", "a\rb\r",
                           "\xef\xbb\xbf"
                           "a\nb"}) {
    check_tokens(text, {T::kName, T::kNewline, T::kName, T::kNewline, T::kEnd});
  }
  check_tokens("a\n\fb\n", {T::kName, T::kNewline, T::kName, T::kNewline, T::kEnd});
}

TEST_CASE("lexer: an f-string is opened up") {
  check_tokens("f'a{b!r:>{c}}d'",
               {T::kFStart, T::kFText, T::kFOpen, T::kName, T::kFConversion, T::kFSpec, T::kFText, T::kFOpen, T::kName,
                T::kFClose, T::kFClose, T::kFText, T::kFEnd, T::kNewline, T::kEnd});
  check_tokens("f'{{}}{x = }'", {T::kFStart, T::kFText, T::kFText, T::kFOpen, T::kName, T::kFEqual, T::kFClose,
                                 T::kFEnd, T::kNewline, T::kEnd});
  check_tokens("f'{a != b}{d[\"k\"]}'",
               {T::kFStart, T::kFOpen, T::kName, T::kNotEqual, T::kName, T::kFClose, T::kFOpen, T::kName,
                T::kLeftBracket, T::kString, T::kRightBracket, T::kFClose, T::kFEnd, T::kNewline, T::kEnd});
}

TEST_CASE("lexer: numbers") {
  for (const char* number :
       {"0", "00", "1_000", "0xFF_ff", "0o17", "0b1_0", "1.", ".5", "1e10", "1_0.5e-3", "2j", "1if 1else 2"}) {
    CAPTURE(number);
    CHECK(fault(number) == "none");
  }
  CHECK(fault("x = 1abc") == "1:5 invalid decimal literal");
  CHECK(fault("1__0") == "1:2 invalid decimal literal");
  CHECK(fault("0b12") == "1:4 invalid digit '2' in binary literal");
  CHECK(fault("0o8") == "1:3 invalid digit '8' in octal literal");
  CHECK(fault("0xg") == "1:2 invalid hexadecimal literal");
  CHECK(fault("1.5j2") == "1:4 invalid imaginary literal");
  CHECK(fault("0777") ==
        "1:1 leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers");
}

TEST_CASE("lexer: brackets that do not match") {
  CHECK(fault("x = )") == "1:5 unmatched ')'");
  CHECK(fault("x = [1, 2)") == "1:10 closing parenthesis ')' does not match opening parenthesis '['");
  CHECK(fault("x = [1,\n2)") == "2:2 closing parenthesis ')' does not match opening parenthesis '[' on line 1");
  CHECK(fault("x = (\n1\n") == "1:5 '(' was never closed");
  CHECK(fault(std::string(201, '(')) == "1:201 too many nested parentheses");
  CHECK(fault(std::string(200, '(') + std::string(200, ')')) == "none");
}

TEST_CASE("lexer: strings that do not end") {
  CHECK(fault("x = 'a\n") == "1:5 unterminated string literal (detected at line 1)");
  CHECK(fault("x = '''a\nb\n") == "1:5 unterminated triple-quoted string literal (detected at line 2)");
  CHECK(fault("x = 'a\\\nb'") == "none");
  CHECK(fault("x = '''a\n'' \\''' '''") == "none");
}

TEST_CASE("lexer: characters that do not belong") {
  CHECK(fault("x = \xe2\x80\x9c"
              "a\xe2\x80\x9d") == "1:5 invalid character '\xe2\x80\x9c' (U+201C)");
  CHECK(fault("x\xc2\xa0= 1") == "1:2 invalid non-printable character U+00A0");
  CHECK(fault(std::string_view("a\0b", 3)) == "1:2 source code cannot contain null bytes");
  CHECK(fault("x = 1\n\xff") ==
        "2:1 (unicode error) 'utf-8' codec can't decode byte 0xff in position 6: invalid start byte");
  CHECK(fault("x = 1 \\ \n") == "1:8 unexpected character after line continuation character");
}

TEST_CASE("lexer: indentation that does not fit") {
  CHECK(fault("if x:\n    a\n  b\n") == "3:4 unindent does not match any outer indentation level");
  CHECK(fault("if x:\n\ta\n        b\n") == "3:10 inconsistent use of tabs and spaces in indentation");
  std::string deep;
  for (int i = 0; i < 101; ++i) deep += std::string(static_cast<std::size_t>(i), ' ') + "if x:\n";
  CHECK(fault(deep).find("too many levels of indentation") != std::string::npos);
}

TEST_CASE("lexer: f-strings that do not fit") {
  CHECK(fault("f'{}'").find("f-string: empty expression not allowed") != std::string::npos);
  CHECK(fault("f'{a'").find("f-string: expecting '}'") != std::string::npos);
  CHECK(fault("f'}'").find("f-string: single '}' is not allowed") != std::string::npos);
  CHECK(fault("f'{a!x}'").find("f-string: invalid conversion character: expected 's', 'r', or 'a'") !=
        std::string::npos);
  CHECK(fault("f'{a)}'").find("f-string: unmatched ')'") != std::string::npos);
  CHECK(fault("f'{(a]}'").find("f-string: closing parenthesis ']' does not match opening parenthesis '('") !=
        std::string::npos);
  CHECK(fault("f'{a:{b:{c}}}'").find("f-string: expressions nested too deeply") != std::string::npos);
}

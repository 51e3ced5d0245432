// Text to tokens, one byte per token, so that the grammar is a grammar over characters of an alphabet of our own.
//
// White space, comments, line joining, indentation, keywords and matching of brackets are settled here, once. An f-string
// becomes kFStart, then kFText and fields (kFOpen, the tokens of the expression, kFEqual?, kFConversion?, kFSpec and again
// text and fields, kFClose), then kFEnd, so that its expressions are parsed in place, with their own positions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/syntax/arena.h"
#include "lang/syntax/source.h"
#include "lang/syntax/syntax_error.h"

namespace tessera::lang {

enum class Token : unsigned char {
  kEnd,
  kError,  // always the last token when it occurs; LexError says what it is
  kNewline,
  kIndent,
  kDedent,
  kOther,  // a character no token begins with ('$', '?', '!'): the grammar knows no use for it
  kName,
  kNumber,
  kString,
  kBytes,
  kFStart,
  kFText,
  kFOpen,
  kFEqual,
  kFConversion,
  kFSpec,
  kFClose,
  kFEnd,
  // Names that are keywords in one place only.
  kSoftMatch,
  kSoftCase,
  kSoftUnderscore,
  // Keywords.
  kFalse,
  kNone,
  kTrue,
  kAnd,
  kAs,
  kAssert,
  kAsync,
  kAwait,
  kBreak,
  kClass,
  kContinue,
  kDef,
  kDel,
  kElif,
  kElse,
  kExcept,
  kFinally,
  kFor,
  kFrom,
  kGlobal,
  kIf,
  kImport,
  kIn,
  kIs,
  kLambda,
  kNonlocal,
  kNot,
  kOr,
  kPass,
  kRaise,
  kReturn,
  kTry,
  kWhile,
  kWith,
  kYield,
  // Punctuation.
  kLeftParen,
  kRightParen,
  kLeftBracket,
  kRightBracket,
  kLeftBrace,
  kRightBrace,
  kComma,
  kColon,
  kSemicolon,
  kDot,
  kEllipsis,
  kArrow,
  kWalrus,
  kAssign,
  // Operators.
  kPlus,
  kMinus,
  kStar,
  kSlash,
  kDoubleSlash,
  kPercent,
  kDoubleStar,
  kAt,
  kAmpersand,
  kPipe,
  kCaret,
  kTilde,
  kShiftLeft,
  kShiftRight,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  // Augmented assignment, in the order of the operators above that have one.
  kPlusAssign,
  kMinusAssign,
  kStarAssign,
  kSlashAssign,
  kDoubleSlashAssign,
  kPercentAssign,
  kDoubleStarAssign,
  kAtAssign,
  kAmpersandAssign,
  kPipeAssign,
  kCaretAssign,
  kShiftLeftAssign,
  kShiftRightAssign,
};

constexpr bool is_name(Token token) {
  return token == Token::kName || (token >= Token::kSoftMatch && token <= Token::kSoftUnderscore);
}
constexpr bool is_keyword(Token token) { return token >= Token::kFalse && token <= Token::kYield; }
constexpr bool is_opening(Token token) {
  return token == Token::kLeftParen || token == Token::kLeftBracket || token == Token::kLeftBrace;
}
constexpr bool is_closing(Token token) {
  return token == Token::kRightParen || token == Token::kRightBracket || token == Token::kRightBrace;
}

// Why lexing stopped. CPython reads on to the end of a file after a syntax error to see whether the text is broken below;
// a fault of that kind (`pervasive`) wins over a grammar error before it, the others only where the grammar gets to them.
struct LexError {
  SyntaxError::Class error_class = SyntaxError::Class::kSyntaxError;
  std::string message;
  Span span;
  bool pervasive = true;
  bool at_end = false;        // more text could mend it
  bool open_bracket = false;  // the end came inside a bracket; span is the bracket
};

struct Tokens {
  std::string kinds;        // one Token each; ends with kEnd or kError
  std::vector<Span> spans;  // parallel to kinds
  std::optional<LexError> error;

  std::size_t size() const { return kinds.size(); }
  Token kind(std::size_t index) const { return static_cast<Token>(kinds[index]); }
};

Tokens tokenize(const Source& source, Growth* growth = nullptr);

// Whether a code point may begin, or continue, a name (Unicode's XID_Start and XID_Continue, and '_').
bool is_identifier_start(char32_t c);
bool is_identifier_part(char32_t c);

}  // namespace tessera::lang

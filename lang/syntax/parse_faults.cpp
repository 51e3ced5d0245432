// CPython explains a fault by parsing a second time with extra rules for common mistakes. So do we, but by looking at the
// tokens around the furthest one that the grammar got to: each mistake is a small function that recognises it or not, and
// the order of the list in explain() is the order in which CPython's rules would meet them.
// compile: small (runs after a syntax error)
#include "lang/syntax/parse_faults.h"

#include <algorithm>
#include <optional>
#include <string>

#include "lang/syntax/parse_builder.h"
#include "lang/syntax/parse_grammar.h"

namespace tessera::lang {
namespace {

using T = Token;
constexpr std::uint32_t kNowhere = 0xffff'ffff;

bool ends_operand(T token) {
  return is_name(token) || is_closing(token) || token == T::kNumber || token == T::kString || token == T::kBytes ||
         token == T::kFEnd || token == T::kTrue || token == T::kFalse || token == T::kNone || token == T::kEllipsis;
}

bool begins_operand(T token) {
  return is_name(token) || is_opening(token) || token == T::kNumber || token == T::kString || token == T::kBytes ||
         token == T::kFStart || token == T::kTrue || token == T::kFalse || token == T::kNone || token == T::kEllipsis ||
         token == T::kLambda || token == T::kTilde || token == T::kNot || token == T::kAwait || token == T::kMinus ||
         token == T::kPlus;
}

// What CPython calls a block's header; empty for a token that is not one's first.
std::string block_name(T token) {
  switch (token) {
    case T::kIf: return "'if' statement";
    case T::kElif: return "'elif' statement";
    case T::kElse: return "'else' statement";
    case T::kFor: return "'for' statement";
    case T::kWhile: return "'while' statement";
    case T::kWith: return "'with' statement";
    case T::kTry: return "'try' statement";
    case T::kExcept: return "'except' statement";
    case T::kFinally: return "'finally' statement";
    case T::kDef: return "function definition";
    case T::kClass: return "class definition";
    case T::kSoftMatch: return "'match' statement";
    case T::kSoftCase: return "'case' statement";
    default: return {};
  }
}

class Explainer {
 public:
  Explainer(const Source& source, const Tokens& tokens, std::uint32_t at)
      : source_(source), tokens_(tokens), at_(at), line_(line_begin(at)), opener_(find_opener(at)) {
    step_back();
  }

  SyntaxError explain();

 private:
  using Answer = std::optional<SyntaxError>;

  // The mistakes.
  Answer missing_block();
  Answer missing_handler();
  Answer old_print();
  Answer missing_else();
  Answer assignment_in_expression();
  Answer assignment_in_call();
  Answer generator_as_keyword();
  Answer dict_item();
  Answer double_star_in_parentheses();
  Answer comprehension_target();
  Answer missing_comma();
  Answer missing_colon();
  Answer exception_list();
  Answer missing_exception_type();
  Answer import_comma();
  Answer parenthesised_parameters();
  Answer missing_default();
  Answer indentation();
  Answer bad_annotation();
  Answer bad_target();
  Answer list_of_targets();
  Answer assignment_in_list();
  Answer stars_of_parameters();

  // The tokens.
  T kind(std::uint32_t index) const { return index < tokens_.size() ? tokens_.kind(index) : T::kEnd; }
  T here() const { return kind(at_); }
  T before() const { return at_ > 0 ? kind(at_ - 1) : T::kNewline; }
  Span span(std::uint32_t index) const { return tokens_.spans[index]; }
  Span whole(std::uint32_t index) const;
  void step_back();
  std::uint32_t first_in_line(T token) const;
  bool is_simple() const {
    return block_name(kind(line_)).empty() && kind(line_) != T::kAsync && kind(line_) != T::kAt;
  }
  bool in_lambda_parameters(std::uint32_t index) const;
  Span span(std::uint32_t first, std::uint32_t last) const { return join(span(first), span(last - 1)); }
  std::uint32_t line_begin(std::uint32_t index) const;
  std::uint32_t find_opener(std::uint32_t index) const;
  std::uint32_t item_begin(std::uint32_t index, bool conditional_too = false) const;
  std::uint32_t closing_of(std::uint32_t opening) const;
  bool follows_comprehension_in(std::uint32_t item) const;
  bool in_brackets() const { return opener_ != kNowhere; }
  bool in_field() const;
  bool in_call() const {
    return in_brackets() && kind(opener_) == T::kLeftParen && opener_ > 0 && ends_operand(kind(opener_ - 1));
  }
  bool lists_names() const {  // a statement without expressions
    std::uint32_t begin = line_;
    for (std::uint32_t i = line_; i < at_; ++i) {
      if (kind(i) == T::kSemicolon) begin = i + 1;
    }
    T first = kind(begin);
    return first == T::kFrom || first == T::kImport || first == T::kGlobal || first == T::kNonlocal;
  }
  T header() const { return kind(line_) == T::kAsync ? kind(line_ + 1) : kind(line_); }
  // Where the longest such part from `begin` on ends; `begin` itself when there is none.
  std::uint32_t part_end(GrammarPart part, std::uint32_t begin) {
    const SyntaxNode* node = match_part(tokens_, part, begin, arena_).root;
    return node != nullptr ? node->last : begin;
  }
  bool spans(GrammarPart part, std::uint32_t begin, std::uint32_t end) {
    return begin < end && part_end(part, begin) == end;
  }
  const char* name_of(std::uint32_t begin, GrammarPart part = GrammarPart::kBitOr);
  Answer first_bad_target(std::uint32_t begin, std::uint32_t end, T keyword);

  SyntaxError error(Span where, std::string message,
                    SyntaxError::Class error_class = SyntaxError::Class::kSyntaxError) const;
  SyntaxError lexical() const;
  bool unclosed_above() const;
  // Whether the text ends here within a bracket: CPython then says no more than that.
  bool runs_out(std::uint32_t index) const {
    const T token = kind(index);
    const bool over = token == T::kError || token == T::kEnd || token == T::kNewline;
    return over && tokens_.error && tokens_.error->open_bracket;
  }
  bool next_expression_is_broken();

  const Source& source_;
  const Tokens& tokens_;
  std::uint32_t at_;
  std::uint32_t line_;    // the first token of the logical line
  std::uint32_t opener_;  // the innermost open bracket or field of an f-string around at_, or kNowhere
  Arena arena_;
};

// ---- Looking around -------------------------------------------------------------------------------------------------------

std::uint32_t Explainer::line_begin(std::uint32_t index) const {
  auto breaks = [](T token) { return token == T::kNewline || token == T::kIndent || token == T::kDedent; };
  while (index > 0 && !breaks(kind(index - 1))) --index;
  return index;
}

std::uint32_t Explainer::find_opener(std::uint32_t index) const {
  std::uint32_t closed = 0;
  for (std::uint32_t i = index; i > line_; --i) {
    T token = kind(i - 1);
    if (is_closing(token) || token == T::kFClose || token == T::kFEnd) ++closed;
    if (!is_opening(token) && token != T::kFOpen && token != T::kFStart) continue;
    if (closed == 0) return i - 1;
    --closed;
  }
  return kNowhere;
}

// What CPython sees as one token: `<>`, an f-string; a line's end begins at its comment.
Span Explainer::whole(std::uint32_t index) const {
  Span where = span(index);
  if (kind(index) == T::kLess && kind(index + 1) == T::kGreater && span(index + 1).begin == where.end) {
    where.end = span(index + 1).end;
  } else if (kind(index) == T::kFStart) {
    std::uint32_t open = 1, end = index + 1;
    for (; end < tokens_.size() && open > 0; ++end) open += (kind(end) == T::kFStart) - (kind(end) == T::kFEnd);
    if (open == 0) where.end = span(end - 1).end;
  } else if (kind(index) == T::kNewline && index > 0) {
    const std::string_view between = source_.text().substr(span(index - 1).end, where.begin - span(index - 1).end);
    const std::size_t comment = between.find('#');
    if (comment != std::string_view::npos) {
      where = {span(index - 1).end + static_cast<std::uint32_t>(comment), where.begin};
    }
  }
  return where;
}

// To the token where CPython stops: our grammar goes through `<` before a `>`, and through the colon behind what
// cannot be annotated.
void Explainer::step_back() {
  if (here() == T::kGreater && before() == T::kLess && span(at_ - 1).end == span(at_).begin) --at_;
  if (in_brackets() || !is_simple()) return;
  const std::uint32_t colon = first_in_line(T::kColon);
  if (colon >= at_ || colon == line_ || !spans(GrammarPart::kExpression, line_, colon)) return;
  const std::string name = spans(GrammarPart::kBitOr, line_, colon) ? name_of(line_) : "expression";
  const bool target = name == "name" || name == "attribute" || name == "subscript";
  const bool annotated = part_end(GrammarPart::kExpression, colon + 1) > colon + 1;
  if (!target && !annotated) at_ = colon;
}

// The first such token of the line that stands in no brackets and behind no lambda, or kNowhere.
std::uint32_t Explainer::first_in_line(T token) const {
  std::uint32_t open = 0;
  for (std::uint32_t i = line_; i < tokens_.size(); ++i) {
    T each = kind(i);
    if (each == T::kNewline || each == T::kError || each == T::kEnd || each == T::kLambda) break;
    if (is_opening(each) || each == T::kFStart) ++open;
    if ((is_closing(each) || each == T::kFEnd) && open > 0) --open;
    if (open == 0 && each == token) return i;
  }
  return kNowhere;
}

bool Explainer::in_lambda_parameters(std::uint32_t index) const {
  for (std::uint32_t i = index; i > line_; --i) {
    T token = kind(i - 1);
    if (token == T::kLambda) return true;
    if (token == T::kColon || is_opening(token) || is_closing(token) || token == T::kFStart) return false;
  }
  return false;
}

// The first token of the expression that `index` stands in or behind, between separators of the same bracket.
std::uint32_t Explainer::item_begin(std::uint32_t index, bool conditional_too) const {
  std::uint32_t closed = 0;
  for (std::uint32_t i = index; i > line_; --i) {
    T token = kind(i - 1);
    if (is_closing(token) || token == T::kFClose || token == T::kFEnd) {
      ++closed;
      continue;
    }
    if (is_opening(token) || token == T::kFOpen || token == T::kFStart) {
      if (closed == 0) return i;
      --closed;
      continue;
    }
    if (closed != 0) continue;
    switch (token) {
      case T::kElse:
      case T::kIf:
        if (conditional_too && i - 1 != line_) continue;
        return i;
      case T::kComma:
      case T::kColon:
      case T::kAssign:
      case T::kWalrus:
      case T::kSemicolon:
      case T::kFor:
      case T::kElif:
      case T::kWhile:
      case T::kReturn:
      case T::kAssert:
      case T::kRaise:
      case T::kWith:
      case T::kYield:
      case T::kFrom:
      case T::kDel:
      case T::kAs:
      case T::kExcept:
      case T::kLambda:
      case T::kArrow: return i;
      case T::kIn:
        if (follows_comprehension_in(i)) return i;
        continue;
      default:
        if (token >= T::kPlusAssign) return i;
    }
  }
  if (kind(line_) == T::kAt) return line_ + 1;  // a decorator
  return line_;
}

// Whether the `in` before token `item` belongs to a `for` and is no comparison.
bool Explainer::follows_comprehension_in(std::uint32_t item) const {
  std::uint32_t closed = 0;
  for (std::uint32_t i = item - 1; i > line_; --i) {
    T token = kind(i - 1);
    if (is_closing(token)) ++closed;
    if (is_opening(token) && closed-- == 0) return false;
    if (closed == 0 && token == T::kFor) return true;
    if (closed == 0 && (token == T::kIn || token == T::kColon)) return false;
  }
  return kind(line_) == T::kFor;
}

std::uint32_t Explainer::closing_of(std::uint32_t opening) const {
  std::uint32_t open = 0;
  for (std::uint32_t i = opening; i < tokens_.size(); ++i) {
    if (is_opening(kind(i))) ++open;
    if (is_closing(kind(i)) && --open == 0) return i;
  }
  return kNowhere;
}

bool Explainer::in_field() const {
  std::uint32_t closed = 0;
  for (std::uint32_t i = at_; i > line_; --i) {
    T token = kind(i - 1);
    if (token == T::kFClose) ++closed;
    if (token == T::kFOpen && closed-- == 0) return true;
  }
  return false;
}

const char* Explainer::name_of(std::uint32_t begin, GrammarPart part) {
  const SyntaxNode* node = match_part(tokens_, part, begin, arena_).root;
  try {
    ast::Tree scratch;
    return expression_name(*Builder(source_, tokens_, scratch).expression(*node));
  } catch (const Refusal&) {
    return "expression";
  }
}

// ---- The mistakes ---------------------------------------------------------------------------------------------------------

// A header, its colon, the end of the line, and then no indentation.
Explainer::Answer Explainer::missing_block() {
  if (at_ < 2 || before() != T::kNewline || kind(at_ - 2) != T::kColon || here() == T::kIndent) return {};
  std::uint32_t first = line_begin(at_ - 2);
  T header = kind(first) == T::kAsync ? kind(first + 1) : kind(first);
  std::string name = block_name(header);
  if (name.empty()) return {};
  std::string line = std::to_string(source_.line_number(span(first).begin));
  return error(span(at_), "expected an indented block after " + name + " on line " + line,
               SyntaxError::Class::kIndentationError);
}

// At the beginning of a line whose last neighbour at the same depth is the block of a `try`.
Explainer::Answer Explainer::missing_handler() {
  if (at_ != line_ && here() != T::kDedent) return {};
  if (here() == T::kIndent || here() == T::kExcept || here() == T::kFinally) return {};
  std::uint32_t depth = 0;
  for (std::uint32_t i = at_; i > 0; --i) {
    T token = kind(i - 1);
    if (token == T::kDedent) ++depth;
    if (token == T::kIndent && depth-- == 0) return {};
    bool begins_line = i == 1 || kind(i - 2) == T::kNewline || kind(i - 2) == T::kIndent || kind(i - 2) == T::kDedent;
    if (depth != 0 || !begins_line || token == T::kIndent || token == T::kDedent) continue;
    if (token != T::kTry) return {};
    return error(span(at_), "expected 'except' or 'finally' block");
  }
  return {};
}

Explainer::Answer Explainer::old_print() {
  if (before() != T::kName || !begins_operand(here()) || here() == T::kLeftParen || lists_names()) return {};
  std::string name(source_.text(span(at_ - 1)));
  if (name != "print" && name != "exec") return {};
  std::uint32_t end = part_end(GrammarPart::kStarExpressions, at_);
  if (end == at_) return {};
  return error(span(at_ - 1, end), "Missing parentheses in call to '" + name + "'. Did you mean " + name + "(...)?");
}

// a if b, and no else
Explainer::Answer Explainer::missing_else() {
  if (here() == T::kColon || (header() == T::kSoftCase && !in_brackets())) return {};
  std::uint32_t condition = item_begin(at_);
  if (condition == 0 || condition == at_ || kind(condition - 1) != T::kIf || condition - 1 == line_) return {};
  std::uint32_t begin = item_begin(condition - 1);
  if (begin >= condition - 1) return {};
  if (!spans(GrammarPart::kDisjunction, begin, condition - 1)) return {};
  std::uint32_t end = part_end(GrammarPart::kDisjunction, condition);
  if (end == condition || kind(end) == T::kElse || kind(end) == T::kColon) return {};
  if (begin > 0 && kind(begin - 1) == T::kIn) return {};
  return error(span(begin, end), "expected 'else' after 'if' expression");
}

// `=` where only an expression may stand: CPython guesses what was meant by what stands on its left.
Explainer::Answer Explainer::assignment_in_expression() {
  if (here() != T::kAssign || in_call()) return {};
  bool header = line_ < at_ && (kind(line_) == T::kIf || kind(line_) == T::kElif || kind(line_) == T::kWhile || kind(line_) == T::kAt);
  if (!in_brackets() && !header) return {};
  std::uint32_t begin = item_begin(at_);
  if (!in_brackets() && begin != line_ + 1) return {};
  if (!spans(GrammarPart::kBitOr, begin, at_)) return {};
  std::uint32_t end = part_end(GrammarPart::kBitOr, at_ + 1);
  if (runs_out(end)) return lexical();
  if (end == at_ + 1 || kind(end) == T::kAssign || kind(end) == T::kWalrus) return {};
  if (begin + 1 == at_ && is_name(kind(begin))) {
    return error(span(begin, end), "invalid syntax. Maybe you meant '==' or ':=' instead of '='?");
  }
  std::string name = name_of(begin);
  for (const char* never : {"list", "tuple", "generator expression", "True", "None", "False"}) {
    if (name == never) return {};
  }
  return error(span(begin, at_), "cannot assign to " + name + " here. Maybe you meant '==' instead of '='?");
}

Explainer::Answer Explainer::assignment_in_call() {
  if (here() != T::kAssign || !in_call()) return {};
  std::uint32_t begin = item_begin(at_, true);
  if (!spans(GrammarPart::kExpression, begin, at_)) return {};
  T only = begin + 1 == at_ ? kind(begin) : T::kEnd;
  if (only == T::kTrue || only == T::kFalse || only == T::kNone) {
    return error(span(begin, at_ + 1), "cannot assign to " + std::string(source_.text(span(begin))));
  }
  return error(span(begin, at_ + 1), "expression cannot contain assignment, perhaps you meant \"==\"?");
}

// f(a=b for b in c)
Explainer::Answer Explainer::generator_as_keyword() {
  if (here() != T::kFor || !in_call()) return {};
  std::uint32_t value = item_begin(at_, true);
  if (value < 2 || kind(value - 1) != T::kAssign || !is_name(kind(value - 2))) return {};
  if (kind(at_ + 1) == T::kRightParen || !spans(GrammarPart::kExpression, value, at_)) return {};
  return error(span(value - 2, value), "invalid syntax. Maybe you meant '==' or ':=' instead of '='?");
}

Explainer::Answer Explainer::dict_item() {
  if (!in_brackets() || kind(opener_) != T::kLeftBrace) return {};
  bool ends = here() == T::kRightBrace || here() == T::kComma;
  bool goes_on = ends || (ends_operand(before()) && here() != T::kColon);
  if (before() == T::kColon && ends) return error(span(at_ - 1), "expression expected after dictionary key and ':'");
  if (before() == T::kColon && here() == T::kStar) {
    std::uint32_t end = std::max(part_end(GrammarPart::kBitOr, at_ + 1), at_ + 1);
    return error(span(at_, end), "cannot use a starred expression in a dictionary value");
  }
  if (here() == T::kFor && kind(opener_ + 1) == T::kDoubleStar) {
    return error(span(opener_ + 1), "dict unpacking cannot be used in dict comprehension");
  }
  std::uint32_t begin = item_begin(at_);
  if (!goes_on || begin == opener_ + 1 || kind(begin - 1) != T::kComma || begin == at_) return {};
  bool is_dict =
      kind(opener_ + 1) == T::kDoubleStar || kind(part_end(GrammarPart::kExpression, opener_ + 1)) == T::kColon;
  if (!is_dict || !spans(GrammarPart::kExpression, begin, at_)) return {};
  return error({span(at_ - 1).end - 1, span(at_ - 1).end}, "':' expected after dictionary key");
}

Explainer::Answer Explainer::double_star_in_parentheses() {
  if (here() != T::kDoubleStar || before() != T::kLeftParen || in_call()) return {};
  std::uint32_t end = part_end(GrammarPart::kExpression, at_ + 1);
  if (kind(end) != T::kRightParen) return {};
  return error(span(at_), "cannot use double starred expression here");
}

// [a, b for a in c]
Explainer::Answer Explainer::comprehension_target() {
  if (here() != T::kFor || !in_brackets()) return {};
  if (kind(opener_) != T::kLeftBracket && kind(opener_) != T::kLeftBrace) return {};
  std::uint32_t last = before() == T::kComma ? at_ - 1 : item_begin(at_, true);
  if (!begins_operand(kind(at_ + 1)) && kind(at_ + 1) != T::kStar) return {};
  if (last == opener_ + 1 || (before() != T::kComma && kind(last - 1) != T::kComma)) return {};
  if (!spans(GrammarPart::kStarExpressions, opener_ + 1, at_)) return {};
  return error(span(opener_ + 1, before() == T::kComma ? at_ - 1 : at_),
               "did you forget parentheses around the comprehension target?");
}

Explainer::Answer Explainer::missing_comma() {
  if (!in_brackets() || !ends_operand(before()) || !begins_operand(here()) || lists_names()) return {};
  std::uint32_t begin = item_begin(at_);
  T separator = begin > 0 ? kind(begin - 1) : T::kNewline;
  bool parameter = header() == T::kDef && opener_ == line_ + 2 && separator != T::kAssign && separator != T::kColon;
  if (parameter) return {};
  if (separator == T::kIf || (separator == T::kIn && follows_comprehension_in(begin))) return {};
  if (kind(begin) >= T::kSoftMatch && kind(begin) <= T::kSoftUnderscore) return {};
  if (is_name(kind(begin)) && (kind(begin + 1) == T::kString || kind(begin + 1) == T::kFStart)) return {};
  if (!spans(GrammarPart::kDisjunction, begin, at_)) return {};
  std::uint32_t end = part_end(GrammarPart::kExpression, at_);
  if (end == at_) return {};
  return error(span(begin, end), "invalid syntax. Perhaps you forgot a comma?");
}

Explainer::Answer Explainer::missing_colon() {
  T first = header();
  std::uint32_t word = kind(line_) == T::kAsync ? line_ + 1 : line_;
  if (at_ <= word) return {};
  auto missing = [&]() -> Answer { return error(whole(at_), "expected ':'"); };
  switch (first) {
    case T::kTry:
    case T::kElse:
    case T::kFinally:
      if (at_ == word + 1) return missing();
      return {};
    case T::kDef: {
      if (at_ == word + 2 && is_name(kind(word + 1))) return error(whole(at_), "expected '('");
      std::uint32_t close = kind(word + 2) == T::kLeftParen ? closing_of(word + 2) : kNowhere;
      if (close == kNowhere || at_ <= close) return {};
      if (kind(close + 1) == T::kArrow && at_ == close + 2) return error(span(close + 1), "expected ':'");
      bool annotated = kind(close + 1) == T::kArrow && spans(GrammarPart::kExpression, close + 2, at_);
      if (at_ == close + 1 || annotated) return missing();
      return {};
    }
    case T::kFor:
    case T::kIf:
    case T::kElif:
    case T::kWhile:
    case T::kWith:
    case T::kClass:
    case T::kExcept:
    case T::kSoftMatch:
    case T::kSoftCase: break;
    default: return {};
  }
  if (here() != T::kNewline) return {};
  if (first == T::kExcept && at_ == word + 1) return missing();
  if (!ends_operand(before()) || at_ == word + 1) return {};
  if (first == T::kFor && std::find(tokens_.kinds.begin() + word, tokens_.kinds.begin() + at_,
                                    static_cast<char>(T::kIn)) == tokens_.kinds.begin() + at_) {
    return {};
  }
  return missing();
}

// except*: without a type
Explainer::Answer Explainer::missing_exception_type() {
  if (header() != T::kExcept || at_ != line_ + 2 || before() != T::kStar || (here() != T::kColon && here() != T::kNewline)) return {};
  return error(span(at_), "expected one or more exception types");
}

// except A, B:
Explainer::Answer Explainer::exception_list() {
  if (header() != T::kExcept || here() != T::kComma) return {};
  std::uint32_t begin = line_ + 1 + (kind(line_ + 1) == T::kStar);
  if (!spans(GrammarPart::kExpression, begin, at_)) return {};
  std::uint32_t end = part_end(GrammarPart::kStarExpressions, begin);
  if (kind(end) == T::kAs && is_name(kind(end + 1))) end += 2;
  if (kind(end) != T::kColon) return {};
  return error(span(begin, end), "multiple exception types must be parenthesized");
}

Explainer::Answer Explainer::import_comma() {
  if (kind(line_) != T::kFrom || here() != T::kNewline || before() != T::kComma) return {};
  return error(span(at_), "trailing comma not allowed without surrounding parentheses");
}

Explainer::Answer Explainer::parenthesised_parameters() {
  if (here() != T::kLeftParen) return {};
  bool function = header() == T::kDef && in_brackets() && opener_ == line_ + 2;
  bool lambda = !function && in_lambda_parameters(at_);
  if (!lambda && !(function && (before() == T::kComma || before() == T::kLeftParen))) return {};
  std::uint32_t close = closing_of(at_);
  if (close == kNowhere) return {};
  // Only names, in the parentheses and before them.
  for (std::uint32_t i = at_; i > 0 && kind(i - 1) != T::kLambda && i - 1 != opener_; --i) {
    if (!is_name(kind(i - 1)) && kind(i - 1) != T::kComma) return {};
  }
  for (std::uint32_t i = at_ + 1; i < close; ++i) {
    if (is_name(kind(i)) == (kind(i - 1) != T::kLeftParen && kind(i - 1) != T::kComma)) return {};
  }
  const char* what = lambda ? "Lambda expression" : "Function";
  return error(span(at_, close + 1), std::string(what) + " parameters cannot be parenthesized");
}

// def f(a=, b):
Explainer::Answer Explainer::missing_default() {
  if (before() != T::kAssign || (here() != T::kComma && here() != T::kRightParen)) return {};
  bool function = header() == T::kDef && opener_ == line_ + 2;
  if (!function && !in_lambda_parameters(at_ - 1)) return {};
  return error(span(at_ - 1), "expected default value expression");
}

// def f(a, /*, b):
Explainer::Answer Explainer::stars_of_parameters() {
  if (here() != T::kStar || before() != T::kSlash) return {};
  if (!(header() == T::kDef && opener_ == line_ + 2) && !in_lambda_parameters(at_)) return {};
  return error(span(at_), "expected comma between / and *");
}

// x + 1: int
Explainer::Answer Explainer::bad_annotation() {
  if (!is_simple()) return {};
  const std::uint32_t colon = first_in_line(T::kColon);
  if (colon >= at_ || !spans(GrammarPart::kExpression, line_, colon)) return {};
  const std::string name = spans(GrammarPart::kBitOr, line_, colon) ? name_of(line_) : "expression";
  if (name == "name" || name == "attribute" || name == "subscript") return {};
  if (part_end(GrammarPart::kExpression, colon + 1) == colon + 1) return {};
  if (name == "list" || name == "tuple") {
    return error(span(line_, colon), "only single target (not " + name + ") can be annotated");
  }
  return error(span(line_, colon), "illegal target for annotation");
}

// f() = and nothing that could be a value.
Explainer::Answer Explainer::bad_target() {
  if (!is_simple()) return {};
  const std::uint32_t assign = first_in_line(T::kAssign);
  if (assign > at_ || !spans(GrammarPart::kBitOr, line_, assign)) return {};
  const std::string name = name_of(line_);
  for (const char* fine : {"name", "attribute", "subscript", "tuple", "list", "starred"}) {
    if (name == fine) return {};
  }
  const std::uint32_t end = part_end(GrammarPart::kBitOr, assign + 1);
  const bool compared = end > assign + 1 && kind(end) != T::kAssign && kind(end) != T::kWalrus;
  return error(span(line_, assign),
               "cannot assign to " + name + (compared ? " here. Maybe you meant '==' instead of '='?" : ""));
}

// The first of the expressions in [begin, end) that is no target of `for`, `del` or `with ... as`.
Explainer::Answer Explainer::first_bad_target(std::uint32_t begin, std::uint32_t end, T keyword) {
  for (std::uint32_t i = begin; i < end;) {
    const std::uint32_t first = i;
    if (kind(i) == T::kStar) ++i;
    const std::uint32_t item = i;
    std::uint32_t item_end = part_end(GrammarPart::kExpression, item);
    if (item_end == item) return {};
    i = item_end + 1;  // behind the comma
    const std::uint32_t operand_end = part_end(GrammarPart::kBitOr, item);
    if (keyword == T::kFor && kind(operand_end) == T::kIn) item_end = operand_end;  // the `in` of the statement
    const bool simple = operand_end == item_end;
    const std::string name = name_of(item, simple ? GrammarPart::kBitOr : GrammarPart::kExpression);
    std::string refusal = (keyword == T::kDel ? "cannot delete " : "cannot assign to ") + name;
    if (first != item && keyword == T::kDel) return error(span(first, item_end), "cannot delete starred");
    if (name == "name" || name == "attribute" || name == "subscript") continue;
    const bool enclosed = is_opening(kind(item)) && closing_of(item) + 1 == item_end;
    if (!enclosed || name == "generator expression" || (kind(item) != T::kLeftParen && name != "list"))
      return error(span(item, item_end), std::move(refusal));
    if (name != "list" && name != "tuple") return error(span(item + 1, item_end - 1), std::move(refusal));
    if (Answer answer = first_bad_target(item + 1, item_end - 1, keyword)) return answer;
  }
  return {};
}

// for f() in x, [1 for f() in x], with x as f(), del f(): CPython reads expressions where targets should stand, and refuses the first
// expression that cannot be a target.
Explainer::Answer Explainer::list_of_targets() {
  std::uint32_t closed = 0;
  for (std::uint32_t i = at_; i > line_; --i) {
    const T token = kind(i - 1);
    if (is_closing(token) || token == T::kFEnd) ++closed;
    if ((is_opening(token) || token == T::kFStart) && closed > 0) --closed;
    const bool with = token == T::kAs && header() == T::kWith;
    if (closed > 0 || (token != T::kFor && token != T::kDel && !with)) continue;
    const std::uint32_t end = part_end(with ? GrammarPart::kExpression : GrammarPart::kStarExpressions, i);
    if (with && kind(end) != T::kComma && kind(end) != T::kRightParen && kind(end) != T::kColon) continue;
    if (Answer answer = first_bad_target(i, end, token)) return answer;
  }
  return {};
}

// a, b c = 1: what CPython takes for a list of expressions is searched for assignments.
Explainer::Answer Explainer::assignment_in_list() {
  if (!is_simple() || in_brackets()) return {};
  const std::uint32_t assign = first_in_line(T::kAssign);
  if (assign == kNowhere || spans(GrammarPart::kStarExpressions, line_, assign)) return {};
  std::uint32_t i = part_end(GrammarPart::kExpression, line_);
  if (i == line_ || kind(i) != T::kComma) return {};
  for (++i; i < tokens_.size();) {
    if (is_name(kind(i)) && kind(i + 1) == T::kAssign) {
      const std::uint32_t end = part_end(GrammarPart::kBitOr, i + 2);
      if (runs_out(end)) return lexical();
      if (end == i + 2 || kind(end) == T::kAssign || kind(end) == T::kWalrus) return {};
      return error(span(i, end), "invalid syntax. Maybe you meant '==' or ':=' instead of '='?");
    }
    const std::uint32_t end = part_end(GrammarPart::kExpression, i);
    if (end == i) return {};
    i = kind(end) == T::kComma ? end + 1 : end;
  }
  return {};
}

Explainer::Answer Explainer::indentation() {
  constexpr auto kClass = SyntaxError::Class::kIndentationError;
  if (here() == T::kIndent) return error(span(at_), "unexpected indent", kClass);
  if (here() == T::kDedent) return error(span(at_), "unexpected unindent", kClass);
  return {};
}

// ---- Putting it together --------------------------------------------------------------------------------------------------

SyntaxError Explainer::error(Span where, std::string message, SyntaxError::Class error_class) const {
  // What is missing at the very end is missing behind the last line, not on the empty one after it.
  std::string_view text = source_.text();
  const bool behind = where.begin >= text.size() && !text.empty();
  const bool at_line_end = kind(at_) == T::kNewline && where.begin >= span(at_).begin;
  if (behind && text.back() == '\n') --where.begin;
  if (at_line_end) where.end = where.begin;
  if (in_field()) message = "f-string: " + message;
  SyntaxError result = make_syntax_error(source_, where, std::move(message), error_class);
  if (behind && !at_line_end) result.column = result.end_column = 0;  // no caret
  std::uint32_t rest = at_;
  while (kind(rest) == T::kDedent) ++rest;
  result.incomplete = rest + 1 == tokens_.size() && kind(rest) == T::kEnd;
  return result;
}

SyntaxError Explainer::lexical() const {
  const LexError& fault = *tokens_.error;
  SyntaxError result = make_syntax_error(source_, fault.span, fault.message, fault.error_class);
  result.incomplete = fault.at_end;
  return result;
}

// CPython looks whether an expression follows an expression; if that runs into broken text, it is the text that is shown.
bool Explainer::next_expression_is_broken() {
  if (!tokens_.error || !ends_operand(before()) || !begins_operand(here())) return false;
  return kind(match_part(tokens_, GrammarPart::kExpression, at_, arena_).furthest) == T::kError;
}

// A bracket that is never closed, on a line above the fault, is the likelier cause.
bool Explainer::unclosed_above() const {
  if (!tokens_.error || !tokens_.error->open_bracket) return false;
  return source_.line_number(span(at_).begin) > source_.line_number(tokens_.error->span.begin);
}

SyntaxError Explainer::explain() {
  if (here() == T::kIndent) return *indentation();  // CPython does not read on after this one
  if (tokens_.error && (tokens_.error->pervasive || here() == T::kError || unclosed_above())) return lexical();
  if (next_expression_is_broken()) return lexical();
  using Mistake = Answer (Explainer::*)();
  constexpr Mistake kMistakes[] = {&Explainer::missing_block,
                                   &Explainer::missing_handler,
                                   &Explainer::old_print,
                                   &Explainer::missing_else,
                                   &Explainer::assignment_in_expression,
                                   &Explainer::assignment_in_call,
                                   &Explainer::generator_as_keyword,
                                   &Explainer::dict_item,
                                   &Explainer::double_star_in_parentheses,
                                   &Explainer::comprehension_target,
                                   &Explainer::missing_comma,
                                   &Explainer::missing_colon,
                                   &Explainer::exception_list,
                                   &Explainer::missing_exception_type,
                                   &Explainer::import_comma,
                                   &Explainer::parenthesised_parameters,
                                   &Explainer::missing_default,
                                   &Explainer::stars_of_parameters,
                                   &Explainer::bad_annotation,
                                   &Explainer::bad_target,
                                   &Explainer::list_of_targets,
                                   &Explainer::assignment_in_list,
                                   &Explainer::indentation};
  for (Mistake mistake : kMistakes) {
    if (Answer answer = (this->*mistake)()) return *answer;
  }
  return error(whole(at_), "invalid syntax");
}

}  // namespace

SyntaxError explain_fault(const Source& source, const Tokens& tokens, std::uint32_t furthest) {
  return Explainer(source, tokens, furthest).explain();
}

}  // namespace tessera::lang

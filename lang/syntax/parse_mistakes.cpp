// The common mistakes, each a function that recognises it or not.
// compile: small (runs after a syntax error)
#include "lang/syntax/parse_argument_faults.h"
#include "lang/syntax/parse_explainer.h"
#include "lang/syntax/parse_parameter_faults.h"

namespace tessera::lang::faults {

// A header, its colon, the end of the line, and then no indentation.
Explainer::Answer Explainer::missing_block() {
  if (at_ < 2 || before() != T::kNewline || kind(at_ - 2) != T::kColon || here() == T::kIndent) return {};
  std::uint32_t first = line_begin(at_ - 2);
  T header = kind(first) == T::kAsync ? kind(first + 1) : kind(first);
  std::string name = header == T::kExcept && kind(first + 1) == T::kStar ? "'except*' statement" : block_name(header);
  if (name.empty()) return {};
  std::string line = std::to_string(source_.line_number(span(first).begin));
  return error_at_last("expected an indented block after " + name + " on line " + line, SyntaxError::Class::kIndentationError);
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
    return error_at_last("expected 'except' or 'finally' block");
  }
  return {};
}

Explainer::Answer Explainer::old_print() {
  const bool subscript = in_brackets() && opener_ > line_ && kind(opener_) == T::kLeftBracket && is_old_statement(opener_ - 1);  // print []
  const std::uint32_t value = subscript ? opener_ : next_operand();
  if (value == 0 || !is_old_statement(value - 1) || !begins_operand(kind(value)) || kind(value) == T::kLeftParen || lists_names()) return {};
  const std::string name(source_.text(span(value - 1)));
  std::uint32_t end = part_end(GrammarPart::kStarExpressions, value);
  if (end == value) return {};
  return error(span(value - 1, end), "Missing parentheses in call to '" + name + "'. Did you mean " + name + "(...)?");
}

// a if b, and no else
Explainer::Answer Explainer::missing_else() {
  if (here() == T::kColon) return {};
  std::uint32_t condition = item_begin(at_);
  if (condition == 0 || condition == at_ || kind(condition - 1) != T::kIf || condition - 1 == line_ || condition - 1 == guard()) return {};
  std::uint32_t begin = item_begin(condition - 1);
  if (in_brackets() && (kind(begin) == T::kStar || kind(begin) == T::kDoubleStar)) ++begin;  // f(*a if b)
  if (begin >= condition - 1) return {};
  if (!spans(GrammarPart::kDisjunction, begin, condition - 1)) return {};
  std::uint32_t end = part_end(GrammarPart::kDisjunction, condition);
  if (end == condition || kind(end) == T::kElse || kind(end) == T::kColon) return {};
  if (begin > 0 && kind(begin - 1) == T::kIn) return {};
  return error(span(shown_begin(begin, condition - 1), end), "expected 'else' after 'if' expression");
}

// `=` where only an expression may stand: CPython guesses what was meant by what stands on its left.
Explainer::Answer Explainer::assignment_in_expression() {
  if (here() != T::kAssign || in_call()) return {};
  bool header = line_ < at_ && (kind(line_) == T::kIf || kind(line_) == T::kElif || kind(line_) == T::kWhile || kind(line_) == T::kAt);
  const std::uint32_t guarded = guard();
  if (!in_brackets() && !header && guarded == kNowhere) return {};
  std::uint32_t begin = item_begin(at_);
  if (!in_brackets() && begin != line_ + 1 && begin - 1 != guarded) return {};
  const T separator = kind(begin - 1);  // a colon is that of a lambda, a slice, a format or a dict: none takes a named expression behind it
  const bool condition = separator == T::kIf && begin - 1 != line_ && begin - 1 != guarded;
  if (separator == T::kColon || condition || separator == T::kElse || !spans(GrammarPart::kBitOr, begin, at_)) return {};
  return assigned_operand(begin, at_);
}

Explainer::Answer Explainer::assignment_in_call() {
  if (here() != T::kAssign || !in_call()) return {};
  const std::uint32_t begin = argument_begin(at_);
  if (!spans(GrammarPart::kExpression, begin, at_)) return {};
  T only = begin + 1 == at_ ? kind(begin) : T::kEnd;
  if (only == T::kTrue || only == T::kFalse || only == T::kNone) {
    return error(span(begin, at_ + 1), "cannot assign to " + std::string(source_.text(span(begin))));
  }
  return error(span(shown_begin(begin, at_), at_ + 1), "expression cannot contain assignment, perhaps you meant \"==\"?");
}

// f(a=b for b in c)
Explainer::Answer Explainer::generator_as_keyword() {
  if (here() != T::kFor || !in_call() || opens_parameters(opener_)) return {};
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
  if (here() == T::kFor && kind(opener_ + 1) == T::kDoubleStar && spans(GrammarPart::kBitOr, opener_ + 2, at_)) {
    return error(span(opener_ + 1), "dict unpacking cannot be used in dict comprehension");
  }
  const std::uint32_t begin = argument_begin(at_);
  if (!goes_on || begin == opener_ + 1 || kind(begin - 1) != T::kComma || begin == at_) return {};
  const std::uint32_t key = part_end(GrammarPart::kExpression, opener_ + 1);
  const bool pair = kind(key) == T::kColon && kind(part_end(GrammarPart::kExpression, key + 1)) != T::kFor;
  if ((!pair && kind(opener_ + 1) != T::kDoubleStar) || !spans(GrammarPart::kExpression, begin, at_)) return {};
  return error({span(at_ - 1).end - 1, span(at_ - 1).end}, "':' expected after dictionary key");
}

Explainer::Answer Explainer::double_star_in_parentheses() {
  if (here() != T::kDoubleStar || (before() != T::kLeftParen && before() != T::kFOpen) || in_call()) return {};
  std::uint32_t end = part_end(GrammarPart::kExpression, at_ + 1);
  if (end == at_ + 1 || (kind(end) != T::kRightParen && kind(end) != T::kFClose)) return {};
  return error(span(at_), "cannot use double starred expression here");
}

// [a, b for a in c]
Explainer::Answer Explainer::comprehension_target() {
  if (here() != T::kFor || !in_brackets()) return {};
  if (kind(opener_) != T::kLeftBracket && kind(opener_) != T::kLeftBrace) return {};
  std::uint32_t last = before() == T::kComma ? at_ - 1 : item_begin(at_, true);
  if (!begins_operand(kind(at_ + 1)) && kind(at_ + 1) != T::kStar) return {};
  if (last == opener_ + 1 || (before() != T::kComma && kind(last - 1) != T::kComma)) return {};
  std::uint32_t item = opener_ + 1;
  while (item < at_) {
    const bool starred = kind(item) == T::kStar;
    const std::uint32_t end = part_end(starred ? GrammarPart::kBitOr : GrammarPart::kNamedExpression, item + starred);
    if (end <= item || (end < at_ && kind(end) != T::kComma)) return {};
    item = end + 1;
  }
  if (!begins_clause(at_ + 1))
    if (Answer answer = first_bad_target(at_ + 1, part_end(GrammarPart::kStarExpressions, at_ + 1), T::kFor)) return answer;
  if (part_end(GrammarPart::kClauses, at_) == at_) return {};
  return error(span(opener_ + 1, before() == T::kComma ? at_ - 1 : at_),
               "did you forget parentheses around the comprehension target?");
}

// CPython 3.11 compares the name's length alone, so that `c` and `mat` are taken for `case` and `match`.
bool Explainer::is_soft_keyword(std::uint32_t index) const {
  if (kind(index) >= T::kSoftMatch && kind(index) <= T::kSoftUnderscore) return true;
  const std::string_view name = kind(index) == T::kName ? source_.text(span(index)) : std::string_view("-");
  return std::string_view("case").starts_with(name) || std::string_view("match").starts_with(name);
}

Explainer::Answer Explainer::missing_comma() {
  const std::uint32_t next = next_operand();
  if (!in_brackets() || next == 0 || !ends_operand(kind(next - 1)) || !begins_operand(kind(next)) || lists_names()) return {};
  std::uint32_t begin = item_begin(at_);
  T separator = begin > 0 ? kind(begin - 1) : T::kNewline;
  bool parameter = opens_parameters(opener_) && separator != T::kAssign && separator != T::kColon;
  if (parameter) return {};
  if (separator == T::kLambda || !is_expression(begin)) return {};
  if (is_soft_keyword(begin)) return {};
  if (is_name(kind(begin)) && (kind(begin + 1) == T::kString || kind(begin + 1) == T::kFStart)) return {};
  if (!spans(GrammarPart::kDisjunction, begin, next)) return {};
  std::uint32_t end = part_end(GrammarPart::kExpression, next);
  if (end == next) return {};
  if (kind(end) == T::kError || opens_above(end)) return lexical();  // CPython looks at the token behind the expression
  return error(span(shown_begin(begin, next), end), "invalid syntax. Perhaps you forgot a comma?");
}

// CPython demands the parenthesis behind the name of a function, and looks for no other fault.
Explainer::Answer Explainer::missing_parenthesis() {
  const std::uint32_t word = kind(line_) == T::kAsync ? line_ + 1 : line_;
  if (kind(word) != T::kDef || at_ != word + 2 || !is_name(kind(word + 1))) return {};
  return error(whole(at_), "expected '('");
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

// The parameters of the line's function and of the lambdas before the fault. A lambda whose list only ends too early may stand in something
// that has a message of its own, which is then about the token where the list ends.
Explainer::Answer Explainer::parameters() {
  constexpr std::uint32_t kMostLambdas = 64;  // looked at, from the first one on
  const std::uint32_t word = kind(line_) == T::kAsync ? line_ + 1 : line_;
  if (kind(word) == T::kDef && kind(word + 2) == T::kLeftParen && at_ > word + 2) {
    if (const auto fault = parameter_fault(tokens_, ParametersOf::kDef, word + 3, arena_)) return error(span(fault->first, fault->last), fault->message);
  }
  std::uint32_t lambdas = 0;
  for (std::uint32_t i = line_; i < at_ && lambdas < kMostLambdas; ++i) {
    if (kind(i) != T::kLambda) continue;
    ++lambdas;
    const auto fault = parameter_fault(tokens_, ParametersOf::kLambda, i + 1, arena_);
    if (!fault) continue;
    if (fault->message != std::string_view("invalid syntax")) return error(span(fault->first, fault->last), fault->message);
    if (fault->first < at_) at_ = fault->first;
  }
  opener_ = find_opener(at_);
  return {};
}

// f(a=1, print 1): CPython reads the arguments that it will refuse, and tells of a fault in one of them first.
Explainer::Answer Explainer::argument_mistake(std::uint32_t begin) {
  if (begin == 0 || depth_ >= kMostNames) return {};
  Explainer inner(source_, tokens_, match_part(tokens_, GrammarPart::kExpression, begin, arena_).furthest);
  inner.depth_ = depth_ + 1;
  inner.first_ = begin;
  for (Mistake mistake : {&Explainer::behind_name, &Explainer::old_print, &Explainer::missing_else, &Explainer::missing_comma, &Explainer::assignment_in_call})
    if (Answer answer = (inner.*mistake)()) return answer;
  return {};
}

// The calls around the fault, from the innermost one on.
Explainer::Answer Explainer::arguments() {
  for (std::uint32_t open = opener_; open != kNowhere && open > line_; open = find_opener(open)) {
    if (kind(open) != T::kLeftParen || !ends_operand(kind(open - 1))) continue;
    if (header() == T::kSoftCase || opens_parameters(open)) continue;
    const auto fault = argument_fault(tokens_, open + 1, at_, arena_);
    if (!fault) continue;
    if (Answer answer = argument_mistake(fault->expression)) return answer;
    return kind(fault->first) == T::kError ? lexical() : error(span(fault->first, fault->last), fault->message);
  }
  return {};
}

// f(yield 1): CPython cannot read the call, and sees its parentheses as an expression of their own behind the function.
Explainer::Answer Explainer::unread_trailer() {
  if (depth_ >= kMostNames) return {};
  for (std::uint32_t open = opener_; open != kNowhere && open > line_; open = find_opener(open)) {
    if ((kind(open) != T::kLeftParen && kind(open) != T::kLeftBracket) || !ends_operand(kind(open - 1)) || opens_parameters(open)) continue;
    Explainer outer(source_, tokens_, open);
    outer.depth_ = depth_ + 1;
    for (Mistake mistake : {&Explainer::missing_else, &Explainer::missing_comma})
      if (Answer answer = (outer.*mistake)()) return answer;
  }
  return {};
}

// f(a, b for b in c, ...): the call is refused before the rest of its arguments is read.
Explainer::Answer Explainer::early_generator() {
  for (std::uint32_t open = opener_; open != kNowhere && open > line_; open = find_opener(open)) {
    if (kind(open) != T::kLeftParen || !ends_operand(kind(open - 1)) || header() == T::kDef) continue;
    const auto fault = argument_fault(tokens_, open + 1, at_, arena_);
    if (fault && fault->first != open + 1 && fault->last <= at_) return error(span(fault->first, fault->last), fault->message);
  }
  return {};
}

// `print 1, a b`: behind a name CPython reads expressions, in case the name is an old statement's, and tells of their faults first.
Explainer::Answer Explainer::behind_name() {
  if (depth_ >= kMostNames || !is_name(before()) || !begins_operand(here()) || here() == T::kLeftParen || is_declared(item_begin(at_))) return {};
  const bool comma = here() != T::kString && here() != T::kFStart && !is_soft_keyword(at_ - 1);  // which may be missing
  if (in_brackets() && comma && !is_old_statement(at_ - 1)) return {};
  const std::uint32_t furthest = match_part(tokens_, GrammarPart::kStarExpressions, at_, arena_).furthest;
  if (furthest <= at_) return {};
  Explainer inner(source_, tokens_, furthest);
  inner.depth_ = depth_ + 1;
  inner.first_ = at_;
  for (Mistake mistake : {&Explainer::behind_name, &Explainer::old_print, &Explainer::missing_else, &Explainer::missing_comma})
    if (Answer answer = (inner.*mistake)()) return answer;
  const bool enclosed = inner.in_brackets() && inner.opener_ >= at_;  // only there a named expression may stand
  return enclosed ? inner.assignment_in_expression() : Answer{};
}

// match x, and a block without a colon before it
Explainer::Answer Explainer::missing_colon_of_match() {
  if (at_ == 0 || here() != T::kIndent || before() != T::kNewline) return {};
  const std::uint32_t first = line_begin(at_ - 1);
  if (kind(first) != T::kSoftMatch || !spans(GrammarPart::kStarExpressions, first + 1, at_ - 1)) return {};
  return error({span(at_).end - 1, span(at_).end}, "expected ':'");
}

// [*a if b]: CPython also tries to read a whole expression behind the star.
Explainer::Answer Explainer::starred_item() {
  if (!in_brackets() || item_begin(at_) != opener_ + 1) return {};
  const T star = kind(opener_ + 1);
  const std::uint32_t end = part_end(GrammarPart::kExpression, opener_ + 2);
  if (star == T::kStar && end > opener_ + 2 && part_end(GrammarPart::kClauses, end) != end)
    return error(span(opener_ + 1, end), "iterable unpacking cannot be used in comprehension");
  const bool reads = star == T::kStar || (star == T::kDoubleStar && kind(opener_) == T::kLeftParen);
  return reads ? argument_mistake(opener_ + 2) : Answer{};
}

// (*a or b)
Explainer::Answer Explainer::starred_in_parentheses() {
  if (!in_brackets() || in_call() || kind(opener_ + 1) != T::kStar) return {};
  const T closing = kind(opener_) == T::kLeftParen ? T::kRightParen : kind(opener_) == T::kFOpen ? T::kFClose : T::kEnd;
  const std::uint32_t end = part_end(GrammarPart::kExpression, opener_ + 2);
  if (closing == T::kEnd || end == opener_ + 2 || kind(end) != closing) return {};
  return error(span(opener_ + 1, end), "cannot use starred expression here");
}

// x + 1: int
Explainer::Answer Explainer::bad_annotation() {
  if (!is_simple() || kind(line_) == T::kYield) return {};
  const std::uint32_t colon = first_in_line(T::kColon);
  if (colon >= at_ || part_end(GrammarPart::kExpression, colon + 1) == colon + 1) return {};
  const std::uint32_t first = part_end(GrammarPart::kExpression, line_);
  if (kind(first) == T::kComma && spans(GrammarPart::kStarExpressions, line_, colon))
    return error(span(line_, first), "only single target (not tuple) can be annotated");
  if (first != colon || first == line_) return {};
  const std::string name = spans(GrammarPart::kBitOr, line_, colon) ? name_of(line_) : "expression";
  if (name == "name" || name == "attribute" || name == "subscript") return {};
  if (name == "list" || name == "tuple") {
    return error(span(line_, colon), "only single target (not " + name + ") can be annotated");
  }
  return error(span(line_, colon), "illegal target for annotation");
}

// f() = and nothing that could be a value.
Explainer::Answer Explainer::bad_target() {
  if (!is_simple()) return {};
  const std::uint32_t assign = first_in_line(T::kAssign);
  if (assign > at_) return {};
  if (!spans(GrammarPart::kBitOr, line_, assign))
    return spans(GrammarPart::kStarExpressions, line_, assign) ? first_bad_target(line_, assign, T::kAssign) : Answer{};
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

// Whether targets and `in` begin at token `i`: from there on CPython reads nothing else in their place.
bool Explainer::begins_clause(std::uint32_t i) {
  const std::uint32_t begin = i;
  while (true) {
    if (kind(i) == T::kStar) ++i;
    const std::uint32_t end = part_end(GrammarPart::kBitOr, i);
    if (end == i) break;
    i = end;
    if (kind(i) != T::kComma) break;
    ++i;
  }
  return i != begin && kind(i) == T::kIn && !first_bad_target(begin, i, T::kFor);
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
    if (token == T::kFor && begins_clause(i)) continue;
    if (token == T::kFor)
      if (Answer answer = argument_mistake(i)) return answer;
    const std::uint32_t end = part_end(with ? GrammarPart::kExpression : GrammarPart::kStarExpressions, i);
    if (with && kind(end) != T::kComma && kind(end) != T::kRightParen && kind(end) != T::kColon) continue;
    if (!with && end > i && kind(end) == T::kIf && kind(item_begin(end)) != T::kStar) {  // for a, f() if b: the last expression is read whole
      const std::uint32_t condition_end = part_end(GrammarPart::kDisjunction, end + 1);
      if (condition_end > end + 1 && kind(condition_end) != T::kElse && kind(condition_end) != T::kColon)
        return error(span(shown_begin(item_begin(end), end), condition_end), "expected 'else' after 'if' expression");
    }
    if (Answer answer = first_bad_target(i, end, token)) return answer;
  }
  return {};
}

// [begin, assign) `=` where CPython reads a named expression.
Explainer::Answer Explainer::assigned_operand(std::uint32_t begin, std::uint32_t assign) {
  const bool is_variable = begin + 1 == assign && is_name(kind(begin));
  const std::string name = name_of(begin);
  for (const char* never : {"list", "tuple", "generator expression", "True", "None", "False"})
    if (name == never) return {};
  const std::uint32_t end = part_end(GrammarPart::kBitOr, assign + 1);
  const std::uint32_t furthest = match_part(tokens_, GrammarPart::kBitOr, assign + 1, arena_).furthest;
  if (runs_out(furthest) || opens_above(furthest)) return lexical();
  if (end == assign + 1 || kind(end) == T::kAssign || kind(end) == T::kWalrus) return {};
  if (is_variable) return error(span(begin, end), "invalid syntax. Maybe you meant '==' or ':=' instead of '='?");
  return error(span(shown_begin(begin, assign), assign), "cannot assign to " + name + " here. Maybe you meant '==' instead of '='?");
}

// a, b c = 1: what CPython takes for a list of expressions is searched for assignments.
Explainer::Answer Explainer::assignment_in_list() {
  if (!is_simple() || in_brackets()) return {};
  const std::uint32_t assign = first_in_line(T::kAssign);
  if (assign == kNowhere) return {};
  if (spans(GrammarPart::kStarExpressions, line_, assign) && !first_bad_target(line_, assign, T::kAssign)) return {};
  std::uint32_t i = part_end(GrammarPart::kExpression, line_);
  if (i == line_ || kind(i) != T::kComma) return {};
  for (++i; i < tokens_.size();) {
    if (kind(i) == T::kStar) {
      const std::uint32_t starred = part_end(GrammarPart::kBitOr, i + 1);
      if (starred == i + 1 || kind(starred) == T::kAssign) return {};
      i = kind(starred) == T::kComma ? starred + 1 : starred;
      continue;
    }
    if (const std::uint32_t operand = part_end(GrammarPart::kBitOr, i); operand > i && kind(operand) == T::kAssign)
      return assigned_operand(i, operand);
    const std::uint32_t end = part_end(GrammarPart::kExpression, i);
    if (end == i) return {};
    i = kind(end) == T::kComma ? end + 1 : end;
  }
  return {};
}

Explainer::Answer Explainer::indentation() {
  constexpr auto kClass = SyntaxError::Class::kIndentationError;
  if (here() == T::kIndent) {  // CPython shows the last character of the indentation
    const bool handlers = at_ > 0 && kind(line_begin(at_ - 1)) == T::kTry;  // try: x, and an indented line
    const char* const message = handlers ? "expected 'except' or 'finally' block" : "unexpected indent";
    SyntaxError result = error({span(at_).end - 1, span(at_).end}, message, handlers ? SyntaxError::Class::kSyntaxError : kClass);
    result.no_end = true;
    return result;
  }
  if (here() == T::kDedent) return error_at_last("unexpected unindent", kClass);
  return {};
}

}  // namespace tessera::lang::faults

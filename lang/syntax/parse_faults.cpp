// CPython explains a fault by parsing a second time with extra rules for common mistakes. So do we, but by looking at the
// tokens around the furthest one that the grammar got to: each mistake is a small function that recognises it or not, and
// the order of the list in explain() is the order in which CPython's rules would meet them.
// compile: small (runs after a syntax error)
#include "lang/syntax/parse_faults.h"

#include <vector>

#include "lang/syntax/parse_argument_faults.h"
#include "lang/syntax/parse_explainer.h"

namespace tessera::lang {
namespace faults {

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

// To the token where CPython stops: our grammar goes through `<` before a `>`, through `:=` behind what is no name, and
// through the colon behind what cannot be annotated.
void Explainer::step_back() {
  if (before() == T::kWalrus) {
    const bool named = at_ > 1 && is_name(kind(at_ - 2)) && item_begin(at_ - 1) == at_ - 2;
    const bool behind_part = at_ > 2 && (kind(at_ - 3) == T::kElse || kind(at_ - 3) == T::kColon);  // a if b else c :=
    if (!named || behind_part) --at_;
  }
  if (here() == T::kGreater && before() == T::kLess && span(at_ - 1).end == span(at_).begin) --at_;
  if (in_brackets()) return;
  const std::uint32_t colon = first_in_line(T::kColon);
  if (colon >= at_) return;
  std::uint32_t begin = colon;  // of the simple statement
  while (begin > line_ && kind(begin - 1) != T::kSemicolon) --begin;
  if (kind(begin) == T::kYield && part_end(GrammarPart::kExpression, begin) == colon) at_ = colon;
  if (colon == begin || (begin == line_ && !is_simple()) || !spans(GrammarPart::kStarExpressions, begin, colon)) return;
  const std::string name = spans(GrammarPart::kBitOr, begin, colon) ? name_of(begin) : "expression";
  const bool target = name == "name" || name == "attribute" || name == "subscript";
  const bool annotated = part_end(GrammarPart::kExpression, colon + 1) > colon + 1;
  if (!target && !annotated) at_ = colon;
}

// Our grammar also goes through arguments in a wrong order: f(a=1, b), f(**a, *b). CPython stops at the first one of them.
void Explainer::step_back_to_argument() {
  constexpr std::uint32_t kMostCalls = 64;  // looked at, from the first one on
  if (header() == T::kSoftCase) return;
  std::uint32_t calls = 0, first = at_;
  for (std::uint32_t i = line_ + 1; i < first && calls < kMostCalls; ++i) {
    if (kind(i) != T::kLeftParen || !ends_operand(kind(i - 1)) || opens_parameters(i)) continue;
    ++calls;
    first = std::min(first, misplaced_argument(tokens_, i + 1, first, arena_));
  }
  if (first == at_) return;
  at_ = first;
  opener_ = find_opener(at_);
}

// Returns the place of the first token of the given kind in the line that stands outside of brackets and of the parameters of a lambda, or kNowhere.
std::uint32_t Explainer::first_in_line(T token) const {
  std::uint32_t open = 0;
  for (std::uint32_t i = line_; i < tokens_.size(); ++i) {
    T each = kind(i);
    if (each == T::kNewline || each == T::kError || each == T::kEnd) break;
    if (each == T::kLambda && open == 0) {
      i = lambda_colon(i);
      if (i == kNowhere) break;
      continue;
    }
    if (is_opening(each) || each == T::kFStart) ++open;
    if ((is_closing(each) || each == T::kFEnd) && open > 0) --open;
    if (open == 0 && each == token) return i;
  }
  return kNowhere;
}

// The colon of the lambda that begins at `lambda`, or kNowhere.
std::uint32_t Explainer::lambda_colon(std::uint32_t lambda) const {
  std::uint32_t open = 0, lambdas = 1;
  for (std::uint32_t i = lambda + 1; i < tokens_.size(); ++i) {
    const T each = kind(i);
    if (each == T::kNewline || each == T::kError || each == T::kEnd) break;
    if (is_opening(each) || each == T::kFStart) ++open;
    if (is_closing(each) || each == T::kFEnd) {
      if (open == 0) break;
      --open;
    }
    if (open != 0) continue;
    if (each == T::kLambda) ++lambdas;
    if (each == T::kColon && --lambdas == 0) return i;
  }
  return kNowhere;
}

// The first token of the expression that `index` stands in or behind, between separators of the same bracket.
std::uint32_t Explainer::item_begin(std::uint32_t index, bool conditional_too) const {
  std::uint32_t closed = 0;
  for (std::uint32_t i = index; i > line_; --i) {
    if (i == first_) return i;
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

// Whether the item that begins with this token is the name of a module, a class, a function or a parameter, and no expression.
bool Explainer::is_declared(std::uint32_t begin) const {
  const T first = kind(begin);
  if (lists_names() || (begin > 0 && kind(begin - 1) == T::kLambda)) return true;
  return !begins_operand(first) && first != T::kStar && first != T::kDoubleStar;
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

// Returns the first token of the argument or item around token `index`: the token behind the last comma of the innermost brackets.
std::uint32_t Explainer::argument_begin(std::uint32_t index) const {
  std::uint32_t begin = opener_ + 1;
  for (std::uint32_t i = begin, open = 0; i < index; ++i) {
    const T token = kind(i);
    if (is_opening(token) || token == T::kFStart) ++open;
    if (is_closing(token) || token == T::kFEnd) --open;
    if (open == 0 && token == T::kLambda) {
      const std::uint32_t colon = lambda_colon(i);
      if (colon < index) i = colon;
    } else if (open == 0 && token == T::kComma) {
      begin = i + 1;
    }
  }
  return begin;
}

std::uint32_t Explainer::closing_of(std::uint32_t opening) const {
  std::uint32_t open = 0;
  for (std::uint32_t i = opening; i < tokens_.size(); ++i) {
    if (is_opening(kind(i))) ++open;
    if (is_closing(kind(i)) && --open == 0) return i;
  }
  return kNowhere;
}

// Where the expression in [begin, end) begins for CPython: behind the parentheses that enclose it as a whole.
std::uint32_t Explainer::shown_begin(std::uint32_t begin, std::uint32_t end) {
  while (kind(begin) == T::kLeftParen && closing_of(begin) + 1 == end && spans(GrammarPart::kNamedExpression, begin + 1, end - 1)) {
    ++begin;
    --end;
  }
  return begin;
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

// At the last token that the parser took. At the end of the text CPython knows no column of that, and shows the end of the last line.
SyntaxError Explainer::error_at_last(std::string message, SyntaxError::Class error_class) const {
  SyntaxError result = error(span(at_), std::move(message), error_class);
  const std::string_view text = source_.text();
  if (here() == T::kDedent && result.column > 0 && span(at_).begin < text.size()) {  // a token without text: one column before the next one
    --result.column;
    result.end_column = result.column;
    return result;
  }
  if (span(at_).begin < text.size() || text.empty()) return result;
  const auto end = static_cast<std::uint32_t>(text.size() - text.ends_with('\n'));
  SyntaxError placed = make_syntax_error(source_, {end, end}, std::move(result.message), error_class);
  placed.incomplete = result.incomplete;
  placed.no_end = true;
  return placed;
}

SyntaxError Explainer::lexical() const {
  const LexError& fault = *tokens_.error;
  SyntaxError result = make_syntax_error(source_, fault.span, fault.message, fault.error_class);
  result.incomplete = fault.at_end;
  return result;
}

// CPython looks whether an expression follows an expression; if that runs into broken text or into the line below an open bracket, it is
// the text that is shown.
bool Explainer::next_expression_is_broken() {
  const std::uint32_t begin = item_begin(at_);
  if (!tokens_.error || !ends_operand(before()) || !begins_operand(here()) || !is_expression(begin)) return false;
  if (is_declared(begin)) return false;
  if (is_soft_keyword(begin) && begin + 1 != at_) return false;
  const GrammarResult read = match_part(tokens_, GrammarPart::kExpression, at_, arena_);
  const std::uint32_t furthest = read.furthest;
  if (kind(furthest) == T::kError || opens_above(furthest)) return true;
  if (read.root != nullptr || furthest <= at_ || depth_ >= kMostNames) return false;  // CPython reads no further behind an expression
  Explainer inner(source_, tokens_, furthest);
  inner.depth_ = depth_ + 1;
  return inner.next_expression_is_broken();
}

// A bracket that is never closed, on a line above the token, is the likelier cause of a fault there.
bool Explainer::opens_above(std::uint32_t index) const {
  if (!tokens_.error || !tokens_.error->open_bracket) return false;
  return source_.line_number(span(index).begin) > source_.line_number(tokens_.error->span.begin);
}

// The `for` of a generator expression without parentheses that is an argument of a class, where CPython stops; else the fault.
std::uint32_t Explainer::generator_of_class() const {
  if (header() != T::kClass || kind(line_ + 2) != T::kLeftParen) return at_;
  std::uint32_t open = 0;
  for (std::uint32_t i = line_ + 2; i < at_; ++i) {
    if (is_opening(kind(i))) ++open;
    if (is_closing(kind(i)) && --open == 0) break;
    if (open == 1 && kind(i) == T::kFor) return i;
  }
  return at_;
}

// The first `for` of a generator expression without parentheses that is not the first argument of a call: CPython reads no further.
std::uint32_t Explainer::generator_of_argument() const {
  struct Open {
    bool call, comma;
  };
  std::vector<Open> brackets;
  for (std::uint32_t i = line_; i < at_; ++i) {
    const T each = kind(i);
    if (each == T::kLambda) {  // its commas part parameters
      const std::uint32_t colon = lambda_colon(i);
      if (colon >= at_) break;
      i = colon;
    } else if (is_opening(each)) {
      brackets.push_back({each == T::kLeftParen && i > line_ && ends_operand(kind(i - 1)) && !opens_parameters(i), false});
    } else if (!brackets.empty()) {
      if (is_closing(each)) brackets.pop_back();
      else if (each == T::kComma) brackets.back().comma = true;
      else if (each == T::kFor && brackets.back().call && brackets.back().comma) return i - (kind(i - 1) == T::kAsync);
    }
  }
  return generator_of_class();
}

SyntaxError Explainer::explain() {
  step_back_to_argument();
  if (Answer answer = missing_colon_of_match()) return *answer;
  if (here() == T::kIndent) return *indentation();  // CPython does not read on after this one
  if (tokens_.error && tokens_.error->pervasive) return lexical();
  if (Answer answer = pattern_number()) return *answer;
  if (tokens_.error && (here() == T::kError || opens_above(at_))) return lexical();
  if (Answer answer = case_pattern()) return *answer;
  if (Answer answer = missing_parenthesis()) return *answer;
  if (next_expression_is_broken()) return lexical();
  constexpr Mistake kMistakes[] = {&Explainer::parameters,
                                   &Explainer::list_of_targets,
                                   &Explainer::early_generator,
                                   &Explainer::behind_name,
                                   &Explainer::missing_block,
                                   &Explainer::missing_handler,
                                   &Explainer::starred_item,
                                   &Explainer::old_print,
                                   &Explainer::missing_else,
                                   &Explainer::dict_item,
                                   &Explainer::missing_comma,
                                   &Explainer::assignment_in_expression,
                                   &Explainer::assignment_in_call,
                                   &Explainer::generator_as_keyword,
                                   &Explainer::double_star_in_parentheses,
                                   &Explainer::starred_in_parentheses,
                                   &Explainer::comprehension_target,
                                   &Explainer::arguments,
                                   &Explainer::unread_trailer,
                                   &Explainer::missing_colon,
                                   &Explainer::exception_list,
                                   &Explainer::missing_exception_type,
                                   &Explainer::import_comma,
                                   &Explainer::assignment_in_list,
                                   &Explainer::bad_annotation,
                                   &Explainer::bad_target,
                                   &Explainer::indentation};
  for (Mistake mistake : kMistakes) {
    if (Answer answer = (this->*mistake)()) return *answer;
  }
  return error(whole(generator_of_argument()), "invalid syntax");
}

}  // namespace faults

SyntaxError explain_fault(const Source& source, const Tokens& tokens, std::uint32_t furthest) {
  return faults::Explainer(source, tokens, furthest).explain();
}

}  // namespace tessera::lang

// Faults in the pattern of a `case`, where CPython has few rules for mistakes and none of those for expressions.
// compile: small (runs after a syntax error)
#include "lang/syntax/parse_explainer.h"

namespace tessera::lang::faults {

// Whether the line is a `case` of a match statement: the first line in the block around the line tells.
bool Explainer::begins_case() const {
  if (header() != T::kSoftCase) return false;
  std::uint32_t depth = 0;
  for (std::uint32_t i = line_; i > 0; --i) {
    if (kind(i - 1) == T::kDedent) ++depth;
    if (kind(i - 1) != T::kIndent || depth-- != 0) continue;
    return i >= 3 && kind(i - 2) == T::kNewline && kind(i - 3) == T::kColon && kind(line_begin(i - 3)) == T::kSoftMatch;
  }
  return false;
}

// The token that ends the pattern of a `case`, `if` or `:`, where that stands before the fault; or kNowhere.
std::uint32_t Explainer::guard() const {
  if (!begins_case()) return kNowhere;
  std::uint32_t open = 0;
  for (std::uint32_t i = line_ + 1; i < at_; ++i) {
    if (is_opening(kind(i)) || kind(i) == T::kFStart) ++open;
    if ((is_closing(kind(i)) || kind(i) == T::kFEnd) && open > 0) --open;
    if (open == 0 && (kind(i) == T::kIf || kind(i) == T::kColon)) return i;
  }
  return kNowhere;
}

// 2j + 1, 1 + 2: CPython refuses the number as soon as it has read the sign, or the second number, whatever stands behind them.
Explainer::Answer Explainer::pattern_number() const {
  if (!begins_case()) return {};
  const auto is_sign = [&](std::uint32_t i) { return kind(i) == T::kPlus || kind(i) == T::kMinus; };
  const auto is_imaginary = [&](std::uint32_t i) { return (source_.text(span(i)).back() | 0x20) == 'j'; };
  const std::uint32_t end = std::min(at_, guard());
  for (std::uint32_t i = line_ + 1; i < end; ++i) {
    if (kind(i) != T::kNumber || !is_sign(i + 1) || (is_sign(i - 1) && kind(i - 2) == T::kNumber)) continue;
    if (is_imaginary(i)) return error(span(i), "real number required in complex literal");
    if (i + 2 < end && kind(i + 2) == T::kNumber && !is_imaginary(i + 2)) return error(span(i + 2), "imaginary number required in complex literal");
  }
  return {};
}

// case 1 as _, case 1 as (a)
Explainer::Answer Explainer::pattern_target() {
  if (before() != T::kAs) return {};
  if (here() == T::kSoftUnderscore) return error(span(at_), "cannot use '_' as a target");
  const std::uint32_t end = is_name(here()) ? at_ : part_end(GrammarPart::kExpression, at_);
  if (end == at_) return {};
  const std::uint32_t begin = shown_begin(at_, end);
  return error(span(begin, end - (begin - at_)), "invalid pattern target");
}

// case Class(key=a, b): refused when all patterns by position behind the keywords have been read.
Explainer::Answer Explainer::class_pattern() {
  if (!in_call() || opener_ == line_ + 1) return {};
  const std::uint32_t first = argument_begin(at_);
  bool keywords = false;
  for (std::uint32_t i = opener_ + 1; i < first; ++i) keywords |= kind(i) == T::kAssign && find_opener(i) == opener_;
  if (!keywords || (is_name(kind(first)) && kind(first + 1) == T::kAssign)) return {};
  std::uint32_t end = first;
  for (std::uint32_t next = first;; next = end + 1) {
    const GrammarResult read = match_part(tokens_, GrammarPart::kPattern, next, arena_);
    if (read.furthest > at_ && depth_ < kMostNames) {  // a fault within the pattern comes first
      Explainer inner(source_, tokens_, read.furthest);
      inner.depth_ = depth_ + 1;
      if (Answer answer = inner.pattern_target()) return answer;
      if (Answer answer = inner.opener_ == opener_ ? Answer{} : inner.class_pattern()) return answer;
    }
    if (read.root != nullptr) end = read.root->last;
    if (read.root == nullptr || kind(end) != T::kComma) break;
  }
  if (end == first) return {};
  return error(span(first, end), "positional patterns follow keyword patterns");
}

Explainer::Answer Explainer::case_pattern() {
  if (!begins_case() || guard() != kNowhere) return {};
  if (Answer answer = pattern_target()) return answer;
  if (Answer answer = class_pattern()) return answer;
  const bool whole_pattern = here() == T::kNewline && spans(GrammarPart::kOpenPattern, line_ + 1, at_);
  return error(whole(at_), whole_pattern ? "expected ':'" : "invalid syntax");
}

}  // namespace tessera::lang::faults

// A list of parameters is read twice: once as it must be, which finds the token where CPython's parser gives up, and once for each common
// mistake. The order of the mistakes decides the message when a list has several.
// compile: small (runs after a syntax error)
#include "lang/syntax/parse_parameter_faults.h"

#include <algorithm>

#include "lang/syntax/parse_grammar.h"

namespace tessera::lang {
namespace {

using T = Token;
using Index = std::uint32_t;

class ParameterReader {
 public:
  ParameterReader(const Tokens& tokens, ParametersOf owner, Index begin, Arena& arena)
      : tokens_(tokens), owner_(owner), begin_(begin), arena_(arena) {}

  std::optional<ParameterFault> fault() {
    const Index end = list_end();
    if (broken_ || closes(end)) return {};
    const Index stuck = furthest_;
    reports_ = true;
    order_mistakes();
    if (!fault_ && !broken_) star_mistakes(leading_end());
    if (fault_) return fault_;
    if (broken_ || kind(stuck) == T::kError) return {};
    return ParameterFault{"invalid syntax", stuck, stuck + 1};
  }

 private:
  // ---- Tokens
  T kind(Index i) {
    furthest_ = std::max(furthest_, i);
    return i < tokens_.size() ? tokens_.kind(i) : T::kEnd;
  }
  bool closes(Index i) { return kind(i) == (owner_ == ParametersOf::kDef ? T::kRightParen : T::kColon); }
  void report(const char* message, Index first, Index last) {
    if (!fault_ && reports_) fault_ = ParameterFault{message, first, last};
  }
  Index expression_end(Index i) {
    const GrammarResult found = match_part(tokens_, GrammarPart::kExpression, i, arena_);
    furthest_ = std::max(furthest_, found.root != nullptr ? found.root->last : found.furthest);
    return found.root != nullptr ? found.root->last : i;
  }

  // ---- Parameters. Each function returns the token behind what it has read, or `i` if that is not there.

  // A name and its annotation.
  Index parameter(Index i, bool starred = false) {
    if (!is_name(kind(i))) return i;
    if (owner_ == ParametersOf::kLambda || kind(i + 1) != T::kColon) return i + 1;
    const Index value = i + 2 + (starred && kind(i + 2) == T::kStar);
    const Index end = expression_end(value);
    // Two expressions, or a bracket that is not closed.
    if (end == value || (kind(end) != T::kComma && kind(end) != T::kAssign && !closes(end))) broken_ = true;
    return end == value ? i + 1 : end;
  }
  // The comma behind a parameter, or the end of the list, which is not read.
  Index separated(Index i, Index end) {
    if (kind(end) == T::kComma) return end + 1;
    return closes(end) ? end : i;
  }
  Index plain(Index i, bool starred = false) {
    const Index end = parameter(i, starred);
    return end == i ? i : separated(i, end);
  }
  Index defaulted(Index i) {
    const Index assign = parameter(i);
    if (assign == i || kind(assign) != T::kAssign) return i;
    const Index end = expression_end(assign + 1);
    if (end == assign + 1) {
      if (kind(end) == T::kComma || kind(end) == T::kRightParen) report("expected default value expression", assign, end);
      else broken_ = true;
      return i;
    }
    const Index next = separated(i, end);
    if (next == i && kind(end) != T::kAssign) broken_ = true;  // two expressions, or a bracket that is not closed
    return next;
  }
  Index either(Index i) {
    const Index end = plain(i);
    return end != i ? end : defaulted(i);
  }
  template <Index (ParameterReader::*Read)(Index)>
  Index many(Index i) {
    while (!fault_ && !broken_) {
      const Index next = (this->*Read)(i);
      if (next == i) break;
      i = next;
    }
    return i;
  }
  Index plain_one(Index i) { return plain(i); }
  Index all_plain(Index i) { return many<&ParameterReader::plain_one>(i); }
  Index all_defaulted(Index i) { return many<&ParameterReader::defaulted>(i); }
  Index all(Index i) { return many<&ParameterReader::either>(i); }

  // `/` with its separator.
  Index slash(Index i) { return kind(i) == T::kSlash ? separated(i, i + 1) : i; }
  // The parameters up to a slash and that slash.
  Index slash_part(Index i) {
    const Index first = all_defaulted(all_plain(i));
    if (first == i) return i;
    const Index end = slash(first);
    return end == first ? i : end;
  }
  // Returns the end of the parameters before the first star. Behind a slash that follows a default value each parameter must have a default value.
  Index leading_end() {
    const Index named = all_plain(begin_);
    const Index slashed = slash_part(begin_);
    if (slashed == begin_) return all_defaulted(named);
    return all_defaulted(all_defaulted(named) == named ? all_plain(slashed) : slashed);
  }

  // ---- The list as it must be
  Index keywords(Index i) {
    if (kind(i) != T::kDoubleStar) return i;
    const Index end = plain(i + 1);
    return end == i + 1 ? i : end;
  }
  Index star(Index i) {
    if (kind(i) != T::kStar) return keywords(i);
    if (kind(i + 1) == T::kComma) {
      const Index end = all(i + 2);
      return end == i + 2 ? i : keywords(end);
    }
    const Index named = plain(i + 1, true);
    return named == i + 1 ? i : keywords(all(named));
  }
  Index list_end() {
    const Index end = leading_end();
    return broken_ || closes(end) ? end : star(end);
  }

  // ---- The mistakes

  // A default before a parameter without one, parentheses, slashes.
  void order_mistakes() {
    const Index named = all_plain(begin_);
    const Index defaults = all_defaulted(named);
    if (fault_ || broken_) return;
    if (defaults != named) {
      const Index next = slash(defaults);
      if (plain(next) != next) return report("non-default argument follows default argument", next, parameter(next));
    }
    parentheses(named);
    if (kind(begin_) == T::kSlash && kind(begin_ + 1) == T::kComma)
      report("at least one argument must precede /", begin_, begin_ + 1);
    if (fault_) return;
    const Index slashed = slash_part(begin_);
    if (slashed != begin_) {
      const Index next = all(slashed);
      if (kind(next) == T::kSlash) report("/ may appear only once", next, next + 1);
    }
    slash_behind_star(all(slashed));
    const Index before = all(begin_);
    if (before != begin_ && kind(before) == T::kSlash && kind(before + 1) == T::kStar)
      report("expected comma between / and *", before + 1, before + 2);
  }

  void parentheses(Index i) {
    if (kind(i) != T::kLeftParen) return;
    Index end = i + 1;
    for (; is_name(kind(end)); ++end) {
      const Index name = owner_ == ParametersOf::kDef ? parameter(end) : end + 1;
      if (kind(name) == T::kRightParen) {
        end = name;
        break;
      }
      if (kind(name) != T::kComma) return;
      end = name;
    }
    if (end == i + 1 || kind(end) != T::kRightParen) return;
    report(owner_ == ParametersOf::kDef ? "Function parameters cannot be parenthesized" : "Lambda expression parameters cannot be parenthesized",
           i, end + 1);
  }

  void slash_behind_star(Index i) {
    if (fault_ || kind(i) != T::kStar) return;
    const Index behind = kind(i + 1) == T::kComma ? i + 2 : plain(i + 1);
    if (behind == i + 1) return;
    const Index end = all(behind);
    if (kind(end) == T::kSlash) report("/ must be ahead of *", end, end + 1);
  }

  void star_mistakes(Index i) {
    if (kind(i) != T::kStar) return keyword_mistakes(i);
    const Index behind = i + 1 + (kind(i + 1) == T::kComma);
    if (closes(behind) || (behind == i + 2 && kind(behind) == T::kDoubleStar)) {
      // The error for a lambda shows the token where the parser stopped.
      const Index shown = owner_ == ParametersOf::kDef ? i : behind;
      return report("named arguments must follow bare *", shown, shown + 1);
    }
    const Index named = parameter(i + 1);
    if (named != i + 1 && kind(named) == T::kAssign)
      return report("var-positional argument cannot have default value", named, named + 1);
    const Index first = behind == i + 2 ? behind : plain(i + 1, true);
    if (first == i + 1) return;
    const Index next = all(first);
    if (kind(next) == T::kStar && (kind(next + 1) == T::kComma || plain(next + 1) != next + 1))
      return report("* argument may appear only once", next, next + 1);
    if (first != behind || next != first) keyword_mistakes(next);
  }

  void keyword_mistakes(Index i) {
    if (fault_ || kind(i) != T::kDoubleStar) return;
    const Index end = parameter(i + 1);
    if (end == i + 1) return;
    if (kind(end) == T::kAssign) return report("var-keyword argument cannot have default value", end, end + 1);
    if (kind(end) != T::kComma) return;
    const Index next = parameter(end + 1);
    const T token = kind(end + 1);
    if (next != end + 1 || token == T::kStar || token == T::kDoubleStar || token == T::kSlash)
      report("arguments cannot follow var-keyword argument", end + 1, std::max(next, end + 2));
  }

  const Tokens& tokens_;
  const ParametersOf owner_;
  const Index begin_;
  Arena& arena_;
  Index furthest_ = 0;    // the furthest token that has been looked at
  bool reports_ = false;  // whether mistakes are looked for
  bool broken_ = false;   // an expression is broken
  std::optional<ParameterFault> fault_;
};

}  // namespace

std::optional<ParameterFault> parameter_fault(const Tokens& tokens, ParametersOf owner, std::uint32_t begin, Arena& arena) {
  return ParameterReader(tokens, owner, begin, arena).fault();
}

}  // namespace tessera::lang

// CPython reads positional arguments, then keywords. Where it stops before the parenthesis it tries one mistake after the other.
// compile: small (runs after a syntax error)
#include "lang/syntax/parse_argument_faults.h"

#include <algorithm>

#include "lang/syntax/parse_explainer.h"
#include "lang/syntax/parse_grammar.h"

namespace tessera::lang {
namespace {

using T = Token;
using Index = std::uint32_t;

class ArgumentReader {
 public:
  ArgumentReader(const Tokens& tokens, Index begin, Arena& arena) : tokens_(tokens), begin_(begin), arena_(arena) {}

  std::optional<ArgumentFault> fault(Index furthest) {
    const List list = arguments(begin_);
    const Index end = list.end;
    const bool comma = end != begin_ && kind(end) == T::kComma;
    if (kind(end + comma) == T::kRightParen) return {};
    if (comma && kind(end + 1) == T::kStar)
      return ArgumentFault{"iterable argument unpacking follows keyword argument unpacking", begin_, end};
    const Index first = part_end(GrammarPart::kExpression, begin_);
    if (const Index clauses = clauses_end(first); clauses != first && kind(clauses) == T::kComma)
      return ArgumentFault{kGenerator, begin_, clauses};
    if (const Index clauses = clauses_end(end); clauses != end && list.last_positional != begin_ && end != begin_)
      return ArgumentFault{kGenerator, list.last_positional, clauses};
    if (!comma) return {};
    const Index next = part_end(GrammarPart::kExpression, end + 1);
    if (const Index clauses = clauses_end(next); clauses != next) return ArgumentFault{kGenerator, end + 1, clauses};
    const List more = arguments(end + 1);
    if (more.end == end + 1) return {};
    // To refuse them CPython has read on, behind an expression that follows without a comma: the text may end in a bracket there.
    const bool goes_on = faults::begins_operand(kind(more.end));
    const Index read = match_part(tokens_, GrammarPart::kExpression, goes_on ? more.end : end + 1, arena_).furthest;
    if (kind(read) == T::kError) return ArgumentFault{"", read, read + 1};
    const bool more_follow = kind(more.end) == T::kComma;
    Index shown = std::max(furthest, more_follow ? more.end + 1 + is_name(kind(more.end + 1)) : more.end);
    if (more_follow && is_keyword(more.end + 1)) shown = std::max(shown, match_part(tokens_, GrammarPart::kExpression, more.end + 3, arena_).furthest);
    if (goes_on) shown = std::max(shown, read);
    if (more_follow && (kind(more.end + 1) == T::kStar || kind(more.end + 1) == T::kDoubleStar))
      shown = std::max(shown, match_part(tokens_, GrammarPart::kExpression, more.end + 2, arena_).furthest);
    return ArgumentFault{list.unpacks ? "positional argument follows keyword argument unpacking" : "positional argument follows keyword argument",
                         shown, shown + 1, more.tried};
  }

  Index misplaced(Index limit) {
    const Index comma = arguments(begin_).end, next = comma + 1;
    if (comma == begin_ || next >= limit || kind(comma) != T::kComma) return limit;
    if (kind(next) == T::kStar) return next;
    const Index end = part_end(GrammarPart::kExpression, next);
    const bool argument = end != next && kind(end) != T::kAssign && kind(end) != T::kWalrus;
    return argument && kind(end) != T::kFor && kind(end) != T::kAsync ? next : limit;
  }

 private:
  struct List {
    Index end;              // behind the last argument
    Index last_positional;  // the first token of the last positional argument
    Index tried = 0;        // the expression of the last argument that was looked at, also if it could not be read
    bool unpacks = false;   // whether there is a `**`
  };

  static constexpr const char* kGenerator = "Generator expression must be parenthesized";

  T kind(Index i) const { return i < tokens_.size() ? tokens_.kind(i) : T::kEnd; }
  Index part_end(GrammarPart part, Index i) { return lang::part_end(tokens_, part, i, arena_); }
  Index clauses_end(Index i) {
    return kind(i) == T::kFor || kind(i) == T::kAsync ? part_end(GrammarPart::kClauses, i) : i;
  }
  bool is_keyword(Index i) const { return is_name(kind(i)) && kind(i + 1) == T::kAssign; }

  // Reads one argument at token `i`. Returns the token behind the argument, or `i` if no argument begins there or if the argument may not
  // follow the arguments before it.
  Index argument(Index i, List& list, bool& keywords) {
    list.tried = i;
    const bool starred = kind(i) == T::kStar, double_starred = kind(i) == T::kDoubleStar, keyword = is_keyword(i);
    if (starred || double_starred || keyword) {
      if (starred && list.unpacks) return i;
      const Index value = list.tried = i + 1 + keyword;
      const Index end = part_end(GrammarPart::kExpression, value);
      if (end == value) return i;
      keywords |= !starred;
      list.unpacks |= double_starred;
      if (!keywords) list.last_positional = i;
      return end;
    }
    if (keywords) return i;
    const Index end = part_end(is_name(kind(i)) && kind(i + 1) == T::kWalrus ? GrammarPart::kNamedExpression : GrammarPart::kExpression, i);
    if (end == i || kind(end) == T::kAssign || kind(end) == T::kWalrus) return i;
    list.last_positional = i;
    return end;
  }

  List arguments(Index begin) {
    List list{begin, begin};
    bool keywords = false;
    for (Index i = begin;;) {
      const Index end = argument(i, list, keywords);
      if (end == i) return list;
      list.end = end;
      if (kind(end) != T::kComma) return list;
      i = end + 1;
    }
  }

  const Tokens& tokens_;
  const Index begin_;
  Arena& arena_;
};

}  // namespace

std::uint32_t misplaced_argument(const Tokens& tokens, std::uint32_t begin, std::uint32_t limit, Arena& arena) {
  return ArgumentReader(tokens, begin, arena).misplaced(limit);
}

std::optional<ArgumentFault> argument_fault(const Tokens& tokens, std::uint32_t begin, std::uint32_t furthest, Arena& arena) {
  return ArgumentReader(tokens, begin, arena).fault(furthest);
}

}  // namespace tessera::lang

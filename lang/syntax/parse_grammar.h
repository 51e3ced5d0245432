// The grammar's door: the only thing other files know of it. (PEGTL stays behind it, in parse_grammar.cpp.)
#pragma once

#include <cstdint>

#include "lang/syntax/arena.h"
#include "lang/syntax/syntax_tree.h"

namespace tessera::lang {

struct GrammarResult {
  const SyntaxNode* root = nullptr;  // null when the tokens are not of the language
  std::uint32_t furthest = 0;        // the furthest token that the grammar looked at
  bool too_deep = false;
};

enum class GrammarStart : std::uint8_t { kFile, kExpression };

GrammarResult match_grammar(const Tokens& tokens, GrammarStart start, Arena& arena);

// The longest part of the tokens from `begin` on that is an expression of this kind; no root when none begins there.
enum class GrammarPart : std::uint8_t { kBitOr, kDisjunction, kExpression, kNamedExpression, kStarExpressions, kClauses, kPattern, kOpenPattern };

GrammarResult match_part(const Tokens& tokens, GrammarPart part, std::uint32_t begin, Arena& arena);

// Returns the token behind the longest such part, or `begin` if no part begins there.
inline std::uint32_t part_end(const Tokens& tokens, GrammarPart part, std::uint32_t begin, Arena& arena) {
  const SyntaxNode* const node = match_part(tokens, part, begin, arena).root;
  return node != nullptr ? node->last : begin;
}

}  // namespace tessera::lang

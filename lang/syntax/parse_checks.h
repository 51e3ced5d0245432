// What a tree may be by its grammar and still not by its placement: return outside a function, break outside a loop, a
// parameter given twice, a pattern that hides the cases behind it. Also notes which functions are generators.
#pragma once

#include "lang/syntax/ast.h"
#include "lang/syntax/parse_builder.h"

namespace tessera::lang {

// Throws a Refusal.
void check_placement(ast::Tree& tree);

// The checks of match statements (parse_check_patterns.cpp).
void check_cases(const ast::MatchStmt& match);

}  // namespace tessera::lang

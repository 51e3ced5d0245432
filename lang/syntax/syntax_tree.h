// What the grammar makes: an untyped tree of rules and tokens, from which the builder makes the typed one (ast.h).
//
// It exists so that PEGTL's part is only the grammar: a rule that matched gathers the nodes made inside it, a rule that
// failed drops them. Nothing else happens while parsing, so nothing has to be undone.
#pragma once

#include <cstdint>
#include <span>

#include "lang/syntax/arena.h"
#include "lang/syntax/lexer.h"

namespace tessera::lang {

// Rules that always make a node.
#define TS_SYNTAX_NODES(X)                                                                                             \
  X(any_name)                                                                                                          \
  X(constant)                                                                                                          \
  X(number)                                                                                                            \
  X(strings) X(f_string) X(f_field) X(f_format) X(starred) X(paren) X(list) X(brace) X(dict_unpack) X(dict_pair) X(    \
      dict_value) X(comma_mark) X(call) X(keyword_argument) X(star_argument) X(double_star_argument) X(plain_argument) \
      X(slice_colon) X(subscript) X(attribute) X(prefix_operator) X(not_operator) X(lambda) X(lambda_default)          \
          X(slash_mark) X(star_mark) X(lambda_double_star) X(walrus) X(yield_from) X(yield_expression) X(              \
              comprehension_condition) X(await_primary) X(async_mark) X(for_clause) X(comprehension_clauses) X(assignment) X(augmented) \
              X(annotated) X(pass_statement) X(break_statement) X(continue_statement) X(return_statement)              \
                  X(raise_statement) X(assert_statement) X(del_statement) X(global_statement) X(nonlocal_statement)    \
                      X(dotted_name) X(as_name) X(import_item) X(import_statement) X(from_dots) X(from_item)           \
                          X(from_star) X(from_statement) X(expression_statement) X(block) X(else_part) X(if_arm)       \
                              X(elif_arm) X(if_statement) X(while_statement) X(for_statement) X(with_target)           \
                                  X(with_item) X(with_statement) X(star_handler) X(except_part) X(finally_part)        \
                                      X(try_statement) X(annotation) X(star_annotation) X(default_value)               \
                                          X(double_star_parameter) X(return_annotation) X(function_statement)          \
                                              X(class_statement) X(decorator) X(async_statement) X(decorated)          \
                                                  X(minus_mark) X(number_pattern) X(string_pattern)                    \
                                                      X(constant_pattern) X(pattern_star) X(paren_pattern)             \
                                                          X(list_pattern) X(pattern_keyword) X(pattern_arguments)      \
                                                              X(dotted_key) X(mapping_rest) X(mapping_pair) X(mapping_pattern)       \
                                                                  X(pattern_target) X(guard) X(case_block)             \
                                                                      X(match_statement) X(file) X(single_expression)

// Rules that make a node only of two or more children; a single child stands for itself.
#define TS_SYNTAX_FOLDS(X)                                                                                           \
  X(primary)                                                                                                         \
  X(bitor_expression)                                                                                                \
  X(disjunction)                                                                                                     \
  X(conditional) X(named_expression) X(star_expressions) X(slice) X(slices) X(targets) X(name_pattern) X(or_pattern) \
      X(pattern) X(pattern_items) X(open_pattern) X(match_subject)

enum class Syntax : std::uint8_t {
  token,  // a leaf that has no rule of its own
#define TS_KIND(rule) rule,
  TS_SYNTAX_NODES(TS_KIND) TS_SYNTAX_FOLDS(TS_KIND)
#undef TS_KIND
};

struct SyntaxNode {
  Syntax kind;
  std::uint32_t first;  // tokens [first, last)
  std::uint32_t last;
  SyntaxNode* children;
  std::uint32_t count;

  const SyntaxNode& operator[](std::size_t index) const { return children[index]; }
  std::span<const SyntaxNode> all() const { return {children, count}; }
};

}  // namespace tessera::lang

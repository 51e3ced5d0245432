// The class Explainer finds the message of a syntax error: it looks at the tokens around the error and has a function for each common mistake
// (parse_mistakes.cpp). Only parse_faults.cpp, parse_mistakes.cpp and parse_argument_faults.cpp include this header.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "lang/syntax/parse_builder.h"
#include "lang/syntax/parse_grammar.h"

namespace tessera::lang::faults {

using T = Token;
constexpr std::uint32_t kNowhere = 0xffff'ffff;

inline bool ends_operand(T token) {
  return is_name(token) || is_closing(token) || token == T::kNumber || token == T::kString || token == T::kBytes ||
         token == T::kFEnd || token == T::kTrue || token == T::kFalse || token == T::kNone || token == T::kEllipsis;
}

inline bool begins_operand(T token) {
  return is_name(token) || is_opening(token) || token == T::kNumber || token == T::kString || token == T::kBytes ||
         token == T::kFStart || token == T::kTrue || token == T::kFalse || token == T::kNone || token == T::kEllipsis ||
         token == T::kLambda || token == T::kTilde || token == T::kNot || token == T::kAwait || token == T::kMinus ||
         token == T::kPlus;
}

// What CPython calls a block's header; empty for a token that is not one's first.
std::string block_name(Token token);

class Explainer {
 public:
  Explainer(const Source& source, const Tokens& tokens, std::uint32_t at)
      : source_(source), tokens_(tokens), at_(at), line_(line_begin(at)), opener_(find_opener(at)) {
    step_back();
  }

  SyntaxError explain();

 private:
  using Answer = std::optional<SyntaxError>;
  using Mistake = Answer (Explainer::*)();
  static constexpr int kMostNames = 20;  // of behind_name(), one within another

  // The mistakes.
  Answer missing_block();
  Answer missing_handler();
  Answer old_print();
  Answer missing_else();
  Answer assignment_in_expression();
  Answer assignment_in_call();
  Answer assigned_operand(std::uint32_t begin, std::uint32_t assign);
  Answer generator_as_keyword();
  Answer dict_item();
  Answer double_star_in_parentheses();
  Answer comprehension_target();
  Answer missing_comma();
  Answer missing_parenthesis();
  Answer missing_colon();
  Answer exception_list();
  Answer missing_exception_type();
  Answer import_comma();
  Answer indentation();
  Answer bad_annotation();
  Answer bad_target();
  Answer list_of_targets();
  Answer assignment_in_list();
  Answer parameters();
  Answer arguments();
  Answer unread_trailer();
  Answer argument_mistake(std::uint32_t begin);
  Answer early_generator();
  Answer behind_name();
  Answer case_pattern();
  Answer pattern_number() const;
  Answer pattern_target();
  Answer class_pattern();
  std::uint32_t generator_of_class() const;
  std::uint32_t generator_of_argument() const;
  Answer missing_colon_of_match();
  Answer starred_in_parentheses();
  Answer starred_item();

  // The tokens.
  T kind(std::uint32_t index) const { return index < tokens_.size() ? tokens_.kind(index) : T::kEnd; }
  T here() const { return kind(at_); }
  // Where an operand begins at the fault; behind an operand, the parser has taken `not` for the one of `not in`.
  std::uint32_t next_operand() const {
    return before() == T::kNot && at_ > 1 && ends_operand(kind(at_ - 2)) ? at_ - 1 : at_;
  }
  bool is_old_statement(std::uint32_t index) const {
    const std::string_view name = kind(index) == T::kName ? source_.text(span(index)) : std::string_view();
    return name == "print" || name == "exec";
  }
  bool is_soft_keyword(std::uint32_t index) const;
  bool opens_parameters(std::uint32_t open) const { return header() == T::kDef && open == line_ + 2 + (kind(line_) == T::kAsync); }
  T before() const { return at_ > 0 ? kind(at_ - 1) : T::kNewline; }
  Span span(std::uint32_t index) const { return tokens_.spans[index]; }
  Span whole(std::uint32_t index) const;
  bool begins_case() const;
  std::uint32_t guard() const;
  void step_back();
  void step_back_to_argument();
  std::uint32_t first_in_line(T token) const;
  bool is_simple() const {
    return block_name(kind(line_)).empty() && kind(line_) != T::kAsync && kind(line_) != T::kAt;
  }
  std::uint32_t lambda_colon(std::uint32_t lambda) const;
  std::uint32_t argument_begin(std::uint32_t index) const;
  Span span(std::uint32_t first, std::uint32_t last) const { return join(span(first), span(last - 1)); }
  std::uint32_t line_begin(std::uint32_t index) const;
  std::uint32_t find_opener(std::uint32_t index) const;
  std::uint32_t item_begin(std::uint32_t index, bool conditional_too = false) const;
  std::uint32_t closing_of(std::uint32_t opening) const;
  bool follows_comprehension_in(std::uint32_t item) const;
  bool in_brackets() const { return opener_ != kNowhere; }
  bool in_field() const;
  // Whether CPython reads what begins at `begin` by its rule `expression`, and no part of one as behind the `if` and `in` of a comprehension.
  bool is_declared(std::uint32_t begin) const;
  bool is_expression(std::uint32_t begin) const {
    const T separator = begin > 0 ? kind(begin - 1) : T::kNewline;
    return (separator != T::kIf || begin - 1 == line_) && !(separator == T::kIn && follows_comprehension_in(begin));
  }
  std::uint32_t shown_begin(std::uint32_t begin, std::uint32_t end);
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
  std::uint32_t part_end(GrammarPart part, std::uint32_t begin) { return lang::part_end(tokens_, part, begin, arena_); }
  bool spans(GrammarPart part, std::uint32_t begin, std::uint32_t end) {
    return begin < end && part_end(part, begin) == end;
  }
  const char* name_of(std::uint32_t begin, GrammarPart part = GrammarPart::kBitOr);
  bool begins_clause(std::uint32_t i);
  Answer first_bad_target(std::uint32_t begin, std::uint32_t end, T keyword);

  SyntaxError error(Span where, std::string message,
                    SyntaxError::Class error_class = SyntaxError::Class::kSyntaxError) const;
  SyntaxError error_at_last(std::string message, SyntaxError::Class error_class = SyntaxError::Class::kSyntaxError) const;
  SyntaxError lexical() const;
  bool opens_above(std::uint32_t index) const;
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
  std::uint32_t first_ = 0;  // no item begins before this token, which behind_name() takes for the first one of an expression
  int depth_ = 0;         // how many behind_name() this one is in
  Arena arena_;
};

}  // namespace tessera::lang::faults

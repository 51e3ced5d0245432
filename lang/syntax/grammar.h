// The grammar of the language, over one byte per token (lexer.h). Included by parse.cpp and by the test that analyses it.
//
// It accepts somewhat more than the language: what an assignment's left side, a parameter list or the start of a `{}` may
// be is settled by the builder, which knows what it looks at and can say so. Thus no alternative has to be tried twice:
// everything is left-factored but soft keywords and the parentheses of `with`, which never nest.
//
// Operators are one flat list, operand (operator operand)*; the builder folds it by binding powers.
#pragma once

#include <tao/pegtl.hpp>

#include "lang/syntax/lexer.h"

namespace tessera::lang::grammar {

namespace p = tao::pegtl;
using T = Token;

// The only terminal: one of these tokens.
template <Token... Kinds>
struct t : p::one<static_cast<char>(Kinds)...> {};

// The only terminal that leaves a node.
template <Token... Kinds>
struct leaf : t<Kinds...> {};

template <class Item>
using comma_list = p::seq<Item, p::star<p::seq<t<T::kComma>, Item>>, p::opt<t<T::kComma>>>;

// ---- Expressions ----------------------------------------------------------------------------------------------------

struct expression;
struct named_expression;
struct star_expressions;
struct bitor_expression;
struct disjunction;
struct yield_expression;
struct comprehension_clauses;

struct any_name : leaf<T::kName, T::kSoftMatch, T::kSoftCase, T::kSoftUnderscore> {};
struct constant : leaf<T::kNone, T::kTrue, T::kFalse, T::kEllipsis> {};
struct number : leaf<T::kNumber> {};

struct f_part;
struct f_format : p::seq<leaf<T::kFSpec>, p::star<f_part>> {};
struct f_value : p::seq<star_expressions, p::opt<comprehension_clauses>> {};  // as if in parentheses
struct f_field : p::seq<t<T::kFOpen>, p::sor<yield_expression, f_value>, p::opt<leaf<T::kFEqual>>,
                        p::opt<leaf<T::kFConversion>>, p::opt<f_format>, t<T::kFClose>> {};
struct f_part : p::sor<leaf<T::kFText>, f_field> {};
struct f_string : p::seq<t<T::kFStart>, p::star<f_part>, t<T::kFEnd>> {};
struct strings : p::plus<p::sor<leaf<T::kString, T::kBytes>, f_string>> {};

struct starred : p::seq<t<T::kStar>, bitor_expression> {};
struct star_item : p::sor<starred, named_expression> {};
struct star_item_list : comma_list<star_item> {};

// `( … )` and `[ … ]`: the node's children tell what it was; a comma directly inside makes a tuple of a single item.
struct comma_mark : leaf<T::kComma> {};
struct items_rest : p::seq<comma_mark, p::opt<star_item_list>> {};
struct items : p::seq<star_item, p::opt<p::sor<comprehension_clauses, items_rest>>> {};
struct paren : p::seq<t<T::kLeftParen>, p::opt<p::sor<yield_expression, items>>, t<T::kRightParen>> {};
struct list : p::seq<t<T::kLeftBracket>, p::opt<items>, t<T::kRightBracket>> {};

struct dict_unpack : p::seq<t<T::kDoubleStar>, bitor_expression> {};
struct dict_pair : p::seq<expression, t<T::kColon>, expression> {};
struct dict_item : p::sor<dict_unpack, dict_pair> {};
struct dict_rest : p::seq<p::star<p::seq<t<T::kComma>, dict_item>>, p::opt<t<T::kComma>>> {};
struct dict_value : p::seq<t<T::kColon>, expression, p::sor<comprehension_clauses, dict_rest>> {};
struct dict_or_set : p::seq<star_item, p::opt<p::sor<dict_value, comprehension_clauses, items_rest>>> {};
struct brace
    : p::seq<t<T::kLeftBrace>, p::opt<p::sor<p::seq<dict_unpack, dict_rest>, dict_or_set>>, t<T::kRightBrace>> {};

struct atom : p::sor<any_name, strings, number, constant, paren, list, brace> {};

struct keyword_argument : p::seq<any_name, t<T::kAssign>, expression> {};
struct star_argument : p::seq<t<T::kStar>, expression> {};
struct double_star_argument : p::seq<t<T::kDoubleStar>, expression> {};
struct plain_argument : p::seq<named_expression, p::opt<comprehension_clauses>> {};
struct argument : p::sor<double_star_argument, star_argument, keyword_argument, plain_argument> {};
struct arguments : p::opt<comma_list<argument>> {};
struct call : p::seq<t<T::kLeftParen>, arguments, t<T::kRightParen>> {};

struct slice_colon : leaf<T::kColon> {};
struct slice_tail : p::seq<slice_colon, p::opt<expression>, p::opt<p::seq<slice_colon, p::opt<expression>>>> {};
struct slice : p::sor<star_argument, p::seq<named_expression, p::opt<slice_tail>>, slice_tail> {};
struct slices : p::seq<slice, p::opt<p::seq<comma_mark, p::opt<comma_list<slice>>>>> {};
struct subscript : p::seq<t<T::kLeftBracket>, slices, t<T::kRightBracket>> {};

struct attribute : p::seq<t<T::kDot>, any_name> {};
struct primary : p::seq<atom, p::star<p::sor<attribute, call, subscript>>> {};

struct await_primary : p::seq<t<T::kAwait>, primary> {};
struct prefix_operator : leaf<T::kMinus, T::kPlus, T::kTilde> {};
struct not_operator : leaf<T::kNot> {};
struct power_operator : leaf<T::kDoubleStar> {};
struct operand : p::seq<p::star<prefix_operator>, p::sor<primary, await_primary>> {};
struct arithmetic_operator
    : leaf<T::kPlus, T::kMinus, T::kStar, T::kSlash, T::kDoubleSlash, T::kPercent, T::kDoubleStar, T::kAt,
           T::kAmpersand, T::kPipe, T::kCaret, T::kShiftLeft, T::kShiftRight> {};
struct compare_operator
    : p::sor<leaf<T::kEqual, T::kNotEqual, T::kLess, T::kLessEqual, T::kGreater, T::kGreaterEqual, T::kIn>,
             p::seq<leaf<T::kIs>, p::opt<leaf<T::kNot>>>, p::seq<leaf<T::kNot>, leaf<T::kIn>>> {};
struct logical_operator : leaf<T::kAnd, T::kOr> {};
struct binary_step : p::sor<p::seq<p::sor<arithmetic_operator, compare_operator>, operand>,
                            p::seq<logical_operator, p::star<not_operator>, operand>> {};
struct bitor_step : p::seq<arithmetic_operator, operand> {};
struct bitor_expression : p::seq<operand, p::star<bitor_step>> {};
struct disjunction : p::seq<p::star<not_operator>, operand, p::star<binary_step>> {};

// a if b else c if d else e: five children, nested to the right by the builder.
struct lambda;
struct conditional_tail : p::seq<t<T::kIf>, disjunction, t<T::kElse>, p::sor<lambda, disjunction>> {};
struct conditional : p::seq<disjunction, p::star<conditional_tail>> {};

struct lambda_default : p::seq<t<T::kAssign>, expression> {};
struct slash_mark : leaf<T::kSlash> {};
struct star_mark : leaf<T::kStar> {};
struct lambda_plain : p::seq<any_name, p::opt<lambda_default>> {};
struct lambda_star : p::seq<star_mark, p::opt<lambda_plain>> {};
struct lambda_double_star : p::seq<t<T::kDoubleStar>, any_name, p::opt<lambda_default>> {};
struct lambda_parameter : p::sor<slash_mark, lambda_double_star, lambda_star, lambda_plain> {};
struct lambda_parameters : p::opt<comma_list<lambda_parameter>> {};
struct lambda : p::seq<t<T::kLambda>, lambda_parameters, t<T::kColon>, expression> {};

struct expression : p::sor<lambda, conditional> {};
struct walrus : p::seq<t<T::kWalrus>, expression> {};
struct named_expression : p::seq<expression, p::opt<walrus>> {};

struct star_expression : p::sor<starred, expression> {};
struct star_rest : p::seq<comma_mark, p::opt<comma_list<star_expression>>> {};
struct star_expressions : p::seq<star_expression, p::opt<star_rest>> {};

struct yield_from : p::seq<t<T::kFrom>, expression> {};
struct yield_expression : p::seq<t<T::kYield>, p::opt<p::sor<yield_from, star_expressions>>> {};

// What stands before `in`, after `with … as` and after `del`; the builder refuses what cannot be assigned to.
struct target : p::sor<starred, bitor_expression> {};
struct target_rest : p::seq<comma_mark, p::opt<comma_list<target>>> {};
struct targets : p::seq<target, p::opt<target_rest>> {};

struct comprehension_condition : p::seq<t<T::kIf>, disjunction> {};
struct async_mark : leaf<T::kAsync> {};
struct for_clause
    : p::seq<p::opt<async_mark>, t<T::kFor>, targets, t<T::kIn>, disjunction, p::star<comprehension_condition>> {};
struct comprehension_clauses : p::plus<for_clause> {};

// ---- Simple statements ------------------------------------------------------------------------------------------------

struct right_side : p::sor<yield_expression, star_expressions> {};
struct assignment : p::seq<t<T::kAssign>, right_side> {};
struct assignments : p::plus<assignment> {};
struct augmented_operator
    : leaf<T::kPlusAssign, T::kMinusAssign, T::kStarAssign, T::kSlashAssign, T::kDoubleSlashAssign, T::kPercentAssign,
           T::kDoubleStarAssign, T::kAtAssign, T::kAmpersandAssign, T::kPipeAssign, T::kCaretAssign,
           T::kShiftLeftAssign, T::kShiftRightAssign> {};
struct augmented : p::seq<augmented_operator, right_side> {};
struct annotated : p::seq<t<T::kColon>, expression, p::opt<assignment>> {};
struct expression_statement : p::seq<right_side, p::opt<p::sor<assignments, augmented, annotated>>> {};

struct pass_statement : t<T::kPass> {};
struct break_statement : t<T::kBreak> {};
struct continue_statement : t<T::kContinue> {};
struct return_statement : p::seq<t<T::kReturn>, p::opt<star_expressions>> {};
struct raise_from : p::seq<t<T::kFrom>, expression> {};
struct raise_statement : p::seq<t<T::kRaise>, p::opt<p::seq<expression, p::opt<raise_from>>>> {};
struct assert_statement : p::seq<t<T::kAssert>, expression, p::opt<p::seq<t<T::kComma>, expression>>> {};
struct del_statement : p::seq<t<T::kDel>, targets> {};
struct name_list : p::list<any_name, t<T::kComma>> {};
struct global_statement : p::seq<t<T::kGlobal>, name_list> {};
struct nonlocal_statement : p::seq<t<T::kNonlocal>, name_list> {};

struct dotted_name : p::list<any_name, t<T::kDot>> {};
struct as_name : p::seq<t<T::kAs>, any_name> {};
struct import_item : p::seq<dotted_name, p::opt<as_name>> {};
struct import_statement : p::seq<t<T::kImport>, p::list<import_item, t<T::kComma>>> {};
struct from_dots : p::plus<t<T::kDot, T::kEllipsis>> {};
struct from_module : p::sor<p::seq<from_dots, p::opt<dotted_name>>, dotted_name> {};
struct from_item : p::seq<any_name, p::opt<as_name>> {};
struct from_star : t<T::kStar> {};
struct from_parens : p::seq<t<T::kLeftParen>, comma_list<from_item>, t<T::kRightParen>> {};
struct from_items : p::sor<from_star, from_parens, p::list<from_item, t<T::kComma>>> {};
struct from_statement : p::seq<t<T::kFrom>, from_module, t<T::kImport>, from_items> {};

struct simple_statement : p::sor<expression_statement, return_statement, import_statement, from_statement,
                                 raise_statement, pass_statement, del_statement, assert_statement, break_statement,
                                 continue_statement, global_statement, nonlocal_statement> {};
struct simple_statements
    : p::seq<p::list<simple_statement, t<T::kSemicolon>>, p::opt<t<T::kSemicolon>>, t<T::kNewline>> {};

// ---- Compound statements ------------------------------------------------------------------------------------------------

struct statement;
struct indented_block : p::seq<t<T::kNewline>, t<T::kIndent>, p::plus<statement>, t<T::kDedent>> {};
struct block : p::sor<indented_block, simple_statements> {};
struct else_part : p::seq<t<T::kElse>, t<T::kColon>, block> {};

struct if_arm : p::seq<t<T::kIf>, named_expression, t<T::kColon>, block> {};
struct elif_arm : p::seq<t<T::kElif>, named_expression, t<T::kColon>, block> {};
struct if_statement : p::seq<if_arm, p::star<elif_arm>, p::opt<else_part>> {};
struct while_statement : p::seq<t<T::kWhile>, named_expression, t<T::kColon>, block, p::opt<else_part>> {};
struct for_statement
    : p::seq<t<T::kFor>, targets, t<T::kIn>, star_expressions, t<T::kColon>, block, p::opt<else_part>> {};

struct with_target : p::seq<t<T::kAs>, target> {};
struct with_item : p::seq<expression, p::opt<with_target>> {};
struct with_items : p::list<with_item, t<T::kComma>> {};
struct with_parens : p::seq<t<T::kLeftParen>, comma_list<with_item>, t<T::kRightParen>, t<T::kColon>> {};
struct with_plain : p::seq<with_items, t<T::kColon>> {};
struct with_statement : p::seq<t<T::kWith>, p::sor<with_parens, with_plain>, block> {};

struct star_handler : leaf<T::kStar> {};
struct except_part
    : p::seq<t<T::kExcept>, p::opt<p::seq<p::opt<star_handler>, expression, p::opt<as_name>>>, t<T::kColon>, block> {};
struct finally_part : p::seq<t<T::kFinally>, t<T::kColon>, block> {};
struct try_handlers : p::seq<p::plus<except_part>, p::opt<else_part>, p::opt<finally_part>> {};
struct try_statement : p::seq<t<T::kTry>, t<T::kColon>, block, p::sor<finally_part, try_handlers>> {};

struct annotation : p::seq<t<T::kColon>, expression> {};
struct star_annotation : p::seq<t<T::kColon>, star_expression> {};
struct default_value : p::seq<t<T::kAssign>, expression> {};
struct plain_parameter : p::seq<any_name, p::opt<annotation>, p::opt<default_value>> {};
struct star_named : p::seq<any_name, p::opt<star_annotation>, p::opt<default_value>> {};
struct star_parameter : p::seq<star_mark, p::opt<star_named>> {};
struct double_star_parameter : p::seq<t<T::kDoubleStar>, any_name, p::opt<annotation>, p::opt<default_value>> {};
struct parameter : p::sor<slash_mark, double_star_parameter, star_parameter, plain_parameter> {};
struct parameters : p::opt<comma_list<parameter>> {};
struct return_annotation : p::seq<t<T::kArrow>, expression> {};
struct function_statement : p::seq<t<T::kDef>, any_name, t<T::kLeftParen>, parameters, t<T::kRightParen>,
                                   p::opt<return_annotation>, t<T::kColon>, block> {};
struct class_statement : p::seq<t<T::kClass>, any_name, p::opt<call>, t<T::kColon>, block> {};
struct decorator : p::seq<t<T::kAt>, named_expression, t<T::kNewline>> {};
struct async_statement : p::seq<async_mark, p::sor<function_statement, for_statement, with_statement>> {};
struct decorated : p::seq<p::plus<decorator>, p::sor<function_statement, class_statement, async_statement>> {};

// ---- match --------------------------------------------------------------------------------------------------------------

struct pattern;
struct or_pattern;
struct minus_mark : leaf<T::kMinus> {};
struct sign_mark : leaf<T::kMinus, T::kPlus> {};
struct complex_tail : p::seq<sign_mark, number> {};
struct target_name : leaf<T::kName, T::kSoftMatch, T::kSoftCase> {};  // not the wildcard `_`
struct number_pattern : p::seq<p::opt<minus_mark>, number, p::opt<complex_tail>> {};
struct string_pattern : p::seq<strings> {};
struct constant_pattern : leaf<T::kNone, T::kTrue, T::kFalse> {};
struct pattern_star : p::seq<t<T::kStar>, any_name> {};
struct pattern_item : p::sor<pattern_star, pattern> {};
struct pattern_rest : p::seq<comma_mark, p::opt<comma_list<pattern_item>>> {};
struct pattern_items : p::seq<pattern_item, p::opt<pattern_rest>> {};
// Outside of `[ … ]` a comma must follow an item with a star that is the first one.
struct open_pattern : p::sor<p::seq<pattern_star, pattern_rest>, p::seq<pattern, p::opt<pattern_rest>>> {};
struct paren_pattern : p::seq<t<T::kLeftParen>, p::opt<open_pattern>, t<T::kRightParen>> {};
struct list_pattern : p::seq<t<T::kLeftBracket>, p::opt<pattern_items>, t<T::kRightBracket>> {};
struct pattern_keyword : p::seq<any_name, t<T::kAssign>, pattern> {};
struct pattern_keywords : comma_list<pattern_keyword> {};
struct pattern_positional : p::seq<p::star<p::seq<pattern, t<T::kComma>>>, p::sor<pattern_keywords, p::opt<pattern>>> {};
struct pattern_arguments : p::seq<t<T::kLeftParen>, pattern_positional, t<T::kRightParen>> {};
struct name_pattern : p::seq<dotted_name, p::sor<pattern_arguments, p::not_at<t<T::kAssign>>>> {};
struct dotted_key : p::seq<any_name, p::plus<p::seq<t<T::kDot>, any_name>>> {};
struct pattern_key : p::sor<number_pattern, string_pattern, constant_pattern, dotted_key> {};
struct mapping_rest : p::seq<t<T::kDoubleStar>, target_name> {};
struct mapping_end : p::seq<mapping_rest, p::opt<t<T::kComma>>> {};
struct mapping_pair : p::seq<pattern_key, t<T::kColon>, pattern> {};
struct mapping_pairs : p::seq<mapping_pair, p::star<p::seq<t<T::kComma>, mapping_pair>>, p::opt<p::seq<t<T::kComma>, p::opt<mapping_end>>>> {};
struct mapping_pattern : p::seq<t<T::kLeftBrace>, p::opt<p::sor<mapping_end, mapping_pairs>>, t<T::kRightBrace>> {};
struct closed_pattern : p::sor<number_pattern, string_pattern, constant_pattern, name_pattern, paren_pattern,
                               list_pattern, mapping_pattern> {};
struct or_pattern : p::list<closed_pattern, t<T::kPipe>> {};
struct pattern_target : p::seq<t<T::kAs>, target_name, p::not_at<t<T::kDot, T::kLeftParen, T::kAssign>>> {};
struct pattern : p::seq<or_pattern, p::opt<pattern_target>> {};
struct guard : p::seq<t<T::kIf>, named_expression> {};
struct case_block : p::seq<t<T::kSoftCase>, open_pattern, p::opt<guard>, t<T::kColon>, block> {};
struct match_subject : p::seq<star_item, p::opt<items_rest>> {};
struct match_head : p::seq<t<T::kSoftMatch>, match_subject, t<T::kColon>, t<T::kNewline>> {};
struct match_statement : p::seq<match_head, t<T::kIndent>, p::plus<case_block>, t<T::kDedent>> {};

// ---- Whole texts --------------------------------------------------------------------------------------------------------

struct compound_statement : p::sor<if_statement, for_statement, function_statement, class_statement, with_statement,
                                   while_statement, try_statement, decorated, async_statement> {};
struct statement : p::sor<compound_statement, match_statement, simple_statements> {};
struct file : p::seq<p::star<statement>, t<T::kEnd>> {};
struct single_expression : p::seq<star_expressions, p::star<t<T::kNewline>>, t<T::kEnd>> {};

}  // namespace tessera::lang::grammar

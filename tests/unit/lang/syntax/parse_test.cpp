// Trees, messages, limits, and the grammar itself.
#include "lang/syntax/parse.h"

#include <doctest/doctest.h>

#include <tao/pegtl/contrib/analyze.hpp>

#include "lang/syntax/grammar.h"
#include "lang/syntax/literals.h"

using namespace tessera::lang;
using namespace tessera::lang::ast;

namespace {

std::string repeat(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

// "Class line message", or "ok". A refusal that waits until the names of all scopes are known is told as the others are.
std::string outcome(std::string_view text, ParseMode mode = ParseMode::kFile) {
  const Source source("test", text);
  ParseResult result = parse(source, mode);
  if (result && !result.tree->late_refusal.empty())
    return "SyntaxError " + std::to_string(source.line_number(result.tree->late_span.begin)) + " " + result.tree->late_refusal;
  if (result) return "ok";
  return std::string(result.error->class_name()) + " " + std::to_string(result.error->line) + " " +
         result.error->message;
}

// The bracketing of an expression, to see what binds to what.
struct Shape {
  std::string of(const Expr* expr) {
    if (expr == nullptr) return "";
    if (auto* e = try_as<Name>(expr)) return std::string(e->name);
    if (auto* e = try_as<IntLiteral>(expr)) return std::to_string(e->value);
    if (auto* e = try_as<Unary>(expr)) return std::string("(") + "-+~!"[static_cast<int>(e->op)] + of(e->operand) + ")";
    if (auto* e = try_as<Binary>(expr)) {
      static constexpr const char* kNames[] = {"+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^"};
      std::string result = of(e->first);
      for (const BinaryStep& step : e->steps) {
        result = "(" + result + kNames[static_cast<int>(step.op)] + of(step.right) + ")";
      }
      return result;
    }
    if (auto* e = try_as<Logical>(expr)) {
      std::string result = "(";
      for (Expr* operand : e->operands) result += of(operand) + (e->op == LogicalOp::kAnd ? "&&" : "||");
      result.resize(result.size() - 2);
      return result + ")";
    }
    if (auto* e = try_as<Compare>(expr)) {
      static constexpr const char* kNames[] = {"==", "!=",   "<",        "<=",   ">",
                                               ">=", " is ", " is not ", " in ", " not in "};
      std::string result = "(" + of(e->first);
      for (const CompareStep& step : e->steps) result += kNames[static_cast<int>(step.op)] + of(step.right);
      return result + ")";
    }
    if (auto* e = try_as<Conditional>(expr)) {
      return "(" + of(e->condition) + "?" + of(e->then_value) + ":" + of(e->else_value) + ")";
    }
    if (auto* e = try_as<Attribute>(expr)) return of(e->object) + "." + std::string(e->name.text);
    if (auto* e = try_as<Lambda>(expr)) return "\\" + of(e->body);
    return "?";
  }
};

std::string shape(std::string_view text) {
  Source source("test", text);
  ParseResult result = parse(source, ParseMode::kExpression);
  return result ? Shape().of(result.tree->expression) : result.error->message;
}

const Stmt& first(const ParseResult& result) {
  REQUIRE(result);
  return *result.tree->body.front();
}

std::string string_value(std::string_view text) {
  ParseResult result = parse(Source("test", text), ParseMode::kExpression);
  if (!result) return result.error->message;
  return std::string(as<StringLiteral>(*result.tree->expression).value);
}

std::string bytes_value(std::string_view text) {
  ParseResult result = parse(Source("test", text), ParseMode::kExpression);
  if (!result) return result.error->message;
  return std::string(as<BytesLiteral>(*result.tree->expression).value);
}

}  // namespace

TEST_CASE("parse: bytes literals") {
  CHECK(bytes_value(R"(b'a\x41\101\n\u0041\q' rb'\x41' B"\xff")") == "aAA\n\\u0041\\q\\x41\xff");
  CHECK(bytes_value(R"(b'\777')") == "\xff");
  CHECK(bytes_value("b'\xc3\xa9'") == "bytes can only contain ASCII literal characters");
  CHECK(bytes_value(R"(b'a\x4')") == "(value error) invalid \\x escape at position 1");
  CHECK(bytes_value("b'a' 'b'") == "cannot mix bytes and nonbytes literals");
}

TEST_CASE("grammar: no rule can loop without progress") {
  CHECK(tao::pegtl::analyze<grammar::file>() == 0);
  CHECK(tao::pegtl::analyze<grammar::single_expression>() == 0);
}

TEST_CASE("parse: operators bind as in Python") {
  CHECK(shape("a + b * c - d") == "((a+(b*c))-d)");
  CHECK(shape("-a ** -b ** c") == "(-(a**(-(b**c))))");
  CHECK(shape("a << b + c & d | e ^ f") == "(((a<<(b+c))&d)|(e^f))");
  CHECK(shape("not a == b and c or d") == "(((!(a==b))&&c)||d)");
  CHECK(shape("a < b is not c not in d") == "(a<b is not c not in d)");
  CHECK(shape("a if b else c if d else e") == "(b?a:(d?c:e))");
  CHECK(shape("lambda: a if b else c") == "\\(b?a:c)");
  CHECK(shape("(a + b) * c.d") == "((a+b)*c.d)");
  CHECK(shape("a @ b // c % d") == "(((a@b)//c)%d)");
  CHECK(shape("~a if not b else +c") == "((!b)?(~a):(+c))");
}

TEST_CASE("parse: operands and operators know where they stand") {
  Source source("test", "x = (a + b) * c\n");
  ParseResult result = parse(source);
  const auto& product = as<Binary>(*as<AssignStmt>(first(result)).value);
  CHECK(source.text(product.span) == "(a + b) * c");
  CHECK(source.text(product.first->span) == "a + b");
  CHECK(source.text(product.steps[0].op_span) == "*");
  CHECK(source.text(product.step_span(product.steps[0])) == "(a + b) * c");
}

TEST_CASE("parse: ints have literals of any length") {
  CHECK(shape("9223372036854775807") == "9223372036854775807");
  CHECK(outcome("9223372036854775808") == outcome("1"));
  CHECK(outcome("x = 0xffff_ffff_ffff_ffff") == outcome("x = 1"));
  CHECK(outcome("-9223372036854775808") == outcome("-1"));
}

TEST_CASE("parse: strings are decoded and joined") {
  CHECK(string_value("'a' \"b\" '''c'''") == "abc");
  CHECK(string_value(R"('\x41\u00e9\U0001F600\101\n\'')") ==
        "A\xc3\xa9\xf0\x9f\x98\x80"
        "A\n'");
  CHECK(string_value(R"(r'\n' '\d')") == "\\n\\d");
  CHECK(string_value("'a\\\nb'") == "ab");
  CHECK(string_value(R"('\x1')") ==
        "(unicode error) 'unicodeescape' codec can't decode bytes in position 0-2: truncated \\xXX escape");
}

TEST_CASE("parse: f-strings keep text, conversion and format") {
  ParseResult result = parse(Source("test", "f'a{b!r:>{c}}{{' f'{d=}'"), ParseMode::kExpression);
  REQUIRE(result);
  const auto& value = as<FString>(*result.tree->expression);
  REQUIRE(value.parts.size() == 4);
  CHECK(value.parts[0].text == "a");
  CHECK(value.parts[1].conversion == 'r');
  CHECK(value.parts[1].format->parts.size() == 2);
  CHECK(value.parts[2].text == "{d=");
  CHECK(value.parts[3].conversion == 'r');
}

TEST_CASE("parse: long flat text makes flat trees") {
  ParseResult sum = parse(Source("test", "x = a" + repeat(" + a", 10000) + "\n"));
  CHECK(as<Binary>(*as<AssignStmt>(first(sum)).value).steps.size() == 10000);
  ParseResult ladder = parse(Source("test", "if a: b\n" + repeat("elif a: b\n", 5000)));
  CHECK(as<IfStmt>(first(ladder)).arms.size() == 5001);
  CHECK(outcome("x = [" + repeat("1, ", 100000) + "]\n") == "ok");
  CHECK(outcome("x = '" + std::string(1 << 20, 'a') + "'\n") == "ok");
}

TEST_CASE("parse: what is nested too deeply is refused, not followed") {
  const std::string kTooDeep = "RecursionError 1 maximum recursion depth exceeded during compilation";
  CHECK(outcome(repeat("-", 100000) + "1") == kTooDeep);
  CHECK(outcome(repeat("not ", 100000) + "1") == kTooDeep);
  CHECK(outcome(repeat("lambda: ", 100000) + "1") == kTooDeep);
  CHECK(outcome(repeat("a if b else ", 100000) + "1") == kTooDeep);
  CHECK(outcome("a" + repeat(".b", 100000)) == kTooDeep);
  CHECK(outcome("a" + repeat("()", 100000)) == kTooDeep);
  CHECK(outcome("a" + repeat("**a", 100000)) == kTooDeep);
  CHECK(outcome(repeat("(", 100000)) == "SyntaxError 1 too many nested parentheses");
  CHECK(outcome(repeat("(", 200) + repeat(")", 200)) == "ok");
  CHECK(outcome(repeat("[", 200) + repeat("]", 200)) == "ok");
}

TEST_CASE("parse: match statements, and the names match and case") {
  CHECK(outcome("match x:\n  case [1, *r] | (1, *r): pass\n  case {'a': 1, **k} if k: pass\n"
                "  case P(1, y=_) as z: pass\n  case -1 | 2+3j | 'a' 'b' | None | a.b: pass\n  case _: pass\n") ==
        "ok");
  CHECK(outcome("match = case = _ = 1\nmatch(x)\nmatch[x]: int = 3\nmatch * x\nprint(match, case)\n") == "ok");
  CHECK(outcome("match x:\n  case a: pass\n  case b: pass\n") ==
        "SyntaxError 2 name capture 'a' makes remaining patterns unreachable");
  CHECK(outcome("match x:\n  case [a, a]: pass\n") == "SyntaxError 2 multiple assignments to name 'a' in pattern");
  CHECK(outcome("match x:\n  case [a] | [b]: pass\n").find("alternative patterns bind different names") !=
        std::string::npos);
}

TEST_CASE("parse: generators are noted") {
  ParseResult result =
      parse(Source("test", "def f():\n  def g(): return 1\n  x = yield\ndef h(): return lambda: (yield)\n"));
  REQUIRE(result);
  const auto& f = as<FunctionStmt>(*result.tree->body[0]);
  CHECK(f.is_generator);
  CHECK_FALSE(as<FunctionStmt>(*f.body[0]).is_generator);
  CHECK_FALSE(as<FunctionStmt>(*result.tree->body[1]).is_generator);
}

TEST_CASE("parse: messages are CPython's") {
  struct Case {
    const char* text;
    const char* expected;
  };
  constexpr Case kCases[] = {
      {"x = foo(1, 2\ny = 3\n", "SyntaxError 1 '(' was never closed"},
      {"if x\n  y\n", "SyntaxError 1 expected ':'"},
      {"def f(x)\n  y\n", "SyntaxError 1 expected ':'"},
      {"def f x:\n", "SyntaxError 1 expected '('"},
      {"if x:\ny = 1\n", "IndentationError 2 expected an indented block after 'if' statement on line 1"},
      {"def f():\n", "IndentationError 1 expected an indented block after function definition on line 1"},
      {"  x\n", "IndentationError 1 unexpected indent"},
      {"try:\n  x\ny\n", "SyntaxError 3 expected 'except' or 'finally' block"},
      {"try:\n  x\nexcept A, B:\n  y\n", "SyntaxError 3 multiple exception types must be parenthesized"},
      {"f(a b)\n", "SyntaxError 1 invalid syntax. Perhaps you forgot a comma?"},
      {"x = {'a': 1\n'b': 2}\n", "SyntaxError 1 invalid syntax. Perhaps you forgot a comma?"},
      {"if x = 3: y\n", "SyntaxError 1 invalid syntax. Maybe you meant '==' or ':=' instead of '='?"},
      {"f() = 1\n", "SyntaxError 1 cannot assign to function call here. Maybe you meant '==' instead of '='?"},
      {"1 = x\n", "SyntaxError 1 cannot assign to literal here. Maybe you meant '==' instead of '='?"},
      {"None = 1\n", "SyntaxError 1 cannot assign to None"},
      {"f(a.b=1)\n", "SyntaxError 1 expression cannot contain assignment, perhaps you meant \"==\"?"},
      {"f(True=1)\n", "SyntaxError 1 cannot assign to True"},
      {"f(a=1, b)\n", "SyntaxError 1 positional argument follows keyword argument"},
      {"f(a=1, a=2)\n", "SyntaxError 1 keyword argument repeated: a"},
      {"f(a for a in b, c)\n", "SyntaxError 1 Generator expression must be parenthesized"},
      {"def f(a=1, b): pass\n", "SyntaxError 1 non-default argument follows default argument"},
      {"def f(a, a): pass\n", "SyntaxError 1 duplicate argument 'a' in function definition"},
      {"def f(*): pass\n", "SyntaxError 1 named arguments must follow bare *"},
      {"def f(/, a): pass\n", "SyntaxError 1 at least one argument must precede /"},
      {"print 'a'\n", "SyntaxError 1 Missing parentheses in call to 'print'. Did you mean print(...)?"},
      {"x = a if b\n", "SyntaxError 1 expected 'else' after 'if' expression"},
      {"x = {a: 1, b}\n", "SyntaxError 1 ':' expected after dictionary key"},
      {"x = {a: }\n", "SyntaxError 1 expression expected after dictionary key and ':'"},
      {"[a, b for a in c]\n", "SyntaxError 1 did you forget parentheses around the comprehension target?"},
      {"from a import b,\n", "SyntaxError 1 trailing comma not allowed without surrounding parentheses"},
      {"f'{a b}'\n", "SyntaxError 1 f-string: invalid syntax. Perhaps you forgot a comma?"},
      {"x +\n", "SyntaxError 1 invalid syntax"},
      {"del f()\n", "SyntaxError 1 cannot delete function call"},
      {"a, b += 1\n", "SyntaxError 1 'tuple' is an illegal expression for augmented assignment"},
      {"a, b: int\n", "SyntaxError 1 only single target (not tuple) can be annotated"},
      {"*a = b\n", "SyntaxError 1 starred assignment target must be in a list or tuple"},
      {"*a, *b = c\n", "SyntaxError 1 multiple starred expressions in assignment"},
      {"return 1\n", "SyntaxError 1 'return' outside function"},
      {"class A:\n  return 1\n", "SyntaxError 2 'return' outside function"},
      {"break\n", "SyntaxError 1 'break' outside loop"},
      {"def f():\n  continue\n", "SyntaxError 2 'continue' not properly in loop"},
      {"yield 1\n", "SyntaxError 1 'yield' outside function"},
      {"def f(): return [(yield) for a in b]\n", "SyntaxError 1 'yield' inside list comprehension"},
      {"def f():\n  from a import *\n", "SyntaxError 2 import * only allowed at module level"},
      {"try: a\nexcept: b\nexcept C: d\n", "SyntaxError 2 default 'except:' must be last"},
  };
  for (const Case& example : kCases) {
    CAPTURE(example.text);
    CHECK(outcome(example.text) == example.expected);
  }
}

TEST_CASE("parse: await and its kin have their place") {
  CHECK(outcome("async def f():\n  async with a: return [await b async for b in c]\n") == "ok");
  CHECK(outcome("await x\n") == "ok");  // the compiler knows whether a module may await
  CHECK(outcome("def f():\n  return await x\n") == "SyntaxError 2 'await' outside async function");
  CHECK(outcome("async def f():\n  yield from x\n") == "SyntaxError 2 'yield from' inside async function");
  CHECK(outcome("async def f():\n  yield\n  return 1\n") ==
        "SyntaxError 3 'return' with value in async generator");
}

TEST_CASE("parse: clauses of except*") {
  CHECK(outcome("try: a\nexcept* B: c\nexcept C: d\n") ==
        "SyntaxError 3 cannot have both 'except' and 'except*' on the same 'try'");
  CHECK(outcome("while 1:\n  try: a\n  except* B: break\n") ==
        "SyntaxError 3 'break', 'continue' and 'return' cannot appear in an except* block");
}

TEST_CASE("parse: a prompt learns whether to read on") {
  CHECK(is_complete("x = 1\n") == Completeness::kComplete);
  CHECK(is_complete("") == Completeness::kComplete);
  CHECK(is_complete("x = (1,\n") == Completeness::kIncomplete);
  CHECK(is_complete("if x:\n") == Completeness::kIncomplete);
  CHECK(is_complete("if x:\n  y\n") == Completeness::kIncomplete);
  CHECK(is_complete("if x:\n  y\n\n") == Completeness::kComplete);
  CHECK(is_complete("x = '''a\n") == Completeness::kIncomplete);
  CHECK(is_complete("try:\n  x\n") == Completeness::kIncomplete);
  CHECK(is_complete("x = 1 +\n") == Completeness::kInvalid);
  CHECK(is_complete("x = 1 \\\n") == Completeness::kIncomplete);
  CHECK(is_complete("x = 1 \\") == Completeness::kIncomplete);
  CHECK(is_complete("x = \\\n") == Completeness::kIncomplete);
  CHECK(is_complete("assert x, \\\n") == Completeness::kIncomplete);
  CHECK(is_complete("if x \\\n") == Completeness::kIncomplete);
  CHECK(is_complete("if x:\n  y = 1 + \\\n") == Completeness::kIncomplete);
  CHECK(is_complete("x = 1 \\\n  + 2\n") == Completeness::kComplete);
  CHECK(is_complete("x = 1 # \\\n") == Completeness::kComplete);
  CHECK(is_complete("x = 'a\\\\'\n") == Completeness::kComplete);
  CHECK(is_complete("x = 1 \\\n\n") == Completeness::kComplete);
  CHECK(is_complete("x = ) \\\n") == Completeness::kInvalid);
  CHECK(is_complete("x = )\n") == Completeness::kInvalid);
}

TEST_CASE("parse: an expression alone") {
  CHECK(outcome("a + b  \n", ParseMode::kExpression) == "ok");
  CHECK(outcome("a, b", ParseMode::kExpression) == "ok");
  CHECK(outcome("a = b", ParseMode::kExpression) == "SyntaxError 1 invalid syntax");
  CHECK(outcome("", ParseMode::kExpression) == "SyntaxError 1 invalid syntax");
}

TEST_CASE("source: lines, columns in bytes and in characters") {
  Source source("test", "a\r\n\xc3\xa9 = 1\n");
  CHECK(source.text() == "a\n\xc3\xa9 = 1\n");
  Position position = source.position(5);
  CHECK(position.line == 2);
  CHECK(position.byte_column == 3);
  CHECK(position.column == 2);
  CHECK(source.line(2) == "\xc3\xa9 = 1");
  CHECK(source.line(3).empty());
}

TEST_CASE("syntax errors are shown with their line and a caret") {
  Source source("file.tsr", "x = 1\nif x == 1\n  y\n");
  ParseResult result = parse(source);
  REQUIRE(result.error);
  CHECK(format_syntax_error(source, *result.error) ==
        "  File \"file.tsr\", line 2\n    if x == 1\n             ^\nSyntaxError: expected ':'\n");
}

TEST_CASE("dump: a readable tree") {
  Source source("test", "x = a + 1\n");
  CHECK(
      dump_tree(*parse(source).tree, source) ==
      "    1  Assign\n    1    target: Name x\n    1    value: Binary\n    1      Name a\n    1      +: IntLiteral 1\n");
}

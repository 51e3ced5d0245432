// Constant folding: what the machine would compute from constants, computed once, by the language's own operators.
// compile: few-inlines (runs once for a program's text)
#include <cmath>
#include "lang/compiler/compile.h"
#include "lang/core/interpreter.h"
#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/syntax/ast.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes.h"
#include "lang/types/number.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"

namespace tessera::lang {

namespace {

// "-" * 60 is worth folding, "x" * 10**9 is not.
constexpr int64_t kLargestText = 4096;

bool is_number(const Value& v) { return is_whole(v) || v.is_float(); }

// Whole numbers of at most so many bits are worth keeping, as in CPython.
constexpr uint64_t kLargestWhole = 128;

bool worth_folding(ast::BinaryOp op, const Value& a, const Value& b) {
  using B = ast::BinaryOp;
  if (is_number(a) && is_number(b)) {
    if (!is_whole(a) || !is_whole(b)) return op != B::kMatMultiply;
    const uint64_t bits = whole_bit_length(a);
    if (op == B::kPower) return is_big_int(b) ? bits <= 1 : bits * static_cast<uint64_t>(std::abs(b.as_int())) <= kLargestWhole;
    if (op == B::kShiftLeft)
      return !is_big_int(b) && b.as_int() <= static_cast<int64_t>(kLargestWhole) && bits <= kLargestWhole;
    if (op == B::kMultiply) return bits + whole_bit_length(b) <= kLargestWhole;
    return op != B::kMatMultiply;
  }
  if (op == B::kAdd) return is_str(a) && is_str(b) && as_str(a)->size + as_str(b)->size <= kLargestText;
  if (op != B::kMultiply) return false;
  const Value& text = is_str(a) ? a : b;
  const Value& times = is_str(a) ? b : a;
  return is_str(text) && times.is_int() && times.as_int() <= kLargestText &&
         as_str(text)->size * std::max<int64_t>(times.as_int(), 0) <= kLargestText;
}

lang::BinaryOp operator_of(ast::BinaryOp op) {
  using A = ast::BinaryOp;
  using B = lang::BinaryOp;
  switch (op) {
    case A::kAdd: return B::Add;
    case A::kSubtract: return B::Sub;
    case A::kMultiply: return B::Mul;
    case A::kDivide: return B::TrueDiv;
    case A::kFloorDivide: return B::FloorDiv;
    case A::kModulo: return B::Mod;
    case A::kPower: return B::Pow;
    case A::kMatMultiply: return B::MatMul;
    case A::kShiftLeft: return B::LShift;
    case A::kShiftRight: return B::RShift;
    case A::kBitAnd: return B::And;
    case A::kBitOr: return B::Or;
    case A::kBitXor: return B::Xor;
  }
  __builtin_unreachable();
}

Value fold_binary(Interpreter& in, const ast::Binary& e) {
  Value left = fold_constant(in, *e.first);
  for (const ast::BinaryStep& step : e.steps) {
    if (left.is_undefined()) return left;
    const Value right = fold_constant(in, *step.right);
    if (right.is_undefined() || !worth_folding(step.op, left, right)) return Value();
    left = binary(in, operator_of(step.op), left, right);
  }
  return left;
}

Value fold_unary(Interpreter& in, const ast::Unary& e) {
  const Value operand = fold_constant(in, *e.operand);
  if (operand.is_undefined()) return operand;
  if (e.op == ast::UnaryOp::kNot) return Value::boolean(!truth(in, operand));
  if (!is_number(operand)) return Value();
  if (e.op == ast::UnaryOp::kNegative) return unary(in, lang::UnaryOp::Neg, operand);
  return unary(in, e.op == ast::UnaryOp::kPositive ? lang::UnaryOp::Pos : lang::UnaryOp::Invert, operand);
}

Value fold_tuple(Interpreter& in, const ast::Tuple& e) {
  std::vector<Value> items;
  for (const ast::Expr* element : e.elements) {
    items.push_back(fold_constant(in, *element));
    if (items.back().is_undefined()) return Value();
  }
  return make_tuple(in, items.data(), items.size());
}

// Small strings that look like names are interned, so that dict look-ups by them compare pointers.
Value string_constant(Interpreter& in, std::string_view text) {
  bool is_name = text.size() <= 40 && !text.empty();
  for (char c : text) is_name = is_name && (std::isalnum(static_cast<unsigned char>(c)) || c == '_');
  return is_name ? Value(static_cast<Object*>(intern(in, text))) : make_str(in, text);
}

Value constant(Interpreter& in, ast::ConstantValue value) {
  switch (value) {
    case ast::ConstantValue::kNone: return Value::none();
    case ast::ConstantValue::kFalse: return Value::boolean(false);
    case ast::ConstantValue::kTrue: return Value::boolean(true);
    case ast::ConstantValue::kEllipsis: return in.ellipsis;
  }
  __builtin_unreachable();
}

}  // namespace

Value big_int_literal(Interpreter& in, const ast::BigIntLiteral& literal) { return parse_int(in, literal.text, 0); }

namespace {

Value fold_node(Interpreter& in, const ast::Expr& e) {
  using K = ast::ExprKind;
  switch (e.kind) {
    case K::kConstant: return constant(in, ast::as<ast::Constant>(e).value);
    case K::kIntLiteral: return Value::integer(ast::as<ast::IntLiteral>(e).value);
    case K::kBigIntLiteral: return big_int_literal(in, ast::as<ast::BigIntLiteral>(e));
    case K::kFloatLiteral: return Value::real(ast::as<ast::FloatLiteral>(e).value);
    case K::kStringLiteral: return string_constant(in, ast::as<ast::StringLiteral>(e).value);
    case K::kBytesLiteral: return make_bytes(in, ast::as<ast::BytesLiteral>(e).value);
    case K::kTuple: return fold_tuple(in, ast::as<ast::Tuple>(e));
    case K::kUnary: return fold_unary(in, ast::as<ast::Unary>(e));
    case K::kBinary: return fold_binary(in, ast::as<ast::Binary>(e));
    case K::kImaginaryLiteral:
      return call(in, Value(static_cast<Object*>(in.types.complex)),
                  {Value::real(0), Value::real(ast::as<ast::ImaginaryLiteral>(e).value)});
    default: return Value();
  }
}

}  // namespace

Value fold_constant(Interpreter& in, const ast::Expr& expression) {
  try {
    return fold_node(in, expression);
  } catch (const Error&) {
    return Value();
  } catch (const Thrown& thrown) {
    // An interrupt or a limit that was heard meanwhile is not the expression's.
    if (in.is_stopping() || is_error(in, thrown.exception, ErrorKind::KeyboardInterrupt)) throw;
    return Value();
  }
}

}  // namespace tessera::lang

// _ast: the values of texts that are literals. The text is parsed as a program's would be, and never run.
// compile: small (runs once for a program's text)
#include <memory>

#include "lang/compiler/compile.h"
#include "lang/core/error.h"
#include "lang/objects/exception.h"
#include "lang/syntax/ast.h"
#include "lang/syntax/parse.h"
#include "lang/syntax/source_encoding.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes.h"
#include "lang/types/number.h"
#include "lang/types/set.h"
#include "stdlib/python/native/ast_nodes.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

namespace ast = lang::ast;

// CPython's names for the nodes, for its message about one that is no literal.
const char* node_name(const ast::Expr& e) {
  switch (e.kind) {
    case ast::ExprKind::kName: return "Name";
    case ast::ExprKind::kCall: return "Call";
    case ast::ExprKind::kAttribute: return "Attribute";
    case ast::ExprKind::kSubscript: return "Subscript";
    case ast::ExprKind::kLambda: return "Lambda";
    case ast::ExprKind::kConditional: return "IfExp";
    case ast::ExprKind::kCompare: return "Compare";
    case ast::ExprKind::kLogical: return "BoolOp";
    case ast::ExprKind::kFString: return "JoinedStr";
    case ast::ExprKind::kStarred: return "Starred";
    case ast::ExprKind::kUnary: return "UnaryOp";
    case ast::ExprKind::kBinary: return "BinOp";
    case ast::ExprKind::kWalrus: return "NamedExpr";
    case ast::ExprKind::kTuple: return "Tuple";
    case ast::ExprKind::kList: return "List";
    case ast::ExprKind::kSet: return "Set";
    case ast::ExprKind::kDict: return "Dict";
    case ast::ExprKind::kComprehension: return "ListComp";
    default: return "Constant";
  }
}

class Literal {
 public:
  Literal(Interpreter& in, const lang::Source& source) : in_(in), source_(source) {}

  Value value(const ast::Expr& e) {
    switch (e.kind) {
      case ast::ExprKind::kConstant: return constant(ast::as<ast::Constant>(e));
      case ast::ExprKind::kStringLiteral: return make_str(in_, ast::as<ast::StringLiteral>(e).value);
      case ast::ExprKind::kBytesLiteral: return make_bytes(in_, ast::as<ast::BytesLiteral>(e).value);
      case ast::ExprKind::kTuple: return tuple(ast::as<ast::Tuple>(e).elements);
      case ast::ExprKind::kList: return list(ast::as<ast::List>(e).elements);
      case ast::ExprKind::kSet: return set(ast::as<ast::Set>(e).elements);
      case ast::ExprKind::kDict: return dict(ast::as<ast::Dict>(e));
      case ast::ExprKind::kCall: return empty_set(e);
      case ast::ExprKind::kBinary: return sum(ast::as<ast::Binary>(e));
      default: return signed_number(e);
    }
  }

 private:
  Value constant(const ast::Constant& e) {
    switch (e.value) {
      case ast::ConstantValue::kNone: return Value::none();
      case ast::ConstantValue::kTrue: return Value::boolean(true);
      case ast::ConstantValue::kFalse: return Value::boolean(false);
      default: return get_attr(in_, Value(static_cast<Object*>(in_.import("builtins"))), intern(in_, "Ellipsis"));
    }
  }

  Value signed_number(const ast::Expr& e) {
    if (e.kind == ast::ExprKind::kUnary) {
      const auto& unary = ast::as<ast::Unary>(e);
      if (unary.op == ast::UnaryOp::kPositive) return number(*unary.operand);
      if (unary.op == ast::UnaryOp::kNegative) return lang::unary(in_, UnaryOp::Neg, number(*unary.operand));
      malformed(e);
    }
    return number(e);
  }

  Value number(const ast::Expr& e) {
    switch (e.kind) {
      case ast::ExprKind::kIntLiteral: return Value::integer(ast::as<ast::IntLiteral>(e).value);
      case ast::ExprKind::kBigIntLiteral: return big_int_literal(in_, ast::as<ast::BigIntLiteral>(e));
      case ast::ExprKind::kFloatLiteral: return Value::real(ast::as<ast::FloatLiteral>(e).value);
      case ast::ExprKind::kImaginaryLiteral: return make_complex(in_, 0, ast::as<ast::ImaginaryLiteral>(e).value);
      default: malformed(e);
    }
  }

  // 1 + 2j: a real number and an imaginary one, nothing else.
  Value sum(const ast::Binary& e) {
    if (e.steps.size() != 1 || e.steps[0].right->kind != ast::ExprKind::kImaginaryLiteral ||
        (e.steps[0].op != ast::BinaryOp::kAdd && e.steps[0].op != ast::BinaryOp::kSubtract))
      malformed(e);
    const Value left = signed_number(*e.first), right = number(*e.steps[0].right);
    if (!left.is_float() && !is_whole(left)) malformed(e);
    return lang::binary(in_, e.steps[0].op == ast::BinaryOp::kAdd ? BinaryOp::Add : BinaryOp::Sub, left, right);
  }

  Value list(ast::ExprList elements) {
    Value result = make_list(in_, elements.size());
    for (const ast::Expr* each : elements) list_append(in_, as_list(result), value(*each));
    return result;
  }

  Value tuple(ast::ExprList elements) {
    Tuple* made = new_tuple(in_, elements.size());
    Value result = Value::adopt(made);
    for (size_t i = 0; i < elements.size(); ++i) made->items[i] = value(*elements[i]);
    return result;
  }

  Value set(ast::ExprList elements) {
    Value result = make_set(in_);
    for (const ast::Expr* each : elements) set_add(in_, as_set(result), value(*each));
    return result;
  }

  Value dict(const ast::Dict& e) {
    Value result = make_dict(in_);
    for (const ast::DictItem& item : e.items) {
      if (item.key == nullptr) throw Error(ErrorKind::ValueError, "malformed node or string: None");  // `**item`
      const Value key = value(*item.key);
      dict_set(in_, as_dict(result), key, value(*item.value));
    }
    return result;
  }

  Value empty_set(const ast::Expr& e) {
    if (source_.text(e.span) != "set()") malformed(e);
    return make_set(in_);
  }

  [[noreturn]] void malformed(const ast::Expr& e) {
    throw Error(ErrorKind::ValueError, "malformed node or string on line " +
                                           std::to_string(source_.line_number(e.span.begin)) + ": <ast." +
                                           node_name(e) + " object>");
  }

  Interpreter& in_;
  const lang::Source& source_;
};

void check_no_null(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) throw Error(ErrorKind::ValueError, "source code string cannot contain null bytes");
}

Value literal(Interpreter& in, const Args& args) {
  std::string_view text = text_argument(in, args[0], "literal_eval() argument");
  check_no_null(text);
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  const auto source = std::make_shared<lang::Source>("<unknown>", text);
  lang::BookedGrowth growth(in);
  const lang::ParseResult parsed = lang::parse(*source, lang::ParseMode::kExpression, &growth);
  if (!parsed) throw_syntax_error(in, *source, *parsed.error);
  return Literal(in, *source).value(*parsed.tree->expression);
}

// The text of a str or of bytes, whose encoding its first lines may declare.
std::string program_text(Interpreter& in, const Value& source) {
  std::string text;
  if (is_str(source)) text = text_of(source);
  else if (lang::is_bytes_like(in, source)) text = lang::decode_source(std::string(lang::BytesLike(in, source).view()));
  else throw Error(ErrorKind::TypeError, "compile() arg 1 must be a string, bytes or AST object");
  check_no_null(text);
  return text;
}

Value parse_text(Interpreter& in, const Args& args) {
  const std::string text = program_text(in, args[0]);
  const std::string_view mode = text_of(args[2]);
  const auto source = std::make_shared<lang::Source>(path_argument(in, args[1]), text);
  lang::BookedGrowth growth(in);
  const auto wanted = mode == "eval" ? lang::ParseMode::kExpression : lang::ParseMode::kFile;
  const lang::ParseResult parsed = lang::parse(*source, wanted, &growth);
  if (!parsed) throw_syntax_error(in, *source, *parsed.error);
  return tree_objects(in, *source, *parsed.tree, mode, args[3]);
}

// compile() of a tree; `mode` and `flags` have been looked at.
Value compile_tree_of(Interpreter& in, const Args& args) {
  if (!in.limits.code) throw Error(ErrorKind::PermissionError, "this program is not allowed to use compile");
  const std::string_view mode = text_of(args[2]);
  lang::CompileOptions options(mode == "eval" ? lang::CompileMode::Expression : lang::CompileMode::Module);
  options.names_in_mapping = true;
  options.top_level_await = (args[3].as_int() & 0x2000) != 0;
  options.shows_values = mode == "single";
  options.text_annotations = (args[3].as_int() & 0x1000000) != 0;
  options.optimize = static_cast<int>(args[4].as_int());
  return compile_objects(in, args[0], path_argument(in, args[1]), options, args[5], args[6]);
}

// The classes of nodes are made by ast.tsr.
Value node_class(Interpreter& in, Module&, Str* name) {
  if (name->view().starts_with('_')) return Value();
  const Value classes = get_attr(in, Value(in.import("ast")), intern(in, "_classes"));
  const Value* const found = is_dict(classes) ? dict_get_str(as_dict(classes), name) : nullptr;
  return found == nullptr ? Value() : *found;
}

}  // namespace

void fill_ast(Interpreter& in, Module& module) {
  module.missing = node_class;
  const std::pair<const char*, int64_t> flags[] = {
      {"PyCF_ONLY_AST", 0x400}, {"PyCF_TYPE_COMMENTS", 0x1000}, {"PyCF_ALLOW_TOP_LEVEL_AWAIT", 0x2000}};
  for (const auto& [name, value] : flags) set_member(in, module, name, Value::integer(value));
  in.def(module, "literal(text, /)", "The value of a text that is a literal.", literal);
  in.def(module, "parse(source, filename, mode: str, classes: dict, /)", "The tree of a text, as objects.", parse_text);
  in.def(module, "compile(tree, filename, mode: str, flags: int, optimize: int, shapes: dict, classes: dict, /)",
         "Code of a tree.", compile_tree_of);
}

}  // namespace tessera::stdlib

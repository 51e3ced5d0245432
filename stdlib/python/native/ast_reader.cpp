// A tree of objects back to a tree of the compiler's, with the words in which CPython refuses one that is none. The objects have
// lines and columns, the compiler's nodes have offsets into a text: a text of blanks is made that has these lines.
// compile: small (runs once for a program's text)
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <vector>

#include "lang/compiler/compile.h"
#include "lang/compiler/resolve.h"
#include "lang/core/error.h"
#include "lang/core/object_cast.h"
#include "lang/objects/exception.h"
#include "lang/syntax/parse_checks.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes.h"
#include "lang/types/number.h"
#include "lang/vm/vm.h"
#include "stdlib/python/native/ast_nodes.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

namespace ast = lang::ast;
using lang::Source;
using lang::Span;

constexpr int64_t kMostLines = 4'000'000;
constexpr int64_t kMostBytes = 64 << 20;

// The lines that the nodes name, and how long each has to be.
class Lines {
 public:
  void need(int64_t line, int64_t column) {
    if (line > kMostLines || column > kMostBytes) throw Error(ErrorKind::OverflowError, "ast: a place is too far away");
    int64_t& width = widths_[line];
    total_ += std::max<int64_t>(0, column - width);
    width = std::max(width, column);
    if (total_ > kMostBytes) throw Error(ErrorKind::OverflowError, "ast: a place is too far away");
  }
  std::string text() {
    std::string blanks;
    int64_t line = 1;
    for (const auto& [number, width] : widths_) {
      for (; line < number; ++line) blanks += '\n';
      starts_[number] = static_cast<uint32_t>(blanks.size());
      blanks.append(static_cast<size_t>(width), ' ');
    }
    return blanks + '\n';
  }
  uint32_t offset(int64_t line, int64_t column) const {
    const auto at = starts_.find(line);
    return at == starts_.end() ? 0 : at->second + static_cast<uint32_t>(column);
  }

 private:
  std::map<int64_t, int64_t> widths_;
  std::map<int64_t, uint32_t> starts_;
  int64_t total_ = 0;
};

enum class Context : uint8_t { Load, Store, Del };
constexpr const char* kContexts[] = {"Load", "Store", "Del"};

struct NamedOp {
  const char* name;
  uint8_t op;
};

class Reader {
 public:
  Reader(Interpreter& in, ast::Tree& tree, const Value& shapes, const Value& classes, bool text_annotations)
      : in_(in), tree_(tree), shapes_(shapes), classes_(classes), text_annotations_(text_annotations) {}

  // --- places
  void measure(const Value& v) {
    in_.poll();
    in_.vm().check_native_stack();
    if (is_list(v)) {
      const Value items = make_tuple(in_, as_list(v)->items, as_list(v)->size);
      for (const Value& item : *as_tuple(items)) measure(item);
      return;
    }
    if (!is_node(v)) return;
    int64_t place[4];
    if (find_place(v, place)) {
      lines_.need(place[0], place[1]);
      lines_.need(place[2], place[3]);
    }
    const Value* shape = dict_get_text(as_dict(shapes_), class_of(v));
    if (shape == nullptr) return;
    std::vector<Value> fields;
    dict_for_each(as_dict(*shape), [&](const Value& key, const Value&) { fields.push_back(key); });
    for (const Value& field : fields) measure(find_attr(in_, v, as_str(field)));
  }
  std::string blank_text() { return lines_.text(); }

  // --- the whole
  void read(const Value& root) {
    const std::string_view kind = class_of(root);
    if (kind == "Expression") tree_.expression = expr(root, "body");
    else tree_.body = block(root, "body", kind, false);
  }

 private:
  [[noreturn]] static void refuse(const std::string& message) { throw Error(ErrorKind::ValueError, message); }

  // The name of the node's class, or of the first one of the module ast that it comes from; empty: it is no node.
  std::string_view class_of(const Value& v) const {
    if (!v.is_object()) return {};
    for (const Type* type : v.as_object()->type->mro) {
      const std::string_view name = type->name->view();
      const Value* found = dict_get_text(as_dict(classes_), name);
      if (found != nullptr && found->is_object() && found->as_object() == type) return name;
    }
    return {};
  }
  bool is_node(const Value& v) const { return !class_of(v).empty(); }

  Value field(const Value& node, const char* name, bool optional = false) {
    Value v = find_attr(in_, node, intern(in_, name));
    if (v.is_undefined()) {
      if (optional) return Value::none();
      throw_error(ErrorKind::TypeError, "required field \"%s\" missing from %s", name, std::string(class_of(node)).c_str());
    }
    return v;
  }

  std::vector<Value> list(const Value& node, const char* name) {
    const Value v = find_attr(in_, node, intern(in_, name));
    if (v.is_undefined())
      throw_error(ErrorKind::TypeError, "required field \"%s\" missing from %s", name, std::string(class_of(node)).c_str());
    if (!is_list(v))
      throw_error(ErrorKind::TypeError, "%s field \"%s\" must be a list, not a %s", std::string(class_of(node)).c_str(),
                  name, std::string(type_name(in_, v)).c_str());
    return {as_list(v)->begin(), as_list(v)->end()};
  }

  int64_t number(const Value& node, const char* name, bool optional = false, int64_t otherwise = 0) {
    const Value v = field(node, name, optional);
    if (v.is_none() && optional) return otherwise;
    if (!v.is_int() && !v.is_bool()) refuse("invalid integer value: " + repr_text(in_, v));
    return v.as_int();
  }

  ast::Identifier identifier(const Value& v, Span span) {
    if (v.is_none()) return {{}, span};
    if (!is_str(v)) throw_error(ErrorKind::TypeError, "AST identifier must be of type str");
    const std::string_view name = text_of(v);
    if (name == "None" || name == "True" || name == "False")
      refuse("identifier field can't represent '" + std::string(name) + "' constant");
    return {tree_.intern(name), span};
  }
  ast::Identifier name_of(const Value& node, const char* name, Span span) {
    const Value v = field(node, name);
    if (v.is_none()) refuse("field '" + std::string(name) + "' is required for " + std::string(class_of(node)));
    return identifier(v, span);
  }

  // Line, column, end line, end column. False: the node's class has none.
  bool find_place(const Value& node, int64_t (&place)[4]) {
    const Value attributes = find_attr(in_, node, intern(in_, "_attributes"));
    if (!is_tuple(attributes) || as_tuple(attributes)->size == 0) return false;
    place[0] = attribute(node, "lineno", INT64_MIN);
    place[1] = attribute(node, "col_offset", INT64_MIN);
    place[2] = attribute(node, "end_lineno", place[0]);
    place[3] = attribute(node, "end_col_offset", place[1]);
    const auto text = [&](int a, int b) {
      return "(" + std::to_string(place[a]) + ", " + std::to_string(place[b]) + ")";
    };
    if (place[0] > place[2]) refuse("AST node line range " + text(0, 2) + " is not valid");
    if ((place[0] < 0 && place[2] != place[0]) || (place[1] < 0 && place[1] != place[3]))
      refuse("AST node column range " + text(1, 3) + " for line range " + text(0, 2) + " is not valid");
    if (place[0] == place[2] && place[1] > place[3])
      refuse("line " + std::to_string(place[0]) + ", column " + std::to_string(place[1]) + "-" +
             std::to_string(place[3]) + " is not a valid range");
    for (int64_t& part : place) part = std::max<int64_t>(part, 0);
    place[0] = std::max<int64_t>(place[0], 1);
    place[2] = std::max<int64_t>(place[2], 1);
    return true;
  }

  int64_t attribute(const Value& node, const char* name, int64_t otherwise) {
    const Value v = find_attr(in_, node, intern(in_, name));
    if (v.is_undefined() || (v.is_none() && otherwise != INT64_MIN)) {
      if (otherwise != INT64_MIN) return otherwise;
      throw_error(ErrorKind::TypeError, "required field \"%s\" missing from %s", name, family_of(node));
    }
    if (!v.is_int() && !v.is_bool()) refuse("invalid integer value: " + repr_text(in_, v));
    return v.as_int();
  }

  const char* family_of(const Value& node) {
    for (const char* family : {"stmt", "expr", "pattern", "excepthandler"}) {
      const Value* found = dict_get_text(as_dict(classes_), family);
      if (found != nullptr && is_instance(in_, node, object_cast<Type>(*found))) return family;
    }
    return node.as_object()->type->name->view().data();
  }

  Span span_of(const Value& node) {
    int64_t place[4];
    if (!find_place(node, place)) return {};
    return {lines_.offset(place[0], place[1]), lines_.offset(place[2], place[3])};
  }

  // One level deeper in the tree.
  struct Level {
    explicit Level(Reader& r) : reader(r) {
      reader.in_.check_stop();
      if (++reader.depth_ > ast::kMaxDepth - 10)
        throw Error(ErrorKind::RecursionError, "maximum recursion depth exceeded during compilation");
      reader.in_.vm().check_native_stack();
    }
    ~Level() { --reader.depth_; }
    Reader& reader;
  };

  template <class Node, class... Fields>
  Node* make(Span span, Fields&&... fields) {
    if constexpr (std::is_base_of_v<ast::Expr, Node>)
      return tree_.arena().make<Node>(ast::Expr{Node::kKind, span}, std::forward<Fields>(fields)...);
    else if constexpr (std::is_base_of_v<ast::Stmt, Node>)
      return tree_.arena().make<Node>(ast::Stmt{Node::kKind, span}, std::forward<Fields>(fields)...);
    else return tree_.arena().make<Node>(ast::Pattern{Node::kKind, span}, std::forward<Fields>(fields)...);
  }
  template <class Item>
  std::span<Item> keep(const std::vector<Item>& items) {
    return tree_.arena().copy(items);
  }

  // --- expressions
  ast::Expr* expr(const Value& node, const char* name, Context wanted = Context::Load) {
    const Value v = field(node, name);
    if (v.is_none()) refuse("field '" + std::string(name) + "' is required for " + std::string(class_of(node)));
    return expression(v, wanted, false);
  }
  ast::Expr* optional(const Value& node, const char* name) {
    const Value v = field(node, name, true);
    return v.is_none() ? nullptr : expression(v, Context::Load, false);
  }
  ast::ExprList expressions(const Value& node, const char* name, Context wanted, bool stars) {
    std::vector<ast::Expr*> made;
    for (const Value& v : list(node, name)) {
      if (v.is_none()) refuse("None disallowed in expression list");
      made.push_back(expression(v, wanted, stars));
    }
    return keep(made);
  }

  void check_context(const Value& node, Context wanted) {
    const std::string_view has = class_of(field(node, "ctx"));
    if (has != kContexts[static_cast<size_t>(wanted)])
      refuse(std::string("expression must have ") + kContexts[static_cast<size_t>(wanted)] + " context but has " +
             std::string(has) + " instead");
  }

  ast::Expr* expression(const Value& v, Context wanted, bool stars) {
    const Level level(*this);
    const std::string_view kind = class_of(v);
    const Value* expr_class = dict_get_text(as_dict(classes_), "expr");
    if (kind.empty() || !is_instance(in_, v, object_cast<Type>(*expr_class)))
      throw_error(ErrorKind::TypeError, "expected some sort of expr, but got %s", repr_text(in_, v).c_str());
    const Span span = span_of(v);
    const bool has_context = kind == "Name" || kind == "Attribute" || kind == "Subscript" || kind == "Starred" ||
                             kind == "List" || kind == "Tuple";
    if (has_context) check_context(v, wanted);
    else if (wanted != Context::Load)
      refuse(std::string("expression which can't be ") + (wanted == Context::Store ? "assigned to in Store" : "deleted in Del") +
             " context");
    if (kind == "Name") return make<ast::Name>(span, name_of(v, "id", span).text);
    if (kind == "Constant") return constant(field(v, "value"), span);
    if (kind == "Attribute") {
      ast::Expr* object = expr(v, "value");
      return make<ast::Attribute>(span, object, name_of(v, "attr", span));
    }
    if (kind == "Subscript") {
      ast::Expr* object = expr(v, "value");
      return make<ast::Subscript>(span, object, expr(v, "slice"));
    }
    if (kind == "Starred") {
      if (!stars) syntax_error(span, "can't use starred expression here");
      return make<ast::Starred>(span, expr(v, "value", wanted));
    }
    if (kind == "Tuple") return make<ast::Tuple>(span, expressions(v, "elts", wanted, true));
    if (kind == "List") return make<ast::List>(span, expressions(v, "elts", wanted, true));
    if (kind == "Set") {
      const ast::ExprList elements = expressions(v, "elts", wanted, true);
      if (!elements.empty()) return make<ast::Set>(span, elements);
      // The empty set as a text would write it: {*()}
      std::vector<ast::Expr*> star{make<ast::Starred>(span, make<ast::Tuple>(span, ast::ExprList{}))};
      return make<ast::Set>(span, keep(star));
    }
    return operation(v, kind, span);
  }

  ast::Expr* operation(const Value& v, std::string_view kind, Span span) {
    if (kind == "BinOp") {
      ast::Expr* left = expr(v, "left");
      const auto op = static_cast<ast::BinaryOp>(operator_of(v, "op", kBinary, "operator"));
      ast::Expr* right = expr(v, "right");
      std::vector<ast::BinaryStep> step{{op, right, {left->span.end, right->span.begin}, span.end}};
      return make<ast::Binary>(span, left, keep(step));
    }
    if (kind == "UnaryOp") {
      const auto op = static_cast<ast::UnaryOp>(operator_of(v, "op", kUnary, "unaryop"));
      return make<ast::Unary>(span, op, expr(v, "operand"));
    }
    if (kind == "BoolOp") {
      const bool is_and = class_of(field(v, "op")) == "And";
      const ast::ExprList values = expressions(v, "values", Context::Load, false);
      if (values.size() < 2) refuse("BoolOp with less than 2 values");
      return make<ast::Logical>(span, is_and ? ast::LogicalOp::kAnd : ast::LogicalOp::kOr, values);
    }
    if (kind == "Compare") return comparison(v, span);
    if (kind == "IfExp") {
      ast::Expr* condition = expr(v, "test");
      ast::Expr* then_value = expr(v, "body");
      return make<ast::Conditional>(span, condition, then_value, expr(v, "orelse"));
    }
    if (kind == "NamedExpr") {
      const Value target = field(v, "target");
      if (class_of(target) != "Name") throw_error(ErrorKind::TypeError, "NamedExpr target must be a Name");
      check_context(target, Context::Store);
      return make<ast::Walrus>(span, name_of(target, "id", span_of(target)), expr(v, "value"));
    }
    if (kind == "Lambda") {
      const ast::Parameters parameters = arguments(v);
      const bool outer = std::exchange(yields_, false);
      ast::Expr* body = expr(v, "body");
      return make<ast::Lambda>(span, parameters, body, std::exchange(yields_, outer));
    }
    if (kind == "Dict") return dict(v, span);
    if (kind == "Slice") {
      ast::Expr *lower = optional(v, "lower"), *upper = optional(v, "upper");
      return make<ast::Slice>(span, lower, upper, optional(v, "step"));
    }
    if (kind == "Call") {
      ast::Expr* callee = expr(v, "func");
      const ast::ExprList positional = expressions(v, "args", Context::Load, true);
      return make<ast::Call>(span, callee, positional, keywords(v));
    }
    if (kind == "Await") return make<ast::Await>(span, expr(v, "value"));
    if (kind == "Yield") {
      yields_ = true;
      return make<ast::Yield>(span, optional(v, "value"));
    }
    if (kind == "YieldFrom") {
      yields_ = true;
      return make<ast::YieldFrom>(span, expr(v, "value"));
    }
    if (kind == "JoinedStr") return joined(v, span);
    if (kind == "FormattedValue") {
      std::vector<ast::FStringPart> parts{formatted(v, span)};
      return make<ast::FString>(span, keep(parts));
    }
    if (kind == "ListComp") return comprehension(v, ast::ComprehensionKind::kList, span);
    if (kind == "SetComp") return comprehension(v, ast::ComprehensionKind::kSet, span);
    if (kind == "DictComp") return comprehension(v, ast::ComprehensionKind::kDict, span);
    if (kind == "GeneratorExp") return comprehension(v, ast::ComprehensionKind::kGenerator, span);
    throw_error(ErrorKind::TypeError, "expected some sort of expr, but got %s", repr_text(in_, v).c_str());
  }

  static constexpr NamedOp kBinary[] = {{"Add", 0},      {"Sub", 1},     {"Mult", 2},   {"Div", 3},    {"FloorDiv", 4},
                                        {"Mod", 5},      {"Pow", 6},     {"MatMult", 7}, {"LShift", 8}, {"RShift", 9},
                                        {"BitAnd", 10}, {"BitOr", 11}, {"BitXor", 12}};
  static constexpr NamedOp kUnary[] = {{"USub", 0}, {"UAdd", 1}, {"Invert", 2}, {"Not", 3}};
  static constexpr NamedOp kCompare[] = {{"Eq", 0},  {"NotEq", 1}, {"Lt", 2},    {"LtE", 3}, {"Gt", 4},
                                         {"GtE", 5}, {"Is", 6},    {"IsNot", 7}, {"In", 8},  {"NotIn", 9}};

  template <size_t N>
  uint8_t operator_named(const Value& v, const NamedOp (&ops)[N], const char* family) {
    const std::string_view kind = class_of(v);
    for (const NamedOp& op : ops) {
      if (kind == op.name) return op.op;
    }
    throw_error(ErrorKind::TypeError, "expected some sort of %s, but got %s", family, repr_text(in_, v).c_str());
  }
  template <size_t N>
  uint8_t operator_of(const Value& node, const char* name, const NamedOp (&ops)[N], const char* family) {
    return operator_named(field(node, name), ops, family);
  }

  ast::Expr* comparison(const Value& v, Span span) {
    ast::Expr* first = expr(v, "left");
    const std::vector<Value> ops = list(v, "ops");
    const ast::ExprList right = expressions(v, "comparators", Context::Load, false);
    if (right.empty()) refuse("Compare with no comparators");
    if (ops.size() != right.size()) refuse("Compare has a different number of comparators and operands");
    std::vector<ast::CompareStep> steps;
    for (size_t i = 0; i < ops.size(); ++i)
      steps.push_back({static_cast<ast::CompareOp>(operator_named(ops[i], kCompare, "cmpop")), right[i], right[i]->span});
    return make<ast::Compare>(span, first, keep(steps));
  }

  ast::Expr* constant(const Value& v, Span span) {
    const Level level(*this);
    const auto plain = [&](ast::ConstantValue value) { return make<ast::Constant>(span, value); };
    if (v.is_none()) return plain(ast::ConstantValue::kNone);
    if (v.is_bool()) return plain(v.as_bool() ? ast::ConstantValue::kTrue : ast::ConstantValue::kFalse);
    if (v.is(in_.ellipsis)) return plain(ast::ConstantValue::kEllipsis);
    if (v.is_int()) return make<ast::IntLiteral>(span, v.as_int());
    if (lang::is_big_int(v)) {
      const std::string digits = repr_text(in_, v);
      if (digits[0] != '-') return make<ast::BigIntLiteral>(span, tree_.intern(digits));
      return make<ast::Unary>(span, ast::UnaryOp::kNegative,
                              make<ast::BigIntLiteral>(span, tree_.intern(std::string_view(digits).substr(1))));
    }
    if (v.is_float()) return make<ast::FloatLiteral>(span, v.as_float());
    const Type* const type = type_of(in_, v);
    if (type == in_.types.str) return make<ast::StringLiteral>(span, tree_.arena().copy(text_of(v)));
    if (is_bytes(v)) return make<ast::BytesLiteral>(span, tree_.arena().copy(bytes_of(v)));
    if (type == in_.types.complex) {
      const Value real = get_attr(in_, v, intern(in_, "real")), imag = get_attr(in_, v, intern(in_, "imag"));
      ast::Expr* part = make<ast::ImaginaryLiteral>(span, imag.as_float());
      if (real.as_float() == 0 && !std::signbit(real.as_float())) return part;
      std::vector<ast::BinaryStep> step{{ast::BinaryOp::kAdd, part, span, span.end}};
      return make<ast::Binary>(span, make<ast::FloatLiteral>(span, real.as_float()), keep(step));
    }
    if (type == in_.types.tuple) {
      std::vector<ast::Expr*> elements;
      for (const Value& item : *as_tuple(v)) elements.push_back(constant(item, span));
      return make<ast::Tuple>(span, keep(elements));
    }
    throw_error(ErrorKind::TypeError, "got an invalid type in Constant: %s", std::string(type_name(in_, v)).c_str());
  }

  ast::Expr* dict(const Value& v, Span span) {
    const std::vector<Value> keys = list(v, "keys"), values = list(v, "values");
    if (keys.size() != values.size()) refuse("Dict doesn't have the same number of keys as values");
    std::vector<ast::DictItem> items;
    for (size_t i = 0; i < keys.size(); ++i) {
      ast::Expr* key = keys[i].is_none() ? nullptr : expression(keys[i], Context::Load, false);
      if (values[i].is_none()) refuse("None disallowed in expression list");
      items.push_back({key, expression(values[i], Context::Load, false)});
    }
    return make<ast::Dict>(span, keep(items));
  }

  ast::FStringPart formatted(const Value& v, Span span) {
    ast::FStringPart part;
    part.value = expr(v, "value");
    const int64_t conversion = number(v, "conversion");
    if (conversion != -1 && conversion != 's' && conversion != 'r' && conversion != 'a')
      throw_error(ErrorKind::SystemError, "Unrecognized conversion character %lld", static_cast<long long>(conversion));
    part.conversion = conversion == -1 ? '\0' : static_cast<char>(conversion);
    const Value format = field(v, "format_spec", true);
    if (!format.is_none()) {
      if (class_of(format) == "JoinedStr") {
        part.format = static_cast<ast::FString*>(joined(format, span));
      } else {
        std::vector<ast::FStringPart> parts(1);
        parts[0].value = expression(format, Context::Load, false);
        parts[0].span = span;
        part.format = make<ast::FString>(span, keep(parts));
      }
    }
    part.span = span;
    return part;
  }

  ast::Expr* joined(const Value& v, Span span) {
    std::vector<ast::FStringPart> parts;
    for (const Value& each : list(v, "values")) {
      const std::string_view kind = class_of(each);
      if (kind == "FormattedValue") {
        parts.push_back(formatted(each, span));
        continue;
      }
      ast::FStringPart part;
      part.span = span;
      const Value text = kind == "Constant" ? field(each, "value") : Value();
      if (is_str(text)) part.text = tree_.arena().copy(text_of(text));
      else part.value = expression(each, Context::Load, false);
      parts.push_back(part);
    }
    return make<ast::FString>(span, keep(parts));
  }

  ast::Expr* comprehension(const Value& v, ast::ComprehensionKind kind, Span span) {
    const bool is_dict = kind == ast::ComprehensionKind::kDict;
    std::vector<ast::ForClause> clauses;
    for (const Value& each : list(v, "generators")) {
      if (class_of(each) != "comprehension")
        throw_error(ErrorKind::TypeError, "expected some sort of comprehension, but got %s", repr_text(in_, each).c_str());
      const bool is_async = number(each, "is_async") != 0;
      ast::Expr* target = expr(each, "target", Context::Store);
      ast::Expr* iterable = expr(each, "iter");
      clauses.push_back({target, iterable, expressions(each, "ifs", Context::Load, false), is_async});
    }
    if (clauses.empty()) refuse("comprehension with no generators");
    ast::Expr* element = expr(v, is_dict ? "key" : "elt");
    return make<ast::Comprehension>(span, kind, element, is_dict ? expr(v, "value") : nullptr, keep(clauses));
  }

  std::span<ast::Keyword> keywords(const Value& v) {
    std::vector<ast::Keyword> made;
    for (const Value& each : list(v, "keywords")) {
      if (class_of(each) != "keyword")
        throw_error(ErrorKind::TypeError, "expected some sort of keyword, but got %s", repr_text(in_, each).c_str());
      const Span span = span_of(each);
      made.push_back({identifier(field(each, "arg", true), span), expr(each, "value"), span});
    }
    return keep(made);
  }

  ast::Parameters arguments(const Value& node) {
    const Value args = field(node, "args");
    if (class_of(args) != "arguments")
      throw_error(ErrorKind::TypeError, "expected some sort of arguments, but got %s", repr_text(in_, args).c_str());
    using Kind = ast::ParameterKind;
    std::vector<ast::Parameter> made;
    const auto add = [&](const Value& arg, Kind kind) {
      if (class_of(arg) != "arg")
        throw_error(ErrorKind::TypeError, "expected some sort of arg, but got %s", repr_text(in_, arg).c_str());
      const Value given = field(arg, "annotation", true);
      ast::Expr* const annotation = given.is_none() ? nullptr : annotation_of(given, kind == Kind::kVarPositional);
      made.push_back({name_of(arg, "arg", span_of(arg)), kind, annotation, nullptr});
    };
    for (const Value& arg : list(args, "posonlyargs")) add(arg, Kind::kPositionalOnly);
    for (const Value& arg : list(args, "args")) add(arg, Kind::kRegular);
    const size_t positional = made.size();
    const Value var_positional = field(args, "vararg", true), var_keyword = field(args, "kwarg", true);
    if (!var_positional.is_none()) add(var_positional, Kind::kVarPositional);
    const std::vector<Value> keyword_only = list(args, "kwonlyargs"), values = list(args, "kw_defaults");
    const size_t first_keyword = made.size();
    for (const Value& arg : keyword_only) add(arg, Kind::kKeywordOnly);
    if (!var_keyword.is_none()) add(var_keyword, Kind::kVarKeyword);
    if (list(args, "defaults").size() > positional) refuse("more positional defaults than args on arguments");
    if (keyword_only.size() != values.size())
      refuse("length of kwonlyargs is not the same as kw_defaults on arguments");
    const ast::ExprList defaults = expressions(args, "defaults", Context::Load, false);
    for (size_t i = 0; i < defaults.size(); ++i) made[positional - defaults.size() + i].default_value = defaults[i];
    for (size_t i = 0; i < values.size(); ++i) {
      if (!values[i].is_none()) made[first_keyword + i].default_value = expression(values[i], Context::Load, false);
    }
    return keep(made);
  }

  // --- statements
  ast::Block block(const Value& node, const char* name, std::string_view owner, bool required = true) {
    std::vector<ast::Stmt*> made;
    for (const Value& each : list(node, name)) {
      if (each.is_none()) refuse("None disallowed in statement list");
      made.push_back(statement(each));
    }
    if (made.empty() && required) refuse("empty " + std::string(name) + " on " + std::string(owner));
    return keep(made);
  }
  ast::Block body(const Value& node) { return block(node, "body", class_of(node)); }
  ast::Block orelse(const Value& node) { return block(node, "orelse", class_of(node), false); }

  ast::ExprList targets(const Value& node, Context wanted) {
    const ast::ExprList made = expressions(node, "targets", wanted, false);
    if (made.empty()) refuse("empty targets on " + std::string(class_of(node)));
    return made;
  }

  // Of an augmented or annotated assignment.
  ast::Expr* single_target(const Value& node) {
    ast::Expr* target = expr(node, "target", Context::Store);
    if (target->kind != ast::ExprKind::kName && target->kind != ast::ExprKind::kAttribute &&
        target->kind != ast::ExprKind::kSubscript)
      syntax_error(target->span, "illegal target for this assignment");
    return target;
  }

  ast::Stmt* statement(const Value& v) {
    const Level level(*this);
    const std::string_view kind = class_of(v);
    const Value* stmt_class = dict_get_text(as_dict(classes_), "stmt");
    if (kind.empty() || !is_instance(in_, v, object_cast<Type>(*stmt_class)))
      throw_error(ErrorKind::TypeError, "expected some sort of stmt, but got %s", repr_text(in_, v).c_str());
    const Span span = span_of(v);
    if (kind == "Expr") return make<ast::ExpressionStmt>(span, expr(v, "value"));
    if (kind == "Assign") {
      const ast::ExprList to = targets(v, Context::Store);
      return make<ast::AssignStmt>(span, to, expr(v, "value"));
    }
    if (kind == "AugAssign") {
      ast::Expr* target = single_target(v);
      const auto op = static_cast<ast::BinaryOp>(operator_of(v, "op", kBinary, "operator"));
      return make<ast::AugmentedAssignStmt>(span, target, op, span, expr(v, "value"));
    }
    if (kind == "AnnAssign") {
      const bool simple = number(v, "simple") != 0;
      if (simple && class_of(field(v, "target")) != "Name")
        throw_error(ErrorKind::TypeError, "AnnAssign with simple non-Name target");
      ast::Expr* target = single_target(v);
      ast::Expr* annotation = annotation_of(field(v, "annotation"), false);
      return make<ast::AnnotatedAssignStmt>(span, target, annotation, optional(v, "value"), simple);
    }
    if (kind == "Delete") return make<ast::DeleteStmt>(span, targets(v, Context::Del));
    if (kind == "Pass") return make<ast::PassStmt>(span);
    if (kind == "Break") return make<ast::BreakStmt>(span);
    if (kind == "Continue") return make<ast::ContinueStmt>(span);
    if (kind == "Return") return make<ast::ReturnStmt>(span, optional(v, "value"));
    if (kind == "Raise") {
      ast::Expr *exception = optional(v, "exc"), *cause = optional(v, "cause");
      if (cause != nullptr && exception == nullptr) refuse("Raise with cause but no exception");
      return make<ast::RaiseStmt>(span, exception, cause);
    }
    if (kind == "Assert") {
      ast::Expr* condition = expr(v, "test");
      return make<ast::AssertStmt>(span, condition, optional(v, "msg"));
    }
    if (kind == "Global") return make<ast::GlobalStmt>(span, names(v, span));
    if (kind == "Nonlocal") return make<ast::NonlocalStmt>(span, names(v, span));
    if (kind == "Import") return make<ast::ImportStmt>(span, aliases(v));
    if (kind == "ImportFrom") {
      ast::Stmt* const made = import_from(v, span);
      const auto& import = *static_cast<ast::ImportFromStmt*>(made);
      text_annotations_ |= import.module.text == "__future__" && std::ranges::any_of(import.names, [](const ast::ImportAlias& alias) { return alias.name.text == "annotations"; });
      return made;
    }
    return compound(v, kind, span);
  }

  // Under from __future__ import annotations the text of the annotation, as a literal.
  ast::Expr* annotation_of(const Value& v, bool stars) {
    ast::Expr* const made = expression(v, Context::Load, stars);
    if (!text_annotations_) return made;
    return constant(call(in_, get_attr(in_, Value(in_.import("_ast_unparse")), intern(in_, "unparse_annotation")), {v}), span_of(v));
  }

  std::span<ast::Identifier> names(const Value& v, Span span) {
    std::vector<ast::Identifier> made;
    for (const Value& name : list(v, "names")) made.push_back(identifier(name, span));
    if (made.empty()) refuse("empty names on " + std::string(class_of(v)));
    return keep(made);
  }

  std::span<ast::ImportAlias> aliases(const Value& v) {
    std::vector<ast::ImportAlias> made;
    for (const Value& each : list(v, "names")) {
      if (class_of(each) != "alias")
        throw_error(ErrorKind::TypeError, "expected some sort of alias, but got %s", repr_text(in_, each).c_str());
      const Span span = span_of(each);
      made.push_back({name_of(each, "name", span), identifier(field(each, "asname", true), span), span});
    }
    if (made.empty()) refuse("empty names on " + std::string(class_of(v)));
    return keep(made);
  }

  ast::Stmt* import_from(const Value& v, Span span) {
    const int64_t dots = number(v, "level", true);
    if (dots < 0) refuse("Negative ImportFrom level");
    const std::span<ast::ImportAlias> imported = aliases(v);
    const bool star = imported.size() == 1 && imported[0].name.text == "*";
    return make<ast::ImportFromStmt>(span, identifier(field(v, "module", true), span), static_cast<uint32_t>(dots), star,
                                     star ? std::span<ast::ImportAlias>{} : imported);
  }

  ast::Stmt* compound(const Value& v, std::string_view kind, Span span) {
    if (kind == "If") {
      ast::Expr* condition = expr(v, "test");
      std::vector<ast::IfArm> arm{{condition, body(v), span}};
      return make<ast::IfStmt>(span, keep(arm), orelse(v));
    }
    if (kind == "While") {
      ast::Expr* condition = expr(v, "test");
      const ast::Block statements = body(v);
      return make<ast::WhileStmt>(span, condition, statements, orelse(v));
    }
    if (kind == "For" || kind == "AsyncFor") {
      ast::Expr* target = expr(v, "target", Context::Store);
      ast::Expr* iterable = expr(v, "iter");
      const ast::Block statements = body(v);
      return make<ast::ForStmt>(span, target, iterable, statements, orelse(v), kind == "AsyncFor");
    }
    if (kind == "With" || kind == "AsyncWith") {
      std::vector<ast::WithItem> items;
      for (const Value& each : list(v, "items")) {
        ast::Expr* context = expr(each, "context_expr");
        const Value target = field(each, "optional_vars", true);
        items.push_back({context, target.is_none() ? nullptr : expression(target, Context::Store, false)});
      }
      if (items.empty()) refuse("empty items on " + std::string(kind));
      return make<ast::WithStmt>(span, keep(items), body(v), kind == "AsyncWith");
    }
    if (kind == "Try" || kind == "TryStar") return try_statement(v, kind, span);
    if (kind == "FunctionDef" || kind == "AsyncFunctionDef") return function(v, span, kind == "AsyncFunctionDef");
    if (kind == "ClassDef") {
      const ast::ExprList decorators = expressions(v, "decorator_list", Context::Load, false);
      const ast::ExprList bases = expressions(v, "bases", Context::Load, true);
      const std::span<ast::Keyword> given = keywords(v);
      const bool outer = std::exchange(yields_, false);
      const ast::Block statements = body(v);
      yields_ = outer;
      return make<ast::ClassStmt>(span, name_of(v, "name", span), bases, given, statements, decorators);
    }
    if (kind == "Match") {
      ast::Expr* subject = expr(v, "subject");
      std::vector<ast::MatchCase> cases;
      for (const Value& each : list(v, "cases")) {
        ast::Pattern* found = pattern(field(each, "pattern"), false);
        ast::Expr* guard = optional(each, "guard");
        cases.push_back({found, guard, body(each), found->span});
      }
      if (cases.empty()) refuse("empty cases on Match");
      return make<ast::MatchStmt>(span, subject, keep(cases));
    }
    throw_error(ErrorKind::TypeError, "expected some sort of stmt, but got %s", repr_text(in_, v).c_str());
  }

  ast::Stmt* function(const Value& v, Span span, bool is_async) {
    const ast::ExprList decorators = expressions(v, "decorator_list", Context::Load, false);
    const ast::Parameters parameters = arguments(v);
    const Value result = field(v, "returns", true);
    ast::Expr* returns = result.is_none() ? nullptr : annotation_of(result, false);
    const bool outer = std::exchange(yields_, false);
    const ast::Block statements = body(v);
    const bool is_generator = std::exchange(yields_, outer);
    ast::Identifier name = name_of(v, "name", {span.begin, span.begin});
    return make<ast::FunctionStmt>(span, name, parameters, returns, statements, decorators, is_generator, is_async);
  }

  ast::Stmt* try_statement(const Value& v, std::string_view kind, Span span) {
    const ast::Block statements = body(v);
    std::vector<ast::ExceptHandler> handlers;
    const std::vector<Value> given = list(v, "handlers");
    for (size_t i = 0; i < given.size(); ++i) {
      if (class_of(given[i]) != "ExceptHandler")
        throw_error(ErrorKind::TypeError, "expected some sort of excepthandler, but got %s", repr_text(in_, given[i]).c_str());
      const Span where = span_of(given[i]);
      ast::Expr* type = optional(given[i], "type");
      const ast::Identifier name = identifier(field(given[i], "name", true), where);
      handlers.push_back({type, name, body(given[i]), where});
    }
    const ast::Block otherwise = orelse(v), finally = block(v, "finalbody", kind, false);
    for (const ast::ExceptHandler& each : handlers) {
      if (each.type != nullptr) continue;
      if (kind == "TryStar") syntax_error(each.span, "expected one or more exception types");
      if (&each != &handlers.back()) syntax_error(each.span, "default 'except:' must be last");
    }
    if (handlers.empty() && finally.empty()) refuse(std::string(kind) + " has neither except handlers nor finalbody");
    if (handlers.empty() && !otherwise.empty()) refuse(std::string(kind) + " has orelse but no except handlers");
    return make<ast::TryStmt>(span, statements, keep(handlers), otherwise, finally, kind == "TryStar");
  }

  // --- patterns
  std::span<ast::Pattern*> patterns(const Value& v, const char* name, bool stars) {
    std::vector<ast::Pattern*> made;
    for (const Value& each : list(v, name)) made.push_back(pattern(each, stars));
    return keep(made);
  }

  ast::Pattern* pattern(const Value& v, bool stars) {
    const Level level(*this);
    const std::string_view kind = class_of(v);
    const Span span = kind.empty() ? Span{} : span_of(v);
    if (kind == "MatchValue") return make<ast::ValuePattern>(span, pattern_value(field(v, "value")));
    if (kind == "MatchSingleton") {
      const Value value = field(v, "value");
      if (!value.is_none() && !value.is_bool())
        refuse("MatchSingleton can only contain True, False and None");
      return make<ast::SingletonPattern>(span, value.is_none()   ? ast::ConstantValue::kNone
                                               : value.as_bool() ? ast::ConstantValue::kTrue
                                                                 : ast::ConstantValue::kFalse);
    }
    if (kind == "MatchSequence") {
      const auto elements = patterns(v, "patterns", true);
      const auto is_star = [](const ast::Pattern* p) { return p->kind == ast::PatternKind::kStar; };
      if (std::count_if(elements.begin(), elements.end(), is_star) > 1)
        syntax_error(span, "multiple starred expressions in sequence pattern");
      return make<ast::SequencePattern>(span, elements);
    }
    if (kind == "MatchStar") {
      if (!stars) syntax_error(span, "can't use starred expression here");
      return make<ast::StarPattern>(span, capture(v, "name", span));
    }
    if (kind == "MatchMapping") {
      const std::vector<Value> keys = list(v, "keys");
      const auto values = patterns(v, "patterns", false);
      if (keys.size() != values.size()) refuse("MatchMapping doesn't have the same number of keys as patterns");
      std::vector<ast::MappingPatternItem> items;
      for (size_t i = 0; i < keys.size(); ++i) items.push_back({pattern_value(keys[i]), values[i]});
      return make<ast::MappingPattern>(span, keep(items), capture(v, "rest", span));
    }
    if (kind == "MatchClass") {
      ast::Expr* type = expr(v, "cls");
      const auto arguments = patterns(v, "patterns", false), values = patterns(v, "kwd_patterns", false);
      const std::vector<Value> given = list(v, "kwd_attrs");
      if (given.size() != values.size())
        refuse("MatchClass doesn't have the same number of keyword attributes as patterns");
      std::vector<ast::KeywordPattern> named;
      for (size_t i = 0; i < given.size(); ++i) named.push_back({identifier(given[i], span), values[i]});
      return make<ast::InstancePattern>(span, type, arguments, keep(named));
    }
    if (kind == "MatchAs") {
      const Value inner = field(v, "pattern", true);
      const ast::Identifier name = capture(v, "name", span);
      if (name.empty() && !inner.is_none()) refuse("MatchAs must specify a target name if a pattern is given");
      return make<ast::CapturePattern>(span, inner.is_none() ? nullptr : pattern(inner, false), name);
    }
    if (kind == "MatchOr") {
      const auto alternatives = patterns(v, "patterns", false);
      if (alternatives.size() < 2) refuse("MatchOr requires at least 2 patterns");
      return make<ast::OrPattern>(span, alternatives);
    }
    throw_error(ErrorKind::TypeError, "expected some sort of pattern, but got %s", repr_text(in_, v).c_str());
  }

  ast::Identifier capture(const Value& v, const char* name, Span span) {
    const ast::Identifier found = identifier(field(v, name, true), span);
    if (found.text == "_") refuse("can't capture name '_' in patterns");
    return found;
  }

  ast::Expr* pattern_value(const Value& v) {
    ast::Expr* made = expression(v, Context::Load, false);
    const std::string_view kind = class_of(v);
    if (kind != "Constant" && kind != "Attribute" && kind != "UnaryOp" && kind != "BinOp" && kind != "JoinedStr")
      refuse("patterns may only match literals and attribute lookups");
    return made;
  }

  [[noreturn]] static void syntax_error(Span span, std::string message) { throw lang::CompileError{span, std::move(message)}; }

  Interpreter& in_;
  ast::Tree& tree_;
  const Value& shapes_;
  const Value& classes_;
  Lines lines_;
  int depth_ = 0;
  bool yields_ = false;  // the function that is being read has a yield
  bool text_annotations_;
};

}  // namespace

Value compile_objects(Interpreter& in, const Value& root, const std::string& name, lang::CompileOptions options,
                      const Value& shapes, const Value& classes) {
  lang::BookedGrowth growth(in);
  ast::Tree tree(&growth);
  Reader reader(in, tree, shapes, classes, options.text_annotations);
  options.annotations_written = true;
  reader.measure(root);
  const auto source = std::make_shared<Source>(name, reader.blank_text());
  source->set_unlisted();
  try {
    reader.read(root);
    check_placement(tree);
    return Value::adopt(compile_tree(in, source, tree, options));
  } catch (const lang::CompileError& error) {
    throw_syntax_error(in, *source, lang::make_syntax_error(*source, error.span, error.message));
  } catch (const lang::Refusal& refusal) {
    throw_syntax_error(in, *source, lang::make_syntax_error(*source, refusal.span, refusal.message, refusal.error_class));
  }
}

}  // namespace tessera::stdlib

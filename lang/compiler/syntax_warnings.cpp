// compile: small (once for a source, beside parsing it)
#include "lang/compiler/syntax_warnings.h"

#include <algorithm>

#include "lang/compiler/resolve.h"
#include "lang/core/error.h"
#include "lang/core/interpreter.h"
#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/objects/module.h"
#include "lang/syntax/children.h"
#include "lang/syntax/syntax_error.h"
#include "lang/types/str.h"

namespace tessera::lang {
namespace {

using namespace ast;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_octal(char c) { return c >= '0' && c <= '7'; }

bool is_number(const Expr& e) {
  return e.kind == ExprKind::kIntLiteral || e.kind == ExprKind::kBigIntLiteral || e.kind == ExprKind::kFloatLiteral ||
         e.kind == ExprKind::kImaginaryLiteral;
}

bool is_literal(const Expr& e) { return is_number(e) || e.kind == ExprKind::kStringLiteral || e.kind == ExprKind::kBytesLiteral; }

// What CPython has folded into a constant when it looks for literals.
bool is_folded(const Expr& e) {
  if (is_literal(e) || e.kind == ExprKind::kConstant) return true;
  if (e.kind == ExprKind::kUnary) return is_folded(*as<Unary>(e).operand);
  if (e.kind != ExprKind::kTuple) return false;
  const ExprList& elements = as<ast::Tuple>(e).elements;
  return std::all_of(elements.begin(), elements.end(), [](const Expr* each) { return is_folded(*each); });
}

// An operand whose identity says nothing. None, True, False and ... are single objects.
bool has_chance_identity(const Expr& e) { return e.kind != ExprKind::kConstant && is_folded(e); }

const char* constant_type(const Constant& e) {
  switch (e.value) {
    case ConstantValue::kNone: return "NoneType";
    case ConstantValue::kEllipsis: return "ellipsis";
    default: return "bool";
  }
}

const char* comprehension_type(const Comprehension& e) {
  switch (e.result) {
    case ComprehensionKind::kList: return "list";
    case ComprehensionKind::kSet: return "set";
    case ComprehensionKind::kDict: return "dict";
    default: return "generator";
  }
}

// The name of the type of what an expression gives, or null where it is not known.
const char* known_type(const Expr& e) {
  switch (e.kind) {
    case ExprKind::kTuple: return "tuple";
    case ExprKind::kList: return "list";
    case ExprKind::kDict: return "dict";
    case ExprKind::kSet: return "set";
    case ExprKind::kLambda: return "function";
    case ExprKind::kFString:
    case ExprKind::kStringLiteral: return "str";
    case ExprKind::kBytesLiteral: return "bytes";
    case ExprKind::kIntLiteral:
    case ExprKind::kBigIntLiteral: return "int";
    case ExprKind::kFloatLiteral: return "float";
    case ExprKind::kImaginaryLiteral: return "complex";
    case ExprKind::kConstant: return constant_type(as<Constant>(e));
    case ExprKind::kComprehension: return comprehension_type(as<Comprehension>(e));
    default: return nullptr;
  }
}

class Finder {
 public:
  explicit Finder(const Source& source) : source_(source) {}

  void block(Block body) {
    for (Stmt* statement : body) {
      if (const auto* assertion = try_as<AssertStmt>(statement)) assert_statement(*assertion);
      each_expression(*statement, [this](Expr& e) { expression(e); });
      each_block(*statement, [this](Block inner) { block(inner); });
    }
  }

  void expression(Expr& e) {
    switch (e.kind) {
      case ExprKind::kStringLiteral:
      case ExprKind::kBytesLiteral:
      case ExprKind::kFString: strings(e.span); break;
      case ExprKind::kCompare: compare(as<Compare>(e)); break;
      case ExprKind::kCall: call(as<Call>(e)); break;
      case ExprKind::kSubscript: subscript(as<Subscript>(e)); break;
      default:
        if (is_number(e)) number(e.span);
    }
    each_expression(e, [this](Expr& part) { expression(part); });
  }

  // Those of the tokens come first: CPython tells them while it parses.
  std::vector<SyntaxWarningAt> take() {
    std::stable_sort(of_tokens_.begin(), of_tokens_.end(),
                     [](const auto& a, const auto& b) { return a.span.begin < b.span.begin; });
    // The format of a replacement field lies in the literal of its f-string, which has been looked at.
    const auto same = [](const auto& a, const auto& b) { return a.span.begin == b.span.begin; };
    of_tokens_.erase(std::unique(of_tokens_.begin(), of_tokens_.end(), same), of_tokens_.end());
    of_tokens_.insert(of_tokens_.end(), of_tree_.begin(), of_tree_.end());
    return std::move(of_tokens_);
  }

 private:
  void tell(Span span, std::string message) { of_tree_.push_back({span, std::move(message), false}); }

  void assert_statement(const AssertStmt& s) {
    const auto* const tuple = try_as<ast::Tuple>(s.condition);
    if (tuple != nullptr && !tuple->elements.empty()) tell(s.span, "assertion is always true, perhaps remove parentheses?");
  }

  void compare(const Compare& e) {
    const Expr* left = e.first;
    for (const CompareStep& step : e.steps) {
      const bool is = step.op == ast::CompareOp::kIs, is_not = step.op == ast::CompareOp::kIsNot;
      if ((is || is_not) && (has_chance_identity(*left) || has_chance_identity(*step.right))) {
        tell(e.span, is ? "\"is\" with a literal. Did you mean \"==\"?" : "\"is not\" with a literal. Did you mean \"!=\"?");
        return;
      }
      left = step.right;
    }
  }

  void call(const Call& e) {
    const char* const type = known_type(*e.callee);
    if (type != nullptr && e.callee->kind != ExprKind::kLambda)
      tell(e.span, std::string("'") + type + "' object is not callable; perhaps you missed a comma?");
  }

  void subscript(const Subscript& e) {
    const char* const type = known_type(*e.object);
    if (type == nullptr) return;
    const std::string_view name(type);
    if (name == "dict") return;
    if (name != "list" && name != "tuple" && name != "str" && name != "bytes")
      return tell(e.span, "'" + std::string(name) + "' object is not subscriptable; perhaps you missed a comma?");
    const char* const index = known_type(*e.index);
    if (index == nullptr || std::string_view(index) == "int" || std::string_view(index) == "bool") return;
    tell(e.span, std::string(name) + " indices must be integers or slices, not " + index + "; perhaps you missed a comma?");
  }

  // A number that a keyword follows at once: 1if x else y.
  void number(Span span) {
    const std::string_view text = source_.text();
    if (span.end >= text.size() || !is_letter(text[span.end])) return;
    const std::string_view digits = source_.text(span);
    const char base = digits.size() > 1 && digits[0] == '0' ? static_cast<char>(digits[1] | 0x20) : '0';
    const char* kind = base == 'x' ? "hexadecimal" : base == 'o' ? "octal" : base == 'b' ? "binary" : "decimal";
    if ((digits.back() | 0x20) == 'j') kind = "imaginary";
    of_tokens_.push_back({span, std::string("invalid ") + kind + " literal", false});
  }

  // The literals that stand beside each other, with what is between them.
  void strings(Span span) {
    const std::string_view text = source_.text();
    if (source_.text(span).find('\\') == std::string_view::npos) return;
    for (uint32_t at = span.begin; at < span.end;) {
      if (text[at] == '#') {
        while (at < span.end && text[at] != '\n') ++at;
      } else if (text[at] == '"' || text[at] == '\'' || is_letter(text[at])) {
        at = one_string(at, span.end);
      } else {
        ++at;
      }
    }
  }

  // Returns the place behind the literal. One warning tells of the first escape sequence that means nothing.
  uint32_t one_string(uint32_t begin, uint32_t end) {
    const std::string_view text = source_.text();
    uint32_t at = begin;
    bool raw = false, bytes = false;
    for (; at < end && is_letter(text[at]); ++at) {
      raw |= (text[at] | 0x20) == 'r';
      bytes |= (text[at] | 0x20) == 'b';
    }
    if (at >= end) return end;
    const char quote = text[at];
    const bool triple = text.substr(at, 3) == std::string(3, quote);
    const std::string closing(triple ? 3 : 1, quote);
    at += static_cast<uint32_t>(closing.size());
    std::string message;
    while (at < end && text.substr(at, closing.size()) != closing) {
      if (text[at] != '\\' || at + 1 >= end) {
        ++at;
        continue;
      }
      if (!raw && message.empty()) message = escape_fault(text.substr(at + 1), bytes);
      at += 2;
    }
    at = std::min<uint32_t>(end, at + static_cast<uint32_t>(closing.size()));
    if (!message.empty()) of_tokens_.push_back({{begin, at}, std::move(message), true});
    return at;
  }

  // Of what follows a backslash; empty: it means something.
  static std::string escape_fault(std::string_view rest, bool bytes) {
    constexpr std::string_view kKnown = "\n\\'\"abfnrtvx01234567", kOfText = "NuU";
    const char c = rest[0];
    if (c >= '4' && c <= '7' && rest.size() > 2 && is_octal(rest[1]) && is_octal(rest[2]))
      return "invalid octal escape sequence '\\" + std::string(rest.substr(0, 3)) + "'";
    if (kKnown.find(c) != kKnown.npos || (!bytes && kOfText.find(c) != kOfText.npos) || (c & 0x80) != 0) return "";
    return std::string("invalid escape sequence '\\") + c + "'";
  }

  const Source& source_;
  std::vector<SyntaxWarningAt> of_tokens_, of_tree_;
};

}  // namespace

std::vector<SyntaxWarningAt> find_syntax_warnings(const Source& source, const ast::Tree& tree) {
  Finder finder(source);
  finder.block(tree.body);
  if (tree.expression != nullptr) finder.expression(*tree.expression);
  return finder.take();
}

void tell_syntax_warnings(Interpreter& in, const Source& source, const std::vector<SyntaxWarningAt>& warnings) {
  if (warnings.empty()) return;
  const Value module(in.import("warnings"));
  const Value tell = get_attr(in, module, intern(in, "warn_explicit"));
  for (const SyntaxWarningAt& each : warnings) {
    const ErrorKind kind = each.is_deprecation ? ErrorKind::DeprecationWarning : ErrorKind::SyntaxWarning;
    try {
      call(in, tell, {make_str_lossy(in, each.message), Value(error_type(in, kind)), make_str_lossy(in, source.name()),
                      Value::integer(source.line_number(each.span.begin))});
    } catch (const std::exception&) {
      if (!is_error(in, current_native_exception(in), kind)) throw;
      throw CompileError(each.span, each.message);
    }
  }
}

}  // namespace tessera::lang

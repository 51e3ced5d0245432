#include "embed/host_signature.h"
// compile: small (a signature is read once)

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "embed/handles.h"
#include "lang/builtins/builtins.h"
#include "lang/core/bind.h"
#include "lang/core/make_object.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/objects/class.h"
#include "lang/objects/exception_types.h"
#include "lang/objects/module.h"
#include "lang/syntax/parse.h"
#include "lang/types/dict.h"
#include "lang/types/types.h"

namespace tessera::embed {

namespace ast = lang::ast;
using lang::Span;

namespace {

constexpr std::string_view kBefore = "def ", kBehind = ": ...";

// The signature, and below it what is wrong underlined.
[[noreturn]] void refuse(std::string message, std::string_view signature, size_t begin, size_t end) {
  begin = std::min(begin, signature.size());
  end = std::clamp(end, begin, signature.size());
  message += "\n    " + std::string(signature) + "\n    ";
  message += std::string(lang::count_characters(signature.substr(0, begin)), ' ');
  message += std::string(std::max<size_t>(1, lang::count_characters(signature.substr(begin, end - begin))), '^');
  throw UsageError{std::move(message)};
}

// One line, for the sake of the underlining; a line's end in a signature means no more than a blank.
std::string one_line(const char* text) {
  std::string line = text;
  for (char& c : line)
    if (c == '\n' || c == '\t' || c == '\r') c = ' ';
  while (!line.empty() && line.back() == ' ') line.pop_back();
  line.erase(0, line.find_first_not_of(' '));
  return line;
}

// Where the first `wanted` stands outside of brackets and quotes, from `at` on; npos: nowhere.
size_t find_outside(std::string_view text, size_t at, char wanted) {
  int depth = 0;
  char quoted = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted != 0) {
      if (c == '\\') ++at;
      else if (c == quoted) quoted = 0;
    } else if (c == wanted && depth == 0) {
      return at;
    } else if (c == '\'' || c == '"') {
      quoted = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    }
  }
  return text.npos;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// The alternatives of an annotation without what stands in their brackets: "list[int] | None" is {"list", "None"}.
std::vector<std::string> alternatives(std::string_view annotation) {
  std::vector<std::string> found;
  for (size_t begin = 0; begin < annotation.size();) {
    const size_t bar = std::min(find_outside(annotation, begin, '|'), annotation.size());
    const std::string_view one = trimmed(annotation.substr(begin, bar - begin));
    found.emplace_back(trimmed(one.substr(0, one.find('['))));
    begin = bar + 1;
  }
  return found;
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_any(std::string_view name) {  // also a type in quotes, of which nothing is known
  return name.empty() || name == "object" || name == "Any" || name[0] == '\'' || name[0] == '"';
}

bool is_abstract(std::string_view name) {
  return is_one_of(name, {"Callable", "Iterable", "Iterator", "Sequence", "Mapping"});
}

lang::Type* host_class(const tsr_interpreter* shell, std::string_view name) {
  for (const auto& [tag, type] : shell->host_classes)
    if (lang::as_type(type)->name->view() == name) return lang::as_type(type);
  return nullptr;
}

bool is_type_name(tsr_interpreter* shell, std::string_view name) {
  lang::Interpreter& in = *shell->in;
  if (is_any(name) || is_abstract(name) || name == "callable" || host_class(shell, name) != nullptr) return true;
  lang::Str* const interned = lang::intern(in, name);
  const lang::Value* found = lang::find_builtin(in, interned);
  if (found == nullptr) found = lang::dict_get_str(in.main_module()->dict, interned);
  if (found != nullptr && lang::is_type(*found)) return true;
  if (in.named_type(name) != nullptr || !lang::late_exception(in, name).is_undefined()) return true;
  if (in.extension != nullptr) return false;
  need_torch(shell);  // it may be one of the tensor library's
  return in.named_type(name) != nullptr;
}

// May a value of type `given` come where `wanted` is said? Both are alternatives of annotations.
bool fits(tsr_interpreter* shell, std::string_view wanted, std::string_view given) {
  if (is_any(wanted) || is_any(given) || wanted == given) return true;
  if (wanted == "float") return is_one_of(given, {"int", "bool"});
  if (wanted == "int") return given == "bool";
  if (wanted == "complex") return is_one_of(given, {"float", "int", "bool"});
  if (is_one_of(wanted, {"callable", "Callable"}))
    return !is_one_of(given, {"None", "bool", "int", "float", "complex", "str", "bytes", "list", "tuple", "dict", "set",
                              "Tensor", "Iterable", "Iterator", "Sequence", "Mapping"});
  if (wanted == "Mapping") return given == "dict";
  if (wanted == "Sequence") return is_one_of(given, {"list", "tuple", "str", "bytes", "Tensor"});
  if (wanted == "Iterable") return is_one_of(given, {"list", "tuple", "str", "bytes", "set", "dict", "Tensor"});
  if (wanted == "Tensor") return is_one_of(given, {"Parameter", "Buffer"});
  const lang::Type* const base = host_class(shell, wanted);
  const lang::Type* const derived = host_class(shell, given);
  return base != nullptr && derived != nullptr && derived->is_subtype_of(base);
}

// What the host's function takes goes further: it converts.
bool takes(tsr_interpreter* shell, std::string_view host, std::string_view given) {
  if (host == "bool" || fits(shell, host, given)) return true;
  const bool scalar = is_one_of(given, {"None", "bool", "int", "float", "complex", "callable", "Callable"});
  if (is_one_of(host, {"list", "tuple", "set"})) return !scalar && host_class(shell, given) == nullptr;
  if (host == "dict") return given == "Mapping";
  const lang::Type* const wanted = host_class(shell, host);  // of a base may be what is wanted
  const lang::Type* const type = host_class(shell, given);
  return wanted != nullptr && type != nullptr && wanted->is_subtype_of(type);
}

// Looks at one signature's tree.
class Reader {
 public:
  Reader(tsr_interpreter* shell, std::string_view text) : shell_(shell), text_(text) {}

  void read(bool method) {
    check_ends();
    const auto source =
        std::make_shared<lang::Source>("<signature>", std::string(kBefore) + std::string(text_) + std::string(kBehind));
    const lang::ParseResult parsed = lang::parse(*source);
    if (!parsed) refuse_at(parsed.error->message, parsed.error->span);
    const auto* const function =
        parsed.tree->body.size() == 1 ? ast::try_as<ast::FunctionStmt>(parsed.tree->body[0]) : nullptr;
    if (function == nullptr) refuse("no signature", text_, 0, text_.size());
    const ast::Parameters parameters = function->parameters;
    const bool has_self = !parameters.empty() && parameters[0].kind <= ast::ParameterKind::kRegular &&
                          parameters[0].default_value == nullptr;
    if (method && !has_self) refuse("a method's first parameter is self", text_, text_.find('('), text_.size());
    for (const ast::Parameter& parameter : parameters) read(parameter);
    if (function->returns != nullptr) read_type(*function->returns);
  }

 private:
  [[noreturn]] void refuse_at(const std::string& message, Span span) const {
    const size_t before = kBefore.size();
    refuse(message, text_, span.begin < before ? 0 : span.begin - before, span.end < before ? 0 : span.end - before);
  }

  std::string_view written(Span span) const { return text_.substr(span.begin - kBefore.size(), span.end - span.begin); }

  void check_ends() const {
    const size_t open = text_.find('(');
    if (open == text_.npos) refuse("a signature names its parameters: f() or f(x)", text_, text_.size(), text_.size());
    static constexpr const char* kBetween = "a signature is what stands between 'def' and ':'";
    if (text_.starts_with("def ")) refuse(kBetween, text_, 0, 3);
    const size_t close = find_outside(text_, open + 1, ')');
    if (close == text_.npos) return;  // the parser says it better
    const size_t rest = text_.find_first_not_of(' ', close + 1);
    if (rest != text_.npos && text_.substr(rest, 2) != "->") refuse(kBetween, text_, rest, text_.size());
    const size_t colon = find_outside(text_, close + 1, ':');
    if (colon != text_.npos) refuse(kBetween, text_, colon, text_.size());
  }

  void read(const ast::Parameter& parameter) const {
    if (parameter.annotation != nullptr) read_type(*parameter.annotation);
    if (parameter.default_value == nullptr) return;
    const std::string_view kind = literal(*parameter.default_value);
    if (parameter.annotation == nullptr || kind == "None" || kind.empty()) return;
    const std::vector<std::string> types = alternatives(written(parameter.annotation->span));
    const bool fine = std::any_of(types.begin(), types.end(),
                                  [&](const std::string& type) { return type == "bool" || fits(shell_, type, kind); });
    if (!fine)
      refuse_at("the default of '" + std::string(parameter.name.text) + "' is no " +
                    std::string(written(parameter.annotation->span)),
                parameter.default_value->span);
  }

  void read_type(const ast::Expr& type) const {
    if (const auto* name = ast::try_as<ast::Name>(&type)) {
      if (!is_type_name(shell_, name->name)) refuse_at("there is no type '" + std::string(name->name) + "'", type.span);
    } else if (const auto* binary = ast::try_as<ast::Binary>(&type)) {
      read_type(*binary->first);
      for (const ast::BinaryStep& step : binary->steps) {
        if (step.op != ast::BinaryOp::kBitOr) refuse_at("an annotation is a type", type.span);
        read_type(*step.right);
      }
    } else if (const auto* subscript = ast::try_as<ast::Subscript>(&type)) {
      if (!ast::is<ast::Name>(*subscript->object)) refuse_at("an annotation is a type", type.span);
      read_type(*subscript->object);
      read_types(*subscript->index);
    } else if (const auto* constant = ast::try_as<ast::Constant>(&type)) {
      if (constant->value != ast::ConstantValue::kNone) refuse_at("an annotation is a type", type.span);
    } else if (!ast::is<ast::StringLiteral>(type)) {  // in quotes: a class that is yet to come
      refuse_at(ast::is<ast::Attribute>(type) ? "a type is named without its module" : "an annotation is a type",
                type.span);
    }
  }

  // What stands in brackets: list[int], tuple[int, ...], Callable[[int], str].
  void read_types(const ast::Expr& index) const {
    const auto* constant = ast::try_as<ast::Constant>(&index);
    if (constant != nullptr && constant->value == ast::ConstantValue::kEllipsis) return;
    const auto* tuple = ast::try_as<ast::Tuple>(&index);
    const auto* list = ast::try_as<ast::List>(&index);
    if (tuple == nullptr && list == nullptr) return read_type(index);
    for (const ast::Expr* element : tuple != nullptr ? tuple->elements : list->elements) read_types(*element);
  }

  // The type of a literal; "" of `...`, which says that there is a default and not which.
  std::string_view literal(const ast::Expr& value, bool outermost = true) const {
    const auto all = [&](ast::ExprList elements) {
      for (const ast::Expr* element : elements) literal(*element, false);
    };
    if (const auto* constant = ast::try_as<ast::Constant>(&value)) {
      if (constant->value == ast::ConstantValue::kNone) return "None";
      if (constant->value != ast::ConstantValue::kEllipsis) return "bool";
      if (outermost) return "";
    }
    if (ast::is<ast::IntLiteral>(value)) return "int";
    if (ast::is<ast::FloatLiteral>(value)) return "float";
    if (ast::is<ast::ImaginaryLiteral>(value)) return "complex";
    if (ast::is<ast::StringLiteral>(value)) return "str";
    if (ast::is<ast::BytesLiteral>(value)) return "bytes";
    if (const auto* name = ast::try_as<ast::Name>(&value)) {
      if (is_one_of(name->name, {"inf", "nan"})) return "float";
    }
    if (const auto* unary = ast::try_as<ast::Unary>(&value)) {
      const std::string_view kind = literal(*unary->operand, false);
      if (unary->op <= ast::UnaryOp::kPositive && is_one_of(kind, {"int", "float", "complex"})) return kind;
    }
    if (const auto* tuple = ast::try_as<ast::Tuple>(&value)) return all(tuple->elements), "tuple";
    if (const auto* list = ast::try_as<ast::List>(&value)) return all(list->elements), "list";
    if (const auto* set = ast::try_as<ast::Set>(&value)) return all(set->elements), "set";
    if (const auto* dict = ast::try_as<ast::Dict>(&value)) {
      for (const ast::DictItem& item : dict->items) {
        if (item.key == nullptr) refuse_at("a default is a literal", item.value->span);
        literal(*item.key, false), literal(*item.value, false);
      }
      return "dict";
    }
    refuse_at("a default is a literal", value.span);
  }

  tsr_interpreter* shell_;
  std::string_view text_;
};

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " | ") + name;
  return text;
}

}  // namespace

const lang::Signature* host_signature(tsr_interpreter* shell, const char* given, bool method) {
  if (given == nullptr) throw UsageError{"a signature that is NULL"};
  std::string text = one_line(given);
  const auto known = shell->signatures.find((method ? "." : "") + text);
  if (known != shell->signatures.end()) return known->second;
  Reader(shell, text).read(method);
  lang::Interpreter& in = *shell->in;
  const lang::Signature* const read = &in.shared->signatures.emplace_back(lang::parse_signature(in, text));
  shell->signatures.emplace((method ? "." : "") + text, read);
  return read;
}

void check_types(tsr_interpreter* shell, const lang::Signature& signature, const char* const* types, size_t count) {
  using Kind = lang::Parameter::Kind;
  if (count != signature.parameters.size() + 1)
    throw UsageError{"the signature '" + signature.text + "' names " + std::to_string(signature.parameters.size()) +
                     " parameters, the function has " + std::to_string(count == 0 ? 0 : count - 1)};
  for (size_t i = 0; i + 1 < count; ++i) {
    const lang::Parameter& parameter = signature.parameters[i];
    const std::vector<std::string> host = alternatives(types[i + 1]);
    std::vector<std::string> given = alternatives(parameter.type_name);
    if (parameter.kind == Kind::VarPositional) given = {"tuple"};
    if (parameter.kind == Kind::VarKeyword) given = {"dict"};
    if (parameter.optional && (parameter.default_value.is_none() || parameter.default_value.is_undefined()))
      given.emplace_back("None");
    else if (given.empty() && parameter.optional)
      given.emplace_back(lang::type_name(*shell->in, parameter.default_value));
    for (const std::string& one : given) {
      const bool taken = host.empty() || std::any_of(host.begin(), host.end(),
                                                     [&](const std::string& type) { return takes(shell, type, one); });
      if (!taken)
        throw UsageError{"the signature '" + signature.text + "' lets " + one + " be given as '" +
                         std::string(parameter.name->view()) + "', the host's function takes " + joined(host)};
    }
  }
  const std::vector<std::string> said = alternatives(signature.result);
  for (const std::string& answered : alternatives(types[0])) {
    const bool fine = said.empty() || std::any_of(said.begin(), said.end(),
                                                  [&](const std::string& type) { return fits(shell, type, answered); });
    if (!fine)
      throw UsageError{"the signature '" + signature.text + "' promises " + signature.result +
                       ", the host's function answers " + joined(alternatives(types[0]))};
  }
}

void check_identifier(const char* what, const std::string& name) {
  const auto source = std::make_shared<lang::Source>("<name>", name);
  const lang::ParseResult parsed = lang::parse(*source, lang::ParseMode::kExpression);
  const auto* const found = parsed ? ast::try_as<ast::Name>(parsed.tree->expression) : nullptr;
  if (found == nullptr || found->name != name) throw UsageError{"'" + name + "' is no name for a " + what};
}

}  // namespace tessera::embed

// Reading schema strings. They are our own, so an error in one is a bug that the registry's test finds.
// compile: small (a schema is read once)
#include "runtime/ops/schema.h"

#include "runtime/error.h"

namespace tessera::tensor {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') at_++;
  }
  bool take(std::string_view token) {
    skip();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) error(token);
  }
  bool done() {
    skip();
    return at_ == text_.size();
  }
  std::string word() {
    skip();
    size_t start = at_;
    while (at_ < text_.size() && (isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) at_++;
    return std::string(text_.substr(start, at_ - start));
  }
  /// A default value: up to the comma or parenthesis that ends the argument.
  std::string value() {
    skip();
    size_t start = at_;
    int depth = 0;
    for (; at_ < text_.size(); at_++) {
      char c = text_[at_];
      if (depth == 0 && (c == ',' || c == ')')) break;
      depth += (c == '[' || c == '(') - (c == ']' || c == ')');
    }
    return std::string(text_.substr(start, at_ - start));
  }
  [[noreturn]] void error(std::string_view expected) const {
    fail(TensorErrorKind::Assertion, "schema '", text_, "': expected '", expected, "' at ", at_);
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

struct KindName {
  const char* name;
  ArgKind single, list;
};
constexpr KindName kKinds[] = {
    {"Tensor", ArgKind::Tensor, ArgKind::TensorList}, {"int", ArgKind::Int, ArgKind::IntList},
    {"SymInt", ArgKind::Int, ArgKind::IntList},       {"float", ArgKind::Float, ArgKind::FloatList},
    {"bool", ArgKind::Bool, ArgKind::BoolList},       {"Scalar", ArgKind::Scalar, ArgKind::FloatList},
    {"ScalarType", ArgKind::DType, ArgKind::DType},   {"Device", ArgKind::Device, ArgKind::Device},
    {"str", ArgKind::String, ArgKind::String},        {"Generator", ArgKind::Generator, ArgKind::Generator},
    {"Layout", ArgKind::Layout, ArgKind::Layout},     {"MemoryFormat", ArgKind::MemoryFormat, ArgKind::MemoryFormat},
    {"Dimname", ArgKind::String, ArgKind::String},
};

void read_type(Reader& r, SchemaArg& arg) {
  std::string word = r.word();
  const KindName* found = nullptr;
  for (const KindName& k : kKinds)
    if (word == k.name) found = &k;
  if (!found) r.error("a type");
  arg.kind = found->single;
  if (r.take("(")) {  // Tensor(a!): aliasing, which we do not need to know
    while (!r.take(")")) {
      if (!r.take("!") && !r.take("->") && !r.take("*") && r.word().empty()) r.error(")");
    }
  }
  bool element_optional = r.take("?");
  if (r.take("[")) {
    std::string size = r.word();
    if (!size.empty()) arg.fixed_size = std::stoi(size);
    r.expect("]");
    arg.kind = element_optional && arg.kind == ArgKind::Tensor ? ArgKind::OptionalTensorList : found->list;
    element_optional = r.take("?");
  }
  arg.optional = element_optional;
}

SchemaArg read_arg(Reader& r, bool keyword_only) {
  SchemaArg arg;
  read_type(r, arg);
  arg.name = r.word();
  arg.keyword_only = keyword_only;
  if (r.take("=")) {
    arg.has_default = true;
    arg.default_text = r.value();
  }
  return arg;
}

}  // namespace

int OpSchema::find(std::string_view arg) const {
  for (size_t i = 0; i < args.size(); i++)
    if (args[i].name == arg) return int(i);
  return -1;
}

OpSchema parse_schema(std::string_view source) {
  Reader r(source);
  OpSchema schema;
  schema.name = r.word();
  if (r.take(".")) schema.overload = r.word();
  r.expect("(");
  bool keyword_only = false;
  if (!r.take(")")) {
    do {
      if (r.take("*")) keyword_only = true;
      else schema.args.push_back(read_arg(r, keyword_only));
    } while (r.take(","));
    r.expect(")");
  }
  r.expect("->");
  if (r.take("(")) {
    if (!r.take(")")) {
      do schema.results.push_back(read_arg(r, false));
      while (r.take(","));
      r.expect(")");
    }
  } else {
    schema.results.push_back(read_arg(r, false));
  }
  if (!r.done()) r.error("the end");
  for (const SchemaArg& a : schema.args) {
    schema.positional += !a.keyword_only;
    schema.required += !a.has_default;
  }
  return schema;
}

}  // namespace tessera::tensor

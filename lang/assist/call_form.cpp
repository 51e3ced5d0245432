// compile: small (runs once for a key that is pressed)
#include "lang/assist/call_form.h"

#include "lang/assist/complete.h"
#include "lang/compiler/chunk.h"
#include "lang/core/bind.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/class.h"
#include "lang/types/dict.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"

namespace tessera::lang {
namespace {

// A default as it is written; what would need a __repr__ of a script's is "...".
std::string default_text(Interpreter& in, const Value& value) {
  if (!value.is_object() || is_str(value)) return repr_text(in, value);
  if (value.as_object()->type == in.types.tuple) {
    const Tuple* const tuple = as_tuple(value);
    std::string text = "(";
    for (size_t i = 0; i < tuple->size; ++i) text += (i == 0 ? "" : ", ") + default_text(in, tuple->items[i]);
    return text + (tuple->size == 1 ? ",)" : ")");
  }
  if (is_type(value)) return std::string(as_type(value)->name->view());
  return value.as_object()->kind == ObjectKind::Native ? repr_text(in, value) : "...";
}

// Puts parameters one behind the other, with "/" and "*" where they belong.
class FormWriter {
 public:
  explicit FormWriter(std::string_view name) { form_.text = std::string(name) + "("; }

  void add(std::string_view name, bool positional, bool keyword, std::string_view stars, const std::string& value) {
    if (was_only_ && keyword) mark("/");
    was_only_ = !keyword && stars.empty();
    if (!positional && stars.empty() && !star_) mark("*");
    if (!positional || stars == "*") star_ = true;
    separate();
    CallForm::Parameter parameter{std::string(name), form_.text.size(), 0, positional, keyword, !stars.empty()};
    form_.text += std::string(stars) + std::string(name) + (value.empty() ? "" : "=" + value);
    parameter.end = form_.text.size();
    form_.parameters.push_back(std::move(parameter));
  }
  CallForm finish() {
    if (was_only_) mark("/");
    form_.text += ")";
    return std::move(form_);
  }

 private:
  void separate() {
    if (form_.text.back() != '(') form_.text += ", ";
  }
  void mark(const char* what) {
    separate();
    form_.text += what;
    if (*what == '*') star_ = true;
    was_only_ = false;
  }

  CallForm form_;
  bool star_ = false, was_only_ = false;
};

CallForm form_of_function(Interpreter& in, const Function& function, std::string_view name, bool bound) {
  const Code& code = *function.code;
  FormWriter writer(name);
  const Tuple* const defaults = is_tuple(function.defaults) ? as_tuple(function.defaults) : nullptr;
  const size_t without = code.positional - (defaults == nullptr ? 0 : defaults->size);
  size_t i = bound && code.positional > 0 ? 1 : 0;
  for (; i < code.positional; ++i)
    writer.add(code.parameters[i]->view(), true, i >= code.positional_only, "",
               i < without ? "" : default_text(in, defaults->items[i - without]));
  const size_t rest = code.positional + code.keyword_only;
  const bool starred = (code.code_flags & kVarArgs) != 0;
  if (starred) writer.add(code.parameters[rest]->view(), false, false, "*", "");
  for (; i < rest; ++i) {
    const Value* value = is_dict(function.keyword_defaults)
                             ? dict_get_str(as_dict(function.keyword_defaults), code.parameters[i])
                             : nullptr;
    writer.add(code.parameters[i]->view(), false, true, "", value == nullptr ? "" : default_text(in, *value));
  }
  if (code.code_flags & kVarKeywords) writer.add(code.parameters[rest + starred]->view(), false, false, "**", "");
  return writer.finish();
}

CallForm form_of_signature(Interpreter& in, const Signature& signature, std::string_view name, bool bound) {
  FormWriter writer(name);
  using Kind = Parameter::Kind;
  for (size_t i = bound ? 1 : 0; i < signature.parameters.size(); ++i) {
    const Parameter& p = signature.parameters[i];
    const bool starred = p.kind == Kind::VarPositional || p.kind == Kind::VarKeyword;
    const std::string value = !p.optional || starred           ? ""
                              : p.default_value.is_undefined() ? "..."
                                                               : default_text(in, p.default_value);
    writer.add(p.name->view(), p.kind == Kind::PositionalOnly || p.kind == Kind::Positional,
               p.kind == Kind::Positional || p.kind == Kind::KeywordOnly,
               p.kind == Kind::VarPositional ? "*"
               : p.kind == Kind::VarKeyword  ? "**"
                                             : "",
               value);
  }
  return writer.finish();
}

Value call_of(Interpreter& in, Type* type) {
  // A layer is called as its forward().
  const Value forward = type_lookup(type, intern(in, "forward"));
  if (is_function(forward)) return forward;
  return type_lookup(type, in.names->call);
}

}  // namespace

CallForm form_of_schema(std::string_view schema, std::string_view name, bool bound) {
  FormWriter writer(name);
  const size_t open = schema.find('('), close = schema.rfind(") ->");
  if (open == schema.npos || close == schema.npos) return writer.finish();
  std::string_view list = schema.substr(open + 1, close - open - 1);
  bool positional = true;
  for (bool first = true; !list.empty(); first = false) {
    size_t end = 0;
    int depth = 0;
    for (; end < list.size() && (list[end] != ',' || depth > 0); ++end)
      depth += (list[end] == '[' || list[end] == '(') - (list[end] == ']' || list[end] == ')');
    std::string_view one = list.substr(0, end);
    list.remove_prefix(std::min(list.size(), end + 1));
    while (!one.empty() && one.front() == ' ') one.remove_prefix(1);
    if (one == "*") {
      positional = false;
      continue;
    }
    if (first && bound) continue;
    const size_t equals = one.find('=');
    const std::string value(equals == one.npos ? "" : one.substr(equals + 1));
    std::string_view word = one.substr(0, equals);
    word.remove_prefix(word.rfind(' ') + 1);
    writer.add(word == "self" ? "input" : word, positional, true, "", value);
  }
  return writer.finish();
}

std::vector<CallForm> call_forms(Interpreter& in, const Known& callee, std::string_view name, const Assist& assist) {
  std::vector<CallForm> forms;
  if (callee.value.is_undefined()) {
    if (callee.type == nullptr) return forms;
    const Value call = call_of(in, callee.type);
    if (is_function(call)) forms.push_back(form_of_function(in, *as_function(call), name, true));
    return forms;
  }
  if (!callee.value.is_object()) return forms;
  Object* const object = callee.value.as_object();
  switch (object->kind) {
    case ObjectKind::Function: return {form_of_function(in, *as_function(callee.value), name, callee.bound)};
    case ObjectKind::BoundMethod: {
      Known inner = known_of(in, known_cast<BoundMethod>(object)->function);
      inner.bound = true;
      return call_forms(in, inner, name, assist);
    }
    case ObjectKind::NativeFunction: {
      const auto* native = known_cast<NativeFunction>(object);
      if (const Signature* signature = signature_of(in, native))
        return {form_of_signature(in, *signature, name, callee.bound)};
      if (assist.schemas != nullptr)
        for (const std::string& schema : assist.schemas(in, callee.value))
          forms.push_back(form_of_schema(schema, name, callee.bound));
      return forms;
    }
    case ObjectKind::Type: {
      Type* const type = as_type(callee.value);
      for (Str* maker : {in.names->init, in.names->new_}) {
        const Value found = type_lookup(type, maker);
        if (is_function(found)) return {form_of_function(in, *as_function(found), name, true)};
      }
      return forms;
    }
    default: {
      const Value call = call_of(in, object->type);
      if (is_function(call)) forms.push_back(form_of_function(in, *as_function(call), name, true));
      return forms;
    }
  }
}

int parameter_at(const CallForm& form, size_t position, std::string_view keyword) {
  const auto& parameters = form.parameters;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!keyword.empty()           ? parameters[i].name == keyword && !parameters[i].rest
        : parameters[i].positional ? i == position
                                   : parameters[i].rest && i <= position)
      return static_cast<int>(i);
  }
  if (!keyword.empty() && !parameters.empty() && parameters.back().rest) return static_cast<int>(parameters.size()) - 1;
  return -1;
}

}  // namespace tessera::lang

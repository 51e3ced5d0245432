// The slow second look at a call that no binder took. PyTorch's parser goes through a form's parameters in order and speaks of
// the first that is wrong; with several forms it does so only where exactly one could take that number of arguments, and
// else lists them all. The same here, since scripts and their tests read these messages.
// compile: small (runs after an error)
#include "stdlib/torch/call_refusal.h"

#include <algorithm>
#include <unordered_map>

#include "lang/core/protocol.h"
#include "lang/objects/attribute.h"
#include "stdlib/torch/error_notes.h"
#include "stdlib/torch/error_operands.h"
#include "stdlib/torch/python_forms.h"

namespace tessera::stdlib {
namespace {

// A parameter as PyTorch's parser knows it: without self for methods, with `out` and `requires_grad`.
struct FormParameter {
  std::string name;
  const char* type = "";
  ArgumentForm form;
  bool has_default = false, keyword_only = false;
  std::string default_text;
  bool takes_out = false;
};

struct Form {
  std::vector<FormParameter> parameters;
  size_t positional = 0;  // how many may be given by position
  size_t least = 0;       // how many must be given
  bool spreads = false;   // the first parameter may be given as several: view(2, 3)
};

void add_parameter(Form& form, FormParameter parameter) {
  form.positional += !parameter.keyword_only;
  form.least += !parameter.has_default;
  form.parameters.push_back(std::move(parameter));
}

void add_option(Form& form, const char* name, ArgKind kind, const char* type, const char* default_text) {
  add_parameter(form,
                {name, type, {kind, true, false, false, 0}, true, true, default_text, std::string_view(name) == "out"});
}

// PyTorch shows `self` as `input`, but where it is a number.
std::string shown_name(const SchemaArg& arg) {
  return arg.name == "self" && arg.kind != ArgKind::Scalar ? "input" : arg.name;
}

// A form of `schema`: the entry's own, or one that PyTorch lists instead.
Form form_of(const OpFunction& function, const OpEntry& entry, const OpSchema& schema) {
  Form form;
  const bool own = &schema == &entry.schema(), factory = makes_tensors(entry.schema());
  const bool anywhere = number_rule(entry, {}) == NumberRule::Anywhere;
  const bool several = entry.schema().results.size() > 1;
  const auto add_out = [&] {
    const bool takes_out = own ? entry.has(kOut)
                               : std::any_of(function.entries.begin(), function.entries.end(),
                                             [](const OpEntry* each) { return each->has(kOut); });
    const char* const listed = entry.facts->forms;
    const bool says_so = listed != nullptr && std::string_view(listed).find("out=") != std::string_view::npos;
    if (takes_out && !says_so && !function.is_inplace && !function.is_method)
      add_option(form, "out", ArgKind::Tensor, several ? "tuple of Tensors" : "Tensor", "None");
  };
  bool out_added = false;
  const auto add = [&](const SchemaArg& arg) {
    if (function.is_method && arg.name == "self") return;
    if (arg.keyword_only && factory && !out_added) add_out(), out_added = true;
    add_parameter(form, {shown_name(arg), kind_name(arg.kind),
                         ArgumentForm{arg.kind, arg.optional, anywhere, false, static_cast<uint8_t>(arg.fixed_size)},
                         arg.has_default, arg.keyword_only, arg.name == "pin_memory" ? "False" : arg.default_text});
  };
  for (const SchemaArg& arg : schema.args) add(arg);
  if (!own && factory)
    for (const SchemaArg& arg : entry.schema().args)
      if (arg.keyword_only && arg.kind != ArgKind::Generator) add(arg);
  if (!out_added) add_out();
  if (factory) add_option(form, "requires_grad", ArgKind::Bool, "bool", "False");
  if (function.is_functional && entry.has(kInplace))
    add_parameter(form, {"inplace", "bool", {ArgKind::Bool, false, false, false, 0}, true, false, "False"});
  form.spreads = spread_argument(function, entry) >= 0 && form.positional == 1;
  return form;
}

// A form whose parameters are the first of another's, which has defaults for the rest, says nothing of its own: it is
// there because its call is quicker.
bool is_covered_by(const Form& form, const Form& other) {
  if (&form == &other || form.parameters.size() >= other.parameters.size()) return false;
  size_t matched = 0;
  for (const FormParameter& parameter : other.parameters) {
    const bool same = matched < form.parameters.size() && parameter.name == form.parameters[matched].name &&
                      parameter.form.kind == form.parameters[matched].form.kind;
    if (same) ++matched;
    else if (!parameter.has_default) return false;
  }
  return matched == form.parameters.size();
}

// The forms that PyTorch lists; a method has those with a tensor for self.
std::vector<Form> listed_forms(const OpFunction& function, const CallForms& forms) {
  std::vector<Form> listed;
  const bool needs_self = function.is_method || function.is_inplace;
  for (const OpSchema& schema : forms.listed) {
    const int self = schema.find("self");
    if (needs_self && (self < 0 || schema.args[static_cast<size_t>(self)].kind != ArgKind::Tensor)) continue;
    if (needs_self && schema.find("out_dtype") >= 0) continue;  // functions alone take one
    listed.push_back(form_of(function, *function.entries[0], schema));
  }
  return listed;
}

std::vector<Form> forms_of(const OpFunction& function, const CallForms& forms) {
  if (!forms.listed.empty()) return listed_forms(function, forms);
  std::vector<Form> all, kept;
  for (const OpEntry* entry : function.entries) all.push_back(form_of(function, *entry, entry->schema()));
  for (const Form& form : all)
    if (std::none_of(all.begin(), all.end(), [&](const Form& other) { return is_covered_by(form, other); }))
      kept.push_back(form);
  return kept;
}

// "(Tensor input, *, Tensor out = None)"
std::string form_text(const Form& form) {
  std::string text = "(";
  bool starred = false;
  for (const FormParameter& parameter : form.parameters) {
    if (text.size() > 1) text += ", ";
    if (parameter.keyword_only && !starred) text += "*, ", starred = true;
    text += std::string(parameter.type) + " " + parameter.name;
    if (parameter.has_default) text += " = " + parameter.default_text;
  }
  return text + ")";
}

class Refusal {
 public:
  Refusal(Interpreter& in, const OpFunction& function, const Args& args)
      : in_(in),
        function_(function),
        self_(function.is_method ? 1 : 0),
        positional_(args.positional() - self_),
        keywords_(args.count - args.positional()),
        values_(args.values + self_),
        names_(args.keyword_names) {}

  size_t count() const { return positional_ + keywords_; }
  // Throws what is wrong with the call for this form.
  void explain(const Form& form);
  // Whether PyTorch would choose this form: of a list of integers it looks at the first one, and reads the others later.
  bool is_chosen(const Form& form);
  std::string types() const { return argument_types(in_, values_, positional_, names_); }
  [[noreturn]] void unexpected(const Form& form, std::string_view wrong) const;
  [[noreturn]] void say(const std::string& text) const { throw Error(ErrorKind::TypeError, function_.name + text); }

 private:
  std::string_view keyword(size_t i) const { return text_of(names_->items[i]); }
  const Value* find(const FormParameter& parameter) const;
  bool fits(const FormParameter& parameter, const Value& v);
  [[noreturn]] void wrong_type(const Form& form, size_t at, const Value& v, bool by_keyword);
  [[noreturn]] void wrong_item(const FormParameter& parameter, std::span<const Value> items, size_t at,
                               const std::string& where);
  [[noreturn]] void missing(const Form& form, size_t from) const;
  [[noreturn]] void too_many(const Form& form) const;
  void check_keywords(const Form& form) const;
  std::string type(const Value& v) const { return given_type(in_, v); }

  Interpreter& in_;
  const OpFunction& function_;
  const size_t self_, positional_, keywords_;
  bool first_items_ = false;  // of lists only the first items are looked at
  const Value* const values_;
  const Tuple* const names_;
};

bool answers_to(const FormParameter& parameter, std::string_view name) {
  if (name == parameter.name) return true;
  if (parameter.name == "input") return name == "x" || name == "a" || name == "x1";
  if (parameter.name == "dim") return name == "axis";
  if (parameter.name == "keepdim") return name == "keepdims";
  return parameter.name == "other" && name == "x2";
}

const Value* Refusal::find(const FormParameter& parameter) const {
  for (size_t i = 0; i < keywords_; ++i)
    if (answers_to(parameter, keyword(i))) return values_ + positional_ + i;
  return nullptr;
}

bool Refusal::fits(const FormParameter& parameter, const Value& v) {
  const TorchState& state = torch_state(in_);
  if (v.is_none() && parameter.form.allows_none) return true;
  if (parameter.takes_out && is_sequence(v)) {
    const auto items = items_of(v);
    return std::all_of(items.begin(), items.end(), [&](const Value& item) { return is_tensor(state, item); });
  }
  if (first_items_ && parameter.form.kind == ArgKind::IntList && !items_of(v).empty()) {
    int64_t ignored;
    return to_int(in_, items_of(v)[0], ignored);
  }
  Scratch scratch;
  Arg ignored;
  return convert_argument(in_, state, v, parameter.form, scratch, ignored);
}

void Refusal::explain(const Form& form) {
  if (positional_ > form.positional && !form.spreads) too_many(form);
  size_t taken = 0;
  for (size_t at = 0; at < form.parameters.size(); ++at) {
    const FormParameter& parameter = form.parameters[at];
    const bool by_position = taken < positional_;
    if (by_position && parameter.keyword_only) too_many(form);
    const Value* const v = by_position ? values_ + taken : find(parameter);
    if (v == nullptr) {
      if (!parameter.has_default) missing(form, at);
      continue;
    }
    const bool several = by_position && form.spreads && at == 0 && !is_sequence(*v) && v->is_int();
    if (several) {
      for (size_t i = 0; i < positional_; ++i)
        if (int64_t ignored; !to_int(in_, values_[i], ignored))
          wrong_item(parameter, {values_, positional_}, i, " (position 1)");
      taken = positional_;
      continue;
    }
    if (form.spreads && at == 0 && positional_ > 1) too_many(form);
    if (!fits(parameter, *v)) wrong_type(form, at, *v, !by_position);
    taken += by_position;
  }
  check_keywords(form);
}

bool Refusal::is_chosen(const Form& form) {
  first_items_ = true;
  bool chosen = true;
  try {
    explain(form);
  } catch (const Error&) {
    chosen = false;
  }
  first_items_ = false;
  return chosen;
}

void Refusal::wrong_type(const Form& form, size_t at, const Value& v, bool by_keyword) {
  const FormParameter& parameter = form.parameters[at];
  const std::span<const Value> items = items_of(v);
  if (parameter.form.kind == ArgKind::TensorList) {
    for (size_t i = 0; i < items.size(); ++i)
      if (!is_tensor(torch_state(in_), items[i]))
        throw Error(ErrorKind::TypeError, "expected Tensor as element " + std::to_string(i) + " in argument " +
                                              std::to_string(at) + ", but got " + type(items[i]));
  }
  if (int64_t first; parameter.form.kind == ArgKind::IntList && !items.empty()) {
    const bool is_list = !by_keyword || to_int_at(in_, items, 0, first);
    for (size_t i = 0; is_list && i < items.size(); ++i)
      if (int64_t ignored; !to_int_at(in_, items, i, ignored))
        wrong_item(parameter, items, i, by_keyword ? "" : " (position " + std::to_string(at + 1) + ")");
  }
  const std::string where = by_keyword ? "" : " (position " + std::to_string(at + 1) + ")";
  Error error(ErrorKind::TypeError, function_.name + "(): argument '" + parameter.name + "'" + where + " must be " +
                                        parameter.type + ", not " + type(v));
  if (parameter.form.kind == ArgKind::Tensor && !first_items_)
    if (std::string hint = hint_for_argument(in_, v); !hint.empty()) error.notes.push_back(std::move(hint));
  throw error;
}

// The first item decides whether it is a list of integers at all, and by position is told itself; the others are read later,
// with other words.
void Refusal::wrong_item(const FormParameter& parameter, std::span<const Value> items, size_t at,
                         const std::string& where) {
  const std::string found = type(items[at]);
  if (at > 0)
    say("(): argument '" + parameter.name + "' failed to unpack the object at pos " + std::to_string(at + 1) +
        " with error \"type must be " + parameter.type + ",but got " + found + "\"");
  say("(): argument '" + parameter.name + "'" + where + " must be " + parameter.type + ", but found element of type " +
      found + " at pos 0");
}

// PyTorch says "arguments" of one and "argument" of several. Some functions are written in Python there, and speak as
// CPython does, those of torch.nn.functional that work in place among them.
void Refusal::missing(const Form& form, size_t from) const {
  std::string names;
  size_t count = 0;
  for (size_t i = from; i < form.parameters.size(); ++i) {
    if (form.parameters[i].has_default) continue;
    names += (count++ == 0 ? "\"" : ", \"") + form.parameters[i].name + "\"";
  }
  const bool says_as_python = function_.entries[0]->facts->speaks_as_python ||
                              (function_.is_functional && form.parameters.back().name == "inplace");
  if (says_as_python && count == 1)
    say("() missing 1 required positional argument: '" + names.substr(1, names.size() - 2) + "'");
  say("() missing " + std::to_string(count) + " required positional argument" + (count == 1 ? "s" : "") + ": " + names);
}

void Refusal::too_many(const Form& form) const {
  const auto number = [](size_t n) { return std::to_string(n); };
  if (form.least != form.positional)
    say("() takes from " + number(form.least) + " to " + number(form.positional) + " positional arguments but " +
        number(positional_) + " were given");
  say("() takes " + number(form.positional) + " positional argument" + (form.positional == 1 ? "" : "s") + " but " +
      number(positional_) + (positional_ == 1 ? " was" : " were") + " given");
}

// With the nearest name that there is.
void Refusal::unexpected(const Form& form, std::string_view wrong) const {
  Error error(ErrorKind::TypeError,
              function_.name + "() got an unexpected keyword argument '" + std::string(wrong) + "'");
  std::vector<std::string_view> names;
  for (const FormParameter& parameter : form.parameters) names.push_back(parameter.name);
  if (const std::string best = suggest_name(wrong, names); !best.empty() && !first_items_) {
    const std::string mended = with_keyword_renamed(in_, wrong, best);
    error.notes.push_back(mended.empty() ? "hint: did you mean '" + best + "'?" : "hint: " + mended + " would fit");
  }
  throw error;
}

void Refusal::check_keywords(const Form& form) const {
  for (size_t i = 0; i < keywords_; ++i) {
    size_t at = 0;
    while (at < form.parameters.size() && !answers_to(form.parameters[at], keyword(i))) ++at;
    if (at == form.parameters.size()) unexpected(form, keyword(i));
    if (at < positional_) say("() got multiple values for argument '" + std::string(keyword(i)) + "'");
  }
}

// No form of `forms` takes the call.
[[noreturn]] void refuse(Interpreter& in, const OpFunction& function, const Args& args, const std::vector<Form>& forms,
                         bool more_hidden) {
  Refusal refusal(in, function, args);
  if (function.is_method && forms.size() == 1 && forms[0].parameters.empty()) {
    const std::string method = "TensorBase." + function.name + "() takes no ";
    if (args.keyword_names != nullptr) throw Error(ErrorKind::TypeError, method + "keyword arguments");
    throw Error(ErrorKind::TypeError, method + "arguments (" + std::to_string(refusal.count()) + " given)");
  }
  const bool alone = forms.size() == 1 && !more_hidden;
  std::vector<const Form*> plausible;
  for (const Form& form : forms)
    if (!alone && refusal.is_chosen(form)) refusal.explain(form);
  for (const Form& form : forms)
    if (alone || (form.least <= refusal.count() && refusal.count() <= form.parameters.size()))
      plausible.push_back(&form);
  if (plausible.size() == 1) refusal.explain(*plausible[0]);
  std::string text = "() received an invalid combination of arguments - got " + refusal.types();
  if (forms.size() == 1) refusal.say(text + ", but expected " + form_text(forms[0]));
  text += ", but expected one of:\n";
  for (const Form& form : forms) text += " * " + form_text(form) + "\n";
  refusal.say(text);
}

}  // namespace

std::string argument_types(Interpreter& in, const Value* values, size_t positional, const Tuple* names) {
  std::string text = "(";
  for (size_t i = 0; i < positional; ++i) text += given_type(in, values[i]) + ", ";
  std::unordered_map<std::string, std::string> by_keyword;  // in whose order PyTorch tells them
  for (size_t i = 0; names != nullptr && i < names->size; ++i)
    by_keyword.emplace(text_of(names->items[i]), given_type(in, values[positional + i]));
  for (const auto& [name, type] : by_keyword) text += name + "=" + type + ", ";
  if (positional != 0) text.resize(text.size() - 2);
  return text + ")";
}

std::string deprecation_text(const OpFunction& function, const CallForms& forms, const OpSchema& form) {
  const auto shown = [&](const Form& each) { return "\n\t" + function.name + form_text(each); };
  std::string text = "This overload of " + function.name + " is deprecated:" + shown(form_of(function, *function.entries[0], form)) +
                     "\nConsider using one of the following signatures instead:";
  for (const Form& each : forms_of(function, forms)) text += shown(each);
  return text;
}

void refuse_call(Interpreter& in, const OpFunction& function, const Args& args) {
  const CallForms listed = call_forms(function.entries[0]->name);
  const std::optional<InnerCall> inner = python_call(function, args);
  if (!inner) refuse(in, function, args, forms_of(function, listed), listed.more_hidden);
  const OpFunction called{.name = inner->name, .entries = function.entries};
  const Args values{inner->values.data(), static_cast<uint32_t>(inner->values.size())};
  if (!inner->form) refuse(in, called, values, forms_of(called, listed), listed.more_hidden);
  refuse(in, called, values, {form_of(called, *called.entries[0], *inner->form)}, false);
}

}  // namespace tessera::stdlib

// compile: small (the common calls go another way)
#include "stdlib/torch/python_forms.h"

#include <algorithm>

namespace tessera::stdlib {

using tensor::OpFacts;
using tensor::PythonForm;

namespace {

struct Parameters {
  std::vector<std::string_view> names;
  size_t required = 0;
};

// Reads a parameter text such as "tensor split_size dim=".
Parameters parameters_of(std::string_view text) {
  Parameters found;
  while (!text.empty()) {
    const size_t end = text.find(' ');
    std::string_view name = text.substr(0, end);
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
    if (name.ends_with('=')) name.remove_suffix(1);
    else found.required = found.names.size() + 1;
    found.names.push_back(name);
  }
  return found;
}

// "'a'", "'a' and 'b'", "'a', 'b', and 'c'"
std::string quoted_list(const std::vector<std::string_view>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += names.size() > 2 ? ", " : " ";
    if (i > 0 && i + 1 == names.size()) text += "and ";
    text += "'" + std::string(names[i]) + "'";
  }
  return text;
}

// Puts the values of a call in their places, or throws what Python says.
std::vector<Value> places_of(const Parameters& parameters, const std::string& shown, const Args& args) {
  const auto say = [&](const std::string& text) { throw Error(ErrorKind::TypeError, shown + "() " + text); };
  const size_t most = parameters.names.size(), positional = args.positional();
  std::vector<Value> values(most);
  for (size_t i = 0; i < std::min(positional, most); ++i) values[i] = args[static_cast<uint32_t>(i)];
  for (size_t i = positional; i < args.count; ++i) {
    const std::string_view name = text_of(args.keyword_names->items[i - positional]);
    const auto found = std::find(parameters.names.begin(), parameters.names.end(), name);
    if (found == parameters.names.end()) say("got an unexpected keyword argument '" + std::string(name) + "'");
    Value& value = values[static_cast<size_t>(found - parameters.names.begin())];
    if (!value.is_undefined()) say("got multiple values for argument '" + std::string(name) + "'");
    value = args[static_cast<uint32_t>(i)];
  }
  if (positional > most) {
    const std::string range = parameters.required == most
                                  ? std::to_string(most)
                                  : "from " + std::to_string(parameters.required) + " to " + std::to_string(most);
    say("takes " + range + " positional arguments but " + std::to_string(positional) + " were given");
  }
  std::vector<std::string_view> missing;
  for (size_t i = 0; i < parameters.required; ++i)
    if (values[i].is_undefined()) missing.push_back(parameters.names[i]);
  if (!missing.empty())
    say("missing " + std::to_string(missing.size()) + " required positional argument" +
        (missing.size() == 1 ? "" : "s") + ": " + quoted_list(missing));
  return values;
}

}  // namespace

std::optional<InnerCall> python_call(const OpFunction& function, const Args& args) {
  const OpFacts& facts = *function.entries[0]->facts;
  const PythonForm& form = function.is_method ? facts.python_method : facts.python_function;
  if (form.parameters == nullptr) return std::nullopt;
  std::vector<Value> values =
      places_of(parameters_of(form.parameters), (function.is_method ? "Tensor." : "") + function.name, args);
  if (form.inner == nullptr) return std::nullopt;
  while (values.back().is_undefined()) values.pop_back();
  if (form.own_of_int && values[1].is_int()) {
    for (Value& value : values)
      if (value.is_undefined()) value = Value::integer(0);
    return InnerCall{function.name, std::nullopt, std::move(values)};
  }
  tensor::OpSchema inner = tensor::parse_schema(form.inner);
  values.resize(std::min(values.size(), inner.args.size()));
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i].is_undefined()) values[i] = inner.args[i].default_text == "2" ? Value::integer(2) : Value::none();
  std::string name = inner.name;
  return InnerCall{std::move(name), std::move(inner), std::move(values)};
}

}  // namespace tessera::stdlib

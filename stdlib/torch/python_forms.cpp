// compile: small (the common calls go another way)
#include "stdlib/torch/python_forms.h"

#include <algorithm>

namespace tessera::stdlib {
namespace {

struct PythonFunction {
  std::string_view name;
  bool is_method;
  std::vector<std::string_view> parameters;
  size_t required;
  std::string_view inner = {}, inner_form = {};
};

constexpr std::string_view kVectorNorm =
    "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False) -> Tensor";
constexpr std::string_view kSplitSizes = "split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]";

std::vector<PythonFunction> python_functions() {
  return {
      {"split", false, {"tensor", "split_size_or_sections", "dim"}, 2, "split_with_sizes", kSplitSizes},
      {"split", true, {"self", "split_size", "dim"}, 2, "split_with_sizes", kSplitSizes},
      {"norm", false, {"input", "p", "dim", "keepdim", "out", "dtype"}, 1, "linalg_vector_norm", kVectorNorm},
      {"norm", true, {"self", "p", "dim", "keepdim", "dtype"}, 1, "linalg_vector_norm", kVectorNorm},
      {"cdist", false, {"x1", "x2", "p", "compute_mode"}, 2},
      {"tensordot", false, {"a", "b", "dims", "out"}, 2},
      {"unflatten", true, {"self", "dim", "sizes"}, 3},
  };
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
std::vector<Value> places_of(const PythonFunction& function, const std::string& shown, const Args& args) {
  const auto say = [&](const std::string& text) { throw Error(ErrorKind::TypeError, shown + "() " + text); };
  const size_t most = function.parameters.size(), positional = args.positional();
  std::vector<Value> values(most);
  for (size_t i = 0; i < std::min(positional, most); ++i) values[i] = args[static_cast<uint32_t>(i)];
  for (size_t i = positional; i < args.count; ++i) {
    const std::string_view name = text_of(args.keyword_names->items[i - positional]);
    const auto found = std::find(function.parameters.begin(), function.parameters.end(), name);
    if (found == function.parameters.end()) say("got an unexpected keyword argument '" + std::string(name) + "'");
    Value& value = values[static_cast<size_t>(found - function.parameters.begin())];
    if (!value.is_undefined()) say("got multiple values for argument '" + std::string(name) + "'");
    value = args[static_cast<uint32_t>(i)];
  }
  if (positional > most) {
    const std::string range = function.required == most
                                  ? std::to_string(most)
                                  : "from " + std::to_string(function.required) + " to " + std::to_string(most);
    say("takes " + range + " positional arguments but " + std::to_string(positional) + " were given");
  }
  std::vector<std::string_view> missing;
  for (size_t i = 0; i < function.required; ++i)
    if (values[i].is_undefined()) missing.push_back(function.parameters[i]);
  if (!missing.empty())
    say("missing " + std::to_string(missing.size()) + " required positional argument" +
        (missing.size() == 1 ? "" : "s") + ": " + quoted_list(missing));
  return values;
}

}  // namespace

std::optional<InnerCall> python_call(const OpFunction& function, const Args& args) {
  const std::vector<PythonFunction> all = python_functions();
  const auto found = std::find_if(all.begin(), all.end(), [&](const PythonFunction& each) {
    return each.name == function.name && each.is_method == function.is_method;
  });
  if (found == all.end()) return std::nullopt;
  InnerCall call{std::string(found->inner), std::nullopt, {}};
  call.values = places_of(*found, (function.is_method ? "Tensor." : "") + function.name, args);
  if (found->inner.empty()) return std::nullopt;
  while (call.values.back().is_undefined()) call.values.pop_back();
  if (found->name == "split" && call.values[1].is_int()) {  // a size goes to the op itself
    call.name = function.name;
    for (Value& value : call.values)
      if (value.is_undefined()) value = Value::integer(0);
    return call;
  }
  call.form = tensor::parse_schema(found->inner_form);
  call.values.resize(std::min(call.values.size(), call.form->args.size()));
  for (size_t i = 0; i < call.values.size(); ++i)
    if (call.values[i].is_undefined())
      call.values[i] = call.form->args[i].default_text == "2" ? Value::integer(2) : Value::none();
  return call;
}

}  // namespace tessera::stdlib

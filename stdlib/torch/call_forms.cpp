// compile: small (the common calls go another way)
#include "stdlib/torch/call_forms.h"

#include <algorithm>
#include <string>

namespace tessera::stdlib {
namespace {

using tensor::ArgKind;
using tensor::OpEntry;
using tensor::OpSchema;
using tensor::SchemaArg;

std::string_view next_part(std::string_view& text, char separator) {
  const size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text = end == text.npos ? std::string_view() : text.substr(end + 1);
  return part;
}

}  // namespace

CallForms call_forms(std::string_view op) {
  CallForms forms;
  std::string_view rest;
  for (const OpEntry* entry : tensor::find_op(op))
    if (entry->facts->forms != nullptr) rest = entry->facts->forms;
  while (!rest.empty()) {
    std::string_view form = next_part(rest, '\n');
    const bool hidden = form.starts_with('!');
    forms.more_hidden = forms.more_hidden || hidden;
    if (hidden) form.remove_prefix(1);
    if (!form.empty())
      (hidden ? forms.deprecated : forms.listed).push_back(tensor::parse_schema(std::string(op) + "(" + std::string(form) + ") -> Tensor"));
  }
  return forms;
}

NumberRule number_rule(const OpEntry& entry, const CallForms& forms) {
  if (entry.facts->takes_numbers_anywhere) return NumberRule::Anywhere;
  if (!entry.has(tensor::kNumberOperands)) return NumberRule::Never;
  return forms.listed.empty() ? NumberRule::Never : NumberRule::Listed;
}

bool may_be_number(const CallForms& forms, std::string_view argument) {
  return std::any_of(forms.listed.begin(), forms.listed.end(), [&](const OpSchema& form) {
    return std::any_of(form.args.begin(), form.args.end(),
                       [&](const SchemaArg& arg) { return arg.name == argument && arg.kind == ArgKind::Scalar; });
  });
}

}  // namespace tessera::stdlib

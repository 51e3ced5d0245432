#include "lang/core/bind_maker.h"

#include <string_view>

#include "lang/core/bind.h"
#include "lang/core/interpreter.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"

namespace tessera::lang {

namespace {

constexpr size_t kNowhere = SIZE_MAX;

// Takes the first parameter off a text such as "x=..., /, base=...)".
std::string_view next_parameter(std::string_view& rest) {
  const std::string_view parameter = rest.substr(0, rest.find_first_of(",)"));
  rest.remove_prefix(parameter.size() + 1);
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  return parameter;
}

std::string_view parameters_of(std::string_view signature) { return signature.substr(signature.find('(') + 1); }

// Returns the number of the parameter that takes the keyword `name`, or kNowhere if no parameter takes that keyword.
size_t parameter_number(std::string_view signature, std::string_view name) {
  size_t number = 0, found = kNowhere;
  for (std::string_view rest = parameters_of(signature); !rest.empty();) {
    const std::string_view parameter = next_parameter(rest);
    if (parameter == "/") {
      found = kNowhere;  // the parameters before it are positional only
      continue;
    }
    if (parameter.substr(0, parameter.find('=')) == name) found = number;
    ++number;
  }
  return found;
}

bool place(const char* signature, const Args& args, std::span<Value> slots) {
  const uint32_t positional = args.positional();
  if (positional > slots.size()) return false;
  for (uint32_t i = 0; i < positional; ++i) slots[i] = args[i];
  for (uint32_t i = positional; i < args.count; ++i) {
    const size_t at = parameter_number(signature, text_of(args.keyword_names->items[i - positional]));
    if (at == kNowhere || !slots[at].is_undefined()) return false;
    slots[at] = args[i];
  }
  size_t number = 0;
  for (std::string_view rest = parameters_of(signature); !rest.empty(); ++number) {
    const std::string_view parameter = next_parameter(rest);
    if (parameter == "/" || parameter.find('=') != parameter.npos) break;
    if (slots[number].is_undefined()) return false;
  }
  return true;
}

}  // namespace

void bind_maker(Interpreter& in, const char* signature, const Args& args, std::span<Value> slots) {
  if (place(signature, args, slots)) return;
  const Signature read = parse_signature(in, signature);
  for (Value& slot : slots) slot = Value();
  bind_arguments(in, read, Args{args.values, args.count, args.keyword_names}, slots.data());
}

}  // namespace tessera::lang

#include "runtime/ops/out_types.h"

#include <string>

#include "runtime/error.h"
#include "runtime/ops/op.h"

namespace tessera::tensor {
namespace {

// linalg_pinv: linalg.pinv, as messages call it.
std::string shown(std::string_view op) {
  std::string name(op);
  if (op.starts_with("linalg_")) name[6] = '.';
  return name;
}

}  // namespace

void check_out_type(const OutRule& rule, std::string_view name, DType result, DType out) {
  if (result == out) return;
  switch (rule.takes) {
    case OutRule::Anything: return;
    case OutRule::Castable:
      if (can_cast(result, out)) return;
      break;
    case OutRule::CastableOrTruth:
      if (is_bool(result) || can_cast(result, out)) return;
      break;
    case OutRule::Truth:
      if (is_bool(out) || out == DType::UInt8) return;
      break;
    case OutRule::Same: break;
  }
  fail(rule.kind, out_words(rule.text, name, result, out));
}

std::string out_words(const char* words, std::string_view name, DType result, DType out) {
  std::string text;
  for (const char* at = words; *at; at++) {
    if (*at != '$') {
      text += *at;
      continue;
    }
    switch (*++at) {
      case 'R': text += scalar_type_name(result); break;
      case 'O': text += scalar_type_name(out); break;
      case 'r': text += cpp_name(result); break;
      case 'o': text += cpp_name(out); break;
      case 'I': text += result == kInt32 ? "True" : "False"; break;
      default: text += shown(name);
    }
  }
  return text;
}

void check_sum_in_place(const OpCall&, const Tensor& self, const Meta& result) {
  check(self.sizes() == Ints(result.sizes), TensorErrorKind::Runtime, "Bad in-place call: input tensor size ",
        self.sizes(), " and output tensor size ", Ints(result.sizes), " should match");
}

}  // namespace tessera::tensor

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

// Several ops that share their forms; a form a line, `!` for forms that are not shown.
struct Row {
  std::string_view ops;  // separated by spaces
  std::string_view forms;
};

constexpr Row kRows[] = {
    {"eq ne lt le gt ge greater greater_equal less less_equal not_equal fmod copysign floor_divide true_divide multiply",
     "Tensor self, Tensor other\n"
     "Tensor self, Scalar other"},
    {"bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift remainder xlogy float_power "
     "special_zeta special_xlog1py",
     "Tensor self, Tensor other\n"
     "Scalar self, Tensor other\n"
     "Tensor self, Scalar other"},
    {"special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v "
     "special_chebyshev_polynomial_w special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u "
     "special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w special_hermite_polynomial_h "
     "special_hermite_polynomial_he special_laguerre_polynomial_l special_legendre_polynomial_p",
     "Tensor x, Tensor n\n"
     "Scalar x, Tensor n\n"
     "Tensor x, Scalar n"},
    {"pow",
     "Tensor self, Tensor exponent\n"
     "Scalar self, Tensor exponent\n"
     "Tensor self, Scalar exponent"},
    {"add sub",
     "Tensor self, Tensor other, *, Scalar alpha=1\n"
     "!"},
    {"subtract",
     "Tensor self, Tensor other, *, Scalar alpha=1\n"
     "Tensor self, Scalar other, Scalar alpha=1"},
    {"rsub",
     "Tensor self, Tensor other, *, Scalar alpha=1\n"
     "Tensor self, Scalar other, Scalar alpha=1"},
    {"div",
     "Tensor self, Tensor other\n"
     "Tensor self, Tensor other, *, str? rounding_mode\n"
     "Tensor self, Scalar other, *, str? rounding_mode"},
    {"divide",
     "Tensor self, Tensor other\n"
     "Tensor self, Tensor other, *, str? rounding_mode\n"
     "Tensor self, Scalar other\n"
     "Tensor self, Scalar other, *, str? rounding_mode"},
    {"clamp_min",
     "Tensor self, Tensor min\n"
     "Tensor self, Scalar min"},
    {"clamp_max",
     "Tensor self, Tensor max\n"
     "Tensor self, Scalar max"},
    {"addcmul addcdiv",
     "Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1\n"
     "!"},
    {"addr",
     "Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1\n"
     "!"},
    {"addmv",
     "Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1\n"
     "!"},
    {"addbmm",
     "Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1\n"
     "!"},
    {"lerp",
     "Tensor self, Tensor end, Tensor weight\n"
     "Tensor self, Tensor end, Scalar weight"},
    {"heaviside", "Tensor self, Tensor values"},
    {"isin",
     "Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False\n"
     "Scalar element, Tensor test_elements, *, bool assume_unique=False, bool invert=False\n"
     "Tensor elements, Scalar test_element, *, bool assume_unique=False, bool invert=False"},
    {"copy_",
     "Tensor self, Tensor other, bool non_blocking=False\n"
     "!"},
    {"fill_",
     "Tensor self, Tensor value\n"
     "Tensor self, Scalar value"},
    {"where",
     "Tensor condition\n"
     "Tensor condition, Tensor self, Tensor other, *, Tensor? out=None\n"
     "Tensor condition, Scalar self, Tensor other\n"
     "Tensor condition, Tensor self, Scalar other\n"
     "Tensor condition, Scalar self, Scalar other"},
    {"mean",
     "Tensor self, *, ScalarType? dtype=None\n"
     "Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None"},
    {"any all",
     "Tensor self\n"
     "Tensor self, int[]? dim=None, bool keepdim=False\n"
     "Tensor self, int dim, bool keepdim=False"},
    {"max min",
     "Tensor self\n"
     "Tensor self, Tensor other\n"
     "Tensor self, int dim, bool keepdim=False"},
    {"mm bmm",
     "Tensor self, Tensor mat2\n"
     "Tensor self, Tensor mat2, ScalarType out_dtype"},
    {"addmm",
     "Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1\n"
     "Tensor self, Tensor mat1, Tensor mat2, ScalarType out_dtype, *, Scalar beta=1, Scalar alpha=1\n"
     "!"},
    {"baddbmm",
     "Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1\n"
     "Tensor self, Tensor batch1, Tensor batch2, ScalarType out_dtype, *, Scalar beta=1, Scalar alpha=1\n"
     "!"},
    {"linspace",
     "Tensor start, Tensor end, int steps\n"
     "Scalar start, Tensor end, int steps\n"
     "Tensor start, Scalar end, int steps\n"
     "Scalar start, Scalar end, int steps"},
    {"logspace",
     "Tensor start, Tensor end, int steps, float base=10.0\n"
     "Scalar start, Tensor end, int steps, float base=10.0\n"
     "Tensor start, Scalar end, int steps, float base=10.0\n"
     "Scalar start, Scalar end, int steps, float base=10.0"},
    {"rand randn",
     "int[] size, *, Generator? generator\n"
     "int[] size"},
    {"rand_like randn_like",
     "Tensor self, *, Generator generator, MemoryFormat? memory_format=None\n"
     "Tensor self, *, MemoryFormat? memory_format=None"},
    {"randint_like",
     "Tensor self, int low, int high, *, Generator generator, MemoryFormat? memory_format=None\n"
     "Tensor self, int low, int high, *, MemoryFormat? memory_format=None\n"
     "Tensor self, int high, *, Generator generator, MemoryFormat? memory_format=None\n"
     "Tensor self, int high, *, MemoryFormat? memory_format=None"},
    {"randperm",
     "int n, *, Generator? generator\n"
     "int n"},
    {"double float half bfloat16 bool byte char short int long cfloat cdouble",
     "Tensor self, *, MemoryFormat? memory_format=None"},
};

// PyTorch's list of functions that see a number as a tensor.
constexpr std::string_view kNumbersAnywhere[] = {"add",      "sub",    "mul",         "div",          "multiply",
                                                 "subtract", "divide", "true_divide", "floor_divide", "copy_"};

std::string_view next_part(std::string_view& text, char separator) {
  const size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text = end == text.npos ? std::string_view() : text.substr(end + 1);
  return part;
}

bool has_word(std::string_view words, std::string_view wanted) {
  while (!words.empty())
    if (next_part(words, ' ') == wanted) return true;
  return false;
}

}  // namespace

CallForms call_forms(std::string_view op) {
  CallForms forms;
  const Row* const row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& each) { return has_word(each.ops, op); });
  if (row == std::end(kRows)) return forms;
  for (std::string_view rest = row->forms; !rest.empty();) {
    const std::string_view form = next_part(rest, '\n');
    if (form == "!") forms.more_hidden = true;
    else forms.listed.push_back(tensor::parse_schema(std::string(op) + "(" + std::string(form) + ") -> Tensor"));
  }
  return forms;
}

NumberRule number_rule(const OpEntry& entry, const CallForms& forms) {
  const std::string_view name = entry.name;
  if (std::find(std::begin(kNumbersAnywhere), std::end(kNumbersAnywhere), name) != std::end(kNumbersAnywhere))
    return NumberRule::Anywhere;
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

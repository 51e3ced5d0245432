#include "runtime/ops/out_types.h"

#include <string>

#include "runtime/error.h"

namespace tessera::tensor {
namespace {

enum class Takes { Castable, CastableOrTruth, Same, Truth, Anything };

// In a text $R is the result's type and $O that of out ("Float"), $r and $o are their C++ names, $n is the op's name,
// $I whether the result is of int32.
struct Rule {
  Takes takes;
  std::string_view text, ops;  // ops: names between spaces
  TensorErrorKind kind = TensorErrorKind::Runtime;
};

constexpr std::string_view kStructured = "Expected out tensor to have dtype $r, but got $o instead";

// Seen of PyTorch 2.15 by giving out= tensors of other dtypes to each op of its own table.
constexpr Rule kRules[] = {
    {Takes::Same, kStructured,
     " addmm addmv baddbmm bmm mm matmul cross expand_copy diagonal_copy alias_copy lu_unpack lu_solve max.dim min.dim softmax aminmax "
     "as_strided_copy avg_pool3d avg_pool2d linear topk view_copy permute_copy split_with_sizes_copy slice_scatter "
     "triangular_solve svd gather index_copy index_add index_reduce sort scatter scatter_add unbind_copy unfold_copy msort "
     "renorm squeeze_copy take_along_dim unsqueeze_copy transpose_copy tril triu log_softmax norm t_copy scatter_reduce "
     "linalg_cross linalg_det det linalg_cholesky cholesky linalg_cholesky_ex linalg_eigh linalg_eigvalsh linalg_ldl_factor "
     "linalg_ldl_factor_ex linalg_ldl_solve linalg_qr qr linalg_polar linalg_slogdet slogdet linalg_vector_norm "
     "linalg_lu_factor linalg_lu_factor_ex linalg_lu linalg_lu_solve linalg_inv inverse linalg_inv_ex linalg_solve "
     "linalg_solve_ex linalg_svd linalg_svdvals linalg_matmul linalg_matrix_power argmax argmin isin diag "},
    {Takes::Same, "Found dtype $O but expected $R",
     " abs absolute ceil conj_physical frac floor softshrink hardshrink gelu neg negative round sign sgn trunc fix softplus "
     "bitwise_not lerp.tensor "},
    {Takes::Same, "expected scalar_type $R but found $O", " cummax cummin logcumsumexp "},
    {Takes::CastableOrTruth, "result type $R can't be cast to the desired output type $O", " diff "},
    {Takes::Truth, "$n only supports bool tensor for result, got: $O", " all any "},
    {Takes::Same, "Expected result to be of dtype uint64, but got $O", " hash_tensor "},
    {Takes::Same, "expected scalar type $R but found $O",
     " log_sigmoid logsigmoid linalg_solve_triangular native_batch_norm "},
    {Takes::Same, "result dtype $O does not match input dtype $R", " dot vdot "},
    {Takes::Same, "self and mat2 must have the same dtype, but got $O and $R", " addbmm "},
    {Takes::Same, "addmv input tensors must have the same dtype, but got $O, $R, and $R", " mv "},
    {Takes::Same, "$n does not support non-boolean outputs.", " signbit isposinf isneginf "},
    {Takes::Same, "Expected object of scalar type $R but got scalar type $O for argument 'out'", " complex polar "},
    {Takes::Same, "$n(): self and result must have the same scalar type", " masked_select index_select "},
    {Takes::Same, "Expected the dtype for input and out to match, but got $R for input's dtype and $O for out's dtype.",
     " amax amin "},
    {Takes::Same, "torch.frexp() expects mantissa to have dtype $r but got $o", " frexp "},
    {Takes::Same, "output values must be of same type as input", " kthvalue "},
    {Takes::Same, "quantile() out tensor must be same dtype as the input tensor", " quantile nanquantile "},
    {Takes::Same, "heaviside is not yet implemented for tensors with different dtypes.", " heaviside "},
    {Takes::Same, "expected scalar type '$R' but got '$O' for values output", " mode "},
    {Takes::Same, "nan_to_num: dtype of out: $O should be same as input: $R", " nan_to_num "},
    {Takes::Same, "take(): self and out expected to have the same dtype, but got self.dtype = $R and out.dtype = $O",
     " take "},
    {Takes::Same, "multinomial expects Long tensor out, got: $O", " multinomial "},
    {Takes::Same,
     "torch.histogram: input tensor and hist tensor should have the same dtype, but got input $r and hist $o",
     " histogram histc "},
    {Takes::Same,
     "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending on whether "
     "out_int32 flag is True, but we got output tensor's dtype $O and out_int32 flag is $I",
     " searchsorted bucketize "},
    {Takes::Same, "tensordot: Expected the output tensor to have dtype $R, but got an output tensor with dtype $O",
     " tensordot inner "},
    {Takes::Same, "Expected out type to be $R but got $O", " where "},
    {Takes::Same, "nonzero: Expected out tensor to have scalar type Long but got scalar type$O", " nonzero "},
    {Takes::Same, "linalg.vecdot: Expected out of dtype$R but found $O", " linalg_vecdot "},
    {Takes::Same, "multi_dot(): expected out tensor to have dtype $r but got $o", " linalg_multi_dot "},
    {Takes::Same, "$n expected out tensor dtype $R but got: $O", " linalg_norm linalg_matrix_norm "},
    {Takes::Same,
     "torch.ormqr: Expected input and result to have the same dtype, but input has dtype$R and result has dtype $O",
     " ormqr "},
    {Takes::Castable, "torch.cat(): input types can't be cast to the desired output type $O",
     " _chunk_cat cat concat concatenate column_stack stack hstack vstack dstack row_stack ", TensorErrorKind::Type},
    {Takes::Castable, "$n: Expected result to be safely castable from $R dtype, but got result with dtype $O",
     " cholesky_inverse cholesky_solve linalg_cond linalg_pinv "},
    {Takes::Castable, "torch.$n: Expected result to be safely castable from $R dtype, but got result with dtype $O",
     " linalg_householder_product "},
    {Takes::Castable, "torch.$n: Expected solution to be safely castable from $R dtype, but got solution with dtype $O",
     " linalg_lstsq "},
    {Takes::Castable,
     "torch.$n: Expected eigenvalues to be safely castable from $R dtype, but got eigenvalues with dtype $O",
     " linalg_eig linalg_eigvals "},
    {Takes::Castable, "torch.geqrf: Expected a to be safely castable from $R dtype, but got a with dtype $O",
     " geqrf "},
    {Takes::Castable, "\"normal_kernel_cpu\" not implemented for '$O'", " normal ", TensorErrorKind::NotImplemented},
    {Takes::Castable, "tensorinv: Expected result to be safely castable from $R dtype, but got result with dtype $O",
     " linalg_tensorinv "},
    {Takes::Castable, "tensorsolve: Expected result to be safely castable from $R dtype, but got result with dtype $O",
     " linalg_tensorsolve "},
    {Takes::Castable, "fft expects a complex output tensor, but got $O", " fft_fft "},
    {Takes::Castable, "ifft expects a complex output tensor, but got $O", " fft_ifft "},
    {Takes::Castable, "fftn expects a complex output tensor, but got $O", " fft_fft2 fft_fftn fft_ifft2 fft_ifftn "},
    {Takes::Castable, "rfft expects a complex output tensor, but got $O", " fft_rfft "},
    {Takes::Castable, "rfftn expects a complex output tensor, but got $O", " fft_rfft2 fft_rfftn "},
    {Takes::Castable, "ihfft expects a complex output tensor, but got $O", " fft_ihfft "},
    {Takes::Castable, "ihfftn expects a complex output tensor, but got $O", " fft_ihfft2 fft_ihfftn "},
    {Takes::Castable, "irfft expects a floating point output tensor, but got $O", " fft_irfft "},
    {Takes::Castable, "irfftn expects a floating point output tensor, but got $O", " fft_irfft2 fft_irfftn "},
    {Takes::Castable, "hfft expects a floating point output tensor, but got $O", " fft_hfft "},
    {Takes::Castable, "hfftn expects a floating point output tensor, but got $O", " fft_hfft2 fft_hfftn "},
    {Takes::Castable, "the output given to float_power has dtype $O but the operation's result requires dtype $R",
     " float_power "},
    {Takes::Castable, "logsumexp(): Expected floating point type for result tensor, but got: $O", " logsumexp "},
    {Takes::Castable, "mean.dtype_out(): input types can't be cast to the desired output type $O", " mean "},
    {Takes::Anything,
     {},
     " arange linspace logspace ones zeros full empty eye sum prod cumsum cumprod bernoulli eq ne lt le gt ge logical_not logical_and logical_or logical_xor "},
};
constexpr Rule kUsual{Takes::Castable, "result type $R can't be cast to the desired output type $O", {}};

// A form's own rule, "max.dim", comes before that of its op.
const Rule& rule_of(std::string_view op) {
  const std::string wanted = ' ' + std::string(op) + ' ';
  for (const Rule& rule : kRules)
    if (rule.ops.find(wanted) != std::string_view::npos) return rule;
  const size_t dot = op.find('.');
  return dot == op.npos ? kUsual : rule_of(op.substr(0, dot));
}

// linalg_pinv: linalg.pinv, as messages call it.
std::string shown(std::string_view op) {
  std::string name(op.substr(0, op.find('.')));
  if (op.starts_with("linalg_")) name[6] = '.';
  return name;
}

}  // namespace

void check_out_type(std::string_view op, DType result, DType out) {
  if (result == out) return;
  const Rule& rule = rule_of(op);
  switch (rule.takes) {
    case Takes::Anything: return;
    case Takes::Castable:
      if (can_cast(result, out)) return;
      break;
    case Takes::CastableOrTruth:
      if (is_bool(result) || can_cast(result, out)) return;
      break;
    case Takes::Truth:
      if (is_bool(out) || out == DType::UInt8) return;
      break;
    case Takes::Same: break;
  }
  std::string text;
  for (size_t i = 0; i < rule.text.size(); i++) {
    if (rule.text[i] != '$') {
      text += rule.text[i];
      continue;
    }
    switch (rule.text[++i]) {
      case 'R': text += scalar_type_name(result); break;
      case 'O': text += scalar_type_name(out); break;
      case 'r': text += cpp_name(result); break;
      case 'o': text += cpp_name(out); break;
      case 'I': text += result == kInt32 ? "True" : "False"; break;
      default: text += shown(op);
    }
  }
  fail(rule.kind, text);
}

bool gives_out_strides(std::string_view op) {
  constexpr std::string_view kColumnMajor =
      " geqrf linalg_householder_product cholesky_inverse linalg_solve_triangular linalg_lstsq ormqr nonzero ";
  return rule_of(op).text == kStructured || kColumnMajor.find(' ' + std::string(op) + ' ') != kColumnMajor.npos;
}

void check_inplace_shape(std::string_view op, Ints self, Ints result) {
  if (self == result) return;
  if (op == "addmm" || op == "addmv" || op == "baddbmm")
    fail(TensorErrorKind::Runtime, "Bad in-place call: input tensor size ", self, " and output tensor size ", result,
         " should match");
  if (op == "addr" && self.size() != 2)
    fail(TensorErrorKind::Runtime, "2D tensor expected, got ", self.size(), "D tensor for input");
  fail(TensorErrorKind::Runtime, "output with shape ", self, " doesn't match the broadcast shape ", result);
}

std::string class_text(DType t) {
  const bool has_class = !is_complex(t) && !is_bool(t) && t != kBFloat16;
  return has_class ? text("torch.", scalar_type_name(t), "Tensor") : text("CPU", scalar_type_name(t), "Type");
}

const char* cpp_name(DType t) {
  switch (t) {
    case DType::Bool: return "bool";
    case DType::UInt8: return "unsigned char";
    case DType::UInt16: return "short unsigned int";
    case DType::UInt32: return "unsigned int";
    case DType::UInt64: return "long unsigned int";
    case DType::Int8: return "signed char";
    case DType::Int16: return "short int";
    case DType::Int32: return "int";
    case DType::Int64: return "long int";
    case DType::Float32: return "float";
    case DType::Float64: return "double";
    case DType::Float16: return "c10::Half";
    case DType::BFloat16: return "c10::BFloat16";
    case DType::Complex64: return "c10::complex<float>";
    case DType::Complex128: return "c10::complex<double>";
  }
  return "";
}

}  // namespace tessera::tensor

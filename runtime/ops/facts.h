// OpFacts: everything that an entry states about its op beside name, schema, doc, flags, parts and samples, as designated initialisers.
//
//     TS_OP(take, "take(Tensor self, Tensor index) -> Tensor", "Doc.", kFunction | kMethod | kOut, Take,
//           "f[3,4], i[2]<12",
//           .out = {OutRule::Same, "take(): self and out expected to have the same dtype, but got self.dtype = $R and ..."},
//           .one_device = "_take");
//
// A member that an entry leaves out has the value of most ops. Code that needs another fact of an op adds a member here and sets it in the entries;
// no other file knows ops by their names (scripts/lint looks).
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/error.h"
#include "runtime/ops/argument.h"
#include "runtime/tensor.h"

namespace tessera::tensor {

struct OpCall;
struct Meta;
class BatchCall;  // batching.h

using UnaryFast = Tensor (*)(const Tensor& x);
/// `reuse` bit 0: x may be overwritten, bit 1: y may be (the caller holds the only handle and lets go after the call).
using BinaryFast = Tensor (*)(const Tensor& x, const Tensor& y, unsigned reuse);
using TensorScalarFast = Tensor (*)(const Tensor& x, const Scalar& y, unsigned reuse);
using ScalarTensorFast = Tensor (*)(const Scalar& x, const Tensor& y, unsigned reuse);
using UnaryInplace = void (*)(const Tensor& self);
using BinaryInplace = void (*)(const Tensor& self, const Tensor& y);
using ScalarInplace = void (*)(const Tensor& self, const Scalar& y);
/// f(x), f(x, dim) and f(x, dim, keepdim) of a reduction.
using AlongFast = Tensor (*)(const Tensor& x, const std::optional<Dims>& dim, bool keepdim);

/// Functions that run an op on unboxed operands; null if the op has no such function. They record gradients like any call.
struct FastPaths {
  UnaryFast unary = nullptr;
  BinaryFast binary = nullptr;
  TensorScalarFast tensor_scalar = nullptr;
  ScalarTensorFast scalar_tensor = nullptr;
  UnaryInplace unary_inplace = nullptr;
  BinaryInplace binary_inplace = nullptr;
  ScalarInplace scalar_inplace = nullptr;
  AlongFast along = nullptr;
};

/// Which dtypes an out= tensor may have, and PyTorch's words for another. In the text $R is the result's dtype and $O that of out ("Float"),
/// $r and $o are their C++ names, $n is the op's name, $I whether the result is of int32.
struct OutRule {
  enum Takes : unsigned char { Castable, CastableOrTruth, Same, Truth, Anything };
  Takes takes = Castable;
  const char* text = "result type $R can't be cast to the desired output type $O";
  TensorErrorKind kind = TensorErrorKind::Runtime;
  bool takes_strides = false;  // a tensor that is resized takes over the strides of the result
  bool last_first = false;     // of several results the last one is looked at first
};
inline constexpr OutRule kOutAnything{OutRule::Anything};
inline constexpr OutRule kOutStructured{
    .takes = OutRule::Same, .text = "Expected out tensor to have dtype $r, but got $o instead", .takes_strides = true};
inline constexpr OutRule kOutFound{OutRule::Same, "Found dtype $O but expected $R"};
inline constexpr OutRule kOutScanned{OutRule::Same, "expected scalar_type $R but found $O"};
inline constexpr OutRule kOutOfScalarType{OutRule::Same, "expected scalar type $R but found $O"};
inline constexpr OutRule kOutBoolean{OutRule::Same, "$n does not support non-boolean outputs."};
inline constexpr OutRule kOutOfExtreme{
    OutRule::Same,
    "Expected the dtype for input and out to match, but got $R for input's dtype and $O for out's dtype."};
inline constexpr OutRule kOutOfTruth{OutRule::Truth, "$n only supports bool tensor for result, got: $O"};
inline constexpr OutRule kOutSafely{
    OutRule::Castable, "$n: Expected result to be safely castable from $R dtype, but got result with dtype $O"};

inline constexpr OutRule kOutOfDot{OutRule::Same, "result dtype $O does not match input dtype $R"};

/// Forms of ops whose second operand may be a number, or either one.
inline constexpr const char* kFormsOfSecondNumber = "Tensor self, Tensor other\nTensor self, Scalar other";
inline constexpr const char* kFormsOfEitherNumber =
    "Tensor self, Tensor other\nScalar self, Tensor other\nTensor self, Scalar other";

/// The treatment of an op's operands by torch.autocast.
enum class Autocast : unsigned char {
  None,
  Lower,    // they become numbers of the block's dtype
  Float32,  // they become float32
  Total,    // the result becomes float32, unless the call says a dtype
  Widest,   // float32 if one of them is, else the block's dtype
  Product,  // the op's last step is a product: its result becomes a tensor of the block's dtype
};

/// How torch.vmap runs the op once for a whole batch (batching.h).
enum class Batching : unsigned char {
  Derived,    // arguments that name dimensions count behind the batch, a size gets it in front; else once per example
  Pointwise,  // operands broadcast
  Front,      // dimensions in front are a batch to the op already
  Loss,       // Pointwise, and then what `reduction` says
  InScript,   // the rule is in torch/func/_batched.tsr
  ByExample,  // once per example
};
/// A rule of an op's own: fills the results, or answers false for a call that it does not serve.
using BatchRule = bool (*)(BatchCall& call, std::vector<OpArg>& results);

/// A function that is written in Python in PyTorch: Python itself looks at the count and the keywords of a call, and what it calls inside
/// speaks of the values.
struct PythonForm {
  const char* parameters = nullptr;  // "tensor split_size dim=": `=` where there is a default; null: it is none
  const char* inner = nullptr;       // the schema of the call inside; null: values are spoken of under the function's own name
  bool own_of_int = false;           // with an int as second value it speaks of values as the op does
};

struct OpFacts {
  int priority = 0;  // lower is tried first among entries of one name
  /// The op of which this one is another name: PyTorch calls that one, and the documentation is made of it.
  const char* alias_of = nullptr;
  FastPaths fast = {};

  /// The forms that PyTorch's argument parser lists where this entry serves several of its functions, one a line without the name ("Tensor self, Tensor other").
  /// "!" for forms that no message shows, followed by the form if it is a deprecated order of the first one's arguments. Said by the first entry of a name.
  const char* forms = nullptr;
  bool takes_numbers_anywhere = false;  // PyTorch's parser sees a number as a tensor: add(1, 2)
  PythonForm python_function = {}, python_method = {};
  bool speaks_as_python = false;   // of one missing argument, as functions do that are written in Python in PyTorch
  bool gathers = false;            // takes its tensors one by one in Python: the library's script part makes a list of them
  const char* symbol = nullptr;    // the operator of Python that calls it: "+", "-x", "<"

  OutRule out = {};
  OutRule (*out_of_call)(const OpCall& call, const Tensor& result) = nullptr;  // where calls differ in it
  const char* out_as_asked =
      nullptr;                  // a dtype that the call asks for is that of out= too: the words for another (OutRule)
  bool out_unrecorded = false;  // has no derivative: out= may be written whatever the operands require
  /// Looks at an in-place call before its shape and dtype are compared with the result's.
  void (*check_in_place)(const OpCall& call, const Tensor& self, const Meta& result) = nullptr;

  /// Operands lie on one device; PyTorch's kernel is named wrapper_CUDA_ and this.
  const char* one_device = nullptr;
  bool any_device = false;  // some operands may be the host's, or the op says itself what is wrong

  /// The last argument asks for a gradient of self that is sparse. stdlib/torch records such calls of (self, dim, index, the flag).
  bool may_give_sparse_gradient = false;

  Autocast autocast = Autocast::None, autocast_cuda = Autocast::None;
  Batching batching = Batching::Derived;
  BatchRule batched = nullptr;
};
inline constexpr OpFacts kUsualFacts{};

}  // namespace tessera::tensor

/// A record for OpRegistration, as its last argument with the comma before it; nothing where there is nothing to say.
#define TS_FACTS(...)                                               \
  __VA_OPT__(, []() -> const ::tessera::tensor::OpFacts& {          \
    static constexpr ::tessera::tensor::OpFacts facts{__VA_ARGS__}; \
    return facts;                                                   \
  }())

// A row of pointwise.def as data: what run_pointwise needs to know of an op.
#pragma once

#include <array>

#include "runtime/ops/facts.h"
#include "runtime/ops/kernel_name.h"
#include "runtime/ops/node_name.h"
#include "runtime/ops/pointwise.h"

namespace tessera::tensor {

enum class PointwiseClass : unsigned char {
  Float,
  Number,
  Divide,
  Predicate,
  Compare,
  Bits,
  Select,
  Analytic,  // from here on: as the four above, and complex numbers too
  Field,
  Property,
  Equality,
};

/// What a class is for real numbers.
constexpr PointwiseClass real_class(PointwiseClass c) {
  switch (c) {
    case PointwiseClass::Analytic: return PointwiseClass::Float;
    case PointwiseClass::Field: return PointwiseClass::Number;
    case PointwiseClass::Property: return PointwiseClass::Predicate;
    case PointwiseClass::Equality: return PointwiseClass::Compare;
    default: return c;
  }
}
/// The complex32 of rows that PyTorch computes for it on the CPU.
inline constexpr DTypeSet kHalfComplex = DTypeSet(kComplex32);

/// The dtypes that a row computes in. uint16, uint32 and uint64 are storage: they are compared, chosen from, limited and
/// taken to floats, as PyTorch does.
constexpr DTypeSet types_of(PointwiseClass c) {
  const DTypeSet complex = c >= PointwiseClass::Select ? kComplexTypes : DTypeSet();
  switch (real_class(c)) {
    case PointwiseClass::Bits: return DTypeSet(DType::Bool) | kIntegralTypes | kWideUnsignedTypes;
    case PointwiseClass::Select: return kElementTypes;
    case PointwiseClass::Float:
    case PointwiseClass::Predicate: return kRealTypes | kWideUnsignedTypes | complex;
    case PointwiseClass::Compare:  // equal or not needs no order
      return c == PointwiseClass::Equality ? kAllTypes : kRealTypes;
    default: return kRealTypes | complex;
  }
}

struct GradArgs {
  const Tensor& g;
  const Tensor& x;
  const Tensor& y;
  const Tensor& z;
  const Tensor& result;
  const Scalar* params;
};
/// Bits of what a derivative reads.
enum : unsigned { kReadsX = 1, kReadsY = 2, kReadsZ = 4, kReadsResult = 8 };

/// Names of a row's node on PyTorch's tape. Some ops have another name if an operand is a number.
struct RowNodes {
  const char* usual = nullptr;         // null: "TanhBackward0" of tanh
  const char* of_tensors = nullptr;    // the last operand is a tensor
  const char* number_first = nullptr;  // the first one is a number
  const char* in_place = nullptr;      // differentiated by the result: a formula with a name of its own
};

/// Which parameters of a row are bounds (clamp). A bound outside of the dtype's range is refused or bounds nothing, by its side.
enum RowBounds : unsigned char { kNoBounds = 0, kLowerBound = 1, kUpperBound = 2 };
/// Whether a result without elements keeps the operand's strides, as results that PyTorch makes with empty_like do.
enum class EmptySteps : unsigned char { Fresh, Kept, KeptOfIntegers };

/// Facts of a row of pointwise.def, as designated initialisers behind its formulas; a member left out has the value of most rows. Functions
/// see the call's operands; they stand in row_ways.h.
struct RowFacts {
  // ---- dtypes, and PyTorch's words for the others ----
  KernelName kernel = {};  // in '"abs_cpu" not implemented for 'Bool''; null: the row's name and "_cpu"
  DTypeSet types = {};     // instead of those of the class
  DTypeSet and_types = {}, but_types = {};
  const char* complex_words = nullptr;
  TensorErrorKind complex_kind = TensorErrorKind::NotImplemented;
  const char* complex_in_place_words = nullptr;
  const char* bool_words = nullptr;
  void (*refuse_bools)(const Operand* in, int count) = nullptr;  // called where an operand is bool
  KernelName float8_number_kernel = {};  // that PyTorch lacks for float8 beside a number; float8 tensors are taken
  bool takes_bool_to_number = false;     // bools where the second operand is a number, whatever the types say
  bool bool_is_int64 = false;
  unsigned exact_numbers = 0;  // bit k: a number as operand k beside halves is not rounded to their dtype first

  // ---- checks ----
  void (*check_types)(const Operand* in, int count) = nullptr;  // of a mixture of dtypes
  void (*check_operands)(const Operand* in, DType lane, DType common) = nullptr;
  void (*check_params)(const Scalar* params, DType common) = nullptr;
  unsigned bounds = kNoBounds;

  // ---- other ways to the result ----
  Tensor (*of_complex)(const Operand* in) = nullptr;  // where an operand is complex: a composition
  Tensor (*of_halves)(const Operand* in, DType common) = nullptr;  // halves on the CPU: a composition, each step rounded; or undefined
  int (*of_number)(const Scalar& second) = nullptr;  // the unary row that does the same with this second operand, or -1
  int of_bools = -1;                                 // the row for bools
  int ordered = -1;  // the row that does the same to uint64 numbers turned into int64: those that need an order

  // ---- the result ----
  OutRule (*out_of_operands)(const Operand* in) = nullptr;  // instead of that of the entry
  bool in_rows = false;                                     // row-major whatever the operands' layout
  EmptySteps empty_steps = EmptySteps::Fresh;
  RowNodes nodes = {};
  DTypeSet derives_once = {};  // halves whose derivative is computed in float32 and rounded once: PyTorch has a kernel of it
  bool refuses_derivative = false;  // PyTorch defines none, and says so when one is asked for

  // ---- the entry ----
  const char* schema = nullptr;   // where a parameter has no default
  const char* samples = nullptr;  // instead of those of the class (samples.h)
  OpFacts op = {};
};

struct PointwiseRow {
  const char* name;
  NodeName usual_node;
  PointwiseClass row_class;  // for real numbers
  DTypeSet types;
  unsigned char arity, params;
  bool has_own_ways;  // one of the facts below changes how a call runs
  struct Derivative {
    Tensor (*formula)(const GradArgs&) = nullptr;  // null: not differentiable
    unsigned reads = 0;
    bool computed = false;  // false: the gradient is handed on as it is
  };
  std::array<Derivative, 3> derivative;
  const char* body;  // as text, for run-time compilation
  RowFacts facts;

  const char* node() const { return facts.nodes.usual ? facts.nodes.usual : usual_node.text; }
};

extern const PointwiseRow kPointwiseRows[];

}  // namespace tessera::tensor

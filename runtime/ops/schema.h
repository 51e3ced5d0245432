// A schema string in PyTorch's own form, taken apart:
//
//     clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor
//     max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
//     sum.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::tensor {

enum class ArgKind : unsigned char {
  Tensor,
  TensorList,
  OptionalTensorList,
  Int,
  IntList,
  Float,
  FloatList,
  Bool,
  BoolList,
  Scalar,
  DType,
  Device,
  String,
  Generator,
  Layout,
  MemoryFormat,
  None,
};

struct SchemaArg {
  std::string name;
  ArgKind kind = ArgKind::Tensor;
  bool optional = false;      // T?
  bool keyword_only = false;  // after *
  bool has_default = false;
  int fixed_size = 0;        // int[2]: a single int stands for [int, int]
  std::string default_text;  // "None", "1", "False", "'mean'", "[]"
};

struct OpSchema {
  std::string name;      // "max"
  std::string overload;  // "dim", or empty
  std::vector<SchemaArg> args;
  std::vector<SchemaArg> results;
  size_t positional = 0;  // how many may be given by position
  size_t required = 0;    // how many have no default

  /// Index of the argument of that name, or -1.
  int find(std::string_view arg) const;
};

/// Throws TensorError(Assertion) that names the place; our own strings only, so a test parses them all.
OpSchema parse_schema(std::string_view text);

}  // namespace tessera::tensor

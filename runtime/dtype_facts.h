// The dtypes, and what a row of dtypes.def says of each.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

#include "runtime/float8.h"
#include "runtime/half.h"

namespace tessera::tensor {

enum class DType : uint8_t {
#define DTYPE(NAME, ...) NAME,
#include "runtime/dtypes.def"
};
inline constexpr int kDTypeCount = 0
#define DTYPE(...) +1
#include "runtime/dtypes.def"
    ;

/// Bits and Quantized have no numbers: elements of Bits are only moved, those of Quantized are not made at all.
enum class DTypeClass : uint8_t { Bool, Unsigned, Signed, Floating, Complex, Bits, Quantized };

/// How many digits a float needs to be read back: what to_chars can do by itself, and those of float16, found by trial.
enum class Digits : uint8_t { Half, Single, Double };

/// What is left out is what most dtypes say: a null pointer or 0 stands for a format that has no such dtype.
struct DTypeFacts {
  // ---- the columns ----
  const char* name;         // "float32": what follows "torch." in repr(dtype)
  const char* scalar_type;  // "Float": PyTorch's name inside error messages
  DTypeClass of_class;
  uint8_t bytes;
  bool is_stored;  // few ops take it, and it promotes to floating types only
  bool is_packed;  // bytes that hold several numbers or parts of one: no element is read, written or converted

  // ---- numbers ----
  DType parts = DType::Bool;  // what a complex number is a pair of
  bool of_literals = false;   // what bools and ints of a program become: a tensor's repr does not say it
  bool has_no_sign = false;   // of a floating type
  uint8_t precision = 0;      // of a floating type: the significand's bits, with the hidden one
  double most = 0, least_normal = 0, resolution = 0;  // limits in finfo
  double rtol = 0, atol = 0;                          // within which torch.testing takes two numbers for equal
  Digits digits = Digits::Double;                     // as NumPy prints them

  // ---- names in PyTorch ----
  const char* alias = nullptr;              // torch.half
  const char* cpp_name = nullptr;           // "long int": what its messages take from the compiler
  const char* source_name = nullptr;        // "int64_t": as its source text calls the same, where that differs
  const char* tensor_class = nullptr;       // "HalfTensor": torch.HalfTensor
  bool class_is_unnamed = false;        // messages say "CPUBoolType" all the same (class_text.h)
  const char* storage_class = nullptr;      // "HalfStorage": what a checkpoint names its bytes by

  // ---- codes in formats ----
  const char* safetensors = nullptr;
  const char* buffer = nullptr;  // of Python's buffers, in the letters of the struct module
  char numpy = 0;                // numpy.dtype.char
  uint8_t dlpack = 0;            // DLDataTypeCode
  uint8_t tensorflow = 0;        // DataType of tensors in TensorBoard's files
};

inline constexpr DTypeFacts kDTypeFacts[] = {
#define TS_FACTS_OF(CLASS, BYTES, TEXT, SCALAR_TYPE, STORED, PACKED, ...) \
  {.name = TEXT,                                                          \
   .scalar_type = SCALAR_TYPE,                                            \
   .of_class = DTypeClass::CLASS,                                         \
   .bytes = BYTES,                                                        \
   .is_stored = STORED,                                                   \
   .is_packed = PACKED,                                                   \
   __VA_ARGS__},
#define DTYPE(NAME, TYPE, CLASS, TEXT, SCALAR_TYPE, METHOD, ...) \
  TS_FACTS_OF(CLASS, sizeof(TYPE), TEXT, SCALAR_TYPE, false, false, __VA_ARGS__)
#define STORED_DTYPE(NAME, TYPE, CLASS, TEXT, SCALAR_TYPE, ...) \
  TS_FACTS_OF(CLASS, sizeof(TYPE), TEXT, SCALAR_TYPE, true, false, __VA_ARGS__)
#define PACKED_DTYPE(NAME, BYTES, CLASS, TEXT, SCALAR_TYPE, ...) \
  TS_FACTS_OF(CLASS, BYTES, TEXT, SCALAR_TYPE, true, true, __VA_ARGS__)
#include "runtime/dtypes.def"
#undef TS_FACTS_OF
};

}  // namespace tessera::tensor

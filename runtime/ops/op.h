// The registry: one OpEntry for every op, filled by the tables (pointwise.def, reduce.def) and by one registration
// object in each structured op's .cpp. The language binding, help, completion and the generated tests read it.
//
// A call comes in two ways. Fast: unary and binary pointers that take tensors and numbers as they are. Boxed:
// arguments in schema order as OpArg, one kernel for the plain form, the in-place form (`out` = self)
// and out= (`out` = the given tensors).
#pragma once

#include <complex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/context.h"
#include "runtime/ops/schema.h"
#include "runtime/tensor.h"

namespace tessera::tensor {

using OptionalTensor = std::optional<Tensor>;

/// One boxed argument or result. None is monostate; an absent optional argument is None or its schema default.
using OpArg = std::variant<std::monostate, bool, int64_t, double, std::complex<double>, Tensor, TensorList,
                           std::vector<OptionalTensor>, std::vector<int64_t>, std::vector<double>, std::vector<bool>,
                           DType, Device, std::string, CountedPtr<Counted>>;

struct OpEntry;

/// A boxed call. `args` are as many as the schema has arguments, out= left out. With `out` given, results are written
/// there and handed back too.
struct OpCall {
  const OpEntry& entry;
  Context& context;
  std::span<OpArg> args;
  std::span<Tensor> out;       // empty, or self of an in-place call, or the out= tensors
  std::vector<OpArg> results;  // filled by the kernel

  bool none(size_t i) const { return std::holds_alternative<std::monostate>(args[i]); }
  bool is_number(size_t i) const { return args[i].index() >= 1 && args[i].index() <= 4; }
  Tensor& tensor(size_t i) { return std::get<Tensor>(args[i]); }
  Scalar scalar(size_t i) const;
};

using BoxedKernel = void (*)(OpCall&);
using UnaryFast = Tensor (*)(const Tensor& x);
/// `reuse` bit 0: x may be overwritten, bit 1: y may be (the caller holds the only handle and lets go after the call).
using BinaryFast = Tensor (*)(const Tensor& x, const Tensor& y, unsigned reuse);
using TensorScalarFast = Tensor (*)(const Tensor& x, const Scalar& y, unsigned reuse);
using ScalarTensorFast = Tensor (*)(const Scalar& x, const Tensor& y, unsigned reuse);
using UnaryInplace = void (*)(const Tensor& self);
using BinaryInplace = void (*)(const Tensor& self, const Tensor& y);
using ScalarInplace = void (*)(const Tensor& self, const Scalar& y);

/// Unboxed ways into an op; null where there is none. They record gradients like any call.
struct FastPaths {
  UnaryFast unary = nullptr;
  BinaryFast binary = nullptr;
  TensorScalarFast tensor_scalar = nullptr;
  ScalarTensorFast scalar_tensor = nullptr;
  UnaryInplace unary_inplace = nullptr;
  BinaryInplace binary_inplace = nullptr;
  ScalarInplace scalar_inplace = nullptr;
};

enum OpFlag : uint32_t {
  kFunction = 1,         // torch.f(...)
  kMethod = 2,           // Tensor.f(...)
  kInplace = 4,          // Tensor.f_(...)
  kOut = 8,              // out=
  kFunctional = 16,      // torch.nn.functional.f(...)
  kNumberOperands = 32,  // Tensor arguments after the first may be Python numbers
  kView = 64,            // the result shares memory with self
  kNoGrad = 128,         // not differentiable, on purpose
  kRandom = 256,         // draws from a generator
  kLinalg = 512,         // torch.linalg.f(...)
  kSpecial = 1024,       // torch.special.f(...)
  kInternal = 2048,      // not shown to users
  kProperty = 4096,      // Tensor.f without a call (Tensor.T)
  kSizes = 8192,         // an int[] argument may be given as several ints: view(2, 3)
};

struct OpEntry {
  const char* name;  // "add"; several entries may share it, tried in order of registration priority
  const char*
      schema_text;  // PyTorch's form, without out=: "add.alpha(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
  const char* doc;
  uint32_t flags;
  BoxedKernel kernel;
  FastPaths fast = {};
  int priority = 0;  // lower is tried first among entries of one name

  const OpSchema& schema() const;  // parsed on first use, thread-safe
  bool has(OpFlag flag) const { return flags & flag; }

  mutable std::atomic<const OpSchema*> schema_cache{nullptr};
  OpEntry* next = nullptr;
};

/// All entries of one name, best first; empty if there is none. Names are without the trailing _ of in-place forms.
std::span<const OpEntry* const> find_op(std::string_view name);
/// Every entry, sorted by name.
std::span<const OpEntry* const> all_ops();
/// The value of an argument that was left out: its default, None when it has none.
OpArg default_value(const SchemaArg& arg);
/// Runs an entry with arguments in schema order; missing trailing ones take their defaults.
std::vector<OpArg> call_op(const OpEntry& entry, std::vector<OpArg> args, std::span<Tensor> out = {});

/// Adds an entry while the program starts.
struct OpRegistration {
  OpEntry entry;
  OpRegistration(const char* name, const char* schema, const char* doc, uint32_t flags, BoxedKernel kernel,
                 FastPaths fast = {}, int priority = 0);
};

}  // namespace tessera::tensor

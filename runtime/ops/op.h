// The registry: one OpEntry for every op, filled by the tables (pointwise.def, reduce.def) and by one registration
// object in each structured op's .cpp. The language binding, help, completion and the generated tests read it.
//
// A call comes in two ways. Fast: unary and binary pointers that take tensors and numbers as they are. Boxed:
// arguments in schema order as Arg, one kernel for the plain form, the in-place form (`out` = self)
// and out= (`out` = the given tensors).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/context.h"
#include "runtime/ops/argument.h"
#include "runtime/ops/facts.h"
#include "runtime/ops/schema.h"

namespace tessera::tensor {

struct OpEntry;

/// A boxed call. `args` are as many as the schema has arguments, out= left out. With `out` given, results are written
/// there and handed back too.
struct OpCall {
  const OpEntry& entry;
  Context& context;
  std::span<const Arg> args;
  std::span<Tensor> out;  // empty, or self of an in-place call, or the out= tensors
  Results results;        // filled by the kernel

  bool none(size_t i) const { return args[i].is_none(); }
  bool is_number(size_t i) const { return args[i].is_number(); }
  bool is_tensor(size_t i) const { return args[i].is_tensor(); }
  /// The call of the in-place form: `out` is self.
  bool is_inplace() const { return !out.empty() && !args.empty() && is_tensor(0) && args[0].tensor().same(out[0]); }
  const Tensor& tensor(size_t i) const {
    if (!args[i].is_tensor()) [[unlikely]]
      mismatch(i);
    return args[i].tensor();
  }
  /// A number, or the one element of a tensor.
  Scalar scalar(size_t i) const { return args[i].is_number() ? args[i].number() : scalar_of_tensor(i); }
  /// Argument i is no kind that the kernel can read: a binding that did not heed the schema.
  [[noreturn]] void mismatch(size_t i) const;

 private:
  Scalar scalar_of_tensor(size_t i) const;
};

/// What a result will be, before it has memory.
struct Meta {
  Dims sizes;
  DType dtype;
  Device device;
  Dims strides;  // empty: row-major

  Meta(Ints shape, DType type, Device place = kCpu, Ints layout = {})
      : sizes(shape), dtype(type), device(place), strides(layout) {}
  /// Another shape, with the dtype and on the device of `like`.
  Meta(Ints shape, const Tensor& like) : Meta(shape, like.dtype(), like.device()) {}
  /// Shape, strides, dtype and device of a tensor.
  static Meta of(const Tensor& t) { return {t.sizes(), t.dtype(), t.device(), t.strides()}; }
  Tensor allocate() const;
};

using BoxedKernel = void (*)(OpCall&);
using ShapeFunction = std::vector<Meta> (*)(OpCall&);
/// How an entry runs: made by parts<...>() (entry.h).
struct OpParts {
  BoxedKernel kernel;
  ShapeFunction shape = nullptr;  // null: a composition of other ops
  DTypeSet types = kAllTypes;     // of the first tensor
};
enum OpFlag : uint32_t {
  kFunction = 1,            // torch.f(...)
  kMethod = 2,              // Tensor.f(...)
  kInplace = 4,             // Tensor.f_(...)
  kOut = 8,                 // out=
  kFunctional = 16,         // torch.nn.functional.f(...)
  kNumberOperands = 32,     // Tensor arguments after the first may be Python numbers
  kView = 64,               // the result shares memory with self
  kNoGrad = 128,            // not differentiable, on purpose
  kRandom = 256,            // draws from a generator
  kLinalg = 512,            // torch.linalg.f(...)
  kSpecial = 1024,          // torch.special.f(...)
  kInternal = 2048,         // not shown to users
  kProperty = 4096,         // Tensor.f without a call (Tensor.T)
  kSizes = 8192,            // an int[] argument may be given as several ints: view(2, 3)
  kFft = 16384,             // torch.fft.f(...)
  kDataDependent = 32768,   // the shape of the result follows from the data: no metadata without running
  kUninitialised = 65536,   // the result's elements are whatever the memory held: empty and its kin
  kTakesMathBits = 262144,  // reads operands with a conj or neg bit by itself, as views and copies do: math_bits.h
  kLayoutMatters = 131072,  // strides of an operand are part of what the op is: view, as_strided
};

struct OpEntry {
  const char* name;  // "add"; several entries may share it, tried in order of registration priority
  const char*
      schema_text;  // PyTorch's form, without out=: "add.alpha(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
  const char* doc;  // empty: an op that is another name of one (OpFacts::alias_of)
  uint32_t flags;
  BoxedKernel kernel;
  ShapeFunction shape = nullptr;
  DTypeSet types = kAllTypes;
  const char* samples = "";  // calls that must work and calls that must fail, a line each: samples.h
  const OpFacts* facts = &kUsualFacts;
  FastPaths fast = {};  // those of the facts

  const OpSchema& schema() const;  // parsed on first use, thread-safe
  std::string documentation() const;
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

/// What the results of a call would be, without running it: sizes, strides, dtypes, devices. The shape part of a
/// structured op; a composition runs on tensors without data (device 'meta'). Throws what the call would throw.
std::vector<Meta> infer(const OpEntry& entry, std::vector<OpArg> args);
/// A tensor with the layout and dtype of `t` on device 'meta': no data, and none of its history.
Tensor meta_like(const Tensor& t);

/// Adds an entry while the program starts.
struct OpRegistration {
  OpEntry entry;
  OpRegistration(const char* name, const char* schema, const char* doc, uint32_t flags, OpParts parts,
                 const char* samples, const OpFacts& facts = kUsualFacts);
  // The registry keeps its address. What may be copied may also be returned by way of a temporary.
  OpRegistration(const OpRegistration&) = delete;
};

}  // namespace tessera::tensor

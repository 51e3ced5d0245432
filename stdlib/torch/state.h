// What the tensor library adds to an interpreter: its Context, its types, and the way between Values and tensors.
//
// Every entry from the language goes through `in_torch`, which enters the interpreter's Context and turns a TensorError
// into the language's Error.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "lang/core/interpreter.h"
#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "runtime/context.h"
#include "runtime/error.h"
#include "runtime/ops/op.h"
#include "runtime/tensor.h"
#include "stdlib/namespaces.h"

namespace tessera::stdlib {

// The collector hears of a tensor only when it may be part of a cycle: tensor_cycles.h.
struct TensorObject : GcObject {
  Tensor tensor;
};
struct DTypeObject : Object {
  DType dtype = kFloat32;
};
struct DeviceObject : Object {
  Device device;
};
// A value that only has a name: torch.strided, torch.contiguous_format.
struct TagObject : Object {
  const char* text = "";
};
struct GeneratorObject : Object {
  CountedPtr<Counted> generator;
};

struct SavedHooksStack;  // graph_hooks.cpp

// What torch.autocast has set: for a CPU, for CUDA.
struct AutocastModes {
  bool on[2] = {}, cache = true;
  DType dtypes[2] = {kBFloat16, kFloat16};
  int64_t nesting = 0;  // of blocks
  Value weights;        // a dict of what the outermost block has cast: (given, cast) by the address of the given tensor
};

// The stack of function modes, which are asked before a function of torch does its work: torch_function.h.
struct FunctionModes {
  std::vector<Value> entered;  // TorchFunctionMode objects, innermost last
  enum Disabled : uint8_t { Nothing, Subclasses, All } disabled = Nothing;
};

// The innermost call of torch.vmap that runs: batching.h.
struct VmapLevel {
  Value type;  // the class of batched tensors; undefined: none runs
  int64_t level = 0, size = 0;
  uint8_t draws = 0;  // tensor::BatchDraws
};

// The state of torch.profiler: profiler_events.h.
struct ProfilerEvents {
  Value events;                // a list of tuples; undefined: nobody profiles
  std::vector<uint32_t> open;  // which of them have not ended, innermost last
  uint64_t thread = 0;         // whose calls are noted
  int64_t session = 0;
  int64_t fuses_from = 0;  // of the Context, before
  bool with_shapes = false, with_stack = false, is_full = false;
};

// Who is asked below autograd: dispatch.h.
struct DispatchModes {
  Value modes;  // a list of TorchDispatchMode objects, innermost last; undefined: none was entered
  bool classes_off = false;
};

// Tensors without memory: Note [Hollow tensors] in dispatch.h.
struct HollowTable;
struct HollowRows {
  std::shared_ptr<HollowTable> table;  // null: there are none
  HollowRows() = default;
  HollowRows(const HollowRows&) = delete;
  ~HollowRows();
};

struct TorchState {
  static constexpr size_t kRecentSizes = 16;  // a power of two

  Context context;
  int64_t fuses_by_default = Context::kNever;  // of the Context, for a new thread
  Type *tensor = nullptr, *dtype = nullptr, *device = nullptr, *size = nullptr, *generator = nullptr, *layout = nullptr,
       *memory_format = nullptr;
  Value dtypes[kDTypeCount];
  Value default_generator;
  const OpEntry* binary_ops[14] = {};  // by BinaryOp; null: the operator is not defined for tensors
  const OpEntry* unary_ops[3] = {};    // by UnaryOp
  const OpEntry* compare_ops[6] = {};  // by CompareOp
  const OpEntry* reciprocal = nullptr;
  void* array_calls = nullptr;  // ArrayCalls of numpy, once it is imported: stdlib/numpy/native/array_calls.cpp
  uint32_t modes = 0;  // who stands at the door of ops: DoorMode in torch_function.h
  AutocastModes autocast;
  FunctionModes function_modes;
  ProfilerEvents profiler;
  VmapLevel vmap;
  DispatchModes dispatch;
  HollowRows hollow;
  bool device_error_told = false;  // a device's driver refused something, and the script was told
  bool warned_of_scalar = false;   // float(t) of a tensor that requires a gradient
  bool warned_of_storage = false;  // t.storage()
  bool warned_of_order = false;    // of arguments: add(t, alpha, other)
  std::vector<std::pair<int, StreamHandle>> cuda_streams;  // (device, stream) that the program was given
  std::vector<Device> outer_devices;                       // what `with torch.device(...)` blocks go back to
  std::shared_ptr<SavedHooksStack> saved_hooks;
  std::unordered_map<std::string, Value> ops_by_name;       // function objects of call_op_by_name
  Value recent_sizes[kRecentSizes];                         // torch.Size objects to hand out again, see wrap_size
  std::vector<std::pair<std::string, Type*>> return_types;  // torch.return_types.max …
  std::vector<std::pair<std::string, Type*>> node_types;    // MulBackward0 …
};

TorchState& torch_state(Interpreter& in);
// Warnings of the tensor library go through the module `warnings`: filters, places and recording are its.
void warn_through_language(Interpreter& in);

inline bool is_tensor(const TorchState& state, const Value& v) {
  return v.is_object() && (v.as_object()->type == state.tensor || (v.as_object()->kind == ObjectKind::Native &&
                                                                   v.as_object()->type->is_subtype_of(state.tensor)));
}
inline Tensor& tensor_of(const Value& v) { return known_cast<TensorObject>(v)->tensor; }

Value wrap_tensor(Interpreter& in, Tensor tensor);
Value wrap_size(Interpreter& in, Ints sizes);
Value wrap_device(Interpreter& in, Device device);
Value wrap_number(Interpreter& in, const Scalar& number);
Value wrap_result(Interpreter& in, const OpArg& result);
// int, float, bool and complex of the language; false for anything else.
bool to_scalar(const Value& v, Scalar& out);

// The tensor of a tensor or of a numpy array; TypeError "must be Tensor, not X" otherwise.
Tensor& expect_tensor(Interpreter& in, const Value& v, const char* what);
// The type of an argument as messages about calls name it: those of numpy with their module.
std::string given_type(Interpreter& in, const Value& v);
// torch.float32, or float, int, bool as dtypes; false for anything else.
bool to_dtype(Interpreter& in, const Value& v, DType& out);
// A device object, "cuda:0", or an index of a CUDA device; false for anything else.
bool to_device(Interpreter& in, const Value& v, Device& out);

// Throws the language's error for one of the tensor library; `operands` are described in its notes.
[[noreturn]] void rethrow(Interpreter& in, const TensorError& error, std::span<const Value> operands);
// "float32[2, 3]", for notes.
std::string describe(const Tensor& t);

template <class F>
decltype(auto) in_torch(Interpreter& in, std::span<const Value> operands, F&& f) {
  ContextScope scope(torch_state(in).context);
  try {
    return f();
  } catch (const TensorError& error) {
    rethrow(in, error, operands);
  }
}
template <class F>
decltype(auto) in_torch(Interpreter& in, const Args& args, F&& f) {
  return in_torch(in, std::span<const Value>(args.values, args.count), std::forward<F>(f));
}

template <class F>
decltype(auto) in_torch(Interpreter& in, const Value& operand, F&& f) {
  return in_torch(in, std::span<const Value>(&operand, 1), std::forward<F>(f));
}

}  // namespace tessera::stdlib

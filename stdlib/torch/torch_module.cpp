// compile: small (runs once)
#include "stdlib/torch/torch_module.h"
#include "stdlib/torch/thread_modes.h"

#include <algorithm>
#include <cmath>

#include "lang/objects/module.h"
#include "lang/core/protocol.h"
#include "lang/types/dict.h"
#include "runtime/autograd/engine.h"
#include "runtime/device/backend.h"
#include "runtime/device/memory.h"
#include "runtime/ops/pinned.h"
#include "runtime/plan.h"
#include "runtime/ops/random_draws.h"
#include "stdlib/torch/arrays.h"
#include "stdlib/torch/autocast.h"
#include "stdlib/torch/batching.h"
#include "stdlib/torch/c_module.h"
#include "stdlib/torch/graph.h"
#include "stdlib/torch/op_namespaces.h"
#include "stdlib/torch/op_call.h"
#include "stdlib/torch/cuda_module.h"
#include "stdlib/torch/dlpack_capsule.h"
#include "stdlib/torch/forward_mode.h"
#include "stdlib/torch/dispatch.h"
#include "stdlib/torch/sparse_tensors.h"
#include "stdlib/torch/launch_log.h"
#include "stdlib/torch/storage_memory.h"
#include "stdlib/torch/tensor_type.h"
#include "stdlib/torch/profiler_events.h"
#include "stdlib/torch/torch_function.h"

namespace tessera::stdlib {
namespace {

void set(Interpreter& in, Module& module, std::string_view name, const Value& value) {
  dict_set_str(in, module.dict, intern(in, name), value);
}

Value type_value(Type* type) { return Value(static_cast<Object*>(type)); }

// Functions --------------------------------------------------------------------------------------------------------

Value finish(Interpreter& in, Tensor t, const Value& requires_grad) {
  if (truth(in, requires_grad)) {
    check(is_differentiable(t.dtype()), TensorErrorKind::Runtime,
          "Only Tensors of floating point and complex dtype can require gradients");
    set_requires_grad(t, true);
  }
  return wrap_tensor(in, std::move(t));
}

void check_options(Interpreter& in, const char* function, const Value& dtype) {
  DType ignored;
  if (dtype.is_none() || to_dtype(in, dtype, ignored)) return;
  throw Error(ErrorKind::TypeError, std::string(function) + "(): argument 'dtype' must be torch.dtype, not " +
                                        std::string(type_name(in, dtype)));
}

Value make_tensor(Interpreter& in, const Args& args) {
  check_options(in, "tensor", args[1]);
  if (is_tensor(torch_state(in), args[0]))
    in_torch(in, args[0], [] {
      Context::current().warn(
          "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
          "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).");
    });
  if (is_sparse(torch_state(in), args[0])) return call_sparse(in, "_copied", {args[0], args[1], args[2], args[3]});
  return in_torch(in, args[0], [&] {
    Tensor made = tensor_from_data(in, args[0], args[1], args[2], true);
    if (truth(in, args[4])) made = pin_memory(made);
    const Value fresh = finish(in, std::move(made), args[3]);
    auto answer = dispatch(in, "lift_fresh", Args{&fresh, 1});
    return answer ? *std::move(answer) : fresh;
  });
}

Value as_tensor(Interpreter& in, const Args& args) {
  check_options(in, "as_tensor", args[1]);
  return in_torch(in, args[0], [&]() -> Value {
    Tensor t = tensor_from_data(in, args[0], args[1], args[2], false);
    if (is_tensor(torch_state(in), args[0]) && t.same(tensor_of(args[0]))) return args[0];
    return wrap_tensor(in, std::move(t));
  });
}

Value from_numpy(Interpreter& in, const Args& args) {
  if (is_tensor(torch_state(in), args[0]) || !is_array(in, args[0]))
    throw Error(ErrorKind::TypeError, "expected np.ndarray (got " + given_type(in, args[0]) + ")");
  return wrap_tensor(in, expect_tensor(in, args[0], "array"));
}

Value is_tensor_object(Interpreter& in, const Args& args) {
  return Value::boolean(is_tensor(torch_state(in), args[0]));
}

Value is_array_object(Interpreter& in, const Args& args) { return Value::boolean(is_array(in, args[0])); }

Value manual_seed(Interpreter& in, const Args& args) {
  const Value number = call(in, type_value(in.types.integer), {args[0]});
  TorchState& state = torch_state(in);
  return in_torch(in, args, [&] {
    seed_everywhere(static_cast<uint64_t>(number.as_int()));
    return state.default_generator;
  });
}

Value initial_seed(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] {
    return Value::integer(static_cast<int64_t>(torch_state(in).context.generator().initial_seed()));
  });
}

Value seed(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] {
    const int64_t seed = seed_anew(in, torch_state(in).context.generator());
    seed_everywhere(static_cast<uint64_t>(seed));
    return Value::integer(seed);
  });
}

Value get_default_dtype(Interpreter& in, const Args&) {
  return torch_state(in).dtypes[static_cast<int>(torch_state(in).context.default_dtype)];
}

Value set_default_dtype(Interpreter& in, const Args& args) {
  DType dtype;
  if (!to_dtype(in, args[0], dtype)) throw Error(ErrorKind::TypeError, "invalid dtype object");
  if (!is_floating(dtype))
    throw Error(ErrorKind::TypeError, "only floating-point types are supported as the default type");
  if (!tensor::kFloatTypes.has(dtype))
    throw Error(ErrorKind::TypeError, std::string("couldn't find storage object ") + scalar_type_name(dtype) + "Storage");
  torch_state(in).context.default_dtype = dtype;
  return Value::none();
}

Value set_device(Interpreter& in, const Args& args) {
  set_default_device(in, args[0].is_none() ? std::string("cpu") : str_text(in, args[0]));
  return Value::none();
}

Value grad_enabled(Interpreter& in, const Args&) { return Value::boolean(torch_state(in).context.grad_enabled); }
Value inference_enabled(Interpreter& in, const Args&) { return Value::boolean(torch_state(in).context.inference_mode); }

Value promote(Interpreter& in, const Args& args) {
  DType a, b;
  if (!to_dtype(in, args[0], a) || !to_dtype(in, args[1], b))
    throw Error(ErrorKind::TypeError, "promote_types(): arguments must be torch.dtype");
  return torch_state(in).dtypes[static_cast<int>(promote_types(a, b))];
}

Value can_cast_types(Interpreter& in, const Args& args) {
  DType a, b;
  if (!to_dtype(in, args[0], a) || !to_dtype(in, args[1], b))
    throw Error(ErrorKind::TypeError, "can_cast(): arguments must be torch.dtype");
  return Value::boolean(can_cast(a, b));
}

Value result_type(Interpreter& in, const Args& args) {
  PromotionState promotion;
  for (uint32_t i = 0; i < 2; ++i) {
    Scalar number;
    if (to_scalar(args[i], number)) promotion.add(number);
    else promotion.add(expect_tensor(in, args[i], "result_type(): argument"));
  }
  return in_torch(in, args, [&] { return torch_state(in).dtypes[static_cast<int>(promotion.result())]; });
}

Value floating_point(Interpreter& in, const Args& args) {
  return Value::boolean(
      is_floating(expect_tensor(in, args[0], "is_floating_point(): argument 'input' (position 1)").dtype()));
}

Value count_elements(Interpreter& in, const Args& args) {
  return Value::integer(expect_tensor(in, args[0], "numel(): argument 'input' (position 1)").numel());
}

Value get_num_threads(Interpreter& in, const Args&) { return Value::integer(torch_state(in).context.threads); }
Value set_num_threads(Interpreter& in, const Args& args) {
  if (args[0].as_int() <= 0) throw Error(ErrorKind::RuntimeError, "set_num_threads expects a positive integer");
  set_tensor_threads(in, static_cast<int>(args[0].as_int()));
  return Value::none();
}

struct Row {
  const char* signature;
  NativeFn function;
  const char* doc;
};

const Row kFunctions[] = {
    {"tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False)", make_tensor,
     "A tensor that holds a copy of nested lists, numbers or an array."},
    {"as_tensor(data, dtype=None, device=None)", as_tensor, "Like tensor, but without a copy where none is needed."},
    {"from_numpy(ndarray)", from_numpy, "A tensor that shares the memory of a numpy array."},
    {"is_tensor(obj)", is_tensor_object, "Whether obj is a tensor."},
    {"_is_ndarray(obj)", is_array_object, ""},
    {"manual_seed(seed)", manual_seed, "Sets the seed of the default generator."},
    {"initial_seed()", initial_seed, "The seed of the default generator."},
    {"seed()", seed, "Takes a seed from the system and answers it."},
    {"get_default_dtype()", get_default_dtype, "The dtype of new floating-point tensors."},
    {"set_default_dtype(d)", set_default_dtype, "Sets the dtype of new floating-point tensors."},
    {"set_default_device(device)", set_device, "Sets where new tensors are made."},
    {"is_grad_enabled()", grad_enabled, "Whether operations are recorded."},
    {"is_inference_mode_enabled()", inference_enabled, "Whether inference mode is on."},
    {"promote_types(type1, type2)", promote, "The smallest dtype that holds both."},
    {"can_cast(from_, to)", can_cast_types, "Whether values of one dtype may be written into the other."},
    {"result_type(tensor1, tensor2)", result_type, "The dtype of an operation on both."},
    {"is_floating_point(input)", floating_point, "Whether the elements are floating-point numbers."},
    {"numel(input)", count_elements, "The number of elements."},
    {"get_num_threads()", get_num_threads, "How many threads an operation may use."},
    {"set_num_threads(n: int)", set_num_threads, "Sets how many threads an operation may use."},
};

// Names ------------------------------------------------------------------------------------------------------------

const char* const kSubmodules[] = {"_C",         "_ops",          "_script",       "nn",
                                   "optim",      "utils",         "autograd",      "cuda",
                                   "fft",        "backends",      "linalg",        "random",
                                   "special",    "storage",       "amp",           "func",
                                   "profiler",   "distributions", "serialization", "_utils",
                                   "testing",    "accelerator",   "compiler",      "distributed",
                                   "functional", "hub",           "jit",           "multiprocessing",
                                   "overrides",  "sparse",        "types",         "version",
                                   "mps",        "cpu",           "_dynamo",       "onnx",
                                   "signal",     "masked",        "fx",           "__config__",
                                   "futures",    "ao",            "_tensor_str",    "library",
                                   "export",        "_higher_order_ops"};

// What of the package is written in the language: what every program may touch, and compositions, read when a name is in no
// other place.
const char* const kScriptParts[] = {"torch._script", "torch._compositions", "torch._copies", "torch._rarely", "torch._symbolic"};
const char* const kTensorTypes = "torch._tensor_types";  // torch.FloatTensor and its kin

const char* const kSymbols = "torch.fx.experimental.symbolic_shapes";

// Names of the package that stand in one of its modules.
const std::pair<std::string_view, const char*> kElsewhere[] = {
    {"save", "torch.serialization"}, {"load", "torch.serialization"},       {"frombuffer", "torch.storage"},
    {"GradScaler", "torch.amp"},     {"from_dlpack", "torch.utils.dlpack"}, {"to_dlpack", "torch.utils.dlpack"},
    {"autocast", "torch.amp"},       {"svd_lowrank", "torch._lowrank"},     {"pca_lowrank", "torch._lowrank"},
    {"Future", "torch.futures"},     {"SymInt", kSymbols},                  {"SymFloat", kSymbols},
    {"SymBool", kSymbols},           {"PyTorchFileReader", "torch._archive"}, {"PyTorchFileWriter", "torch._archive"},
    {"ops", "torch._dispatch"},      {"ScriptModule", "torch.jit"},         {"ScriptFunction", "torch.jit"},
    {"sparse_coo_tensor", "torch._sparse"}, {"sparse_compressed_tensor", "torch._sparse"},
    {"sparse_csr_tensor", "torch._sparse"}, {"sparse_csc_tensor", "torch._sparse"},
    {"sparse_bsr_tensor", "torch._sparse"}, {"sparse_bsc_tensor", "torch._sparse"},
    {"dsmm", "torch._sparse"},              {"hsmm", "torch._sparse"},
    {"smm", "torch._sparse"},               {"spmm", "torch._sparse"},
    {"sspaddmm", "torch._sparse"},          {"saddmm", "torch._sparse"}};

Value tag(Interpreter& in, Type* type, const char* text) {
  auto* object = make_object<TagObject>(in, type);
  object->text = text;
  return Value::adopt(object);
}

// Whether an op's function in torch takes its tensors one by one: the library's script part makes a list of them.
bool is_gathered(std::string_view name) {
  const auto entries = tensor::find_op(name);
  return !entries.empty() && entries[0]->facts->gathers;
}

// Ops become function objects, and parts of the package are imported, when they are first named.
Value missing_in_torch(Interpreter& in, Module&, Str* name) {
  const std::string_view text = name->view();
  if (!is_gathered(text))
    if (Value function = find_in_namespace(in, *find_namespace("torch"), text); !function.is_undefined())
      return function;
  for (const char* submodule : kSubmodules)
    if (text == submodule) return Value(static_cast<Object*>(in.import("torch." + std::string(text))));
  if (text.starts_with("__")) return Value();
  for (const auto& [each, module] : kElsewhere)
    if (text == each) return find_attr(in, Value(static_cast<Object*>(in.import(module))), name);
  if (text.ends_with("Storage")) return find_attr(in, Value(static_cast<Object*>(in.import("torch.storage"))), name);
  if (text.ends_with("Tensor"))
    if (const Value type = find_attr(in, Value(static_cast<Object*>(in.import(kTensorTypes))), name);
        !type.is_undefined())
      return type;
  if (text.starts_with("_foreach_"))
    return find_attr(in, Value(static_cast<Object*>(in.import("torch._foreach"))), name);
  for (const char* part : kScriptParts)
    if (const Value found = find_attr(in, Value(static_cast<Object*>(in.import(part))), name); !found.is_undefined())
      return found;
  return Value();
}

void names_of_torch(Interpreter& in, Module&, Dict* names) {
  const auto add = [&](std::string_view name) { dict_set_str(in, names, intern(in, name), Value::none()); };
  for (const std::string& name : names_in_namespace(*find_namespace("torch"))) add(name);
  for (const char* submodule : kSubmodules) add(submodule);
  for (const auto& [each, module] : kElsewhere) add(each);
  const auto add_of = [&](const char* part) {
    dict_for_each(in.import(part)->dict, [&](const Value& key, const Value&) {
      if (!text_of(key).starts_with("_")) add(text_of(key));
    });
  };
  for (const char* part : kScriptParts) add_of(part);
  add_of(kTensorTypes);
}

// Every op by its name in the registry, also those that are shown nowhere; with an underscore behind it, into its first operand.
Value missing_in_ops(Interpreter& in, Module&, Str* name) {
  std::string_view registered = name->view();
  std::span<const OpEntry* const> entries = find_op(registered);
  const bool inplace = entries.empty() && registered.ends_with('_');
  if (inplace) registered.remove_suffix(1), entries = find_op(registered);
  if (entries.empty() && registered.find("Op") != registered.npos)
    return find_attr(in, Value(static_cast<Object*>(in.import("torch._dispatch._operators"))), name);
  if (entries.empty()) return Value();
  return make_op_function(in, {std::string(name->view()), {entries.begin(), entries.end()}, false, inplace});
}

void fill_torch(Interpreter& in, Module& module) {
  TorchState& state = *in.keep(new TorchState);
  in.extension = &state;
  if (in.limits.device_bytes != 0) state.context.device_limit = static_cast<int64_t>(in.limits.device_bytes);
  if (in.limits.tensor_bytes != 0) state.context.account->set_limit(static_cast<int64_t>(in.limits.tensor_bytes));
  state.context.fuses_from = tensor::fuses_from_environment();
  state.context.generates_code = tensor::generates_code_environment();
  state.context.host_flags = &in.interrupt;
  state.context.host_stops = kStops;
  state.context.host_countdown = &in.countdown;
  keep_modes_per_thread(in);
  warn_through_language(in);
  note_launches(in);
  make_small_types(in, state);
  make_tensor_type(in, state);

  auto* generator = make_object<GeneratorObject>(in, state.generator);
  state.default_generator = Value::adopt(generator);
  {
    ContextScope scope(state.context);
    generator->generator = CountedPtr<Counted>::share(&state.context.generator());
  }
  for (int i = 0; i < kDTypeCount; ++i) {
    set(in, module, kDTypeFacts[i].name, state.dtypes[i]);
    if (kDTypeFacts[i].alias != nullptr) set(in, module, kDTypeFacts[i].alias, state.dtypes[i]);
  }
  set(in, module, "Tensor", type_value(state.tensor));
  set(in, module, "Size", type_value(state.size));
  set(in, module, "device", type_value(state.device));
  set(in, module, "dtype", type_value(state.dtype));
  set(in, module, "Generator", type_value(state.generator));
  set(in, module, "default_generator", state.default_generator);
  set(in, module, "layout", type_value(state.layout));
  set(in, module, "memory_format", type_value(state.memory_format));
  for (const char* text : {"torch.strided", "torch.sparse_coo", "torch.sparse_csr", "torch.sparse_csc", "torch.sparse_bsr", "torch.sparse_bsc"})
    set(in, module, std::string_view(text).substr(6), tag(in, state.layout, text));
  for (const char* text :
       {"torch.contiguous_format", "torch.preserve_format", "torch.channels_last", "torch.channels_last_3d"})
    set(in, module, std::string_view(text).substr(6), tag(in, state.memory_format, text));
  set(in, module, "inf", Value::real(HUGE_VAL));
  set(in, module, "nan", Value::real(NAN));
  set(in, module, "pi", Value::real(M_PI));
  set(in, module, "e", Value::real(M_E));
  set(in, module, "__version__", make_str(in, "2.15.0+tessera"));
  for (const Row& row : kFunctions) in.def(module, row.signature, row.doc, row.function);
  module.missing = missing_in_torch;
  module.names = names_of_torch;
  module.is_package = true;
}

// Classes of torch._C that are written in the language, and the names under which code that torch.fx generates finds ops.
Value missing_in_c(Interpreter& in, Module&, Str* name) {
  for (const char* module : {"torch.nn", "torch.linalg", "torch.special", "torch.fft"})
    if (name->view() == "_" + std::string(module + 6))
      return Value(static_cast<Object*>(in.import(name->view() == "_nn" ? "torch.nn.functional" : module)));
  if (name->view() == "_TensorMeta") return Value(static_cast<Object*>(torch_state(in).tensor->type));
  if (name->view() == "TensorBase") return Value(static_cast<Object*>(torch_state(in).tensor->bases.front()));
  if (name->view() == "_DisableTorchDispatch")
    return find_attr(in, Value(static_cast<Object*>(in.import("torch.utils._python_dispatch"))), name);
  if (name->view().starts_with("__")) return Value();
  const bool disables = name->view() == "DisableTorchFunction" || name->view() == "DisableTorchFunctionSubclass";
  return find_attr(in, Value(static_cast<Object*>(in.import(disables ? "torch.overrides" : "torch._c_names"))), name);
}

void fill_c(Interpreter& in, Module& module) {
  in.import("torch");
  add_graph_functions(in, module);
  add_autocast_functions(in, module);
  add_c_functions(in, module);
  add_torch_function_functions(in, module);
  add_batching_functions(in, module);
  add_dispatch_functions(in, module);
  add_sparse_functions(in, module);
  add_profiler_functions(in, module);
  module.missing = missing_in_c;
  add_memory_functions(in, module);
  add_dlpack_functions(in, module);
  add_forward_mode_functions(in, module);
}

void fill_ops(Interpreter& in, Module& module) {
  in.import("torch");
  module.missing = missing_in_ops;
}

}  // namespace

void add_torch_modules(Interpreter& in) {
  in.add_native_module("torch", fill_torch);
  in.add_native_module("torch._C", fill_c);
  in.add_native_module("torch._ops", fill_ops);
  in.add_native_module("torch._cuda", fill_cuda);
}

void set_default_device(Interpreter& in, std::string_view device) {
  in.import("torch");
  in_torch(in, std::span<const Value>(), [&] {
    // Making one tensor there finds out whether the device can be had.
    const Device wanted = Device::parse(device);
    Tensor::empty({1}, kFloat32, wanted);
    torch_state(in).context.default_device = wanted;
  });
}

void wait_for_devices(Interpreter& in) {
  if (!has_launched(in) || torch_state(in).device_error_told) return;  // a device that is lost says so each time
  in_torch(in, std::span<const Value>(), [&] {
    for (int k = 0; k < cuda_backend().device_count(); k++) synchronize(Device{DeviceType::Cuda, k});
  });
}

int64_t seed_anew(Interpreter& in, Generator& generator) {
  if (in.limits.entropy) return static_cast<int64_t>(generator.seed());
  generator.manual_seed(Generator::kDefaultSeed);
  return static_cast<int64_t>(Generator::kDefaultSeed);
}

void set_tensor_threads(Interpreter& in, int threads) {
  in.import("torch");
  torch_state(in).context.threads = threads;
}

}  // namespace tessera::stdlib

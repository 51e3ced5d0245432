// compile: small (seldom in an inner loop)
#include "stdlib/torch/c_module.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "runtime/device/backend.h"
#include "runtime/device/generator.h"
#include "runtime/device/memory.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "runtime/autograd/node.h"
#include "lang/types/list.h"
#include "runtime/format.h"
#include "runtime/ops/out_types.h"
#include "runtime/ops/random_draws.h"
#include "runtime/ops/refuse.h"
#include "stdlib/torch/convert.h"
#include "stdlib/torch/cuda_module.h"
#include "stdlib/torch/error_notes.h"
#include "stdlib/torch/op_namespaces.h"
#include "stdlib/torch/table.h"

namespace tessera::stdlib {
namespace {

const Tensor& tensor_argument(const Args& args) { return tensor_of(args[0]); }

// numpy ------------------------------------------------------------------------------------------------------------

// None, or (threshold, edgeitems, linewidth, precision, suppress, fixed).
NumpyOptions print_options(const Value& v) {
  NumpyOptions options;
  if (v.is_none()) return options;
  const Value* items = as_tuple(v)->items;
  options.threshold = items[0].as_int();
  options.edge = items[1].as_int();
  options.linewidth = items[2].as_int();
  options.precision = static_cast<int>(items[3].as_int());
  options.suppress = items[4].as_bool();
  options.fixed = items[5].as_bool();
  return options;
}

Value numpy_text(Interpreter& in, const Args& args) {
  return make_str(in, in_torch(in, args, [&] { return numpy_str(tensor_argument(args), print_options(args[1])); }));
}

Value numpy_representation(Interpreter& in, const Args& args) {
  return make_str(in, in_torch(in, args, [&] { return numpy_repr(tensor_argument(args), print_options(args[1])); }));
}

// The float64 whose repr has the digits that tell a float32 from its neighbours.
Value shortest_float(Interpreter& in, const Args& args) {
  const double number = in_torch(in, args, [&] { return tensor_argument(args).item().to_double(); });
  if (!std::isfinite(number)) return Value::real(number);
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, static_cast<float>(number)).ptr;
  double widened = number;
  std::from_chars(text, end, widened);
  return Value::real(widened);
}

Value read_table(Interpreter& in, const Args& args) {
  TableFormat format;
  if (is_str(args[1])) format.delimiter = text_of(args[1]);
  format.comments = is_str(args[2]) ? std::string(text_of(args[2])) : "";
  format.skip_rows = args[3].as_int();
  format.max_rows = args[4].as_int();
  if (!args[5].is_none()) {
    format.all_columns = false;
    to_ints(in, args[5], format.columns);
  }
  DType dtype = kFloat64;
  if (!args[6].is_none() && !to_dtype(in, args[6], dtype))
    throw Error(ErrorKind::TypeError, "dtype must be a torch.dtype");
  return in_torch(in, args[0], [&] { return wrap_tensor(in, parse_table(text_of(args[0]), format, dtype)); });
}

// The generator that a device's numbers come from where none is given.
Value cuda_default_generator(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] {
    TorchState& state = torch_state(in);
    if (draws_on_host()) return state.default_generator;
    const Device device = cuda_argument(args[0]);
    auto* object = make_object<GeneratorObject>(in, state.generator);
    const Value made = Value::adopt(object);
    object->generator =
        make_counted<Generator>(device, CountedPtr<DeviceGenerator>::share(&state.context.generator(device)));
    return made;
  });
}

Value set_tf32(Interpreter& in, const Args& args) {
  torch_state(in).context.tf32 = args[0].as_bool();
  return Value::none();
}

// finfo and iinfo --------------------------------------------------------------------------------------------------

template <class T>
Value float_limits(Interpreter& in) {
  using Limits = std::numeric_limits<T>;
  return make_tuple(in, {Value::real(Limits::epsilon()), Value::real(Limits::max()), Value::real(Limits::lowest()),
                         Value::real(Limits::min())});
}

// The C++ type of a dtype's elements, as PyTorch's messages name it.
Value type_text(Interpreter& in, const Args& args) {
  DType dtype = kFloat32;
  if (!to_dtype(in, args[0], dtype)) throw Error(ErrorKind::TypeError, "dtype must be a torch.dtype");
  return make_str(in, cpp_name(dtype));
}

// Refuses the tensor's dtype in the name of the CPU's kernel, or of CUDA's for it.
Value refuse_tensor(Interpreter& in, const Args& args) {
  in_torch(in, args, [&] {
    tensor::refuse_type(expect_tensor(in, args[0], "input"), std::string(as_str(args[1])->view()).c_str());
  });
  return Value::none();
}

Value limits_of(Interpreter& in, const Args& args) {
  DType dtype;
  if (!to_dtype(in, args[0], dtype))
    throw Error(ErrorKind::TypeError, "finfo(): argument 'type' (position 1) must be torch.dtype, not " +
                                          std::string(type_name(in, args[0])));
  switch (dtype) {
    case DType::Float32: return float_limits<float>(in);
    case DType::Float64: return float_limits<double>(in);
    case DType::Float16:
      return make_tuple(
          in, {Value::real(0.0009765625), Value::real(65504), Value::real(-65504), Value::real(6.103515625e-05)});
    case DType::BFloat16:
      return make_tuple(in, {Value::real(0.0078125), Value::real(3.3895313892515355e+38),
                             Value::real(-3.3895313892515355e+38), Value::real(1.1754943508222875e-38)});
    default: break;
  }
  if (!is_integral(dtype)) return Value::none();
  const int bits = static_cast<int>(item_size(dtype)) * 8;
  const bool is_unsigned =
      dtype == kUInt8 || dtype == DType::UInt16 || dtype == DType::UInt32 || dtype == DType::UInt64;
  // The largest of uint64 is no int of the language: the largest int stands for it.
  const int top_bits = is_unsigned && bits < 64 ? bits : bits - 1;
  const int64_t top = static_cast<int64_t>((uint64_t{1} << top_bits) - 1);
  return make_tuple(in, {Value::integer(bits), Value::integer(top), Value::integer(is_unsigned ? 0 : -top - 1)});
}

// Printing and the generator's state -------------------------------------------------------------------------------

// precision, threshold, edgeitems, linewidth, sci_mode; None leaves an option as it is.
Value set_print_options(Interpreter& in, const Args& args) {
  FormatOptions& format = torch_state(in).context.format;
  if (!args[0].is_none()) format.precision = static_cast<int>(index(in, args[0]));
  if (!args[1].is_none()) format.threshold = args[1].is_float() ? INT64_MAX : index(in, args[1]);
  if (!args[2].is_none()) format.edgeitems = index(in, args[2]);
  if (!args[3].is_none()) format.linewidth = index(in, args[3]);
  using Scientific = FormatOptions::Scientific;
  if (!args[4].is_undefined())
    format.sci_mode = args[4].is_none()    ? Scientific::Choose
                      : truth(in, args[4]) ? Scientific::Always
                                           : Scientific::Never;
  return Value::none();
}

Generator& generator_argument(Interpreter& in, const Value& v) {
  if (!v.is_object() || v.as_object()->type != torch_state(in).generator)
    throw Error(ErrorKind::TypeError, "expected a torch.Generator, got " + std::string(type_name(in, v)));
  return static_cast<Generator&>(*object_cast<GeneratorObject>(v)->generator);
}

Value generator_state(Interpreter& in, const Args& args) {
  return in_torch(in, args[0], [&] {
    const std::vector<uint8_t> bytes = generator_argument(in, args[0]).state();
    return wrap_tensor(in, Tensor::from_values(bytes, {static_cast<int64_t>(bytes.size())}));
  });
}

Value set_generator_state(Interpreter& in, const Args& args) {
  const Tensor& state = expect_tensor(in, args[1], "state");
  in_torch(in, args[1], [&] {
    check(state.dtype() == kUInt8 && state.is_contiguous(), TensorErrorKind::Type,
          "RNG state must be a torch.ByteTensor");
    generator_argument(in, args[0]).set_state({state.data<uint8_t>(), static_cast<size_t>(state.numel())});
  });
  return Value::none();
}

// A part of the package that is written in the language also has the ops that name it in their flags.
Value show_ops(Interpreter& in, const Args& args) {
  show_ops_in(*in.import(text_of(args[0])));
  return Value::none();
}

struct Row {
  const char* signature;
  NativeFn function;
};

// A composition that is one op in PyTorch: its last step takes that op's name.
Value name_step(Interpreter&, const Args& args) {
  static constexpr const char* kNames[] = {"DivBackward1", "EmbeddingBagBackward0", "ViewBackward0"};
  const Tensor& t = tensor_argument(args);
  if (needs_grad(t) && grad_fn_of(t))
    for (const char* name : kNames)
      if (text_of(args[1]) == name) grad_fn_of(t)->name = name;
  return args[0];
}

Value note_refused(Interpreter& in, const Args& args) {
  note_refusal(in, args[0]);
  return Value::none();
}

const Row kRows[] = {
    {"_note_refused(exception)", note_refused},
    {"_name_step(tensor: Tensor, name: str)", name_step},
    {"_numpy_str(tensor: Tensor, options=None)", numpy_text},
    {"_numpy_repr(tensor: Tensor, options=None)", numpy_representation},
    {"_shortest_float(tensor: Tensor)", shortest_float},
    {"_parse_table(text: str, delimiter, comments, skip_rows: int, max_rows: int, columns, dtype)", read_table},
    {"_cuda_default_generator(device)", cuda_default_generator},
    {"_set_tf32(allowed: bool)", set_tf32},
    {"_show_ops(module: str)", show_ops},
    {"_limits(dtype)", limits_of},
    {"_type_text(dtype)", type_text},
    {"_refuse_type(input, kernel: str)", refuse_tensor},
    {"_set_print_options(precision, threshold, edgeitems, linewidth, sci_mode)", set_print_options},
    {"_generator_state(generator)", generator_state},
    {"_set_generator_state(generator, state)", set_generator_state},
};

}  // namespace

void add_c_functions(Interpreter& in, Module& module) {
  for (const Row& row : kRows) in.def(module, row.signature, "", row.function);
}

}  // namespace tessera::stdlib

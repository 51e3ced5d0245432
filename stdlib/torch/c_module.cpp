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
#include "lang/types/bigint.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "runtime/format.h"
#include "runtime/ops/out_types.h"
#include "runtime/ops/random_draws.h"
#include "runtime/class_text.h"
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

// From how many elements on launches of pointwise ops wait for those that follow (as TSR_FUSE); answers what was set before.
Value set_fusing(Interpreter& in, const Args& args) {
  tensor::Context& context = torch_state(in).context;
  const int64_t before = context.fuses_from;
  context.fuses_from = tensor::fuses_from_setting(args[0].as_int());
  if (context.fuses_from == tensor::Context::kNever) tensor::PendingLaunches::flush();
  return Value::integer(before == tensor::Context::kNever ? 0 : before);
}

// finfo and iinfo --------------------------------------------------------------------------------------------------

// The C++ type of a dtype's elements, as PyTorch's messages name it.
Value type_text(Interpreter& in, const Args& args) {
  DType dtype = kFloat32;
  if (!to_dtype(in, args[0], dtype)) throw Error(ErrorKind::TypeError, "dtype must be a torch.dtype");
  return make_str(in, cpp_name(dtype));
}

// "torch.FloatTensor"
Value class_text_of(Interpreter& in, const Args& args) {
  const Tensor& t = expect_tensor(in, args[0], "input");
  return make_str(in, tensor::class_text(t.dtype(), t.device()));
}

// Refuses the tensor's dtype in the name of the CPU's kernel, or of CUDA's for it (KernelName).
Value refuse_tensor(Interpreter& in, const Args& args) {
  in_torch(in, args, [&] {
    const std::string cpu(as_str(args[1])->view()), cuda(args[2].is_none() ? "" : as_str(args[2])->view());
    tensor::refuse_type(expect_tensor(in, args[0], "input"), {cpu.c_str(), cuda.empty() ? nullptr : cuda.c_str()});
  });
  return Value::none();
}

Value limits_of(Interpreter& in, const Args& args) {
  DType dtype;
  if (!to_dtype(in, args[0], dtype))
    throw Error(ErrorKind::TypeError, "finfo(): argument 'type' (position 1) must be torch.dtype, not " +
                                          std::string(type_name(in, args[0])));
  if (is_floating(dtype)) {
    const tensor::DTypeFacts& f = tensor::facts(dtype);
    if (f.is_packed) throw Error(ErrorKind::TypeError, "bad argument type for built-in operation");
    const double least = f.has_no_sign ? f.least_normal : -f.most;
    return make_tuple(in, {Value::real(std::ldexp(1.0, 1 - f.precision)), Value::real(f.most), Value::real(least),
                           Value::real(f.least_normal), Value::real(f.resolution)});
  }
  if (!is_integral(dtype) || is_packed(dtype)) return Value::none();
  const int64_t top = last_integer(dtype), bits = static_cast<int64_t>(item_size(dtype)) * 8;
  const Value most = dtype == kUInt64 ? whole_from_uint64(in, UINT64_MAX) : Value::integer(top);
  return make_tuple(in, {Value::integer(bits), most, Value::integer(is_signed(dtype) ? -top - 1 : 0)});
}

// What the rows of dtypes.def say in one respect, for scripts -----------------------------------------------------------

// "f2" of float16, as NumPy writes a dtype where its size matters.
std::string numpy_code(const tensor::DTypeFacts& f) {
  return "buifc"[static_cast<int>(f.of_class)] + std::to_string(f.bytes);
}

// Undefined: the row does not say it.
Value said(Interpreter& in, const tensor::DTypeFacts& f, std::string_view what) {
  using Facts = tensor::DTypeFacts;
  static constexpr std::pair<std::string_view, const char* Facts::*> kTexts[] = {
      {"scalar_type", &Facts::scalar_type},     {"cpp_name", &Facts::cpp_name},
      {"tensor_class", &Facts::tensor_class},   {"storage_class", &Facts::storage_class},
      {"safetensors", &Facts::safetensors},     {"buffer", &Facts::buffer}};
  for (const auto& [name, text] : kTexts)
    if (what == name) return f.*text != nullptr ? make_str(in, f.*text) : Value();
  if (what == "numpy_char") return f.numpy != 0 ? make_str(in, std::string_view(&f.numpy, 1)) : Value();
  if (what == "numpy_code") return f.numpy != 0 ? make_str(in, numpy_code(f)) : Value();
  if (what == "tensorflow") return f.tensorflow != 0 ? Value::integer(f.tensorflow) : Value();
  if (what == "tolerances")
    return f.rtol != 0 ? make_tuple(in, {Value::real(f.rtol), Value::real(f.atol)}) : Value();
  throw Error(ErrorKind::ValueError, "no row of a dtype says " + std::string(what));
}

Value dtypes_that_say(Interpreter& in, const Args& args) {
  const Value by_dtype = make_dict(in);
  for (int i = 0; i < tensor::kDTypeCount; ++i)
    if (const Value value = said(in, tensor::kDTypeFacts[i], text_of(args[0])); !value.is_undefined())
      dict_set(in, as_dict(by_dtype), torch_state(in).dtypes[i], value);
  return by_dtype;
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

// Exchanges the tensors and the classes of two objects, whose attributes are the caller's matter. False: they are laid out differently.
Value swap_contents(Interpreter&, const Args& args) {
  auto* const a = known_cast<TensorObject>(args[0]);
  auto* const b = known_cast<TensorObject>(args[1]);
  if (a->type->attributes_offset != b->type->attributes_offset || a->type->instance_size != b->type->instance_size) return Value::boolean(false);
  std::swap(a->type, b->type);
  std::swap(a->tensor, b->tensor);
  return Value::boolean(true);
}

Value holders(Interpreter&, const Args& args) { return Value::integer(tensor_argument(args).impl()->refs.value()); }

Value note_refused(Interpreter& in, const Args& args) {
  note_refusal(in, args[0]);
  return Value::none();
}

const Row kRows[] = {
    {"_note_refused(exception)", note_refused},
    {"_numpy_str(tensor: Tensor, options=None)", numpy_text},
    {"_numpy_repr(tensor: Tensor, options=None)", numpy_representation},
    {"_shortest_float(tensor: Tensor)", shortest_float},
    {"_parse_table(text: str, delimiter, comments, skip_rows: int, max_rows: int, columns, dtype)", read_table},
    {"_cuda_default_generator(device)", cuda_default_generator},
    {"_set_tf32(allowed: bool)", set_tf32},
    {"_set_fusing(setting: int)", set_fusing},
    {"_show_ops(module: str)", show_ops},
    {"_swap_contents(a: Tensor, b: Tensor)", swap_contents},
    {"_holders(tensor: Tensor)", holders},
    {"_limits(dtype)", limits_of},
    {"_dtypes(what: str)", dtypes_that_say},
    {"_type_text(dtype)", type_text},
    {"_class_text(input)", class_text_of},
    {"_refuse_type(input, kernel: str, cuda=None)", refuse_tensor},
    {"_set_print_options(precision, threshold, edgeitems, linewidth, sci_mode)", set_print_options},
    {"_generator_state(generator)", generator_state},
    {"_set_generator_state(generator, state)", set_generator_state},
};

}  // namespace

void add_c_functions(Interpreter& in, Module& module) {
  for (const Row& row : kRows) in.def(module, row.signature, "", row.function);
}

}  // namespace tessera::stdlib

#include "stdlib/torch/convert.h"

#include "lang/core/protocol.h"
#include "lang/types/list.h"

namespace tessera::stdlib {
namespace {

std::span<const Value> items_of(const Value& v) {
  if (is_list(v)) return {as_list(v)->items, as_list(v)->size};
  if (is_tuple(v)) return {as_tuple(v)->items, as_tuple(v)->size};
  return {};
}

bool is_sequence(const Value& v) { return is_list(v) || is_tuple(v); }

// A number: immediate, an instance of an int subclass, or the one element of a 0-dim tensor.
bool number(Interpreter& in, const Value& v, Scalar& out) {
  if (to_scalar(v, out)) return true;
  const TorchState& state = torch_state(in);
  if (is_tensor(state, v) && tensor_of(v).dim() == 0 && !tensor_of(v).requires_grad()) {
    out = tensor_of(v).item();
    return true;
  }
  if (v.is_object() && v.as_object()->kind == ObjectKind::Boxed) {
    if (is_instance(in, v, in.types.integer)) out = Scalar(index(in, v));
    else out = Scalar(to_float(in, v));
    return true;
  }
  return false;
}

bool integer(Interpreter& in, const Value& v, int64_t& out) {
  Scalar s;
  if (v.is_int()) {
    out = v.as_int();
    return true;
  }
  if (!v.is_object() || !number(in, v, s) || !s.is_int()) return false;
  out = s.to_int();
  return true;
}

bool tensors(Interpreter& in, const Value& v, TensorList& out) {
  if (!is_sequence(v)) return false;
  const TorchState& state = torch_state(in);
  for (const Value& item : items_of(v)) {
    if (!is_tensor(state, item)) return false;
    out.push_back(tensor_of(item));
  }
  return true;
}

template <class T, class F>
bool list_of(const Value& v, OpArg& out, F&& convert) {
  if (!is_sequence(v)) return false;
  std::vector<T> list;
  for (const Value& item : items_of(v)) {
    T value{};
    if (!convert(item, value)) return false;
    list.push_back(value);
  }
  out = std::move(list);
  return true;
}

bool int_list(Interpreter& in, const Value& v, const SchemaArg& arg, OpArg& out) {
  int64_t single = 0;
  if (!is_sequence(v)) {
    if (arg.fixed_size == 0 || !integer(in, v, single)) return false;
    out = std::vector<int64_t>(static_cast<size_t>(arg.fixed_size), single);
    return true;
  }
  std::vector<int64_t> list;
  if (!to_ints(in, v, list)) return false;
  out = std::move(list);
  return true;
}

bool tensor_argument(Interpreter& in, const Value& v, bool number_for_tensor, OpArg& out) {
  const TorchState& state = torch_state(in);
  if (is_tensor(state, v)) {
    out = tensor_of(v);
    return true;
  }
  Scalar s;
  if (!number_for_tensor || !to_scalar(v, s)) return false;
  if (s.is_bool()) out = s.to_bool();
  else if (s.is_int()) out = s.to_int();
  else out = s.to_double();
  return true;
}

}  // namespace

bool to_ints(Interpreter& in, const Value& v, std::vector<int64_t>& out) {
  for (const Value& item : items_of(v)) {
    int64_t value = 0;
    if (!integer(in, item, value)) return false;
    out.push_back(value);
  }
  return true;
}

bool convert_argument(Interpreter& in, const Value& v, const SchemaArg& arg, bool number_for_tensor, OpArg& out) {
  if (v.is_none() && arg.optional) {
    out = std::monostate();
    return true;
  }
  Scalar s;
  int64_t i = 0;
  DType dtype;
  Device device;
  switch (arg.kind) {
    case ArgKind::Tensor: return tensor_argument(in, v, number_for_tensor, out);
    case ArgKind::TensorList: {
      TensorList list;
      if (!tensors(in, v, list)) return false;
      out = std::move(list);
      return true;
    }
    case ArgKind::Int:
      if (!integer(in, v, i)) return false;
      out = i;
      return true;
    case ArgKind::IntList: return int_list(in, v, arg, out);
    case ArgKind::Float:
      if (!number(in, v, s)) return false;
      out = s.to_double();
      return true;
    case ArgKind::FloatList:
      return list_of<double>(v, out, [&](const Value& item, double& x) {
        Scalar each;
        if (!number(in, item, each)) return false;
        x = each.to_double();
        return true;
      });
    case ArgKind::Bool:
      if (!v.is_bool()) return false;
      out = v.as_bool();
      return true;
    case ArgKind::BoolList:
      return list_of<bool>(v, out, [](const Value& item, bool& x) {
        x = item.is_bool() && item.as_bool();
        return item.is_bool();
      });
    case ArgKind::Scalar:
      if (!number(in, v, s)) return false;
      if (s.is_bool()) out = s.to_bool();
      else if (s.is_int()) out = s.to_int();
      else out = s.to_double();
      return true;
    case ArgKind::DType:
      if (!to_dtype(in, v, dtype)) return false;
      out = dtype;
      return true;
    case ArgKind::Device:
      if (!to_device(in, v, device)) return false;
      out = device;
      return true;
    case ArgKind::String:
      if (!is_str(v)) return false;
      out = std::string(text_of(v));
      return true;
    case ArgKind::Generator:
      if (!v.is_object() || v.as_object()->type != torch_state(in).generator) return false;
      out = static_cast<GeneratorObject*>(v.as_object())->generator;
      return true;
    case ArgKind::Layout:
    case ArgKind::MemoryFormat:
      out = std::monostate();
      return v.is_object() && v.as_object()->type == torch_state(in).tag;
    case ArgKind::OptionalTensorList:
    case ArgKind::None: break;
  }
  return false;
}

const char* kind_name(const SchemaArg& arg) {
  switch (arg.kind) {
    case ArgKind::Tensor: return "Tensor";
    case ArgKind::TensorList: return "tuple of Tensors";
    case ArgKind::OptionalTensorList: return "tuple of Tensors";
    case ArgKind::Int: return "int";
    case ArgKind::IntList: return "tuple of ints";
    case ArgKind::Float: return "float";
    case ArgKind::FloatList: return "tuple of floats";
    case ArgKind::Bool: return "bool";
    case ArgKind::BoolList: return "tuple of bools";
    case ArgKind::Scalar: return "Number";
    case ArgKind::DType: return "torch.dtype";
    case ArgKind::Device: return "torch.device";
    case ArgKind::String: return "str";
    case ArgKind::Generator: return "torch.Generator";
    case ArgKind::Layout: return "torch.layout";
    case ArgKind::MemoryFormat: return "torch.memory_format";
    case ArgKind::None: break;
  }
  return "None";
}

std::string value_kind_name(Interpreter& in, const Value& v) {
  const auto items = items_of(v);
  if (!is_sequence(v) || items.empty()) return std::string(type_name(in, v));
  std::string text = is_list(v) ? "list of [" : "tuple of (";
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += ", ";
    text += type_name(in, items[i]);
  }
  if (is_tuple(v) && items.size() == 1) text += ",";
  return text + (is_list(v) ? "]" : ")");
}

}  // namespace tessera::stdlib

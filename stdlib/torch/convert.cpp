#include "stdlib/torch/sparse_tensors.h"
#include "stdlib/torch/convert.h"

#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/types/list.h"
#include "runtime/autograd/tangents.h"

namespace tessera::stdlib {

std::span<const Value> items_of(const Value& v) {
  if (is_list(v)) return {as_list(v)->items, as_list(v)->size};
  if (is_tuple(v)) return {as_tuple(v)->items, as_tuple(v)->size};
  return {};
}

bool is_sequence(const Value& v) { return is_list(v) || is_tuple(v); }

namespace {

// A number: immediate, an instance of an int subclass, or the one element of a 0-dim tensor.
bool number(Interpreter& in, const Value& v, Scalar& out) {
  if (to_scalar(v, out)) return true;
  const TorchState& state = torch_state(in);
  if (is_tensor(state, v) && tensor_of(v).dim() == 0 && !tensor_of(v).requires_grad() &&
      (!tensor_of(v).is_dual() || tensor::seen_tangents(tensor_of(v)).empty())) {
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

[[gnu::hot]] bool take_number(Interpreter& in, const Value& v, Arg& out) {
  // Written in place: a Scalar that is copied just after its two fields were stored waits for both stores (12 ns).
  if (v.is_float()) return out = Arg(Scalar(v.as_float())), true;
  if (v.is_int()) return out = Arg(Scalar(v.as_int())), true;
  Scalar s;
  if (!number(in, v, s)) return false;
  out = Arg(s);
  return true;
}

// A number that the kernel wants to see as a tensor; it yields to other tensors' dtypes as a number does.
Arg wrapped(const Scalar& s, Scratch& scratch) {
  TensorList& list = scratch.tensors();
  list.push_back(Tensor::wrapped_number(s));
  return Arg(list.back());
}

bool take_tensors(const TorchState& state, const Value& v, Scratch& scratch, Arg& out) {
  if (!is_sequence(v)) return false;
  const std::span<const Value> items = items_of(v);
  TensorList& list = scratch.tensors();
  list.reserve(items.size());
  for (const Value& item : items) {
    if (!is_tensor(state, item)) return false;
    list.push_back(tensor_of(item));
  }
  out = Arg(list);
  return true;
}

bool take_optional_tensors(const TorchState& state, const Value& v, Scratch& scratch, Arg& out) {
  if (!is_sequence(v)) return false;
  std::vector<OptionalTensor>& list = scratch.optional_tensors();
  for (const Value& item : items_of(v)) {
    if (item.is_none()) list.emplace_back();
    else if (is_tensor(state, item)) list.emplace_back(tensor_of(item));
    else return false;
  }
  out = Arg(list);
  return true;
}

bool take_ints(Interpreter& in, const Value& v, size_t fixed_size, Scratch& scratch, Arg& out) {
  if (!is_sequence(v)) {
    int64_t single = 0;
    if (fixed_size == 0 || !to_int(in, v, single)) return false;
    int64_t* const list = scratch.ints(fixed_size);
    for (size_t i = 0; i < fixed_size; ++i) list[i] = single;
    out = Arg(Ints(list, fixed_size));
    return true;
  }
  // The items may be objects whose __index__ changes the list.
  const size_t count = items_of(v).size();
  int64_t* const list = scratch.ints(count);
  for (size_t i = 0; i < count; ++i)
    if (i >= items_of(v).size() || !to_int_at(in, items_of(v), i, list[i])) return false;
  out = Arg(Ints(list, count));
  return true;
}

bool take_floats(Interpreter& in, const Value& v, Scratch& scratch, Arg& out) {
  if (!is_sequence(v)) return false;
  std::vector<double>& list = scratch.floats();
  for (const Value& item : items_of(v)) {
    Scalar each;
    if (!number(in, item, each)) return false;
    list.push_back(each.to_double());
  }
  out = Arg(list);
  return true;
}

bool take_bools(const Value& v, Scratch& scratch, Arg& out) {
  if (!is_sequence(v)) return false;
  const std::span<const Value> items = items_of(v);
  int64_t* const list = scratch.ints(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    if (!items[i].is_bool()) return false;
    list[i] = items[i].as_bool();
  }
  out = Arg(Ints(list, items.size()));
  return true;
}

}  // namespace

bool to_int(Interpreter& in, const Value& v, int64_t& out) {
  Scalar s;
  if (v.is_int()) {
    out = v.as_int();
    return true;
  }
  if (!v.is_object() || !number(in, v, s) || !s.is_int()) return false;
  out = s.to_int();
  return true;
}

bool to_int_at(Interpreter& in, std::span<const Value> items, size_t at, int64_t& out) {
  if (at == 0 || !items[at].is_bool()) return to_int(in, items[at], out);
  out = items[at].as_bool();
  return true;
}

bool to_ints(Interpreter& in, const Value& v, std::vector<int64_t>& out) {
  for (const Value& item : items_of(v)) {
    int64_t value = 0;
    if (!to_int(in, item, value)) return false;
    out.push_back(value);
  }
  return true;
}

[[gnu::hot]] bool convert_argument(Interpreter& in, const TorchState& state, const Value& v, const ArgumentForm& form,
                      Scratch& scratch, Arg& out) {
  if (v.is_none() && form.allows_none) {
    out = Arg();
    return true;
  }
  int64_t i = 0;
  DType dtype;
  Device device;
  Scalar s;
  switch (form.kind) {
    case ArgKind::Tensor:
      if (is_tensor(state, v)) {
        out = Arg(tensor_of(v));
        return true;
      }
      if (!form.takes_number || !to_scalar(v, s)) return false;
      out = form.wraps_number ? wrapped(s, scratch) : Arg(s);
      return true;
    case ArgKind::Int:
      if (!to_int(in, v, i)) return false;
      out = Arg(Scalar(i));
      return true;
    case ArgKind::Bool:
      if (!v.is_bool()) return false;
      out = Arg(Scalar(v.as_bool()));
      return true;
    case ArgKind::Float: return take_number(in, v, out) && !out.number().is_complex();
    case ArgKind::Scalar:
      if (!take_number(in, v, out)) return false;
      if (form.wraps_number) out = wrapped(out.number(), scratch);
      return true;
    case ArgKind::IntList: return take_ints(in, v, form.fixed_size, scratch, out);
    case ArgKind::TensorList: return take_tensors(state, v, scratch, out);
    case ArgKind::OptionalTensorList: return take_optional_tensors(state, v, scratch, out);
    case ArgKind::FloatList: return take_floats(in, v, scratch, out);
    case ArgKind::BoolList: return take_bools(v, scratch, out);
    case ArgKind::DType:
      if (!to_dtype(in, v, dtype)) return false;
      out = Arg(dtype);
      return true;
    case ArgKind::Device:
      if (!to_device(in, v, device)) return false;
      out = Arg(device);
      return true;
    case ArgKind::String:
      if (!is_str(v)) return false;
      out = Arg(text_of(v));
      return true;
    case ArgKind::Generator:
      if (!v.is_object() || v.as_object()->type != state.generator) return false;
      out = Arg(object_cast<GeneratorObject>(v)->generator.get());
      return true;
    case ArgKind::Layout: out = Arg(); return v.is_object() && v.as_object()->type == state.layout && !names_sparse_layout(state, v);
    case ArgKind::MemoryFormat:
      if (!v.is_object() || v.as_object()->type != state.memory_format) return false;
      out = Arg(std::string_view(object_cast<TagObject>(v)->text));
      return true;
    case ArgKind::None: break;
  }
  return false;
}

const char* kind_name(ArgKind kind) {
  switch (kind) {
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

}  // namespace tessera::stdlib

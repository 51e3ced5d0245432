// The memory of NumPy's arrays and scalars as a buffer: what memoryview, bytes, hashlib, struct and files take.
//
// Arrays are objects of script classes: `_show_memory` gives such a class a layout by which find_buffer knows its instances. An array
// keeps its tensor in the attribute `_t`, a scalar its number in itself or in `_value`, and its dtype in the class attribute `_kind`.
// The attributes are read without running any script: natives hold pointers to other buffers meanwhile.
#include <algorithm>

#include "lang/core/object_cast.h"
#include "lang/objects/attribute.h"
#include "lang/objects/class.h"
#include "lang/types/bytes.h"
#include "lang/types/number.h"
#include "runtime/ops/math_bits.h"
#include "stdlib/python/native/support.h"
#include "stdlib/torch/convert.h"
#include "stdlib/torch/storage_memory.h"

namespace tessera::stdlib {
namespace {

constexpr char kArrayLayout[] = "numpy.ndarray";

Value own_attribute(Interpreter& in, const Value& value, const char* name) {
  const Value* found = find_own_attribute(value.as_object(), intern(in, name));
  return found != nullptr ? *found : Value();
}

// The tensor of an array, on its storage as it is now: what the array is given later does not move the buffer.
Tensor array_tensor(const Tensor& t) {
  if (!t.defined() || !t.device().is_cpu() || t.impl()->storage == nullptr) return {};
  return t.has_math_bits() ? without_math_bits(t) : t.view_of(t.sizes(), t.strides());
}

Tensor scalar_tensor(Interpreter& in, const Value& value) {
  DType dtype;
  const Value held = own_attribute(in, value, "_value");
  Scalar number;
  if (!to_dtype(in, type_lookup(value.as_object()->type, intern(in, "_kind")), dtype) ||
      !to_scalar(held.is_undefined() ? unboxed(value) : held, number))
    return {};
  return Tensor::scalar(number, dtype);
}

// Strides of dimensions of one element are anything in an array; buffers have them as if they were more.
std::vector<int64_t> byte_strides(const Tensor& t, bool by_columns, int64_t width) {
  std::vector<int64_t> strides;
  for (const int64_t stride : t.strides()) strides.push_back(stride * width);
  if (!t.is_contiguous() && !by_columns) return strides;
  const size_t dims = strides.size();
  for (size_t i = 0; i < dims; ++i) {
    const size_t at = t.is_contiguous() ? dims - 1 - i : i;
    strides[at] = width;
    width *= t.sizes()[at];
  }
  return strides;
}

void lay_out(const Tensor& t, int64_t width, BufferLayout& layout) {
  layout.shape.assign(t.sizes().begin(), t.sizes().end());
  for (const int64_t stride : t.strides()) layout.strides.push_back(stride * width);
  const bool by_columns = lies_in_rows({layout.shape.rbegin(), layout.shape.rend()},
                                       {layout.strides.rbegin(), layout.strides.rend()}, width);
  layout.strides = byte_strides(t, by_columns, width);
  layout.given = true;
}

bool array_memory(Interpreter& in, const Value& value, Buffer& out, BufferLayout* layout) {
  const Value held = own_attribute(in, value, "_t");
  const bool is_scalar = held.is_undefined();
  if (!is_scalar && !is_tensor(torch_state(in), held)) return false;
  return in_torch(in, std::span<const Value>(), [&] {
    Tensor t = is_scalar ? scalar_tensor(in, value) : array_tensor(tensor_of(held));
    if (!t.defined() || facts(t.dtype()).buffer == nullptr) return false;
    const size_t width = item_size(t.dtype());
    if (layout != nullptr) lay_out(t, static_cast<int64_t>(width), *layout);
    else if (!t.is_contiguous()) throw Error(ErrorKind::ValueError, "ndarray is not C-contiguous");
    if (__builtin_mul_overflow(static_cast<size_t>(t.numel()), width, &out.size))
      throw Error(ErrorKind::ValueError, "array is too big");
    // An empty tensor may have no address; a buffer of no bytes shall still have one.
    out.data = out.size == 0 ? reinterpret_cast<char*>(t.impl()) : t.impl()->exposed_address();
    out.readonly = is_scalar;
    out.format = ItemFormat(facts(t.dtype()).buffer);
    out.item_size = static_cast<uint32_t>(width);
    out.keeper = wrap_tensor(in, std::move(t));
    return true;
  });
}

// Makes the instances of a script class bytes-like, and those of its subclasses that are made later.
Value show_memory(Interpreter&, const Args& args) {
  Type* const type = is_type(args[0]) ? as_type(args[0]) : nullptr;
  if (type == nullptr || !(type->type_flags & kScriptClass) || type->slots.layout != nullptr || type->attributes_offset == 0)
    throw Error(ErrorKind::TypeError, "a class of arrays or of their scalars is expected");
  type->slots.layout = kArrayLayout;
  return Value::none();
}

}  // namespace

void add_array_memory(Interpreter& in, Module& module) {
  add_buffer_source(in, kArrayLayout, array_memory);
  in.def(module, "_show_memory(cls)", "", show_memory);
}

}  // namespace tessera::stdlib

// Nested lists to tensors and back.
//
// Making one takes two walks: the first finds the shape (along the first items, as PyTorch does) and the dtype, the
// second writes the elements and refuses what does not fit the shape.
// compile: small (seldom in an inner loop)
#include "lang/core/protocol.h"
#include "lang/objects/module.h"
#include "lang/types/bigint.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/number.h"
#include "lang/types/range.h"
#include "runtime/ops/math_bits.h"
#include "runtime/autograd/node.h"
#include "stdlib/torch/arrays.h"
#include "stdlib/torch/convert.h"
#include "stdlib/torch/tensor_type.h"
#include "stdlib/torch/to.h"

namespace tessera::stdlib {

bool is_array(Interpreter& in, const Value& v) {
  if (!v.is_object() || v.as_object()->kind != ObjectKind::Instance) return false;
  if (type_name(in, v) == "ndarray") return true;
  for (const Type* type : v.as_object()->type->mro)
    if (text_of(Value(static_cast<Object*>(type->name))) == "ndarray") return true;
  return false;
}

namespace {

constexpr size_t kMaxDims = 64;

class Reader {
 public:
  Reader(Interpreter& in, const TorchState& state) : in_(in), state_(state) {}

  void find_shape(Value data) {
    while (is_sequence(data)) {
      if (shape.size() == kMaxDims) throw Error(ErrorKind::ValueError, "too many dimensions 'list'");
      const auto items = items_of(data);
      shape.push_back(static_cast<int64_t>(items.size()));
      if (items.empty()) return;
      data = Value(items[0]);
    }
    if (is_str(data)) {
      if (shape.empty()) throw Error(ErrorKind::TypeError, "new(): invalid data type 'str'");
      throw Error(ErrorKind::ValueError, "too many dimensions 'str'");
    }
  }

  // The smallest type that holds every element, with the default dtype for floats.
  void find_dtype(const Value& data, size_t depth = 0) {
    if (data.is_float()) return see(state_.context.default_dtype);
    if (data.is_int() || is_big_int(data)) return see(kInt64);
    if (data.is_bool()) return see(kBool);
    if (data.is_object() && is_complex(in_, data)) return see(complex_type(state_.context.default_dtype));
    if (is_sequence(data) && depth < shape.size()) {
      for (const Value& item : items_of(data)) {
        in_.check_stop();
        find_dtype(item, depth + 1);
      }
      return;
    }
    if (is_tensor(state_, data)) return see(tensor_of(data).dtype());
    if (is_sequence(data)) return;  // deeper than the first items: refused when written
    if (is_str(data)) throw Error(ErrorKind::TypeError, "new(): invalid data type 'str'");
    Scalar number;
    if (is_boxed_number(data, number)) {  // numpy's scalars keep their precision
      for (int i = 0; i < kDTypeCount; ++i)
        if (type_name(in_, data) == name(static_cast<DType>(i))) return see(static_cast<DType>(i));
      return see(number.category(state_.context.default_dtype));
    }
    if (is_numpy_bool(data)) return see(kBool);
    throw Error(ErrorKind::RuntimeError, "Could not infer dtype of " + std::string(type_name(in_, data)));
  }

  template <class T>
  void write(const Value& data, size_t dim, T*& out) {
    if (dim == shape.size()) {
      *out++ = element<T>(data);
      return;
    }
    if (!is_sequence(data)) throw Error(ErrorKind::TypeError, "not a sequence");
    const auto items = items_of(data);
    if (static_cast<int64_t>(items.size()) != shape[dim])
      throw Error(ErrorKind::ValueError, "expected sequence of length " + std::to_string(shape[dim]) + " at dim " +
                                             std::to_string(dim) + " (got " + std::to_string(items.size()) + ")");
    for (const Value& item : items) {
      in_.check_stop();
      write(item, dim + 1, out);
    }
  }

  std::vector<int64_t> shape;
  DType dtype = kBool;
  bool seen = false;

 private:
  void see(DType t) {
    dtype = seen ? promote_types(dtype, t) : t;
    seen = true;
  }

  bool is_numpy_bool(const Value& v) {
    return v.is_object() && v.as_object()->kind == ObjectKind::Instance && type_name(in_, v) == "bool";
  }

  bool is_boxed_number(const Value& v, Scalar& out) {
    if (!v.is_object() || v.as_object()->kind != ObjectKind::Boxed) return false;
    out = is_instance(in_, v, in_.types.integer) ? Scalar(index(in_, v)) : Scalar(to_float(in_, v));
    return true;
  }

  /// Integers are refused where they do not fit, floats become infinite: as PyTorch, which names the dtype here.
  template <class T>
  static T stored(const Scalar& number) {
    if constexpr (std::is_integral_v<T>)
      if (!number.fits<T>())
        throw Error(ErrorKind::RuntimeError,
                    std::string("value cannot be converted to type ") + name(dtype_of<T>) + " without overflow");
    return number.wrapped<T>();
  }

  template <class T>
  static T big_element(const Value& v) {
    if constexpr (std::is_same_v<T, bool>) return true;
    else if constexpr (!std::is_integral_v<T>) return stored<T>(whole_to_float(v));
    if constexpr (std::is_same_v<T, uint64_t>) {
      uint64_t wide;
      if (whole_to_uint64(v, wide)) return wide;
      throw Error(ErrorKind::OverflowError,
                  whole_sign(v) < 0 ? "can't convert negative int to unsigned" : "int too big to convert");
    }
    throw Error(ErrorKind::ValueError, "Overflow when unpacking long long");
  }

  template <class T>
  T element(const Value& v) {
    if (v.is_float()) return stored<T>(v.as_float());
    if (v.is_int()) return stored<T>(v.as_int());
    if (v.is_bool()) return convert_element<T>(v.as_bool());
    if (is_big_int(v)) return big_element<T>(v);
    if (is_tensor(state_, v)) return stored<T>(tensor_of(v).item());
    Scalar number;
    if (is_boxed_number(v, number)) return stored<T>(number);
    if (is_numpy_bool(v)) return convert_element<T>(truth(in_, v));
    if (to_scalar(v, number)) {  // complex
      if constexpr (is_complex_type<T> || std::is_same_v<T, bool>) return number.to<T>();
      else if constexpr (std::is_integral_v<T>)
        throw Error(ErrorKind::TypeError, "'complex' object cannot be interpreted as an integer");
      else throw Error(ErrorKind::TypeError, "must be real number, not complex");
    }
    if (is_sequence(v) && !is_floating(dtype))
      throw Error(ErrorKind::TypeError,
                  "'" + std::string(type_name(in_, v)) + "' object cannot be interpreted as an integer");
    throw Error(ErrorKind::TypeError, "must be real number, not " + std::string(type_name(in_, v)));
  }

  Interpreter& in_;
  const TorchState& state_;
};

// Arrays, deques and whatever else has a length and items become lists, at any depth; the arrays' dtypes decide then.
class Unfolder {
 public:
  Unfolder(Interpreter& in, const TorchState& state) : in_(in), state_(state) {}

  Value operator()(const Value& data, size_t depth = 0) {
    if (!data.is_object() || depth > kMaxDims || is_tensor(state_, data) || is_str(data)) return data;
    if (is_array(in_, data)) {
      const Tensor& t = expect_tensor(in_, data, "data");
      dtype = found ? promote_types(dtype, t.dtype()) : t.dtype();
      found = true;
      return tensor_to_list(in_, t);
    }
    if (is_sequence(data)) return of_items(data, depth);
    if (is_range(data) || is_items_object(data)) return of_items(list_from(in_, data), depth);
    return data;
  }

  bool found = false;
  DType dtype = kFloat64;

 private:
  bool is_items_object(const Value& v) {
    if (is_dict(v) || v.as_object()->kind == ObjectKind::Boxed) return false;
    const Type* type = v.as_object()->type;
    return !type_lookup(type, intern(in_, "__len__")).is_undefined() &&
           !type_lookup(type, intern(in_, "__getitem__")).is_undefined();
  }

  Value of_items(const Value& data, size_t depth) {
    Value changed;
    for (size_t i = 0; i < items_of(data).size(); ++i) {
      in_.check_stop();
      const Value item = items_of(data)[i];
      if (!item.is_object()) continue;
      const Value unfolded = (*this)(item, depth + 1);
      if (unfolded.is_object() && unfolded.as_object() == item.as_object()) continue;
      if (changed.is_undefined()) changed = list_from(in_, data);
      if (i < as_list(changed)->size) as_list(changed)->items[i] = unfolded;
    }
    return changed.is_undefined() ? data : changed;
  }

  Interpreter& in_;
  const TorchState& state_;
};

// Numbers of one type in a flat list need no walk for the dtype and no conversion for the shape.
bool read_floats(const Value& data, Tensor& out) {
  const auto items = items_of(data);
  for (const Value& item : items)
    if (!item.is_float()) return false;
  const int64_t size = static_cast<int64_t>(items.size());
  if (size == 0) return false;
  out = Tensor::empty({&size, 1}, kFloat32);
  float* to = reinterpret_cast<float*>(out.data_ptr());
  for (const Value& item : items) *to++ = static_cast<float>(item.as_float());
  return true;
}

Value int_of(Interpreter&, int64_t x) { return Value::integer(x); }
Value int_of(Interpreter& in, uint64_t x) { return whole_from_uint64(in, x); }

template <class T>
Value list_of(Interpreter& in, const Tensor& t, size_t dim, const T* data) {
  if (dim == static_cast<size_t>(t.dim())) {
    if constexpr (std::is_same_v<T, bool>) return Value::boolean(*data);
    else if constexpr (std::is_integral_v<T>)
      return int_of(in, std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t, int64_t>(*data));
    else if constexpr (is_complex_type<T>) return make_complex(in, double(data->real()), double(data->imag()));
    else return Value::real(convert_element<double>(*data));
  }
  const int64_t n = t.sizes()[dim], step = t.strides()[dim];
  const Value list = make_list(in, static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    in.check_stop();
    list_append(in, as_list(list), list_of(in, t, dim + 1, data + i * step));
  }
  return list;
}

}  // namespace

Tensor tensor_from_data(Interpreter& in, const Value& data, const Value& dtype_value, const Value& device_value,
                        bool copy) {
  const TorchState& state = torch_state(in);
  DType wanted = kFloat32;
  const bool has_dtype = !dtype_value.is_none() && !dtype_value.is_undefined() && to_dtype(in, dtype_value, wanted);
  Device device = state.context.default_device;
  const bool has_device =
      !device_value.is_none() && !device_value.is_undefined() && to_device(in, device_value, device);
  if (is_tensor(state, data) || is_array(in, data)) {
    const Tensor& t = expect_tensor(in, data, "data");
    GradMode no_grad(false);
    const bool moves = has_device || !device.is_cpu();  // also where a default device was set
    return tensor_to(t, has_dtype ? wanted : t.dtype(), moves ? device : t.device(), copy);
  }
  if (data.is_object() && !is_sequence(data) && !find_attr(in, data, intern(in, "__dlpack__")).is_undefined()) {
    const Value module(static_cast<Object*>(in.import("torch.utils.dlpack")));
    const Value taken = call_method(in, module, intern(in, "from_dlpack"), {data});
    return tensor_from_data(in, taken, dtype_value, device_value, copy);
  }
  Tensor result;
  const bool plain = !has_dtype && state.context.default_dtype == kFloat32 && is_sequence(data);
  if (!plain || !read_floats(data, result)) {
    Reader reader(in, state);
    Unfolder unfold(in, state);
    const Value items = unfold(data);
    reader.find_shape(items);
    if (has_dtype) reader.dtype = wanted;
    else if (unfold.found) reader.dtype = unfold.dtype, reader.seen = true;
    else reader.find_dtype(items);
    if (!has_dtype && !reader.seen) reader.dtype = state.context.default_dtype;
    if (is_packed(reader.dtype)) throw Error(ErrorKind::RuntimeError, "store_scalar: invalid type");
    result = Tensor::empty(reader.shape, wide_type(reader.dtype));
    with_type<kAllTypes>(result.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* out = reinterpret_cast<T*>(result.data_ptr());
      if (result.numel() > 0) reader.write(items, 0, out);
    });
    if (result.dtype() != reader.dtype) result = tensor_to(result, reader.dtype, kCpu, false);
  }
  return device.is_cpu() ? result : tensor_to(result, result.dtype(), device, false);
}

Value tensor_to_list(Interpreter& in, const Tensor& t) {
  if (is_packed(t.dtype())) throw Error(ErrorKind::RuntimeError, "load_scalar: invalid type");
  const Tensor host = resolved(tensor_to(t, wide_type(t.dtype()), kCpu, false));
  return with_type<kAllTypes>(host.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return list_of(in, host, 0, static_cast<const T*>(host.data_ptr()));
  });
}

}  // namespace tessera::stdlib

// Methods of a tensor that tell or change where its elements lie: sizes, strides, storage, pinned memory.
#include "stdlib/torch/tensor_methods.h"

#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/module.h"
#include "runtime/autograd/engine.h"
#include "runtime/ops/math_bits.h"
#include "runtime/ops/pinned.h"
#include "stdlib/torch/convert.h"
#include "stdlib/torch/to.h"

namespace tessera::stdlib {
namespace {

int64_t dim_argument(Interpreter& in, const char* function, const Value& v) {
  int64_t dim = 0;
  if (!to_int(in, v, dim))
    throw Error(ErrorKind::TypeError, std::string(function) + "(): argument 'dim' (position 1) must be int, not " +
                                          std::string(type_name(in, v)));
  return dim;
}

// Here a number has no dimension at all, where elsewhere it counts as having one.
int64_t dim_of(Interpreter& in, const char* function, const Tensor& self, const Value& v) {
  const int64_t dim = dim_argument(in, function, v);
  tensor::check(self.dim() > 0, tensor::TensorErrorKind::Index, "Dimension specified as ", dim,
                " but tensor has no dimensions");
  return dim;
}

Value size(Interpreter& in, const Args& args) {
  if (args[1].is_none()) return wrap_size(in, self_of(args).sizes());
  return in_torch(in, args,
                  [&] { return Value::integer(self_of(args).size(dim_of(in, "size", self_of(args), args[1]))); });
}

Value stride(Interpreter& in, const Args& args) {
  if (!args[1].is_none())
    return in_torch(in, args,
                    [&] { return Value::integer(self_of(args).stride(dim_of(in, "stride", self_of(args), args[1]))); });
  const Ints strides = self_of(args).strides();
  Tuple* tuple = new_tuple(in, strides.size());
  for (size_t i = 0; i < strides.size(); ++i) tuple->items[i] = Value::integer(strides[i]);
  return Value::adopt(tuple);
}

Value dim(Interpreter&, const Args& args) { return Value::integer(self_of(args).dim()); }
Value numel(Interpreter&, const Args& args) { return Value::integer(self_of(args).numel()); }
Value element_size(Interpreter&, const Args& args) {
  return Value::integer(static_cast<int64_t>(item_size(self_of(args).dtype())));
}
Value storage_offset(Interpreter&, const Args& args) { return Value::integer(self_of(args).offset()); }
Value data_ptr(Interpreter&, const Args& args) {
  const Tensor& t = self_of(args);
  return Value::integer(t.device().is_meta() ? 0 : static_cast<int64_t>(reinterpret_cast<uintptr_t>(t.impl()->exposed_address())));
}
Value is_floating_point(Interpreter&, const Args& args) { return Value::boolean(is_floating(self_of(args).dtype())); }
Value is_complex_tensor(Interpreter&, const Args& args) { return Value::boolean(is_complex(self_of(args).dtype())); }
Value get_device(Interpreter&, const Args& args) {
  const Device d = self_of(args).device();
  return Value::integer(d.is_cpu() ? -1 : d.index);
}

// The whole run of memory that the tensor looks at, as a flat tensor: what scripts ask of a storage.
Value storage(Interpreter& in, const Args& args) {
  const Tensor& t = self_of(args);
  if (TorchState& state = torch_state(in); !state.warned_of_storage) {
    state.warned_of_storage = true;  // once in a program, as PyTorch
    in_torch(in, args, [&] {
      Context::current().warn(
          "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage class. This "
          "should only matter to you if you are using storages directly.  To access UntypedStorage directly, use "
          "tensor.untyped_storage() instead of tensor.storage()");
    });
  }
  const int64_t count = static_cast<int64_t>(t.storage().bytes() / item_size(t.dtype()));
  const int64_t one = 1;
  const Value flat = wrap_tensor(in, without_math_bits(detached_alias(t)).view_of({&count, 1}, {&one, 1}, -t.offset()));
  return call(in, get_attr(in, Value(static_cast<Object*>(in.import("torch.storage"))), intern(in, "TypedStorage")),
              {flat});
}

// The same as bytes.
Value untyped_storage(Interpreter& in, const Args& args) {
  return call(in, get_attr(in, Value(static_cast<Object*>(in.import("torch.storage"))), intern(in, "_untyped")),
              {args[0]});
}

Value is_contiguous(Interpreter& in, const Args& args) {
  const char* const format = args.count > 1 ? memory_format_name(in, args[1]) : nullptr;
  return Value::boolean(format ? tensor_lies_in(self_of(args), format) : self_of(args).is_contiguous());
}

Value is_same_size(Interpreter& in, const Args& args) {
  return Value::boolean(self_of(args).sizes() == expect_tensor(in, args[1], "other").sizes());
}

Value pin(Interpreter& in, const Args& args) {
  return in_torch(in, args[0], [&] {
    Tensor result = pin_memory(self_of(args));
    return result.same(self_of(args)) ? args[0] : wrap_tensor(in, std::move(result));
  });
}
Value pinned(Interpreter& in, const Args& args) {
  return in_torch(in, args[0], [&] { return Value::boolean(is_pinned(self_of(args))); });
}

constexpr NativeDef kPlain[] = {
    {"dim", dim, "The number of dimensions."},
    {"ndimension", dim, "The number of dimensions."},
    {"numel", numel, "The number of elements."},
    {"nelement", numel, "The number of elements."},
    {"element_size", element_size, "Bytes of an element."},
    {"storage_offset", storage_offset, "Where the first element stands in the storage, in elements."},
    {"data_ptr", data_ptr, "The address of the first element."},
    {"const_data_ptr", data_ptr, "The address of the first element."},
    {"is_floating_point", is_floating_point, "Whether the elements are floating-point numbers."},
    {"is_complex", is_complex_tensor, "Whether the elements are complex numbers."},
    {"get_device", get_device, "The device's index, -1 for the CPU."},
};

constexpr NativeDef kMethods[] = {
    {"size(self, dim=None)", size, "The sizes, or one of them."},
    {"stride(self, dim=None)", stride, "How many elements to the next one along each dimension."},
    {"storage(self)", storage, "The memory that the tensor looks at."},
    {"untyped_storage(self)", untyped_storage, "The memory that the tensor looks at."},
    {"is_contiguous(self, *, memory_format=None)", is_contiguous, "Whether the elements lie row by row without gaps."},
    {"is_same_size(self, other)", is_same_size, "Whether the sizes are equal."},
    {"pin_memory(self, device=None)", pin, "The tensor in memory that a device copies from on its own."},
    {"is_pinned(self, device=None)", pinned, "Whether it lies in such memory."},
};

}  // namespace

MethodTables layout_methods() { return {kPlain, kMethods}; }

}  // namespace tessera::stdlib

#include "stdlib/torch/arrays.h"
#include "stdlib/torch/index.h"

#include "lang/core/protocol.h"
#include "lang/types/bigint.h"
#include "lang/types/list.h"
#include "lang/types/range.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/math_bits.h"
#include "stdlib/torch/op_call.h"
#include "stdlib/torch/tensor_type.h"

namespace tessera::stdlib {
namespace {

int64_t bound_of(Interpreter& in, const Value& v) {
  if (v.is_int()) return v.as_int();
  const TorchState& state = torch_state(in);
  if (is_tensor(state, v)) return tensor_of(v).item().to_int();
  if (is_big_int(v)) return whole_sign(v) < 0 ? INT64_MIN : INT64_MAX;
  return index(in, v);
}

TensorIndex slice_index(Interpreter& in, const Slice* slice) {
  TensorIndex item = TensorIndex::slice();
  if (!slice->step.is_none()) item.step = bound_of(in, slice->step);
  if (item.step == 0) throw Error(ErrorKind::ValueError, "slice step cannot be zero");
  if (item.step < 0) throw Error(ErrorKind::ValueError, "step must be greater than zero");
  if (!slice->start.is_none()) item.start = bound_of(in, slice->start), item.has_start = true;
  if (!slice->stop.is_none()) item.stop = bound_of(in, slice->stop), item.has_stop = true;
  return item;
}

TensorIndex one_index(Interpreter& in, const Value& key) {
  const TorchState& state = torch_state(in);
  if (key.is_int()) return TensorIndex::integer(key.as_int());
  if (key.is_none()) return TensorIndex::none();
  if (key.is_bool()) return TensorIndex::boolean(key.as_bool());
  if (is_slice(key)) return slice_index(in, as_slice(key));
  if (key.is(in.ellipsis)) return TensorIndex::ellipsis();
  if (is_tensor(state, key)) return TensorIndex::of(resolved(tensor_of(key)));
  if (is_list(key) || is_tuple(key) || is_range(key))
    return TensorIndex::of(
        tensor_from_data(in, is_range(key) ? list_from(in, key) : key, Value::none(), wrap_device(in, kCpu), true));
  if (is_array(in, key)) return TensorIndex::of(expect_tensor(in, key, "index"));
  if (is_big_int(key)) throw Error(ErrorKind::ValueError, "Overflow when unpacking long long");
  if (key.is_object() && key.as_object()->kind == ObjectKind::Boxed) return TensorIndex::integer(index(in, key));
  if (is_str(key)) throw Error(ErrorKind::TypeError, "new(): invalid data type 'str'");
  throw Error(ErrorKind::IndexError,
              "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are "
              "valid indices (got " +
                  std::string(type_name(in, key)) + ")");
}

// What stands between the brackets; of a few items without a heap block.
class Items {
 public:
  Items(Interpreter& in, const Value& key) {
    if (!is_tuple(key)) {
      few_[0] = one_index(in, key);
      return;
    }
    count_ = as_tuple(key)->size;
    if (count_ > kFew) many_.resize(count_);
    TensorIndex* to = count_ > kFew ? many_.data() : few_;
    for (const Value& item : *as_tuple(key)) *to++ = one_index(in, item);
  }
  operator std::span<const TensorIndex>() const { return {count_ > kFew ? many_.data() : few_, count_}; }

 private:
  static constexpr size_t kFew = 3;
  size_t count_ = 1;
  TensorIndex few_[kFew];
  std::vector<TensorIndex> many_;
};

}  // namespace

Value get_tensor_item(Interpreter& in, const Value& self, const Value& key) {
  return in_torch(in, self, [&] {
    if (key.is_int()) {  // x[i], the usual case
      const TensorIndex item = TensorIndex::integer(key.as_int());
      return wrap_tensor(in, get_index(tensor_of(self), {&item, 1}));
    }
    return wrap_tensor(in, get_index(tensor_of(self), Items(in, key)));
  });
}

void set_tensor_item(Interpreter& in, const Value& self, const Value& key, const Value& value) {
  in_torch(in, self, [&] { check_may_write(tensor_of(self)); });
  const TorchState& state = torch_state(in);
  const Value operands[] = {self, key, value};
  in_torch(in, operands, [&] {
    Scalar number;
    const Tensor& t = tensor_of(self);
    if (is_tensor(state, value)) return set_index(t, Items(in, key), tensor_of(value));
    if (to_scalar(value, number)) return set_index(t, Items(in, key), Tensor::scalar(number, t.dtype(), t.device()));
    if (is_array(in, value))
      return set_index(t, Items(in, key), expect_tensor(in, value, "value"));
    throw Error(ErrorKind::TypeError, "can't assign a " + std::string(type_name(in, value)) + " to a torch." +
                                          scalar_type_name(t.dtype()) + "Tensor");
  });
}

}  // namespace tessera::stdlib

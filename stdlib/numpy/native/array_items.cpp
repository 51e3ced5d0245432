// compile: small (a call takes its time in the operation)
// Elements, views and iteration of arrays.
#include <algorithm>

#include "lang/types/range.h"
#include "lang/types/tuple.h"
#include "runtime/ops/indexing.h"
#include "stdlib/numpy/native/array_slots.h"
#include "stdlib/torch/index.h"

namespace tessera::stdlib::arrays {

namespace {

struct Layout {
  Dims sizes, strides;
  int64_t offset = 0;
  bool is_element = true;  // an integer for each axis, and nothing else
};

bool bound(const Value& v, int64_t size, int64_t other, int64_t& out) {
  if (v.is_none()) return out = other, true;
  if (!v.is_int()) return false;
  out = clip_bound(v.as_int(), size, 0, size);
  return true;
}

// Computes the layout of the view t[key]. Returns false for a key with other parts than integers, slices with positive steps, None and
// Ellipsis, and for an index that is out of range.
bool view_of_key(Interpreter& in, const Tensor& t, const Value& key, Layout& out) {
  const Value* items = &key;
  size_t count = 1;
  if (is_tuple(key)) items = as_tuple(key)->items, count = as_tuple(key)->size;
  size_t named = 0, dots = 0;
  for (size_t i = 0; i < count; ++i) {
    if (items[i].is(in.ellipsis)) ++dots;
    else if (!items[i].is_none()) ++named;
  }
  const size_t dims = size_t(t.dim());
  if (named > dims || dots > 1) return false;
  const Ints sizes = t.sizes(), strides = t.strides();
  size_t axis = 0;
  const auto whole = [&](size_t until) {
    for (; axis < until; ++axis) out.sizes.push_back(sizes[axis]), out.strides.push_back(strides[axis]), out.is_element = false;
  };
  for (size_t i = 0; i < count; ++i) {
    const Value& k = items[i];
    if (k.is_int()) {
      const int64_t at = k.as_int() < 0 ? k.as_int() + sizes[axis] : k.as_int();
      if (at < 0 || at >= sizes[axis]) return false;
      out.offset += at * strides[axis++];
    } else if (is_slice(k)) {
      const Slice* const slice = as_slice(k);
      int64_t start, stop;
      const int64_t step = slice->step.is_none() ? 1 : slice->step.is_int() ? slice->step.as_int() : 0;
      if (step < 1 || !bound(slice->start, sizes[axis], 0, start) || !bound(slice->stop, sizes[axis], sizes[axis], stop)) return false;
      const int64_t n = stop > start ? (stop - start - 1) / step + 1 : 0;
      if (n > 0) out.offset += start * strides[axis];
      out.sizes.push_back(n), out.strides.push_back(strides[axis] * step), out.is_element = false;
      ++axis;
    } else if (k.is_none()) {
      out.sizes.push_back(1), out.strides.push_back(-1), out.is_element = false;
    } else if (k.is(in.ellipsis)) {
      out.is_element = false;
      whole(axis + dims - named);
    } else {
      return false;
    }
  }
  whole(dims);
  for (size_t d = out.sizes.size(); d-- > 0;)  // a new axis has the stride that views of tensors give it
    if (out.strides[d] == -1) out.strides[d] = d + 1 < out.sizes.size() ? out.sizes[d + 1] * out.strides[d + 1] : 1;
  return true;
}

}  // namespace

// x[places] of a flat array: every index is checked before.
bool take_places(const Tensor& t, const Tensor& places, Tensor& out) {
  const size_t width = item_size(t.dtype());
  if (t.dim() != 1 || !t.is_contiguous() || !places.is_contiguous() || (width != 8 && width != 4 && width != 1)) return false;
  const int64_t n = t.numel(), count = places.numel();
  const auto* const at = static_cast<const int64_t*>(places.data_ptr());
  bool good = true;
  for (int64_t i = 0; i < count; ++i) good &= uint64_t(at[i]) + uint64_t(n) < 2 * uint64_t(n);
  if (!good) return false;
  out = Tensor::empty(places.sizes(), t.dtype());
  const auto run = [&]<class T>(T) {
    const T* const from = static_cast<const T*>(t.data_ptr());
    T* const to = static_cast<T*>(out.data_ptr());
    for (int64_t i = 0; i < count; ++i) to[i] = from[at[i] < 0 ? at[i] + n : at[i]];
  };
  if (width == 8) run(uint64_t{});
  else if (width == 4) run(uint32_t{});
  else run(uint8_t{});
  return true;
}

namespace {

bool get_quickly(Interpreter& in, const ArrayCalls& s, const Value& self, const Value& key, Value& answer) {
  const Tensor* const t = tensor_in(s, self);
  if (t == nullptr || !is_usual(s, self)) return false;
  if (key.is_int() && t->dim() == 1) {
    const int64_t n = t->sizes()[0], at = key.as_int() < 0 ? key.as_int() + n : key.as_int();
    if (at < 0 || at >= n) return false;
    answer = scalar_at(in, s, t->dtype(), t->bytes() + at * t->strides()[0] * int64_t(item_size(t->dtype())));
    return !answer.is_undefined();
  }
  if (const Tensor* const k = tensor_in(s, key)) {
    if (k->dtype() != kInt64 && (k->dtype() != kBool || k->dim() != t->dim() || !std::ranges::equal(k->sizes(), t->sizes()))) return false;
    return attempt(in, [&] {
      if (k->dim() == 0) return false;
      Tensor made;
      if (k->dtype() == kBool) made = tensor::masked_select(*t, *k);
      else if (!take_places(*t, *k, made)) return false;
      return give(in, s, std::move(made), answer);
    });
  }
  Layout to;
  if (!view_of_key(in, *t, key, to)) return false;
  if (to.is_element) {
    if (to.sizes.size() != 0) return false;
    answer = scalar_at(in, s, t->dtype(), t->bytes() + to.offset * int64_t(item_size(t->dtype())));
    return !answer.is_undefined();
  }
  return attempt(in, [&] { return answer = new_view(in, s, self, t->view_of(to.sizes, to.strides, to.offset)), true; });
}

bool set_quickly(Interpreter& in, const ArrayCalls& s, const Value& self, const Value& key, const Value& value) {
  const Tensor* const t = tensor_in(s, self);
  if (t == nullptr || !is_usual(s, self)) return false;
  const DType type = t->dtype();
  const Tensor* const from = tensor_in(s, value);
  Scalar number;
  if (from != nullptr ? from->dtype() != type || from->impl()->storage == t->impl()->storage
                      : (type != kFloat64 && type != kInt64) || !number_beside(s, value, type, number))
    return false;
  const auto with_number = [&](auto&& put) {
    if (type == kFloat64) put(number.to_double());
    else put(number.to_int());
  };
  return attempt(in, [&] {
    if (const Tensor* const k = tensor_in(s, key)) {
      if (from != nullptr || k->dtype() != kBool || !k->is_contiguous() || !t->is_contiguous() || !std::ranges::equal(k->sizes(), t->sizes())) return false;
      const auto* const mask = static_cast<const uint8_t*>(k->data_ptr());
      with_number([&]<class T>(T what) {
        T* const to = static_cast<T*>(t->data_ptr());
        for (int64_t i = 0; i < t->numel(); ++i) to[i] = mask[i] != 0 ? what : to[i];
      });
    } else {
      Layout to;
      if (!view_of_key(in, *t, key, to)) return false;
      char* const start = t->bytes() + to.offset * int64_t(item_size(type));
      if (from != nullptr) {
        if (!std::ranges::equal(from->sizes(), Ints(to.sizes))) return false;
        const Value target = wrap_tensor(in, t->view_of(to.sizes, to.strides, to.offset));
        set_tensor_item(in, target, in.ellipsis, known_cast<Instance>(value)->attributes.values[0]);
        return true;
      }
      if (to.sizes.size() > 1) {
        const Value target = wrap_tensor(in, t->view_of(to.sizes, to.strides, to.offset));
        set_tensor_item(in, target, in.ellipsis, value.is_object() ? known_cast<Boxed>(value)->value : value);
        return true;
      }
      const int64_t n = to.sizes.size() == 0 ? 1 : to.sizes[0], step = to.sizes.size() == 0 ? 0 : to.strides[0];
      with_number([&]<class T>(T what) {
        for (int64_t i = 0; i < n; ++i) reinterpret_cast<T*>(start)[i * step] = what;
      });
    }
    t->bump_version();
    return true;
  });
}

}  // namespace

Value get_item_slot(Interpreter& in, const Value& self, const Value& key) {
  const ArrayCalls& s = calls(in);
  Value answer;
  if (get_quickly(in, s, self, key, answer)) return answer;
  return s.of_arrays.get_item(in, self, key);
}

void set_item_slot(Interpreter& in, const Value& self, const Value& key, const Value& value) {
  const ArrayCalls& s = calls(in);
  if (!set_quickly(in, s, self, key, value)) s.of_arrays.set_item(in, self, key, value);
}

int64_t length_slot(Interpreter& in, const Value& self) {
  const ArrayCalls& s = calls(in);
  const Tensor* const t = tensor_in(s, self);
  return t != nullptr && t->dim() > 0 ? t->sizes()[0] : s.of_arrays.length(in, self);
}

// ---- Iteration ---------------------------------------------------------------------------------------------------------

namespace {

// Walks over the first axis of a plain array.
struct ArrayIterator : Object {
  Value array;
  int64_t at = 0;
};

bool next_item(Interpreter& in, const Value& self, Value& out) {
  auto* const it = known_cast<ArrayIterator>(self);
  if (it->array.is_undefined()) return false;
  if (it->at >= length(in, it->array)) return it->array = Value(), false;
  out = get_item_slot(in, it->array, Value::integer(it->at++));
  return true;
}

}  // namespace

Value iter_slot(Interpreter& in, const Value& self) {
  const ArrayCalls& s = calls(in);
  const Tensor* const t = tensor_in(s, self);
  if (t == nullptr) return s.of_arrays.iter(in, self);
  if (t->dim() == 0) throw_error(ErrorKind::TypeError, "iteration over a 0-d array");
  auto* const made = make_object<ArrayIterator>(in, s.iterator);
  made->array = self;
  return Value::adopt(made);
}

Type* new_iterator_type(Interpreter& in) {
  NativeTypeSpec spec;
  spec.name = "iterator", spec.module = "builtins", spec.size = sizeof(ArrayIterator), spec.flags = kFinalType;
  Type* const type = in.new_type(spec);
  type->slots.destroy = [](Interpreter& in, Object* self) { free_object(in, known_cast<ArrayIterator>(self)); };
  type->slots.iter = [](Interpreter&, const Value& self) { return self; };
  type->slots.next = next_item;
  return type;
}

}  // namespace tessera::stdlib::arrays

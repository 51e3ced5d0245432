// A tensor's layout changed in place, or given: resize_, set_, as_strided_, empty_strided, and the same bytes as another dtype.
// compile: small (seldom in a step, and the kernel takes longer)
#include <algorithm>

#include "runtime/checked.h"
#include "runtime/ops.h"
#include "runtime/ops/batching.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/math_bits.h"
#include "runtime/ops/memory_format.h"
#include "runtime/ops/out_types.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {
namespace {

using NoLayout = std::optional<Dims>;
using Ignored = std::optional<bool>;

void point_at(const Tensor& self, const Tensor& memory) {
  self.impl()->set_storage(&memory.storage(), memory.impl()->address());
  self.impl()->set_layout(memory.sizes(), memory.strides());
  self.set_math_bits(memory.math_bits());
}

// The whole of a tensor's memory, from its first element.
Tensor whole_memory(const Tensor& t) {
  const int64_t count = int64_t(t.storage().bytes() / item_size(t.dtype()));
  return t.view_of({count}, {1}, -t.offset());
}

// What does not fit gets memory of its own, with what was there; views of the old memory keep that.
Tensor resize_in_place(const Tensor& self, Ints size, const MemoryFormat& format) {
  check(!self.requires_grad(), TensorErrorKind::Runtime, "cannot resize variables that require grad");
  for (const int64_t s : size) check(s >= 0, TensorErrorKind::Runtime, "numel: integer multiplication overflow");
  if (self.sizes() == size) return self;
  Dims strides = format ? strides_in(Tensor::empty(size, self.dtype(), Device(DeviceType::Meta)), format) : Dims();
  if (strides.empty()) strides = contiguous_strides(size);
  const int64_t item = int64_t(item_size(self.dtype()));
  const int64_t bytes = storage_bytes_needed(size, strides, self.offset(), item);
  if (bytes > int64_t(self.storage().bytes())) {
    const Tensor old = without_math_bits(whole_memory(self)),
                 fresh = Tensor::empty({bytes / item}, self.dtype(), self.device());
    copy_into(fresh.view_of({old.numel()}, {1}, 0), old);
    self.impl()->set_storage(&fresh.storage(), static_cast<char*>(fresh.data_ptr()) + self.offset() * item);
  }
  self.impl()->set_layout(size, strides);
  return self;
}
Tensor resize_as_in_place(const Tensor& self, const Tensor& like, const MemoryFormat& format) {
  return resize_in_place(self, like.sizes(), format);
}

Tensor set_to(const Tensor& self, const Tensor& source) {
  check(self.dtype() == source.dtype(), TensorErrorKind::Runtime, "Could not set tensor of type ",
        cpp_name(source.dtype()), " to a tensor of type ", cpp_name(self.dtype()));
  check(self.device() == source.device(), TensorErrorKind::Runtime,
        "Attempted to set the storage of a tensor on device \"", self.device().str(),
        "\" to a storage on different device \"", source.device().str(),
        "\".  This is no longer allowed; the devices must match.");
  point_at(self, source);
  self.bump_version();
  return self;
}
Tensor set_to_part(const Tensor& self, const Tensor& source, int64_t offset, Ints size, Ints stride) {
  return set_to(self, as_strided(source, size, stride.empty() ? Ints(contiguous_strides(size)) : stride, offset));
}
Tensor set_to_nothing(const Tensor& self) { return set_to(self, Tensor::empty({0}, self.dtype(), self.device())); }

bool is_set_to(const Tensor& self, const Tensor& tensor) {
  return &self.storage() == &tensor.storage() && self.offset() == tensor.offset() && self.sizes() == tensor.sizes() &&
         self.strides() == tensor.strides();
}

Tensor as_strided_in_place(const Tensor& self, Ints size, Ints stride, std::optional<int64_t> offset) {
  check(!self.requires_grad(), TensorErrorKind::NotImplemented,
        "as_strided_ of a tensor that requires a gradient; as_strided has one");
  point_at(self, as_strided(self, size, stride, offset));
  return self;
}

Tensor empty_strided(Ints size, Ints stride, MaybeType dtype, const NoLayout&, MaybeDevice device, Ignored) {
  check(size.size() == stride.size(), TensorErrorKind::Runtime, "dimensionality of sizes (", size.size(),
        ") must match dimensionality of strides (", stride.size(), ")");
  const DType type = dtype.value_or(Context::current().default_dtype);
  const int64_t item = int64_t(item_size(type));
  const int64_t count = storage_bytes_needed(size, stride, 0, item) / item;
  return Tensor::empty({count}, type, device.value_or(Context::current().default_device)).view_of(size, stride, 0);
}
Tensor new_empty_strided(const Tensor& self, Ints size, Ints stride, MaybeType dtype, const NoLayout& layout,
                         MaybeDevice device, Ignored pinned) {
  return empty_strided(size, stride, dtype.value_or(self.dtype()), layout, device.value_or(self.device()), pinned);
}
Tensor empty_permuted(Ints size, Ints physical_layout, MaybeType dtype, const NoLayout& layout, MaybeDevice device,
                      Ignored pinned) {
  const int64_t dims = int64_t(size.size());
  check(size.size() == physical_layout.size(), TensorErrorKind::Runtime,
        "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = ", dims,
        " is not equal to len(physical_layout) = ", physical_layout.size());
  Dims strides(size.size(), 0);
  std::vector<bool> seen(size.size());
  int64_t step = 1;
  for (int64_t i = dims; i-- > 0;) {
    const int64_t d = physical_layout[i];
    check(d >= 0 && d < dims, TensorErrorKind::Runtime, "Dimension out of range (expected to be between 0 and ",
          dims - 1, ", but got ", d, " at index ", i,
          ").  NB: negative dims not currently supported; file an issue if you want it.");
    check(!seen[size_t(d)], TensorErrorKind::Runtime, "Duplicate dim not allowed");
    seen[size_t(d)] = true;
    strides[d] = step;
    step = checked_mul(step, std::max<int64_t>(size[d], 1));
  }
  return empty_strided(size, strides, dtype, layout, device, pinned);
}

// The same bytes read as another dtype: the last dimension shrinks or grows with the elements' size.
Tensor view_as_type(const Tensor& self, DType dtype) {
  if (dtype == self.dtype()) return view(self, self.sizes());
  check(!self.is_conj(), TensorErrorKind::Runtime,
        "torch.Tensor.view is not supported for conjugate view tensors when converting to a different dtype.");
  check(!self.is_neg(), TensorErrorKind::Runtime,
        "torch.Tensor.view is not supported for tensors with negative bit set when converting to a different dtype.");
  const int64_t old = int64_t(item_size(self.dtype())), now = int64_t(item_size(dtype));
  Dims sizes(self.sizes()), strides(self.strides());
  if (old != now) {
    const auto how = [&] {
      return text("to view ", scalar_type_name(self.dtype()), " as ", scalar_type_name(dtype),
                  " (different element sizes)");
    };
    check(self.dim() > 0, TensorErrorKind::Runtime, "self.dim() cannot be 0 ", how());
    check(strides.back() == 1, TensorErrorKind::Runtime, "self.stride(-1) must be 1 ", how(), ", but got ",
          strides.back());
    const int64_t ratio = old > now ? old / now : now / old;
    const auto fits = [&](int64_t n) { return old > now || n % ratio == 0; };
    check(fits(sizes.back()), TensorErrorKind::Runtime, "self.size(-1) must be divisible by ", ratio, " ", how(),
          ", but got ", sizes.back());
    check(fits(self.offset()), TensorErrorKind::Runtime, "self.storage_offset() must be divisible by ", ratio, " ",
          how(), ", but got ", self.offset());
    sizes.back() = old > now ? sizes.back() * ratio : sizes.back() / ratio;
    for (int64_t d = 0; d + 1 < self.dim(); d++) {
      check(fits(strides[d]), TensorErrorKind::Runtime, "self.stride(", d, ") must be divisible by ", ratio, " ", how(),
            ", but got ", strides[d]);
      strides[d] = old > now ? strides[d] * ratio : strides[d] / ratio;
    }
  }
  return Tensor::adopt(TensorImpl::create_view(&self.storage(), self.impl()->address(), sizes, strides, dtype));
}

#define TS_OPTIONS "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
constexpr uint32_t kHere = kMethod | kNoGrad | kTakesMathBits, kMake = kNoGrad | kUninitialised;
TS_OP(resize_, "resize_(Tensor self, int[] size, *, MemoryFormat? memory_format=None) -> Tensor",
      "The tensor itself in another size, whose elements are those that lie first in memory.",
      kHere | kSizes | kLayoutMatters, &resize_in_place,
      "f[2,3], [2, 2]\n"
      "f[2], [2, -1] -> RuntimeError: numel: integer multiplication overflow");
TS_OP(resize_as_, "resize_as_(Tensor self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor",
      "resize_, to the size of another.", kFunction | kHere | kLayoutMatters, &resize_as_in_place, "f[2,3], f[4]");
TS_OP(set_, "set_.source_Tensor(Tensor self, Tensor source) -> Tensor", "Makes it look at the memory of another.",
      kHere, &set_to,
      "f[2,3], f[2]\n"
      "f[2], i[2]<3 -> RuntimeError: Could not set tensor of type long int to a tensor of type float");
TS_OP(
    set_,
    "set_.source_Tensor_storage_offset(Tensor self, Tensor source, int storage_offset, int[] size, int[] stride=[]) -> Tensor",
    "Makes it look at a part of the memory of another.", kHere | kLayoutMatters, &set_to_part,
    "f[2,3], f[6], 1, [2, 2]");
TS_OP(set_, "set_(Tensor self) -> Tensor", "Makes it empty.", kHere, &set_to_nothing, "f[2,3]");
TS_OP(is_set_to, "is_set_to(Tensor self, Tensor tensor) -> bool", "Whether both look at the same elements.", kHere,
      &is_set_to, "f[2], f[2]");
TS_OP(as_strided_, "as_strided_(Tensor self, int[] size, int[] stride, int? storage_offset=None) -> Tensor",
      "as_strided, of the tensor itself.", kFunction | kHere | kLayoutMatters, &as_strided_in_place,
      "f[2,3], [2], [3], 1");
TS_OP(empty_strided, "empty_strided(int[] size, int[] stride, *, " TS_OPTIONS ") -> Tensor",
      "A tensor of the given strides whose elements are not set.", kFunction | kMake, &empty_strided,
      "[2, 3], [1, 2]\n"
      "[2, 3], [1] -> RuntimeError: dimensionality of sizes (2) must match dimensionality of strides (1)");
TS_OP(new_empty_strided, "new_empty_strided(Tensor self, int[] size, int[] stride, *, " TS_OPTIONS ") -> Tensor",
      "Unset, of self's dtype and device, of the given strides.", kMethod | kMake, &new_empty_strided,
      "f[2], [2, 3], [1, 2]");
TS_OP(empty_permuted, "empty_permuted(int[] size, int[] physical_layout, *, " TS_OPTIONS ") -> Tensor",
      "An unset tensor whose dimensions lie in memory in the given order.", kFunction | kMake, &empty_permuted,
      "[2, 3, 4], [0, 2, 1]\n"
      "[2, 3], [0, 0] -> RuntimeError: Duplicate dim not allowed");
TS_OP(view, "view.dtype(Tensor self, ScalarType dtype) -> Tensor", "The same bytes as elements of another dtype.",
      kMethod | kView | kNoGrad | kLayoutMatters, &view_as_type,
      "f[2,3], int32\n"
      "f[2,4], complex64\n"
      "f[3], float64 -> RuntimeError: self.size(-1) must be divisible by 2 to view Float as Double",
      .batching = Batching::Front);
Tensor view_copy_as(const Tensor& self, DType dtype) {
  return to_format(view_as_type(self, dtype), dtype, true, "torch.contiguous_format");
}
TS_OP(view_copy, "view_copy.dtype(Tensor self, ScalarType dtype) -> Tensor", "A copy of the bytes as another dtype.",
      kFunction | kOut | kNoGrad | kLayoutMatters, &view_copy_as, "f[2,3], int32", .out = kOutStructured);
#undef TS_OPTIONS

}  // namespace
}  // namespace tessera::tensor

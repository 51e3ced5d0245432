// Tensor: a handle to a counted TensorImpl. Copying a Tensor copies the handle, never the data.
//
// Ops are free functions (runtime/ops.h, made from the op tables); this header has only what every part of
// the runtime needs: layout, element access, construction. Small results take one block that holds
// TensorImpl, Storage and data; larger ones a small block and a storage of their own.
#pragma once

#include <cassert>
#include <functional>
#include <utility>
#include <vector>

#include "runtime/dtype.h"
#include "runtime/error.h"
#include "runtime/fuse/pending.h"
#include "runtime/scalar.h"
#include "runtime/shape.h"
#include "runtime/storage.h"

namespace tessera::tensor {

class Tensor;
struct AutogradMeta;  // runtime/autograd/node.h: grad, grad_fn, hooks; made only when needed

class TensorImpl {
 public:
  enum Flag : uint8_t {
    kContiguous = 1,     // row-major without gaps: kept true by set_layout
    kRequiresGrad = 2,   // leaf that wants a gradient, or result of a recorded op
    kWrappedNumber = 4,  // a Python number in a 0-dim tensor: weak in promotion
    kInference = 8,      // made in inference mode
    kConjBit = 16,       // stands for the conjugates of its elements: runtime/ops/math_bits.h
    kNegBit = 32,        // stands for their negatives
    kMathBits = kConjBit | kNegBit,
    kPending = 64,  // its elements may not be there yet: README.md, "Launches that wait"
    kDual = 128,    // carries tangents: autograd/tangents.h
  };

  RefCount refs;
  DType dtype;
  uint8_t flags;
  Device device;
  uintptr_t start;  // what address() answers; while kPending is set: its distance from the start of the storage
  int64_t numel;
  Storage* storage;        // one reference
  Storage* home;           // the storage whose block this object lies in, or null
  AutogradMeta* autograd;  // owned, usually null
  Dims sizes;
  Dims strides;  // in elements

  /// A fresh tensor with uninitialised data. One reference, the caller's.
  static TensorImpl* create(Ints sizes, DType dtype, Device device = kCpu);
  /// One whose elements a launch of the queue will write.
  static TensorImpl* create_pending(Ints sizes, DType dtype, LaunchQueue& queue);
  /// Another layout on a storage (takes a new reference to it).
  static TensorImpl* create_view(Storage* storage, char* data, Ints sizes, Ints strides, DType dtype);

  void set_layout(Ints sizes, Ints strides);
  /// Points this tensor at another storage; sizes stay.
  void set_storage(Storage* storage, char* data);
  /// Where element [0, 0, ...] lies; on a device: a device address. Of a pending tensor the launches that wait are run.
  char* address() {
    if (flags & kPending) [[unlikely]]
      settle();
    return reinterpret_cast<char*>(start);
  }
  /// The same for who hands the address on to others, who read and write there without a word.
  char* exposed_address() {
    if (PendingLaunches::any()) [[unlikely]]
      PendingLaunches::flush();
    storage->expose();
    return address();
  }
  int64_t offset() const {
    const uintptr_t distance = flags & kPending ? start : start - reinterpret_cast<uintptr_t>(storage->data());
    return int64_t(distance) / int64_t(item_size(dtype));
  }
  void destroy() noexcept;

 private:
  TensorImpl(DType t, Device d) : dtype(t), flags(kContiguous), device(d), autograd(nullptr) {}
  ~TensorImpl() = default;
  void set_contiguous(Ints sizes, int64_t count);
  void settle();
};

class Tensor {
 public:
  Tensor() = default;
  static Tensor adopt(TensorImpl* fresh) {
    Tensor t;
    t.impl_ = fresh;
    return t;
  }
  static Tensor share(TensorImpl* impl) {
    if (impl) impl->refs.add();
    return adopt(impl);
  }
  Tensor(const Tensor& o) : impl_(o.impl_) {
    if (impl_) impl_->refs.add();
  }
  Tensor(Tensor&& o) noexcept : impl_(std::exchange(o.impl_, nullptr)) {}
  Tensor& operator=(const Tensor& o) {
    if (o.impl_) o.impl_->refs.add();
    reset();
    impl_ = o.impl_;
    return *this;
  }
  Tensor& operator=(Tensor&& o) noexcept {
    std::swap(impl_, o.impl_);
    return *this;
  }
  ~Tensor() { reset(); }
  void reset() {
    if (TensorImpl* old = std::exchange(impl_, nullptr); old && old->refs.drop()) old->destroy();
  }
  TensorImpl* release() { return std::exchange(impl_, nullptr); }

  /// Uninitialised.
  static Tensor empty(Ints sizes, DType dtype = kFloat32, Device device = kCpu) {
    return adopt(TensorImpl::create(sizes, dtype, device));
  }
  /// Memory of the caller's, shared, not copied; the deleter runs when the last tensor on it is gone.
  static Tensor from_blob(void* data, Ints sizes, DType dtype, std::function<void(void*)> deleter = {},
                          Device device = kCpu);
  static Tensor from_blob(void* data, Ints sizes, Ints strides, DType dtype, std::function<void(void*)> deleter = {},
                          Device device = kCpu);
  /// Copies `values` (row-major) and converts them to dtype.
  template <class T>
  static Tensor from_values(const std::vector<T>& values, Ints sizes, DType dtype = dtype_of<T>);
  /// A 0-dim tensor.
  static Tensor scalar(Scalar value, DType dtype, Device device = kCpu);
  /// A 0-dim tensor that stays as weak as the number in promotion.
  static Tensor wrapped_number(Scalar value);
  /// A view with any layout over the same storage; `offset` counts elements from this tensor's first one.
  /// No gradient is recorded: view ops do that.
  Tensor view_of(Ints sizes, Ints strides, int64_t offset = 0) const;

  bool defined() const { return impl_ != nullptr; }
  explicit operator bool() const { return defined(); }
  TensorImpl* impl() const { return impl_; }
  bool same(const Tensor& o) const { return impl_ == o.impl_; }

  DType dtype() const { return impl_->dtype; }
  Device device() const { return impl_->device; }
  int64_t dim() const { return int64_t(impl_->sizes.size()); }
  int64_t numel() const { return impl_->numel; }
  Ints sizes() const { return impl_->sizes; }
  Ints strides() const { return impl_->strides; }
  /// A tensor without dimensions has none to ask for, though ops take its dimension 0.
  int64_t size(int64_t d) const { return impl_->sizes[dimension(d)]; }
  int64_t stride(int64_t d) const { return impl_->strides[dimension(d)]; }
  size_t dimension(int64_t d) const {
    if (dim() == 0) [[unlikely]]
      fail_no_dimensions(d);
    return size_t(wrap_dim(d, dim()));
  }
  int64_t offset() const { return impl_->offset(); }
  Storage& storage() const { return *impl_->storage; }
  size_t nbytes() const { return size_t(numel()) * item_size(dtype()); }
  bool is_contiguous() const { return impl_->flags & TensorImpl::kContiguous; }
  bool is_wrapped_number() const { return impl_->flags & TensorImpl::kWrappedNumber; }
  uint32_t version() const { return impl_->storage->version(); }
  void bump_version() const { impl_->storage->bump_version(); }
  /// True for a leaf that wants a gradient and for results of recorded ops.
  bool requires_grad() const { return impl_->flags & TensorImpl::kRequiresGrad; }
  /// It carries tangents of forward mode, maybe of levels that have ended.
  bool is_dual() const { return impl_->flags & TensorImpl::kDual; }
  /// True if results computed from this tensor have a derivative, in reverse or in forward mode. Calls that record ask this.
  bool is_tracked() const { return impl_->flags & (TensorImpl::kRequiresGrad | TensorImpl::kDual); }

  bool is_conj() const { return impl_->flags & TensorImpl::kConjBit; }
  bool is_neg() const { return impl_->flags & TensorImpl::kNegBit; }
  /// It stands for other numbers than its memory holds: no kernel may see it.
  bool has_math_bits() const { return impl_->flags & TensorImpl::kMathBits; }
  uint8_t math_bits() const { return impl_->flags & TensorImpl::kMathBits; }
  void set_math_bits(uint8_t bits) const { impl_->flags = uint8_t((impl_->flags & ~TensorImpl::kMathBits) | bits); }

  /// For whoever reads or writes elements: launches that wait are run before. Who only asks where they lie takes impl()->address().
  void* data_ptr() const { return bytes(); }
  /// The same, to be counted in.
  char* bytes() const;
  /// The elements as T, which has to be the tensor's own type. The layout is strides()'s.
  template <class T>
  T* data() const {
    check(dtype_of<T> == dtype(), TensorErrorKind::Runtime, "expected scalar type ", scalar_type_name(dtype_of<T>),
          " but found ", scalar_type_name(dtype()));
    return reinterpret_cast<T*>(bytes());
  }
  /// The one element as a number; throws for several. Waits for the device.
  Scalar item() const;

 private:
  [[noreturn]] static void fail_no_dimensions(int64_t d);

  TensorImpl* impl_ = nullptr;
};

template <class T>
Tensor Tensor::from_values(const std::vector<T>& values, Ints sizes, DType dtype) {
  Tensor t = empty(sizes, dtype);
  check(t.numel() == int64_t(values.size()), TensorErrorKind::Runtime, "shape '", sizes,
        "' is invalid for input of size ", values.size());
  with_type<kAllTypes>(dtype, [&](auto tag) {
    using E = typename decltype(tag)::type;
    E* out = reinterpret_cast<E*>(t.data_ptr());
    for (size_t i = 0; i < values.size(); i++) out[i] = convert_element<E>(T(values[i]));
  });
  return t;
}

using TensorList = std::vector<Tensor>;

}  // namespace tessera::tensor

// TensorImpl: one block [TensorImpl | Storage | data] for small tensors on the host, separate pieces otherwise.
//
// Note [Inline storage]: the block belongs to the Storage. The TensorImpl in it holds a reference (`home`), so the block
// outlives the tensor; views may keep it alive longer than that. Pointing such a tensor at another
// storage keeps the reference to its home until the tensor dies.
#include "runtime/tensor.h"

#include <memory>
#include <new>

#include "runtime/device/backend.h"
#include "runtime/device/memory.h"
#include "runtime/autograd/node.h"
#include "runtime/checked.h"
#include "runtime/context.h"
#include "runtime/ops.h"

namespace tessera::tensor {
namespace {

constexpr size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }
constexpr size_t kStorageAt = round_up(sizeof(TensorImpl), alignof(Storage));
constexpr size_t kDataAt = round_up(kStorageAt + sizeof(Storage), 64);
// Above this a block of its own: the tensor's header should not pin much memory, nor the copy of the class waste it.
constexpr size_t kInlineBytes = 4096;

}  // namespace

[[gnu::hot]] void TensorImpl::set_contiguous(Ints shape, int64_t count) {
  size_t n = shape.size();
  sizes.resize(n);
  strides.resize(n);
  int64_t *size = sizes.data(), *stride = strides.data(), step = 1;
  for (size_t i = n; i-- > 0;) {
    int64_t s = shape[i];
    size[i] = s;
    stride[i] = step;
    step *= s > 0 ? s : 1;
  }
  numel = count;
  flags |= kContiguous;
}

namespace {

// A TensorImpl whose elements lie elsewhere; behind it stands who pays for it. Accounts without a limit are not asked: two
// locked instructions for every view would be a tenth of its cost.
constexpr size_t kAlone = sizeof(TensorImpl) + sizeof(Account*);
constexpr size_t kBooked = round_up(kAlone, 64);
static_assert(sizeof(TensorImpl) % alignof(Account*) == 0);

void* allocate_alone() {
  Account* account = Context::current().account;
  if (account->limit() == Account::kUnlimited) [[likely]]
    account = nullptr;
  size_t bytes = kAlone;
  if (account) account->charge(kBooked);
  char* const block = static_cast<char*>(host::allocate(bytes));
  new (block + sizeof(TensorImpl)) Account*(account);
  return block;
}

void release_alone(void* block) noexcept {
  Account* const account = *reinterpret_cast<Account**>(static_cast<char*>(block) + sizeof(TensorImpl));
  host::release(block, kAlone);
  if (account) account->refund(kBooked);
}

}  // namespace

[[gnu::hot]] TensorImpl* TensorImpl::create(Ints shape, DType dtype, Device device) {
  uint64_t elements = 1, bytes;
  bool overflow = false;
  for (int64_t s : shape) {
    check(s >= 0, TensorErrorKind::Runtime, "Trying to create tensor with negative dimension ", s, ": ", shape);
    overflow |= __builtin_mul_overflow(elements, uint64_t(s), &elements);
  }
  overflow |= __builtin_mul_overflow(elements, uint64_t(item_size(dtype)), &bytes);
  check(!overflow && bytes <= uint64_t(INT64_MAX), TensorErrorKind::Runtime,
        "Storage size calculation overflowed with sizes=", shape);
  if (elements == 0) contiguous_strides(shape);  // which of an empty tensor need not fit
  const int64_t count = int64_t(elements);
  if (bytes <= kInlineBytes && device.is_cpu()) [[likely]] {
    const Context& context = Context::current();
    Account* account = context.account;
    size_t block_bytes = kDataAt + bytes;
    char* block = static_cast<char*>(host::allocate(block_bytes, *account));
    auto* impl = new (block) TensorImpl(dtype, device);
    auto* storage = new (block + kStorageAt) Storage(Storage::Kind::Inline, block + kDataAt, bytes, device);
    storage->account_ = account;
    storage->block_ = block;
    storage->block_bytes_ = block_bytes;
    impl->start = reinterpret_cast<uintptr_t>(block + kDataAt);
    impl->storage = impl->home = storage;
    if (context.inference_mode) [[unlikely]]
      impl->flags |= kInference;
    impl->set_contiguous(shape, count);
    return impl;
  }
  if (!device.is_cpu()) device = resolve_device(device);
  void* block = allocate_alone();
  Storage* storage;
  try {
    storage = Storage::allocate(bytes, device);
  } catch (...) {
    release_alone(block);
    throw;
  }
  auto* impl = new (block) TensorImpl(dtype, device);
  impl->start = reinterpret_cast<uintptr_t>(storage->data());
  impl->storage = storage;
  impl->home = nullptr;
  if (Context::current().inference_mode) impl->flags |= kInference;
  impl->set_contiguous(shape, count);
  return impl;
}

TensorImpl* TensorImpl::create_pending(Ints shape, DType dtype, LaunchQueue& queue) {
  const int64_t count = numel_of(shape);
  void* const block = allocate_alone();
  Storage* storage;
  try {
    storage = Storage::pending(size_t(count) * item_size(dtype), queue);
  } catch (...) {
    release_alone(block);
    throw;
  }
  auto* impl = new (block) TensorImpl(dtype, kCpu);
  impl->start = 0;
  impl->storage = storage;
  impl->home = nullptr;
  impl->flags |= kPending;
  if (Context::current().inference_mode) impl->flags |= kInference;
  impl->set_contiguous(shape, count);
  return impl;
}

void TensorImpl::settle() {
  start += reinterpret_cast<uintptr_t>(storage->data());
  flags &= uint8_t(~kPending);
}

TensorImpl* TensorImpl::create_view(Storage* storage, char* data, Ints sizes, Ints strides, DType dtype) {
  numel_of(sizes);  // what overflows is refused before anything is taken
  auto* impl = new (allocate_alone()) TensorImpl(dtype, storage->device());
  storage->retain();
  impl->start = reinterpret_cast<uintptr_t>(data);
  impl->storage = storage;
  impl->home = nullptr;
  impl->set_layout(sizes, strides);
  return impl;
}

void TensorImpl::set_layout(Ints new_sizes, Ints new_strides) {
  sizes.assign(new_sizes);
  strides.assign(new_strides);
  int64_t count = 1;
  bool contiguous = true, overflow = false;
  for (size_t i = new_sizes.size(); i-- > 0;) {
    int64_t s = new_sizes[i];
    if (s != 1) contiguous &= new_strides[i] == count;
    overflow |= __builtin_mul_overflow(count, s, &count);
  }
  numel = overflow ? numel_of(new_sizes) : count;
  if (contiguous || numel == 0) flags |= kContiguous;
  else flags &= uint8_t(~kContiguous);
}

void TensorImpl::set_storage(Storage* fresh, char* address) {
  fresh->retain();
  if (storage != home) storage->release();
  storage = fresh;
  if (storage == home) storage->release();  // home's own reference is enough
  start = reinterpret_cast<uintptr_t>(address);
  flags &= uint8_t(~kPending);
}

void TensorImpl::destroy() noexcept {
  if (autograd) destroy_autograd_meta(std::exchange(autograd, nullptr));
  Storage* used = storage;
  Storage* block = home;
  this->~TensorImpl();
  if (used != block) used->release();
  if (block) {
    block->release();
  } else {
    release_alone(this);
  }
}

// ---- Tensor ----

namespace {

struct BlobDeleter {
  std::function<void(void*)> call;
  static void run(void* context, void* data) {
    std::unique_ptr<BlobDeleter> self(static_cast<BlobDeleter*>(context));
    self->call(data);
  }
};

}  // namespace

Tensor Tensor::from_blob(void* data, Ints sizes, Ints strides, DType dtype, std::function<void(void*)> deleter,
                         Device device) {
  check(sizes.size() == strides.size(), TensorErrorKind::Runtime, "from_blob: ", sizes.size(), " sizes but ",
        strides.size(), " strides");
  for (int64_t stride : strides) check(stride >= 0, TensorErrorKind::Value, "from_blob: strides must not be negative");
  const int64_t bytes = storage_bytes_needed(sizes, strides, 0, int64_t(item_size(dtype)));
  void* context = deleter ? new BlobDeleter{std::move(deleter)} : nullptr;
  Storage* storage = Storage::adopt(data, size_t(bytes), device, context ? &BlobDeleter::run : nullptr, context);
  Tensor t = adopt(TensorImpl::create_view(storage, static_cast<char*>(data), sizes, strides, dtype));
  storage->release();
  return t;
}

Tensor Tensor::from_blob(void* data, Ints sizes, DType dtype, std::function<void(void*)> deleter, Device device) {
  return from_blob(data, sizes, contiguous_strides(sizes), dtype, std::move(deleter), device);
}

Tensor Tensor::scalar(Scalar value, DType dtype, Device device) {
  Tensor t = empty({}, dtype, device.is_cpu() ? device : kCpu);
  value.put(dtype, t.data_ptr());
  if (device.is_cpu()) return t;
  Tensor there = empty({}, dtype, device);
  copy_into(there, t);
  return there;
}

Tensor Tensor::wrapped_number(Scalar value) {
  Tensor t = scalar(value, value.category(kFloat64));
  t.impl_->flags |= TensorImpl::kWrappedNumber;
  return t;
}

Tensor Tensor::view_of(Ints sizes, Ints strides, int64_t offset) const {
  int64_t bytes = saturated_mul(offset, int64_t(item_size(dtype())));
  if (bytes < INT64_MIN / 2 || bytes > INT64_MAX / 2) bytes = 0;  // so far away lies only what has no element
  Tensor view = adopt(TensorImpl::create_view(impl_->storage, nullptr, sizes, strides, dtype()));
  view.impl_->start = impl_->start + uintptr_t(bytes);
  view.impl_->flags |= impl_->flags & (TensorImpl::kInference | TensorImpl::kMathBits | TensorImpl::kPending);
  return view;
}

// What an element stands for.
template <class E>
static E with_math_bits(E x, uint8_t flags) {
  if constexpr (is_complex_type<E>)
    if (flags & TensorImpl::kConjBit) x = std::conj(x);
  if constexpr (std::is_same_v<E, bool>) return x;
  else return flags & TensorImpl::kNegBit ? E(-x) : x;
}

// Not inline, for size: what is called for four numbers at a time asks once and takes addresses.
char* Tensor::bytes() const {
  assert(!has_math_bits());
  if (PendingLaunches::any()) [[unlikely]]
    PendingLaunches::flush();
  return impl_->address();
}

Scalar Tensor::item() const {
  check(numel() == 1, TensorErrorKind::Value, "only one element tensors can be converted to Python scalars");
  check(!device().is_meta(), TensorErrorKind::Runtime, "Tensor.item() cannot be called on meta tensors");
  if (PendingLaunches::any()) [[unlikely]]
    PendingLaunches::flush();
  alignas(16) char bytes[16];
  const void* from = impl_->address();
  if (!device().is_cpu()) {
    copy_bytes(bytes, kCpu, from, device(), item_size(dtype()));
    from = bytes;
  }
  return with_type<kElementTypes>(
      dtype(),
      [&](auto tag) -> Scalar {
        using E = typename decltype(tag)::type;
        const auto stored = convert_element<typename WideOf<E>::type>(*static_cast<const E*>(from));
        return Scalar(has_math_bits() ? with_math_bits(stored, impl_->flags) : stored);
      },
      "_local_scalar_dense_cpu");
}

void Tensor::fail_no_dimensions(int64_t d) {
  fail(TensorErrorKind::Index, "Dimension specified as ", d, " but tensor has no dimensions");
}

}  // namespace tessera::tensor

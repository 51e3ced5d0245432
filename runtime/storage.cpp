// Storage: making and freeing. Inline storages are made by TensorImpl::create (tensor.cpp).
#include "runtime/storage.h"

#include <memory>
#include <new>
#include <utility>

#include "runtime/device/backend.h"
#include "runtime/context.h"
#include "runtime/fuse/launch_queue.h"

namespace tessera::tensor {

// The backend has rounded the size, so it is charged when the block is there.
void Storage::charge_for_block(const DeviceBackend& backend, size_t block_bytes, Account& account) {
  try {
    account.charge(block_bytes);
  } catch (...) {
    backend.release(device_, stream_, data_, block_bytes);
    throw;
  }
}

Storage* Storage::allocate(size_t bytes, Device device) {
  size_t block_bytes = bytes;
  Context& context = Context::current();
  Account* account = device.is_cpu() || device.is_meta() ? context.account : &context.account_of(device);
  std::unique_ptr<Storage> s(new Storage(Kind::Block, nullptr, bytes, device));
  if (device.is_cpu()) {
    s->data_ = host::allocate(block_bytes, *account);
  } else {
    const DeviceBackend* backend = device_backend(device.type);
    if (!backend) fail_no_kernel("empty.memory_format", device.type);
    s->stream_ = current_stream(device);
    s->data_ = backend->allocate(device, s->stream_, block_bytes);
    if (block_bytes == 0) account = nullptr;  // meta: nothing is held, so nobody pays
    else s->charge_for_block(*backend, block_bytes, *account);
  }
  s->account_ = account;
  s->block_ = s->data_;
  s->block_bytes_ = block_bytes;
  return s.release();
}

Storage* Storage::pending(size_t bytes, LaunchQueue& queue) {
  Account* const account = Context::current().account;
  std::unique_ptr<Storage> s(new Storage(Kind::Pending, &queue, bytes, kCpu));
  size_t block_bytes = bytes;
  s->block_ = host::allocate(block_bytes, *account);
  s->account_ = account;
  s->block_bytes_ = block_bytes;
  return s.release();
}

bool Storage::exchange_blocks(Storage& other) {
  if (block_bytes_ != other.block_bytes_ || other.device_ != device_) return false;
  if (other.kind_ != Kind::Pending && (other.kind_ != Kind::Block || other.exposed_)) return false;
  std::swap(block_, other.block_);
  if (other.kind_ == Kind::Block) other.data_ = other.block_;
  return true;
}

void Storage::flush() const { queue()->flush(); }

Storage* Storage::adopt(void* data, size_t bytes, Device device, Deleter deleter, void* context) {
  auto* s = new Storage(Kind::Foreign, data, bytes, device);
  s->deleter_ = deleter;
  s->block_ = context;
  return s;
}

Storage* Storage::alias(Storage* base) {
  base->retain();
  return adopt(
      base->data(), base->bytes(), base->device(),
      [](void* context, void*) { static_cast<Storage*>(context)->release(); }, base);
}

void Storage::destroy() noexcept {
  Account* account = account_;
  size_t bytes = block_bytes_;
  switch (kind_) {
    case Kind::Inline: {
      void* block = block_;  // this object lies in it
      host::release(block, bytes);
      break;
    }
    case Kind::Block:
      if (device_.is_cpu()) host::release(block_, bytes);
      else device_backend(device_.type)->release(device_, stream_, block_, bytes);
      delete this;
      break;
    case Kind::Pending:  // the result of a launch that was dropped before it ran
      host::release(block_, bytes);
      delete this;
      break;
    case Kind::Foreign:
      if (deleter_) deleter_(block_, data_);
      delete this;
      break;
  }
  if (account) account->refund(bytes);
}

}  // namespace tessera::tensor

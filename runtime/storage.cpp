// Storage: making and freeing. Inline storages are made by TensorImpl::create (tensor.cpp).
#include "runtime/storage.h"

#include <memory>
#include <new>

#include "runtime/device/backend.h"
#include "runtime/context.h"

namespace tessera::tensor {

Storage* Storage::allocate(size_t bytes, Device device) {
  size_t block_bytes = bytes;
  Account* account = Context::current().account;
  std::unique_ptr<Storage> s(new Storage(Kind::Block, nullptr, bytes, device));
  if (device.is_cpu()) {
    s->data_ = host::allocate(block_bytes, *account);
  } else {
    const DeviceBackend* backend = device_backend(device.type);
    if (!backend) fail_no_kernel("empty.memory_format", device.type);
    s->data_ = backend->allocate(device, block_bytes);
    try {
      account->charge(block_bytes);  // the backend has rounded it
    } catch (...) {
      backend->release(device, s->data_, block_bytes);
      throw;
    }
  }
  s->account_ = account;
  s->block_ = s->data_;
  s->block_bytes_ = block_bytes;
  return s.release();
}

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
      else device_backend(device_.type)->release(device_, block_, bytes);
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

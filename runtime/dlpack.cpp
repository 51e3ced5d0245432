// compile: small (runs once for a tensor that is handed over)
#include "runtime/dlpack.h"

#include <memory>
#include <utility>

#include "runtime/checked.h"
#include "runtime/device/backend.h"
#include "runtime/error.h"

namespace tessera::tensor {
namespace {

DLDataType dl_type(DType type) { return {facts(type).dlpack, static_cast<uint8_t>(item_size(type) * 8), 1}; }

DType type_of(DLDataType given) {
  for (int i = 0; i < kDTypeCount; i++) {
    const DLDataType own = dl_type(DType(i));
    if (own.code == given.code && own.bits == given.bits && given.lanes == 1) return DType(i);
  }
  fail(TensorErrorKind::Runtime, "Unsupported DLPack type: code ", int(given.code), ", ", int(given.bits), " bits, ",
       given.lanes, " lanes");
}

Device device_of(DLDevice given) {
  const auto type = type_of_dlpack(given.device_type);
  if (type == DeviceType::Cpu) return kCpu;
  if (type && device_backend(*type) != nullptr) return {*type, given.device_id};
  fail(TensorErrorKind::Runtime, "Unsupported device_type: ", given.device_type);
}

// What a managed tensor of ours points to.
template <class Managed>
struct Shared {
  Tensor tensor;
  Managed managed{};

  explicit Shared(const Tensor& t) : tensor(t) {
    managed.manager_ctx = this;
    managed.deleter = [](Managed* self) { delete static_cast<Shared*>(self->manager_ctx); };
    DLTensor& view = managed.dl_tensor;
    view.data = t.impl()->exposed_address();
    view.device = {dlpack_type(t.device().type), std::max<int32_t>(t.device().index, 0)};
    view.ndim = int32_t(t.dim());
    view.dtype = dl_type(t.dtype());
    view.shape = const_cast<int64_t*>(tensor.sizes().data());
    view.strides = const_cast<int64_t*>(tensor.strides().data());
    view.byte_offset = 0;
  }
};

template <class Managed>
Managed* share(const Tensor& t) {
  check(!t.requires_grad(), TensorErrorKind::Runtime,
        "Can't export tensors that require gradient, use tensor.detach()");
  check(!t.has_math_bits(), TensorErrorKind::Runtime, "Can't export tensors with the conjugate bit set");
  const DTypeFacts& f = facts(t.dtype());
  check(f.of_class != DTypeClass::Bits, TensorErrorKind::Runtime, "Bit types are not supported by dlpack");
  check(!f.is_packed && (f.dlpack != 0 || f.of_class == DTypeClass::Signed), TensorErrorKind::Runtime, f.scalar_type,
        " type is not supported by dlpack");
  check(dlpack_type(t.device().type) != 0, TensorErrorKind::Runtime, "Cannot pack tensors on ", t.device().str());
  return &(new Shared<Managed>(t))->managed;
}

template <class Managed>
Tensor take(Managed* managed) {
  const DLTensor& view = managed->dl_tensor;
  check(view.ndim >= 0 && (view.ndim == 0 || view.shape != nullptr), TensorErrorKind::Runtime,
        "the DLPack tensor has no shape");
  const size_t dims = size_t(view.ndim);
  const Ints sizes(view.shape, dims);
  const Dims strides = view.strides != nullptr ? Dims(Ints(view.strides, dims)) : contiguous_strides(sizes);
  char* const data = static_cast<char*>(view.data) + view.byte_offset;
  // The deleter is only the tensor's when the tensor is there.
  const auto owned = std::make_shared<Managed*>(nullptr);
  Tensor t = Tensor::from_blob(
      data, sizes, strides, type_of(view.dtype),
      [owned](void*) {
        if (*owned != nullptr && (*owned)->deleter != nullptr) (*owned)->deleter(*owned);
      },
      device_of(view.device));
  *owned = managed;
  return t;
}

}  // namespace

int32_t dlpack_type(DeviceType type) {
  static constexpr int32_t kNumbers[kDeviceTypeCount] = {1, 2, 0, 0, 0};  // kDLCPU, kDLCUDA
  return kNumbers[int(type)];
}

std::optional<DeviceType> type_of_dlpack(int64_t number) {
  for (int i = 0; i < kDeviceTypeCount; i++)
    if (number != 0 && dlpack_type(DeviceType(i)) == number) return DeviceType(i);
  return {};
}

DLManagedTensor* to_dlpack(const Tensor& t) { return share<DLManagedTensor>(t); }

DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& t) {
  DLManagedTensorVersioned* const managed = share<DLManagedTensorVersioned>(t);
  managed->version = {1, 0};
  return managed;
}

Tensor from_dlpack(DLManagedTensor* managed) { return take(managed); }

Tensor from_dlpack(DLManagedTensorVersioned* managed) {
  check(managed->version.major == 1, TensorErrorKind::Runtime, "DLPack version ", managed->version.major,
        " is not known here");
  return take(managed);
}

}  // namespace tessera::tensor

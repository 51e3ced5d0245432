// fill and range on the host.
#include "runtime/device/backend.h"
#include "backends/cpu/convert.h"
#include "backends/cpu/threads.h"
#include "backends/cpu/walk.h"

namespace tessera::tensor::cpu {
namespace {

constexpr int64_t kGrain = 32768;

void fill(const FillCall& call) {
  const Loop& loop = call.loop;
  alignas(16) char element[16];
  call.value.put(loop.dtype[0], element);
  with_size(loop.dtype[0], [&](auto tag) {
    using T = typename decltype(tag)::type;
    T value;
    __builtin_memcpy(&value, element, sizeof value);
    if (loop.ndim == 1 && loop.numel <= kGrain && loop.strides[0][0] == 1)
      return repeat_element(loop.data[0], &value, loop.numel, sizeof(T));
    parallel_for(loop.numel, kGrain, [&](int64_t begin, int64_t end) {
      Walker w(loop, begin);
      while (begin < end) {
        int64_t n = std::min(end - begin, w.row_left()), step = loop.strides[0][0];
        T* at = reinterpret_cast<T*>(w.at(0));
        if (step == 1) repeat_element(at, &value, n, sizeof(T));
        else
          for (int64_t i = 0; i < n; i++) at[i * step] = value;
        w.advance(n);
        begin += n;
      }
    });
  });
}

void range(const RangeCall& call) {
  with_type(call.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* out = static_cast<T*>(call.out);
    const bool exact = !is_floating(call.dtype);
    parallel_for(call.n, kGrain, [&](int64_t begin, int64_t end) {
      if (exact) {
        int64_t start = call.start.to_int(), step = call.step.to_int();
        for (int64_t i = begin; i < end; i++)
          out[i] = convert_element<T>(int64_t(uint64_t(start) + uint64_t(i) * uint64_t(step)));
      } else {
        double start = call.start.to_double(), step = call.step.to_double();
        for (int64_t i = begin; i < end; i++) out[i] = convert_element<T>(start + double(i) * step);
      }
    });
  });
}

const KernelRegistration fill_registration{fill_kernel, DeviceType::Cpu, &fill};
const KernelRegistration range_registration{range_kernel, DeviceType::Cpu, &range};

}  // namespace
}  // namespace tessera::tensor::cpu

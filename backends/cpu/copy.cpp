// copy, fill and range on the host.
#include <cstring>

#include "runtime/device/backend.h"
#include "backends/cpu/convert.h"
#include "backends/cpu/threads.h"
#include "backends/cpu/walk.h"

namespace tessera::tensor::cpu {
namespace {

constexpr int64_t kGrain = 32768;

// Rows of the result that are columns of the source: in squares that fit the cache, so that every line is used up.
template <class T>
void transpose_rows(const Loop& loop, const char* to_base, const char* from_base, int64_t row0, int64_t row1) {
  constexpr int64_t kSide = 32;
  T* to = reinterpret_cast<T*>(const_cast<char*>(to_base));
  const T* from = reinterpret_cast<const T*>(from_base);
  const int64_t columns = loop.sizes[0], to_row = loop.strides[0][1], from_column = loop.strides[1][0],
                from_row = loop.strides[1][1];
  for (int64_t r = row0; r < row1; r += kSide)
    for (int64_t c = 0; c < columns; c += kSide)
      for (int64_t i = r; i < std::min(row1, r + kSide); i++)
        for (int64_t j = c; j < std::min(columns, c + kSide); j++)
          to[i * to_row + j] = from[j * from_column + i * from_row];
}

bool is_transpose(const Loop& loop) {
  return loop.ndim == 2 && loop.dtype[0] == loop.dtype[1] && loop.strides[0][0] == 1 && loop.strides[1][1] == 1 &&
         loop.strides[1][0] != 1 && loop.sizes[0] > 8 && loop.sizes[1] > 8;
}

void copy(const CopyCall& call) {
  const Loop& loop = call.loop;
  if (is_complex(loop.dtype[0]) || is_complex(loop.dtype[1]))
    fail(TensorErrorKind::NotImplemented, "\"copy_\" not implemented for complex types");
  if (is_transpose(loop)) {
    with_size(loop.dtype[0], [&](auto tag) {
      using T = typename decltype(tag)::type;
      parallel_for(loop.sizes[1], std::max<int64_t>(32, kGrain / loop.sizes[0]),
                   [&](int64_t a, int64_t b) { transpose_rows<T>(loop, loop.data[0], loop.data[1], a, b); });
    });
    return;
  }
  ConvertRun run = converter(loop.dtype[0], loop.dtype[1]);
  parallel_for(loop.numel, kGrain, [&](int64_t begin, int64_t end) {
    Walker w(loop, begin);
    while (begin < end) {
      int64_t n = std::min(end - begin, w.row_left());
      run(w.at(0), loop.strides[0][0], w.at(1), loop.strides[1][0], n);
      w.advance(n);
      begin += n;
    }
  });
}

void fill(const FillCall& call) {
  const Loop& loop = call.loop;
  with_type<kAllTypes>(loop.dtype[0], [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T value = call.value.to<T>();
    parallel_for(loop.numel, kGrain, [&](int64_t begin, int64_t end) {
      Walker w(loop, begin);
      while (begin < end) {
        int64_t n = std::min(end - begin, w.row_left()), step = loop.strides[0][0];
        T* at = reinterpret_cast<T*>(w.at(0));
        if (step == 1) std::fill_n(at, n, value);
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

const KernelRegistration copy_registration{copy_kernel, DeviceType::Cpu, &copy};
const KernelRegistration fill_registration{fill_kernel, DeviceType::Cpu, &fill};
const KernelRegistration range_registration{range_kernel, DeviceType::Cpu, &range};

}  // namespace
}  // namespace tessera::tensor::cpu

// compile: small (prints tensors)
#include "runtime/format_sheet.h"

#include <cmath>
#include <complex>
#include <cstdio>

#include "runtime/context.h"

namespace tessera::tensor {
namespace {

Sheet::Kind kind_of(DType t) {
  if (is_bool(t)) return Sheet::Kind::Bool;
  if (is_integral(t)) return Sheet::Kind::Integer;
  return is_complex(t) ? Sheet::Kind::Complex : Sheet::Kind::Float;
}

Sheet::Number read_number(const char* at, DType t) {
  Sheet::Number n;
  if (t == kFloat4E2M1FNx2) [[unlikely]] {  // shown as its bytes
    n.real = *reinterpret_cast<const uint8_t*>(at);
    return n;
  }
  with_type<kElementTypes>(
      t,
      [&](auto tag) {
        using T = typename decltype(tag)::type;
        const T& x = *reinterpret_cast<const T*>(at);
        if constexpr (is_complex_type<T>)
          n.real = convert_element<double>(x.real()), n.imaginary = convert_element<double>(x.imag());
        else if constexpr (is_floating(dtype_of<T>)) n.real = convert_element<double>(x);
        else n.integer = convert_element<int64_t>(x);
      },
      "_local_scalar_dense_cpu");
  return n;
}

void read(const ArrayView& a, Sheet& sheet, size_t dim, const char* at) {
  if (sheet.numbers.size() % 4096 == 4095) Context::current().poll();
  if (dim == sheet.ndim()) return sheet.numbers.push_back(read_number(at, a.dtype));
  const int64_t shown = sheet.shape[dim], edge = sheet.edge[dim];
  for (int64_t i = 0; i < shown; i++) {
    const int64_t item = edge && i >= edge ? a.sizes[dim] - shown + i : i;
    read(a, sheet, dim + 1, at + item * a.strides[dim] * int64_t(item_size(a.dtype)));
  }
}

}  // namespace

Sheet make_sheet(const ArrayView& a, int64_t threshold, int64_t edge) {
  Sheet sheet;
  sheet.kind = kind_of(a.dtype);
  sheet.dtype = a.dtype;
  const bool summarise = numel_of(a.sizes) > threshold;
  for (const int64_t size : a.sizes) {
    const bool cut = summarise && size > 2 * edge;
    sheet.shape.push_back(cut ? 2 * edge : size);
    sheet.edge.push_back(cut ? edge : 0);
  }
  read(a, sheet, 0, static_cast<const char*>(a.data));
  return sheet;
}

std::string print_float(double x, char conversion, int digits) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  const char format[] = {'%', '.', '*', conversion, 0};
  const int length = std::snprintf(nullptr, 0, format, digits, x);
  std::string out(size_t(length), ' ');
  std::snprintf(out.data(), out.size() + 1, format, digits, x);
  return out;
}

}  // namespace tessera::tensor

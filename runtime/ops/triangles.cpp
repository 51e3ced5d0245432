// compile: small (seldom in a step, and the kernel takes longer)
#include "runtime/ops/triangles.h"

#include <algorithm>

#include "runtime/autograd/record.h"
#include "runtime/context.h"
#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/join.h"
#include "runtime/ops/steps.h"
#include "runtime/ops/views.h"
#include "runtime/plan.h"

namespace tessera::tensor {

constinit Kernel<TriangleCall> triangle_kernel("triangle");

namespace {

template <bool kLower>
struct Triangle {
  static constexpr bool in_place = true;
  static Meta shape(const Tensor& self, int64_t) {
    check(self.dim() >= 2, TensorErrorKind::Runtime, kLower ? "tril" : "triu",
          ": input tensor must have at least 2 dimensions");
    return Meta(self.sizes(), self);
  }
  static void run(const Tensor& out, const Tensor& self, int64_t diagonal) {
    if (out.numel() == 0) return;
    check_no_partial_overlap(out, self);
    const Tensor in = contiguous(self),
                 to = out.is_contiguous() ? out : Tensor::empty(out.sizes(), self.dtype(), self.device());
    const int64_t rows = self.size(-2), columns = self.size(-1);
    triangle_kernel(self.device(), TriangleCall{kLower, diagonal, self.dtype(), in.bytes(), to.bytes(),
                                                self.numel() / (rows * columns), rows, columns});
    if (!to.same(out)) copy_into(out, to);
  }
  static void grad(Tensor& out, const Tensor& self, int64_t diagonal) {
    record(out, kLower ? "TrilBackward0" : "TriuBackward0", {&self},
           [diagonal](Sweep& s) { s.give(0, [&] { return kLower ? tril(s.g(), diagonal) : triu(s.g(), diagonal); }); });
  }
};
using Tril = Triangle<true>;
using Triu = Triangle<false>;

}  // namespace

Tensor tril(const Tensor& self, int64_t diagonal) { return apply<Tril>(self, diagonal); }
Tensor triu(const Tensor& self, int64_t diagonal) { return apply<Triu>(self, diagonal); }

namespace {

using NoLayout = std::optional<Dims>;
using Ignored = std::optional<bool>;

void check_rows(int64_t rows, int64_t columns, DType type, Device device, KernelName kernel) {
  check(rows >= 0, TensorErrorKind::Runtime, "row must be non-negative, got", rows);
  check(columns >= 0, TensorErrorKind::Runtime, "col must be non-negative, got", columns);
  require_type(DTypeSet(kInt64) | kInt32, type, device, kernel);
}

// A row for each dimension.
Tensor places_of(const Tensor& mask, DType dtype) {
  const Tensor places = nonzero(mask), out = Tensor::empty({2, places.sizes()[0]}, dtype, mask.device());
  copy_into(out, transpose(places, 0, 1));
  return out;
}

Tensor triangle_places(bool upper, int64_t rows, int64_t columns, int64_t offset, DType type, Device given) {
  const Device device = resolve_device(given);
  check_rows(rows, columns, type, device,
             upper ? KernelName("triu_indices", "triu_indices_cuda") : KernelName("tril_indices", "tril_indices_cuda"));
  if (!triangle_places_kernel.computes_on(device)) {
    const Tensor all = ones({rows, columns}, kBool, device);
    return places_of(upper ? triu(all, offset) : tril(all, offset), type);
  }
  TrianglePlacesCall call{nullptr, type, 0, rows, columns, std::clamp(offset, -rows, columns), upper};
  call.n = call.before(rows);
  const Tensor out = Tensor::empty({2, call.n}, type, device);
  call.out = out.data_ptr();
  if (call.n != 0) triangle_places_kernel(out.device(), call);
  return out;
}

Tensor tril_indices(int64_t rows, int64_t columns, int64_t offset, MaybeType dtype, const NoLayout&, MaybeDevice device,
                    Ignored) {
  return triangle_places(false, rows, columns, offset, dtype.value_or(kInt64),
                         device.value_or(Context::current().default_device));
}
Tensor triu_indices(int64_t rows, int64_t columns, int64_t offset, MaybeType dtype, const NoLayout&, MaybeDevice device,
                    Ignored) {
  return triangle_places(true, rows, columns, offset, dtype.value_or(kInt64),
                         device.value_or(Context::current().default_device));
}

#define TS_OPTIONS "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
constexpr uint32_t kAll = kFunction | kMethod | kInplace | kOut;
TS_OP(tril, "tril(Tensor self, int diagonal=0) -> Tensor", "The lower triangle, zeros above.", kAll, Tril,
      "f[3,4]\n"
      "f[2,3,2].t, -1\n"
      "f[3,3], 9\n"
      "f[0,2]\n"
      "f[3] -> RuntimeError: tril: input tensor must have at least 2 dimensions",
      .out = kOutStructured, .batching = Batching::Front);
TS_OP(triu, "triu(Tensor self, int diagonal=0) -> Tensor", "The upper triangle, zeros below.", kAll, Triu,
      "f[3,4]\n"
      "f[4,3].t, 1\n"
      "b[3,3], -1\n"
      "f[3] -> RuntimeError: triu: input tensor must have at least 2 dimensions",
      .out = kOutStructured, .batching = Batching::Front);
TS_OP(tril_indices, "tril_indices(int row, int col, int offset=0, *, " TS_OPTIONS ") -> Tensor",
      "Places of a lower triangle.", kFunction | kNoGrad, &tril_indices,
      "3, 4\n"
      "2, 3, 1, dtype=int32");
TS_OP(triu_indices, "triu_indices(int row, int col, int offset=0, *, " TS_OPTIONS ") -> Tensor",
      "Places of an upper triangle.", kFunction | kNoGrad, &triu_indices,
      "3, 4\n"
      "3, 2, -1");
#undef TS_OPTIONS

}  // namespace
}  // namespace tessera::tensor

// Small sentences of other ops: their derivatives come from what they say, so nothing is recorded here.
#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {
namespace {

constexpr uint32_t kBoth = kFunction | kMethod;

template <int64_t kRank>
Tensor at_least(const Tensor& self) {
  Tensor out = self.dim() == 0 ? reshape(self, {1}) : self;
  if (kRank >= 2 && out.dim() == 1) out = unsqueeze(out, 0);
  if (kRank >= 3 && out.dim() == 2) out = unsqueeze(out, -1);
  return out;
}
template <int64_t kRank>
TensorList all_at_least(const TensorList& tensors) {
  TensorList out;
  for (const Tensor& t : tensors) out.push_back(at_least<kRank>(t));
  return out;
}
Tensor summed_to(const Tensor& self, Ints size) {
  const int64_t lead = self.dim() - int64_t(size.size());
  bool fits = lead >= 0;
  Dims dims;
  for (int64_t d = 0; fits && d < self.dim(); d++) {
    const int64_t have = self.sizes()[d], want = d < lead ? 1 : size[size_t(d - lead)];
    fits = want == have || want == 1 || d < lead;
    if (d < lead || (want == 1 && have != 1)) dims.push_back(d);
  }
  check(fits, TensorErrorKind::Runtime, "size {", size, "} is not expandable to size {", self.sizes(), "}.");
  if (dims.empty()) return self;
  const Tensor out = sum(self, dims, true);
  return lead ? view(out, size) : out;
}
Tensor argwhere(const Tensor& self) { return nonzero(self); }
Tensor type_as(const Tensor& self, const Tensor& other) { return to(self, other.dtype(), other.device()); }

#define TS_AT_LEAST(NAME, RANK)                                                                                        \
  TS_OP(NAME, #NAME "(Tensor self) -> Tensor", "With dimensions of size 1 added.", kFunction | kView, &at_least<RANK>, \
        "f[3]\nf[]");                                                                                                  \
  TS_OP(NAME, #NAME ".Sequence(Tensor[] tensors) -> Tensor[]", "With dimensions of size 1 added.",                     \
        kFunction | kView | kSizes, &all_at_least<RANK>, "(f[3], f[])")
TS_AT_LEAST(atleast_1d, 1);
TS_AT_LEAST(atleast_2d, 2);
TS_AT_LEAST(atleast_3d, 3);
#undef TS_AT_LEAST
TS_OP(argwhere, "argwhere(Tensor self) -> Tensor", "The places of nonzero elements, one a row.",
      kBoth | kDataDependent | kNoGrad, &argwhere, "b[3,4]");
TS_OP(type_as, "type_as(Tensor self, Tensor other) -> Tensor", "Converted to other's dtype.", kMethod, &type_as,
      "f[3], i[2]<3");
TS_OP(sum_to_size, "sum_to_size(Tensor self, int[] size) -> Tensor",
      "Summed down to a shape that broadcasts to self's.", kMethod | kSizes, &summed_to,
      "f[3,4], [1, 4]\n"
      "f[3,4], [4]\n"
      "b[2,3], [1, 3]\n"
      "f[2,3], [3, 3] -> RuntimeError: size {[3, 3]} is not expandable to size {[2, 3]}.");

Tensor put_(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  const Tensor flat = view(self, {-1});
  index_put_(flat, {reshape(index, {-1})}, reshape(source, {-1}), accumulate);
  return self;
}

TS_OP(put_, "put_(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
      "Writes elements to places of the flattened tensor.", kMethod, &put_,
      "f[3,4], i{1,5,2}, f[3]\n"
      "f[3], i{1,1}, f[2], True");

}  // namespace
}  // namespace tessera::tensor

// Small sentences of other ops: their derivatives come from what they say, so nothing is recorded here.
// compile: small (seldom in a step, and the kernel takes longer)
#include "runtime/device/two_devices.h"
#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/index_along.h"
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
  if (size.empty()) return sum(self);  // a whole sum even of what has no dimensions
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
      "f[2,3], [3, 3] -> RuntimeError: size {[3, 3]} is not expandable to size {[2, 3]}.",
      .autocast_cuda = Autocast::Float32, .batching = Batching::ByExample);

/// Places are those of the flattened tensor, whatever its strides.
struct Put {
  static constexpr bool in_place = true;

  static Meta shape(const Tensor& self, const Tensor& index, const Tensor& source, bool) {
    check(index.dtype() == kInt64, TensorErrorKind::Runtime, "put_(): Expected a long tensor for index, but got ",
          scalar_type_name(index.dtype()));
    check(self.dtype() == source.dtype(), TensorErrorKind::Runtime,
          "put_(): self and source expected to have the same dtype, but got self.dtype = ",
          scalar_type_name(self.dtype()), " and source.dtype = ", scalar_type_name(source.dtype()));
    check_one_device("wrapper_CUDA__put_", {{"self", self}, {"index", index}, {"source", source}});
    check(source.numel() == index.numel(), TensorErrorKind::Index,
          "put_(): Expected source and index to have the same number of elements, but got source.numel() = ",
          source.numel(), ", index.numel() = ", index.numel());
    check(self.numel() > 0 || index.numel() == 0, TensorErrorKind::Index,
          "put_(): Tried to put elements into an empty tensor");
    return {self.sizes(), self.dtype(), self.device(), dense_strides(self)};
  }
  static void run(const Tensor& out, const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
    const Tensor at = reshape(as_index(out, index), {-1}), values = reshape(apart_from(out, source), {-1});
    start_from(out, self);
    const Tensor flat = reshape(out, {-1});
    if (at.numel())
      move_items({accumulate ? IndexCall::Mode::Accumulate : IndexCall::Mode::Write, 0, IndexCall::Complaint::Take,
                  IndexCall::Negative::Wrap},
                 flat, at, values);
    if (&flat.storage() != &out.storage()) copy_into(out, view(flat, out.sizes()));
  }
  static void grad(Tensor& out, const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
    record(out, "PutBackward0", {&self, &source}, keep(index), [accumulate, from = Dims(source.sizes())](Sweep& s) {
      const Tensor at = s.kept(0);
      s.give(0, [&] {
        if (accumulate) return s.g();
        return apply<Put>(s.g(), at, zeros(at.sizes(), s.g().dtype(), s.g().device()), false);
      });
      s.give(1, [&] { return reshape(tessera::tensor::index(reshape(s.g(), {-1}), {at}), from); });
    });
  }
};

TS_OP(put, "put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
      "Writes elements to places of the flattened tensor.", kBoth | kInplace, Put,
      "f[3,4], i{1,5,2}, f[3]\n"
      "f[3,4].t, i{1,-1}, f[2], True\n"
      "f[3], i{1,1}, f[2], True\n"
      "f[0], i{0}, f[1] -> IndexError: put_(): Tried to put elements into an empty tensor\n"
      "f[2], i{2}, f[1] -> IndexError: out of range: tried to access index 2 on a tensor of 2 elements.\n"
      "f[2], i{1}, i[1]<2 -> RuntimeError: put_(): self and source expected to have the same dtype",
      .one_device = "_put_");

}  // namespace
}  // namespace tessera::tensor

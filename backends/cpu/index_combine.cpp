// What is written by index and combined with what is there, where programs seldom do: products, extremes, sums of narrow and of
// complex numbers. Compiled for size.
// compile: small (combining by index is rare)
#include "backends/cpu/index_loop.h"

namespace tessera::tensor::cpu {
namespace {

constexpr DTypeSet kExtremeTypes = DTypeSet(kInt64) | kFloat32 | kFloat64;

template <IndexMode kMode, DTypeSet kTypes>
void combine(const IndexCall& c) {
  with_type<kTypes>(c.dtype, [&](auto tag) { IndexLoop<kMode, typename decltype(tag)::type>(c).run(); });
}

}  // namespace

void combine_rarely(const IndexCall& c) {
  switch (c.mode) {
    case IndexMode::Accumulate: return combine<IndexMode::Accumulate, kElementTypes - kTightSums>(c);
    case IndexMode::Multiply: return combine<IndexMode::Multiply, kExtremeTypes | kComplexTypes>(c);
    case IndexMode::Maximum: return combine<IndexMode::Maximum, kExtremeTypes>(c);
    case IndexMode::Minimum: return combine<IndexMode::Minimum, kExtremeTypes>(c);
    case IndexMode::Read:
    case IndexMode::Write: break;
  }
}

}  // namespace tessera::tensor::cpu

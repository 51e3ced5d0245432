// The bits of float8: against their definition, and against what PyTorch gives for six floats of each upper half.
#include "runtime/float8.h"

#include <doctest/doctest.h>

#include <cmath>

#include "runtime/dtype.h"
#include "runtime/ops.h"

using namespace tessera::tensor;

namespace {

struct Hash {
  uint64_t value = 0xcbf29ce484222325u;
  void add(uint32_t x) { value = (value ^ x) * 0x100000001b3u; }
};

template <class T>
void check_bits(uint64_t written, uint64_t read) {
  Hash codes, numbers;
  for (const uint32_t low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
    for (uint32_t high = 0; high < 65536; high++) codes.add(T::encode(std::bit_cast<float>(high << 16 | low)));
  for (int code = 0; code < 256; code++) numbers.add(std::bit_cast<uint32_t>(T::decode(uint8_t(code))));
  CHECK(codes.value == written);
  CHECK(numbers.value == read);
}

// Every number comes back, and between two neighbours the nearer one is taken, of equally near ones that with an even code.
template <class T>
void check_rounding() {
  for (int code = 0; code < 0x7f; code++) {
    const float low = T::decode(uint8_t(code)), high = T::decode(uint8_t(code + 1));
    if (!std::isfinite(low)) continue;
    CHECK(T::encode(low) == code);
    if (!std::isfinite(high)) continue;
    const float middle = low + (high - low) / 2;
    CHECK(T::encode(std::nextafter(middle, low)) == code);
    CHECK(T::encode(std::nextafter(middle, high)) == code + 1);
    CHECK(T::encode(middle) == (code % 2 == 0 ? code : code + 1));
  }
}

}  // namespace

TEST_CASE("float8 has PyTorch's bits") {
  check_bits<Float8E4M3FN>(0x9687ab578db347c5u, 0xbe9feb495ebb725u);
  check_bits<Float8E5M2>(0x2d490824584d9865u, 0x125367b7816bb725u);
  check_bits<Float8E4M3FNUZ>(0x9b9f4343401d3fa5u, 0xc8107ca3c1313524u);
  check_bits<Float8E5M2FNUZ>(0x8f62d712ad8abc25u, 0xfa60e764e3113524u);
  check_bits<Float8E8M0FNU>(0x4dec5e7ac4a6625u, 0x16f9df57beabb572u);
}
TEST_CASE("float8 rounds to the nearest number, ties to even codes") {
  check_rounding<Float8E4M3FN>();
  check_rounding<Float8E5M2>();
  check_rounding<Float8E4M3FNUZ>();
  check_rounding<Float8E5M2FNUZ>();
}

TEST_CASE("small types are converted alike in rows, with steps and in pieces") {
  const DType types[] = {kFloat8E4M3FN, kFloat8E5M2, kFloat8E8M0FNU, kComplex32, kFloat16,
                         kFloat64,      kInt32,      kBool,          kComplex128};
  std::vector<double> values;
  for (int i = 0; i < 301; i++) values.push_back(i % 7 - 3 + 0.25 * (i % 5));
  for (const DType from : types)
    for (const DType to : types) {
      const Tensor dense = to_dtype(Tensor::from_values(values, Dims{301}), from);
      const Tensor spread = Tensor::empty(Dims{602}, from).view_of(Dims{301}, Dims{2}, 0);
      copy_into(spread, dense);
      const Tensor a = to_dtype(dense, to), b = to_dtype(spread, to);
      for (int64_t i = 0; i < 301; i++)
        REQUIRE(a.view_of(Dims(), Dims(), i).item().to_complex() ==
                b.view_of(Dims(), Dims(), b.strides()[0] * i).item().to_complex());
    }
}

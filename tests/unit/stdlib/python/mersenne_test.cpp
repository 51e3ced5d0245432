// Numbers as CPython's random gives them for the same seeds.
#include <doctest/doctest.h>

#include "stdlib/python/native/mersenne.h"

TEST_CASE("mersenne draws CPython's numbers") {
  tessera::stdlib::Mersenne twister;
  twister.seed(42);
  CHECK(twister.real() == 0.6394267984578837);
  CHECK(twister.real() == 0.025010755222666936);
  twister.seed(0);
  CHECK(twister.bits(8) == 216);
  CHECK(twister.bits(64) == 13981790821421117374ULL);
  twister.seed((uint64_t{1} << 40) + 1);
  CHECK(twister.real() == 0.1757573337592354);
  twister.seed_text("hello");
  CHECK(twister.real() == 0.3537754404730722);
}

// Numbers as text and back: what must not depend on an interpreter.
#include <cmath>
#include <limits>

#include "doctest/doctest.h"
#include "lang/types/format.h"
#include "lang/types/hash.h"
#include "lang/types/number.h"

using namespace tessera::lang;

TEST_CASE("float_repr is the shortest text that reads back") {
  CHECK(float_repr(0.1) == "0.1");
  CHECK(float_repr(1.0) == "1.0");
  CHECK(float_repr(-0.0) == "-0.0");
  CHECK(float_repr(1e15) == "1000000000000000.0");
  CHECK(float_repr(1e16) == "1e+16");
  CHECK(float_repr(0.0001) == "0.0001");
  CHECK(float_repr(0.00001) == "1e-05");
  CHECK(float_repr(5e-324) == "5e-324");
  CHECK(float_repr(std::numeric_limits<double>::infinity()) == "inf");
  CHECK(float_repr(std::nan("")) == "nan");
}

TEST_CASE("float_text follows the format letters") {
  CHECK(float_text(2.5, 'f', 0) == "2");
  CHECK(float_text(3.5, 'f', 0) == "4");
  CHECK(float_text(1234567.0, 'g', 6) == "1.23457e+06");
  CHECK(float_text(0.25, '%', 1) == "25.0%");
  CHECK(float_text(1e10, 'E', 2) == "1.00E+10");
  CHECK(float_text(100.0, 'g', 6, kAlternate) == "100.000");
}

TEST_CASE("parse_float_text refuses what is not a number") {
  double value = 0;
  CHECK(parse_float_text("1.", value));
  CHECK(parse_float_text(".5", value));
  CHECK(parse_float_text("-Infinity", value));
  CHECK(value < 0);
  CHECK_FALSE(parse_float_text("", value));
  CHECK_FALSE(parse_float_text("1e", value));
  CHECK_FALSE(parse_float_text("0x10", value));
  CHECK_FALSE(parse_float_text(".", value));
}

TEST_CASE("equal numbers have equal hashes") {
  CHECK(hash_float(3.0) == hash_int(3));
  CHECK(hash_float(-1.0) == -2);
  CHECK(hash_int(-1) == -2);
  CHECK(hash_float(0.5) == 1152921504606846976);
  CHECK(hash_int(INT64_MAX) == 3);
  CHECK(hash_float(9223372036854775808.0) == 4);
}

TEST_CASE("ints and floats are compared exactly") {
  CHECK(compare_int_float(9007199254740993, 9007199254740992.0) == 1);
  CHECK(compare_int_float(INT64_MAX, 9223372036854775808.0) == -1);
  CHECK(compare_int_float(1, 1.5) == -1);
  CHECK(compare_int_float(-1, -1.5) == 1);
  CHECK(compare_int_float(0, std::nan("")) == 2);
}

TEST_CASE("format specifications are taken apart") {
  const FormatSpec spec = parse_format_spec("*^+#012,.3f", "float");
  CHECK(spec.fill == '*');
  CHECK(spec.align == '^');
  CHECK(spec.sign == '+');
  CHECK(spec.alternate);
  CHECK(spec.width == 12);
  CHECK(spec.grouping == ',');
  CHECK(spec.precision == 3);
  CHECK(spec.type == 'f');
  CHECK_THROWS_AS(parse_format_spec("1_000", "float"), Error);
}

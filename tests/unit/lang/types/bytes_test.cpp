// bytes, bytearray and memoryview, where a script would not see a mistake at once.
#include "lang/types/bytes.h"

#include "doctest/doctest.h"
#include "lang/core/host.h"
#include "lang/core/protocol.h"
#include "lang/syntax/source.h"
#include "lang/types/codec.h"
#include "lang/types/half.h"
#include "lang/types/str.h"

using namespace tessera::lang;

namespace {

Value evaluate(Interpreter& in, std::string_view text) {
  return in.eval(*std::make_shared<Source>("test", std::string(text)));
}

}  // namespace

TEST_CASE("the bytes types come into being when they are first named") {
  Interpreter in;
  evaluate(in, "len([1, 2])");
  CHECK(in.shared->bytes == nullptr);
  CHECK(length(in, evaluate(in, "b'abc'")) == 3);
  CHECK(in.shared->bytes != nullptr);
  CHECK(evaluate(in, "bytearray is bytearray").as_bool());
}

TEST_CASE("bytes stand behind their header, a zero byte behind them") {
  Interpreter in;
  const Value made = make_bytes(in, std::string_view("a\0b", 3));
  CHECK(as_bytes(made)->size == 3);
  CHECK(as_bytes(made)->data()[3] == 0);
  CHECK(bytes_of(made) == std::string_view("a\0b", 3));
  CHECK(hash(in, made) == hash(in, make_bytes(in, std::string_view("a\0b", 3))));
}

TEST_CASE("a bytearray grows in a block of its own, also by its own bytes") {
  Interpreter in;
  const Value made = make_byte_array(in, "abc");
  ByteArray* a = as_byte_array(made);
  for (int i = 0; i < 12; ++i) byte_array_append(in, a, a->view());
  CHECK(a->size == 3 << 12);
  CHECK(a->view().substr(a->size - 3) == "abc");
  byte_array_resize(in, a, 2);
  CHECK(a->view() == "ab");
  CHECK(a->capacity < 3000);
  byte_array_resize(in, a, 4);
  CHECK(a->view() == std::string_view("ab\0\0", 4));
}

TEST_CASE("memory that others look at does not move") {
  Interpreter in;
  const Value array = make_byte_array(in, "abc");
  {
    const PinnedBuffer pinned(in, array, true);
    CHECK_THROWS_AS(byte_array_append(in, as_byte_array(array), "d"), Error);
    const Value view = make_memory_view(in, array);
    CHECK(as_byte_array(array)->exports == 2);
  }
  CHECK(as_byte_array(array)->exports == 0);
  byte_array_append(in, as_byte_array(array), "d");
  CHECK(bytes_of(array) == "abcd");
  CHECK_THROWS_AS(PinnedBuffer(in, make_bytes(in, "x"), true), Error);
}

TEST_CASE("what bytes take counts against the limit of memory") {
  Interpreter in;
  in.heap.set_limit(in.heap.bytes() + (4 << 20));
  for (const char* text : {"bytes(1 << 30)", "bytearray(1 << 30)", "b'x' * (1 << 30)", "b'x'.ljust(1 << 30)",
                           "bytes(0 for i in range(1 << 24))", "bytearray(b'ab') * (1 << 28)"}) {
    CAPTURE(text);
    CHECK_THROWS(evaluate(in, text));
  }
  CHECK(length(in, evaluate(in, "bytes(1 << 20)")) == 1 << 20);
}

TEST_CASE("halves are rounded to even and refuse what is too large") {
  uint16_t bits = 0;
  for (const auto& [value, wanted] : {std::pair{1.0, 0x3c00},
                                      {65504.0, 0x7bff},
                                      {5.960464477539063e-08, 1},
                                      {2049.0, 0x6800},
                                      {2051.0, 0x6802},
                                      {2.9802322387695312e-08, 0},
                                      {-0.0, 0x8000},
                                      {6.103515625e-05, 0x400}}) {
    CAPTURE(value);
    CHECK(double_to_half(value, bits));
    CHECK(bits == wanted);
  }
  CHECK_FALSE(double_to_half(65520.0, bits));
  for (uint32_t i = 0; i < 0x7c00; ++i) {
    CHECK(double_to_half(half_to_double(static_cast<uint16_t>(i)), bits));
    if (bits != i) FAIL_CHECK("half " << i);
  }
}

TEST_CASE("encodings are known under all of their names") {
  for (const char* name : {"utf-8", "UTF8", "utf_8", "U8"}) CHECK(codec_name(name) == "utf-8");
  CHECK(codec_name("Latin-1") == "iso8859-1");
  CHECK(codec_name("nope").empty());
}

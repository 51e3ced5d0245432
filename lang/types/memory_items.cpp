// One item of memory by its format character, at the sizes and in the byte order of this machine.
// compile: small (memoryviews are rare)
#include <cmath>
#include <cstring>
#include <limits>

#include "lang/core/error.h"
#include "lang/core/protocol.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes.h"
#include "lang/types/half.h"
#include "lang/types/number.h"
#include "lang/types/str.h"

namespace tessera::lang {
namespace {

template <class T>
T read(const char* from) {
  T item;
  std::memcpy(&item, from, sizeof(T));
  return item;
}

[[noreturn]] void wrong_type(char format) {
  throw_error(ErrorKind::TypeError, "memoryview: invalid type for format '%c'", format);
}
[[noreturn]] void wrong_value(char format) {
  throw_error(ErrorKind::ValueError, "memoryview: invalid value for format '%c'", format);
}

template <class T>
void write_int(Interpreter& in, char format, const Value& value, char* to) {
  if (!is_index(in, value)) wrong_type(format);
  const Value whole = whole_index(in, value);
  if constexpr (sizeof(T) == 8 && std::is_unsigned_v<T>) {
    uint64_t wide;
    if (format == 'P' && whole.is_int()) wide = static_cast<uint64_t>(whole.as_int());  // a pointer may be given as a negative int
    else if (!whole_to_uint64(whole, wide)) wrong_value(format);
    std::memcpy(to, &wide, sizeof wide);
    return;
  }
  if (is_big_int(whole)) wrong_value(format);
  const int64_t item = whole.as_int();
  if (std::is_unsigned_v<T> ? item < 0 : item < static_cast<int64_t>(std::numeric_limits<T>::min()))
    wrong_value(format);
  if (item > 0 && static_cast<uint64_t>(item) > static_cast<uint64_t>(std::numeric_limits<T>::max()))
    wrong_value(format);
  const T narrow = static_cast<T>(item);
  std::memcpy(to, &narrow, sizeof(T));
}

double real_of(Interpreter& in, char format, const Value& value) {
  try {
    return to_float(in, value);
  } catch (const Error& error) {
    if (error.kind == ErrorKind::TypeError) wrong_type(format);
    if (error.kind == ErrorKind::OverflowError || error.kind == ErrorKind::ValueError) wrong_value(format);
    throw;
  }
}

}  // namespace

uint32_t format_width(char format) noexcept {
  switch (format) {
    case 'b':
    case 'B':
    case 'c':
    case '?': return 1;
    case 'h':
    case 'H':
    case 'e': return 2;
    case 'i':
    case 'I':
    case 'f': return 4;
    case 'l':
    case 'L':
    case 'q':
    case 'Q':
    case 'n':
    case 'N':
    case 'P':
    case 'd': return 8;
    default: return 0;
  }
}

Value load_item(Interpreter& in, char format, const char* from) {
  switch (format) {
    case 'b': return Value::integer(read<int8_t>(from));
    case 'B': return Value::integer(read<uint8_t>(from));
    case 'c': return make_bytes(in, {from, 1});
    case '?': return Value::boolean(*from != 0);
    case 'h': return Value::integer(read<int16_t>(from));
    case 'H': return Value::integer(read<uint16_t>(from));
    case 'i': return Value::integer(read<int32_t>(from));
    case 'I': return Value::integer(read<uint32_t>(from));
    case 'f': return Value::real(static_cast<double>(read<float>(from)));
    case 'd': return Value::real(read<double>(from));
    case 'e': return Value::real(half_to_double(read<uint16_t>(from)));
    case 'L':
    case 'Q':
    case 'P':
    case 'N': return whole_from_uint64(in, read<uint64_t>(from));
    default: return Value::integer(read<int64_t>(from));
  }
}

void store_item(Interpreter& in, char format, const Value& value, char* to) {
  switch (format) {
    case 'b': return write_int<int8_t>(in, format, value, to);
    case 'B': return write_int<uint8_t>(in, format, value, to);
    case 'h': return write_int<int16_t>(in, format, value, to);
    case 'H': return write_int<uint16_t>(in, format, value, to);
    case 'i': return write_int<int32_t>(in, format, value, to);
    case 'I': return write_int<uint32_t>(in, format, value, to);
    case 'L':
    case 'Q':
    case 'P':
    case 'N': return write_int<uint64_t>(in, format, value, to);
    case 'c':
      if (!is_bytes(value)) wrong_type(format);
      if (as_bytes(value)->size != 1) wrong_value(format);
      *to = as_bytes(value)->data()[0];
      return;
    case '?': *to = truth(in, value) ? 1 : 0; return;
    case 'f': {
      const float narrow = static_cast<float>(real_of(in, format, value));
      std::memcpy(to, &narrow, sizeof narrow);
      return;
    }
    case 'd': {
      const double real = real_of(in, format, value);
      std::memcpy(to, &real, sizeof real);
      return;
    }
    default: return write_int<int64_t>(in, format, value, to);
  }
}

}  // namespace tessera::lang

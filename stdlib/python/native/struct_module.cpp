// _struct: values to bytes and back, by a format. A format is read anew for each call: it is a few letters long.
// compile: small (seldom in an inner loop)
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "lang/objects/class.h"
#include "lang/core/pieces.h"
#include "lang/core/make_object.h"
#include "lang/objects/exception.h"
#include "lang/types/bigint.h"
#include "lang/types/number.h"
#include "lang/types/bytes.h"
#include "lang/types/half.h"
#include "lang/types/sequence.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

[[noreturn]] void throw_struct(Interpreter& in, const std::string& message) {
  const Value error_class = get_attr(in, Value(in.import("struct")), intern(in, "error"));
  throw Thrown(call(in, error_class, {make_str(in, message)}));
}

// One letter of a format: `count` items of `width` bytes each, the first at `offset`; of s and p `count` is the width.
struct Field {
  char code;
  size_t count, width, offset;
};

struct Format {
  bool big = false, native = true;
  std::vector<Field> fields;
  size_t size = 0, values = 0;
};

size_t native_width(char code) {
  if (code == 'x' || code == 's' || code == 'p') return 1;
  return code == 'P' ? 8 : format_width(code);
}

size_t standard_width(char code) {
  switch (code) {
    case 'l':
    case 'L': return 4;
    case 'n':
    case 'N':
    case 'P': return 0;
    default: return native_width(code);
  }
}

Format parse_format(Interpreter& in, const Value& value) {
  if (!is_str(value) && !is_bytes(value)) {
    throw_error(ErrorKind::TypeError, "Struct() argument 1 must be a str or bytes object, not %s",
                std::string(type_of(in, value)->name->view()).c_str());
  }
  if (is_str(value) && !as_str(value)->is_ascii()) call_method(in, value, intern(in, "encode"), {make_str(in, "ascii")});
  std::string_view text = is_str(value) ? text_of(value) : bytes_of(value);
  if (text.find('\0') != std::string_view::npos) throw_struct(in, "embedded null character");
  Format format;
  if (!text.empty() && std::string_view("@=<>!").find(text[0]) != std::string_view::npos) {
    format.native = text[0] == '@';
    format.big = text[0] == '>' || text[0] == '!';
    text.remove_prefix(1);
  }
  constexpr size_t kMost = INT64_MAX;
  for (size_t i = 0; i < text.size(); ++i) {
    if (std::string_view(" \t\n\r\v\f").find(text[i]) != std::string_view::npos) continue;
    size_t count = 1;
    if (text[i] >= '0' && text[i] <= '9') {
      for (count = 0; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
        const auto digit = static_cast<size_t>(text[i] - '0');
        if (count > (kMost - digit) / 10) throw_struct(in, "total struct size too long");
        count = count * 10 + digit;
      }
      if (i == text.size()) throw_struct(in, "repeat count given without format specifier");
    }
    const char code = text[i];
    const size_t width = format.native ? native_width(code) : standard_width(code);
    if (width == 0) throw_struct(in, "bad char in struct format");
    if (format.native) format.size = (format.size + width - 1) / width * width;
    if (format.size > kMost || count > (kMost - format.size) / width) throw_struct(in, "total struct size too long");
    format.fields.push_back({code, count, width, format.size});
    format.size += count * width;
    if (code != 'x') format.values += code == 's' || code == 'p' ? 1 : count;
  }
  return format;
}

// The format of a function of the module. CPython looks for it in a cache, so it must be hashable.
Format cached_format(Interpreter& in, const Value& value) {
  if (!is_str(value) && !is_bytes(value)) hash(in, value);
  return parse_format(in, value);
}

// --- one item

void put_bits(char* to, uint64_t bits, size_t width, bool big) {
  for (size_t i = 0; i < width; ++i) to[big ? width - 1 - i : i] = static_cast<char>(bits >> 8 * i);
}

uint64_t get_bits(const char* from, size_t width, bool big) {
  uint64_t bits = 0;
  for (size_t i = 0; i < width; ++i)
    bits |= uint64_t{static_cast<unsigned char>(from[big ? width - 1 - i : i])} << 8 * i;
  return bits;
}

bool is_signed(char code) { return code >= 'a' && code <= 'z'; }

[[noreturn]] void out_of_range(Interpreter& in, const Format& format, const Field& field, int64_t item, int64_t least,
                               uint64_t most) {
  switch (field.code) {
    case 'b': throw_struct(in, "byte format requires -128 <= number <= 127");
    case 'B': throw_struct(in, "ubyte format requires 0 <= number <= 255");
    // CPython reads these two by the machine's own way where that has the same order of bytes.
    case 'h':
      if (!format.big) throw_struct(in, "short format requires -32768 <= number <= 32767");
      break;
    case 'H':
      if (!format.big) throw_struct(in, "ushort format requires 0 <= number <= 65535");
      break;
    default: break;
  }
  if (format.big && field.width == 8) throw_struct(in, "int too large to convert");
  if (item < 0 && least == 0) throw_struct(in, "argument out of range");
  throw_struct(in, std::string("'") + field.code + "' format requires " + std::to_string(least) +
                       " <= number <= " + std::to_string(most));
}

// Beyond int64: the upper half of the unsigned items of eight bytes, or an error.
void pack_big_int(Interpreter& in, const Format& format, const Field& field, const Value& whole, char* to) {
  uint64_t bits;
  const bool fits = !is_signed(field.code) && field.code != 'P' && whole_to_uint64(whole, bits);
  if (fits && field.width == 8) return put_bits(to, bits, 8, format.big);
  if (field.code == 'P' || (format.big && field.width == 8)) throw_struct(in, "int too large to convert");
  const bool by_limit = fits && (field.width == 4 || (field.width == 2 && format.big));
  if (!by_limit) throw_struct(in, "argument out of range");
  throw_struct(in, std::string("'") + field.code + "' format requires 0 <= number <= " +
                       std::to_string(~uint64_t{0} >> (64 - field.width * 8)));
}

void pack_int(Interpreter& in, const Format& format, const Field& field, const Value& value, char* to) {
  if (!is_index(in, value)) throw_struct(in, "required argument is not an integer");
  const Value whole = whole_index(in, value);
  if (is_big_int(whole)) return pack_big_int(in, format, field, whole, to);
  const int64_t item = whole.as_int();
  const unsigned bits = static_cast<unsigned>(field.width * 8);
  const bool with_sign = is_signed(field.code) || field.code == 'P';
  const int64_t least = !with_sign ? 0 : std::numeric_limits<int64_t>::min() >> (64 - bits);
  const uint64_t most = with_sign ? static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) >> (64 - bits)
                                  : ~uint64_t{0} >> (64 - bits);
  if (item < least || (item > 0 && static_cast<uint64_t>(item) > most))
    out_of_range(in, format, field, item, least, most);
  put_bits(to, static_cast<uint64_t>(item), field.width, format.big);
}

void pack_real(Interpreter& in, const Format& format, const Field& field, const Value& value, char* to) {
  double real;
  try {
    real = real_argument(in, value);
  } catch (const std::exception&) {
    if (!is_error(in, current_native_exception(in), ErrorKind::Exception)) throw;
    throw_struct(in, "required argument is not a float");
  }
  uint64_t bits = 0;
  if (field.code == 'd') {
    std::memcpy(&bits, &real, 8);
  } else if (field.code == 'f') {
    const float narrow = static_cast<float>(real);
    if (std::isinf(narrow) && !std::isinf(real) && !format.native)
      throw Error(ErrorKind::OverflowError, "float too large to pack with f format");
    uint32_t word;
    std::memcpy(&word, &narrow, 4);
    bits = word;
  } else {
    uint16_t half;
    if (!double_to_half(real, half)) throw Error(ErrorKind::OverflowError, "float too large to pack with e format");
    bits = half;
  }
  put_bits(to, bits, field.width, format.big);
}

void pack_text(Interpreter& in, const Field& field, const Value& value, char* to) {
  if (!is_bytes(value) && !is_byte_array(value))
    throw_struct(in, std::string("argument for '") + field.code + "' must be a bytes object");
  const std::string_view bytes = bytes_of(value);
  if (field.code == 's') {
    std::memcpy(to, bytes.data(), std::min(bytes.size(), field.count));
  } else if (field.count != 0) {  // the length in front, in one byte
    const size_t size = std::min(bytes.size(), field.count - 1);
    to[0] = static_cast<char>(std::min<size_t>(size, 255));
    std::memcpy(to + 1, bytes.data(), size);
  }
}

void pack_item(Interpreter& in, const Format& format, const Field& field, const Value& value, char* to) {
  switch (field.code) {
    case 'c':
      if (!is_bytes(value) || as_bytes(value)->size != 1)
        throw_struct(in, "char format requires a bytes object of length 1");
      *to = as_bytes(value)->data()[0];
      return;
    case '?': *to = truth(in, value) ? 1 : 0; return;
    case 'e':
    case 'f':
    case 'd': return pack_real(in, format, field, value, to);
    default: return pack_int(in, format, field, value, to);
  }
}

Value unpack_item(Interpreter& in, const Format& format, const Field& field, const char* from) {
  const uint64_t bits = get_bits(from, field.width, format.big);
  switch (field.code) {
    case 'c': return make_bytes(in, {from, 1});
    case '?': return Value::boolean(*from != 0);
    case 'e': return Value::real(half_to_double(static_cast<uint16_t>(bits)));
    case 'f': {
      const uint32_t word = static_cast<uint32_t>(bits);
      float narrow;
      std::memcpy(&narrow, &word, 4);
      return Value::real(static_cast<double>(narrow));
    }
    case 'd': {
      double real;
      std::memcpy(&real, &bits, 8);
      return Value::real(real);
    }
    default: break;
  }
  const unsigned unused = static_cast<unsigned>(64 - field.width * 8);
  if (is_signed(field.code)) return Value::integer(static_cast<int64_t>(bits << unused) >> unused);
  return whole_from_uint64(in, bits);
}

// --- all of them

// Fills the place of the whole format, which is zeroed first. An error leaves the values before the wrong one, as in CPython.
void pack_fields(Interpreter& in, const Format& format, const Tuple* values, char* place) {
  std::memset(place, 0, format.size);
  uint32_t next = 0;
  for (const Field& field : format.fields) {
    char* const to = place + field.offset;
    if (field.code == 'x') continue;
    if (field.code == 's' || field.code == 'p') {
      pack_text(in, field, (*values)[next++], to);
      continue;
    }
    for (size_t i = 0; i < field.count; ++i) pack_item(in, format, field, (*values)[next++], to + i * field.width);
  }
}

// As a bytes object: what it takes is counted before it is filled.
Value pack_values(Interpreter& in, const Format& format, const Tuple* values, const char* name) {
  if (values->size != format.values) {
    throw_struct(in, std::string(name) + " expected " + std::to_string(format.values) + " items for packing (got " +
                         std::to_string(values->size) + ")");
  }
  Bytes* out = new_bytes(in, format.size);
  const Value made = Value::adopt(out);
  pack_fields(in, format, values, out->data());
  return made;
}

Value unpack_values(Interpreter& in, const Format& format, const char* bytes) {
  std::vector<Value> values;
  values.reserve(format.values);  // as many as there are bytes
  for (const Field& field : format.fields) {
    const char* const from = bytes + field.offset;
    if (field.code == 'x') continue;
    if (field.code == 's') {
      values.push_back(make_bytes(in, {from, field.count}));
    } else if (field.code == 'p') {
      const size_t size = field.count == 0 ? 0 : std::min<size_t>(static_cast<unsigned char>(from[0]), field.count - 1);
      values.push_back(make_bytes(in, {field.count == 0 ? from : from + 1, size}));
    } else {
      in_pieces(in, field.count, [&](size_t i, size_t end) {
        for (; i < end; ++i) values.push_back(unpack_item(in, format, field, from + i * field.width));
      });
    }
  }
  return make_tuple_moving(in, values.data(), values.size());
}

Value calcsize(Interpreter& in, const Args& args) {
  return Value::integer(static_cast<int64_t>(cached_format(in, args[0]).size));
}

Value pack(Interpreter& in, const Args& args) {
  if (args[0].is_undefined()) throw Error(ErrorKind::TypeError, "missing format argument");
  return pack_values(in, cached_format(in, args[0]), as_tuple(args[1]), "pack");
}

// Where an offset lies in a buffer of `size` bytes; negative ones count from the end.
size_t place_of(Interpreter& in, int64_t offset, size_t needed, size_t size, bool packs) {
  const std::string name = packs ? "pack_into" : "unpack_from";
  const int64_t given = offset;
  if (offset < 0) {
    if (static_cast<int64_t>(needed) + offset > 0) {
      throw_struct(in, packs
                           ? "no space to pack " + std::to_string(needed) + " bytes at offset " + std::to_string(given)
                           : "not enough data to unpack " + std::to_string(needed) + " bytes at offset " +
                                 std::to_string(given));
    }
    offset += static_cast<int64_t>(size);
    if (offset < 0) {
      throw_struct(in,
                   "offset " + std::to_string(given) + " out of range for " + std::to_string(size) + "-byte buffer");
    }
  }
  if (static_cast<size_t>(offset) > size || size - static_cast<size_t>(offset) < needed) {
    throw_struct(in, name + " requires a buffer of at least " + std::to_string(static_cast<size_t>(offset) + needed) +
                         " bytes for " + (packs ? "packing " : "unpacking ") + std::to_string(needed) +
                         " bytes at offset " + std::to_string(given) + " (actual buffer size is " +
                         std::to_string(size) + ")");
  }
  return static_cast<size_t>(offset);
}

Value pack_into(Interpreter& in, const Args& args) {
  if (args[0].is_undefined()) throw Error(ErrorKind::TypeError, "missing format argument");
  const Format format = cached_format(in, args[0]);
  const size_t given = as_tuple(args[3])->size;
  if (args[2].is_undefined()) throw_struct(in, args[1].is_undefined() ? "pack_into expected buffer argument" : "pack_into expected offset argument");
  if (given != format.values)
    throw_struct(in, "pack_into expected " + std::to_string(format.values) + " items for packing (got " + std::to_string(given) + ")");
  Buffer shape;
  if (!find_writable(in, args[1], shape)) {
    throw_error(ErrorKind::TypeError, "argument must be read-write bytes-like object, not %s",
                argument_type(in, args[1]));
  }
  const PinnedBuffer buffer(in, args[1], true);
  const int64_t offset = index_sized(in, args[2], ErrorKind::IndexError);
  const Tuple* values = as_tuple(args[3]);
  const size_t at = place_of(in, offset, format.size, buffer.get().size, true);
  pack_fields(in, format, values, buffer.get().data + at);
  return Value::none();
}

Value unpack(Interpreter& in, const Args& args) {
  const Format format = cached_format(in, args[0]);
  const BytesLike bytes(in, args[1]);
  if (bytes.view().size() != format.size)
    throw_struct(in, "unpack requires a buffer of " + std::to_string(format.size) + " bytes");
  return unpack_values(in, format, bytes.view().data());
}

Value unpack_from(Interpreter& in, const Args& args) {
  const Format format = cached_format(in, args[0]);
  const BytesLike bytes(in, args[1]);
  const int64_t offset = int_argument(in, args[2]);
  const size_t at = place_of(in, offset, format.size, bytes.view().size(), false);
  return unpack_values(in, format, bytes.view().data() + at);
}

const NativeDef kFunctions[] = {
    {"calcsize(format, /)", calcsize, "The size of what the format describes."},
    {"pack(format=..., /, *values)", pack, "The values as bytes."},
    {"pack_into(format=..., buffer=..., offset=..., /, *values)", pack_into, "Write the values into a buffer."},
    {"unpack(format, buffer, /)", unpack, "The values that the bytes stand for."},
    {"unpack_from(format, /, buffer, offset=0)", unpack_from, "The values that stand somewhere in a buffer."},
};

}  // namespace

void fill_struct(Interpreter& in, Module& module) {
  for (const NativeDef& row : kFunctions) in.def(module, row.signature, row.doc, row.function);
}

}  // namespace tessera::stdlib

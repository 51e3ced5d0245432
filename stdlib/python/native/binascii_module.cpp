// _binascii: bytes as text of hexadecimal digits or of base 64.
// compile: small (seldom in an inner loop)
#include <array>

#include "lang/core/pieces.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes.h"
#include "lang/types/number.h"
#include "stdlib/python/native/binascii.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

[[noreturn]] void throw_binascii(Interpreter& in, const std::string& message) {
  const Value error_class = get_attr(in, Value(in.import("binascii")), intern(in, "Error"));
  throw Thrown(call(in, error_class, {make_str(in, message)}));
}

bool flag_argument(Interpreter& in, const Value& v) {
  const Value whole = whole_index(in, v);
  if (is_big_int(whole) || whole.as_int() > INT32_MAX || whole.as_int() < INT32_MIN)
    throw Error(ErrorKind::OverflowError, "Python int too large to convert to C int");
  return whole.as_int() != 0;
}

std::string ascii_argument(Interpreter& in, const Value& v) {
  if (!is_str(v)) {
    if (!is_bytes_without_gaps(in, v)) {
      throw_error(ErrorKind::TypeError, "argument should be bytes, buffer or ASCII string, not '%s'",
                  std::string(type_name(in, v)).c_str());
    }
    return std::string(BytesLike(in, v).view());
  }
  if (!as_str(v)->is_ascii())
    throw Error(ErrorKind::ValueError, "string argument should contain only ASCII characters");
  return std::string(text_of(v));
}

namespace {

Value hexlify(Interpreter& in, const Args& args) {
  const BytesLike data(in, args[0]);
  return make_bytes(in, hex_text(in, data.view(), args[1], int_argument(in, args[2])));
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char low = static_cast<char>(c | 0x20);
  return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

Value unhexlify(Interpreter& in, const Args& args) {
  const std::string text = ascii_argument(in, args[0]);
  if (text.size() % 2 != 0) throw_binascii(in, "Odd-length string");
  std::string out;
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = digit_of(text[i]), low = digit_of(text[i + 1]);
    if (high < 0 || low < 0) throw_binascii(in, "Non-hexadecimal digit found");
    out += static_cast<char>(high * 16 + low);
  }
  return make_bytes(in, out);
}

Value to_base64(Interpreter& in, const Args& args) {
  const BytesLike data(in, args[0]);
  const bool newline = flag_argument(in, args[1]);
  const std::string_view bytes = data;
  std::string out;
  out.reserve(bytes.size() / 3 * 4 + 5);
  StopBudget budget(in);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    budget.take(3);
    uint32_t group = 0;
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    for (size_t k = 0; k < 3; ++k) group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) out += k <= count ? kLetters[group >> (18 - 6 * k) & 63] : '=';
  }
  if (newline) out += '\n';
  return make_bytes(in, out);
}

std::array<int8_t, 256> values_of_letters() {
  std::array<int8_t, 256> table;
  table.fill(-1);
  for (size_t i = 0; i < 64; ++i) table[static_cast<unsigned char>(kLetters[i])] = static_cast<int8_t>(i);
  return table;
}

Value from_base64(Interpreter& in, const Args& args) {
  const std::array<int8_t, 256> values = values_of_letters();
  const std::string text = ascii_argument(in, args[0]);
  const bool strict = flag_argument(in, args[1]);
  std::string out;
  uint32_t group = 0;
  int letters = 0, pads = 0;
  if (strict && !text.empty() && text[0] == '=') throw_binascii(in, "Leading padding not allowed");
  StopBudget budget(in);
  for (size_t i = 0; i < text.size(); ++i) {
    budget.take();
    const char c = text[i];
    if (c == '=') {
      ++pads;
      if (letters >= 2 && letters + pads >= 4) {  // a whole group: what follows does not count
        if (strict && i + 1 < text.size()) throw_binascii(in, "Excess data after padding");
        return make_bytes(in, out);
      }
      continue;
    }
    const int value = values[static_cast<unsigned char>(c)];
    if (value < 0) {
      if (strict) throw_binascii(in, "Only base64 data is allowed");
      continue;
    }
    if (strict && pads != 0) throw_binascii(in, "Discontinuous padding not allowed");
    pads = 0;
    group = group << 6 | static_cast<uint32_t>(value);
    if (++letters > 1) out += static_cast<char>(group >> (6 - 2 * (letters - 1)));
    if (letters == 4) letters = 0, group = 0;
  }
  if (letters == 1) {
    throw_binascii(in, "Invalid base64-encoded string: number of data characters (" +
                           std::to_string(out.size() / 3 * 4 + 1) + ") cannot be 1 more than a multiple of 4");
  }
  if (letters != 0) throw_binascii(in, "Incorrect padding");
  return make_bytes(in, out);
}

const NativeDef kFunctions[] = {
    {"hexlify(data, sep=..., bytes_per_sep=1)", hexlify, "The bytes as hexadecimal digits."},
    {"unhexlify(hexstr, /)", unhexlify, "The bytes of hexadecimal digits."},
    {"b2a_hex(data, sep=..., bytes_per_sep=1)", hexlify, "The bytes as hexadecimal digits."},
    {"a2b_hex(hexstr, /)", unhexlify, "The bytes of hexadecimal digits."},
    {"b2a_base64(data, /, *, newline=True)", to_base64, "The bytes in base 64."},
    {"a2b_base64(data, /, *, strict_mode=False)", from_base64, "The bytes of base 64."},
};

}  // namespace

void fill_binascii(Interpreter& in, Module& module) {
  for (const NativeDef& row : kFunctions) in.def(module, row.signature, row.doc, row.function);
  add_mail_encodings(in, module);
  dict_for_each(module.dict, [&](const Value&, const Value& value) {  // CPython has them in the module itself
    if (value.is_object() && value.as_object()->kind == ObjectKind::NativeFunction)
      known_cast<NativeFunction>(value)->module = intern(in, "binascii");
  });
}

}  // namespace tessera::stdlib

// compile: small (runs after an error)
#include "lang/objects/class.h"
#include "lang/objects/unicode_errors.h"

#include <algorithm>
#include <cstdio>

#include "lang/core/error.h"
#include "lang/core/interpreter.h"
#include "lang/core/protocol.h"
#include "lang/types/bytes.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"

namespace tessera::lang {

namespace {

// Fields of all three; a translate error has no encoding.
enum Field { kEncoding, kObject, kStart, kEnd, kReason };

bool is_kind(Interpreter& in, const Exception* e, ErrorKind kind) { return is_error(in, Value(const_cast<Exception*>(e)), kind); }

[[noreturn]] void refuse(Interpreter& in, uint32_t argument, const char* wanted, const Value& got) {
  throw_error(ErrorKind::TypeError, "argument %u must be %s, not %s", argument, wanted, argument_type(in, got));
}

std::string number_text(const Value& v) { return std::to_string(v.is_int() ? v.as_int() : 0); }

}  // namespace

bool is_unicode_fault(Interpreter& in, const Value& exception) {
  return is_error(in, exception, ErrorKind::UnicodeEncodeError) || is_error(in, exception, ErrorKind::UnicodeDecodeError) ||
         is_error(in, exception, ErrorKind::UnicodeTranslateError);
}

void fill_unicode_fault(Interpreter& in, Exception* e) {
  const Tuple* const args = as_tuple(e->args);
  const bool decode = is_kind(in, e, ErrorKind::UnicodeDecodeError), translate = is_kind(in, e, ErrorKind::UnicodeTranslateError);
  const uint32_t first = translate ? kObject : kEncoding, count = kReason + 1 - first;
  if (args->size != count)
    throw_error(ErrorKind::TypeError, "function takes exactly %u arguments (%u given)", count, args->size);
  Value fields[kReason + 1];
  for (uint32_t i = 0; i < count; ++i) {
    const Value& given = args->items[i];
    const uint32_t field = first + i;
    const bool number = field == kStart || field == kEnd;
    if (number) {
      fields[field] = Value::integer(index(in, given));
    } else if (field == kObject && decode) {
      fields[field] = is_bytes(given) ? given : make_bytes(in, BytesLike(in, given));
    } else if (is_str(given)) {
      fields[field] = given;
    } else {
      refuse(in, i + 1, "str", given);
    }
  }
  std::move(fields + first, fields + kReason + 1, e->fields + first);
}

std::string unicode_fault_text(Interpreter& in, const Exception* e) {
  const Value& object = e->fields[kObject];
  const bool decode = is_kind(in, e, ErrorKind::UnicodeDecodeError), translate = is_kind(in, e, ErrorKind::UnicodeTranslateError);
  if (!(decode ? is_bytes(object) : is_str(object))) return "";  // made without __init__
  const int64_t size = decode ? static_cast<int64_t>(bytes_of(object).size()) : as_str(object)->length;
  const int64_t start = e->fields[kStart].is_int() ? e->fields[kStart].as_int() : 0;
  const int64_t end = e->fields[kEnd].is_int() ? e->fields[kEnd].as_int() : 0;
  std::string place;
  if (start >= 0 && start < size && end == start + 1) {
    char unit[24];
    if (decode) {
      std::snprintf(unit, sizeof unit, "byte 0x%02x", static_cast<unsigned>(static_cast<unsigned char>(bytes_of(object)[static_cast<size_t>(start)])));
    } else {
      const Value character = str_at(in, as_str(object), static_cast<uint32_t>(start));
      const char* p = as_str(character)->data;
      const unsigned code = as_str(character)->is_ascii() ? static_cast<unsigned char>(*p) : decode_char(p);
      std::snprintf(unit, sizeof unit, code < 0x100 ? "character '\\x%02x'" : code < 0x10000 ? "character '\\u%04x'" : "character '\\U%08x'", code);
    }
    place = unit;
    place += " in position " + number_text(e->fields[kStart]);
  } else {
    place = std::string(decode ? "bytes" : "characters") + " in position " + number_text(e->fields[kStart]) + "-" + std::to_string(end - 1);
  }
  const std::string verb = decode ? "decode " : translate ? "translate " : "encode ";
  const std::string codec = translate ? "" : "'" + str_text(in, e->fields[kEncoding]) + "' codec ";
  return codec + "can't " + verb + place + ": " + str_text(in, e->fields[kReason]);
}

}  // namespace tessera::lang

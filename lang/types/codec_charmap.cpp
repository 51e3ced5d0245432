// Encodings of one byte a character, by a table of the language: charmap_encode and charmap_decode.
// compile: small (encodings of one byte are rare)
#include "lang/core/error.h"
#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes.h"
#include "lang/types/codec.h"
#include "lang/types/codec_parts.h"
#include "lang/types/dict.h"
#include "lang/types/number.h"

namespace tessera::lang {
namespace {

// mapping[key], or Undefined where it raises LookupError.
Value map_item(Interpreter& in, const Value& mapping, const Value& key) {
  if (is_dict(mapping) && as_dict(mapping)->type == in.types.dict) {
    const Value* found = dict_get(in, as_dict(mapping), key);
    return found == nullptr ? Value() : *found;
  }
  try {
    return get_item(in, mapping, key);
  } catch (const std::exception&) {
    const Value raised = current_native_exception(in);
    if (!is_error(in, raised, ErrorKind::LookupError)) throw;
    return Value();
  }
}

class Target {
 public:
  Target(Interpreter& in, const Value& mapping) : in_(in), mapping_(mapping) {}

  std::optional<std::string_view> find(uint32_t c) {
    if (mapping_.is_none()) {
      if (c > 255) return std::nullopt;
      bytes_.assign(1, static_cast<char>(c));
      return bytes_;
    }
    const Value found = unboxed(map_item(in_, mapping_, Value::integer(c)));
    if (found.is_undefined() || found.is_none()) return std::nullopt;
    if (is_whole(found)) {
      uint64_t byte;
      if (!whole_to_uint64(found, byte) || byte > 255) throw Error(ErrorKind::TypeError, "character mapping must be in range(256)");
      bytes_.assign(1, static_cast<char>(byte));
    } else if (is_bytes(found)) {
      bytes_ = bytes_of(found);
    } else {
      throw_error(ErrorKind::TypeError, "character mapping must return integer, bytes or None, not %.400s",
                  std::string(type_name(in_, found)).c_str());
    }
    return bytes_;
  }

  const char* reason(uint32_t) const { return mapping_.is_none() ? "ordinal not in range(256)" : "character maps to <undefined>"; }

  bool takes(const CodecErrors::Reply&) const { return true; }
  bool joins_faults() const { return true; }

 private:
  Interpreter& in_;
  const Value& mapping_;
  std::string bytes_;
};

void put(BookedText& out, uint32_t c) {
  char bytes[4];
  out += std::string_view(bytes, encode_char(bytes, c));
}

// The text of one byte. False: it has none.
bool append_mapped(Interpreter& in, const Value& mapping, unsigned byte, BookedText& out) {
  if (is_str(mapping)) {
    Str* const s = as_str(mapping);
    if (byte >= s->length) return false;
    const char* p = s->data + byte_offset(in, s, byte);
    const uint32_t c = decode_char(p);
    if (c == 0xfffe) return false;
    put(out, c);
    return true;
  }
  const Value found = unboxed(map_item(in, mapping, Value::integer(byte)));
  if (found.is_undefined() || found.is_none()) return false;
  if (is_str(found)) {
    if (text_of(found) == "\xef\xbf\xbe") return false;
    out += text_of(found);
    return true;
  }
  if (!is_whole(found)) throw Error(ErrorKind::TypeError, "character mapping must return integer, None or str");
  uint64_t c;
  if (!whole_to_uint64(found, c) || c > 0x10ffff) throw Error(ErrorKind::TypeError, "character mapping must be in range(0x110000)");
  if (c == 0xfffe) return false;
  put(out, static_cast<uint32_t>(c));
  return true;
}

}  // namespace

Value charmap_encode(Interpreter& in, const Value& text, std::string_view errors, const Value& mapping) {
  CodecErrors handler(in, errors, mapping.is_none() ? "latin-1" : "charmap");
  Target target(in, mapping);
  return make_bytes(in, encode_all(in, text, target, handler));
}

Value charmap_decode(Interpreter& in, const Value& bytes, std::string_view errors, const Value& mapping) {
  CodecErrors handler(in, errors, "charmap");
  Value data = bytes;
  BookedText out(in);
  for (size_t at = 0; at < bytes_of(data).size();) {
    const unsigned byte = static_cast<unsigned char>(bytes_of(data)[at]);
    if (mapping.is_none()) {
      put(out, byte);
      ++at;
    } else if (append_mapped(in, mapping, byte, out)) {
      ++at;
    } else {
      const CodecErrors::Reply reply = handler.decode_fault(data, at, at + 1, "character maps to <undefined>");
      out += reply.content;
      if (reply.next <= at) in.poll();  // a handler may go back for ever
      at = reply.next;
    }
  }
  return make_str(in, out.str());
}

}  // namespace tessera::lang

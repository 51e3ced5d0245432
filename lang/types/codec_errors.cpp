// compile: small (runs after an error)
#include "lang/types/codec_errors.h"

#include <cstdio>

#include "lang/core/error.h"
#include "lang/core/interpreter.h"
#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/objects/module.h"
#include "lang/syntax/character_names.h"
#include "lang/types/bytes.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"

namespace tessera::lang {

namespace {

using Kind = CodecErrors::Kind;

Kind kind_of(std::string_view errors) {
  constexpr std::pair<std::string_view, Kind> kKinds[] = {
      {"strict", Kind::Strict},
      {"ignore", Kind::Ignore},
      {"replace", Kind::Replace},
      {"backslashreplace", Kind::Backslash},
      {"xmlcharrefreplace", Kind::XmlReference},
      {"namereplace", Kind::Name},
      {"surrogateescape", Kind::SurrogateEscape},
      {"surrogatepass", Kind::SurrogatePass},
  };
  for (const auto& [name, kind] : kKinds)
    if (name == errors) return kind;
  return Kind::Registered;
}

Value number(size_t n) { return Value::integer(static_cast<int64_t>(n)); }

std::string name_escape(uint32_t code_point) {
  const std::string name = name_of_character(code_point);
  return name.empty() ? backslash_escape(code_point) : "\\N{" + name + "}";
}

}  // namespace

std::string backslash_escape(uint32_t code_point) {
  char text[16];
  std::snprintf(text, sizeof text, code_point < 0x100 ? "\\x%02x" : code_point < 0x10000 ? "\\u%04x" : "\\U%08x", code_point);
  return text;
}

CodecErrors::CodecErrors(Interpreter& in, std::string_view errors, std::string_view codec)
    : in_(in), errors_(errors), codec_(codec), kind_(kind_of(errors)) {}

Value CodecErrors::encode_error(const Value& text, size_t first, size_t last, const char* reason) {
  return call(in_, Value(error_type(in_, ErrorKind::UnicodeEncodeError)),
              {make_str(in_, codec_), text, number(first), number(last), make_str(in_, reason)});
}

void CodecErrors::throw_encode(const Value& text, size_t first, size_t last, const char* reason) {
  throw Thrown(encode_error(text, first, last, reason));
}

// Calls the registered handler.
Value CodecErrors::ask(const Value& error) {
  if (handler_.is_undefined()) {
    const Value codecs(in_.import("codecs"));
    handler_ = call(in_, get_attr(in_, codecs, intern(in_, "lookup_error")), {make_str(in_, errors_)});
  }
  return call(in_, handler_, {error});
}

// The handler's (replacement, place), with CPython's checks.
CodecErrors::Reply CodecErrors::checked(const Value& answer, size_t size, const char* refusal, bool takes_bytes) {
  const bool is_pair = answer.is_object() && answer.as_object()->kind == ObjectKind::Tuple && as_tuple(answer)->size == 2;
  if (!is_pair) throw Error(ErrorKind::TypeError, refusal);
  const Value& content = as_tuple(answer)->items[0];
  Reply reply;
  if (is_str(content)) {
    reply.content = text_of(content);
  } else if (takes_bytes && is_bytes(content)) {
    reply.content = bytes_of(content);
    reply.is_bytes = true;
  } else {
    throw Error(ErrorKind::TypeError, refusal);
  }
  const int64_t place = index(in_, as_tuple(answer)->items[1]);
  const int64_t next = place < 0 ? place + static_cast<int64_t>(size) : place;
  if (next < 0 || next > static_cast<int64_t>(size))
    throw_error(ErrorKind::IndexError, "position %lld from error handler out of bounds", static_cast<long long>(next));
  reply.next = static_cast<size_t>(next);
  return reply;
}

CodecErrors::Reply CodecErrors::encode_fault(const Value& text, size_t first, size_t last, const char* reason) {
  Str* const s = as_str(text);
  if (kind_ == Kind::Strict || kind_ == Kind::SurrogatePass) throw_encode(text, first, last, reason);
  if (kind_ == Kind::Registered) {
    const Value answer = ask(encode_error(text, first, last, reason));
    return checked(answer, s->length, "encoding error handler must return (str/bytes, int) tuple", true);
  }
  Reply reply{"", false, last};
  if (kind_ == Kind::Ignore) return reply;
  const char* p = s->data + byte_offset(in_, s, static_cast<uint32_t>(first));
  for (size_t i = first; i < last; ++i) {
    const uint32_t c = decode_char(p);
    switch (kind_) {
      case Kind::Replace: reply.content += '?'; break;
      case Kind::Backslash: reply.content += backslash_escape(c); break;
      case Kind::XmlReference: reply.content += "&#" + std::to_string(c) + ";"; break;
      case Kind::Name: reply.content += name_escape(c); break;
      default:  // SurrogateEscape
        if (c < 0xdc80 || c > 0xdcff) {
          if (i == first) throw_encode(text, first, last, reason);
          reply.next = i;
          return reply;
        }
        reply.is_bytes = true;
        reply.content += static_cast<char>(c - 0xdc00);
    }
  }
  return reply;
}

CodecErrors::Reply CodecErrors::decode_fault(Value& data, size_t first, size_t last, const char* reason) {
  const std::string_view bytes = bytes_of(data);
  const auto error = [&] {
    return call(in_, Value(error_type(in_, ErrorKind::UnicodeDecodeError)),
                {make_str(in_, codec_), data, number(first), number(last), make_str(in_, reason)});
  };
  Reply reply{"", false, last};
  switch (kind_) {
    case Kind::Ignore: return reply;
    case Kind::Replace: append_char(reply.content, 0xfffd); return reply;
    case Kind::Backslash:
      for (size_t i = first; i < last; ++i) reply.content += backslash_escape(static_cast<unsigned char>(bytes[i]));
      return reply;
    case Kind::SurrogateEscape:
      for (reply.next = first; reply.next < last && static_cast<unsigned char>(bytes[reply.next]) >= 128; ++reply.next)
        append_char(reply.content, 0xdc00 + static_cast<unsigned char>(bytes[reply.next]));
      if (reply.next == first) throw Thrown(error());
      return reply;
    case Kind::XmlReference:
    case Kind::Name: throw Error(ErrorKind::TypeError, "don't know how to handle UnicodeDecodeError in error callback");
    case Kind::Registered: {
      const Value raised = error();
      // The handler may put another object into the exception: its bytes are read from then on.
      const Value answer = ask(raised);
      const Value now = get_attr(in_, raised, intern(in_, "object"));
      if (!is_bytes(now)) throw Error(ErrorKind::TypeError, "object attribute must be bytes");
      data = now;
      return checked(answer, bytes_of(data).size(), "decoding error handler must return (str, int) tuple", false);
    }
    default: throw Thrown(error());
  }
}

}  // namespace tessera::lang

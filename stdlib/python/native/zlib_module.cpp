// _zlib: deflate and inflate by zlib.
// compile: small (the library takes longer)
#include <zlib.h>

#include <algorithm>
#include <mutex>

#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"
#include "lang/objects/own_type.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes.h"
#include "lang/types/number.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

[[noreturn]] void throw_zlib(Interpreter& in, const z_stream& stream, int code, const char* what) {
  std::string text = "Error " + std::to_string(code) + " " + what;
  const char* reason = stream.msg;
  if (reason == nullptr && code == Z_BUF_ERROR) reason = "incomplete or truncated stream";
  if (reason == nullptr && code == Z_STREAM_ERROR) reason = "inconsistent stream state";
  if (reason == nullptr && code == Z_DATA_ERROR) reason = "invalid input data";
  if (reason != nullptr) text += std::string(": ") + reason;
  const Value error_class = get_attr(in, Value(in.import("zlib")), intern(in, "error"));
  throw Thrown(call(in, error_class, {make_str(in, text)}));
}

// --- one stream

struct Stream : Object {
  z_stream z{};
  bool deflates = true, open = false, eof = false, used = false;
  bool in_pieces = false;  // so that the program can be stopped meanwhile
  Value unused, tail;      // bytes: behind the end; what max_length left over
  std::string dictionary;
};

Stream* stream_of(const Value& v) { return object_cast<Stream>(v); }
Stream* self_of(const Args& args) { return stream_of(args[0]); }

void end_stream(Stream* s) {
  if (s->open) s->deflates ? ::deflateEnd(&s->z) : ::inflateEnd(&s->z);
  s->open = false;
}

void destroy_stream(Interpreter& in, Object* self) {
  end_stream(known_cast<Stream>(self));
  free_object(in, known_cast<Stream>(self));
}

Type* stream_type(Interpreter& in, bool deflates) {
  const char* const name = deflates ? "Compress" : "Decompress";
  return own_type(get_attr(in, Value(in.import("_zlib")), intern(in, name)), layout_of<Stream>, name);
}

Value new_stream(Interpreter& in, bool deflates) {
  Value made = Value::adopt(make_object<Stream>(in, stream_type(in, deflates)));
  stream_of(made)->deflates = deflates;
  stream_of(made)->unused = make_bytes(in, {});
  stream_of(made)->tail = make_bytes(in, {});
  return made;
}

// Runs the stream over `input` until it is used up, the stream ends, or `most` bytes have come out. Answers zlib's code;
// `input` becomes what is left.
int run(Interpreter& in, Stream* s, std::string_view& input, int mode, ByteArray* out, size_t most) {
  int code = Z_OK;
  size_t step = 16 << 10;
  for (;;) {
    in.poll(16);
    const size_t part = std::min<size_t>(input.size(), s->in_pieces ? 1 << 15 : 1 << 30), old = out->size;
    const size_t room = std::min(step, most - old);
    byte_array_resize(in, out, old + room);
    s->z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    s->z.avail_in = static_cast<uInt>(part);
    s->z.next_out = reinterpret_cast<Bytef*>(out->data + old);
    s->z.avail_out = static_cast<uInt>(room);
    const bool last = part == input.size();
    code = s->deflates ? ::deflate(&s->z, last ? mode : Z_NO_FLUSH) : ::inflate(&s->z, Z_SYNC_FLUSH);
    if (code == Z_NEED_DICT && !s->dictionary.empty()) {
      code = ::inflateSetDictionary(&s->z, reinterpret_cast<const Bytef*>(s->dictionary.data()),
                                    static_cast<uInt>(s->dictionary.size()));
    }
    input.remove_prefix(part - s->z.avail_in);
    byte_array_resize(in, out, old + room - s->z.avail_out);
    if (code != Z_OK || out->size >= most) return code;
    if (s->z.avail_out != 0 && input.empty()) return code;
    step = std::min<size_t>(step * 2, 1 << 20);
  }
}

void open_deflate(Interpreter& in, Stream* s, int level, int method, int wbits, int memory, int strategy) {
  const int code = ::deflateInit2_(&s->z, level, method, wbits, memory, strategy, ZLIB_VERSION, sizeof(z_stream));
  if (code == Z_STREAM_ERROR) throw Error(ErrorKind::ValueError, "Invalid initialization option");
  if (code != Z_OK) throw_zlib(in, s->z, code, "while compressing data");
  s->in_pieces = level != 0;  // what is only stored has blocks as long as what was given
  s->open = true;
}

// `of_object`: of decompressobj, which has words of its own for options that zlib does not know.
void open_inflate(Interpreter& in, Stream* s, int wbits, bool of_object) {
  const int code = ::inflateInit2_(&s->z, wbits, ZLIB_VERSION, sizeof(z_stream));
  if (code == Z_STREAM_ERROR && of_object) throw Error(ErrorKind::ValueError, "Invalid initialization option");
  if (code != Z_OK) throw_zlib(in, s->z, code, "while preparing to decompress data");
  s->open = true;
}

int small_int(Interpreter& in, const Value& v) { return whole_to_int(whole_index(in, v)); }

Value taken(Interpreter& in, const Value& array) { return make_bytes(in, bytes_of(array)); }

// --- functions

Value compress(Interpreter& in, const Args& args) {
  const Value stream = new_stream(in, true), out = make_byte_array(in, {});
  const BytesLike data(in, args[0]);
  const int level = small_int(in, args[1]), wbits = small_int(in, args[2]);
  Stream* s = stream_of(stream);
  const int code =
      ::deflateInit2_(&s->z, level, Z_DEFLATED, wbits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, sizeof(z_stream));
  if (code == Z_STREAM_ERROR) {
    const Value error_class = get_attr(in, Value(in.import("zlib")), intern(in, "error"));
    throw Thrown(call(in, error_class, {make_str(in, "Bad compression level")}));
  }
  if (code != Z_OK) throw_zlib(in, s->z, code, "while compressing data");
  s->open = true;
  s->in_pieces = level != 0;
  std::string_view input = data.view();
  run(in, s, input, Z_FINISH, as_byte_array(out), SIZE_MAX);
  return taken(in, out);
}

Value decompress(Interpreter& in, const Args& args) {
  const Value stream = new_stream(in, false), out = make_byte_array(in, {});
  const BytesLike data(in, args[0]);
  const int wbits = small_int(in, args[1]);
  int_argument(in, args[2]);
  Stream* s = stream_of(stream);
  open_inflate(in, s, wbits, false);
  std::string_view input = data.view();
  int code = Z_BUF_ERROR;
  if (!input.empty()) code = run(in, s, input, Z_FINISH, as_byte_array(out), SIZE_MAX);
  if (code == Z_STREAM_END) return taken(in, out);
  throw_zlib(in, s->z, code == Z_OK ? Z_BUF_ERROR : code, "while decompressing data");
}

template <class F>
Value checksum(Interpreter& in, const Args& args, F&& step) {
  const BytesLike data(in, args[0]);
  const uint32_t start = static_cast<uint32_t>(int_argument(in, args[1]));
  std::string_view left = data.view();
  uLong sum = start;
  do {  // some ten milliseconds' worth at a time
    in.check_stop();
    const std::string_view part = left.substr(0, 1 << 24);
    sum = step(sum, reinterpret_cast<const Bytef*>(part.data() == nullptr ? "" : part.data()),
               static_cast<uInt>(part.size()));
    left.remove_prefix(part.size());
  } while (!left.empty());
  return Value::integer(static_cast<int64_t>(sum & 0xffffffffu));
}
Value adler32_of(Interpreter& in, const Args& args) { return checksum(in, args, ::adler32); }

// CRC-32C, the other polynomial, which records of event files carry.
uLong crc32c(uLong sum, const Bytef* data, uInt size) {
  uint32_t crc = ~static_cast<uint32_t>(sum);
  for (uInt i = 0; i < size; ++i) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
  }
  return ~crc;
}

Value crc32c_of(Interpreter& in, const Args& args) { return checksum(in, args, crc32c); }
Value crc32_of(Interpreter& in, const Args& args) { return checksum(in, args, ::crc32); }

Value compressobj(Interpreter& in, const Args& args) {
  Value made = new_stream(in, true);
  Stream* s = stream_of(made);
  const int level = small_int(in, args[0]), method = small_int(in, args[1]), wbits = small_int(in, args[2]);
  const int memory = small_int(in, args[3]), strategy = small_int(in, args[4]);
  open_deflate(in, s, level, method, wbits, memory, strategy);
  if (args[5].is_none()) return made;
  const BytesLike words(in, args[5]);
  const int code = ::deflateSetDictionary(&s->z, reinterpret_cast<const Bytef*>(words.view().data()),
                                          static_cast<uInt>(words.view().size()));
  if (code != Z_OK) throw Error(ErrorKind::ValueError, "Invalid dictionary");
  return made;
}

Value decompressobj(Interpreter& in, const Args& args) {
  const int wbits = small_int(in, args[0]);
  if (!is_bytes_like(in, args[1])) throw Error(ErrorKind::TypeError, "zdict argument must support the buffer protocol");
  Value made = new_stream(in, false);
  Stream* s = stream_of(made);
  open_inflate(in, s, wbits, true);
  s->dictionary = BytesLike(in, args[1]).view();
  if (wbits >= 0 || s->dictionary.empty()) return made;
  ::inflateSetDictionary(&s->z, reinterpret_cast<const Bytef*>(s->dictionary.data()),
                         static_cast<uInt>(s->dictionary.size()));
  return made;
}

// --- methods of the objects

void check_open(Interpreter& in, const Stream* s, const char* what) {
  if (!s->open) throw_zlib(in, s->z, Z_STREAM_ERROR, what);
}

Value compress_part(Interpreter& in, const Args& args) {
  check_open(in, self_of(args), "while compressing data");
  const BytesLike data(in, args[1]);
  const Value out = make_byte_array(in, {});
  std::string_view input = data.view();
  const int code = run(in, self_of(args), input, Z_NO_FLUSH, as_byte_array(out), SIZE_MAX);
  if (code != Z_OK && code != Z_BUF_ERROR) throw_zlib(in, self_of(args)->z, code, "while compressing data");
  return taken(in, out);
}

Value compress_flush(Interpreter& in, const Args& args) {
  Stream* s = self_of(args);
  const int mode = small_int(in, args[1]);
  if (mode == Z_NO_FLUSH) return make_bytes(in, {});
  check_open(in, s, "while flushing");
  const Value out = make_byte_array(in, {});
  std::string_view input;
  const int code = run(in, s, input, mode, as_byte_array(out), SIZE_MAX);
  if (code == Z_STREAM_END && mode == Z_FINISH) end_stream(s);
  else if (code != Z_OK && code != Z_BUF_ERROR) throw_zlib(in, s->z, code, "while flushing");
  return taken(in, out);
}

void keep_rest(Interpreter& in, Stream* s, std::string_view input, int code) {
  s->tail = make_bytes(in, code == Z_STREAM_END ? std::string_view() : input);
  if (code != Z_STREAM_END) return;
  s->eof = true;
  s->unused = make_bytes(in, std::string(bytes_of(s->unused)) + std::string(input));
}

Value decompress_part(Interpreter& in, const Args& args) {
  Stream* s = self_of(args);
  const int64_t most = int_argument(in, args[2]);
  if (most < 0) throw Error(ErrorKind::ValueError, "max_length must be non-negative");
  const BytesLike data(in, args[1]);
  const Value out = make_byte_array(in, {});
  std::string_view input = data.view();
  if (s->eof && s->open) {
    keep_rest(in, s, input, Z_STREAM_END);
    return make_bytes(in, {});
  }
  if (!s->open) keep_rest(in, s, input, Z_STREAM_ERROR);
  check_open(in, s, "while decompressing data");
  const int code =
      run(in, s, input, Z_SYNC_FLUSH, as_byte_array(out), most == 0 ? SIZE_MAX : static_cast<size_t>(most));
  keep_rest(in, s, input, code);
  if (code != Z_OK && code != Z_BUF_ERROR && code != Z_STREAM_END)
    throw_zlib(in, s->z, code, "while decompressing data");
  return taken(in, out);
}

Value decompress_flush(Interpreter& in, const Args& args) {
  Stream* s = self_of(args);
  if (int_argument(in, args[1]) <= 0) throw Error(ErrorKind::ValueError, "length must be greater than zero");
  const Value held = s->tail, out = make_byte_array(in, {});
  std::string_view input = bytes_of(held);
  if (s->open && !s->eof) keep_rest(in, s, input, run(in, s, input, Z_FINISH, as_byte_array(out), SIZE_MAX));
  if (s->eof) end_stream(s);
  return taken(in, out);
}

Value copy_stream(Interpreter& in, const Args& args) {
  Stream* from = self_of(args);
  if (!from->open) throw Error(ErrorKind::ValueError, "Inconsistent stream state");
  Value made = new_stream(in, from->deflates);
  Stream* to = stream_of(made);
  const int code = from->deflates ? ::deflateCopy(&to->z, &from->z) : ::inflateCopy(&to->z, &from->z);
  if (code != Z_OK) throw_zlib(in, from->z, code, "while copying a stream");
  to->open = true;
  to->eof = from->eof;
  to->unused = from->unused;
  to->tail = from->tail;
  to->dictionary = from->dictionary;
  return made;
}

const NativeDef kFunctions[] = {
    {"compress(data, /, level=-1, wbits=15)", compress, "The data, compressed."},
    {"decompress(data, /, wbits=15, bufsize=16384)", decompress, "The data that was compressed."},
    {"adler32(data, value=1, /)", adler32_of, "The Adler-32 checksum."},
    {"crc32c(data, value=0, /)", crc32c_of, "The CRC-32C checksum."},
    {"crc32(data, value=0, /)", crc32_of, "The CRC-32 checksum."},
    {"compressobj(level=-1, method=8, wbits=15, memLevel=8, strategy=0, zdict=None)", compressobj,
     "An object that compresses part after part."},
    {"decompressobj(wbits=15, zdict=b'')", decompressobj, "An object that decompresses part after part."},
};
const NativeDef kCompressMethods[] = {
    {"compress(self, data, /)", compress_part, "Compress a part."},
    {"flush(self, mode=4, /)", compress_flush, "What is left."},
    {"copy(self)", copy_stream, "A copy with the same state."},
    {"__copy__(self)", copy_stream},
    {"__deepcopy__(self, memo, /)", copy_stream},
};
const NativeDef kDecompressMethods[] = {
    {"decompress(self, data, /, max_length=0)", decompress_part, "Decompress a part."},
    {"flush(self, length=16384, /)", decompress_flush, "What is left."},
    {"copy(self)", copy_stream, "A copy with the same state."},
    {"__copy__(self)", copy_stream},
    {"__deepcopy__(self, memo, /)", copy_stream},
};

Type* make_stream_type(Interpreter& in, Module& module, std::string_view name) {
  NativeTypeSpec spec;
  spec.name = name;
  spec.module = "zlib";
  spec.size = sizeof(Stream);
  spec.flags = kFinalType;
  Type* type = in.new_type(spec);
  type->slots.layout = layout_of<Stream>;
  type->slots.destroy = destroy_stream;
  set_member(in, module, name, Value(type));
  return type;
}

}  // namespace

void fill_zlib(Interpreter& in, Module& module) {
  for (const NativeDef& row : kFunctions) in.def(module, row.signature, row.doc, row.function);
  in.add_methods(make_stream_type(in, module, "Compress"), kCompressMethods, std::size(kCompressMethods));
  Type* type = make_stream_type(in, module, "Decompress");
  in.add_methods(type, kDecompressMethods, std::size(kDecompressMethods));
  in.add_property(type, "unused_data", [](Interpreter&, const Args& a) { return self_of(a)->unused; });
  in.add_property(type, "unconsumed_tail", [](Interpreter&, const Args& a) { return self_of(a)->tail; });
  in.add_property(type, "eof", [](Interpreter&, const Args& a) { return Value::boolean(self_of(a)->eof); });
  set_member(in, module, "ZLIB_RUNTIME_VERSION", make_str(in, ::zlibVersion()));
}

}  // namespace tessera::stdlib

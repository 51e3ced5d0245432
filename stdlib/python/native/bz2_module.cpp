// _bz2: compression by libbzip2.
// compile: small (the library takes longer)
#include <bzlib.h>

#include <algorithm>
#include <utility>

#include "stdlib/python/native/coders.h"
#include "stdlib/python/native/native_modules.h"

namespace tessera::stdlib {
namespace {

void* allocate(void* in, int count, int size) {
  return count < 0 || size < 0 ? nullptr : library_allocate(in, static_cast<size_t>(count), static_cast<size_t>(size));
}

void check(int code) {
  switch (code) {
    case BZ_PARAM_ERROR:
      throw Error(ErrorKind::ValueError, "Internal error - invalid parameters passed to libbzip2");
    case BZ_MEM_ERROR:
      throw Error(ErrorKind::MemoryError, std::string());
    case BZ_DATA_ERROR:
    case BZ_DATA_ERROR_MAGIC:
      throw Error(ErrorKind::OSError, "Invalid data stream");
    case BZ_SEQUENCE_ERROR:
      throw Error(ErrorKind::RuntimeError, "Internal error - Invalid sequence of commands sent to libbzip2");
    default:
      return;
  }
}

class Bz2 : public Coding {
 public:
  explicit Bz2(Interpreter& in) {
    stream_.bzalloc = allocate;
    stream_.bzfree = library_free;
    stream_.opaque = &in;
  }

 protected:
  void give(std::string_view input, char* room, size_t size) {
    stream_.next_in = const_cast<char*>(input.data());
    stream_.avail_in = static_cast<unsigned>(input.size());
    stream_.next_out = room;
    stream_.avail_out = static_cast<unsigned>(size);
  }
  void take(std::string_view& input, char*& room, size_t& size) {
    input.remove_prefix(input.size() - stream_.avail_in);
    room = stream_.next_out;
    size = stream_.avail_out;
  }
  bz_stream stream_{};
};

class Bz2Encoding final : public Bz2 {
 public:
  Bz2Encoding(Interpreter& in, int level) : Bz2(in) { check(::BZ2_bzCompressInit(&stream_, level, 0, 0)); }
  ~Bz2Encoding() override { ::BZ2_bzCompressEnd(&stream_); }
  bool step(Interpreter&, std::string_view& input, char*& room, size_t& size, bool finish) override {
    if (input.empty() && !finish) return false;
    give(input, room, size);
    const int code = ::BZ2_bzCompress(&stream_, finish ? BZ_FINISH : BZ_RUN);
    check(code);
    take(input, room, size);
    return code == BZ_STREAM_END;
  }
};

class Bz2Decoding final : public Bz2 {
 public:
  explicit Bz2Decoding(Interpreter& in) : Bz2(in) { check(::BZ2_bzDecompressInit(&stream_, 0, 0)); }
  ~Bz2Decoding() override { ::BZ2_bzDecompressEnd(&stream_); }
  bool step(Interpreter&, std::string_view& input, char*& room, size_t& size, bool) override {
    // The library ends the process where it is asked to go on behind a fault.
    if (code_ < 0) throw Error(ErrorKind::ValueError, "Decompressor is unusable after a previous error");
    give(input, room, size);
    code_ = ::BZ2_bzDecompress(&stream_);
    check(code_);
    take(input, room, size);
    return code_ == BZ_STREAM_END;
  }

 private:
  int code_ = BZ_OK;
};

Value init_compressor(Interpreter& in, const Args& args) {
  const int64_t level = int_argument(in, args[1]);
  if (level < 1 || level > 9) throw Error(ErrorKind::ValueError, "compresslevel must be between 1 and 9");
  start_coder(in, coder_of(args[0]), std::make_unique<Bz2Encoding>(in, static_cast<int>(level)));
  return Value::none();
}

Value decompress(Interpreter& in, const Args& args) { return decode_part(in, args, "End of stream already reached"); }

Value init_decompressor(Interpreter& in, const Args& args) {
  start_coder(in, coder_of(args[0]), std::make_unique<Bz2Decoding>(in));
  return Value::none();
}

const NativeDef kCompressor[] = {
    {"__init__(self, compresslevel=9, /)", init_compressor},
    {"compress(self, data, /)", encode_part, "Compress a part."},
    {"flush(self)", encode_end, "The end of the stream."},
};
const NativeDef kDecompressor[] = {
    {"__init__(self)", init_decompressor},
    {"decompress(self, data, max_length=-1)", decompress, "Decompress a part, to max_length bytes at most."},
};

}  // namespace

void fill_bz2(Interpreter& in, Module& module) {
  make_coder_type(in, module, "BZ2Compressor", kCompressor, std::size(kCompressor), false);
  make_coder_type(in, module, "BZ2Decompressor", kDecompressor, std::size(kDecompressor), true);
}

}  // namespace tessera::stdlib

// _images: what files of images need beside zlib. PNG's filters are undone and GIF's codes packed here; JPEG is read and written
// by libturbojpeg, which is opened when the first such image comes.
// compile: small (the library takes longer)
#include <cstdlib>
#include <string>

#include "lang/types/bytes.h"
#include "stdlib/python/native/machine_library.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

using Byte = unsigned char;

// --- PNG

Byte paeth(int left, int up, int corner) {
  const int guess = left + up - corner;
  const int a = std::abs(guess - left), b = std::abs(guess - up), c = std::abs(guess - corner);
  return static_cast<Byte>(a <= b && a <= c ? left : b <= c ? up : corner);
}

// One row of bytes, from those that stand left of each and above it. False: there is no such filter.
bool unfilter_row(int filter, const Byte* from, Byte* to, const Byte* above, size_t size, size_t step) {
  if (filter > 4) return false;
  for (size_t i = 0; i < size; ++i) {
    const int left = i < step ? 0 : to[i - step], up = above == nullptr ? 0 : above[i];
    const int corner = i < step || above == nullptr ? 0 : above[i - step];
    const int guess = filter == 0   ? 0
                      : filter == 1 ? left
                      : filter == 2 ? up
                      : filter == 3 ? (left + up) / 2
                                    : paeth(left, up, corner);
    to[i] = static_cast<Byte>(from[i] + guess);
  }
  return true;
}

// unfilter(data, rows, row_bytes, step): the bytes of the pixels.
Value unfilter(Interpreter& in, const Args& args) {
  const BytesLike data(in, args[0]);
  const int64_t rows = int_argument(in, args[1]), width = int_argument(in, args[2]), step = int_argument(in, args[3]);
  if (rows < 0 || width <= 0 || step <= 0 || static_cast<size_t>(rows) > data.view().size() / static_cast<size_t>(width + 1))
    throw Error(ErrorKind::OSError, "image file is truncated");
  const size_t size = static_cast<size_t>(width);
  Bytes* made = new_bytes(in, static_cast<size_t>(rows) * size);
  const Value held = Value::adopt(made);
  const Byte* from = reinterpret_cast<const Byte*>(data.view().data());
  Byte* to = reinterpret_cast<Byte*>(made->data());
  for (int64_t y = 0; y < rows; ++y, from += size + 1, to += size) {
    if (!unfilter_row(*from, from + 1, to, y == 0 ? nullptr : to - size, size, static_cast<size_t>(step)))
      throw Error(ErrorKind::OSError, "broken data stream when reading image file");
  }
  return held;
}

// --- GIF: LZW with codes of at most 12 bits, the lowest bit first

constexpr int kCodes = 4096;

// gif_unpack(data, size, count): the numbers of `count` pixels; fewer where the codes end before.
Value gif_unpack(Interpreter& in, const Args& args) {
  const BytesLike data(in, args[0]);
  const int size = static_cast<int>(int_argument(in, args[1]));
  const int64_t count = int_argument(in, args[2]);
  if (size < 1 || size > 11 || count < 0) throw Error(ErrorKind::OSError, "broken data stream when reading image file");
  Bytes* made = new_bytes(in, static_cast<size_t>(count));
  const Value held = Value::adopt(made);
  Byte* const out = reinterpret_cast<Byte*>(made->data());
  int64_t starts[kCodes];  // where the run of a code was written, and how long it is
  int lengths[kCodes];
  const int clear = 1 << size;
  int free = clear + 2, width = size + 1, bits = 0;
  int64_t at = 0, before = -1, before_length = 0;
  uint32_t queue = 0;
  for (const char c : data.view()) {
    queue |= static_cast<uint32_t>(static_cast<Byte>(c)) << bits;
    bits += 8;
    while (bits >= width && at < count) {
      const int code = static_cast<int>(queue & ((1U << width) - 1));
      queue >>= width;
      bits -= width;
      if (code == clear + 1) return make_bytes(in, std::string_view(made->data(), static_cast<size_t>(at)));
      if (code == clear) {
        width = size + 1;
        free = clear + 2;
        before = -1;
        continue;
      }
      if (before >= 0 && free < kCodes) {  // the run before, and what comes next
        starts[free] = before;
        lengths[free++] = static_cast<int>(before_length) + 1;
        if (free == 1 << width && width < 12) ++width;
      }
      if (code >= free) throw Error(ErrorKind::OSError, "broken data stream when reading image file");
      const int64_t from = code < clear ? -1 : starts[code];
      before = at;
      before_length = code < clear ? 1 : lengths[code];
      for (int64_t i = 0; i < before_length && at < count; ++i, ++at) out[at] = from < 0 ? static_cast<Byte>(code) : out[from + i];
    }
  }
  return at == count ? held : make_bytes(in, std::string_view(made->data(), static_cast<size_t>(at)));
}

// gif_pack(pixels, size): the codes of numbers that have `size` bits. Runs are a tree: a run's longer ones are a list.
Value gif_pack(Interpreter& in, const Args& args) {
  const BytesLike data(in, args[0]);
  const int size = static_cast<int>(int_argument(in, args[1]));
  if (size < 1 || size > 8) throw Error(ErrorKind::ValueError, "a pixel has from 1 to 8 bits");
  const int clear = 1 << size;
  short longer[kCodes] = {}, next[kCodes];
  Byte last[kCodes];
  std::string out;
  int free = clear + 2, width = size + 1, bits = 0, before = -1;
  uint32_t queue = 0;
  const auto put = [&](int code) {
    queue |= static_cast<uint32_t>(code) << bits;
    for (bits += width; bits >= 8; bits -= 8, queue >>= 8) out += static_cast<char>(queue);
  };
  put(clear);
  for (const char c : data.view()) {
    const Byte pixel = static_cast<Byte>(static_cast<Byte>(c) & (clear - 1));
    if (before < 0) {
      before = pixel;
      continue;
    }
    int code = longer[before];
    while (code != 0 && last[code] != pixel) code = next[code];
    if (code != 0) {
      before = code;
      continue;
    }
    put(before);
    if (free == kCodes) {
      put(clear);
      for (short& first : longer) first = 0;
      free = clear + 2;
      width = size + 1;
    } else {
      if (free == 1 << width) ++width;
      last[free] = pixel;
      next[free] = longer[before];
      longer[before] = static_cast<short>(free++);
    }
    before = pixel;
  }
  if (before >= 0) {
    put(before);
    if (free == 1 << width && width < 12) ++width;
  }
  put(clear + 1);
  if (bits > 0) out += static_cast<char>(queue);
  return make_bytes(in, out);
}

// --- JPEG: the functions of TurboJPEG's interface, which has been the same since version 1.4.

enum { kRgb = 0, kGray = 6, kCmyk = 11, kSampleGray = 3, kSpaceGray = 2, kSpaceCmyk = 3, kAccurate = 4096, kProgressive = 16384 };

struct Turbo {
  void* (*init_compress)();
  void* (*init_decompress)();
  int (*header)(void*, const Byte*, unsigned long, int*, int*, int*, int*);
  int (*decompress)(void*, const Byte*, unsigned long, Byte*, int, int, int, int, int);
  int (*compress)(void*, const Byte*, int, int, int, int, Byte**, unsigned long*, int, int, int);
  int (*destroy)(void*);
  void (*release)(Byte*);
  bool found = false;
};

Turbo open_turbo() {
  Turbo t;
  MachineLibrary library({"libturbojpeg.so.0", "libturbojpeg.so"});
  library.find("tjInitCompress", t.init_compress);
  library.find("tjInitDecompress", t.init_decompress);
  library.find("tjDecompressHeader3", t.header);
  library.find("tjDecompress2", t.decompress);
  library.find("tjCompress2", t.compress);
  library.find("tjDestroy", t.destroy);
  library.find("tjFree", t.release);
  t.found = library.is_complete();
  return t;
}

const Turbo& turbo() {
  static const Turbo opened = open_turbo();
  if (!opened.found)
    throw Error(ErrorKind::OSError, "decoder jpeg not available: libturbojpeg is not installed (Debian: libturbojpeg0)");
  return opened;
}

// What the library works with, for the length of a call.
class Worker {
 public:
  Worker(const Turbo& t, bool compresses) : turbo_(t), handle_(compresses ? t.init_compress() : t.init_decompress()) {
    if (handle_ == nullptr) throw Error(ErrorKind::MemoryError, "no memory for a JPEG image");
  }
  ~Worker() { turbo_.destroy(handle_); }
  Worker(const Worker&) = delete;
  void* get() const { return handle_; }

 private:
  const Turbo& turbo_;
  void* handle_;
};

struct JpegHead {
  int width = 0, height = 0, channels = 0;
};

JpegHead read_head(const Turbo& t, const Worker& worker, std::string_view data) {
  JpegHead head;
  int sampling = 0, space = 0;
  if (t.header(worker.get(), reinterpret_cast<const Byte*>(data.data()), data.size(), &head.width, &head.height, &sampling,
               &space) != 0)
    throw Error(ErrorKind::ValueError, "no JPEG file");
  head.channels = space == kSpaceGray ? 1 : space >= kSpaceCmyk ? 4 : 3;
  return head;
}

// (width, height, channels) of a file.
Value jpeg_head(Interpreter& in, const Args& args) {
  const BytesLike data(in, args[0]);
  const Turbo& t = turbo();
  const JpegHead head = read_head(t, Worker(t, false), data.view());
  return make_tuple(in, {Value::integer(head.width), Value::integer(head.height), Value::integer(head.channels)});
}

Value jpeg_decode(Interpreter& in, const Args& args) {
  const BytesLike data(in, args[0]);
  const Turbo& t = turbo();
  const Worker worker(t, false);
  const JpegHead head = read_head(t, worker, data.view());
  Bytes* made = new_bytes(in, static_cast<size_t>(head.width) * static_cast<size_t>(head.height) *
                                  static_cast<size_t>(head.channels));
  const Value held = Value::adopt(made);
  const int form = head.channels == 1 ? kGray : head.channels == 4 ? kCmyk : kRgb;
  if (t.decompress(worker.get(), reinterpret_cast<const Byte*>(data.view().data()), data.view().size(),
                   reinterpret_cast<Byte*>(made->data()), head.width, 0, head.height, form, kAccurate) != 0)
    throw Error(ErrorKind::OSError, "broken data stream when reading image file");
  return held;
}

// jpeg_encode(data, width, height, channels, quality, sampling, progressive)
Value jpeg_encode(Interpreter& in, const Args& args) {
  const BytesLike data(in, args[0]);
  int numbers[6];
  for (int i = 0; i < 6; ++i) numbers[i] = static_cast<int>(int_argument(in, args[static_cast<size_t>(i) + 1]));
  const auto [width, height, channels, quality, sampling, progressive] = numbers;
  if (width <= 0 || height <= 0 || data.view().size() != static_cast<size_t>(width) * static_cast<size_t>(height) *
                                                             static_cast<size_t>(channels))
    throw Error(ErrorKind::ValueError, "the pixels are not as many as the image has");
  const Turbo& t = turbo();
  const Worker worker(t, true);
  Byte* out = nullptr;
  unsigned long size = 0;
  const int failed = t.compress(worker.get(), reinterpret_cast<const Byte*>(data.view().data()), width, 0, height,
                                channels == 1 ? kGray : channels == 4 ? kCmyk : kRgb, &out, &size, channels == 1 ? kSampleGray : sampling, quality,
                                progressive != 0 ? kAccurate | kProgressive : kAccurate);
  if (failed == 0) {
    const Value made = make_bytes(in, std::string_view(reinterpret_cast<const char*>(out), size));
    t.release(out);
    return made;
  }
  t.release(out);
  throw Error(ErrorKind::OSError, "encoder error when writing image file");
}

const NativeDef kFunctions[] = {
    {"unfilter(data, rows, row_bytes, step, /)", unfilter, "The bytes of the rows of a PNG file, unfiltered."},
    {"gif_unpack(data, size, count, /)", gif_unpack, "The pixels of a GIF file's codes."},
    {"gif_pack(pixels, size, /)", gif_pack, "A GIF file's codes for pixels."},
    {"jpeg_head(data, /)", jpeg_head, "Width, height and channels of a JPEG file."},
    {"jpeg_decode(data, /)", jpeg_decode, "The pixels of a JPEG file."},
    {"jpeg_encode(data, width, height, channels, quality, sampling, progressive, /)", jpeg_encode, "A JPEG file out of pixels."},
};

}  // namespace

void fill_images(Interpreter& in, Module& module) {
  for (const NativeDef& row : kFunctions) in.def(module, row.signature, row.doc, row.function);
}

}  // namespace tessera::stdlib

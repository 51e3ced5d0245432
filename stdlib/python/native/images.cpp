// _images: what files of images need beside zlib. PNG's filters are undone here; JPEG is read and written by libturbojpeg,
// which is opened when the first such image comes.
// compile: small (the library takes longer)
#include <cstdlib>

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

// --- JPEG: the functions of TurboJPEG's interface, which has been the same since version 1.4.

enum { kRgb = 0, kGray = 6, kCmyk = 11, kSampleGray = 3, kSpaceGray = 2, kSpaceCmyk = 3, kAccurate = 4096 };

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

// jpeg_encode(data, width, height, channels, quality, sampling)
Value jpeg_encode(Interpreter& in, const Args& args) {
  const BytesLike data(in, args[0]);
  int numbers[5];
  for (int i = 0; i < 5; ++i) numbers[i] = static_cast<int>(int_argument(in, args[static_cast<size_t>(i) + 1]));
  const auto [width, height, channels, quality, sampling] = numbers;
  if (width <= 0 || height <= 0 || data.view().size() != static_cast<size_t>(width) * static_cast<size_t>(height) *
                                                             static_cast<size_t>(channels))
    throw Error(ErrorKind::ValueError, "the pixels are not as many as the image has");
  const Turbo& t = turbo();
  const Worker worker(t, true);
  Byte* out = nullptr;
  unsigned long size = 0;
  const int failed = t.compress(worker.get(), reinterpret_cast<const Byte*>(data.view().data()), width, 0, height,
                                channels == 1 ? kGray : kRgb, &out, &size, channels == 1 ? kSampleGray : sampling, quality,
                                kAccurate);
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
    {"jpeg_head(data, /)", jpeg_head, "Width, height and channels of a JPEG file."},
    {"jpeg_decode(data, /)", jpeg_decode, "The pixels of a JPEG file."},
    {"jpeg_encode(data, width, height, channels, quality, sampling, /)", jpeg_encode, "A JPEG file out of pixels."},
};

}  // namespace

void fill_images(Interpreter& in, Module& module) {
  for (const NativeDef& row : kFunctions) in.def(module, row.signature, row.doc, row.function);
}

}  // namespace tessera::stdlib

// A text file, a standard stream or a StringIO: what the files text_file_*.cpp and io.cpp share. One object for all three:
// they differ in where text comes from and goes to. Text that has been read ahead stands in `text` from `at` on; in a
// StringIO `text` is all there is.
//
// UTF-8, ASCII and Latin-1 with errors= strict, ignore or replace are native; every other encoding and error handler goes through
// the incremental encoder and decoder of its codec. A file of open() is read by its descriptor (Place::Disk) until a script asks
// for its buffer: then it becomes a Place::Stream over that.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lang/core/booking.h"
#include "lang/core/object_cast.h"
#include "stdlib/python/native/support.h"
#include "stdlib/python/native/text_codec.h"

namespace tessera::stdlib {

inline constexpr size_t kTextBlock = 1 << 16;   // bytes of a disk file read ahead, or held back before they are written
inline constexpr size_t kStreamChunk = 1 << 13;  // the same for a stream

enum class Place : uint8_t { Disk, Memory, In, Out, Error, Stream };

// Bytes that were read at once. tell() decodes them again from the state that the decoder had before them.
struct TextBlock {
  std::string bytes;
  size_t start;  // of their text in TextFile::text
  Decoder before;
  Value state;  // getstate() of a codec's decoder
};

struct TextFile : Object {
  Place place = Place::Memory;
  int fd = -1;
  bool closed = false, readable = true, writable = true, owns_fd = true, line_buffered = false, at_end = false,
       appends = false, write_through = false;
  bool ready = true, detached = false;  // ready: __init__ has run
  bool was_read = false;                // encoding and newline may not change any more
  bool telling = true;                  // false between the lines of an iteration
  bool signature_due = false;           // of utf-8-sig: before the first text that is written
  Value name;
  std::string mode, encoding_name = "UTF-8", newline;  // newline: what "\n" becomes when written
  Encoding encoding = Encoding::Utf8;
  OnError on_error = OnError::Strict;
  std::string errors_name = "strict";
  // newline=None: "\r" and "\r\n" are read as "\n", and both are line ends (`universal`); newline='': only the latter.
  bool translate = true, universal = true;
  LineEnds ends;  // seen, where universal
  std::unique_ptr<Decoder> decoder;
  Value codec;                         // the CodecInfo of an encoding that is not native, or Undefined
  Value codec_encoder, codec_decoder;  // made when they are needed
  std::string text;
  Booking booked;  // of `text`
  size_t at = 0;
  std::vector<TextBlock> blocks;  // those that `text` from `at` on came from
  std::string pending;            // not written yet
  size_t chunk = kTextBlock;
  Value buffer;  // the binary file below: of a Stream, and of a standard stream once it was asked for
};

inline TextFile* text_file_of(const Value& v) { return known_cast<TextFile>(v); }
inline TextFile* this_text_file(const Args& args) { return text_file_of(args[0]); }

int write_pending(Interpreter& in, TextFile* f);  // answers errno
void flush(Interpreter& in, TextFile* f);
int close_file(Interpreter& in, TextFile* f);  // answers errno; a second time it does nothing
bool is_closed(Interpreter& in, const TextFile* f);
// ValueError for a file that is closed, detached or not initialized; UnsupportedOperation for one that is not read.
// `inherited`: in a method that StringIO has from the base of all files, whose message ends with a period.
void check_open(Interpreter& in, const TextFile* f, bool inherited = false);
void check_attached(const TextFile* f);
void check_readable(Interpreter& in, TextFile* f);
[[noreturn]] void throw_unsupported(Interpreter& in, const char* message);

void write_memory(Interpreter& in, TextFile* f, std::string_view text);  // of a StringIO

// Drops what was read ahead, and the state of the decoder.
void forget_read(TextFile* f);
// Appends the text of bytes to `text`.
void decode_into(Interpreter& in, TextFile* f, std::string_view bytes, bool last);
// The incremental decoder or encoder of `codec`.
Value decoder_of_codec(Interpreter& in, TextFile* f);
Value encoder_of_codec(Interpreter& in, TextFile* f);
Value decoder_state(Interpreter& in, TextFile* f);  // getstate() of the codec's: (bytes that wait, flags)
Decoder& decoder_of(TextFile* f);                   // `decoder`, which a script that runs may make anew
// Bytes of `text` from `at` on that hold `count` characters; `missing` are those that it has not.
size_t bytes_of(const TextFile* f, int64_t count, int64_t& missing);

// Methods and slots (text_file_read.cpp).
Value file_read(Interpreter& in, const Args& args);
Value file_readline(Interpreter& in, const Args& args);
Value file_readlines(Interpreter& in, const Args& args);
Value file_iter(Interpreter&, const Value& self);
bool file_next(Interpreter& in, const Value& self, Value& out);
// text_file_write.cpp.
Value file_write(Interpreter& in, const Args& args);
Value file_writelines(Interpreter& in, const Args& args);
Value file_flush(Interpreter& in, const Args& args);
Value file_close(Interpreter& in, const Args& args);
// text_file_position.cpp.
Value file_seek(Interpreter& in, const Args& args);
Value file_tell(Interpreter& in, const Args& args);
Value file_truncate(Interpreter& in, const Args& args);

}  // namespace tessera::stdlib

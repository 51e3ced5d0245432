// A text file, a standard stream or a StringIO: what the files text_file_*.cpp and io.cpp share. One object for all three:
// they differ in where text comes from and goes to. Text that has been read ahead stands in `text` from `at` on; in a
// StringIO `text` is all there is.
#pragma once

#include <memory>
#include <string>

#include "lang/core/booking.h"
#include "stdlib/python/native/support.h"
#include "stdlib/python/native/text_codec.h"

namespace tessera::stdlib {

inline constexpr size_t kTextBlock = 1 << 16;  // bytes read ahead, or held back before they are written

enum class Place : uint8_t { Disk, Memory, In, Out, Error, Stream };

struct TextFile : Object {
  Place place = Place::Memory;
  int fd = -1;
  bool closed = false, readable = true, writable = true, owns_fd = true, line_buffered = false, at_end = false,
       appends = false, write_through = false;
  Value name;
  std::string mode, encoding_name = "UTF-8", newline;  // newline: what "\n" becomes when written
  Encoding encoding = Encoding::Utf8;
  OnError on_error = OnError::Strict;
  // newline=None: "\r" and "\r\n" are read as "\n", and both are line ends (`universal`); newline='': only the latter.
  bool translate = true, universal = true;
  LineEnds ends;  // seen, where universal
  std::unique_ptr<Decoder> decoder;
  std::string text;
  Booking booked;  // of `text`
  size_t at = 0;
  int64_t consumed = 0;  // bytes of the file that `text` up to `at` stands for, when nothing was translated
  std::string pending;   // not written yet
  Value buffer;          // the binary file below: of a Stream, or once it was asked for
};

inline TextFile* file_of(const Value& v) { return static_cast<TextFile*>(v.as_object()); }
inline TextFile* self_of(const Args& args) { return file_of(args[0]); }

int write_pending(Interpreter& in, TextFile* f);  // answers errno
void flush(Interpreter& in, TextFile* f);
int close_file(Interpreter& in, TextFile* f);  // answers errno; a second time it does nothing
// ValueError for a closed file; UnsupportedOperation for one that is not read.
void check_open(const TextFile* f);
void check_readable(Interpreter& in, TextFile* f);
[[noreturn]] void throw_unsupported(Interpreter& in, const char* message);

void write_memory(Interpreter& in, TextFile* f, std::string_view text);  // of a StringIO

// Drops what was read ahead.
void forget_read(TextFile* f);
// Bytes of `text` from `at` on that hold `count` characters; `missing` are those that it has not.
size_t bytes_of(const TextFile* f, int64_t count, int64_t& missing);

// Methods and slots (text_file_read.cpp).
Value file_read(Interpreter& in, const Args& args);
Value file_readline(Interpreter& in, const Args& args);
Value file_readlines(Interpreter& in, const Args& args);
Value file_iter(Interpreter&, const Value& self);
bool file_next(Interpreter& in, const Value& self, Value& out);
// text_file_write.cpp, positions too.
Value file_write(Interpreter& in, const Args& args);
Value file_writelines(Interpreter& in, const Args& args);
Value file_flush(Interpreter& in, const Args& args);
Value file_close(Interpreter& in, const Args& args);
Value file_seek(Interpreter& in, const Args& args);
Value file_tell(Interpreter& in, const Args& args);
Value file_truncate(Interpreter& in, const Args& args);

}  // namespace tessera::stdlib

// A binary file or a BytesIO: what the files binary_file*.cpp and binary_io.cpp share. One object for all of them: what differs is where
// the bytes come from and go to, and what may be done with them. A disk file's position is its own (`position`): the system's is set
// before each transfer that needs it elsewhere. What was read ahead stands in `ahead` from `at` on; what is not written yet in `pending`.
#pragma once

#include <string>
#include <string_view>

#include "lang/core/object_cast.h"
#include "lang/types/bytes.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib::binary {

inline constexpr size_t kBlock = 1 << 16;
inline constexpr size_t kPiece =
    size_t{4} << 20;  // of what goes to or comes from the file as it lies, between two looks at the flags

// Raw: any object with the methods of RawIOBase.
enum class Place : uint8_t { Disk, Memory, Raw, In, Out, Error };

struct BinaryFile : Object {
  Place place = Place::Memory;
  int fd = -1;
  bool closed = false, readable = true, writable = true, owns_fd = true, appends = false, buffered = true,
       seekable = true;
  bool ready = true, detached = false;  // ready: __init__ has run
  bool blocked = false;                 // the last read found nothing, without being at the end
  Value name;
  std::string mode;
  std::string ahead, pending;
  size_t at = 0;
  int64_t position = 0;  // of the script, in a disk file or in memory
  int64_t system = 0;    // where the system stands in a disk file
  Value memory;          // a bytearray: the content of a BytesIO
  Value raw;             // the stream below, of Place::Raw
  size_t block = kBlock;  // bytes read ahead, or held back before they are written

  size_t left() const { return ahead.size() - at; }
};

inline BinaryFile* binary_file_of(const Value& v) { return object_cast<BinaryFile>(v); }
inline BinaryFile* this_binary_file(const Args& args) { return binary_file_of(args[0]); }
inline ByteArray* memory_of(const BinaryFile* f) { return as_byte_array(f->memory); }
inline void drop_ahead(BinaryFile* f) {
  f->ahead.clear();
  f->at = 0;
}

[[noreturn]] void throw_unsupported(Interpreter& in, const char* message);
bool is_closed(Interpreter& in, const BinaryFile* f);
// ValueError for a file that is detached or not initialized, for one that is closed; UnsupportedOperation for one that is not read.
void check_ready(const BinaryFile* f);
void check_open(Interpreter& in, const BinaryFile* f, const char* what = nullptr);
void check_readable(Interpreter& in, BinaryFile* f, const char* what);

// The raw stream below (binary_file.cpp).
inline constexpr ssize_t kWouldBlock = -2;
int64_t raw_position(Interpreter& in, const Value& place);
int64_t raw_seek(Interpreter& in, const BinaryFile* f, int64_t offset, int64_t whence);
ssize_t raw_read(Interpreter& in, const BinaryFile* f, char* to, size_t size);
bool raw_flush(Interpreter& in, BinaryFile* f);
[[noreturn]] void throw_would_block(Interpreter& in, size_t written);

// The system's side (binary_file.cpp). go_to and close_file return errno.
int go_to(Interpreter& in, BinaryFile* f, int64_t where);
void flush(Interpreter& in, BinaryFile* f);
int close_file(Interpreter& in, BinaryFile* f);
void destroy_file(Interpreter& in, Object* self);

// Methods and slots (binary_file_read.cpp).
Value file_read(Interpreter& in, const Args& args);
Value file_read1(Interpreter& in, const Args& args);
Value file_readall(Interpreter& in, const Args& args);
Value file_readinto(Interpreter& in, const Args& args);
Value file_peek(Interpreter& in, const Args& args);
Value file_readline(Interpreter& in, const Args& args);
Value file_readlines(Interpreter& in, const Args& args);
Value file_iter(Interpreter& in, const Value& self);
bool file_next(Interpreter& in, const Value& self, Value& out);
// binary_file_write.cpp.
Value file_write(Interpreter& in, const Args& args);
Value file_writelines(Interpreter& in, const Args& args);
Value file_flush(Interpreter& in, const Args& args);
Value file_close(Interpreter& in, const Args& args);
// binary_file_position.cpp.
Value file_seek(Interpreter& in, const Args& args);
Value file_tell(Interpreter& in, const Args& args);
Value file_truncate(Interpreter& in, const Args& args);
// binary_file_answers.cpp.
Value file_fileno(Interpreter& in, const Args& args);
Value file_isatty(Interpreter& in, const Args& args);
Value file_readable(Interpreter& in, const Args& args);
Value file_writable(Interpreter& in, const Args& args);
Value file_seekable(Interpreter& in, const Args& args);
Value file_enter(Interpreter& in, const Args& args);
Value file_exit(Interpreter& in, const Args& args);
Value file_closed(Interpreter& in, const Args& args);
Value file_name(Interpreter& in, const Args& args);
Value file_mode(Interpreter& in, const Args& args);
Value file_blksize(Interpreter& in, const Args& args);
Value file_closefd(Interpreter& in, const Args& args);
Value file_raw(Interpreter& in, const Args& args);
Value file_detach(Interpreter& in, const Args& args);
Value file_repr(Interpreter& in, const Value& self);
Value last_repr(Interpreter& in, const Value& self);  // of a file that is being destroyed
Type* type_for(Interpreter& in, const BinaryFile* f, bool plus);

}  // namespace tessera::stdlib::binary

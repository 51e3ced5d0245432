// _io: binary files and BytesIO. One object for all of them: what differs is where the bytes come from and go to, and
// what may be done with them. A disk file's position is its own (`position`): the system's is set before each transfer that
// needs it elsewhere. What was read ahead stands in `ahead` from `at` on; what is not written yet in `pending`.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "lang/core/host.h"
#include "lang/core/make_object.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/objects/exception.h"
#include "lang/objects/own_type.h"
#include "lang/types/bytes.h"
#include "stdlib/python/native/binary_io.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/open_mode.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

constexpr size_t kBlock = 1 << 16;
constexpr size_t kPiece =
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

BinaryFile* file_of(const Value& v) { return object_cast<BinaryFile>(v); }
BinaryFile* self_of(const Args& args) { return file_of(args[0]); }
ByteArray* memory_of(const BinaryFile* f) { return as_byte_array(f->memory); }

[[noreturn]] void throw_unsupported(Interpreter& in, const char* message) {
  const Value error_class = get_attr(in, Value(in.import("io")), intern(in, "UnsupportedOperation"));
  throw Thrown(call(in, error_class, {make_str(in, message)}));
}

bool is_closed(Interpreter& in, const BinaryFile* f) {
  return f->place == Place::Raw && f->ready ? truth(in, get_attr(in, f->raw, intern(in, "closed"))) : f->closed;
}

void check_ready(const BinaryFile* f) {
  if (f->detached) throw Error(ErrorKind::ValueError, "raw stream has been detached");
  if (!f->ready) throw Error(ErrorKind::ValueError, "I/O operation on uninitialized object");
}

void check_open(Interpreter& in, const BinaryFile* f, const char* what = nullptr) {
  check_ready(f);
  if (!is_closed(in, f)) return;
  if (what == nullptr || f->place == Place::Memory || !f->buffered)
    throw Error(ErrorKind::ValueError, f->buffered || f->place == Place::Memory ? "I/O operation on closed file."
                                                                                : "I/O operation on closed file");
  throw_error(ErrorKind::ValueError, "%s of closed file", what);
}

void check_readable(Interpreter& in, BinaryFile* f, const char* what) {
  check_open(in, f, what);
  if (!f->readable) throw_unsupported(in, f->buffered ? what : "File not open for reading");
}

// --- a raw stream below

constexpr ssize_t kWouldBlock = -2;

int64_t raw_position(Interpreter& in, const Value& place) {
  const int64_t position = int_argument(in, place);
  if (position < 0) {
    throw_error(ErrorKind::OSError, "Raw stream returned invalid position %lld", static_cast<long long>(position));
  }
  return position;
}

int64_t raw_seek(Interpreter& in, const BinaryFile* f, int64_t offset, int64_t whence) {
  const Value raw = f->raw;
  return raw_position(in, call_method(in, raw, intern(in, "seek"), {Value::integer(offset), Value::integer(whence)}));
}

// The count that a raw stream's readinto() or write() returned; kWouldBlock for None.
ssize_t raw_count(Interpreter& in, const Value& count, size_t most, const char* method) {
  if (count.is_none()) return kWouldBlock;
  if (!is_index(in, count)) {
    const Value cause =
        call(in, Value(error_type(in, ErrorKind::TypeError)),
             {make_str(in, "'" + std::string(type_name(in, count)) + "' object cannot be interpreted as an integer")});
    const Value fault =
        call(in, Value(error_type(in, ErrorKind::OSError)), {make_str(in, "raw " + std::string(method) + "() failed")});
    set_attr(in, fault, intern(in, "__cause__"), cause);
    throw Thrown(fault);
  }
  const int64_t got = int_argument(in, count);
  if (got < 0 || static_cast<size_t>(got) > most) {
    throw_error(ErrorKind::OSError,
                "raw %s() returned invalid length %lld (should have been between 0 and %zu)", method,
                static_cast<long long>(got), most);
  }
  return static_cast<ssize_t>(got);
}

ssize_t raw_read(Interpreter& in, const BinaryFile* f, char* to, size_t size) {
  const Value raw = f->raw, memory = make_byte_array(in, {});
  byte_array_resize(in, as_byte_array(memory), size);
  const Value view = make_memory_view(in, memory);
  const ssize_t got = raw_count(in, call_method(in, raw, intern(in, "readinto"), {view}), size, "readinto");
  if (got > 0) std::memcpy(to, as_byte_array(memory)->data, static_cast<size_t>(got));
  call_method(in, view, intern(in, "release"));
  return got;
}

ssize_t raw_write(Interpreter& in, const BinaryFile* f, std::string_view bytes) {
  const Value raw = f->raw, copy = make_bytes(in, bytes), view = make_memory_view(in, copy);
  const ssize_t put = raw_count(in, call_method(in, raw, intern(in, "write"), {view}), bytes.size(), "write");
  call_method(in, view, intern(in, "release"));
  return put;
}

[[noreturn]] void throw_would_block(Interpreter& in, size_t written) {
  throw Thrown(call(in, Value(error_type(in, ErrorKind::BlockingIOError)),
                    {Value::integer(EAGAIN), make_str(in, "write could not complete without blocking"),
                     Value::integer(static_cast<int64_t>(written))}));
}

// Writes what is pending; false if the stream takes no more now.
bool raw_flush(Interpreter& in, BinaryFile* f) {
  if (f->pending.empty()) return true;
  if (f->seekable && !f->appends && f->system != f->position - static_cast<int64_t>(f->pending.size()))
    f->system = raw_seek(in, f, f->position - static_cast<int64_t>(f->pending.size()), 0);
  while (!f->pending.empty()) {
    const ssize_t put = raw_write(in, f, f->pending);
    if (put == kWouldBlock) return false;
    f->pending.erase(0, static_cast<size_t>(put));
    f->system += put;
    in.poll();
  }
  return true;
}

// --- the system's side

// Answers errno.
int go_to(Interpreter& in, BinaryFile* f, int64_t where) {
  if (!f->seekable || f->system == where) return 0;
  if (f->place == Place::Raw) {
    f->system = raw_seek(in, f, where, 0);
    return 0;
  }
  if (in.host().files->seek(f->fd, where, SEEK_SET) < 0) return errno;
  f->system = where;
  return 0;
}

// `may_stop`: when Ctrl-C comes while the other end takes nothing, the answer is EINTR and the rest stays pending.
int write_pending(Interpreter& in, BinaryFile* f, bool may_stop) {
  const Files& files = *in.host().files;
  size_t done = 0;
  const size_t room = f->pending.empty() ? 0 : wait_to_write(in, f->fd, f->pending.size(), may_stop);
  int code = f->pending.empty() || f->appends ? 0 : go_to(in, f, f->position - static_cast<int64_t>(f->pending.size()));
  while (code == 0 && done < f->pending.size()) {
    if (done != 0 && room < f->pending.size()) {  // a pipe: others may have written meanwhile, so what is pending is asked again
      f->pending.erase(0, done);
      return write_pending(in, f, may_stop);
    }
    const ssize_t put = files.write(f->fd, f->pending.data() + done, std::min(room, f->pending.size() - done));
    if (put < 0 && errno == EINTR && !may_stop) continue;
    if (put < 0 && errno == EINTR && !in.is_stopping()) {  // a handler of a signal runs, and may write to this file
      f->pending.erase(0, done);
      in.poll();
      return write_pending(in, f, may_stop);
    }
    if (put < 0) code = errno;
    else done += static_cast<size_t>(put), f->system += put;
  }
  if (f->appends && done != 0 && f->seekable) f->position = f->system = files.seek(f->fd, 0, SEEK_CUR);
  if (code == EINTR) f->pending.erase(0, done);
  else f->pending.clear();
  return code;
}

void flush(Interpreter& in, BinaryFile* f) {
  if (f->place == Place::Out && in.host().flush_out) in.host().flush_out();
  if (f->place == Place::Raw && !raw_flush(in, f)) throw_would_block(in, 0);
  if (f->place != Place::Disk || f->pending.empty()) return;
  if (const int code = write_pending(in, f, true)) {
    if (code == EINTR) in.check_stop();
    throw_os_error(in, code);
  }
}

int close_file(Interpreter& in, BinaryFile* f) {
  if (f->closed) return 0;
  int code = 0;
  if (f->place == Place::Disk) {
    code = write_pending(in, f, false);
    if (f->owns_fd && in.host().files->close(f->fd) != 0 && code == 0) code = errno;
    f->fd = -1;
  }
  f->closed = true;
  return code;
}

// Closes the raw stream of a buffer that is destroyed. Exceptions are dropped, for a destructor has no caller.
void close_raw_quietly(Interpreter& in, BinaryFile* f) noexcept {
  try {
    if (is_closed(in, f)) return;
    raw_flush(in, f);
    const Value raw = f->raw;
    call_method(in, raw, intern(in, "close"));
  } catch (...) {
    f->pending.clear();
  }
}

Value last_repr(Interpreter& in, const Value& self);

void destroy_file(Interpreter& in, Object* self) {
  BinaryFile* f = known_cast<BinaryFile>(self);
  if (f->place == Place::Disk && !f->closed && f->owns_fd) warn_unclosed(in, self, last_repr);
  if (f->place == Place::Raw && f->ready && !f->detached) close_raw_quietly(in, f);
  close_file(in, f);
  free_object(in, known_cast<BinaryFile>(self));
}

// read() that waits in slices, so that the program can be stopped meanwhile, and that goes on after a signal.
ssize_t read_descriptor(Interpreter& in, int fd, char* to, size_t size) {
  if ((fcntl(fd, F_GETFL) & O_NONBLOCK) == 0) wait_to_read(in, fd);
  for (;;) {
    const ssize_t got = in.host().files->read(fd, to, size);
    if (got >= 0) return got;
    if (errno == EAGAIN) return kWouldBlock;
    if (errno != EINTR) return got;
    in.poll();
  }
}

// Reads once; sets `blocked` and returns 0 if nothing is there yet.
size_t read_below(Interpreter& in, BinaryFile* f, char* to, size_t size) {
  const ssize_t got = f->place == Place::Raw ? raw_read(in, f, to, size) : read_descriptor(in, f->fd, to, size);
  f->blocked = got == kWouldBlock;
  if (f->blocked) return 0;
  if (got < 0) throw_os_error(in, errno);
  f->system += got;
  return static_cast<size_t>(got);
}

// One read of the system into `to`; answers how many bytes came, 0 at the end.
size_t read_system(Interpreter& in, BinaryFile* f, char* to, size_t size) {
  if (const int code = go_to(in, f, f->position)) throw_os_error(in, code);
  return read_below(in, f, to, size);
}

size_t take_ahead(BinaryFile* f, char* to, size_t size) {
  const size_t taken = std::min(size, f->left());
  std::memcpy(to, f->ahead.data() + f->at, taken);
  f->at += taken;
  f->position += static_cast<int64_t>(taken);
  if (f->at == f->ahead.size()) f->ahead.clear(), f->at = 0;
  return taken;
}

// Fills `ahead` with one more block; false at the end. The system stands behind what is ahead.
bool fill(Interpreter& in, BinaryFile* f) {
  flush(in, f);
  f->ahead.erase(0, f->at);
  f->at = 0;
  if (f->place == Place::In) {
    std::string line;
    if (!in.host().read_line || !in.host().read_line(line)) return false;
    f->ahead += line;
    return true;
  }
  const size_t old = f->ahead.size();
  if (const int code = go_to(in, f, f->position + static_cast<int64_t>(old))) throw_os_error(in, code);
  std::string block(f->block, '\0');
  const size_t got = read_below(in, f, block.data(), block.size());
  f->ahead.append(block, 0, got);
  return got != 0;
}

void drop_ahead(BinaryFile* f) {
  f->ahead.clear();
  f->at = 0;
}

// Reads up to `size` bytes into `to`, asking the system as often as it gives something. `once`: as a raw file does.
size_t read_some(Interpreter& in, BinaryFile* f, char* to, size_t size, bool once) {
  if (f->place == Place::Memory) {
    const std::string_view bytes = memory_of(f)->view();
    const size_t from = std::min(static_cast<size_t>(f->position), bytes.size()),
                 taken = std::min(size, bytes.size() - from);
    if (taken != 0) std::memmove(to, bytes.data() + from, taken);  // the buffer may be a view of this very memory
    f->position += static_cast<int64_t>(taken);
    return taken;
  }
  flush(in, f);
  f->blocked = false;
  size_t done = take_ahead(f, to, size);
  while (done < size && !(once && done != 0)) {
    if (f->place == Place::In || (f->buffered && size - done < f->block)) {
      if (!fill(in, f)) break;
      done += take_ahead(f, to + done, size - done);
      continue;
    }
    in.check_stop();
    const size_t got = read_system(in, f, to + done, std::min(size - done, kPiece));
    if (got == 0) break;
    done += got;
    f->position += static_cast<int64_t>(got);
  }
  return done;
}

// How many bytes there are from here to the end; SIZE_MAX: nobody knows.
size_t rest_of(Interpreter& in, BinaryFile* f) {
  if (f->place == Place::Memory) {
    const size_t size = memory_of(f)->size, from = std::min(static_cast<size_t>(f->position), size);
    return size - from;
  }
  struct stat s {};
  if (f->place != Place::Disk || in.host().files->status(f->fd, &s) != 0 || !S_ISREG(s.st_mode) || s.st_size == 0)
    return SIZE_MAX;
  return s.st_size > f->position ? static_cast<size_t>(s.st_size - f->position) : f->left();
}

// Of a pipe or a terminal: as it comes.
Value read_unknown(Interpreter& in, BinaryFile* f, size_t size, bool once) {
  Value all = make_byte_array(in, {});
  f->blocked = false;
  std::string block(kBlock, '\0');
  while (size > 0) {
    in.check_stop();
    const size_t got = read_some(in, f, block.data(), std::min(size, block.size()), once);
    if (got == 0) break;
    byte_array_append(in, as_byte_array(all), std::string_view(block).substr(0, got));
    size -= got;
    if (once) break;
  }
  if (f->blocked && as_byte_array(all)->size == 0) return Value::none();
  return make_bytes(in, bytes_of(all));
}

// The rest of a raw stream: by its readall(), if it has one.
Value read_raw_rest(Interpreter& in, BinaryFile* f) {
  const std::string before = f->ahead.substr(f->at);
  drop_ahead(f);
  const Value raw = f->raw, readall = find_attr(in, raw, intern(in, "readall"));
  std::string all = before;
  for (bool once = !readall.is_undefined();;) {
    const Value piece = once ? call(in, readall) : call_method(in, raw, intern(in, "read"));
    if (!piece.is_none() && !is_bytes(piece)) {
      throw_error(ErrorKind::TypeError, "%s() should return bytes", once ? "readall" : "read");
    }
    if (piece.is_none() && all.empty()) return Value::none();
    const size_t size = piece.is_none() ? 0 : as_bytes(piece)->size;
    if (size != 0) all += as_bytes(piece)->view();
    f->system += static_cast<int64_t>(size);
    if (once || size == 0) break;
  }
  f->position += static_cast<int64_t>(all.size());
  return make_bytes(in, all);
}

Value read_bytes(Interpreter& in, BinaryFile* f, int64_t count, bool once) {
  flush(in, f);
  if (f->place == Place::Raw && count < 0) return read_raw_rest(in, f);
  const size_t rest = rest_of(in, f), wanted = count < 0 ? SIZE_MAX : static_cast<size_t>(count);
  if (rest == SIZE_MAX) return read_unknown(in, f, wanted, once && count >= 0);
  Bytes* made = new_bytes(in, std::min(wanted, rest));
  const Value held = Value::adopt(made);
  const size_t got = read_some(in, f, made->data(), made->size, once && count >= 0);
  if (got == 0 && f->blocked && made->size != 0) return Value::none();
  return got == made->size ? held : make_bytes(in, made->view().substr(0, got));
}

int64_t count_argument(Interpreter& in, const Value& v) { return v.is_none() ? -1 : int_argument(in, v); }

Value file_read(Interpreter& in, const Args& args) {
  BinaryFile* f = self_of(args);
  check_readable(in, f, "read");
  const int64_t count = count_argument(in, args[1]);
  if (count < -1 && f->buffered && f->place != Place::Memory)
    throw Error(ErrorKind::ValueError, "read length must be non-negative or -1");
  return read_bytes(in, f, count, !f->buffered);
}

Value file_read1(Interpreter& in, const Args& args) {
  BinaryFile* f = self_of(args);
  check_readable(in, f, f->place == Place::Memory ? "read" : "read1");
  const int64_t count = count_argument(in, args[1]);
  return read_bytes(in, f, count < 0 && f->place != Place::Memory ? static_cast<int64_t>(f->block) : count, true);
}

Value file_readall(Interpreter& in, const Args& args) {
  check_readable(in, self_of(args), "read");
  return read_bytes(in, self_of(args), -1, false);
}

Value file_readinto(Interpreter& in, const Args& args) {
  BinaryFile* f = self_of(args);
  check_readable(in, f, f->place == Place::Memory ? "read" : "readinto");
  Buffer buffer;
  if (!find_writable(in, args[1], buffer)) {
    throw_error(ErrorKind::TypeError, "%s() argument must be read-write bytes-like object, not %s",
                std::string(args.callee->name->view()).c_str(), std::string(type_name(in, args[1])).c_str());
  }
  const PinnedBuffer pinned(in, args[1], true);
  const bool once = !f->buffered || args.callee->name->view() == "readinto1";
  const size_t got = read_some(in, f, pinned.get().data, pinned.get().size, once);
  if (got == 0 && f->blocked && pinned.get().size != 0) return Value::none();
  return Value::integer(static_cast<int64_t>(got));
}

Value file_peek(Interpreter& in, const Args& args) {
  BinaryFile* f = self_of(args);
  check_readable(in, f, "peek");
  if (f->left() == 0) fill(in, f);
  return make_bytes(in, std::string_view(f->ahead).substr(f->at));
}

// --- lines

Value memory_line(Interpreter& in, BinaryFile* f, int64_t limit) {
  const std::string_view bytes = memory_of(f)->view();
  const std::string_view rest = bytes.substr(std::min(static_cast<size_t>(f->position), bytes.size()));
  size_t size = rest.find('\n');
  size = size == rest.npos ? rest.size() : size + 1;
  if (limit >= 0) size = std::min(size, static_cast<size_t>(limit));
  f->position += static_cast<int64_t>(size);
  return make_bytes(in, rest.substr(0, size));
}

Value read_line(Interpreter& in, BinaryFile* f, int64_t limit) {
  if (f->place == Place::Memory) return memory_line(in, f, limit);
  flush(in, f);
  size_t searched = 0;
  const size_t most = limit < 0 ? SIZE_MAX : static_cast<size_t>(limit);
  for (;;) {
    const size_t end = f->ahead.find('\n', f->at + searched);
    size_t size = end == std::string::npos ? f->left() : end + 1 - f->at;
    if (end != std::string::npos || size >= most || (searched = size, !fill(in, f))) {
      size = std::min({size, most, f->left()});
      Value line = make_bytes(in, std::string_view(f->ahead).substr(f->at, size));
      f->at += size;
      f->position += static_cast<int64_t>(size);
      return line;
    }
  }
}

Value file_readline(Interpreter& in, const Args& args) {
  check_readable(in, self_of(args), self_of(args)->place == Place::Memory ? "read" : "readline");
  return read_line(in, self_of(args), count_argument(in, args[1]));
}

Value file_readlines(Interpreter& in, const Args& args) {
  BinaryFile* f = self_of(args);
  check_readable(in, f, "read");
  const int64_t hint = count_argument(in, args[1]);
  Value list = make_list(in);
  for (int64_t total = 0; hint <= 0 || total < hint;) {
    Value line = read_line(in, f, -1);
    if (as_bytes(line)->size == 0) break;
    total += static_cast<int64_t>(as_bytes(line)->size);
    list_append(in, as_list(list), std::move(line));
  }
  return list;
}

Value file_iter(Interpreter& in, const Value& self) {
  check_open(in, file_of(self));
  return self;
}

bool file_next(Interpreter& in, const Value& self, Value& out) {
  check_readable(in, file_of(self), "read");
  out = read_line(in, file_of(self), -1);
  return as_bytes(out)->size != 0;
}

// --- writing

void write_memory(Interpreter& in, BinaryFile* f, std::string_view bytes) {
  ByteArray* memory = memory_of(f);
  check_resizable(memory);
  if (bytes.empty()) return;
  const size_t from = static_cast<size_t>(f->position);
  const std::string copy =
      bytes.data() >= memory->data && bytes.data() < memory->data + memory->size ? std::string(bytes) : std::string();
  if (from + bytes.size() > memory->size) byte_array_resize(in, memory, from + bytes.size());
  std::memcpy(memory->data + from, copy.empty() ? bytes.data() : copy.data(), bytes.size());
  f->position += static_cast<int64_t>(bytes.size());
}

// Much at once goes to the file as it lies, in pieces between which the program may be stopped.
void write_through(Interpreter& in, BinaryFile* f, std::string_view bytes) {
  flush(in, f);
  if (const int code = f->appends ? 0 : go_to(in, f, f->position)) throw_os_error(in, code);
  while (!bytes.empty()) {
    in.poll();
    const size_t room = wait_to_write(in, f->fd, std::min(bytes.size(), kPiece));
    const ssize_t put = in.host().files->write(f->fd, bytes.data(), room);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw_os_error(in, errno);
    bytes.remove_prefix(static_cast<size_t>(put));
    f->system += put;
    f->position += put;
  }
  if (f->appends && f->seekable) f->position = f->system = in.host().files->seek(f->fd, 0, SEEK_CUR);
}

// Keeps at most a block if the stream takes no more: BlockingIOError then says how much was taken.
void write_raw(Interpreter& in, BinaryFile* f, std::string_view bytes) {
  if (!f->ahead.empty()) drop_ahead(f);
  const bool has_room = f->pending.size() + bytes.size() <= f->block;
  if (!has_room) raw_flush(in, f);
  f->pending.append(bytes);
  f->position += static_cast<int64_t>(bytes.size());
  if (f->pending.size() <= f->block || raw_flush(in, f) || f->pending.size() <= f->block) return;
  const size_t lost = std::min(f->pending.size() - f->block, bytes.size());
  f->pending.resize(f->pending.size() - lost);
  f->position -= static_cast<int64_t>(lost);
  throw_would_block(in, bytes.size() - lost);
}

// As one write of the system, in pieces between which handlers of signals and other threads run; None if the file takes nothing now.
Value write_once(Interpreter& in, BinaryFile* f, std::string_view bytes) {
  size_t done = 0;
  for (;;) {
    in.poll();
    if (const int code = f->appends ? 0 : go_to(in, f, f->position)) throw_os_error(in, code);
    const size_t room = wait_to_write(in, f->fd, std::min(bytes.size() - done, kPiece));
    const ssize_t put = in.host().files->write(f->fd, bytes.data() + done, room);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && done == 0 && errno == EAGAIN) return Value::none();
    if (put < 0 && done == 0) throw_os_error(in, errno);
    if (put < 0) break;
    done += static_cast<size_t>(put);
    f->position = f->system = f->system + put;
    if (f->appends && f->seekable) f->position = f->system = in.host().files->seek(f->fd, 0, SEEK_CUR);
    if (static_cast<size_t>(put) < room || done == bytes.size()) break;
  }
  in.poll();  // a signal may have made the write short
  return Value::integer(static_cast<int64_t>(done));
}

void write_disk(Interpreter& in, BinaryFile* f, std::string_view bytes) {
  constexpr size_t kMuch = size_t{1} << 20;
  if (!f->ahead.empty()) drop_ahead(f);
  if (bytes.size() >= kMuch) return write_through(in, f, bytes);
  f->pending.append(bytes);
  f->position += static_cast<int64_t>(bytes.size());
  if (f->pending.size() >= kBlock) flush(in, f);
}

Value file_write(Interpreter& in, const Args& args) {
  BinaryFile* f = self_of(args);
  if (f->closed && f->buffered && f->place != Place::Memory) throw Error(ErrorKind::ValueError, "write to closed file");
  check_open(in, f);
  if (!f->writable) throw_unsupported(in, f->buffered ? "write" : "File not open for writing");
  const BytesLike bytes(in, args[1]);
  const size_t size = bytes.view().size();
  if (f->place == Place::Disk && !f->buffered) return write_once(in, f, bytes);
  switch (f->place) {
    case Place::Memory: write_memory(in, f, bytes); break;
    case Place::Out:
      if (in.host().write_out) in.host().write_out(bytes);
      break;
    case Place::Error:
      if (in.host().write_error) in.host().write_error(bytes);
      break;
    case Place::Raw: write_raw(in, f, bytes); break;
    default: write_disk(in, f, bytes); break;
  }
  return Value::integer(static_cast<int64_t>(size));
}

Value file_writelines(Interpreter& in, const Args& args) {
  check_open(in, self_of(args));
  const Value write = get_attr(in, args[0], intern(in, "write"));
  for_each(in, args[1], [&](Value line) { call(in, write, {std::move(line)}); });
  return Value::none();
}

Value file_flush(Interpreter& in, const Args& args) {
  check_open(in, self_of(args), "flush");
  flush(in, self_of(args));
  return Value::none();
}

// Closes the stream below even if what is pending cannot be written.
void close_raw(Interpreter& in, BinaryFile* f) {
  check_ready(f);
  if (is_closed(in, f)) return;
  const Value self(f), raw = f->raw;
  try {
    call_method(in, self, intern(in, "flush"));
  } catch (...) {
    call_method(in, raw, intern(in, "close"));
    throw;
  }
  call_method(in, raw, intern(in, "close"));
}

Value file_close(Interpreter& in, const Args& args) {
  BinaryFile* f = self_of(args);
  if (f->place == Place::Memory && !f->closed) {
    if (memory_of(f)->exports != 0)
      throw Error(ErrorKind::BufferError, "Existing exports of data: object cannot be re-sized");
    byte_array_resize(in, memory_of(f), 0);
  }
  if (f->place == Place::Raw || (f->detached || !f->ready)) {
    close_raw(in, f);
    return Value::none();
  }
  // A script's flush() is told, as in CPython.
  if (f->buffered && f->place == Place::Disk && !f->closed && (f->type->type_flags & kScriptClass) != 0) {
    try {
      call_method(in, args[0], intern(in, "flush"));
    } catch (...) {
      close_file(in, f);
      throw;
    }
  }
  if (const int code = close_file(in, f)) throw_os_error(in, code);
  return Value::none();
}

// --- positions

Value memory_seek(BinaryFile* f, int64_t offset, int64_t whence) {
  if (whence == 0 && offset < 0)
    throw_error(ErrorKind::ValueError, "negative seek value %lld", static_cast<long long>(offset));
  if (whence < 0 || whence > 2)
    throw_error(ErrorKind::ValueError, "invalid whence (%lld, should be 0, 1 or 2)", static_cast<long long>(whence));
  const int64_t base = whence == 0 ? 0 : whence == 1 ? f->position : static_cast<int64_t>(memory_of(f)->size);
  int64_t place;
  if (__builtin_add_overflow(base, offset, &place)) throw Error(ErrorKind::OverflowError, "new position too large");
  f->position = std::max<int64_t>(place, 0);
  return Value::integer(f->position);
}

Value file_seek(Interpreter& in, const Args& args) {
  BinaryFile* f = self_of(args);
  check_open(in, f, "seek");
  const int64_t offset = int_argument(in, args[1]), whence = int_argument(in, args[2]);
  if (f->place == Place::Memory) return memory_seek(f, offset, whence);
  if ((f->place != Place::Disk && f->place != Place::Raw) || !f->seekable)
    throw_unsupported(in, "File or stream is not seekable.");
  if (whence < 0 || whence > 2)
    throw_error(ErrorKind::ValueError, "whence value %lld unsupported", static_cast<long long>(whence));
  flush(in, f);
  const int64_t wanted = whence == 1 ? f->position + offset : offset;
  // Inside of what was read ahead nothing needs to be read again.
  const int64_t first = f->position - static_cast<int64_t>(f->at);
  if (whence != 2 && wanted >= first && wanted <= first + static_cast<int64_t>(f->ahead.size()) && !f->ahead.empty()) {
    f->at = static_cast<size_t>(wanted - first);
    f->position = wanted;
    return Value::integer(wanted);
  }
  const int64_t place = f->place == Place::Raw ? raw_seek(in, f, wanted, whence == 2 ? 2 : 0)
                                               : in.host().files->seek(f->fd, wanted, whence == 2 ? SEEK_END : SEEK_SET);
  if (place < 0) throw_os_error(in, errno);
  drop_ahead(f);
  f->position = f->system = place;
  return Value::integer(place);
}

Value file_tell(Interpreter& in, const Args& args) {
  BinaryFile* f = self_of(args);
  check_open(in, f);
  const bool settled = f->seekable && f->system == f->position && f->left() == 0 && f->pending.empty();
  if (f->place == Place::Disk && (!f->buffered || settled)) {  // others may have moved it
    const int64_t place = in.host().files->seek(f->fd, 0, SEEK_CUR);
    if (place < 0) throw_os_error(in, errno);
    if (settled) f->position = f->system = place;
    return Value::integer(place);
  }
  if (f->place == Place::Raw && settled) f->position = f->system = raw_position(in, call_method(in, f->raw, intern(in, "tell")));
  if (f->place > Place::Raw || !f->seekable) throw_unsupported(in, "File or stream is not seekable.");
  return Value::integer(f->position);
}

Value file_truncate(Interpreter& in, const Args& args) {
  BinaryFile* f = self_of(args);
  check_open(in, f, "truncate");
  if (!f->writable) throw_unsupported(in, f->buffered ? "truncate" : "File not open for writing");
  const int64_t size = args[1].is_none() ? f->position : int_argument(in, args[1]);
  if (f->place == Place::Memory) {
    if (size < 0) throw_error(ErrorKind::ValueError, "negative size value %lld", static_cast<long long>(size));
    check_resizable(memory_of(f));
    if (static_cast<size_t>(size) < memory_of(f)->size) byte_array_resize(in, memory_of(f), static_cast<size_t>(size));
    return Value::integer(size);
  }
  flush(in, f);
  if (f->place == Place::Raw) {
    drop_ahead(f);
    const Value raw = f->raw;
    return call_method(in, raw, intern(in, "truncate"), {Value::integer(size)});
  }
  if (f->place != Place::Disk || in.host().files->truncate(f->fd, size) != 0)
    throw_os_error(in, f->place != Place::Disk ? EINVAL : errno);
  drop_ahead(f);
  return Value::integer(size);
}

// --- the rest

Type* type_for(Interpreter& in, const BinaryFile* f, bool plus) {
  const Value module(in.import("_io"));
  const char* const name = !f->buffered  ? "FileIO"
                           : plus        ? "BufferedRandom"
                           : f->readable ? "BufferedReader"
                                         : "BufferedWriter";
  return own_type(get_attr(in, module, intern(in, name)), layout_of<BinaryFile>, name);
}

// Fills in the access modes and the position of an open descriptor.
void take_descriptor(Interpreter& in, BinaryFile* f, int fd, bool owned, const Mode& mode) {
  f->place = Place::Disk;
  f->closed = false;
  f->fd = fd;
  f->owns_fd = owned;
  f->readable = mode.kind == 'r' || mode.plus;
  f->writable = mode.kind != 'r' || mode.plus;
  f->appends = mode.kind == 'a';
  f->mode = mode.kind == 'x' ? "xb" : mode.kind == 'a' ? "ab" : f->readable ? "rb" : "wb";
  if (mode.plus) f->mode += '+';
  const int64_t here = in.host().files->seek(fd, 0, f->appends ? SEEK_END : SEEK_CUR);
  f->seekable = here >= 0;
  f->position = f->system = std::max<int64_t>(here, 0);
}

// Answers of the stream below, where there is one.
Value ask_raw(Interpreter& in, const Args& args, const char* method) {
  const Value raw = self_of(args)->raw;
  return call_method(in, raw, intern(in, method));
}

Value file_fileno(Interpreter& in, const Args& args) {
  check_ready(self_of(args));
  if (self_of(args)->place == Place::Raw) return ask_raw(in, args, "fileno");
  check_open(in, self_of(args));
  if (self_of(args)->place == Place::Memory) throw_unsupported(in, "fileno");
  return Value::integer(self_of(args)->fd);
}
Value file_isatty(Interpreter& in, const Args& args) {
  check_ready(self_of(args));
  if (self_of(args)->place == Place::Raw) return ask_raw(in, args, "isatty");
  check_open(in, self_of(args));
  return Value::boolean(self_of(args)->fd >= 0 && isatty(self_of(args)->fd) == 1);
}
Value file_readable(Interpreter& in, const Args& args) {
  check_ready(self_of(args));
  if (self_of(args)->place == Place::Raw) return ask_raw(in, args, "readable");
  check_open(in, self_of(args));
  return Value::boolean(self_of(args)->readable);
}
Value file_writable(Interpreter& in, const Args& args) {
  check_ready(self_of(args));
  if (self_of(args)->place == Place::Raw) return ask_raw(in, args, "writable");
  check_open(in, self_of(args));
  return Value::boolean(self_of(args)->writable);
}
Value file_seekable(Interpreter& in, const Args& args) {
  check_ready(self_of(args));
  if (self_of(args)->place == Place::Raw) return ask_raw(in, args, "seekable");
  check_open(in, self_of(args));
  return Value::boolean(self_of(args)->place <= Place::Memory && self_of(args)->seekable);
}
Value file_enter(Interpreter& in, const Args& args) {
  check_open(in, self_of(args));
  return args[0];
}
Value file_exit(Interpreter& in, const Args& args) {
  call(in, get_attr(in, args[0], intern(in, "close")));
  return Value::none();
}
Value file_closed(Interpreter& in, const Args& args) {
  check_ready(self_of(args));
  return Value::boolean(is_closed(in, self_of(args)));
}
Value file_name(Interpreter& in, const Args& args) {
  const BinaryFile* f = self_of(args);
  check_ready(f);
  return f->place == Place::Raw ? get_attr(in, f->raw, intern(in, "name")) : f->name;
}
Value file_mode(Interpreter& in, const Args& args) {
  const BinaryFile* f = self_of(args);
  check_ready(f);
  return f->place == Place::Raw ? get_attr(in, f->raw, intern(in, "mode")) : make_str(in, f->mode);
}
// The size of the system's blocks.
Value file_blksize(Interpreter& in, const Args& args) {
  struct stat s {};
  const BinaryFile* f = self_of(args);
  const bool known = f->fd >= 0 && in.host().files->status(f->fd, &s) == 0 && s.st_blksize > 1;
  return Value::integer(known ? s.st_blksize : 8192);
}

Value file_closefd(Interpreter&, const Args& args) { return Value::boolean(self_of(args)->owns_fd); }

// The raw stream. A file that open() made gets one now: it takes the descriptor over.
Value file_raw(Interpreter& in, const Args& args) {
  BinaryFile* f = self_of(args);
  if (f->detached || !f->ready) return Value::none();
  if (f->place == Place::Raw) return f->raw;
  if (f->place != Place::Disk) return args[0];
  flush(in, f);
  BinaryFile shape;
  shape.buffered = false;
  Value made = Value::adopt(make_object<BinaryFile>(in, type_for(in, &shape, false)));
  BinaryFile* raw = file_of(made);
  raw->place = Place::Disk;
  raw->buffered = false;
  raw->fd = f->fd;
  raw->closed = f->closed;
  raw->readable = f->readable;
  raw->writable = f->writable;
  raw->owns_fd = f->owns_fd;
  raw->appends = f->appends;
  raw->seekable = f->seekable;
  raw->name = f->name;
  set_attr(in, made, intern(in, "name"), f->name);
  raw->mode = f->mode;
  raw->position = raw->system = f->system;
  f->raw = made;
  f->place = Place::Raw;
  f->fd = -1;
  return made;
}

Value file_detach(Interpreter& in, const Args& args) {
  BinaryFile* f = self_of(args);
  check_ready(f);
  if (f->place == Place::Memory) throw_unsupported(in, "detach");
  call_method(in, args[0], intern(in, "flush"));
  const Value raw = file_raw(in, args);
  f->detached = true;
  f->raw = Value();
  return raw;
}

Value described(Interpreter& in, const BinaryFile* f, Value name) {
  if (!f->buffered && f->closed) return make_str(in, "<_io.FileIO [closed]>");
  const bool script = (f->type->type_flags & kScriptClass) != 0 && f->buffered;
  std::string text = script ? "<" + std::string(f->type->name->view()) : "<_io." + std::string(f->buffered ? f->type->name->view() : "FileIO");
  if (f->place == Place::Raw) name = f->detached || !f->ready ? Value() : find_attr(in, f->raw, intern(in, "name"));
  if (!name.is_undefined()) text += " name=" + repr_text(in, name);
  else if (!f->buffered) text += " fd=" + std::to_string(f->fd);
  if (!f->buffered) text += " mode='" + f->mode + "' closefd=" + (f->owns_fd ? "True" : "False");
  return make_str(in, text + ">");
}

Value file_repr(Interpreter& in, const Value& self) {
  const BinaryFile* f = file_of(self);
  return described(in, f, f->buffered ? f->name : find_attr(in, self, intern(in, "name")));
}

// The same of a file that is being destroyed: its attributes are gone already.
Value last_repr(Interpreter& in, const Value& self) { return described(in, file_of(self), file_of(self)->name); }

// --- FileIO and the buffers around raw streams, made by scripts

void open_file(Interpreter& in, BinaryFile* f, const Value& file, const Value& mode, bool closefd, const Value& opener) {
  if (const int code = close_file(in, f)) throw_os_error(in, code);
  const Mode parsed = parse_raw_mode(std::string(text_argument(in, mode, "FileIO() argument 'mode'")));
  const Opened opened = open_descriptor(in, file, parsed, closefd, opener);
  take_descriptor(in, f, opened.fd, opened.owned, parsed);
  f->name = opened.name;
  try {
    set_attr(in, Value(f), intern(in, "name"), opened.name);
  } catch (...) {
    if (file.is_int()) f->owns_fd = false;  // it stays with who has opened it
    throw;
  }
}

Value make_file_io(Interpreter& in, Type* type, const Args& args) {
  require(in.limits.files, "files");
  Value made = Value::adopt(make_object<BinaryFile>(in, type));
  BinaryFile* f = file_of(made);
  f->place = Place::Disk;
  f->buffered = false;
  f->closed = true;
  f->name = Value::none();
  run_native_init(in, made, args);
  return made;
}

Value file_io_init(Interpreter& in, const Args& args) {
  open_file(in, self_of(args), args[1], args[2], truth(in, args[3]), args[4]);
  return Value::none();
}

// Which of the three a class is below: 'r', 'w' or '+'.
char buffer_kind(Interpreter& in, const Type* type) {
  for (const Type* each : type->mro) {
    if (each->type_flags & kScriptClass) continue;
    const std::string_view name = each->name->view();
    return name == "BufferedReader" ? 'r' : name == "BufferedWriter" ? 'w' : '+';
  }
  (void)in;
  return '+';
}

void wrap_raw(Interpreter& in, BinaryFile* f, const Value& raw, const Value& size) {
  f->ready = f->detached = false;
  const char kind = buffer_kind(in, f->type);
  const int64_t block = int_argument(in, size);
  const auto can = [&](const char* method) { return truth(in, call_method(in, raw, intern(in, method))); };
  if (kind == '+' && !can("seekable")) throw_unsupported(in, "File or stream is not seekable.");
  if (kind != 'w' && !can("readable")) throw_unsupported(in, "File or stream is not readable.");
  if (kind != 'r' && !can("writable")) throw_unsupported(in, "File or stream is not writable.");
  if (block <= 0) throw Error(ErrorKind::ValueError, "buffer size must be strictly positive");
  f->place = Place::Raw;
  f->raw = raw;
  f->readable = kind != 'w';
  f->writable = kind != 'r';
  f->block = static_cast<size_t>(block);
  f->pending.clear();
  drop_ahead(f);
  f->position = f->system = 0;
  f->seekable = true;
  try {
    f->position = f->system = raw_position(in, call_method(in, raw, intern(in, "tell")));
  } catch (const Error&) {
    f->seekable = false;
  } catch (const Thrown&) {
    f->seekable = false;
  }
  f->ready = true;
}

Value make_buffer(Interpreter& in, Type* type, const Args& args) {
  Value made = Value::adopt(make_object<BinaryFile>(in, type));
  BinaryFile* f = file_of(made);
  f->place = Place::Raw;
  f->ready = false;
  f->name = Value::none();
  run_native_init(in, made, args);
  return made;
}

Value buffer_init(Interpreter& in, const Args& args) {
  wrap_raw(in, self_of(args), args[1], args[2]);
  return Value::none();
}

// --- BytesIO

Value memory_getvalue(Interpreter& in, const Args& args) {
  check_open(in, self_of(args));
  return make_bytes(in, memory_of(self_of(args))->view());
}
Value memory_getbuffer(Interpreter& in, const Args& args) {
  check_open(in, self_of(args));
  return make_memory_view(in, self_of(args)->memory);
}

void set_initial(Interpreter& in, BinaryFile* f, const Value* bytes) {
  f->memory = make_byte_array(in, {});
  f->position = 0;
  f->closed = false;
  if (bytes != nullptr && !bytes->is_none()) byte_array_append(in, memory_of(f), BytesLike(in, *bytes));
}

Value make_memory(Interpreter& in, Type* type, const Args& args) {
  Value made = Value::adopt(make_object<BinaryFile>(in, type));
  file_of(made)->name = Value::none();
  set_initial(in, file_of(made), nullptr);
  if (args.count != 0) run_native_init(in, made, args);
  return made;
}

Value memory_init(Interpreter& in, const Args& args) {
  set_initial(in, self_of(args), &args[1]);
  return Value::none();
}

// Pickling: (bytes, position, attributes).
Value memory_getstate(Interpreter& in, const Args& args) {
  const BinaryFile* f = self_of(args);
  return make_tuple(in, {memory_getvalue(in, args), Value::integer(static_cast<int64_t>(f->position)),
                         attributes_to_keep(in, args[0])});
}

Value memory_setstate(Interpreter& in, const Args& args) {
  BinaryFile* f = self_of(args);
  if (!is_tuple(args[1]) || as_tuple(args[1])->size < 3) {
    throw_error(ErrorKind::TypeError, "%s.__setstate__ argument should be 3-tuple, got %s",
                std::string(f->type->name->view()).c_str(), std::string(type_name(in, args[1])).c_str());
  }
  const Value state = args[1];
  const Tuple& items = *as_tuple(state);
  if (!is_index(in, items[1])) {
    throw_error(ErrorKind::TypeError, "second item of state must be an integer, not %s",
                std::string(type_name(in, items[1])).c_str());
  }
  const int64_t position = int_argument(in, items[1]);
  if (position < 0) throw Error(ErrorKind::ValueError, "position value cannot be negative");
  check_open(in, f);
  check_resizable(memory_of(f));
  set_initial(in, f, &items[0]);
  f->position = position;
  keep_attributes(in, args[0], items[2]);
  return Value::none();
}

const NativeDef kMethods[] = {
    {"read(self, size=-1, /)", file_read, "Read up to size bytes, or all."},
    {"readinto(self, buffer, /)", file_readinto, "Read into a buffer; answers how many bytes came."},
    {"readline(self, size=-1, /)", file_readline, "Read a line with its end."},
    {"readlines(self, hint=-1, /)", file_readlines, "Read all lines."},
    {"write(self, bytes, /)", file_write, "Write bytes; answers how many."},
    {"writelines(self, lines, /)", file_writelines, "Write several bytes objects."},
    {"flush(self)", file_flush, "Write what is waiting."},
    {"close(self)", file_close, "Flush and close."},
    {"seek(self, offset, whence=0, /)", file_seek, "Go to a place."},
    {"tell(self)", file_tell, "The current place."},
    {"truncate(self, size=None, /)", file_truncate, "Cut off the rest."},
    {"fileno(self)", file_fileno, "The number of the file."},
    {"isatty(self)", file_isatty, "Is it a terminal?"},
    {"readable(self)", file_readable, "May it be read?"},
    {"writable(self)", file_writable, "May it be written?"},
    {"seekable(self)", file_seekable, "Has it places?"},
    {"__enter__(self)", file_enter},
    {"__exit__(self, *exc_info)", file_exit},
};

const NativeDef kBufferedMethods[] = {
    {"read1(self, size=-1, /)", file_read1, "Read what is there, with at most one call of the system."},
    {"readinto1(self, buffer, /)", file_readinto, "Read into a buffer, with at most one call of the system."},
    {"detach(self)", file_detach, "Flush and give the raw stream away."},
};
const NativeDef kPeekMethods[] = {{"peek(self, size=0, /)", file_peek, "What comes next, without taking it."}};
const NativeDef kRawMethods[] = {
    {"readall(self)", file_readall, "Read all."},
    {"__init__(self, file, mode='r', closefd=True, opener=None)", file_io_init},
};
const NativeDef kBufferInit[] = {{"__init__(self, raw, buffer_size=8192)", buffer_init}};
const NativeDef kMemoryMethods[] = {
    {"__init__(self, initial_bytes=None)", memory_init},
    {"getvalue(self)", memory_getvalue, "All bytes."},
    {"getbuffer(self)", memory_getbuffer, "A view of the bytes."},
    {"__reduce__(self)", reduce_new, "Return state information for pickling."},
    {"__getstate__(self)", memory_getstate, "Bytes, position and attributes."},
    {"__setstate__(self, state, /)", memory_setstate, "Set bytes, position and attributes."},
};

constexpr uint32_t kAttributesAt = (sizeof(BinaryFile) + 15) & ~uint32_t{15};

Type* make_file_type(Interpreter& in, Module& module, std::string_view name) {
  NativeTypeSpec spec;
  spec.name = name;
  spec.module = "_io";
  spec.size = kAttributesAt + sizeof(Attributes);
  spec.flags = kCompletesLater;
  Type* type = in.new_type(spec);
  type->attributes_offset = kAttributesAt;
  type->slots.layout = layout_of<BinaryFile>;
  type->slots.destroy = destroy_file;
  type->slots.iter = file_iter;
  type->slots.next = file_next;
  in.add_methods(type, kMethods, std::size(kMethods));
  in.add_property(type, "closed", file_closed);
  if (name != "BytesIO") {
    type->slots.repr = file_repr;
    in.add_property(type, "mode", file_mode);
    if (name == "FileIO") {  // the name is an attribute of the instance
      in.add_property(type, "closefd", file_closefd);
      in.add_property(type, "_blksize", file_blksize);
    } else {
      in.add_property(type, "name", file_name);
    }
  }
  if (name != "FileIO") in.add_methods(type, kBufferedMethods, std::size(kBufferedMethods));
  if (name != "FileIO" && name != "BytesIO") in.add_property(type, "raw", file_raw);
  set_member(in, module, name, Value(type));
  return type;
}

}  // namespace

Value make_binary_file(Interpreter& in, const BinaryOptions& options) {
  BinaryFile shape;
  shape.buffered = options.buffered;
  shape.readable = options.kind == 'r' || options.plus;
  Value made = Value::adopt(make_object<BinaryFile>(in, type_for(in, &shape, options.plus)));
  BinaryFile* f = file_of(made);
  f->name = options.name;
  f->buffered = options.buffered;
  Mode mode;
  mode.kind = options.kind;
  mode.plus = options.plus;
  take_descriptor(in, f, options.fd, options.owns_fd, mode);
  if (!f->buffered) set_attr(in, made, intern(in, "name"), f->name);
  return made;
}

Value make_standard_binary(Interpreter& in, int which) {
  static constexpr const char* kNames[] = {"<stdin>", "<stdout>", "<stderr>"};
  BinaryFile shape;
  shape.readable = which == 0;
  Value made = Value::adopt(make_object<BinaryFile>(in, type_for(in, &shape, false)));
  BinaryFile* f = file_of(made);
  f->place = which == 0 ? Place::In : which == 1 ? Place::Out : Place::Error;
  f->fd = which;
  f->owns_fd = false;
  f->name = make_str(in, kNames[which]);
  f->mode = which == 0 ? "rb" : "wb";
  f->readable = which == 0;
  f->writable = which != 0;
  return made;
}

void add_binary_files(Interpreter& in, Module& module) {
  for (const std::string_view name : {"BufferedReader", "BufferedWriter", "BufferedRandom"}) {
    Type* type = make_file_type(in, module, name);
    in.add_methods(type, kPeekMethods, name == "BufferedWriter" ? 0 : 1);
    in.add_methods(type, kBufferInit, 1);
    type->make = make_buffer;
  }
  Type* raw = make_file_type(in, module, "FileIO");
  raw->make = make_file_io;
  in.add_methods(raw, kRawMethods, std::size(kRawMethods));
  Type* memory = make_file_type(in, module, "BytesIO");
  memory->make = make_memory;
  in.add_methods(memory, kMemoryMethods, std::size(kMemoryMethods));
}

}  // namespace tessera::stdlib

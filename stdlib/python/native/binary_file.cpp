// What all binary files are asked: the checks, the raw stream below, the system's side, their end.
// compile: small (the system calls take longer)
#include "stdlib/python/native/binary_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "lang/core/host.h"
#include "lang/core/make_object.h"
#include "lang/core/names.h"
#include "lang/objects/exception.h"

namespace tessera::stdlib::binary {

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

void check_open(Interpreter& in, const BinaryFile* f, const char* what) {
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

namespace {
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
}  // namespace

ssize_t raw_read(Interpreter& in, const BinaryFile* f, char* to, size_t size) {
  const Value raw = f->raw, memory = make_byte_array(in, {});
  byte_array_resize(in, as_byte_array(memory), size);
  const Value view = make_memory_view(in, memory);
  const ssize_t got = raw_count(in, call_method(in, raw, intern(in, "readinto"), {view}), size, "readinto");
  if (got > 0) std::memcpy(to, as_byte_array(memory)->data, static_cast<size_t>(got));
  call_method(in, view, intern(in, "release"));
  return got;
}

namespace {
ssize_t raw_write(Interpreter& in, const BinaryFile* f, std::string_view bytes) {
  const Value raw = f->raw, copy = make_bytes(in, bytes), view = make_memory_view(in, copy);
  const ssize_t put = raw_count(in, call_method(in, raw, intern(in, "write"), {view}), bytes.size(), "write");
  call_method(in, view, intern(in, "release"));
  return put;
}
}  // namespace

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

namespace {
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
}  // namespace

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

namespace {
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
}  // namespace

void destroy_file(Interpreter& in, Object* self) {
  BinaryFile* f = known_cast<BinaryFile>(self);
  if (f->place == Place::Disk && !f->closed && f->owns_fd) warn_unclosed(in, self, last_repr);
  if (f->place == Place::Raw && f->ready && !f->detached) close_raw_quietly(in, f);
  close_file(in, f);
  free_object(in, known_cast<BinaryFile>(self));
}

}  // namespace tessera::stdlib::binary

// Reading from a binary file: by numbers of bytes, and by lines.
// compile: small (the system calls take longer)
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "lang/objects/class.h"
#include "lang/core/host.h"
#include "lang/core/names.h"
#include "stdlib/python/native/binary_file.h"

namespace tessera::stdlib::binary {

namespace {
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
}  // namespace

namespace {
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

}  // namespace

Value file_read(Interpreter& in, const Args& args) {
  BinaryFile* f = this_binary_file(args);
  check_readable(in, f, "read");
  const int64_t count = size_argument(in, args[1]);
  if (count < -1 && f->buffered && f->place != Place::Memory)
    throw Error(ErrorKind::ValueError, "read length must be non-negative or -1");
  if (f->place != Place::Memory) expect_block(in, count);
  return read_bytes(in, f, count, !f->buffered);
}

Value file_read1(Interpreter& in, const Args& args) {
  BinaryFile* f = this_binary_file(args);
  check_readable(in, f, f->place == Place::Memory ? "read" : "read1");
  const bool in_memory = f->place == Place::Memory;
  const int64_t count = in_memory ? size_argument(in, args[1]) : int_argument(in, args[1]);
  if (!in_memory) expect_block(in, count);
  return read_bytes(in, f, count < 0 && f->place != Place::Memory ? static_cast<int64_t>(f->block) : count, true);
}

Value file_readall(Interpreter& in, const Args& args) {
  check_readable(in, this_binary_file(args), "read");
  return read_bytes(in, this_binary_file(args), -1, false);
}

Value file_readinto(Interpreter& in, const Args& args) {
  BinaryFile* f = this_binary_file(args);
  check_readable(in, f, f->place == Place::Memory ? "read" : "readinto");
  Buffer buffer;
  if (!find_writable(in, args[1], buffer)) {
    throw_error(ErrorKind::TypeError, "%s() argument must be read-write bytes-like object, not %s",
                std::string(args.callee->name->view()).c_str(), argument_type(in, args[1]));
  }
  const PinnedBuffer pinned(in, args[1], true);
  const bool once = !f->buffered || args.callee->name->view() == "readinto1";
  const size_t got = read_some(in, f, pinned.get().data, pinned.get().size, once);
  if (got == 0 && f->blocked && pinned.get().size != 0) return Value::none();
  return Value::integer(static_cast<int64_t>(got));
}

Value file_peek(Interpreter& in, const Args& args) {
  BinaryFile* f = this_binary_file(args);
  check_readable(in, f, "peek");
  int_argument(in, args[1]);
  if (f->left() == 0) fill(in, f);
  return make_bytes(in, std::string_view(f->ahead).substr(f->at));
}

namespace {
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
}  // namespace

Value file_readline(Interpreter& in, const Args& args) {
  check_readable(in, this_binary_file(args), this_binary_file(args)->place == Place::Memory ? "read" : "readline");
  return read_line(in, this_binary_file(args), size_argument(in, args[1]));
}

Value file_readlines(Interpreter& in, const Args& args) {
  BinaryFile* f = this_binary_file(args);
  check_readable(in, f, "read");
  const bool listed = f->place == Place::Memory && !args[1].is_none() && !is_index(in, args[1]);
  if (listed) throw Error(ErrorKind::TypeError, "integer argument expected, got '" + std::string(type_name(in, args[1])) + "'");
  const int64_t hint = f->place == Place::Memory && !args[1].is_none() ? int_argument(in, args[1]) : size_argument(in, args[1]);
  Value list = make_list(in);
  const int64_t most = f->place == Place::Memory ? hint - 1 : hint;  // BytesIO stops when it has the hint, the others when they exceed it
  for (int64_t total = 0; hint <= 0 || total <= most;) {
    Value line = read_line(in, f, -1);
    if (as_bytes(line)->size == 0) break;
    total += static_cast<int64_t>(as_bytes(line)->size);
    list_append(in, as_list(list), std::move(line));
  }
  return list;
}

Value file_iter(Interpreter& in, const Value& self) {
  if (binary_file_of(self)->place != Place::Memory) check_open(in, binary_file_of(self));
  return self;
}

bool file_next(Interpreter& in, const Value& self, Value& out) {
  check_readable(in, binary_file_of(self), "read");
  out = read_line(in, binary_file_of(self), -1);
  return as_bytes(out)->size != 0;
}

}  // namespace tessera::stdlib::binary

// Writing to a binary file, and closing it.
// compile: small (the system calls take longer)
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "lang/core/host.h"
#include "lang/core/names.h"
#include "stdlib/python/native/binary_file.h"

namespace tessera::stdlib::binary {

namespace {
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
}  // namespace

Value file_write(Interpreter& in, const Args& args) {
  BinaryFile* f = this_binary_file(args);
  if (f->closed && f->buffered && f->place != Place::Memory) throw Error(ErrorKind::ValueError, "write to closed file");
  check_open(in, f);
  if (!f->writable) throw_unsupported(in, f->buffered ? "write" : "File not open for writing");
  if (f->place == Place::Memory) {
    const BytesLike bytes(in, args[1]);
    write_memory(in, f, bytes);
    return Value::integer(static_cast<int64_t>(bytes.view().size()));
  }
  const BytesLike held(in, args[1]);  // another thread may run while the file takes nothing
  const std::string_view bytes = held.view();
  if (f->place == Place::Disk && !f->buffered) return write_once(in, f, bytes);
  switch (f->place) {
    case Place::Out:
      if (in.host().write_out) in.host().write_out(bytes);
      break;
    case Place::Error:
      if (in.host().write_error) in.host().write_error(bytes);
      break;
    case Place::Raw: write_raw(in, f, bytes); break;
    default: write_disk(in, f, bytes); break;
  }
  return Value::integer(static_cast<int64_t>(bytes.size()));
}

Value file_writelines(Interpreter& in, const Args& args) {
  check_open(in, this_binary_file(args));
  const Value write = get_attr(in, args[0], intern(in, "write"));
  for_each(in, args[1], [&](Value line) { call(in, write, {std::move(line)}); });
  return Value::none();
}

Value file_flush(Interpreter& in, const Args& args) {
  BinaryFile* const f = this_binary_file(args);
  check_ready(f);
  if (!(f->buffered && f->writable) && is_closed(in, f))  // CPython's come from IOBase
    throw Error(ErrorKind::ValueError, "I/O operation on closed file.");
  check_open(in, f, "flush");
  flush(in, f);
  return Value::none();
}

namespace {
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
}  // namespace

Value file_close(Interpreter& in, const Args& args) {
  BinaryFile* f = this_binary_file(args);
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

}  // namespace tessera::stdlib::binary

// Where a binary file stands, and where it ends.
// compile: small (the system calls take longer)
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "lang/core/host.h"
#include "lang/core/names.h"
#include "lang/types/bigint.h"
#include "lang/types/number.h"
#include "stdlib/python/native/binary_file.h"

namespace tessera::stdlib::binary {

namespace {
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
}  // namespace

Value file_seek(Interpreter& in, const Args& args) {
  BinaryFile* f = this_binary_file(args);
  const bool in_memory = f->place == Place::Memory;
  const int64_t in_bytes = in_memory ? int_argument(in, args[1]) : 0;
  const int whence = whole_to_int(whole_index(in, args[2]));
  check_open(in, f, "seek");
  if (in_memory) return memory_seek(f, in_bytes, whence);
  if (f->buffered && is_big_int(args[1])) throw Error(ErrorKind::ValueError, "cannot fit 'int' into an offset-sized integer");
  const int64_t offset = offset_argument(in, args[1]);
  if ((f->place != Place::Disk && f->place != Place::Raw) || !f->seekable)
    throw_unsupported(in, "File or stream is not seekable.");
  if (whence < 0 || whence > 2)
    throw_error(ErrorKind::ValueError, "whence value %d unsupported", whence);
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
  BinaryFile* f = this_binary_file(args);
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
  BinaryFile* f = this_binary_file(args);
  check_open(in, f, "truncate");
  if (!f->writable) throw_unsupported(in, f->buffered ? "truncate" : "File not open for writing");
  const int64_t size = args[1].is_none()            ? f->position
                       : f->place == Place::Memory ? size_argument(in, args[1])
                                                   : offset_argument(in, args[1]);
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
    return call_method(in, raw, intern(in, "truncate"), {args[1].is_none() ? Value::integer(size) : args[1]});
  }
  if (f->place != Place::Disk || in.host().files->truncate(f->fd, size) != 0)
    throw_os_error(in, f->place != Place::Disk ? EINVAL : errno);
  drop_ahead(f);
  return args[1].is_none() ? Value::integer(size) : args[1];  // as it was given, also a bool
}

}  // namespace tessera::stdlib::binary

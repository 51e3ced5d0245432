// _posix: calls on open files by their numbers, owners and special kinds of files. What gives a script a file that `Files` has not opened,
// or changes more than a file's content, is for programs that may use processes.
// compile: small (the system calls take longer)
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "lang/types/bytes.h"
#include "lang/vm/allow_others.h"
#include "stdlib/python/native/posix_parts.h"
#include "stdlib/python/native/processes.h"

namespace tessera::stdlib {
namespace {

// The number of a file that the script may use.
int file_number(Interpreter& in, const Value& v) {
  const Value number = is_index(in, v) ? v : call_method(in, v, intern(in, "fileno"));
  const int64_t file = int_argument(in, number);
  if (file < 0 || file > INT32_MAX || !files_of(in).owns(static_cast<int>(file))) throw_os_error(in, EBADF);
  return static_cast<int>(file);
}

Value dup_file(Interpreter& in, const Args& args) {
  require_processes(in);
  return checked(in, fcntl(file_number(in, args[0]), F_DUPFD_CLOEXEC, 0));
}

Value dup_to(Interpreter& in, const Args& args) {
  require_processes(in);
  const int from = file_number(in, args[0]), to = small(in, args[1]);
  const bool inherits = truth(in, args[2]);
  return checked(in, inherits || from == to ? dup2(from, to) : dup3(from, to, O_CLOEXEC));
}

Value get_inheritable(Interpreter& in, const Args& args) {
  const int flags = fcntl(file_number(in, args[0]), F_GETFD);
  if (flags < 0) throw_os_error(in, errno);
  return Value::boolean((flags & FD_CLOEXEC) == 0);
}

Value set_inheritable(Interpreter& in, const Args& args) {
  require_processes(in);
  const int file = file_number(in, args[0]), flags = fcntl(file, F_GETFD);
  if (flags < 0) throw_os_error(in, errno);
  return checked_none(in, fcntl(file, F_SETFD, truth(in, args[1]) ? flags & ~FD_CLOEXEC : flags | FD_CLOEXEC));
}

Value cut_file(Interpreter& in, const Args& args) {
  const int64_t size = int_argument(in, args[1]);
  if (is_index(in, args[0])) return checked_none(in, files_of(in).truncate(file_number(in, args[0]), size));
  const Path path = path_argument(in, args[0]);
  Files& files = files_of(in);
  const int file = files.open(path, O_WRONLY);
  if (file < 0) throw_os_error(in, errno, path);
  const int result = files.truncate(file, size), code = errno;
  files.close(file);
  if (result != 0) throw_os_error(in, code, path);
  return Value::none();
}

Value read_at(Interpreter& in, const Args& args) {
  const int file = file_number(in, args[0]);
  const int64_t size = int_argument(in, args[1]), place = int_argument(in, args[2]);
  if (size < 0) throw_os_error(in, EINVAL);
  Bytes* made = new_bytes(in, static_cast<size_t>(size));
  const Value held = Value::adopt(made);
  const ssize_t got = pread(file, made->data(), made->size, place);
  if (got < 0) throw_os_error(in, errno);
  return got == size ? held : make_bytes(in, made->view().substr(0, static_cast<size_t>(got)));
}

Value write_at(Interpreter& in, const Args& args) {
  const int file = file_number(in, args[0]);
  const BytesLike bytes(in, args[1]);
  return checked(in, pwrite(file, bytes.view().data(), bytes.view().size(), int_argument(in, args[2])));
}

// The memory of several objects, for one call.
class Vectors {
 public:
  Vectors(Interpreter& in, const Value& list, bool writable) {
    const Value items = list_from(in, list);
    for (const Value& item : *as_list(items)) {
      pinned_.push_back(std::make_unique<PinnedBuffer>(in, item, writable));
      parts_.push_back({pinned_.back()->get().data, pinned_.back()->get().size});
    }
  }
  const iovec* data() const { return parts_.data(); }
  int size() const { return static_cast<int>(parts_.size()); }

 private:
  std::vector<std::unique_ptr<PinnedBuffer>> pinned_;
  std::vector<iovec> parts_;
};

Value read_vectors(Interpreter& in, const Args& args) {
  const int file = file_number(in, args[0]);
  const Vectors parts(in, args[1], true);
  return checked(in, readv(file, parts.data(), parts.size()));
}
Value write_vectors(Interpreter& in, const Args& args) {
  const int file = file_number(in, args[0]);
  const Vectors parts(in, args[1], false);
  return checked(in, writev(file, parts.data(), parts.size()));
}
Value read_vectors_at(Interpreter& in, const Args& args) {
  const int file = file_number(in, args[0]);
  const Vectors parts(in, args[1], true);
  return checked(in, preadv2(file, parts.data(), parts.size(), int_argument(in, args[2]), small(in, args[3])));
}
Value write_vectors_at(Interpreter& in, const Args& args) {
  const int file = file_number(in, args[0]);
  const Vectors parts(in, args[1], false);
  return checked(in, pwritev2(file, parts.data(), parts.size(), int_argument(in, args[2]), small(in, args[3])));
}

Value advise(Interpreter& in, const Args& args) {
  const int code = posix_fadvise(file_number(in, args[0]), int_argument(in, args[1]), int_argument(in, args[2]),
                                 small(in, args[3]));
  if (code != 0) throw_os_error(in, code);
  return Value::none();
}

Value allocate(Interpreter& in, const Args& args) {
  const int code = posix_fallocate(file_number(in, args[0]), int_argument(in, args[1]), int_argument(in, args[2]));
  if (code != 0) throw_os_error(in, code);
  return Value::none();
}

Value lock_part(Interpreter& in, const Args& args) {
  return checked_none(in, lockf(file_number(in, args[0]), small(in, args[1]), int_argument(in, args[2])));
}

Value sync_data(Interpreter& in, const Args& args) { return checked_none(in, fdatasync(file_number(in, args[0]))); }

// In pieces, between which the limits and other threads have their turn: one call may copy gigabytes.
Value send_file(Interpreter& in, const Args& args) {
  constexpr size_t kPieceBytes = size_t{4} << 20;
  const int out = file_number(in, args[0]), source = file_number(in, args[1]);
  const auto count = static_cast<size_t>(int_argument(in, args[3]));
  off_t place = args[2].is_none() ? 0 : int_argument(in, args[2]);
  size_t done = 0;
  for (;;) {
    const size_t wanted = std::min(count - done, kPieceBytes);
    ssize_t sent;
    int code;
    {
      const AllowOthers others(in);
      sent = sendfile(out, source, args[2].is_none() ? nullptr : &place, wanted);
      code = errno;
    }
    if (sent < 0 && done == 0) throw_os_error(in, code);
    if (sent > 0) done += static_cast<size_t>(sent);
    if (sent < static_cast<ssize_t>(wanted) || done == count) return Value::integer(static_cast<int64_t>(done));
    in.check_stop(kPieceBytes / 64);
  }
}

// The arguments (from, to, count, from offset, to offset) of a copy between two files. An offset of None moves the file's own place.
struct FileCopy {
  int from, to;
  size_t count;
  off_t from_offset = 0, to_offset = 0;
  off_t *from_place = nullptr, *to_place = nullptr;

  FileCopy(Interpreter& in, const Args& args) : from(file_number(in, args[0])), to(file_number(in, args[1])) {
    const int64_t given = int_argument(in, args[2]);
    if (given < 0) throw Error(ErrorKind::ValueError, "negative value for 'count' not allowed");
    count = static_cast<size_t>(given);
    if (!args[3].is_none()) *(from_place = &from_offset) = int_argument(in, args[3]);
    if (!args[4].is_none()) *(to_place = &to_offset) = int_argument(in, args[4]);
  }
  FileCopy(const FileCopy&) = delete;
  FileCopy& operator=(const FileCopy&) = delete;
};

Value copy_range(Interpreter& in, const Args& args) {
  FileCopy c(in, args);
  return checked(in, copy_file_range(c.from, c.from_place, c.to, c.to_place, c.count, 0));
}

Value splice_files(Interpreter& in, const Args& args) {
  FileCopy c(in, args);
  const auto flags = static_cast<unsigned>(int_argument(in, args[5]));
  return checked(in, splice(c.from, c.from_place, c.to, c.to_place, c.count, flags));
}

// (bsize, frsize, blocks, bfree, bavail, files, ffree, favail, flag, namemax, fsid)
Value file_system(Interpreter& in, const Args& args) {
  require_processes(in);
  struct statvfs s {};
  if (is_index(in, args[0])) {
    if (fstatvfs(file_number(in, args[0]), &s) != 0) throw_os_error(in, errno);
  } else {
    const Path path = path_argument(in, args[0]);
    if (statvfs(path.c_str(), &s) != 0) throw_os_error(in, errno, path);
  }
  const uint64_t fields[] = {s.f_bsize, s.f_frsize, s.f_blocks, s.f_bfree, s.f_bavail, s.f_files,
                             s.f_ffree, s.f_favail, s.f_flag,   s.f_namemax, s.f_fsid};
  std::vector<Value> values;
  for (const uint64_t field : fields) values.push_back(Value::integer(static_cast<int64_t>(field)));
  return make_tuple_moving(in, values.data(), values.size());
}

// chown(path or number, uid, gid, follow)
Value change_owner(Interpreter& in, const Args& args) {
  require_processes(in);
  const auto id = [&](const Value& v) { return static_cast<uint32_t>(int_argument(in, v)); };
  const uint32_t user = id(args[1]), group = id(args[2]);
  if (is_index(in, args[0])) return checked_none(in, fchown(file_number(in, args[0]), user, group));
  const Path path = path_argument(in, args[0]);
  const int result = truth(in, args[3]) ? chown(path.c_str(), user, group) : lchown(path.c_str(), user, group);
  if (result != 0) throw_os_error(in, errno, path);
  return Value::none();
}

Value change_mode(Interpreter& in, const Args& args) {
  require_processes(in);
  return checked_none(in, fchmod(file_number(in, args[0]), static_cast<mode_t>(small(in, args[1]))));
}

Value make_fifo(Interpreter& in, const Args& args) {
  require_processes(in);
  const Path path = path_argument(in, args[0]);
  if (mkfifo(path.c_str(), static_cast<mode_t>(small(in, args[1]))) != 0) throw_os_error(in, errno, path);
  return Value::none();
}

Value make_node(Interpreter& in, const Args& args) {
  require_processes(in);
  const Path path = path_argument(in, args[0]);
  if (mknod(path.c_str(), static_cast<mode_t>(small(in, args[1])), static_cast<dev_t>(int_argument(in, args[2]))) != 0)
    throw_os_error(in, errno, path);
  return Value::none();
}

Value device_parts(Interpreter& in, const Args& args) {
  const dev_t device = static_cast<dev_t>(int_argument(in, args[0]));
  return make_tuple(in, {Value::integer(major(device)), Value::integer(minor(device))});
}
Value device_of(Interpreter& in, const Args& args) {
  return Value::integer(static_cast<int64_t>(
      makedev(static_cast<unsigned>(int_argument(in, args[0])), static_cast<unsigned>(int_argument(in, args[1])))));
}

Value set_mask(Interpreter& in, const Args& args) {
  require_processes(in);
  return Value::integer(umask(static_cast<mode_t>(small(in, args[0]))));
}

Value open_pipe(Interpreter& in, const Args& args) {
  require_processes(in);
  int ends[2];
  checked(in, pipe2(ends, small(in, args[0])));
  return make_tuple(in, {Value::integer(ends[0]), Value::integer(ends[1])});
}

Value make_eventfd(Interpreter& in, const Args& args) {
  require_processes(in);
  return checked(in, eventfd(static_cast<unsigned>(int_argument(in, args[0])), small(in, args[1])));
}

Value terminal_name(Interpreter& in, const Args& args) {
  const char* const name = ttyname(file_number(in, args[0]));
  if (name == nullptr) throw_os_error(in, errno);
  return make_str(in, name);
}

// Times of access and change in nanoseconds; `follow` as for links.
Value set_times(Interpreter& in, const Args& args) {
  const timespec times[2] = {
      {int_argument(in, args[1]) / 1'000'000'000, static_cast<long>(int_argument(in, args[1]) % 1'000'000'000)},
      {int_argument(in, args[2]) / 1'000'000'000, static_cast<long>(int_argument(in, args[2]) % 1'000'000'000)}};
  timespec floored[2];
  for (int i = 0; i < 2; ++i) {  // before 1970 the nanoseconds count up as well
    floored[i] = times[i];
    if (floored[i].tv_nsec < 0) floored[i].tv_nsec += 1'000'000'000, --floored[i].tv_sec;
  }
  if (is_index(in, args[0])) return checked_none(in, futimens(file_number(in, args[0]), floored));
  const Path path = path_argument(in, args[0]);
  Files::Place place;
  const bool follow = truth(in, args[3]);
  if (files_of(in).find(path, follow ? Files::Last::Followed : Files::Last::Kept, place) != 0) throw_os_error(in, errno, path);
  const int flags = !follow || files_of(in).has_root() ? AT_SYMLINK_NOFOLLOW : 0;
  if (utimensat(place.folder(), place.name(), floored, flags) != 0) throw_os_error(in, errno, path);
  return Value::none();
}

const NativeDef kFunctions[] = {
    {"dup(fd, /)", dup_file, "A second number for an open file."},
    {"dup2(fd, fd2, inheritable=True)", dup_to, "Make fd2 a number of the same file."},
    {"get_inheritable(fd, /)", get_inheritable, "Do programs that are started have the file?"},
    {"set_inheritable(fd, inheritable, /)", set_inheritable, "Set whether programs that are started have the file."},
    {"truncate(path, length)", cut_file, "Cut or extend a file."},
    {"ftruncate(fd, length, /)", cut_file, "Cut or extend an open file."},
    {"pread(fd, length, offset, /)", read_at, "Read at a place, which stays where it is."},
    {"pwrite(fd, buffer, offset, /)", write_at, "Write at a place."},
    {"readv(fd, buffers, /)", read_vectors, "Read into several buffers."},
    {"writev(fd, buffers, /)", write_vectors, "Write several buffers."},
    {"preadv(fd, buffers, offset, flags=0, /)", read_vectors_at, "Read into several buffers at a place."},
    {"pwritev(fd, buffers, offset, flags=0, /)", write_vectors_at, "Write several buffers at a place."},
    {"posix_fadvise(fd, offset, length, advice, /)", advise, "Tell the system how a file will be used."},
    {"posix_fallocate(fd, offset, length, /)", allocate, "Make room for a part of a file."},
    {"lockf(fd, command, length, /)", lock_part, "Lock a part of a file."},
    {"fdatasync(fd)", sync_data, "Wait until a file's content is on its disk."},
    {"sendfile(out_fd, in_fd, offset, count)", send_file, "Copy from file to file in the system."},
    {"copy_file_range(src, dst, count, offset_src=None, offset_dst=None)", copy_range, "Copy a part of a file."},
    {"splice(src, dst, count, offset_src=None, offset_dst=None, flags=0)", splice_files, "Move bytes through a pipe."},
    {"statvfs(path, /)", file_system, "What the system knows of a file system."},
    {"chown(path, uid, gid, follow, /)", change_owner, "Set owner and group."},
    {"fchmod(fd, mode)", change_mode, "Set permissions of an open file."},
    {"mkfifo(path, mode, /)", make_fifo, "Make a named pipe."},
    {"mknod(path, mode, device, /)", make_node, "Make a file of any kind."},
    {"device_parts(device, /)", device_parts},
    {"makedev(major, minor, /)", device_of, "The number of a device."},
    {"umask(mask, /)", set_mask, "Set the permissions that new files lack."},
    {"pipe2(flags, /)", open_pipe, "A pipe with flags."},
    {"eventfd(initval, flags, /)", make_eventfd, "A counter that can be waited for."},
    {"ttyname(fd, /)", terminal_name, "The name of the terminal."},
    {"set_times(path, access, change, follow, /)", set_times, "Set times, in nanoseconds."},
};

}  // namespace

void add_posix_files(Interpreter& in, Module& module) {
  for (const NativeDef& row : kFunctions) in.def(module, row.signature, row.doc, row.function);
}

}  // namespace tessera::stdlib

// _posix: the system calls behind os, os.path, shutil.
// compile: small (the system calls take longer)
#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "lang/vm/threads.h"
#include "lang/types/bytes.h"
#include "lang/types/codec.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/posix_parts.h"
#include "stdlib/python/native/processes.h"
#include "stdlib/python/native/support.h"
#include "lang/objects/exception.h"

extern char** environ;

namespace tessera::stdlib {
namespace {

void check(Interpreter& in, int result, const Path& path) {
  if (result != 0) throw_os_error(in, errno, path);
}

// TypeError of functions that take a path first.
void check_path(Interpreter& in, const Args& args) {
  const Value& path = args[0];
  if (is_str(path) || is_bytes(path) || !find_attr(in, path, intern(in, "__fspath__")).is_undefined()) return;
  throw_error(ErrorKind::TypeError, "%s: path should be string, bytes or os.PathLike, not %s",
              std::string(args.callee->name->view()).c_str(), std::string(type_name(in, path)).c_str());
}

// A relative path as it is seen from the open folder `dir_fd`, unless that is None.
std::string seen_from(Interpreter& in, const std::string& path, const Value& dir_fd) {
  if (dir_fd.is_none()) return path;
  if (!is_index(in, dir_fd))
    throw_error(ErrorKind::TypeError, "argument should be integer or None, not %s", std::string(type_name(in, dir_fd)).c_str());
  const int64_t folder = int_argument(in, dir_fd);
  if (folder > INT32_MAX) throw Error(ErrorKind::OverflowError, "fd is greater than maximum");
  if (folder < INT32_MIN) throw Error(ErrorKind::OverflowError, "fd is less than minimum");
  return path.starts_with('/') ? path : "/proc/self/fd/" + std::to_string(folder) + "/" + path;
}

// A path of the script's, and where it leads. Errors name the path as it was given.
struct Found {
  Found(Interpreter& in, const Value& v, Files::Last last, const Value& dir_fd = Value::none()) : path(path_argument(in, v)) {
    check(in, files_of(in).find(seen_from(in, path, dir_fd), last, place), path);
  }
  Path path;
  Files::Place place;
};
constexpr Files::Last kFollowed = Files::Last::Followed, kKept = Files::Last::Kept;

int descriptor(Interpreter& in, const Value& v) { return small(in, v); }

double seconds(const timespec& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9; }

int64_t nanoseconds(const timespec& t) { return static_cast<int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec; }

// (mode, inode, device, links, user, group, size, times of access, change of content, change of state; the same in nanoseconds;
// block size, blocks, device of a device file)
Value status(Interpreter& in, const Args& args) {
  Files& files = files_of(in);
  struct stat s {};
  if (is_index(in, args[0])) {
    if (files.status(descriptor(in, args[0]), &s) != 0) throw_os_error(in, errno);
  } else {
    const Path path = path_argument(in, args[0]);
    check(in, files.status(path, truth(in, args[1]) ? kFollowed : kKept, &s), path);
  }
  return make_tuple(
      in, {Value::integer(s.st_mode), Value::integer(static_cast<int64_t>(s.st_ino)),
           Value::integer(static_cast<int64_t>(s.st_dev)), Value::integer(static_cast<int64_t>(s.st_nlink)),
           Value::integer(s.st_uid), Value::integer(s.st_gid), Value::integer(s.st_size),
           Value::real(seconds(s.st_atim)), Value::real(seconds(s.st_mtim)), Value::real(seconds(s.st_ctim)),
           Value::integer(nanoseconds(s.st_atim)), Value::integer(nanoseconds(s.st_mtim)),
           Value::integer(nanoseconds(s.st_ctim)), Value::integer(s.st_blksize), Value::integer(s.st_blocks),
           Value::integer(static_cast<int64_t>(s.st_rdev))});
}

// The text of a path's bytes: what is no UTF-8 comes as lone surrogates, which a path takes back.
Value path_text(Interpreter& in, std::string_view path) { return decode_text(in, path, "utf-8", "surrogateescape"); }

DIR* open_folder(Interpreter& in, const Value& path) {
  if (is_index(in, path)) {
    const int file = descriptor(in, path);
    if (!files_of(in).owns(file)) throw_os_error(in, EBADF);
    const int copy = fcntl(file, F_DUPFD_CLOEXEC, 0);
    DIR* const directory = copy < 0 ? nullptr : fdopendir(copy);
    if (directory == nullptr) {
      const int code = errno;
      if (copy >= 0) close(copy);
      throw_os_error(in, code);
    }
    rewinddir(directory);
    return directory;
  }
  const Found found(in, path, kFollowed);
  const int file = openat(found.place.folder(), found.place.name(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const directory = file < 0 ? nullptr : fdopendir(file);
  if (directory == nullptr) throw_os_error(in, errno, found.path);
  return directory;
}

// Every entry of a folder but "." and "..".
template <class F>
void each_entry(Interpreter& in, const Value& path, F&& take) {
  struct Folder {
    DIR* directory;
    ~Folder() { closedir(directory); }
  };
  const Folder folder{open_folder(in, path)};
  while (const dirent* entry = readdir(folder.directory)) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    in.poll();
    take(*entry);
  }
}

Value list_directory(Interpreter& in, const Args& args) {
  Value list = make_list(in);
  each_entry(in, args[0], [&](const dirent& entry) { list_append(in, as_list(list), path_text(in, entry.d_name)); });
  return list;
}

// (name, bits of the mode that say what it is or 0, inode) of each
Value scan_directory(Interpreter& in, const Args& args) {
  Value list = make_list(in);
  each_entry(in, args[0], [&](const dirent& entry) {
    list_append(in, as_list(list),
                make_tuple(in, {path_text(in, entry.d_name), Value::integer(DTTOIF(entry.d_type)),
                                Value::integer(static_cast<int64_t>(entry.d_ino))}));
  });
  return list;
}

Value current_directory(Interpreter& in, const Args&) {
  std::string path;
  if (files_of(in).current_folder(path) != 0) throw_os_error(in, errno);
  return path_text(in, path);
}

Value change_directory(Interpreter& in, const Args& args) {
  const Path path = path_argument(in, args[0]);
  check(in, files_of(in).enter_folder(path), path);
  return Value::none();
}

template <int Flags>
Value remove_name(Interpreter& in, const Args& args) {
  check_path(in, args);
  const Found found(in, args[0], kKept, args[1]);
  check(in, unlinkat(found.place.folder(), found.place.name(), Flags), found.path);
  return Value::none();
}

Value make_directory(Interpreter& in, const Args& args) {
  check_path(in, args);
  const Found found(in, args[0], kKept, args[2]);
  const mode_t mode = static_cast<mode_t>(int_argument(in, args[1]));
  check(in, mkdirat(found.place.folder(), found.place.name(), mode), found.path);
  return Value::none();
}

[[noreturn]] void throw_two_paths(Interpreter& in, int code, const Path& from, const Path& to) {
  const Value error_class(error_type(in, ErrorKind::OSError));
  throw Thrown(call(in, error_class,
                    {Value::integer(code), make_str(in, std::strerror(code)), path_name(in, from), Value::none(), path_name(in, to)}));
}

int link_name(int from_folder, const char* from, int to_folder, const char* to) {
  return linkat(from_folder, from, to_folder, to, 0);
}

template <int (*F)(int, const char*, int, const char*)>
Value by_places(Interpreter& in, const Args& args) {
  check_path(in, args);
  const Found from(in, args[0], kKept, args[2]), to(in, args[1], kKept, args[3]);
  if (F(from.place.folder(), from.place.name(), to.place.folder(), to.place.name()) != 0)
    throw_two_paths(in, errno, from.path, to.path);
  return Value::none();
}

Value make_link(Interpreter& in, const Args& args) {
  check_path(in, args);
  const Path target = path_argument(in, args[0]);
  const Found found(in, args[1], kKept, args[3]);
  if (!files_of(in).allows_link_to(target)) throw_two_paths(in, EACCES, target, found.path);
  if (symlinkat(target.c_str(), found.place.folder(), found.place.name()) != 0)
    throw_two_paths(in, errno, target, found.path);
  return Value::none();
}

Value read_link(Interpreter& in, const Args& args) {
  check_path(in, args);
  const Found found(in, args[0], kKept, args[1]);
  char target[PATH_MAX];
  const ssize_t size = readlinkat(found.place.folder(), found.place.name(), target, sizeof target);
  if (size < 0) throw_os_error(in, errno, found.path);
  const std::string_view text(target, static_cast<size_t>(size));
  return is_bytes(args[0]) ? make_bytes(in, text) : path_text(in, text);
}

Value real_path(Interpreter& in, const Args& args) {
  const Path path = path_argument(in, args[0]);
  std::string real;
  check(in, files_of(in).real_path(path, real), path);
  return path_text(in, real);
}

Value may_access(Interpreter& in, const Args& args) {
  check_path(in, args);
  const std::string path = seen_from(in, path_argument(in, args[0]), args[2]);
  const bool follows = truth(in, args[4]);
  const int flags = (truth(in, args[3]) ? AT_EACCESS : 0) | (follows ? 0 : AT_SYMLINK_NOFOLLOW);
  const int mode = static_cast<int>(int_argument(in, args[1]));
  Files::Place place;
  return Value::boolean(files_of(in).find(path, follows ? kFollowed : kKept, place) == 0 &&
                        faccessat(place.folder(), place.name(), mode, flags) == 0);
}

Value change_mode(Interpreter& in, const Args& args) {
  Files& files = files_of(in);
  const Found found(in, args[0], kFollowed);
  const mode_t mode = static_cast<mode_t>(int_argument(in, args[1]));
  if (!files.has_root()) {
    check(in, fchmodat(found.place.folder(), found.place.name(), mode, 0), found.path);
    return Value::none();
  }
  // By a descriptor: the name may be another file's by now. Below a root nobody gets another's rights.
  const int file = openat(found.place.folder(), found.place.name(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) throw_os_error(in, errno, found.path);
  const std::string itself = "/proc/self/fd/" + std::to_string(file);
  const int done = chmod(itself.c_str(), mode & 0777);  // not the script's: made here
  const int code = errno;
  close(file);
  if (done != 0) throw_os_error(in, code, found.path);
  return Value::none();
}

Value set_times(Interpreter& in, const Args& args) {
  const Found found(in, args[0], kFollowed);
  timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
  if (!args[1].is_none()) {
    const Value pair = tuple_from(in, args[1]);
    for (uint32_t i = 0; i < 2 && i < as_tuple(pair)->size; ++i) {
      const double t = real_argument(in, (*as_tuple(pair))[i]);
      times[i] = {static_cast<time_t>(t), static_cast<long>((t - static_cast<double>(static_cast<time_t>(t))) * 1e9)};
    }
  }
  const int flags = files_of(in).has_root() ? AT_SYMLINK_NOFOLLOW : 0;
  check(in, utimensat(found.place.folder(), found.place.name(), times, flags), found.path);
  return Value::none();
}

Value disk_space(Interpreter& in, const Args& args) {
  const Found found(in, args[0], kFollowed);
  const int file = openat(found.place.folder(), found.place.name(), O_PATH | O_CLOEXEC);
  if (file < 0) throw_os_error(in, errno, found.path);
  struct statvfs s {};
  const int done = fstatvfs(file, &s), code = errno;
  close(file);
  if (done != 0) throw_os_error(in, code, found.path);
  return make_tuple(in, {Value::integer(static_cast<int64_t>(s.f_blocks * s.f_frsize)),
                         Value::integer(static_cast<int64_t>(s.f_bavail * s.f_frsize))});
}

Value put_environment(Interpreter& in, const Args& args) {
  require(in.limits.environment, "the environment");
  if (setenv(path_argument(in, args[0]).c_str(), path_argument(in, args[1]).c_str(), 1) != 0) throw_os_error(in, errno);
  return Value::none();
}

Value unset_environment(Interpreter& in, const Args& args) {
  require(in.limits.environment, "the environment");
  if (unsetenv(path_argument(in, args[0]).c_str()) != 0) throw_os_error(in, errno);
  return Value::none();
}

Value environment(Interpreter& in) {
  Value dict = make_dict(in);
  for (char** entry = environ; in.limits.environment && entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    dict_set(in, as_dict(dict), path_text(in, text.substr(0, equals)), path_text(in, text.substr(equals + 1)));
  }
  return dict;
}

Value process_id(Interpreter& in, const Args&) {
  require(in.limits.processes, "processes");
  return Value::integer(getpid());
}
Value parent_process_id(Interpreter& in, const Args&) {
  require(in.limits.processes, "processes");
  return Value::integer(getppid());
}

// The numbers of the user and the group that the process runs as.
template <auto kNumber>
Value owner_number(Interpreter& in, const Args&) {
  require(in.limits.environment, "the environment");
  return Value::integer(kNumber());
}
Value processors(Interpreter&, const Args&) { return Value::integer(sysconf(_SC_NPROCESSORS_ONLN)); }
Value is_terminal(Interpreter& in, const Args& args) {
  return Value::boolean(isatty(small(in, args[0])) == 1);
}

Value terminal_size(Interpreter& in, const Args& args) {
  winsize size{};
  if (ioctl(small(in, args[0]), TIOCGWINSZ, &size) != 0) throw_os_error(in, errno);
  return make_tuple(in, {Value::integer(size.ws_col), Value::integer(size.ws_row)});
}

Value get_blocking(Interpreter& in, const Args& args) {
  const int flags = fcntl(small(in, args[0]), F_GETFL);
  if (flags < 0) throw_os_error(in, errno);
  return Value::boolean((flags & O_NONBLOCK) == 0);
}

Value set_blocking(Interpreter& in, const Args& args) {
  require(in.limits.files, "files");
  const int file = small(in, args[0]), flags = fcntl(file, F_GETFL);
  const int wanted = truth(in, args[1]) ? flags & ~O_NONBLOCK : flags | O_NONBLOCK;
  if (flags < 0 || fcntl(file, F_SETFL, wanted) < 0) throw_os_error(in, errno);
  return Value::none();
}

Value exit_now(Interpreter& in, const Args& args) {
  require(in.limits.processes, "processes");
  _exit(small(in, args[0]));
}

Value error_text(Interpreter& in, const Args& args) {
  return make_str(in, std::strerror(small(in, args[0])));
}

Value system_names(Interpreter& in, const Args&) {
  utsname names{};
  uname(&names);
  if (!in.limits.environment) names.nodename[0] = '\0';  // "" where it cannot be told
  return make_tuple(
      in, {make_str_lossy(in, names.sysname), make_str_lossy(in, names.nodename), make_str_lossy(in, names.release),
           make_str_lossy(in, names.version), make_str_lossy(in, names.machine)});
}

// --- bytes

Value random_bytes(Interpreter& in, const Args& args) {
  require(in.limits.entropy, "the system's random numbers");
  const int64_t size = int_argument(in, args[0]);
  if (size < 0) throw Error(ErrorKind::ValueError, "negative argument not allowed");
  Bytes* made = new_bytes(in, static_cast<size_t>(size));
  const Value held = Value::adopt(made);
  for (size_t done = 0; done < made->size;) {
    const ssize_t got = getrandom(made->data() + done, std::min<size_t>(made->size - done, 1 << 20), 0);
    if (got < 0 && errno != EINTR) throw_os_error(in, errno);
    if (got > 0) done += static_cast<size_t>(got);
  }
  return held;
}

Value open_descriptor(Interpreter& in, const Args& args) {
  const Path path = path_argument(in, args[0]);
  const int fd = files_of(in).open(path, small(in, args[1]),
                                   static_cast<mode_t>(small(in, args[2])));
  if (fd < 0) throw_os_error(in, errno, path);
  return Value::integer(fd);
}

Value close_descriptor(Interpreter& in, const Args& args) {
  if (files_of(in).close(descriptor(in, args[0])) != 0) throw_os_error(in, errno);
  return Value::none();
}

Value read_descriptor(Interpreter& in, const Args& args) {
  Files& files = files_of(in);
  const int64_t size = int_argument(in, args[1]);
  if (size < 0) throw_os_error(in, EINVAL);
  Bytes* made = new_bytes(in, static_cast<size_t>(size));
  const Value held = Value::adopt(made);
  ssize_t got;
  const int fd = descriptor(in, args[0]);
  if (!in.threads().alone() && files.owns(fd) && (fcntl(fd, F_GETFL) & O_NONBLOCK) == 0) wait_to_read(in, fd);
  while ((got = files.read(fd, made->data(), made->size)) < 0 && errno == EINTR) in.poll();  // handlers of signals
  if (got < 0) throw_os_error(in, errno);
  return static_cast<size_t>(got) == made->size ? held
                                                : make_bytes(in, made->view().substr(0, static_cast<size_t>(got)));
}

Value write_descriptor(Interpreter& in, const Args& args) {
  Files& files = files_of(in);
  const int fd = descriptor(in, args[0]);
  const BytesLike bytes(in, args[1]);  // another thread may run during the wait
  // As one write of the system, in pieces between which other threads run.
  size_t done = 0;
  for (;;) {
    const size_t left = bytes.view().size() - done, room = files.owns(fd) ? wait_to_write(in, fd, left) : left;
    const ssize_t put = files.write(fd, bytes.view().data() + done, room);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && done == 0) throw_os_error(in, errno);
    if (put < 0) break;
    done += static_cast<size_t>(put);
    if (static_cast<size_t>(put) < room || done == bytes.view().size()) break;
  }
  return Value::integer(static_cast<int64_t>(done));
}

Value seek_descriptor(Interpreter& in, const Args& args) {
  const off_t place = files_of(in).seek(descriptor(in, args[0]), int_argument(in, args[1]),
                                        small(in, args[2]));
  if (place < 0) throw_os_error(in, errno);
  return Value::integer(place);
}

Value sync_descriptor(Interpreter& in, const Args& args) {
  if (files_of(in).synchronize(descriptor(in, args[0])) != 0) throw_os_error(in, errno);
  return Value::none();
}

Value fspath(Interpreter& in, const Args& args) { return file_system_path(in, args[0]); }

const NativeDef kFunctions[] = {
    {"fspath(path)", fspath, "The path as str or bytes."},
    {"urandom(size, /)", random_bytes, "Random bytes of the system."},
    {"open(path, flags, mode=511)", open_descriptor, "Open a file; answers its number."},
    {"close(fd)", close_descriptor, "Close a file by its number."},
    {"read(fd, length, /)", read_descriptor, "Read up to length bytes."},
    {"write(fd, data, /)", write_descriptor, "Write bytes; answers how many."},
    {"lseek(fd, position, whence, /)", seek_descriptor, "Go to a place of a file."},
    {"fsync(fd)", sync_descriptor, "Wait until a file is on its disk."},
    {"stat(path, follow_symlinks, /)", status, "What the system knows of a file."},
    {"listdir(path, /)", list_directory, "The names in a folder."},
    {"scan(path, /)", scan_directory, "What is in a folder."},
    {"getcwd()", current_directory, "The current folder."},
    {"chdir(path)", change_directory, "Change the current folder."},
    {"rmdir(path, *, dir_fd=None)", remove_name<AT_REMOVEDIR>, "Remove an empty folder."},
    {"unlink(path, *, dir_fd=None)", remove_name<0>, "Remove a file."},
    {"remove(path, *, dir_fd=None)", remove_name<0>, "Remove a file."},
    {"mkdir(path, mode=511, *, dir_fd=None)", make_directory, "Make a folder."},
    {"rename(src, dst, *, src_dir_fd=None, dst_dir_fd=None)", by_places<renameat>, "Rename a file or folder."},
    {"replace(src, dst, *, src_dir_fd=None, dst_dir_fd=None)", by_places<renameat>, "Rename a file or folder."},
    {"link(src, dst, *, src_dir_fd=None, dst_dir_fd=None, follow_symlinks=True)", by_places<link_name>, "A second name for a file."},
    {"symlink(src, dst, target_is_directory=False, *, dir_fd=None)", make_link, "A symbolic link."},
    {"readlink(path, *, dir_fd=None)", read_link, "Where a symbolic link leads."},
    {"realpath(path, /)", real_path, "The path without links."},
    {"access(path, mode, *, dir_fd=None, effective_ids=False, follow_symlinks=True)", may_access, "May this program use the file?"},
    {"chmod(path, mode)", change_mode, "Set permissions."},
    {"utime(path, times, /)", set_times, "Set times of access and change."},
    {"disk_space(path, /)", disk_space, "Bytes of a disk, all and free."},
    {"putenv(name, value, /)", put_environment, "Set a variable of the environment."},
    {"unsetenv(name, /)", unset_environment, "Remove a variable of the environment."},
    {"getpid()", process_id, "The number of this process."},
    {"getppid()", parent_process_id, "The number of the parent process."},
    {"getuid()", owner_number<::getuid>, "The number of the user."},
    {"geteuid()", owner_number<::geteuid>, "The number of the user whose rights count."},
    {"getgid()", owner_number<::getgid>, "The number of the group."},
    {"getegid()", owner_number<::getegid>, "The number of the group whose rights count."},
    {"cpu_count()", processors, "How many processors there are."},
    {"isatty(fd, /)", is_terminal, "Is it a terminal?"},
    {"terminal_size(fd, /)", terminal_size, "Columns and lines of the terminal."},
    {"get_blocking(fd, /)", get_blocking, "Get the blocking mode of the file descriptor."},
    {"set_blocking(fd, blocking, /)", set_blocking, "Set the blocking mode of the file descriptor."},
    {"_exit(status)", exit_now, "End the process at once."},
    {"strerror(code, /)", error_text, "The text of an error number."},
    {"uname()", system_names, "Names of system and machine."},
};

}  // namespace

void fill_posix(Interpreter& in, Module& module) {
  for (const NativeDef& row : kFunctions) in.def(module, row.signature, row.doc, row.function);
  add_posix_files(in, module);
  add_posix_process(in, module);
  set_member(in, module, "environ", environment(in));
}

}  // namespace tessera::stdlib

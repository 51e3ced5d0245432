// _posix: the system calls behind os, os.path, shutil.
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

#include "lang/types/bytes.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"
#include "lang/objects/exception.h"

extern char** environ;

namespace tessera::stdlib {
namespace {

std::string path_argument(Interpreter& in, const Value& v) {
  std::string text;
  if (is_str(v)) {
    text = text_of(v);
  } else {
    const Value method = find_attr(in, v, intern(in, "__fspath__"));
    if (method.is_undefined()) {
      throw_error(ErrorKind::TypeError, "expected str, bytes or os.PathLike object, not %s",
                  std::string(type_of(in, v)->name->view()).c_str());
    }
    text = text_argument(in, call(in, method), "__fspath__() result");
  }
  if (text.find('\0') != std::string::npos) throw Error(ErrorKind::ValueError, "embedded null byte");
  return text;
}

void check(Interpreter& in, int result, const std::string& path) {
  if (result != 0) throw_os_error(in, errno, path);
}

void files(Interpreter& in) { require(in.limits.files, "files"); }

double seconds(const timespec& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9; }

// (mode, inode, device, links, user, group, size, times of access, change of content, change of state)
Value status(Interpreter& in, const Args& args) {
  files(in);
  struct stat s {};
  if (args[0].is_int()) {
    if (fstat(static_cast<int>(args[0].as_int()), &s) != 0) throw_os_error(in, errno);
  } else {
    const std::string path = path_argument(in, args[0]);
    check(in, truth(in, args[1]) ? stat(path.c_str(), &s) : lstat(path.c_str(), &s), path);
  }
  return make_tuple(
      in, {Value::integer(s.st_mode), Value::integer(static_cast<int64_t>(s.st_ino)),
           Value::integer(static_cast<int64_t>(s.st_dev)), Value::integer(static_cast<int64_t>(s.st_nlink)),
           Value::integer(s.st_uid), Value::integer(s.st_gid), Value::integer(s.st_size),
           Value::real(seconds(s.st_atim)), Value::real(seconds(s.st_mtim)), Value::real(seconds(s.st_ctim))});
}

Value list_directory(Interpreter& in, const Args& args) {
  files(in);
  const std::string path = path_argument(in, args[0]);
  DIR* directory = opendir(path.c_str());
  if (directory == nullptr) throw_os_error(in, errno, path);
  std::vector<std::string> names;
  while (const dirent* entry = readdir(directory)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  closedir(directory);
  Value list = make_list(in);
  for (const std::string& name : names) list_append(in, as_list(list), make_str_lossy(in, name));
  return list;
}

Value current_directory(Interpreter& in, const Args&) {
  files(in);
  char path[PATH_MAX];
  if (getcwd(path, sizeof path) == nullptr) throw_os_error(in, errno);
  return make_str_lossy(in, path);
}

template <int (*F)(const char*)>
Value by_path(Interpreter& in, const Args& args) {
  files(in);
  const std::string path = path_argument(in, args[0]);
  check(in, F(path.c_str()), path);
  return Value::none();
}

Value make_directory(Interpreter& in, const Args& args) {
  files(in);
  const std::string path = path_argument(in, args[0]);
  check(in, mkdir(path.c_str(), static_cast<mode_t>(int_argument(in, args[1]))), path);
  return Value::none();
}

template <int (*F)(const char*, const char*)>
Value by_paths(Interpreter& in, const Args& args) {
  files(in);
  const std::string from = path_argument(in, args[0]), to = path_argument(in, args[1]);
  if (F(from.c_str(), to.c_str()) != 0) {
    const Value error_class(error_type(in, ErrorKind::OSError));
    throw Thrown(call(in, error_class,
                      {Value::integer(errno), make_str(in, std::strerror(errno)), make_str_lossy(in, from),
                       Value::none(), make_str_lossy(in, to)}));
  }
  return Value::none();
}

Value read_link(Interpreter& in, const Args& args) {
  files(in);
  const std::string path = path_argument(in, args[0]);
  char target[PATH_MAX];
  const ssize_t size = readlink(path.c_str(), target, sizeof target);
  if (size < 0) throw_os_error(in, errno, path);
  return make_str_lossy(in, std::string_view(target, static_cast<size_t>(size)));
}

Value real_path(Interpreter& in, const Args& args) {
  files(in);
  const std::string path = path_argument(in, args[0]);
  char target[PATH_MAX];
  if (realpath(path.empty() ? "." : path.c_str(), target) == nullptr) throw_os_error(in, errno, path);
  return make_str_lossy(in, target);
}

Value may_access(Interpreter& in, const Args& args) {
  files(in);
  return Value::boolean(access(path_argument(in, args[0]).c_str(), static_cast<int>(int_argument(in, args[1]))) == 0);
}

Value change_mode(Interpreter& in, const Args& args) {
  files(in);
  const std::string path = path_argument(in, args[0]);
  check(in, chmod(path.c_str(), static_cast<mode_t>(int_argument(in, args[1]))), path);
  return Value::none();
}

Value set_times(Interpreter& in, const Args& args) {
  files(in);
  const std::string path = path_argument(in, args[0]);
  timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
  if (!args[1].is_none()) {
    const Value pair = tuple_from(in, args[1]);
    for (uint32_t i = 0; i < 2 && i < as_tuple(pair)->size; ++i) {
      const double t = real_argument(in, (*as_tuple(pair))[i]);
      times[i] = {static_cast<time_t>(t), static_cast<long>((t - static_cast<double>(static_cast<time_t>(t))) * 1e9)};
    }
  }
  check(in, utimensat(AT_FDCWD, path.c_str(), times, 0), path);
  return Value::none();
}

Value copy_file(Interpreter& in, const Args& args) {
  files(in);
  const std::string from = path_argument(in, args[0]), to = path_argument(in, args[1]);
  const int source = open(from.c_str(), O_RDONLY | O_CLOEXEC);
  if (source < 0) throw_os_error(in, errno, from);
  struct stat s {};
  if (fstat(source, &s) == 0 && S_ISDIR(s.st_mode)) {
    close(source);
    throw_os_error(in, EISDIR, from);
  }
  const int target = open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (target < 0) {
    const int code = errno;
    close(source);
    throw_os_error(in, code, to);
  }
  std::vector<char> block(1 << 16);
  int failed = 0;
  for (ssize_t got; failed == 0 && (got = read(source, block.data(), block.size())) != 0;) {
    if (got < 0) {
      failed = errno;
      break;
    }
    for (ssize_t done = 0; done < got;) {
      const ssize_t put = write(target, block.data() + done, static_cast<size_t>(got - done));
      if (put < 0) {
        failed = errno;
        break;
      }
      done += put;
    }
  }
  close(source);
  if (close(target) != 0 && failed == 0) failed = errno;
  if (failed != 0) throw_os_error(in, failed, to);
  return Value::none();
}

Value disk_space(Interpreter& in, const Args& args) {
  files(in);
  struct statvfs s {};
  const std::string path = path_argument(in, args[0]);
  check(in, statvfs(path.c_str(), &s), path);
  return make_tuple(in, {Value::integer(static_cast<int64_t>(s.f_blocks * s.f_frsize)),
                         Value::integer(static_cast<int64_t>(s.f_bavail * s.f_frsize))});
}

Value put_environment(Interpreter& in, const Args& args) {
  require(in.limits.environment, "the environment");
  setenv(std::string(text_argument(in, args[0], "name")).c_str(),
         std::string(text_argument(in, args[1], "value")).c_str(), 1);
  return Value::none();
}

Value unset_environment(Interpreter& in, const Args& args) {
  require(in.limits.environment, "the environment");
  unsetenv(std::string(text_argument(in, args[0], "name")).c_str());
  return Value::none();
}

Value environment(Interpreter& in) {
  Value dict = make_dict(in);
  for (char** entry = environ; in.limits.environment && entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    dict_set(in, as_dict(dict), make_str_lossy(in, text.substr(0, equals)),
             make_str_lossy(in, text.substr(equals + 1)));
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
Value processors(Interpreter&, const Args&) { return Value::integer(sysconf(_SC_NPROCESSORS_ONLN)); }
Value is_terminal(Interpreter& in, const Args& args) {
  return Value::boolean(isatty(static_cast<int>(int_argument(in, args[0]))) == 1);
}

Value terminal_size(Interpreter& in, const Args& args) {
  winsize size{};
  if (ioctl(static_cast<int>(int_argument(in, args[0])), TIOCGWINSZ, &size) != 0) throw_os_error(in, errno);
  return make_tuple(in, {Value::integer(size.ws_col), Value::integer(size.ws_row)});
}

Value exit_now(Interpreter& in, const Args& args) {
  require(in.limits.processes, "processes");
  _exit(static_cast<int>(int_argument(in, args[0])));
}

Value error_text(Interpreter& in, const Args& args) {
  return make_str(in, std::strerror(static_cast<int>(int_argument(in, args[0]))));
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
  files(in);
  const std::string path = path_argument(in, args[0]);
  const int fd = open(path.c_str(), static_cast<int>(int_argument(in, args[1])) | O_CLOEXEC,
                      static_cast<mode_t>(int_argument(in, args[2])));
  if (fd < 0) throw_os_error(in, errno, path);
  return Value::integer(fd);
}

Value close_descriptor(Interpreter& in, const Args& args) {
  files(in);
  if (close(static_cast<int>(int_argument(in, args[0]))) != 0) throw_os_error(in, errno);
  return Value::none();
}

Value read_descriptor(Interpreter& in, const Args& args) {
  files(in);
  const int64_t size = int_argument(in, args[1]);
  if (size < 0) throw_os_error(in, EINVAL);
  Bytes* made = new_bytes(in, static_cast<size_t>(size));
  const Value held = Value::adopt(made);
  ssize_t got;
  do {
    got = read(static_cast<int>(int_argument(in, args[0])), made->data(), made->size);
  } while (got < 0 && errno == EINTR);
  if (got < 0) throw_os_error(in, errno);
  return static_cast<size_t>(got) == made->size ? held
                                                : make_bytes(in, made->view().substr(0, static_cast<size_t>(got)));
}

Value write_descriptor(Interpreter& in, const Args& args) {
  files(in);
  const int fd = static_cast<int>(int_argument(in, args[0]));
  const BytesLike bytes(in, args[1]);
  ssize_t put;
  do {
    put = write(fd, bytes.view().data(), bytes.view().size());
  } while (put < 0 && errno == EINTR);
  if (put < 0) throw_os_error(in, errno);
  return Value::integer(put);
}

Value seek_descriptor(Interpreter& in, const Args& args) {
  files(in);
  const off_t place = lseek(static_cast<int>(int_argument(in, args[0])), int_argument(in, args[1]),
                            static_cast<int>(int_argument(in, args[2])));
  if (place < 0) throw_os_error(in, errno);
  return Value::integer(place);
}

Value sync_descriptor(Interpreter& in, const Args& args) {
  files(in);
  if (fsync(static_cast<int>(int_argument(in, args[0]))) != 0) throw_os_error(in, errno);
  return Value::none();
}

const NativeDef kFunctions[] = {
    {"urandom(size, /)", random_bytes, "Random bytes of the system."},
    {"open(path, flags, mode=511)", open_descriptor, "Open a file; answers its number."},
    {"close(fd)", close_descriptor, "Close a file by its number."},
    {"read(fd, length, /)", read_descriptor, "Read up to length bytes."},
    {"write(fd, data, /)", write_descriptor, "Write bytes; answers how many."},
    {"lseek(fd, position, whence, /)", seek_descriptor, "Go to a place of a file."},
    {"fsync(fd)", sync_descriptor, "Wait until a file is on its disk."},
    {"stat(path, follow_symlinks, /)", status, "What the system knows of a file."},
    {"listdir(path, /)", list_directory, "The names in a folder."},
    {"getcwd()", current_directory, "The current folder."},
    {"chdir(path)", by_path<chdir>, "Change the current folder."},
    {"rmdir(path)", by_path<rmdir>, "Remove an empty folder."},
    {"unlink(path)", by_path<unlink>, "Remove a file."},
    {"remove(path)", by_path<unlink>, "Remove a file."},
    {"mkdir(path, mode, /)", make_directory, "Make a folder."},
    {"rename(src, dst, /)", by_paths<rename>, "Rename a file or folder."},
    {"link(src, dst, /)", by_paths<link>, "A second name for a file."},
    {"symlink(src, dst, /)", by_paths<symlink>, "A symbolic link."},
    {"readlink(path)", read_link, "Where a symbolic link leads."},
    {"realpath(path, /)", real_path, "The path without links."},
    {"access(path, mode)", may_access, "May this program use the file?"},
    {"chmod(path, mode)", change_mode, "Set permissions."},
    {"utime(path, times, /)", set_times, "Set times of access and change."},
    {"copy_file(src, dst, /)", copy_file, "Copy a file's content."},
    {"disk_space(path, /)", disk_space, "Bytes of a disk, all and free."},
    {"putenv(name, value, /)", put_environment, "Set a variable of the environment."},
    {"unsetenv(name, /)", unset_environment, "Remove a variable of the environment."},
    {"getpid()", process_id, "The number of this process."},
    {"getppid()", parent_process_id, "The number of the parent process."},
    {"cpu_count()", processors, "How many processors there are."},
    {"isatty(fd, /)", is_terminal, "Is it a terminal?"},
    {"terminal_size(fd, /)", terminal_size, "Columns and lines of the terminal."},
    {"exit_now(status, /)", exit_now, "End the process at once."},
    {"strerror(code, /)", error_text, "The text of an error number."},
    {"uname()", system_names, "Names of system and machine."},
};

}  // namespace

void fill_posix(Interpreter& in, Module& module) {
  for (const NativeDef& row : kFunctions) in.def(module, row.signature, row.doc, row.function);
  set_member(in, module, "environ", environment(in));
}

}  // namespace tessera::stdlib

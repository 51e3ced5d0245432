// compile: small (the system calls take longer)
#include "stdlib/python/native/open_mode.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "lang/core/names.h"
#include "lang/objects/exception.h"
#include "lang/types/bytes.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

int open_flags(const Mode& mode) {
  const int access = (mode.plus ? O_RDWR : mode.kind == 'r' ? O_RDONLY : O_WRONLY) | O_CLOEXEC;
  switch (mode.kind) {
    case 'w': return access | O_CREAT | O_TRUNC;
    case 'x': return access | O_CREAT | O_EXCL;
    case 'a': return access | O_CREAT | O_APPEND;
    default: return access;
  }
}

// OSError whose filename is the object that the script gave.
[[noreturn]] void throw_with_name(Interpreter& in, int code, const Value& name) {
  throw Thrown(call(in, Value(error_type(in, ErrorKind::OSError)),
                    {Value::integer(code), make_str(in, std::strerror(code)), name}));
}

// The number of an open file that a script gives instead of a path.
int open_number(Interpreter& in, const Value& number) {
  if (number.is_bool()) in.warn(ErrorKind::RuntimeWarning, "bool is used as a file descriptor");
  const int64_t fd = index(in, number);
  if (fd < 0) throw Error(ErrorKind::ValueError, "negative file descriptor");
  if (fd > INT32_MAX) throw Error(ErrorKind::OverflowError, "Python int too large to convert to C int");
  if (!files_of(in).owns(static_cast<int>(fd)) || fcntl(static_cast<int>(fd), F_GETFD) < 0) throw_os_error(in, errno);
  return static_cast<int>(fd);
}

int open_by(Interpreter& in, const Value& opener, const Value& file, int flags) {
  const Value made = call(in, opener, {file, Value::integer(flags)});
  if (!is_index(in, made)) throw Error(ErrorKind::TypeError, "expected integer from opener");
  const int64_t fd = index(in, made);
  if (fd < 0) throw_error(ErrorKind::ValueError, "opener returned %lld", static_cast<long long>(fd));
  if (!files_of(in).owns(static_cast<int>(fd))) throw_os_error(in, EBADF);
  return static_cast<int>(fd);
}

}  // namespace

Mode parse_mode(const std::string& text) {
  int kinds = 0, pluses = 0, texts = 0;
  Mode mode;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (text.find(c, i + 1) != std::string::npos || std::string_view("rwxabt+").find(c) == std::string_view::npos) {
      throw_error(ErrorKind::ValueError, "invalid mode: '%s'", text.c_str());
    }
    if (c == 'b') mode.binary = true;
    if (c == '+') ++pluses;
    else if (c == 't') ++texts;
    else if (c != 'b') {
      ++kinds;
      mode.kind = c;
    }
  }
  if (mode.binary && texts != 0) throw Error(ErrorKind::ValueError, "can't have text and binary mode at once");
  if (kinds != 1) {
    throw Error(ErrorKind::ValueError,
                kinds == 0 ? "Must have exactly one of create/read/write/append mode and at most one plus"
                           : "must have exactly one of create/read/write/append mode");
  }
  mode.plus = pluses > 0;
  return mode;
}

Mode parse_raw_mode(const std::string& text) {
  int kinds = 0, pluses = 0;
  Mode mode;
  mode.binary = true;
  for (const char c : text) {
    if (c == '+') ++pluses;
    else if (c == 'r' || c == 'w' || c == 'x' || c == 'a') ++kinds, mode.kind = c;
    else if (c != 'b') throw_error(ErrorKind::ValueError, "invalid mode: %.200s", text.c_str());
  }
  if (kinds != 1 || pluses > 1) {
    throw Error(ErrorKind::ValueError, "Must have exactly one of create/read/write/append mode and at most one plus");
  }
  mode.plus = pluses > 0;
  return mode;
}

Opened open_descriptor(Interpreter& in, const Value& file, const Mode& mode, bool closefd, const Value& opener) {
  Opened made;
  made.name = file;
  if (is_index(in, file)) {
    made.fd = open_number(in, file);
    made.owned = closefd;
  } else {
    if (!is_str(file) && !is_bytes(file)) made.name = path_name(in, path_argument(in, file));
    const std::string path = path_argument(in, made.name);
    if (!closefd) throw Error(ErrorKind::ValueError, "Cannot use closefd=False with file name");
    const int flags = open_flags(mode);
    made.fd = opener.is_none() ? files_of(in).open(path, flags) : open_by(in, opener, made.name, flags);
    if (made.fd < 0) throw_with_name(in, errno, made.name);
  }
  struct stat status {};
  if (files_of(in).status(made.fd, &status) == 0 && S_ISDIR(status.st_mode)) {
    if (!is_index(in, file)) files_of(in).close(made.fd);
    throw_with_name(in, EISDIR, made.name);
  }
  return made;
}

}  // namespace tessera::stdlib

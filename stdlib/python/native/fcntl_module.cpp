// fcntl: settings of open files, requests to devices, and locks between processes.
// compile: small (the system calls take longer)
#include <fcntl.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "lang/vm/threads.h"
#include "lang/types/bytes.h"
#include "stdlib/python/native/descriptors.h"
#include "stdlib/python/native/named_numbers.h"
#include "stdlib/python/native/processes.h"

namespace tessera::stdlib {
namespace {

constexpr NamedNumber kNumbers[] = {
    TS_NUMBER(F_DUPFD),       TS_NUMBER(F_DUPFD_CLOEXEC), TS_NUMBER(F_GETFD),      TS_NUMBER(F_SETFD),      TS_NUMBER(F_GETFL),
    TS_NUMBER(F_SETFL),       TS_NUMBER(F_GETLK),         TS_NUMBER(F_SETLK),      TS_NUMBER(F_SETLKW),     TS_NUMBER(F_OFD_GETLK),
    TS_NUMBER(F_OFD_SETLK),   TS_NUMBER(F_OFD_SETLKW),    TS_NUMBER(F_GETOWN),     TS_NUMBER(F_SETOWN),     TS_NUMBER(F_GETSIG),
    TS_NUMBER(F_SETSIG),      TS_NUMBER(F_RDLCK),         TS_NUMBER(F_WRLCK),      TS_NUMBER(F_UNLCK),      TS_NUMBER(F_SETLEASE),
    TS_NUMBER(F_GETLEASE),    TS_NUMBER(F_NOTIFY),        TS_NUMBER(F_SETPIPE_SZ), TS_NUMBER(F_GETPIPE_SZ), TS_NUMBER(F_ADD_SEALS),
    TS_NUMBER(F_GET_SEALS),   TS_NUMBER(F_SEAL_SEAL),     TS_NUMBER(F_SEAL_SHRINK), TS_NUMBER(F_SEAL_GROW), TS_NUMBER(F_SEAL_WRITE),
    TS_NUMBER(FD_CLOEXEC),    TS_NUMBER(FASYNC),          TS_NUMBER(LOCK_SH),      TS_NUMBER(LOCK_EX),      TS_NUMBER(LOCK_NB),
    TS_NUMBER(LOCK_UN),       TS_NUMBER(DN_ACCESS),       TS_NUMBER(DN_MODIFY),    TS_NUMBER(DN_CREATE),    TS_NUMBER(DN_DELETE),
    TS_NUMBER(DN_RENAME),     TS_NUMBER(DN_ATTRIB),       TS_NUMBER(DN_MULTISHOT),
};

constexpr size_t kLargestArgument = 1024;  // bytes

// Memory for the kernel to read and write. A request can write past what the script passed, up to any struct's size.
struct Argument {
  char bytes[2 * kLargestArgument] = {};
  size_t size = 0;
};

void copy_argument(std::string_view from, Argument& argument, const char* function) {
  if (from.size() > kLargestArgument) throw_error(ErrorKind::ValueError, "%s string arg too long", function);
  memcpy(argument.bytes, from.data(), from.size());
  argument.size = from.size();
}

// Calls until no signal interrupts the call; a handler may raise.
template <class Call>
int uninterrupted(Interpreter& in, Call&& call) {
  for (;;) {
    const int answer = call();
    if (answer >= 0) return answer;
    if (errno != EINTR) throw_os_error(in, errno);
    in.poll();
  }
}

Value control(Interpreter& in, const Args& args) {
  require_processes(in);
  const int fd = descriptor_of(in, args[0]), command = small(in, args[1]);
  if (is_str(args[2]) || is_bytes_like(in, args[2])) {
    Argument argument;
    copy_argument(is_str(args[2]) ? text_of(args[2]) : BytesLike(in, args[2]).view(), argument, "fcntl");
    uninterrupted(in, [&] { return fcntl(fd, command, argument.bytes); });
    return make_bytes(in, {argument.bytes, argument.size});
  }
  const int64_t number = int_argument(in, args[2]);
  return Value::integer(uninterrupted(in, [&] { return fcntl(fd, command, number); }));
}

Value request(Interpreter& in, const Args& args) {
  require_processes(in);
  const int fd = descriptor_of(in, args[0]);
  const auto code = static_cast<unsigned long>(static_cast<uint32_t>(int_argument(in, args[1])));
  if (!is_str(args[2]) && !is_bytes_like(in, args[2])) {
    const int64_t number = int_argument(in, args[2]);
    return Value::integer(uninterrupted(in, [&] { return ioctl(fd, code, number); }));
  }
  Argument argument;
  copy_argument(is_str(args[2]) ? text_of(args[2]) : BytesLike(in, args[2]).view(), argument, "ioctl");
  Buffer target;
  const bool in_place = truth(in, args[3]) && !is_str(args[2]) && !is_bytes(args[2]) && find_writable(in, args[2], target);
  const int answer = uninterrupted(in, [&] { return ioctl(fd, code, argument.bytes); });
  if (!in_place) return make_bytes(in, {argument.bytes, argument.size});
  const PinnedBuffer memory(in, args[2], true);
  memcpy(const_cast<char*>(memory.get().data), argument.bytes, std::min(argument.size, memory.get().size));
  return Value::integer(answer);
}

// Takes a lock: `attempt` never waits, so that limits and Ctrl-C hold while another process has it.
template <class Attempt>
Value take_lock(Interpreter& in, bool waits, Attempt&& attempt) {
  constexpr int kLongest = 5'000;  // microseconds between two attempts
  for (int pause = 50;; pause = std::min(2 * pause, kLongest)) {
    if (attempt() == 0) return Value::none();
    if (errno != EINTR && !(waits && (errno == EWOULDBLOCK || errno == EACCES))) throw_os_error(in, errno);
    in.poll();
    in.threads().sleep_until(Threads::Clock::now() + std::chrono::microseconds(pause));
  }
}

Value lock_file(Interpreter& in, const Args& args) {
  require_processes(in);
  const int fd = descriptor_of(in, args[0]), operation = small(in, args[1]);
  return take_lock(in, (operation & LOCK_NB) == 0, [&] { return flock(fd, operation | LOCK_NB); });
}

Value lock_range(Interpreter& in, const Args& args) {
  require_processes(in);
  const int fd = descriptor_of(in, args[0]), operation = small(in, args[1]);
  struct flock range {};
  if (operation == LOCK_UN) range.l_type = F_UNLCK;
  else if (operation & LOCK_SH) range.l_type = F_RDLCK;
  else if (operation & LOCK_EX) range.l_type = F_WRLCK;
  else throw Error(ErrorKind::ValueError, "unrecognized lockf argument");
  range.l_len = int_argument(in, args[2]);
  range.l_start = int_argument(in, args[3]);
  range.l_whence = static_cast<short>(small(in, args[4]));
  return take_lock(in, (operation & LOCK_NB) == 0, [&] { return fcntl(fd, F_SETLK, &range); });
}

const NativeDef kFunctions[] = {
    {"fcntl(fd, cmd, arg=0, /)", control, "A setting of an open file."},
    {"ioctl(fd, request, arg=0, mutate_flag=True, /)", request, "A request to a device."},
    {"flock(fd, operation, /)", lock_file, "Lock a whole file, or release it."},
    {"lockf(fd, cmd, len=0, start=0, whence=0, /)", lock_range, "Lock a part of a file, or release it."},
};

}  // namespace

void fill_fcntl(Interpreter& in, Module& module) {
  set_numbers(in, module, kNumbers);
  for (const NativeDef& row : kFunctions) in.def(module, row.signature, row.doc, row.function);
}

}  // namespace tessera::stdlib

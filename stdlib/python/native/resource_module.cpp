// _resource: limits of the process and what it has used; the module resource is built on it.
// compile: small (the system calls take longer)
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "stdlib/python/native/descriptors.h"
#include "stdlib/python/native/named_numbers.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/processes.h"

namespace tessera::stdlib {
namespace {

constexpr NamedNumber kNumbers[] = {
    TS_NUMBER(RLIMIT_AS),      TS_NUMBER(RLIMIT_CORE),   TS_NUMBER(RLIMIT_CPU),
    TS_NUMBER(RLIMIT_DATA),      TS_NUMBER(RLIMIT_FSIZE),   TS_NUMBER(RLIMIT_MEMLOCK), TS_NUMBER(RLIMIT_MSGQUEUE),
    TS_NUMBER(RLIMIT_NICE),      TS_NUMBER(RLIMIT_NOFILE),  TS_NUMBER(RLIMIT_NPROC),  TS_NUMBER(RLIMIT_RSS),
    TS_NUMBER(RLIMIT_RTPRIO),    TS_NUMBER(RLIMIT_RTTIME),  TS_NUMBER(RLIMIT_SIGPENDING), TS_NUMBER(RLIMIT_STACK),
    {"RLIMIT_OFILE", RLIMIT_NOFILE}, TS_NUMBER(RUSAGE_SELF), TS_NUMBER(RUSAGE_CHILDREN), TS_NUMBER(RUSAGE_THREAD),
};

double seconds(const timeval& time) { return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec); }

Value usage(Interpreter& in, const Args& args) {
  rusage u{};
  if (getrusage(static_cast<decltype(RUSAGE_SELF)>(int_argument(in, args[0])), &u) != 0) {
    if (errno == EINVAL) throw Error(ErrorKind::ValueError, "invalid who parameter");
    throw_os_error(in, errno);
  }
  const Value list = make_list(in);
  for (const timeval& time : {u.ru_utime, u.ru_stime}) list_append(in, as_list(list), Value::real(seconds(time)));
  for (const long number : {u.ru_maxrss, u.ru_ixrss, u.ru_idrss, u.ru_isrss, u.ru_minflt, u.ru_majflt, u.ru_nswap, u.ru_inblock,
                            u.ru_oublock, u.ru_msgsnd, u.ru_msgrcv, u.ru_nsignals, u.ru_nvcsw, u.ru_nivcsw})
    list_append(in, as_list(list), Value::integer(number));
  return list;
}

// (pid, resource, None or the new pair as ints): the limits before.
Value limits(Interpreter& in, const Args& args) {
  require_processes(in);
  const auto what = static_cast<__rlimit_resource>(int_argument(in, args[1]));
  // As CPython does: a write beyond the limit of a file's size is an OSError then, and does not end the process.
  if (what == RLIMIT_FSIZE) std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{}, after{};
  const bool sets = !args[2].is_none();
  if (sets) after = {static_cast<rlim_t>(int_argument(in, args[2])), static_cast<rlim_t>(int_argument(in, args[3]))};
  if (prlimit(static_cast<pid_t>(int_argument(in, args[0])), what, sets ? &after : nullptr, &before) != 0) {
    if (errno == EINVAL) throw Error(ErrorKind::ValueError, "current limit exceeds maximum limit");
    if (errno == EPERM && sets && int_argument(in, args[0]) == 0)
      throw Error(ErrorKind::ValueError, "not allowed to raise maximum limit");
    throw_os_error(in, errno);
  }
  return make_tuple(in, {Value::integer(static_cast<int64_t>(before.rlim_cur)), Value::integer(static_cast<int64_t>(before.rlim_max))});
}

const NativeDef kFunctions[] = {
    {"usage(who, /)", usage},
    {"limits(pid, resource, soft, hard, /)", limits},
};

}  // namespace

void fill_resource(Interpreter& in, Module& module) {
  set_numbers(in, module, kNumbers);
  set_member(in, module, "RLIM_INFINITY", Value::integer(-1));  // as limits() answers the largest number
  set_member(in, module, "RLIM_NLIMITS", Value::integer(RLIM_NLIMITS));
  for (const NativeDef& row : kFunctions) in.def(module, row.signature, row.doc, row.function);
}

}  // namespace tessera::stdlib

// _posix: this process as the system sees it (times, priority, processors, groups, settings of the system), and other programs in its place.
// compile: small (the system calls take longer)
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "lang/types/bytes.h"
#include "stdlib/python/native/posix_parts.h"
#include "stdlib/python/native/processes.h"

extern char** environ;

namespace tessera::stdlib {
namespace {

Value process_times(Interpreter& in, const Args&) {
  require(in.limits.clock, "the clock");
  tms t{};
  const clock_t now = times(&t);
  const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  const auto seconds = [&](clock_t count) { return Value::real(static_cast<double>(count) / ticks); };
  return make_tuple(in, {seconds(t.tms_utime), seconds(t.tms_stime), seconds(t.tms_cutime), seconds(t.tms_cstime), seconds(now)});
}

Value add_niceness(Interpreter& in, const Args& args) {
  require_processes(in);
  errno = 0;
  const int made = nice(small(in, args[0]));
  if (made == -1 && errno != 0) throw_os_error(in, errno);
  return Value::integer(made);
}

Value get_priority(Interpreter& in, const Args& args) {
  require_processes(in);
  errno = 0;
  const int found = getpriority(static_cast<__priority_which_t>(small(in, args[0])), static_cast<id_t>(small(in, args[1])));
  if (errno != 0) throw_os_error(in, errno);
  return Value::integer(found);
}
Value set_priority(Interpreter& in, const Args& args) {
  require_processes(in);
  return checked_none(in, setpriority(static_cast<__priority_which_t>(small(in, args[0])), static_cast<id_t>(small(in, args[1])),
                              small(in, args[2])));
}

// --- processors

Value get_affinity(Interpreter& in, const Args& args) {
  require_processes(in);
  cpu_set_t set;
  CPU_ZERO(&set);
  checked(in, sched_getaffinity(small(in, args[0]), sizeof set, &set));
  const Value list = make_list(in);
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &set)) list_append(in, as_list(list), Value::integer(i));
  return list;
}

Value set_affinity(Interpreter& in, const Args& args) {
  require_processes(in);
  cpu_set_t set;
  CPU_ZERO(&set);
  const Value list = list_from(in, args[1]);
  for (const Value& item : *as_list(list)) {
    const int64_t number = int_argument(in, item);
    if (number < 0) throw Error(ErrorKind::ValueError, "negative CPU number");
    if (number >= CPU_SETSIZE) throw Error(ErrorKind::OverflowError, "CPU number too large");
    CPU_SET(static_cast<size_t>(number), &set);
  }
  return checked_none(in, sched_setaffinity(small(in, args[0]), sizeof set, &set));
}

Value yield_processor(Interpreter& in, const Args&) { return checked_none(in, sched_yield()); }
Value get_scheduler(Interpreter& in, const Args& args) {
  require_processes(in);
  return checked(in, sched_getscheduler(small(in, args[0])));
}
Value get_scheduler_priority(Interpreter& in, const Args& args) {
  require_processes(in);
  sched_param parameters{};
  checked(in, sched_getparam(small(in, args[0]), &parameters));
  return Value::integer(parameters.sched_priority);
}
Value set_scheduler(Interpreter& in, const Args& args) {
  require_processes(in);
  sched_param parameters{};
  parameters.sched_priority = small(in, args[2]);
  if (args[1].is_none()) return checked_none(in, sched_setparam(small(in, args[0]), &parameters));
  return checked_none(in, sched_setscheduler(small(in, args[0]), small(in, args[1]), &parameters));
}
template <int (*F)(int)>
Value priority_limit(Interpreter& in, const Args& args) {
  return checked(in, F(small(in, args[0])));
}
Value scheduler_interval(Interpreter& in, const Args& args) {
  require_processes(in);
  timespec t{};
  checked(in, sched_rr_get_interval(small(in, args[0]), &t));
  return Value::real(static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9);
}

// --- groups and sessions

Value get_groups(Interpreter& in, const Args&) {
  require_processes(in);
  std::vector<gid_t> groups(65536);
  const int count = getgroups(static_cast<int>(groups.size()), groups.data());
  checked(in, count);
  const Value list = make_list(in);
  for (int i = 0; i < count; ++i) list_append(in, as_list(list), Value::integer(groups[static_cast<size_t>(i)]));
  return list;
}

Value set_groups(Interpreter& in, const Args& args) {
  require_processes(in);
  std::vector<gid_t> groups;
  if (!is_list(args[0]) && !is_tuple(args[0]) && type_lookup(type_of(in, args[0]), intern(in, "__getitem__")).is_undefined())
    throw Error(ErrorKind::TypeError, "setgroups argument must be a sequence");
  if (length(in, args[0]) > 65536) throw Error(ErrorKind::ValueError, "too many groups");
  const Value list = list_from(in, args[0]);
  for (const Value& item : *as_list(list)) groups.push_back(static_cast<gid_t>(int_argument(in, item)));
  return checked_none(in, setgroups(groups.size(), groups.data()));
}

Value group_list(Interpreter& in, const Args& args) {
  require_processes(in);
  int count = 65536;
  std::vector<gid_t> groups(static_cast<size_t>(count));
  const std::string user(text_argument(in, args[0], "user"));
  if (getgrouplist(user.c_str(), static_cast<gid_t>(int_argument(in, args[1])), groups.data(), &count) < 0) throw_os_error(in, EINVAL);
  const Value list = make_list(in);
  for (int i = 0; i < count; ++i) list_append(in, as_list(list), Value::integer(groups[static_cast<size_t>(i)]));
  return list;
}

Value init_groups(Interpreter& in, const Args& args) {
  require_processes(in);
  return checked_none(in, initgroups(std::string(text_argument(in, args[0], "username")).c_str(), static_cast<gid_t>(int_argument(in, args[1]))));
}

template <auto F>
Value three_numbers(Interpreter& in, const Args&) {
  require_processes(in);
  uint32_t a, b, c;
  checked(in, F(&a, &b, &c));
  return make_tuple(in, {Value::integer(a), Value::integer(b), Value::integer(c)});
}

// A system call of so many ids, which are -1 where they stay.
uint32_t id_argument(Interpreter& in, const Value& v) {
  const int64_t id = int_argument(in, v);
  if (id < -1) throw Error(ErrorKind::OverflowError, "uid is less than minimum");
  if (id > UINT32_MAX) throw Error(ErrorKind::OverflowError, "uid is greater than maximum");
  return static_cast<uint32_t>(id);
}
template <auto F>
Value set_id(Interpreter& in, const Args& args) {
  require_processes(in);
  return checked_none(in, F(id_argument(in, args[0])));
}
template <auto F>
Value set_two_ids(Interpreter& in, const Args& args) {
  require_processes(in);
  return checked_none(in, F(id_argument(in, args[0]), id_argument(in, args[1])));
}
template <auto F>
Value set_three_ids(Interpreter& in, const Args& args) {
  require_processes(in);
  return checked_none(in, F(id_argument(in, args[0]), id_argument(in, args[1]), id_argument(in, args[2])));
}
template <auto F>
Value of_process(Interpreter& in, const Args& args) {
  require_processes(in);
  return checked(in, F(small(in, args[0])));
}
Value own_group(Interpreter& in, const Args&) {
  require_processes(in);
  return Value::integer(getpgrp());
}
Value new_session(Interpreter& in, const Args&) {
  require_processes(in);
  return checked_none(in, setsid());
}
Value set_group(Interpreter& in, const Args& args) {
  require_processes(in);
  return checked_none(in, setpgid(small(in, args[0]), small(in, args[1])));
}
Value kill_group(Interpreter& in, const Args& args) {
  require_processes(in);
  return checked_none(in, killpg(small(in, args[0]), small(in, args[1])));
}
Value foreground_group(Interpreter& in, const Args& args) {
  require_processes(in);
  return checked(in, tcgetpgrp(small(in, args[0])));
}
Value set_foreground_group(Interpreter& in, const Args& args) {
  require_processes(in);
  return checked_none(in, tcsetpgrp(small(in, args[0]), small(in, args[1])));
}
Value login_name(Interpreter& in, const Args&) {
  require_processes(in);
  const char* const name = getlogin();
  if (name == nullptr) throw_os_error(in, errno);
  return make_str_lossy(in, name);
}

// --- settings of the system

Value system_setting(Interpreter& in, const Args& args) {
  errno = 0;
  const long value = sysconf(small(in, args[0]));
  if (value == -1 && errno != 0) throw_os_error(in, errno);
  return Value::integer(value);
}
Value path_setting(Interpreter& in, const Args& args) {
  require_processes(in);
  errno = 0;
  const int name = small(in, args[1]);
  const bool by_number = is_index(in, args[0]);
  const std::string path = by_number ? std::string() : path_argument(in, args[0]);
  const long value = by_number ? fpathconf(small(in, args[0]), name) : pathconf(path.c_str(), name);
  if (value == -1 && errno != 0) throw_os_error(in, errno);
  return Value::integer(value);
}
Value text_setting(Interpreter& in, const Args& args) {
  char text[4096];
  errno = 0;
  const size_t size = confstr(small(in, args[0]), text, sizeof text);
  if (size == 0 && errno != 0) throw_os_error(in, errno);
  return size == 0 ? Value::none() : make_str_lossy(in, text);
}
Value load_average(Interpreter& in, const Args&) {
  require(in.limits.environment, "the environment");
  double loads[3];
  if (getloadavg(loads, 3) != 3) throw Error(ErrorKind::OSError, "Load averages are unobtainable");
  return make_tuple(in, {Value::real(loads[0]), Value::real(loads[1]), Value::real(loads[2])});
}

// --- other programs in the place of this one

// execve(path or number, words, environment or None)
Value become(Interpreter& in, const Args& args) {
  require_processes(in);
  const auto element = [&](const Value& item) { return path_argument(in, item); };
  TextArray words(in, args[1], element);
  const bool inherits = args[2].is_none();
  TextArray variables(in, inherits ? make_list(in) : args[2], element);
  char** const environment = inherits ? environ : variables.data();
  if (is_index(in, args[0])) {
    fexecve(small(in, args[0]), words.data(), environment);
    throw_os_error(in, errno);
  }
  const Path path = path_argument(in, args[0]);
  execve(path.c_str(), words.data(), environment);
  throw_os_error(in, errno, path);
}

const NativeDef kFunctions[] = {
    {"times()", process_times, "Seconds of this process and its children."},
    {"nice(increment, /)", add_niceness, "Give way to others."},
    {"getpriority(which, who)", get_priority, "The priority of a process."},
    {"setpriority(which, who, priority)", set_priority, "Set the priority of a process."},
    {"get_affinity(pid, /)", get_affinity, "The processors that a process may use."},
    {"set_affinity(pid, processors, /)", set_affinity, "Set the processors that a process may use."},
    {"sched_yield()", yield_processor, "Let others run."},
    {"sched_getscheduler(pid, /)", get_scheduler, "How a process is scheduled."},
    {"get_scheduler_priority(pid, /)", get_scheduler_priority},
    {"set_scheduler(pid, policy, priority, /)", set_scheduler},
    {"sched_get_priority_min(policy)", priority_limit<sched_get_priority_min>, "The least priority."},
    {"sched_get_priority_max(policy)", priority_limit<sched_get_priority_max>, "The greatest priority."},
    {"sched_rr_get_interval(pid, /)", scheduler_interval, "The length of a turn, in seconds."},
    {"getgroups()", get_groups, "The groups of this process."},
    {"setgroups(groups, /)", set_groups, "Set the groups of this process."},
    {"getgrouplist(user, group, /)", group_list, "The groups of a user."},
    {"initgroups(username, gid, /)", init_groups, "Take the groups of a user."},
    {"getresuid()", three_numbers<getresuid>, "Real, effective and saved user."},
    {"getresgid()", three_numbers<getresgid>, "Real, effective and saved group."},
    {"setuid(uid, /)", set_id<setuid>, "Set the user."},
    {"seteuid(euid, /)", set_id<seteuid>, "Set the effective user."},
    {"setgid(gid, /)", set_id<setgid>, "Set the group."},
    {"setegid(egid, /)", set_id<setegid>, "Set the effective group."},
    {"setreuid(ruid, euid, /)", set_two_ids<setreuid>, "Set real and effective user."},
    {"setregid(rgid, egid, /)", set_two_ids<setregid>, "Set real and effective group."},
    {"setresuid(ruid, euid, suid, /)", set_three_ids<setresuid>, "Set real, effective and saved user."},
    {"setresgid(rgid, egid, sgid, /)", set_three_ids<setresgid>, "Set real, effective and saved group."},
    {"getpgid(pid)", of_process<getpgid>, "The group of a process."},
    {"getsid(pid, /)", of_process<getsid>, "The session of a process."},
    {"getpgrp()", own_group, "The process group of this process."},
    {"setsid()", new_session, "Begin a session."},
    {"setpgid(pid, pgrp, /)", set_group, "Set the group of a process."},
    {"killpg(pgid, signal, /)", kill_group, "Send a signal to a group."},
    {"tcgetpgrp(fd, /)", foreground_group, "The group in the foreground of a terminal."},
    {"tcsetpgrp(fd, pgid, /)", set_foreground_group, "Set the group in the foreground of a terminal."},
    {"getlogin()", login_name, "The user who logged in."},
    {"sysconf(name, /)", system_setting},
    {"pathconf(path, name, /)", path_setting},
    {"confstr(name, /)", text_setting},
    {"getloadavg()", load_average, "How many processes wanted to run, over 1, 5 and 15 minutes."},
    {"execve(path, words, environment, /)", become, "Run another program in place of this one."},
};

}  // namespace

void add_posix_process(Interpreter& in, Module& module) {
  for (const NativeDef& row : kFunctions) in.def(module, row.signature, row.doc, row.function);
}

}  // namespace tessera::stdlib

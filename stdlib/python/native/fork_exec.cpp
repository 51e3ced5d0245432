// _posixsubprocess: another program in a child process. The child shares the parent's memory until exec (vfork), or has a
// copy of it (fork) if it must run script code or change its user. It makes async-signal-safe calls only, except for
// preexec_fn, and reports a failure as text through the pipe `error_pipe`.
// compile: small (the system calls take longer)
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <vector>

#include "lang/vm/threads.h"
#include "stdlib/python/native/processes.h"

extern char** environ;

namespace tessera::stdlib {
namespace {

// The arguments of fork_exec as the child needs them: nothing here allocates after the fork.
struct Launch {
  char** words = nullptr;
  char** programs = nullptr;  // tried in this order
  char** environment = nullptr;  // null: the child's own, which preexec_fn may change
  bool close_files = false;
  std::vector<int> kept;  // ascending; stay open when close_files is set
  std::optional<std::string> folder;
  int given[3] = {-1, -1, -1};   // become the files 0, 1 and 2; -1: the parent's
  int parents[4] = {-1, -1, -1, -1};  // the parent's ends of pipes
  int error_pipe = -1;
  bool restore_signals = false, new_session = false;
  int group_of_processes = -1, umask = -1;
  std::optional<gid_t> group;
  std::optional<uid_t> user;
  std::optional<std::vector<gid_t>> groups;
  Value before_exec;
  bool shares_memory = false;
  sigset_t signals{};  // blocked in the parent before the fork
};

void tell(const Launch& launch, const char* text) {
  if (write(launch.error_pipe, text, strlen(text)) < 0) return;  // the parent has closed its end of the pipe
}

// "OSError:<errno in hex>:<step>": the form that subprocess reads.
[[noreturn]] void give_up(const Launch& launch, int code, const char* step) {
  char text[64];
  snprintf(text, sizeof text, "OSError:%x:%s", static_cast<unsigned>(code), step);
  tell(launch, text);
  _exit(255);
}

int must(const Launch& launch, int answer, const char* step = "noexec") {
  if (answer < 0) give_up(launch, errno, step);
  return answer;
}

void set_inherited(const Launch& launch, int fd) {
  const int flags = must(launch, fcntl(fd, F_GETFD));
  must(launch, fcntl(fd, F_SETFD, flags & ~FD_CLOEXEC));
}

// Moves the given files to 0, 1 and 2. A given file whose own number is overwritten earlier is duplicated first.
void place_files(const Launch& launch) {
  int given[3] = {launch.given[0], launch.given[1], launch.given[2]};
  for (int i = 1; i < 3; ++i)
    if (given[i] >= 0 && given[i] < i) given[i] = must(launch, fcntl(given[i], F_DUPFD_CLOEXEC, 3));
  for (int i = 0; i < 3; ++i) {
    if (given[i] == i) set_inherited(launch, i);
    else if (given[i] >= 0) must(launch, dup2(given[i], i));
  }
}

void close_range_of_files(unsigned first, unsigned last) {
  if (first > last || syscall(SYS_close_range, first, last, 0) == 0) return;
  const long limit = sysconf(_SC_OPEN_MAX);
  for (unsigned fd = first; fd <= last && static_cast<long>(fd) < limit; ++fd) close(static_cast<int>(fd));
}

void close_other_files(const Launch& launch) {
  unsigned next = 3;
  for (const int fd : launch.kept) {
    if (fd < 3) continue;
    if (static_cast<unsigned>(fd) > next) close_range_of_files(next, static_cast<unsigned>(fd) - 1);
    next = static_cast<unsigned>(fd) + 1;
  }
  close_range_of_files(next, ~0U);
}

// Before the signals are unblocked: a handler would run in memory that the parent owns.
void reset_signals(const Launch& launch) {
  if (launch.shares_memory)
    for (int number = 1; number < NSIG; ++number) {
      struct sigaction action;
      if (sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN && action.sa_handler != SIG_DFL) signal(number, SIG_DFL);
    }
  if (launch.restore_signals)
    for (const int number : {SIGPIPE, SIGXFSZ}) signal(number, SIG_DFL);
  pthread_sigmask(SIG_SETMASK, &launch.signals, nullptr);
}

void set_identity(const Launch& launch) {
  if (launch.new_session) must(launch, setsid());
  if (launch.group_of_processes >= 0) must(launch, setpgid(0, launch.group_of_processes));
  if (launch.groups) must(launch, setgroups(launch.groups->size(), launch.groups->data()));
  if (launch.group) must(launch, setregid(*launch.group, *launch.group));
  if (launch.user) must(launch, setreuid(*launch.user, *launch.user));
}

[[noreturn]] void execute(const Launch& launch) {
  int failed = ENOENT;
  for (char** program = launch.programs; *program != nullptr; ++program) {
    execve(*program, launch.words, launch.environment == nullptr ? environ : launch.environment);
    if (errno != ENOENT && errno != ENOTDIR) failed = errno;
  }
  give_up(launch, failed, "");
}

[[noreturn]] [[gnu::noinline]] void live(Interpreter& in, const Launch& launch) {
  for (const int fd : launch.kept)
    if (fd != launch.error_pipe) set_inherited(launch, fd);
  for (const int fd : launch.parents)
    if (fd >= 0) close(fd);
  place_files(launch);
  if (launch.folder) must(launch, chdir(launch.folder->c_str()), "noexec:chdir");  // not the script's: the child's folder
  if (launch.umask >= 0) umask(static_cast<mode_t>(launch.umask));
  reset_signals(launch);
  set_identity(launch);
  if (!launch.before_exec.is_none()) {
    try {
      in.threads().after_fork();
      call(in, launch.before_exec);
    } catch (...) {
      tell(launch, "SubprocessError:0:Exception occurred in preexec_fn.");
      _exit(255);
    }
  }
  if (launch.close_files) close_other_files(launch);
  execute(launch);
}

std::vector<int> ascending_files(Interpreter& in, const Value& sequence) {
  std::vector<int> files;
  const Value list = list_from(in, sequence);
  for (const Value& item : *as_list(list)) {
    const int64_t fd = item.is_int() ? item.as_int() : -1;
    if (fd < 0 || fd > INT32_MAX || (!files.empty() && fd <= files.back())) throw Error(ErrorKind::ValueError, "bad value(s) in fds_to_keep");
    files.push_back(static_cast<int>(fd));
  }
  return files;
}

uint32_t id_of(Interpreter& in, const Value& v, const char* what) {
  const int64_t id = int_argument(in, v);
  if (id < -1) throw_error(ErrorKind::OverflowError, "%s is less than minimum", what);
  if (id > UINT32_MAX) throw_error(ErrorKind::OverflowError, "%s is greater than maximum", what);
  return static_cast<uint32_t>(id);
}

Value fork_exec(Interpreter& in, const Args& args) {
  require_processes(in);
  const auto element = [&](const Value& item) { return path_argument(in, item); };
  TextArray words(in, args[0], element), programs(in, args[1], element);
  const bool inherits = args[5].is_none();
  TextArray variables(in, inherits ? make_list(in) : args[5], element);
  Launch launch;
  launch.words = words.data();
  launch.programs = programs.data();
  launch.environment = inherits ? nullptr : variables.data();
  launch.close_files = truth(in, args[2]);
  launch.kept = ascending_files(in, args[3]);
  if (!args[4].is_none()) launch.folder = path_argument(in, args[4]);
  launch.given[0] = small(in, args[6]);
  launch.parents[0] = small(in, args[7]);
  launch.parents[1] = small(in, args[8]);
  launch.given[1] = small(in, args[9]);
  launch.parents[2] = small(in, args[10]);
  launch.given[2] = small(in, args[11]);
  launch.parents[3] = small(in, args[12]);
  launch.error_pipe = small(in, args[13]);
  launch.restore_signals = truth(in, args[14]);
  launch.new_session = truth(in, args[15]);
  launch.group_of_processes = small(in, args[16]);
  if (!args[17].is_none()) launch.group = id_of(in, args[17], "gid");
  if (!args[18].is_none()) {
    const Value list = list_from(in, args[18]);
    launch.groups.emplace();
    for (const Value& item : *as_list(list)) launch.groups->push_back(id_of(in, item, "gid"));
  }
  if (!args[19].is_none()) launch.user = id_of(in, args[19], "uid");
  launch.umask = small(in, args[20]);
  launch.before_exec = args[21];
  launch.shares_memory = truth(in, args[22]) && launch.before_exec.is_none() && !launch.group && !launch.groups && !launch.user;
  if (launch.close_files && launch.error_pipe < 3) throw Error(ErrorKind::ValueError, "errpipe_write must be >= 3");

  sigset_t every;
  sigfillset(&every);
  pthread_sigmask(SIG_BLOCK, &every, &launch.signals);
  const pid_t child = launch.shares_memory ? vfork() : fork();
  if (child == 0) live(in, launch);
  const int failed = errno;
  pthread_sigmask(SIG_SETMASK, &launch.signals, nullptr);
  if (child < 0) throw_os_error(in, failed);
  return Value::integer(child);
}

}  // namespace

void fill_posixsubprocess(Interpreter& in, Module& module) {
  in.def(module,
         "fork_exec(process_args, executable_list, close_fds, pass_fds, cwd, env, p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite, "
         "errpipe_read, errpipe_write, restore_signals, call_setsid, pgid_to_set, gid, extra_groups, uid, child_umask, preexec_fn, "
         "allow_vfork, /)",
         "Start another program in a child process: its number.", fork_exec);
}

}  // namespace tessera::stdlib

// _processes: child processes by fork, pipes to them, and files that are memory only.
// compile: small (the system calls take longer)
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "lang/vm/allow_others.h"
#include "stdlib/python/native/processes.h"

namespace tessera::stdlib {
namespace {

Value fork_process(Interpreter& in, const Args&) {
  require_processes(in);
  const pid_t child = fork();
  if (child == 0) in.threads().after_fork();
  return checked(in, child);
}

Value hold_signals(Interpreter& in, const Args& args) {
  const bool before = in.threads().signals_held();
  in.threads().hold_signals(truth(in, args[0]));
  return Value::boolean(before);
}

// The whole life of a child after fork(): its status is function()'s answer. The child returns to no caller, whatever
// happens and however many interrupts come.
Value live_as_child(Interpreter& in, const Args& args) {
  require_processes(in);
  int status = 1;
  try {
    in.threads().hold_signals(false);
    status = small(in, call(in, args[0]));
  } catch (...) {
    // function() tells its exceptions itself.
  }
  _exit(status);
}

// This process ends when the one that made it does, however that ended.
Value end_with_parent(Interpreter& in, const Args& args) {
  require_processes(in);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != small(in, args[0])) _exit(1);  // it is gone already
  return Value::none();
}

Value kill_process(Interpreter& in, const Args& args) {
  require_processes(in);
  checked(in, kill(small(in, args[0]), small(in, args[1])));
  in.poll();  // a signal to this process has come
  return Value::none();
}

// (pid, status); (0, 0) while the child runs and WNOHANG is among the options.
Value wait_for_process(Interpreter& in, const Args& args) {
  require_processes(in);
  const int wanted = small(in, args[0]), options = small(in, args[1]);
  int status = 0;
  pid_t pid;
  // Asked again and again, ever more rarely, so that the program can be stopped meanwhile.
  constexpr int kLongest = 5'000;
  for (int pause = 50;; pause = std::min(2 * pause, kLongest)) {
    pid = waitpid(wanted, &status, options | WNOHANG);
    if (pid != 0 && !(pid < 0 && errno == EINTR)) break;
    if (pid == 0 && (options & WNOHANG) != 0) break;
    in.poll();
    if (pid == 0) in.threads().sleep_until(Threads::Clock::now() + std::chrono::microseconds(pause));
  }
  return make_tuple(in, {checked(in, pid), Value::integer(pid == 0 ? 0 : status)});
}

Value make_pipe(Interpreter& in, const Args&) {
  require_processes(in);
  int ends[2];
  checked(in, pipe2(ends, O_CLOEXEC));
  return make_tuple(in, {Value::integer(ends[0]), Value::integer(ends[1])});
}

// Which of the files have something to read, or an end, within so many milliseconds. A signal ends the wait with none,
// so that a caller who loops hears of Ctrl-C.
Value wait_for_files(Interpreter& in, const Args& args) {
  require_processes(in);
  std::vector<pollfd> files;
  const Value list = list_from(in, args[0]);
  for (const Value& file : *as_list(list)) files.push_back({small(in, file), POLLIN, 0});
  // In slices, so that the program can be stopped meanwhile.
  constexpr int kSlice = 10;
  int ready = 0;
  const int wanted = small(in, args[1]);
  for (int64_t left = wanted < 0 ? INT64_MAX : wanted;; left -= kSlice) {
    {
      const AllowOthers others(in);
      ready = poll(files.data(), files.size(), static_cast<int>(std::min<int64_t>(left, kSlice)));
    }
    if (ready != 0 || left <= kSlice) break;
    in.poll();
  }
  if (ready < 0 && errno != EINTR) throw_os_error(in, errno);
  const Value answer = make_list(in);
  for (const pollfd& file : files)
    if (ready > 0 && file.revents != 0) list_append(in, as_list(answer), Value::integer(file.fd));
  return answer;
}

Value memory_file(Interpreter& in, const Args& args) {
  require_processes(in);
  return checked(in, memfd_create(std::string(text_argument(in, args[0], "name")).c_str(), MFD_CLOEXEC));
}

// A file that can be read when the process has ended.
Value process_file(Interpreter& in, const Args& args) {
  require_processes(in);
  return checked(in, syscall(SYS_pidfd_open, small(in, args[0]), 0));
}

// How many processors this process may use.
Value usable_processors(Interpreter& in, const Args&) {
  cpu_set_t set;
  checked(in, sched_getaffinity(0, sizeof set, &set));
  return Value::integer(CPU_COUNT(&set));
}

const NativeDef kFunctions[] = {
    {"fork()", fork_process, "Start a copy of this process: 0 there, its number here."},
    {"end_with_parent(parent, /)", end_with_parent, "End when the process of that number, which made this one, ends."},
    {"kill(pid, signal, /)", kill_process, "Send a signal to a process."},
    {"hold_signals(held, /)", hold_signals, "While signals are held, Ctrl-C and handlers of signals wait. Returns the state before."},
    {"live_as_child(function, /)", live_as_child, "Call function() and end the process with its answer as the status."},
    {"waitpid(pid, options, /)", wait_for_process, "Wait for the end of a child process."},
    {"pidfd_open(pid, /)", process_file, "A file that can be read when the process has ended."},
    {"pipe()", make_pipe, "A pipe: the end to read from and the end to write to."},
    {"poll(files, milliseconds, /)", wait_for_files, "Wait for files that can be read."},
    {"memfd_create(name)", memory_file, "A file that is memory only."},
    {"usable_processors()", usable_processors, "How many processors this process may use."},
};

}  // namespace

void fill_processes(Interpreter& in, Module& module) {
  for (const NativeDef& row : kFunctions) in.def(module, row.signature, row.doc, row.function);
  add_signals(in, module);
}

}  // namespace tessera::stdlib

// _processes: child processes by fork, pipes to them, and files that are memory only.
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

void processes(Interpreter& in) { require(in.limits.processes, "processes"); }
int small(Interpreter& in, const Value& v) { return static_cast<int>(int_argument(in, v)); }

// The answer of a system call that says -1 when it fails.
Value checked(Interpreter& in, int64_t answer) {
  if (answer < 0) throw_os_error(in, errno);
  return Value::integer(answer);
}

Value fork_process(Interpreter& in, const Args&) {
  processes(in);
  return checked(in, fork());
}

Value kill_process(Interpreter& in, const Args& args) {
  processes(in);
  checked(in, kill(small(in, args[0]), small(in, args[1])));
  return Value::none();
}

// (pid, status); (0, 0) while the child runs and WNOHANG is among the options.
Value wait_for_process(Interpreter& in, const Args& args) {
  processes(in);
  int status = 0;
  pid_t pid;
  while ((pid = waitpid(small(in, args[0]), &status, small(in, args[1]))) < 0 && errno == EINTR) stop_if_asked(in);
  return make_tuple(in, {checked(in, pid), Value::integer(pid == 0 ? 0 : status)});
}

Value make_pipe(Interpreter& in, const Args&) {
  processes(in);
  int ends[2];
  checked(in, pipe2(ends, O_CLOEXEC));
  return make_tuple(in, {Value::integer(ends[0]), Value::integer(ends[1])});
}

// Which of the files have something to read, or an end, within so many milliseconds. A signal ends the wait with none,
// so that a caller who loops hears of Ctrl-C.
Value wait_for_files(Interpreter& in, const Args& args) {
  processes(in);
  std::vector<pollfd> files;
  const Value list = list_from(in, args[0]);
  for (const Value& file : *as_list(list)) files.push_back({small(in, file), POLLIN, 0});
  const int ready = poll(files.data(), files.size(), small(in, args[1]));
  if (ready < 0 && errno != EINTR) throw_os_error(in, errno);
  const Value answer = make_list(in);
  for (const pollfd& file : files)
    if (ready > 0 && file.revents != 0) list_append(in, as_list(answer), Value::integer(file.fd));
  return answer;
}

Value memory_file(Interpreter& in, const Args& args) {
  processes(in);
  return checked(in, memfd_create(std::string(text_argument(in, args[0], "name")).c_str(), MFD_CLOEXEC));
}

// How many processors this process may use.
Value usable_processors(Interpreter& in, const Args&) {
  cpu_set_t set;
  checked(in, sched_getaffinity(0, sizeof set, &set));
  return Value::integer(CPU_COUNT(&set));
}

Value signal_text(Interpreter& in, const Args& args) {
  const char* text = strsignal(small(in, args[0]));
  return make_str(in, text == nullptr ? "" : text);
}

const NativeDef kFunctions[] = {
    {"fork()", fork_process, "Start a copy of this process: 0 there, its number here."},
    {"kill(pid, signal, /)", kill_process, "Send a signal to a process."},
    {"waitpid(pid, options, /)", wait_for_process, "Wait for the end of a child process."},
    {"signal_text(number, /)", signal_text, "What a signal is called."},
    {"pipe()", make_pipe, "A pipe: the end to read from and the end to write to."},
    {"poll(files, milliseconds, /)", wait_for_files, "Wait for files that can be read."},
    {"memfd_create(name)", memory_file, "A file that is memory only."},
    {"usable_processors()", usable_processors, "How many processors this process may use."},
};

}  // namespace

void fill_processes(Interpreter& in, Module& module) {
  for (const NativeDef& row : kFunctions) in.def(module, row.signature, row.doc, row.function);
}

}  // namespace tessera::stdlib

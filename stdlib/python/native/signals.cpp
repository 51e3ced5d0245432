// Signals for the module `signal`: handlers of the script, masks, waits, interval timers.
// compile: small (the system calls take longer)
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstring>

#include "lang/core/signals.h"
#include "lang/vm/allow_others.h"
#include "stdlib/python/native/processes.h"

namespace tessera::stdlib {
namespace {

using lang::kSignalArrived;

// A handler of the system can reach nothing but globals: which signals have come, and the flag that stops the program at its
// next safe point, where the handlers of the script run.
std::atomic<uint64_t> arrived{0};
std::atomic<uint64_t> count{0};
std::atomic<std::atomic<uint32_t>*> flag{nullptr};
std::atomic<int> wakeup_file{-1};

void note_signal(int number) {
  const int error = errno;
  arrived.fetch_or(uint64_t{1} << (number - 1));
  count.fetch_add(1);
  if (auto* bits = flag.load()) bits->fetch_or(kSignalArrived);
  if (const int file = wakeup_file.load(); file >= 0) {
    const auto byte = static_cast<unsigned char>(number);
    [[maybe_unused]] const ssize_t written = write(file, &byte, 1);
  }
  errno = error;
}

struct sigaction current_action(int number) {
  struct sigaction action {};
  sigaction(number, nullptr, &action);
  return action;
}

// The action of a signal: 0 the system's default, 1 ignored, 2 a handler of the script, 3 the action when this program began.
Value set_signal(Interpreter& in, const Args& args) {
  require_processes(in);
  const int number = small(in, args[0]);
  const int64_t way = int_argument(in, args[1]);
  flag.store(&in.interrupt);
  struct sigaction action {};
  action.sa_handler = way == 0 ? SIG_DFL : way == 1 ? SIG_IGN : note_signal;
  static const struct sigaction interrupting = current_action(SIGINT);  // before anything is changed
  checked(in, sigaction(number, way == 3 ? &interrupting : &action, nullptr));
  return Value::none();
}

// A list of those that came since it was asked last.
Value take_signals(Interpreter& in, const Args&) {
  const uint64_t bits = arrived.exchange(0);
  const Value answer = make_list(in);
  for (int i = 0; i < 64; ++i)
    if (bits >> i & 1) list_append(in, as_list(answer), Value::integer(i + 1));
  return answer;
}

// The first thread hears at once of what it sent to itself.
Value heard(Interpreter& in) {
  if (in.threads().current().is_main()) in.poll();
  return Value::none();
}

// As if the signal had come to a handler of the script.
Value pretend_signal(Interpreter& in, const Args& args) {
  const int number = small(in, args[0]);
  if (number < 1 || number > 64) throw Error(ErrorKind::ValueError, "signal number out of range");
  arrived.fetch_or(uint64_t{1} << (number - 1));
  in.interrupt.fetch_or(kSignalArrived);
  return heard(in);
}

Value interrupt(Interpreter& in, const Args&) {
  in.interrupt.fetch_or(lang::kKeyboard);
  return heard(in);
}

Value raise_one(Interpreter& in, const Args& args) {
  require_processes(in);
  checked(in, raise(small(in, args[0])));
  in.poll();
  return Value::none();
}

Value signal_text(Interpreter& in, const Args& args) {
  const char* text = strsignal(small(in, args[0]));
  return make_str(in, text == nullptr ? "" : text);
}

Value set_alarm(Interpreter& in, const Args& args) {
  require_processes(in);
  return Value::integer(alarm(static_cast<unsigned>(small(in, args[0]))));
}

// --- sets of signals

sigset_t set_of(Interpreter& in, const Value& numbers) {
  sigset_t set;
  sigemptyset(&set);
  const Value list = list_from(in, numbers);
  for (const Value& item : *as_list(list)) sigaddset(&set, small(in, item));
  return set;
}

Value numbers_of(Interpreter& in, const sigset_t& set) {
  const Value answer = make_list(in);
  for (int i = 1; i <= 64; ++i)
    if (sigismember(&set, i) == 1) list_append(in, as_list(answer), Value::integer(i));
  return answer;
}

Value change_mask(Interpreter& in, const Args& args) {
  require_processes(in);
  const sigset_t set = set_of(in, args[1]);
  sigset_t before;
  if (const int failed = pthread_sigmask(small(in, args[0]), &set, &before)) throw_os_error(in, failed);
  const Value answer = numbers_of(in, before);
  in.poll();  // signals that were pending and are not blocked any more
  return answer;
}

Value pending_signals(Interpreter& in, const Args&) {
  require_processes(in);
  sigset_t set;
  checked(in, sigpending(&set));
  return numbers_of(in, set);
}

// Waits for one of the signals, which are blocked; `seconds` below 0: without end. None: the time is up.
Value wait_for_signal(Interpreter& in, const Args& args) {
  require_processes(in);
  const sigset_t set = set_of(in, args[0]);
  constexpr double kSlice = 0.01;
  const double seconds = real_argument(in, args[1]);
  for (double left = seconds < 0 ? HUGE_VAL : seconds;; left -= kSlice) {
    const double now = std::min(left, kSlice);
    timespec time{0, static_cast<long>(std::max(0.0, now) * 1e9)};
    siginfo_t info{};
    int number;
    {
      const lang::AllowOthers others(in);
      number = sigtimedwait(&set, &info, &time);
    }
    if (number > 0) {
      return make_tuple(in, {Value::integer(info.si_signo), Value::integer(info.si_code), Value::integer(info.si_errno),
                             Value::integer(info.si_pid), Value::integer(info.si_uid), Value::integer(info.si_status),
                             Value::integer(info.si_band)});
    }
    if (errno != EAGAIN && errno != EINTR) throw_os_error(in, errno);
    in.poll();
    if (left <= kSlice) return Value::none();
  }
}

// Waits until a handler of the script has been called.
Value wait_for_any(Interpreter& in, const Args&) {
  require_processes(in);
  for (const uint64_t before = count.load(); count.load() == before;)
    in.threads().sleep_until(lang::Threads::Clock::now() + std::chrono::milliseconds(5));
  in.poll();
  return Value::none();
}

Value send_to_thread(Interpreter& in, const Args& args) {
  require_processes(in);
  const auto wanted = static_cast<uint64_t>(int_argument(in, args[0]));
  bool known = false;
  for (const lang::Thread* thread : in.threads().all()) known |= thread->ident() == wanted;
  const int failed = known ? pthread_kill(static_cast<pthread_t>(wanted), small(in, args[1])) : ESRCH;
  if (failed != 0) throw_os_error(in, failed);
  in.poll();
  return Value::none();
}

Value send_to_file(Interpreter& in, const Args& args) {
  require_processes(in);
  checked(in, syscall(SYS_pidfd_send_signal, small(in, args[0]), small(in, args[1]), nullptr, small(in, args[2])));
  in.poll();  // the process may be this one
  return Value::none();
}

// --- interval timers

timeval time_of(double seconds) {
  const double whole = std::floor(seconds);
  return {static_cast<time_t>(whole), static_cast<suseconds_t>((seconds - whole) * 1e6)};
}

double seconds_of(const timeval& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6; }

Value timer_value(Interpreter& in, const itimerval& value) {
  return make_tuple(in, {Value::real(seconds_of(value.it_value)), Value::real(seconds_of(value.it_interval))});
}

Value set_timer(Interpreter& in, const Args& args) {
  require_processes(in);
  const double first = real_argument(in, args[1]), interval = real_argument(in, args[2]);
  itimerval value{time_of(interval), time_of(first)}, before{};
  if (first > 0 && value.it_value.tv_sec == 0 && value.it_value.tv_usec == 0) value.it_value.tv_usec = 1;
  checked(in, setitimer(static_cast<__itimer_which_t>(small(in, args[0])), &value, &before));
  return timer_value(in, before);
}

Value get_timer(Interpreter& in, const Args& args) {
  itimerval value{};
  checked(in, getitimer(static_cast<__itimer_which_t>(small(in, args[0])), &value));
  return timer_value(in, value);
}

// Do system calls go on after the signal's handler?
Value set_restart(Interpreter& in, const Args& args) {
  require_processes(in);
  const int number = small(in, args[0]);
  struct sigaction action = current_action(number);
  if (truth(in, args[1])) action.sa_flags &= ~SA_RESTART;
  else action.sa_flags |= SA_RESTART;
  checked(in, sigaction(number, &action, nullptr));
  return Value::none();
}

// A byte for each signal goes to this file, if it is not -1. Returns the file before.
Value set_wakeup(Interpreter& in, const Args& args) {
  require_processes(in);
  return Value::integer(wakeup_file.exchange(small(in, args[0])));
}

const NativeDef kFunctions[] = {
    {"set_signal(number, way, /)", set_signal, "What a signal does."},
    {"take_signals()", take_signals, "Which signals came."},
    {"pretend_signal(number, /)", pretend_signal, "Have the script's handler called as if the signal had come."},
    {"interrupt()", interrupt, "Have KeyboardInterrupt raised in the first thread."},
    {"raise_signal(number, /)", raise_one, "Send a signal to the running thread."},
    {"alarm(seconds, /)", set_alarm, "Send SIGALRM to this process, later."},
    {"signal_text(number, /)", signal_text, "What a signal is called."},
    {"change_mask(how, numbers, /)", change_mask, "Block signals for the running thread, or let them through. Returns those blocked before."},
    {"pending_signals()", pending_signals, "Signals that came and are blocked."},
    {"wait_for_signal(numbers, seconds, /)", wait_for_signal, "Wait for one of the blocked signals."},
    {"wait_for_any()", wait_for_any, "Wait until a handler has been called."},
    {"send_to_thread(ident, number, /)", send_to_thread, "Send a signal to a thread."},
    {"send_to_file(file, number, flags, /)", send_to_file, "Send a signal to the process of a file of pidfd_open()."},
    {"set_timer(which, seconds, interval, /)", set_timer, "Set an interval timer. Returns its value before."},
    {"get_timer(which, /)", get_timer, "The value of an interval timer."},
    {"set_restart(number, interrupts, /)", set_restart, "Do system calls end where a signal comes?"},
    {"set_wakeup(file, /)", set_wakeup, "A file that gets a byte for each signal."},
};

}  // namespace

void add_signals(Interpreter& in, Module& module) {
  for (const NativeDef& row : kFunctions) in.def(module, row.signature, row.doc, row.function);
}

}  // namespace tessera::stdlib

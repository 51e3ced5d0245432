// _time: clocks, sleeping, and the C library's calendar. `time` (time.tsr) puts struct_time around it.
// compile: small (the system calls take longer)
#include <algorithm>
#include <limits>
#include <mutex>
#include <sys/resource.h>
#include <time.h>

#include <cmath>
#include <cerrno>

#include "lang/vm/allow_others.h"
#include "lang/vm/threads.h"
#include "lang/types/bigint.h"
#include "lang/types/number.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

// The C library has one zone for the process, with names that others may be reading while it is read anew.
std::mutex& zone_lock() {
  static std::mutex lock;
  return lock;
}
struct tm* local_fields(const time_t* seconds, struct tm* fields) {
  const std::lock_guard guard(zone_lock());
  return localtime_r(seconds, fields);
}

constexpr int64_t kNano = 1'000'000'000;

int64_t nanoseconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return int64_t{t.tv_sec} * kNano + t.tv_nsec;
}

void need_clock(Interpreter& in) { require(in.limits.clock, "the clock"); }

template <clockid_t Clock>
Value seconds_of(Interpreter& in, const Args&) {
  need_clock(in);
  timespec t{};
  clock_gettime(Clock, &t);
  return Value::real(static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9);
}

template <clockid_t Clock>
Value nanoseconds_of(Interpreter& in, const Args&) {
  need_clock(in);
  return Value::integer(nanoseconds(Clock));
}

clockid_t clock_argument(Interpreter& in, const Value& v) {
  const int64_t number = index(in, v);
  if (number < INT32_MIN || number > INT32_MAX) throw Error(ErrorKind::OverflowError, "signed integer is greater than maximum");
  return static_cast<clockid_t>(number);
}

template <int (*F)(clockid_t, timespec*), bool Whole>
Value ask_clock(Interpreter& in, const Args& args) {
  need_clock(in);
  timespec t{};
  if (F(clock_argument(in, args[0]), &t) != 0) throw_os_error(in, errno);
  if constexpr (Whole) return Value::integer(int64_t{t.tv_sec} * kNano + t.tv_nsec);
  return Value::real(static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9);
}

Value set_clock(Interpreter& in, const Args& args) {
  require(in.limits.processes, "other programs");
  const clockid_t clock = clock_argument(in, args[0]);
  const int64_t all = index(in, args[1]);
  const timespec t{static_cast<time_t>(all / kNano), static_cast<long>(all % kNano)};
  if (clock_settime(clock, &t) != 0) throw_os_error(in, errno);
  return Value::none();
}

Value thread_clock(Interpreter& in, const Args& args) {
  need_clock(in);
  clockid_t clock{};
  const uint64_t ident = static_cast<uint64_t>(index(in, args[0]));
  const auto threads = in.threads().all();
  // The C library reads the memory of whatever thread it is told.
  const bool known = std::any_of(threads.begin(), threads.end(), [&](const auto* thread) { return thread->ident() == ident; });
  const int fault = known ? pthread_getcpuclockid(static_cast<pthread_t>(ident), &clock) : ESRCH;
  if (fault != 0) throw_os_error(in, fault);
  return Value::integer(clock);
}

// In slices, so that Ctrl-C and a host's cancel are heard.
Value sleep_for(Interpreter& in, const Args& args) {
  if (is_str(args[0]) || args[0].is_none()) {
    throw_error(ErrorKind::TypeError, "'%s' object cannot be interpreted as an integer",
                std::string(type_name(in, args[0])).c_str());
  }
  const double seconds = real_argument(in, args[0]);
  if (std::isnan(seconds)) throw Error(ErrorKind::ValueError, "Invalid value NaN (not a number)");
  if (seconds < 0) throw Error(ErrorKind::ValueError, "sleep length must be non-negative");
  if (seconds > 9e9) throw Error(ErrorKind::OverflowError, "timestamp too large to convert to C _PyTime_t");
  if (seconds == 0) {
    const AllowOthers others(in);
    sched_yield();
  } else {
    in.threads().sleep_until(Threads::Clock::now() + std::chrono::nanoseconds(static_cast<int64_t>(seconds * 1e9)));
  }
  return Value::none();
}

Value fields_of(Interpreter& in, const tm& t) {
  return make_tuple(in, {Value::integer(t.tm_year + 1900), Value::integer(t.tm_mon + 1), Value::integer(t.tm_mday),
                         Value::integer(t.tm_hour), Value::integer(t.tm_min), Value::integer(t.tm_sec),
                         Value::integer((t.tm_wday + 6) % 7), Value::integer(t.tm_yday + 1), Value::integer(t.tm_isdst),
                         make_str_lossy(in, t.tm_zone ? t.tm_zone : ""), Value::integer(t.tm_gmtoff)});
}

[[noreturn]] void throw_out_of_time() { throw Error(ErrorKind::OverflowError, "timestamp out of range for platform time_t"); }

// The second that a timestamp is in: a float is rounded down, all else must be whole.
time_t whole_seconds(Interpreter& in, const Value& given) {
  const Value timestamp = unboxed(given);
  if (timestamp.is_float()) {
    constexpr double kBeyond = 0x1p63;
    const double seconds = std::floor(timestamp.as_float());
    if (std::isnan(seconds)) throw Error(ErrorKind::ValueError, "Invalid value NaN (not a number)");
    if (seconds < -kBeyond || seconds >= kBeyond) throw_out_of_time();
    return static_cast<time_t>(seconds);
  }
  const Value whole = whole_index(in, timestamp);
  if (is_big_int(whole)) throw_out_of_time();
  return whole.as_int();
}

Value broken_down(Interpreter& in, const Args& args, tm* (*convert)(const time_t*, tm*)) {
  if (args[0].is_none()) need_clock(in);
  const time_t whole = args[0].is_none() ? time(nullptr) : whole_seconds(in, args[0]);
  tm t{};
  if (convert(&whole, &t) == nullptr) throw_os_error(in, errno);
  return fields_of(in, t);
}

Value local_time(Interpreter& in, const Args& args) { return broken_down(in, args, local_fields); }
Value gm_time(Interpreter& in, const Args& args) { return broken_down(in, args, gmtime_r); }

tm from_fields(Interpreter& in, const Value& fields) {
  const Value items = tuple_from(in, fields);
  const Tuple& f = *as_tuple(items);
  if (f.size < 9) throw Error(ErrorKind::TypeError, "time tuple must have exactly 9 elements");
  const auto number = [&](uint32_t i) {
    const int64_t value = int_argument(in, f[i]);
    if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max())
      throw Error(ErrorKind::OverflowError,
                  value > 0 ? "signed integer is greater than maximum" : "signed integer is less than minimum");
    return static_cast<int>(value);
  };
  tm t{};
  const int year = number(0);
  if (year < std::numeric_limits<int>::min() + 1900) throw Error(ErrorKind::OverflowError, "year out of range");
  t.tm_year = year - 1900;
  t.tm_mon = number(1) - 1;
  t.tm_mday = number(2);
  t.tm_hour = number(3);
  t.tm_min = number(4);
  t.tm_sec = number(5);
  t.tm_wday = (number(6) + 1) % 7;
  t.tm_yday = number(7) - 1;
  t.tm_isdst = number(8);
  if (f.size > 10 && f[10].is_int()) t.tm_gmtoff = f[10].as_int();
  return t;
}

Value make_time(Interpreter& in, const Args& args) {
  tm t = from_fields(in, args[0]);
  t.tm_wday = -1;
  const time_t seconds = [&] {
    const std::lock_guard guard(zone_lock());
    return mktime(&t);
  }();
  if (seconds == -1 && t.tm_wday == -1) throw Error(ErrorKind::OverflowError, "mktime argument out of range");
  return Value::real(static_cast<double>(seconds));
}

Value format_time(Interpreter& in, const Args& args) {
  const std::string format(text_argument(in, args[0], "strftime() argument 1"));
  tm t = from_fields(in, args[1]);
  const auto check = [](bool good, const char* message) {
    if (!good) throw Error(ErrorKind::ValueError, message);
  };
  if (t.tm_mon == -1) t.tm_mon = 0;
  if (t.tm_mday == 0) t.tm_mday = 1;
  if (t.tm_yday == -1) t.tm_yday = 0;
  check(t.tm_mon >= 0 && t.tm_mon <= 11, "month out of range");
  check(t.tm_mday >= 1 && t.tm_mday <= 31, "day of month out of range");
  check(t.tm_hour >= 0 && t.tm_hour <= 23, "hour out of range");
  check(t.tm_min >= 0 && t.tm_min <= 59, "minute out of range");
  check(t.tm_sec >= 0 && t.tm_sec <= 61, "seconds out of range");
  check(t.tm_wday >= 0, "day of week out of range");
  check(t.tm_yday >= 0 && t.tm_yday <= 365, "day of year out of range");
  check(format.find('\0') == std::string::npos, "embedded null character");
  t.tm_zone = ::tzname[t.tm_isdst > 0 ? 1 : 0];
  if (format.empty()) return make_str(in, "");
  std::string out(256, '\0');
  // An empty answer may be right (%p in some locales), so growing ends.
  for (size_t size = 256; size <= 1 << 20; size *= 4) {
    out.resize(size);
    const std::lock_guard guard(zone_lock());
    const size_t used = strftime(out.data(), size, format.c_str(), &t);
    if (used > 0) return make_str_lossy(in, std::string_view(out.data(), used));
    if (size > format.size() * 256) break;
  }
  return make_str(in, "");
}

// (timezone, daylight, tzname) of the environment as it is now.
Value read_zone(Interpreter& in, const Args&) {
  const std::lock_guard guard(zone_lock());
  tzset();
  return make_tuple(in, {Value::integer(::timezone), Value::integer(::daylight),
                         make_tuple(in, {make_str_lossy(in, ::tzname[0]), make_str_lossy(in, ::tzname[1])})});
}

}  // namespace

void fill_time(Interpreter& in, Module& module) {
  in.def(module, "time()", "Seconds since 1970.", seconds_of<CLOCK_REALTIME>);
  in.def(module, "time_ns()", "Nanoseconds since 1970.", nanoseconds_of<CLOCK_REALTIME>);
  in.def(module, "perf_counter()", "Seconds of the clock for measuring.", seconds_of<CLOCK_MONOTONIC>);
  in.def(module, "perf_counter_ns()", "The same in nanoseconds.", nanoseconds_of<CLOCK_MONOTONIC>);
  in.def(module, "monotonic()", "Seconds of a clock that never goes back.", seconds_of<CLOCK_MONOTONIC>);
  in.def(module, "monotonic_ns()", "The same in nanoseconds.", nanoseconds_of<CLOCK_MONOTONIC>);
  in.def(module, "process_time()", "Seconds of processor time.", seconds_of<CLOCK_PROCESS_CPUTIME_ID>);
  in.def(module, "process_time_ns()", "The same in nanoseconds.", nanoseconds_of<CLOCK_PROCESS_CPUTIME_ID>);
  in.def(module, "thread_time()", "Seconds of this thread's processor time.", seconds_of<CLOCK_THREAD_CPUTIME_ID>);
  in.def(module, "thread_time_ns()", "The same in nanoseconds.", nanoseconds_of<CLOCK_THREAD_CPUTIME_ID>);
  in.def(module, "clock_gettime(clk_id, /)", "Seconds of a clock.", ask_clock<clock_gettime, false>);
  in.def(module, "clock_gettime_ns(clk_id, /)", "Nanoseconds of a clock.", ask_clock<clock_gettime, true>);
  in.def(module, "clock_getres(clk_id, /)", "The seconds between two steps of a clock.", ask_clock<clock_getres, false>);
  in.def(module, "clock_settime_ns(clk_id, time, /)", "Set a clock.", set_clock);
  in.def(module, "pthread_getcpuclockid(thread_id, /)", "The clock of a thread's processor time.", thread_clock);
  in.def(module, "sleep(seconds, /)", "Wait.", sleep_for);
  in.def(module, "localtime(seconds=None, /)", "The fields of a local time.", local_time);
  in.def(module, "gmtime(seconds=None, /)", "The fields of a time in UTC.", gm_time);
  in.def(module, "whole_seconds(timestamp, /)", "The second of a timestamp; OverflowError beyond the system's.",
         [](Interpreter& in, const Args& args) { return Value::integer(whole_seconds(in, args[0])); });
  in.def(module, "mktime(fields, /)", "Seconds since 1970 of a local time.", make_time);
  in.def(module, "strftime(format, fields, /)", "A time as text.", format_time);
  in.def(module, "tzset()", "Read the zone of the environment again; answers what the module's members say.",
         read_zone);
  const Value zone = read_zone(in, {});
  set_member(in, module, "timezone", (*as_tuple(zone))[0]);
  set_member(in, module, "daylight", (*as_tuple(zone))[1]);
  set_member(in, module, "tzname", (*as_tuple(zone))[2]);
}

}  // namespace tessera::stdlib

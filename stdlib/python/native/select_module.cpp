// select: waiting for files. Each wait is a safe point every few milliseconds, so that the program can be stopped meanwhile.
// compile: small (the system calls take longer)
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <map>
#include <vector>

#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"
#include "lang/objects/class.h"
#include "lang/objects/exception.h"
#include "lang/objects/own_type.h"
#include "lang/types/bigint.h"
#include "stdlib/python/native/descriptors.h"
#include "stdlib/python/native/named_numbers.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/processes.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

struct Epoll : Object {
  int file = -1;
};

struct Poll : Object {
  std::map<int, short> files;
  bool waits = false;  // a thread is in poll()
};

struct Waker : Object {
  int file = -1;
};

constexpr char kWakerLayout[] = "select._Waker";
constexpr char kEpollLayout[] = "select.epoll";
constexpr char kPollLayout[] = "select.poll";

// Seconds (or with `thousandth` milliseconds) as a duration; None and negative numbers: for ever.
double wait_seconds(Interpreter& in, const Value& given, bool thousandth, const char* message) {
  if (given.is_none() || given.is_undefined()) return -1;
  if (!given.is_float() && !is_whole(given)) throw Error(ErrorKind::TypeError, message);
  const double number = to_float(in, given), seconds = number * (thousandth ? 0.001 : 1);
  if (std::isnan(seconds)) throw Error(ErrorKind::ValueError, "Invalid value NaN (not a number)");
  if (std::abs(seconds) >= 0x1p63 * 1e-9) throw Error(ErrorKind::OverflowError, "timestamp too large to convert to C _PyTime_t");
  if (thousandth && number > INT32_MAX) throw Error(ErrorKind::OverflowError, "timeout is too large");
  return seconds;
}

// --- select()

std::vector<pollfd> files_of_lists(Interpreter& in, const Value* lists, std::vector<Value>& objects) {
  constexpr short kEvents[] = {POLLIN, POLLOUT, POLLPRI};
  std::vector<pollfd> files;
  for (int i = 0; i < 3; ++i) {
    const size_t before = files.size();
    for_each(in, lists[i], [&](Value object) {
      const int file = descriptor_of(in, object);
      if (file >= FD_SETSIZE) throw Error(ErrorKind::ValueError, "filedescriptor out of range in select()");
      if (files.size() - before >= FD_SETSIZE) throw Error(ErrorKind::ValueError, "too many file descriptors in select()");
      files.push_back({file, kEvents[i], 0});
      objects.push_back(std::move(object));
    });
  }
  return files;
}

Value select_files(Interpreter& in, const Args& args) {
  std::vector<Value> objects;
  std::vector<pollfd> files = files_of_lists(in, args.values, objects);
  const double seconds = wait_seconds(in, args[3], false, "timeout must be a float or None");
  if (seconds < 0 && !args[3].is_none()) throw Error(ErrorKind::ValueError, "timeout must be non-negative");
  wait_in_slices(in, seconds, [&](int milliseconds) { return poll(files.data(), files.size(), milliseconds); });
  const Value lists[] = {make_list(in), make_list(in), make_list(in)};
  constexpr short kSeen[] = {POLLIN | POLLHUP | POLLERR, POLLOUT | POLLERR, POLLPRI};
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i].revents & POLLNVAL) throw_os_error(in, EBADF);
    const int kind = files[i].events == POLLIN ? 0 : files[i].events == POLLOUT ? 1 : 2;
    if (files[i].revents & kSeen[kind]) list_append(in, as_list(lists[kind]), objects[i]);
  }
  return make_tuple(in, {lists[0], lists[1], lists[2]});
}

// --- poll objects

Poll* poll_of(const Args& args) { return object_cast<Poll>(args[0]); }

short poll_events(Interpreter& in, const Value& given) {
  if (!given.is_int() && !given.is_bool()) {
    if (!is_whole(given)) throw Error(ErrorKind::TypeError, "an integer is required");
    throw Error(ErrorKind::OverflowError, "Python int too large to convert to C unsigned long");
  }
  const int64_t events = int_argument(in, given);
  if (events < 0) throw Error(ErrorKind::ValueError, "value must be positive");
  if (events > UINT16_MAX) throw Error(ErrorKind::OverflowError, "Python int too large for C unsigned short");
  return static_cast<short>(events);
}

Value poll_register(Interpreter& in, const Args& args) {
  const int file = descriptor_of(in, args[1]);
  poll_of(args)->files[file] = poll_events(in, args[2]);
  return Value::none();
}

Value poll_modify(Interpreter& in, const Args& args) {
  const auto found = poll_of(args)->files.find(descriptor_of(in, args[1]));
  if (found == poll_of(args)->files.end()) throw_os_error(in, ENOENT);
  found->second = poll_events(in, args[2]);
  return Value::none();
}

Value poll_unregister(Interpreter& in, const Args& args) {
  const int file = descriptor_of(in, args[1]);
  if (poll_of(args)->files.erase(file) == 0) {
    throw Error(ErrorKind::KeyError, Value::integer(file));
  }
  return Value::none();
}

Value poll_poll(Interpreter& in, const Args& args) {
  std::vector<pollfd> files;
  for (const auto& [file, events] : poll_of(args)->files) files.push_back({file, events, 0});
  const double seconds = wait_seconds(in, args[1], true, "timeout must be an integer or None");
  Poll* const self = poll_of(args);
  if (self->waits) throw Error(ErrorKind::RuntimeError, "concurrent poll() invocation");
  struct Waiting {
    bool& flag;
    explicit Waiting(bool& f) : flag(f) { flag = true; }
    ~Waiting() { flag = false; }
  } waiting(self->waits);
  wait_in_slices(in, seconds, [&](int milliseconds) { return poll(files.data(), files.size(), milliseconds); });
  const Value answer = make_list(in);
  for (const pollfd& file : files) {
    if (file.revents == 0) continue;
    list_append(in, as_list(answer), make_tuple(in, {Value::integer(file.fd), Value::integer(file.revents)}));
  }
  return answer;
}

// --- epoll objects

Epoll* epoll_of(const Args& args) { return object_cast<Epoll>(args[0]); }

int open_epoll(const Epoll* epoll) {
  if (epoll->file < 0) throw Error(ErrorKind::ValueError, "I/O operation on closed epoll object");
  return epoll->file;
}

Value control(Interpreter& in, const Args& args, int operation, const Value& events) {
  epoll_event event{};
  event.data.fd = descriptor_of(in, args[1]);
  if (!events.is_undefined()) event.events = static_cast<uint32_t>(int_argument(in, events));
  if (epoll_ctl(open_epoll(epoll_of(args)), operation, event.data.fd, &event) < 0) throw_os_error(in, errno);
  return Value::none();
}

Value epoll_poll(Interpreter& in, const Args& args) {
  const int file = open_epoll(epoll_of(args));
  const double seconds = wait_seconds(in, args[1], false, "timeout must be an integer or None");
  int64_t most = small(in, args[2]);
  if (most == -1) most = 1023;
  if (most <= 0) {
    throw_error(ErrorKind::ValueError, "maxevents must be greater than 0, got %lld", static_cast<long long>(most));
  }
  epoll_event few[16];
  std::vector<epoll_event> many;
  if (most > 16) many.resize(static_cast<size_t>(std::min<int64_t>(most, 1 << 16)));
  epoll_event* const events = most > 16 ? many.data() : few;
  const int room = most > 16 ? static_cast<int>(many.size()) : static_cast<int>(most);
  const int ready = wait_in_slices(
      in, seconds, [&](int milliseconds) { return epoll_wait(file, events, room, milliseconds); });
  const Value answer = make_list(in);
  for (int i = 0; i < ready; ++i) {
    list_append(in, as_list(answer),
                make_tuple(in, {Value::integer(events[i].data.fd), Value::integer(events[i].events)}));
  }
  return answer;
}

void close_epoll(Epoll* epoll) {
  if (epoll->file >= 0) close(epoll->file);
  epoll->file = -1;
}

Value init_epoll(Interpreter& in, const Args& args) {
  const int size = small(in, args[1]), flags = small(in, args[2]);
  if (size != -1 && size <= 0) throw Error(ErrorKind::ValueError, "negative sizehint");
  if (flags & ~EPOLL_CLOEXEC) throw Error(ErrorKind::OSError, "invalid flags");
  const int file = epoll_create1(EPOLL_CLOEXEC);
  if (file < 0) throw_os_error(in, errno);
  close_epoll(epoll_of(args));
  epoll_of(args)->file = file;
  return Value::none();
}

// An object of a control file that exists: the two share it.
Value epoll_from_file(Interpreter& in, const Args& args) {
  require(in.limits.processes || in.limits.network, "files by number");
  const int file = small(in, args[1]);
  if (file < 0) throw_os_error(in, EBADF);
  Epoll* const made = make_object<Epoll>(in, as_type(args[0]));
  made->file = file;
  return Value::adopt(made);
}

constexpr NativeDef kEpollMethods[] = {
    {"__init__(self, sizehint=-1, flags=0)", init_epoll},
    {"fromfd(cls, fd, /)", epoll_from_file, "An epoll object of a control file's number."},
    {"register(self, fd, eventmask=7)",
     [](Interpreter& in, const Args& args) { return control(in, args, EPOLL_CTL_ADD, args[2]); },
     "Register a file for events."},
    {"modify(self, fd, eventmask)",
     [](Interpreter& in, const Args& args) { return control(in, args, EPOLL_CTL_MOD, args[2]); },
     "Change the events of a file."},
    {"unregister(self, fd)",
     [](Interpreter& in, const Args& args) { return control(in, args, EPOLL_CTL_DEL, Value()); },
     "Remove a file."},
    {"poll(self, timeout=None, maxevents=-1)", epoll_poll, "Wait for events: a list of (fd, events)."},
    {"close(self)",
     [](Interpreter&, const Args& args) {
       close_epoll(epoll_of(args));
       return Value::none();
     },
     "Close the control file."},
    {"fileno(self)", [](Interpreter&, const Args& args) { return Value::integer(open_epoll(epoll_of(args))); },
     "The control file's number."},
    {"__enter__(self, /)",
     [](Interpreter&, const Args& args) {
       open_epoll(epoll_of(args));
       return args[0];
     },
     ""},
    {"__exit__(self, exc_type=None, exc_value=None, exc_tb=None, /)",
     [](Interpreter&, const Args& args) {
       close_epoll(epoll_of(args));
       return Value::none();
     },
     ""},
};
constexpr NativeDef kPollMethods[] = {
    {"register(self, fd, eventmask=7, /)", poll_register, "Register a file for events."},
    {"modify(self, fd, eventmask, /)", poll_modify, "Change the events of a file."},
    {"unregister(self, fd, /)", poll_unregister, "Remove a file."},
    {"poll(self, timeout=None, /)", poll_poll, "Wait for events: a list of (fd, events)."},
};

void make_epoll_type(Interpreter& in, Module& module) {
  NativeTypeSpec spec;
  spec.name = "epoll";
  spec.module = "select";
  spec.size = sizeof(Epoll);
  spec.flags = kFinalType;
  Type* const type = in.new_type(spec);
  type->slots.layout = kEpollLayout;
  type->slots.destroy = [](Interpreter& in2, Object* self) {
    close_epoll(known_cast<Epoll>(self));
    free_object(in2, known_cast<Epoll>(self));
  };
  type->make = [](Interpreter& in2, Type* kind, const Args& args) {
    const Value made = Value::adopt(make_object<Epoll>(in2, kind));
    run_native_init(in2, made, args);
    return made;
  };
  in.add_methods(type, kEpollMethods, std::size(kEpollMethods));
  in.add_property(type, "closed", [](Interpreter&, const Args& args) {
    return Value::boolean(epoll_of(args)->file < 0);
  });
  set_member(in, module, "epoll", Value(static_cast<Object*>(type)));
}

void make_poll_type(Interpreter& in, Module& module) {
  NativeTypeSpec spec;
  spec.name = "poll";
  spec.module = "select";
  spec.size = sizeof(Poll);
  spec.flags = kFinalType;
  Type* const type = in.new_type(spec);
  type->slots.layout = kPollLayout;
  type->slots.destroy = [](Interpreter& in2, Object* self) { free_object(in2, known_cast<Poll>(self)); };
  type->make = refuse_to_make;
  in.add_methods(type, kPollMethods, std::size(kPollMethods));
  set_member(in, module, "_Poll", Value(static_cast<Object*>(type)));
}

// --- wakers: files of the interpreter's own that are ready to be read from wake() until clear(). What ends the wait of a loop.

Waker* waker_of(const Args& args) { return object_cast<Waker>(args[0]); }

void close_waker(Waker* waker) {
  if (waker->file >= 0) close(waker->file);
  waker->file = -1;
}

Value make_waker(Interpreter& in, Type* type, const Args&) {
  const int file = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (file < 0) throw_os_error(in, errno);
  Waker* const made = make_object<Waker>(in, type);
  made->file = file;
  return Value::adopt(made);
}

constexpr NativeDef kWakerMethods[] = {
    {"wake(self, /)",
     [](Interpreter&, const Args& args) {
       if (waker_of(args)->file >= 0) eventfd_write(waker_of(args)->file, 1);
       return Value::none();
     },
     "Be ready to be read."},
    {"clear(self, /)",
     [](Interpreter&, const Args& args) {
       eventfd_t count;
       if (waker_of(args)->file >= 0) eventfd_read(waker_of(args)->file, &count);
       return Value::none();
     },
     "Be it no longer."},
    {"close(self, /)",
     [](Interpreter&, const Args& args) {
       close_waker(waker_of(args));
       return Value::none();
     },
     "Close the file."},
    {"fileno(self, /)", [](Interpreter&, const Args& args) { return Value::integer(waker_of(args)->file); },
     "The file's number."},
};

void make_waker_type(Interpreter& in, Module& module) {
  NativeTypeSpec spec;
  spec.name = "Waker";
  spec.module = "select";
  spec.size = sizeof(Waker);
  spec.flags = kFinalType;
  Type* const type = in.new_type(spec);
  type->slots.layout = kWakerLayout;
  type->slots.destroy = [](Interpreter& in2, Object* self) {
    close_waker(known_cast<Waker>(self));
    free_object(in2, known_cast<Waker>(self));
  };
  type->make = make_waker;
  in.add_methods(type, kWakerMethods, std::size(kWakerMethods));
  set_member(in, module, "_Waker", Value(static_cast<Object*>(type)));
}

Value make_poll(Interpreter& in, const Args&) {
  const Value found = get_attr(in, Value(in.import("select")), intern(in, "_Poll"));
  return Value::adopt(make_object<Poll>(in, own_type(found, kPollLayout, "select._Poll")));
}

constexpr NativeDef kFunctions[] = {
    {"poll()", make_poll, "An object that waits for files by their numbers."},
    {"select(rlist, wlist, xlist, timeout=None, /)", select_files,
     "Wait until one or more file descriptors are ready for some kind of I/O."},
};

}  // namespace

// A file by its number may be any file of the host's process: only a waker needs no grant.
int descriptor_of(Interpreter& in, const Value& v) {
  if (has_layout(v, kWakerLayout)) return object_cast<Waker>(v)->file;
  require(in.limits.processes || in.limits.network, "files by number");
  int64_t number;
  if (v.is_int()) {
    number = v.as_int();
  } else {
    const Value method = v.is_object() ? find_attr(in, v, intern(in, "fileno")) : Value();
    if (method.is_undefined()) {
      throw Error(ErrorKind::TypeError, "argument must be an int, or have a fileno() method.");
    }
    const Value answer = call(in, method);
    if (!answer.is_int()) throw Error(ErrorKind::TypeError, "fileno() returned a non-integer");
    number = answer.as_int();
  }
  if (number < 0 || number > INT32_MAX) {
    throw_error(ErrorKind::ValueError, "file descriptor cannot be a negative integer (%lld)",
                static_cast<long long>(number));
  }
  return static_cast<int>(number);
}

void fill_select(Interpreter& in, Module& module) {
  for (const NativeDef& row : kFunctions) in.def(module, row.signature, row.doc, row.function);
  make_epoll_type(in, module);
  make_poll_type(in, module);
  make_waker_type(in, module);
  constexpr NamedNumber kNumbers[] = {
      {"POLLIN", POLLIN},       {"POLLPRI", POLLPRI},         {"POLLOUT", POLLOUT},
      {"POLLERR", POLLERR},     {"POLLHUP", POLLHUP},         {"POLLNVAL", POLLNVAL},
      {"POLLRDNORM", 64},       {"POLLRDBAND", 128},          {"POLLWRNORM", 256},
      {"POLLWRBAND", 512},      {"POLLMSG", 1024},            {"POLLRDHUP", 0x2000},
      {"EPOLLIN", EPOLLIN},     {"EPOLLOUT", EPOLLOUT},       {"EPOLLPRI", EPOLLPRI},
      {"EPOLLERR", EPOLLERR},   {"EPOLLHUP", EPOLLHUP},       {"EPOLLRDHUP", EPOLLRDHUP},
      {"EPOLLET", 1ll << 31},   {"EPOLLONESHOT", 1ll << 30},  {"EPOLLEXCLUSIVE", 1ll << 28},
      {"EPOLLRDNORM", EPOLLRDNORM}, {"EPOLLRDBAND", EPOLLRDBAND}, {"EPOLLWRNORM", EPOLLWRNORM},
      {"EPOLLWRBAND", EPOLLWRBAND}, {"EPOLLMSG", EPOLLMSG},   {"EPOLL_CLOEXEC", EPOLL_CLOEXEC},
      {"PIPE_BUF", 4096},
  };
  set_numbers(in, module, kNumbers);
  set_member(in, module, "error", Value(static_cast<Object*>(error_type(in, ErrorKind::OSError))));
}

}  // namespace tessera::stdlib

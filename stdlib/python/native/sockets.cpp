// _socket: the system's sockets. Every wait is a safe point every few milliseconds; a host must grant the network.
// compile: small (the system calls take longer)
#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"
#include "lang/objects/exception.h"
#include "lang/types/bytes.h"
#include "lang/types/types.h"
#include "stdlib/python/native/descriptors.h"
#include "stdlib/python/native/named_numbers.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/processes.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

struct Socket : Object {
  int file = -1;
  int family = AF_INET, socket_type = SOCK_STREAM, protocol = 0;
  double timeout = -1;  // seconds; negative: blocks; zero: does not
};

constexpr char kSocketLayout[] = "_socket.socket";

Socket* socket_of(const Value& v) { return object_cast<Socket>(v); }
void network(Interpreter& in) { require(in.limits.network, "the network"); }

// --- addresses

struct Address {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

[[noreturn]] void throw_lookup_error(Interpreter& in, int code) {
  if (code == EAI_SYSTEM) throw_os_error(in, errno);
  const Value error = get_attr(in, Value(static_cast<Object*>(in.import("socket"))), intern(in, "gaierror"));
  throw Thrown(call(in, error, {Value::integer(code), make_str(in, gai_strerror(code))}));
}

// getaddrinfo() may ask a server for seconds: another thread does that, and what nobody waits for any more is dropped there.
struct Lookup {
  std::string host, service;
  bool has_host = false, has_service = false;
  addrinfo hints{};
  addrinfo* found = nullptr;
  int code = 0;
  std::atomic<bool> done{false};
  ~Lookup() {
    if (found != nullptr) freeaddrinfo(found);
  }
  void run() {
    code = getaddrinfo(has_host ? host.c_str() : nullptr, has_service ? service.c_str() : nullptr, &hints, &found);
    done.store(true);
  }
};

void look_up(Interpreter& in, const std::shared_ptr<Lookup>& lookup) {
  const int flags = lookup->hints.ai_flags;
  lookup->hints.ai_flags |= AI_NUMERICHOST;  // a number needs no server
  lookup->run();
  lookup->hints.ai_flags = flags;
  if (lookup->code == EAI_NONAME && lookup->has_host && !(flags & AI_NUMERICHOST)) {
    lookup->done.store(false);
    std::thread([lookup] { lookup->run(); }).detach();
    while (!lookup->done.load()) {
      in.poll();
      usleep(500);
    }
  }
  if (lookup->code != 0) throw_lookup_error(in, lookup->code);
}

std::string host_text(Interpreter& in, const Value& host) {
  if (is_str(host)) return std::string(text_of(host));
  if (is_bytes(host)) return std::string(bytes_of(host));
  throw_error(ErrorKind::TypeError, "str, bytes or bytearray expected, not %s",
              std::string(type_name(in, host)).c_str());
}

void set_host(Interpreter& in, Address& address, int family, const std::string& host) {
  const auto lookup = std::make_shared<Lookup>();
  lookup->host.assign(host == "<broadcast>" ? std::string_view("255.255.255.255") : std::string_view(host));
  lookup->has_host = !host.empty();
  lookup->service.assign(1, '0');
  lookup->has_service = !lookup->has_host;
  lookup->hints.ai_family = family;
  lookup->hints.ai_socktype = SOCK_DGRAM;
  lookup->hints.ai_flags = AI_PASSIVE;
  look_up(in, lookup);
  std::memcpy(&address.storage, lookup->found->ai_addr, lookup->found->ai_addrlen);
  address.size = lookup->found->ai_addrlen;
}

uint16_t port_of(Interpreter& in, const Value& v, const char* caller) {
  const int64_t port = int_argument(in, v);
  if (port < 0 || port > 65535) throw_error(ErrorKind::OverflowError, "%s(): port must be 0-65535.", caller);
  return htons(static_cast<uint16_t>(port));
}

Address unix_address(Interpreter& in, const Value& v) {
  const std::string path = is_bytes(v) ? std::string(bytes_of(v)) : path_argument(in, v);
  Address address;
  auto* const place = reinterpret_cast<sockaddr_un*>(&address.storage);
  if (path.size() >= sizeof place->sun_path) throw Error(ErrorKind::OSError, "AF_UNIX path too long");
  place->sun_family = AF_UNIX;
  std::memcpy(place->sun_path, path.data(), path.size());
  const bool abstract = !path.empty() && path[0] == 0;
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + (abstract ? 0 : 1));
  return address;
}

Address address_of(Interpreter& in, const Socket* socket, const Value& v, const char* caller) {
  if (socket->family == AF_UNIX) return unix_address(in, v);
  if (!is_tuple(v)) {
    throw_error(ErrorKind::TypeError, "%s(): %s address must be tuple, not %s", caller,
                socket->family == AF_INET6 ? "AF_INET6" : "AF_INET", std::string(type_name(in, v)).c_str());
  }
  const Tuple& parts = *as_tuple(v);
  const uint32_t most = socket->family == AF_INET6 ? 4 : 2;
  if (parts.size < 2 || parts.size > most) {
    throw_error(ErrorKind::TypeError, "%s", socket->family == AF_INET6
                                                ? "AF_INET6 address must be a tuple (host, port[, flowinfo[, scopeid]])"
                                                : "AF_INET address must be a pair (host, port)");
  }
  Address address;
  set_host(in, address, socket->family, host_text(in, parts[0]));
  const uint16_t port = port_of(in, parts[1], caller);
  if (socket->family == AF_INET6) {
    auto* const place = reinterpret_cast<sockaddr_in6*>(&address.storage);
    place->sin6_port = port;
    if (parts.size > 2) place->sin6_flowinfo = htonl(static_cast<uint32_t>(int_argument(in, parts[2])));
    if (parts.size > 3) place->sin6_scope_id = static_cast<uint32_t>(int_argument(in, parts[3]));
  } else {
    reinterpret_cast<sockaddr_in*>(&address.storage)->sin_port = port;
  }
  return address;
}

Value show_address(Interpreter& in, const Address& address) {
  if (address.size == 0) return Value::none();
  char text[INET6_ADDRSTRLEN];
  switch (address.storage.ss_family) {
    case AF_INET: {
      const auto* const place = reinterpret_cast<const sockaddr_in*>(&address.storage);
      inet_ntop(AF_INET, &place->sin_addr, text, sizeof text);
      return make_tuple(in, {make_str(in, text), Value::integer(ntohs(place->sin_port))});
    }
    case AF_INET6: {
      const auto* const place = reinterpret_cast<const sockaddr_in6*>(&address.storage);
      inet_ntop(AF_INET6, &place->sin6_addr, text, sizeof text);
      return make_tuple(in, {make_str(in, text), Value::integer(ntohs(place->sin6_port)),
                             Value::integer(ntohl(place->sin6_flowinfo)), Value::integer(place->sin6_scope_id)});
    }
    case AF_UNIX: {
      const auto* const place = reinterpret_cast<const sockaddr_un*>(&address.storage);
      const size_t size = address.size - offsetof(sockaddr_un, sun_path);
      if (size > 0 && place->sun_path[0] == 0) return make_bytes(in, {place->sun_path, size});
      return make_str_lossy(in, {place->sun_path, strnlen(place->sun_path, size)});
    }
    default: return Value::none();
  }
}

// --- waiting

// Has the call done without its wait: EAGAIN under a timeout means to wait for the file and to try again.
template <class Step>
int64_t with_wait(Interpreter& in, Socket* socket, short events, Step&& step) {
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    const int64_t answer = step();
    if (answer >= 0) return answer;
    if (errno == EINTR) {
      in.poll();
      continue;
    }
    if ((errno != EAGAIN && errno != EWOULDBLOCK) || socket->timeout == 0) throw_os_error(in, errno);
    double left = socket->timeout;
    if (left > 0) {
      left -= std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      if (left <= 0) throw Error(ErrorKind::TimeoutError, "timed out");
    }
    pollfd file{socket->file, events, 0};
    const int ready = wait_in_slices(in, left, [&](int milliseconds) { return poll(&file, 1, milliseconds); });
    if (ready == 0) throw Error(ErrorKind::TimeoutError, "timed out");
  }
}

int64_t checked(Interpreter& in, int64_t answer) {
  if (answer < 0) throw_os_error(in, errno);
  return answer;
}

// --- making and closing

// The file never blocks: with_wait() waits, so that the program can be stopped.
void take_file(Socket* socket, int file) {
  socket->file = file;
  fcntl(file, F_SETFL, fcntl(file, F_GETFL) | O_NONBLOCK);
}

double& default_timeout(Interpreter& in) { return in.shared->socket_timeout; }

Value make_socket(Interpreter& in, Type* type, const Args&) {
  Socket* const made = make_object<Socket>(in, type);
  return Value::adopt(made);
}

int number_or(Interpreter& in, const Value& v, int otherwise) {
  const int given = small(in, v);
  return given == -1 ? otherwise : given;
}

int option_of(int file, int name) {
  int value = 0;
  socklen_t size = sizeof value;
  if (getsockopt(file, SOL_SOCKET, name, &value, &size) < 0) return -1;
  return value;
}

Value socket_init(Interpreter& in, const Args& args) {
  network(in);
  Socket* const socket = socket_of(args[0]);
  if (!args[4].is_none()) {
    const int file = small(in, args[4]);
    if (file < 0) throw Error(ErrorKind::ValueError, "negative file descriptor");
    Address address;
    if (getsockname(file, address.get(), &address.size) < 0) throw_os_error(in, errno);
    socket->family = number_or(in, args[1], address.storage.ss_family);
    socket->socket_type = number_or(in, args[2], option_of(file, SO_TYPE));
    socket->protocol = number_or(in, args[3], option_of(file, SO_PROTOCOL));
    const bool blocks = !(fcntl(file, F_GETFL) & O_NONBLOCK);
    take_file(socket, file);
    socket->timeout = blocks ? -1 : 0;
  } else {
    socket->family = number_or(in, args[1], AF_INET);
    const int type = number_or(in, args[2], SOCK_STREAM);
    socket->protocol = number_or(in, args[3], 0);
    const int file = ::socket(socket->family, type | SOCK_CLOEXEC, socket->protocol);
    if (file < 0) throw_os_error(in, errno);
    socket->socket_type = type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC);
    take_file(socket, file);
    socket->timeout = type & SOCK_NONBLOCK ? 0 : default_timeout(in);
  }
  return Value::none();
}

Value socket_close(Interpreter& in, const Args& args) {
  const int file = std::exchange(socket_of(args[0])->file, -1);
  if (file >= 0 && close(file) < 0 && errno != ECONNRESET) throw_os_error(in, errno);
  return Value::none();
}

Value socket_detach(Interpreter&, const Args& args) {
  return Value::integer(std::exchange(socket_of(args[0])->file, -1));
}

// --- connecting

// 0, or the number of the error.
int connect_to(Interpreter& in, Socket* socket, const Address& address) {
  if (connect(socket->file, address.get(), address.size) == 0) return 0;
  if (errno != EINPROGRESS || socket->timeout == 0) return errno;
  pollfd file{socket->file, POLLOUT, 0};
  const int ready =
      wait_in_slices(in, socket->timeout, [&](int milliseconds) { return poll(&file, 1, milliseconds); });
  return ready == 0 ? EAGAIN : option_of(socket->file, SO_ERROR);
}

Value socket_connect(Interpreter& in, const Args& args) {
  Socket* const socket = socket_of(args[0]);
  const int failed = connect_to(in, socket, address_of(in, socket, args[1], "connect"));
  if (failed == EAGAIN && socket->timeout > 0) throw Error(ErrorKind::TimeoutError, "timed out");
  if (failed != 0) throw_os_error(in, failed);
  return Value::none();
}

Value socket_connect_ex(Interpreter& in, const Args& args) {
  Socket* const socket = socket_of(args[0]);
  return Value::integer(connect_to(in, socket, address_of(in, socket, args[1], "connect_ex")));
}

Value socket_bind(Interpreter& in, const Args& args) {
  Socket* const socket = socket_of(args[0]);
  const Address address = address_of(in, socket, args[1], "bind");
  checked(in, bind(socket->file, address.get(), address.size));
  return Value::none();
}

Value socket_listen(Interpreter& in, const Args& args) {
  checked(in, listen(socket_of(args[0])->file, std::max(0, small(in, args[1]))));
  return Value::none();
}

Value socket_accept(Interpreter& in, const Args& args) {
  Socket* const socket = socket_of(args[0]);
  Address address;
  const int64_t file = with_wait(in, socket, POLLIN, [&] {
    address.size = sizeof address.storage;
    return accept4(socket->file, address.get(), &address.size, SOCK_CLOEXEC);
  });
  return make_tuple(in, {Value::integer(file), show_address(in, address)});
}

Value socket_shutdown(Interpreter& in, const Args& args) {
  checked(in, shutdown(socket_of(args[0])->file, small(in, args[1])));
  return Value::none();
}

// --- receiving

size_t room_argument(Interpreter& in, const Value& v, const char* caller) {
  const int64_t room = int_argument(in, v);
  if (room < 0) throw_error(ErrorKind::ValueError, "negative buffersize in %s", caller);
  return static_cast<size_t>(room);
}

Value receive(Interpreter& in, Socket* socket, size_t room, int flags, Address* from) {
  Bytes* const made = new_bytes(in, room);
  const Value held = Value::adopt(made);
  const int64_t got = with_wait(in, socket, POLLIN, [&]() -> int64_t {
    if (from == nullptr) return recv(socket->file, made->data(), room, flags);
    from->size = sizeof from->storage;
    return recvfrom(socket->file, made->data(), room, flags, from->get(), &from->size);
  });
  if (static_cast<size_t>(got) == room) return held;
  return make_bytes(in, made->view().substr(0, static_cast<size_t>(got)));
}

Value socket_recv(Interpreter& in, const Args& args) {
  return receive(in, socket_of(args[0]), room_argument(in, args[1], "recv"), small(in, args[2]), nullptr);
}

Value socket_recvfrom(Interpreter& in, const Args& args) {
  Address from;
  const Value data = receive(in, socket_of(args[0]), room_argument(in, args[1], "recvfrom"), small(in, args[2]), &from);
  return make_tuple(in, {data, show_address(in, from)});
}

int64_t receive_into(Interpreter& in, const Args& args, Address* from, const char* caller) {
  Socket* const socket = socket_of(args[0]);
  const PinnedBuffer buffer(in, args[1], true);
  size_t room = room_argument(in, args[2], caller);
  if (room == 0) room = buffer.get().size;
  if (room > buffer.get().size) {
    throw_error(ErrorKind::ValueError, "nbytes is greater than the length of the buffer");
  }
  const int flags = small(in, args[3]);
  return with_wait(in, socket, POLLIN, [&]() -> int64_t {
    if (from == nullptr) return recv(socket->file, const_cast<char*>(buffer.view().data()), room, flags);
    from->size = sizeof from->storage;
    return recvfrom(socket->file, const_cast<char*>(buffer.view().data()), room, flags, from->get(), &from->size);
  });
}

Value socket_recv_into(Interpreter& in, const Args& args) {
  return Value::integer(receive_into(in, args, nullptr, "recv_into"));
}

Value socket_recvfrom_into(Interpreter& in, const Args& args) {
  Address from;
  const int64_t got = receive_into(in, args, &from, "recvfrom_into");
  return make_tuple(in, {Value::integer(got), show_address(in, from)});
}

// --- sending

Value socket_send(Interpreter& in, const Args& args) {
  Socket* const socket = socket_of(args[0]);
  const BytesLike data(in, args[1]);  // another thread may run during the wait
  const int flags = small(in, args[2]) | MSG_NOSIGNAL;
  return Value::integer(with_wait(in, socket, POLLOUT, [&] {
    return send(socket->file, data.view().data(), data.view().size(), flags);
  }));
}

Value socket_sendall(Interpreter& in, const Args& args) {
  Socket* const socket = socket_of(args[0]);
  const BytesLike data(in, args[1]);
  const int flags = small(in, args[2]) | MSG_NOSIGNAL;
  size_t sent = 0;
  while (sent < data.view().size()) {
    sent += static_cast<size_t>(with_wait(in, socket, POLLOUT, [&] {
      return send(socket->file, data.view().data() + sent, data.view().size() - sent, flags);
    }));
    in.poll();
  }
  return Value::none();
}

// sendto(data[, flags], address)
Value socket_sendto(Interpreter& in, const Args& args) {
  const uint32_t given = args.positional();
  if (given < 3 || given > 4) {
    throw_error(ErrorKind::TypeError, "sendto() takes 2 or 3 arguments (%u given)", given == 0 ? 0 : given - 1);
  }
  Socket* const socket = socket_of(args[0]);
  const BytesLike data(in, args[1]);
  const int flags = (given == 4 ? small(in, args[2]) : 0) | MSG_NOSIGNAL;
  const Address address = address_of(in, socket, args[given - 1], "sendto");
  return Value::integer(with_wait(in, socket, POLLOUT, [&] {
    return sendto(socket->file, data.view().data(), data.view().size(), flags, address.get(), address.size);
  }));
}

// --- settings

Value socket_settimeout(Interpreter& in, const Args& args) {
  double seconds = -1;
  if (!args[1].is_none()) {
    seconds = to_float(in, args[1]);
    if (seconds < 0) throw Error(ErrorKind::ValueError, "Timeout value out of range");
  }
  socket_of(args[0])->timeout = seconds;
  return Value::none();
}

Value timeout_value(double seconds) { return seconds < 0 ? Value::none() : Value::real(seconds); }

Value socket_getsockopt(Interpreter& in, const Args& args) {
  const int file = socket_of(args[0])->file;
  const int size = small(in, args[3]);
  if (size == 0) {
    int value = 0;
    socklen_t length = sizeof value;
    checked(in, getsockopt(file, small(in, args[1]), small(in, args[2]), &value, &length));
    return Value::integer(value);
  }
  if (size < 0 || size > 1024) throw Error(ErrorKind::OSError, "getsockopt buflen out of range");
  char buffer[1024];
  socklen_t length = static_cast<socklen_t>(size);
  checked(in, getsockopt(file, small(in, args[1]), small(in, args[2]), buffer, &length));
  return make_bytes(in, {buffer, length});
}

Value socket_setsockopt(Interpreter& in, const Args& args) {
  const int file = socket_of(args[0])->file;
  if (args[3].is_int() || args[3].is_bool()) {
    const int value = small(in, args[3]);
    checked(in, setsockopt(file, small(in, args[1]), small(in, args[2]), &value, sizeof value));
  } else {
    const BytesLike value(in, args[3]);
    checked(in, setsockopt(file, small(in, args[1]), small(in, args[2]), value.view().data(),
                           static_cast<socklen_t>(value.view().size())));
  }
  return Value::none();
}

template <int (*kCall)(int, sockaddr*, socklen_t*)>
Value socket_name(Interpreter& in, const Args& args) {
  Address address;
  checked(in, kCall(socket_of(args[0])->file, address.get(), &address.size));
  return show_address(in, address);
}
int own_name(int file, sockaddr* place, socklen_t* size) { return getsockname(file, place, size); }
int peer_name(int file, sockaddr* place, socklen_t* size) { return getpeername(file, place, size); }

constexpr NativeDef kMethods[] = {
    {"__init__(self, family=-1, type=-1, proto=-1, fileno=None)", socket_init, ""},
    {"_accept(self, /)", socket_accept, "Number and address of a connection."},
    {"bind(self, address, /)", socket_bind, "Bind the socket to a local address."},
    {"close(self, /)", socket_close, "Close the socket."},
    {"connect(self, address, /)", socket_connect, "Connect the socket to a remote address."},
    {"connect_ex(self, address, /)", socket_connect_ex, "The same; an error is returned by its number."},
    {"detach(self, /)", socket_detach, "Close the socket object without closing the file."},
    {"fileno(self, /)", [](Interpreter&, const Args& args) { return Value::integer(socket_of(args[0])->file); },
     "The number of the socket's file."},
    {"getpeername(self, /)", socket_name<peer_name>, "The address at the other end."},
    {"getsockname(self, /)", socket_name<own_name>, "The address at this end."},
    {"getsockopt(self, level, option, buffersize=0, /)", socket_getsockopt, "Get a socket option."},
    {"setsockopt(self, level, option, value, /)", socket_setsockopt, "Set a socket option."},
    {"listen(self, backlog=128, /)", socket_listen, "Accept connections from now on."},
    {"recv(self, bufsize, flags=0, /)", socket_recv, "Receive up to so many bytes."},
    {"recvfrom(self, bufsize, flags=0, /)", socket_recvfrom, "The same, with the sender's address."},
    {"recv_into(self, buffer, nbytes=0, flags=0)", socket_recv_into, "Receive into a buffer."},
    {"recvfrom_into(self, buffer, nbytes=0, flags=0)", socket_recvfrom_into, "The same, with the sender's address."},
    {"send(self, data, flags=0, /)", socket_send, "Send bytes; return how many were taken."},
    {"sendall(self, data, flags=0, /)", socket_sendall, "Send all of the bytes."},
    {"shutdown(self, how, /)", socket_shutdown, "End receiving, sending or both."},
    {"settimeout(self, timeout, /)", socket_settimeout, "Seconds that a call may take; None: no limit."},
    {"gettimeout(self, /)",
     [](Interpreter&, const Args& args) { return timeout_value(socket_of(args[0])->timeout); },
     "The timeout, or None."},
    {"setblocking(self, flag, /)",
     [](Interpreter& in, const Args& args) {
       socket_of(args[0])->timeout = truth(in, args[1]) ? -1 : 0;
       return Value::none();
     },
     "Whether calls wait."},
    {"getblocking(self, /)",
     [](Interpreter&, const Args& args) { return Value::boolean(socket_of(args[0])->timeout != 0); },
     "Do calls wait?"},
};

void make_socket_type(Interpreter& in, Module& module) {
  NativeTypeSpec spec;
  spec.name = "socket";
  spec.module = "_socket";
  spec.size = sizeof(Socket);
  Type* const type = in.new_type(spec);
  type->slots.layout = kSocketLayout;
  type->slots.destroy = [](Interpreter& in2, Object* self) {
    if (known_cast<Socket>(self)->file >= 0) close(known_cast<Socket>(self)->file);
    free_object(in2, known_cast<Socket>(self));
  };
  type->make = make_socket;
  in.add_methods(type, kMethods, std::size(kMethods));
  const NativeDef send_to{"sendto", socket_sendto, "Send bytes to an address."};
  in.add_methods(type, &send_to, 1);
  in.add_property(type, "family", [](Interpreter&, const Args& args) {
    return Value::integer(socket_of(args[0])->family);
  });
  in.add_property(type, "type", [](Interpreter&, const Args& args) {
    return Value::integer(socket_of(args[0])->socket_type);
  });
  in.add_property(type, "proto", [](Interpreter&, const Args& args) {
    return Value::integer(socket_of(args[0])->protocol);
  });
  in.add_property(type, "timeout", [](Interpreter&, const Args& args) {
    return timeout_value(socket_of(args[0])->timeout);
  });
  for (const char* name : {"socket", "SocketType"}) set_member(in, module, name, Value(static_cast<Object*>(type)));
}

// --- functions

Value get_addresses(Interpreter& in, const Args& args) {
  network(in);
  const auto lookup = std::make_shared<Lookup>();
  lookup->has_host = !args[0].is_none();
  if (lookup->has_host) lookup->host = host_text(in, args[0]);
  lookup->has_service = !args[1].is_none();
  if (args[1].is_int()) lookup->service = std::to_string(args[1].as_int());
  else if (lookup->has_service) lookup->service = host_text(in, args[1]);
  lookup->hints.ai_family = small(in, args[2]);
  lookup->hints.ai_socktype = small(in, args[3]);
  lookup->hints.ai_protocol = small(in, args[4]);
  lookup->hints.ai_flags = small(in, args[5]);
  look_up(in, lookup);
  const Value answer = make_list(in);
  for (const addrinfo* row = lookup->found; row != nullptr; row = row->ai_next) {
    Address address;
    std::memcpy(&address.storage, row->ai_addr, row->ai_addrlen);
    address.size = row->ai_addrlen;
    const Value name = make_str(in, row->ai_canonname != nullptr ? row->ai_canonname : "");
    list_append(in, as_list(answer),
                make_tuple(in, {Value::integer(row->ai_family), Value::integer(row->ai_socktype),
                                Value::integer(row->ai_protocol), name, show_address(in, address)}));
  }
  return answer;
}

Value get_name(Interpreter& in, const Args& args) {
  network(in);
  Socket like;
  const Value parts = args[0];
  if (!is_tuple(parts)) throw Error(ErrorKind::TypeError, "getnameinfo() argument 1 must be a tuple");
  if (as_tuple(parts)->size > 0 && is_str((*as_tuple(parts))[0]) &&
      text_of((*as_tuple(parts))[0]).find(':') != std::string_view::npos)
    like.family = AF_INET6;
  const Address address = address_of(in, &like, parts, "getnameinfo");
  char host[NI_MAXHOST], service[NI_MAXSERV];
  const int code = getnameinfo(address.get(), address.size, host, sizeof host, service, sizeof service,
                               small(in, args[1]));
  if (code != 0) throw_lookup_error(in, code);
  return make_tuple(in, {make_str(in, host), make_str(in, service)});
}

Value get_host_name(Interpreter& in, const Args&) {
  network(in);
  char name[256];
  checked(in, gethostname(name, sizeof name));
  return make_str(in, name);
}

Value make_pair(Interpreter& in, const Args& args) {
  network(in);
  int files[2];
  checked(in, socketpair(small(in, args[0]), small(in, args[1]) | SOCK_CLOEXEC, small(in, args[2]), files));
  return make_tuple(in, {Value::integer(files[0]), Value::integer(files[1])});
}

Value duplicate(Interpreter& in, const Args& args) {
  network(in);
  return Value::integer(checked(in, fcntl(descriptor_of(in, args[0]), F_DUPFD_CLOEXEC, 0)));
}

Value close_number(Interpreter& in, const Args& args) {
  network(in);
  checked(in, close(descriptor_of(in, args[0])));
  return Value::none();
}

Value get_default(Interpreter& in, const Args&) { return timeout_value(default_timeout(in)); }

Value set_default(Interpreter& in, const Args& args) {
  double seconds = -1;
  if (!args[0].is_none()) {
    seconds = to_float(in, args[0]);
    if (seconds < 0) throw Error(ErrorKind::ValueError, "Timeout value out of range");
  }
  default_timeout(in) = seconds;
  return Value::none();
}

template <class Number, Number (*kSwap)(Number)>
Value swap_bytes(Interpreter& in, const Args& args) {
  const int64_t number = int_argument(in, args[0]);
  if (number < 0) throw Error(ErrorKind::OverflowError, "can't convert negative Python int to C unsigned int");
  if (number > std::numeric_limits<Number>::max()) {
    throw_error(ErrorKind::OverflowError, "Python int too large to convert to C %zu-bit unsigned integer",
                8 * sizeof(Number));
  }
  return Value::integer(kSwap(static_cast<Number>(number)));
}
uint16_t swap16(uint16_t v) { return htons(v); }
uint32_t swap32(uint32_t v) { return htonl(v); }

Value text_to_address(Interpreter& in, const Args& args) {
  in_addr place;
  if (inet_aton(std::string(text_argument(in, args[0], "inet_aton() argument")).c_str(), &place) == 0) {
    throw Error(ErrorKind::OSError, "illegal IP address string passed to inet_aton");
  }
  return make_bytes(in, {reinterpret_cast<const char*>(&place), sizeof place});
}

Value address_to_text(Interpreter& in, const Args& args) {
  const BytesLike packed(in, args[0]);
  if (packed.view().size() != 4) throw Error(ErrorKind::OSError, "packed IP wrong length");
  char text[INET6_ADDRSTRLEN];
  return make_str(in, inet_ntop(AF_INET, packed.view().data(), text, sizeof text));
}

Value text_to_packed(Interpreter& in, const Args& args) {
  const int family = small(in, args[0]);
  char place[sizeof(in6_addr)];
  if (family != AF_INET && family != AF_INET6) throw_os_error(in, EAFNOSUPPORT);
  if (inet_pton(family, std::string(text_argument(in, args[1], "inet_pton() argument 2")).c_str(), place) != 1) {
    throw Error(ErrorKind::OSError, "illegal IP address string passed to inet_pton");
  }
  return make_bytes(in, {place, family == AF_INET ? 4u : 16u});
}

Value packed_to_text(Interpreter& in, const Args& args) {
  const int family = small(in, args[0]);
  const BytesLike packed(in, args[1]);
  if (family != AF_INET && family != AF_INET6) {
    throw_error(ErrorKind::ValueError, "unknown address family %d", family);
  }
  if (packed.view().size() != (family == AF_INET ? 4 : 16)) {
    throw Error(ErrorKind::ValueError, "invalid length of packed IP address string");
  }
  char text[INET6_ADDRSTRLEN];
  return make_str(in, inet_ntop(family, packed.view().data(), text, sizeof text));
}

Value service_port(Interpreter& in, const Args& args) {
  const std::string name(text_argument(in, args[0], "getservbyname() argument 1"));
  const std::string protocol = is_str(args[1]) ? std::string(text_of(args[1])) : std::string();
  const servent* const found = getservbyname(name.c_str(), protocol.empty() ? nullptr : protocol.c_str());
  if (found == nullptr) throw Error(ErrorKind::OSError, "service/proto not found");
  return Value::integer(ntohs(static_cast<uint16_t>(found->s_port)));
}

constexpr NativeDef kFunctions[] = {
    {"getaddrinfo(host, port, family=0, type=0, proto=0, flags=0)", get_addresses,
     "Resolve host and port into list of (family, type, proto, canonname, address)."},
    {"getnameinfo(sockaddr, flags, /)", get_name, "Host and port of an address."},
    {"gethostname()", get_host_name, "Return the current host name."},
    {"socketpair(family, type, proto, /)", make_pair, "The numbers of two sockets that are connected."},
    {"dup(fileno, /)", duplicate, "A second number for a socket's file."},
    {"close(fileno, /)", close_number, "Close a socket by its number."},
    {"getdefaulttimeout()", get_default, "The timeout of new sockets."},
    {"setdefaulttimeout(timeout, /)", set_default, "Set the timeout of new sockets."},
    {"htons(x, /)", swap_bytes<uint16_t, swap16>, "Convert a 16-bit integer from host to network byte order."},
    {"ntohs(x, /)", swap_bytes<uint16_t, swap16>, "Convert a 16-bit integer from network to host byte order."},
    {"htonl(x, /)", swap_bytes<uint32_t, swap32>, "Convert a 32-bit integer from host to network byte order."},
    {"ntohl(x, /)", swap_bytes<uint32_t, swap32>, "Convert a 32-bit integer from network to host byte order."},
    {"inet_aton(ip_addr, /)", text_to_address, "An IPv4 address as four bytes."},
    {"inet_ntoa(packed_ip, /)", address_to_text, "Four bytes as an IPv4 address."},
    {"inet_pton(address_family, ip_string, /)", text_to_packed, "An address as bytes."},
    {"inet_ntop(address_family, packed_ip, /)", packed_to_text, "Bytes as an address."},
    {"getservbyname(servicename, protocolname=None, /)", service_port, "The port of a service."},
};

constexpr NamedNumber kNumbers[] = {
    TS_NUMBER(AF_UNSPEC), TS_NUMBER(AF_UNIX), TS_NUMBER(AF_INET), TS_NUMBER(AF_INET6), TS_NUMBER(SOCK_STREAM), TS_NUMBER(SOCK_DGRAM),
    TS_NUMBER(SOCK_RAW), TS_NUMBER(SOCK_SEQPACKET), TS_NUMBER(SOCK_RDM), TS_NUMBER(SOCK_NONBLOCK), TS_NUMBER(SOCK_CLOEXEC),
    TS_NUMBER(SOL_SOCKET), TS_NUMBER(SO_REUSEADDR), TS_NUMBER(SO_REUSEPORT), TS_NUMBER(SO_KEEPALIVE), TS_NUMBER(SO_BROADCAST),
    TS_NUMBER(SO_ERROR), TS_NUMBER(SO_RCVBUF), TS_NUMBER(SO_SNDBUF), TS_NUMBER(SO_LINGER), TS_NUMBER(SO_TYPE), TS_NUMBER(SO_ACCEPTCONN),
    TS_NUMBER(SO_DEBUG), TS_NUMBER(SO_DONTROUTE), TS_NUMBER(SO_OOBINLINE), TS_NUMBER(SO_RCVTIMEO), TS_NUMBER(SO_SNDTIMEO),
    TS_NUMBER(SO_RCVLOWAT), TS_NUMBER(SO_SNDLOWAT), TS_NUMBER(SO_PROTOCOL), TS_NUMBER(SO_DOMAIN), TS_NUMBER(SOMAXCONN),
    TS_NUMBER(IPPROTO_IP), TS_NUMBER(IPPROTO_TCP), TS_NUMBER(IPPROTO_UDP), TS_NUMBER(IPPROTO_IPV6), TS_NUMBER(IPPROTO_ICMP),
    TS_NUMBER(IPPROTO_RAW), TS_NUMBER(TCP_NODELAY), TS_NUMBER(TCP_KEEPIDLE), TS_NUMBER(TCP_KEEPINTVL), TS_NUMBER(TCP_KEEPCNT),
    TS_NUMBER(TCP_MAXSEG), TS_NUMBER(TCP_CORK), TS_NUMBER(TCP_DEFER_ACCEPT), TS_NUMBER(TCP_QUICKACK), TS_NUMBER(TCP_USER_TIMEOUT),
    TS_NUMBER(IPV6_V6ONLY), TS_NUMBER(IP_TTL), TS_NUMBER(IP_TOS), TS_NUMBER(IP_ADD_MEMBERSHIP), TS_NUMBER(IP_DROP_MEMBERSHIP),
    TS_NUMBER(IP_MULTICAST_IF), TS_NUMBER(IP_MULTICAST_LOOP), TS_NUMBER(IP_MULTICAST_TTL), TS_NUMBER(SHUT_RD), TS_NUMBER(SHUT_WR),
    TS_NUMBER(SHUT_RDWR), TS_NUMBER(MSG_OOB), TS_NUMBER(MSG_PEEK), TS_NUMBER(MSG_DONTWAIT), TS_NUMBER(MSG_WAITALL),
    TS_NUMBER(MSG_NOSIGNAL), TS_NUMBER(MSG_TRUNC), TS_NUMBER(AI_PASSIVE), TS_NUMBER(AI_CANONNAME), TS_NUMBER(AI_NUMERICHOST),
    TS_NUMBER(AI_NUMERICSERV), TS_NUMBER(AI_ADDRCONFIG), TS_NUMBER(AI_V4MAPPED), TS_NUMBER(AI_ALL), TS_NUMBER(EAI_AGAIN),
    TS_NUMBER(EAI_BADFLAGS), TS_NUMBER(EAI_FAIL), TS_NUMBER(EAI_FAMILY), TS_NUMBER(EAI_MEMORY), TS_NUMBER(EAI_NONAME),
    TS_NUMBER(EAI_SERVICE), TS_NUMBER(EAI_SOCKTYPE), TS_NUMBER(EAI_SYSTEM), TS_NUMBER(NI_NUMERICHOST), TS_NUMBER(NI_NUMERICSERV),
    TS_NUMBER(NI_NAMEREQD), TS_NUMBER(NI_DGRAM), TS_NUMBER(NI_NOFQDN), TS_NUMBER(INADDR_ANY), TS_NUMBER(INADDR_BROADCAST),
    TS_NUMBER(INADDR_LOOPBACK),
    TS_NUMBER(SOL_IP), TS_NUMBER(SOL_TCP), {"SOL_UDP", IPPROTO_UDP}, TS_NUMBER(IPPROTO_HOPOPTS), TS_NUMBER(IPPROTO_IGMP),
    TS_NUMBER(IPPROTO_IPIP), TS_NUMBER(IPPROTO_EGP), TS_NUMBER(IPPROTO_PUP), TS_NUMBER(IPPROTO_IDP), TS_NUMBER(IPPROTO_TP),
    TS_NUMBER(IPPROTO_ROUTING), TS_NUMBER(IPPROTO_FRAGMENT), TS_NUMBER(IPPROTO_RSVP), TS_NUMBER(IPPROTO_GRE), TS_NUMBER(IPPROTO_ESP),
    TS_NUMBER(IPPROTO_AH), TS_NUMBER(IPPROTO_ICMPV6), TS_NUMBER(IPPROTO_NONE), TS_NUMBER(IPPROTO_DSTOPTS), TS_NUMBER(IPPROTO_PIM),
    TS_NUMBER(IPPROTO_SCTP), TS_NUMBER(IPPROTO_UDPLITE), TS_NUMBER(IPV6_CHECKSUM), TS_NUMBER(IPV6_DONTFRAG), TS_NUMBER(IPV6_DSTOPTS),
    TS_NUMBER(IPV6_HOPLIMIT), TS_NUMBER(IPV6_HOPOPTS), TS_NUMBER(IPV6_JOIN_GROUP), TS_NUMBER(IPV6_LEAVE_GROUP),
    TS_NUMBER(IPV6_MULTICAST_HOPS), TS_NUMBER(IPV6_MULTICAST_IF), TS_NUMBER(IPV6_MULTICAST_LOOP), TS_NUMBER(IPV6_NEXTHOP),
    TS_NUMBER(IPV6_PATHMTU), TS_NUMBER(IPV6_PKTINFO), TS_NUMBER(IPV6_RECVHOPLIMIT), TS_NUMBER(IPV6_RECVPKTINFO),
    TS_NUMBER(IPV6_RECVTCLASS), TS_NUMBER(IPV6_TCLASS), TS_NUMBER(IPV6_UNICAST_HOPS), TS_NUMBER(IP_BIND_ADDRESS_NO_PORT),
    TS_NUMBER(IP_HDRINCL), TS_NUMBER(IP_MAX_MEMBERSHIPS), TS_NUMBER(IP_OPTIONS), TS_NUMBER(IP_RECVOPTS), TS_NUMBER(IP_RECVTOS),
    TS_NUMBER(IP_RETOPTS), TS_NUMBER(IP_TRANSPARENT), TS_NUMBER(MSG_CMSG_CLOEXEC), TS_NUMBER(MSG_CONFIRM), TS_NUMBER(MSG_CTRUNC),
    TS_NUMBER(MSG_DONTROUTE), TS_NUMBER(MSG_EOR), TS_NUMBER(MSG_ERRQUEUE), TS_NUMBER(MSG_FASTOPEN), TS_NUMBER(MSG_MORE),
    TS_NUMBER(NI_MAXHOST), TS_NUMBER(NI_MAXSERV), TS_NUMBER(SO_BINDTODEVICE), TS_NUMBER(SO_INCOMING_CPU), TS_NUMBER(SO_MARK),
    TS_NUMBER(SO_PASSCRED), TS_NUMBER(SO_PASSSEC), TS_NUMBER(SO_PEERCRED), TS_NUMBER(SO_PEERSEC), TS_NUMBER(SO_PRIORITY),
    TS_NUMBER(TCP_CONGESTION), TS_NUMBER(TCP_FASTOPEN), TS_NUMBER(TCP_INFO), TS_NUMBER(TCP_LINGER2), TS_NUMBER(TCP_NOTSENT_LOWAT),
    TS_NUMBER(TCP_SYNCNT), TS_NUMBER(TCP_WINDOW_CLAMP), TS_NUMBER(EAI_ADDRFAMILY), TS_NUMBER(EAI_NODATA), TS_NUMBER(EAI_OVERFLOW),
    TS_NUMBER(INADDR_NONE), TS_NUMBER(INADDR_UNSPEC_GROUP), TS_NUMBER(INADDR_ALLHOSTS_GROUP), TS_NUMBER(INADDR_MAX_LOCAL_GROUP),
    TS_NUMBER(IPPORT_RESERVED), TS_NUMBER(IPPORT_USERRESERVED),
};

}  // namespace

void fill_socket(Interpreter& in, Module& module) {
  for (const NativeDef& row : kFunctions) in.def(module, row.signature, row.doc, row.function);
  make_socket_type(in, module);
  set_numbers(in, module, kNumbers);
}

}  // namespace tessera::stdlib

// _termios: the settings of terminals, as lists [input, output, control, local, input speed, output speed, characters].
// compile: small (the system calls take longer)
#include <pty.h>
#include <sys/ioctl.h>
#include <termios.h>

#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "lang/core/make_object.h"
#include "lang/types/bytes.h"
#include "lang/types/list.h"
#include "stdlib/python/native/descriptors.h"
#include "stdlib/python/native/named_numbers.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/processes.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

constexpr NamedNumber kNumbers[] = {
    TS_NUMBER(B0), TS_NUMBER(B50), TS_NUMBER(B75), TS_NUMBER(B110), TS_NUMBER(B134), TS_NUMBER(B150), TS_NUMBER(B200),
    TS_NUMBER(B300), TS_NUMBER(B600), TS_NUMBER(B1200), TS_NUMBER(B1800), TS_NUMBER(B2400), TS_NUMBER(B4800),
    TS_NUMBER(B9600), TS_NUMBER(B19200), TS_NUMBER(B38400), TS_NUMBER(B57600), TS_NUMBER(B115200), TS_NUMBER(B230400),
    TS_NUMBER(TCOOFF), TS_NUMBER(TCOON), TS_NUMBER(TCIOFF), TS_NUMBER(TCION), TS_NUMBER(TCIFLUSH), TS_NUMBER(TCOFLUSH),
    TS_NUMBER(TCIOFLUSH), TS_NUMBER(TCSANOW), TS_NUMBER(TCSADRAIN), TS_NUMBER(TCSAFLUSH), TS_NUMBER(IGNBRK),
    TS_NUMBER(BRKINT), TS_NUMBER(IGNPAR), TS_NUMBER(PARMRK), TS_NUMBER(INPCK), TS_NUMBER(ISTRIP), TS_NUMBER(INLCR),
    TS_NUMBER(IGNCR), TS_NUMBER(ICRNL), TS_NUMBER(IUCLC), TS_NUMBER(IXON), TS_NUMBER(IXANY), TS_NUMBER(IXOFF),
    TS_NUMBER(IMAXBEL), TS_NUMBER(OPOST), TS_NUMBER(OLCUC), TS_NUMBER(ONLCR), TS_NUMBER(OCRNL), TS_NUMBER(ONOCR),
    TS_NUMBER(ONLRET), TS_NUMBER(OFILL), TS_NUMBER(OFDEL), TS_NUMBER(CSIZE), TS_NUMBER(CS5), TS_NUMBER(CS6),
    TS_NUMBER(CS7), TS_NUMBER(CS8), TS_NUMBER(CSTOPB), TS_NUMBER(CREAD), TS_NUMBER(PARENB), TS_NUMBER(PARODD),
    TS_NUMBER(HUPCL), TS_NUMBER(CLOCAL), TS_NUMBER(CRTSCTS), TS_NUMBER(ISIG), TS_NUMBER(ICANON), TS_NUMBER(XCASE),
    TS_NUMBER(ECHO), TS_NUMBER(ECHOE), TS_NUMBER(ECHOK), TS_NUMBER(ECHONL), TS_NUMBER(ECHOCTL), TS_NUMBER(ECHOPRT),
    TS_NUMBER(ECHOKE), TS_NUMBER(FLUSHO), TS_NUMBER(NOFLSH), TS_NUMBER(TOSTOP), TS_NUMBER(PENDIN), TS_NUMBER(IEXTEN),
    TS_NUMBER(VINTR), TS_NUMBER(VQUIT), TS_NUMBER(VERASE), TS_NUMBER(VKILL), TS_NUMBER(VEOF), TS_NUMBER(VTIME),
    TS_NUMBER(VMIN), TS_NUMBER(VSWTC), TS_NUMBER(VSTART), TS_NUMBER(VSTOP), TS_NUMBER(VSUSP), TS_NUMBER(VEOL),
    TS_NUMBER(VREPRINT), TS_NUMBER(VDISCARD), TS_NUMBER(VWERASE), TS_NUMBER(VLNEXT), TS_NUMBER(VEOL2), TS_NUMBER(NCCS),
    TS_NUMBER(TIOCGWINSZ), TS_NUMBER(TIOCSWINSZ), TS_NUMBER(FIONREAD),
};

// Without lines, two of the characters are numbers: how many bytes a read waits for, and how long.
bool is_number(const termios& settings, size_t place) {
  return (settings.c_lflag & ICANON) == 0 && (place == VMIN || place == VTIME);
}

Value get_settings(Interpreter& in, const Args& args) {
  termios settings{};
  if (tcgetattr(descriptor_of(in, args[0]), &settings) != 0) throw_os_error(in, errno);
  std::array<Value, NCCS> characters;
  for (size_t i = 0; i < NCCS; ++i) {
    const cc_t code = settings.c_cc[i];
    const char byte = static_cast<char>(code);
    characters[i] = is_number(settings, i) ? Value::integer(code) : make_bytes(in, {&byte, 1});
  }
  const Value items[] = {Value::integer(settings.c_iflag),       Value::integer(settings.c_oflag),
                         Value::integer(settings.c_cflag),       Value::integer(settings.c_lflag),
                         Value::integer(cfgetispeed(&settings)), Value::integer(cfgetospeed(&settings)),
                         make_list(in, characters.data(), characters.size())};
  return make_list(in, items, std::size(items));
}

cc_t character(Interpreter& in, const Value& v) {
  if (v.is_int()) return static_cast<cc_t>(v.as_int());
  const BytesLike bytes(in, v);
  if (bytes.view().size() != 1) {
    throw Error(ErrorKind::TypeError, "tcsetattr: elements of attributes must be characters or integers");
  }
  return static_cast<cc_t>(bytes.view()[0]);
}

Value set_settings(Interpreter& in, const Args& args) {
  const int file = descriptor_of(in, args[0]);
  if (!is_list(args[2]) || as_list(args[2])->size != 7) {
    throw Error(ErrorKind::TypeError, "tcsetattr, arg 3: must be 7 element list");
  }
  const std::vector<Value> items(as_list(args[2])->begin(), as_list(args[2])->end());
  if (!is_list(items[6]) || as_list(items[6])->size != NCCS) {
    throw Error(ErrorKind::TypeError, "tcsetattr: attributes[6] must be " + std::to_string(NCCS) + " element list");
  }
  termios settings{};
  if (tcgetattr(file, &settings) != 0) throw_os_error(in, errno);
  const auto flags = [&](size_t i) { return static_cast<tcflag_t>(int_argument(in, items[i])); };
  settings.c_iflag = flags(0);
  settings.c_oflag = flags(1);
  settings.c_cflag = flags(2);
  settings.c_lflag = flags(3);
  const std::vector<Value> characters(as_list(items[6])->begin(), as_list(items[6])->end());
  for (size_t i = 0; i < characters.size() && i < NCCS; ++i) settings.c_cc[i] = character(in, characters[i]);
  if (cfsetispeed(&settings, flags(4)) != 0 || cfsetospeed(&settings, flags(5)) != 0 ||
      tcsetattr(file, small(in, args[1]), &settings) != 0) {
    throw_os_error(in, errno);
  }
  return Value::none();
}

template <int (*Function)(int, int)>
Value control(Interpreter& in, const Args& args) {
  if (Function(descriptor_of(in, args[0]), small(in, args[1])) != 0) throw_os_error(in, errno);
  return Value::none();
}

Value open_pair(Interpreter& in, const Args&) {
  require(in.limits.processes, "processes");
  int ours = -1, theirs = -1;
  if (openpty(&ours, &theirs, nullptr, nullptr, nullptr) != 0) throw_os_error(in, errno);
  return make_tuple(in, {Value::integer(ours), Value::integer(theirs)});
}

constexpr NativeDef kFunctions[] = {
    {"tcgetattr(fd, /)", get_settings, "The settings of a terminal."},
    {"tcsetattr(fd, when, attributes, /)", set_settings, "Change the settings of a terminal."},
    {"tcsendbreak(fd, duration, /)", control<::tcsendbreak>, "Send a break."},
    {"tcflush(fd, queue, /)", control<::tcflush>, "Discard the data of a queue."},
    {"tcflow(fd, action, /)", control<::tcflow>, "Suspend or go on with input or output."},
    {"tcdrain(fd, /)",
     [](Interpreter& in, const Args& args) {
       if (tcdrain(descriptor_of(in, args[0])) != 0) throw_os_error(in, errno);
       return Value::none();
     },
     "Wait until all output has been sent."},
    {"openpty()", open_pair, "A pseudo-terminal: the ends of its master and of its slave."},
};

}  // namespace

void fill_termios(Interpreter& in, Module& module) {
  for (const NativeDef& each : kFunctions) in.def(module, each.signature, each.doc, each.function);
  set_numbers(in, module, kNumbers);
}

}  // namespace tessera::stdlib

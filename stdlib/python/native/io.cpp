// _io: text files, the standard streams and StringIO. One object for all three: they differ in where text comes from and
// goes to. Text that has been read ahead stands in `text` from `at` on; in a StringIO `text` is all there is.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "lang/core/booking.h"
#include "lang/core/host.h"
#include "lang/core/make_object.h"
#include "lang/core/names.h"
#include "lang/types/bytes.h"
#include "stdlib/python/native/binary_io.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"
#include "stdlib/python/native/text_codec.h"

namespace tessera::stdlib {
namespace {

constexpr size_t kBlock = 1 << 16;

enum class Place : uint8_t { Disk, Memory, In, Out, Error, Stream };

struct File : Object {
  Place place = Place::Memory;
  int fd = -1;
  bool closed = false, readable = true, writable = true, owns_fd = true, line_buffered = false, at_end = false,
       appends = false, write_through = false;
  Value name;
  std::string mode, encoding_name = "UTF-8", newline;  // newline: what "\n" becomes when written
  Encoding encoding = Encoding::Utf8;
  OnError on_error = OnError::Strict;
  bool translate = true;
  std::unique_ptr<Decoder> decoder;
  std::string text;
  Booking booked;  // of `text`
  size_t at = 0;
  int64_t consumed = 0;  // bytes of the file that `text` up to `at` stands for, when nothing was translated
  std::string pending;   // not written yet
  Value buffer;          // the binary file below: of a Stream, or once it was asked for
};

File* file_of(const Value& v) { return static_cast<File*>(v.as_object()); }
File* self_of(const Args& args) { return file_of(args[0]); }

// Writes what is pending; answers errno.
int write_pending(File* f) {
  size_t done = 0;
  while (done < f->pending.size()) {
    const ssize_t put = write(f->fd, f->pending.data() + done, f->pending.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    done += static_cast<size_t>(put);
  }
  f->pending.clear();
  return 0;
}

void flush(Interpreter& in, File* f) {
  if (f->place == Place::Stream) {
    if (!f->pending.empty()) call_method(in, f->buffer, intern(in, "write"), {make_bytes(in, f->pending)});
    f->pending.clear();
    return;
  }
  if (f->place == Place::Out && in.host().flush_out) in.host().flush_out();
  if (f->place != Place::Disk || f->pending.empty()) return;
  if (const int code = write_pending(f)) {
    f->pending.clear();
    throw_os_error(in, code);
  }
}

int close_file(File* f) {
  if (f->closed) return 0;
  int code = 0;
  if (f->place == Place::Disk) {
    code = write_pending(f);
    if (f->owns_fd && close(f->fd) != 0 && code == 0) code = errno;
    f->fd = -1;
  }
  f->closed = true;
  return code;
}

// A wrapper takes its stream with it; what that says has no listener.
void close_stream(Interpreter& in, File* f) noexcept {
  try {
    flush(in, f);
    call_method(in, f->buffer, intern(in, "close"));
  } catch (...) {
    f->pending.clear();
  }
}

void destroy_file(Interpreter& in, Object* self) {
  File* f = static_cast<File*>(self);
  if (f->place == Place::Stream && !f->closed) close_stream(in, f);
  close_file(f);
  free_object(in, static_cast<File*>(self));
}

void check_open(const File* f) {
  if (!f->closed) return;
  throw Error(ErrorKind::ValueError,
              f->place == Place::Memory ? "I/O operation on closed file" : "I/O operation on closed file.");
}

[[noreturn]] void throw_unsupported(Interpreter& in, const char* message) {
  const Value error_class = get_attr(in, Value(in.import("io")), intern(in, "UnsupportedOperation"));
  throw Thrown(call(in, error_class, {make_str(in, message)}));
}

void check_readable(Interpreter& in, File* f) {
  check_open(f);
  if (!f->readable) throw_unsupported(in, "not readable");
}

// --- reading ---

void forget_read(File* f) {
  f->text.clear();
  f->at = 0;
}

// Reads one more block; false at the end.
bool fill(Interpreter& in, File* f) {
  if (f->place == Place::Memory || f->at_end) return false;
  f->text.erase(0, f->at);
  f->at = 0;
  if (f->place == Place::In) {
    std::string line;
    if (!in.host().read_line || !in.host().read_line(line)) {
      f->at_end = true;
      return false;
    }
    if (line.empty() || line.back() != '\n') line += '\n';
    f->text += line;
    return true;
  }
  flush(in, f);
  if (!f->decoder) f->decoder = std::make_unique<Decoder>(f->encoding, f->on_error, f->translate);
  f->booked.cover(in.heap, f->text.size() + kBlock);
  in.poll();
  std::string block(kBlock, '\0');
  ssize_t got;
  if (f->place == Place::Stream) {
    const Value bytes = call_method(in, f->buffer, intern(in, "read"), {Value::integer(kBlock)});
    block = BytesLike(in, bytes).view();
    got = static_cast<ssize_t>(block.size());
  } else {
    do {
      got = read(f->fd, block.data(), block.size());
    } while (got < 0 && errno == EINTR);
    if (got < 0) throw_os_error(in, errno);
  }
  try {
    f->decoder->decode(std::string_view(block.data(), static_cast<size_t>(got)), got == 0, f->text);
  } catch (const DecodeFailure& failure) {
    if (failure.first == failure.last) {
      throw_error(ErrorKind::UnicodeDecodeError, "'%s' codec can't decode byte 0x%02x in position %zu: %s",
                  failure.codec, failure.byte, failure.first, failure.reason);
    }
    throw_error(ErrorKind::UnicodeDecodeError, "'%s' codec can't decode bytes in position %zu-%zu: %s", failure.codec,
                failure.first, failure.last, failure.reason);
  }
  f->at_end = got == 0;
  return got != 0;
}

Value take(Interpreter& in, File* f, size_t bytes) {
  Value text = make_str(in, std::string_view(f->text).substr(f->at, bytes));
  f->at += bytes;
  f->consumed += static_cast<int64_t>(bytes);
  return text;
}

Value read_all(Interpreter& in, File* f) {
  while (fill(in, f)) {}
  return f->at >= f->text.size() ? make_str(in, "") : take(in, f, f->text.size() - f->at);
}

// The bytes of `count` characters from `at` on, as far as they are there; `missing` says how many are not.
size_t bytes_of(const File* f, int64_t count, int64_t& missing) {
  size_t i = f->at;
  for (; count > 0 && i < f->text.size(); --count) {
    ++i;
    while (i < f->text.size() && (static_cast<uint8_t>(f->text[i]) & 0xC0) == 0x80) ++i;
  }
  missing = count;
  return i - f->at;
}

Value read_count(Interpreter& in, File* f, int64_t count) {
  int64_t missing = 0;
  size_t bytes = 0;
  do {
    if (f->at > f->text.size()) return make_str(in, "");
    bytes = bytes_of(f, count, missing);
  } while (missing > 0 && fill(in, f));
  return take(in, f, bytes);
}

// The next line with its end; empty at the end of the file. `limit` < 0: none.
Value read_line(Interpreter& in, File* f, int64_t limit) {
  if (f->at > f->text.size()) return make_str(in, "");
  size_t searched = 0;
  for (;;) {
    const size_t end = f->text.find('\n', f->at + searched);
    if (end != std::string::npos) {
      size_t bytes = end + 1 - f->at;
      int64_t missing = 0;
      if (limit >= 0) bytes = std::min(bytes, bytes_of(f, limit, missing));
      return take(in, f, bytes);
    }
    if (limit >= 0 && f->text.size() - f->at > static_cast<size_t>(limit) * 4) return read_count(in, f, limit);
    searched = f->text.size() - f->at;
    if (!fill(in, f)) break;
  }
  int64_t missing = 0;
  return take(in, f, limit >= 0 ? bytes_of(f, limit, missing) : f->text.size() - f->at);
}

Value file_read(Interpreter& in, const Args& args) {
  File* f = self_of(args);
  check_readable(in, f);
  const int64_t count = args[1].is_none() ? -1 : int_argument(in, args[1]);
  return count < 0 ? read_all(in, f) : read_count(in, f, count);
}

Value file_readline(Interpreter& in, const Args& args) {
  check_readable(in, self_of(args));
  return read_line(in, self_of(args), args[1].is_none() ? -1 : int_argument(in, args[1]));
}

Value file_readlines(Interpreter& in, const Args& args) {
  File* f = self_of(args);
  check_readable(in, f);
  const int64_t hint = args[1].is_none() ? -1 : int_argument(in, args[1]);
  Value list = make_list(in);
  for (int64_t total = 0; hint <= 0 || total < hint;) {
    Value line = read_line(in, f, -1);
    if (as_str(line)->size == 0) break;
    total += as_str(line)->length;
    list_append(in, as_list(list), std::move(line));
  }
  return list;
}

Value file_iter(Interpreter&, const Value& self) {
  check_open(file_of(self));
  return self;
}

bool file_next(Interpreter& in, const Value& self, Value& out) {
  check_readable(in, file_of(self));
  out = read_line(in, file_of(self), -1);
  return as_str(out)->size != 0;
}

// --- writing ---

void write_memory(Interpreter& in, File* f, std::string_view text) {
  f->booked.cover(in.heap, std::max(f->at, f->text.size()) + text.size());
  if (f->at > f->text.size()) f->text.resize(f->at, '\0');
  if (f->at == f->text.size()) {
    f->text.append(text);
    f->at += text.size();
    return;
  }
  // As many characters as are written make way.
  int64_t missing = 0;
  const size_t old = bytes_of(f, static_cast<int64_t>(count_chars(text)), missing);
  f->text.replace(f->at, old, text);
  f->at += text.size();
}

void encode_into(Interpreter&, File* f, std::string_view text) {
  if (f->encoding == Encoding::Utf8 || f->encoding == Encoding::Utf8Signature) {
    f->pending.append(text);
    return;
  }
  const uint32_t limit = f->encoding == Encoding::Ascii ? 128 : 256;
  size_t position = 0;
  for (const char* p = text.data(); p < text.data() + text.size(); ++position) {
    const uint32_t c = decode_char(p);
    if (c < limit) {
      f->pending += static_cast<char>(c);
    } else if (f->on_error == OnError::Replace) {
      f->pending += '?';
    } else if (f->on_error == OnError::Strict) {
      throw_error(ErrorKind::UnicodeEncodeError,
                  "'%s' codec can't encode character '\\%s%0*x' in position %zu: ordinal not in range(%u)",
                  limit == 128 ? "ascii" : "latin-1",
                  c < 256     ? "x"
                  : c < 65536 ? "u"
                              : "U",
                  c < 256     ? 2
                  : c < 65536 ? 4
                              : 8,
                  c, position, limit);
    }
  }
}

void write_disk(Interpreter& in, File* f, std::string_view text) {
  if (!f->text.empty() || f->at_end) {
    // Reading went ahead: go back to where the script stands.
    if (f->place == Place::Disk) lseek(f->fd, f->consumed, SEEK_SET);
    forget_read(f);
    f->decoder.reset();
    f->at_end = false;
  }
  if (f->newline == "\n" || f->newline.empty()) {
    encode_into(in, f, text);
  } else {
    std::string changed;
    for (char c : text) c == '\n' ? changed += f->newline : changed += c;
    encode_into(in, f, changed);
  }
  f->consumed += static_cast<int64_t>(text.size());
  if (f->write_through) return flush(in, f);
  if (f->pending.size() >= kBlock || (f->line_buffered && text.find('\n') != std::string_view::npos)) flush(in, f);
}

Value file_write(Interpreter& in, const Args& args) {
  File* f = self_of(args);
  if (!is_str(args[1])) {
    throw_error(
        ErrorKind::TypeError,
        f->place == Place::Memory ? "string argument expected, got '%s'" : "write() argument must be str, not %s",
        std::string(type_name(in, args[1])).c_str());
  }
  check_open(f);
  if (!f->writable) throw_unsupported(in, "not writable");
  const std::string_view text = text_of(args[1]);
  switch (f->place) {
    case Place::Memory: write_memory(in, f, text); break;
    case Place::Out:
      check_encodable(in, args[1]);
      if (in.host().write_out) in.host().write_out(text);
      break;
    case Place::Error:
      if (in.host().write_error) in.host().write_error(text);
      break;
    default:
      check_encodable(in, args[1]);
      write_disk(in, f, text);
      break;
  }
  return Value::integer(as_str(args[1])->length);
}

Value file_writelines(Interpreter& in, const Args& args) {
  const Value write = get_attr(in, args[0], intern(in, "write"));
  for_each(in, args[1], [&](Value line) { call(in, write, {std::move(line)}); });
  return Value::none();
}

Value file_flush(Interpreter& in, const Args& args) {
  check_open(self_of(args));
  flush(in, self_of(args));
  if (self_of(args)->place == Place::Stream) call_method(in, self_of(args)->buffer, intern(in, "flush"));
  return Value::none();
}

Value file_close(Interpreter& in, const Args& args) {
  if (File* f = self_of(args); f->place == Place::Stream && !f->closed) {
    flush(in, f);
    call_method(in, f->buffer, intern(in, "close"));
  }
  if (const int code = close_file(self_of(args))) throw_os_error(in, code);
  return Value::none();
}

// --- positions ---

Value memory_seek(Interpreter& in, File* f, int64_t offset, int64_t whence) {
  if (whence == 0 && offset < 0)
    throw_error(ErrorKind::ValueError, "Negative seek position %lld", static_cast<long long>(offset));
  if (whence != 0 && offset != 0) throw_error(ErrorKind::OSError, "Can't do nonzero cur-relative seeks");
  if (whence == 1) return Value::integer(static_cast<int64_t>(count_chars(std::string_view(f->text).substr(0, f->at))));
  if (whence == 2) {
    f->at = f->text.size();
  } else {
    int64_t missing = 0;
    f->at = 0;
    f->at = bytes_of(f, offset, missing) + static_cast<size_t>(missing);
  }
  (void)in;
  return Value::integer(whence == 2 ? static_cast<int64_t>(count_chars(f->text)) : offset);
}

Value file_seek(Interpreter& in, const Args& args) {
  File* f = self_of(args);
  check_open(f);
  const int64_t offset = int_argument(in, args[1]), whence = int_argument(in, args[2]);
  if (whence < 0 || whence > 2)
    throw_error(ErrorKind::ValueError, "invalid whence (%lld, should be 0, 1 or 2)", static_cast<long long>(whence));
  if (f->place == Place::Memory) return memory_seek(in, f, offset, whence);
  if (f->place != Place::Disk && f->place != Place::Stream) throw_unsupported(in, "underlying stream is not seekable");
  if (whence == 1 && offset != 0) throw_unsupported(in, "can't do nonzero cur-relative seeks");
  if (whence == 2 && offset != 0) throw_unsupported(in, "can't do nonzero end-relative seeks");
  if (whence == 0 && offset < 0)
    throw_error(ErrorKind::ValueError, "negative seek position %lld", static_cast<long long>(offset));
  flush(in, f);
  const int64_t place = whence == 1 ? f->consumed
                        : f->place == Place::Stream
                            ? index(in, call_method(in, f->buffer, intern(in, "seek"), {args[1], args[2]}))
                            : lseek(f->fd, offset, whence == 2 ? SEEK_END : SEEK_SET);
  if (place < 0) throw_os_error(in, errno);
  if (whence == 1) return Value::integer(place);
  forget_read(f);
  f->decoder.reset();
  f->at_end = false;
  f->consumed = place;
  return Value::integer(place);
}

Value file_tell(Interpreter& in, const Args& args) {
  File* f = self_of(args);
  check_open(f);
  if (f->place == Place::Disk || f->place == Place::Stream) return Value::integer(f->consumed);
  if (f->place != Place::Memory) throw_unsupported(in, "underlying stream is not seekable");
  const size_t inside = std::min(f->at, f->text.size());
  return Value::integer(
      static_cast<int64_t>(count_chars(std::string_view(f->text).substr(0, inside)) + (f->at - inside)));
}

Value file_truncate(Interpreter& in, const Args& args) {
  File* f = self_of(args);
  check_open(f);
  if (f->place == Place::Disk) {
    flush(in, f);
    const int64_t size = args[1].is_none() ? f->consumed : int_argument(in, args[1]);
    if (ftruncate(f->fd, size) != 0) throw_os_error(in, errno);
    return Value::integer(size);
  }
  const size_t saved = f->at;
  size_t end = std::min(f->at, f->text.size());
  if (!args[1].is_none()) {
    const int64_t size = int_argument(in, args[1]);
    if (size < 0) throw_error(ErrorKind::ValueError, "Negative size value %lld", static_cast<long long>(size));
    int64_t missing = 0;
    f->at = 0;
    end = bytes_of(f, size, missing);
  }
  f->text.resize(end);
  f->at = saved;
  return args[1].is_none() ? Value::integer(static_cast<int64_t>(count_chars(f->text))) : args[1];
}

// --- the rest ---

Value file_fileno(Interpreter& in, const Args& args) {
  File* f = self_of(args);
  check_open(f);
  if (f->place == Place::Memory) throw_unsupported(in, "fileno");
  return Value::integer(f->fd);
}

Value file_isatty(Interpreter&, const Args& args) {
  check_open(self_of(args));
  return Value::boolean(self_of(args)->fd >= 0 && isatty(self_of(args)->fd) == 1);
}

Value file_readable(Interpreter&, const Args& args) {
  check_open(self_of(args));
  return Value::boolean(self_of(args)->readable);
}
Value file_writable(Interpreter&, const Args& args) {
  check_open(self_of(args));
  return Value::boolean(self_of(args)->writable);
}
Value file_seekable(Interpreter&, const Args& args) {
  check_open(self_of(args));
  return Value::boolean(self_of(args)->place <= Place::Memory);
}
Value file_enter(Interpreter&, const Args& args) {
  check_open(self_of(args));
  return args[0];
}
Value file_exit(Interpreter& in, const Args& args) { return file_close(in, args); }
Value file_closed(Interpreter&, const Args& args) { return Value::boolean(self_of(args)->closed); }
Value file_name(Interpreter&, const Args& args) { return self_of(args)->name; }
Value file_mode(Interpreter& in, const Args& args) { return make_str(in, self_of(args)->mode); }
Value file_encoding(Interpreter& in, const Args& args) {
  const File* f = self_of(args);
  return f->place == Place::Memory ? Value::none() : make_str(in, f->encoding_name);
}
// The binary file below.
Value file_buffer(Interpreter& in, const Args& args) {
  File* f = self_of(args);
  if (!f->buffer.is_undefined()) return f->buffer;
  flush(in, f);
  if (f->place == Place::Disk) {
    BinaryOptions options;
    options.fd = f->fd;
    options.owns_fd = false;
    options.kind = f->appends ? 'a' : f->readable ? 'r' : 'w';
    options.plus = f->readable && f->writable;
    options.name = f->name;
    return f->buffer = make_binary_file(in, options);
  }
  return f->buffer = make_standard_binary(in, f->fd);
}

Value file_newlines(Interpreter&, const Args&) { return Value::none(); }
Value file_reconfigure(Interpreter&, const Args&) { return Value::none(); }
Value file_errors(Interpreter& in, const Args& args) {
  if (self_of(args)->place == Place::Memory) return Value::none();
  const OnError on_error = self_of(args)->on_error;
  return make_str(in, on_error == OnError::Strict ? "strict" : on_error == OnError::Ignore ? "ignore" : "replace");
}

Value file_repr(Interpreter& in, const Value& self) {
  File* f = file_of(self);
  return make_str(in, "<_io.TextIOWrapper name=" + repr_text(in, f->name) + " mode='" + f->mode + "' encoding='" +
                          f->encoding_name + "'>");
}

Value memory_getvalue(Interpreter& in, const Args& args) {
  check_open(self_of(args));
  return make_str(in, self_of(args)->text);
}

void set_initial(Interpreter& in, File* f, const Value* text) {
  f->mode = "r+";
  f->text.clear();
  f->at = 0;
  if (text == nullptr || text->is_none()) return;
  if (!is_str(*text)) {
    throw_error(ErrorKind::TypeError, "initial_value must be str or None, not %s",
                std::string(type_name(in, *text)).c_str());
  }
  f->text = text_of(*text);
}

Value make_memory(Interpreter& in, Type* type, const Args& args) {
  File* f = make_object<File>(in, type);
  Value made = Value::adopt(f);
  f->name = Value::none();
  set_initial(in, f, has_script_init(in, type) ? nullptr : make_argument(args, 0, "initial_value"));
  return made;
}

Value memory_init(Interpreter& in, const Args& args) {
  set_initial(in, self_of(args), &args[1]);
  return Value::none();
}

// --- open ---

struct Mode {
  char kind = 'r';
  bool plus = false, binary = false;
};

Mode parse_mode(const std::string& text) {
  int kinds = 0, pluses = 0, texts = 0;
  Mode mode;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (text.find(c, i + 1) != std::string::npos || std::string_view("rwxabt+").find(c) == std::string_view::npos) {
      throw_error(ErrorKind::ValueError, "invalid mode: '%s'", text.c_str());
    }
    if (c == 'b') mode.binary = true;
    if (c == '+') ++pluses;
    else if (c == 't') ++texts;
    else if (c != 'b') {
      ++kinds;
      mode.kind = c;
    }
  }
  if (mode.binary && texts != 0) throw Error(ErrorKind::ValueError, "can't have text and binary mode at once");
  if (kinds != 1) {
    throw Error(ErrorKind::ValueError,
                kinds == 0 ? "Must have exactly one of create/read/write/append mode and at most one plus"
                           : "must have exactly one of create/read/write/append mode");
  }
  mode.plus = pluses > 0;
  return mode;
}

int open_flags(const Mode& mode) {
  const int access = mode.plus ? O_RDWR : mode.kind == 'r' ? O_RDONLY : O_WRONLY;
  switch (mode.kind) {
    case 'w': return access | O_CREAT | O_TRUNC;
    case 'x': return access | O_CREAT | O_EXCL;
    case 'a': return access | O_CREAT | O_APPEND;
    default: return access;
  }
}

void set_text_options(Interpreter& in, File* f, const Value& encoding, const Value& errors, const Value& newline) {
  if (!encoding.is_none()) {
    f->encoding_name = text_argument(in, encoding, "open() argument 'encoding'");
    if (f->encoding_name == "locale") f->encoding_name = "UTF-8";
    if (!find_encoding(f->encoding_name, f->encoding)) {
      throw_error(ErrorKind::LookupError, "unknown encoding: %s", f->encoding_name.c_str());
    }
  }
  if (!errors.is_none()) {
    const std::string_view text = text_argument(in, errors, "open() argument 'errors'");
    f->on_error = text == "ignore" ? OnError::Ignore : text == "strict" ? OnError::Strict : OnError::Replace;
  }
  if (newline.is_none()) return;
  f->newline = text_argument(in, newline, "open() argument 'newline'");
  if (f->newline != "" && f->newline != "\n" && f->newline != "\r" && f->newline != "\r\n") {
    throw_error(ErrorKind::ValueError, "illegal newline value: %s", quote(f->newline).c_str());
  }
  f->translate = false;
}

// Answers the descriptor; `shown` becomes the path as text.
int open_path(Interpreter& in, const Value& path, const Mode& mode, Value& shown) {
  Value text = path;
  if (is_bytes(path)) {
    text = make_str_lossy(in, bytes_of(path));
  } else if (!is_str(path)) {
    const Value method = find_attr(in, path, intern(in, "__fspath__"));
    if (method.is_undefined()) {
      throw_error(ErrorKind::TypeError, "expected str, bytes or os.PathLike object, not %s",
                  std::string(type_of(in, path)->name->view()).c_str());
    }
    text = call(in, method);
    shown = text;
  }
  const std::string name(text_argument(in, text, "path"));
  if (name.find('\0') != std::string::npos) throw Error(ErrorKind::ValueError, "embedded null byte");
  const int fd = open(name.c_str(), open_flags(mode) | O_CLOEXEC, 0666);
  if (fd < 0) throw_os_error(in, errno, name);
  struct stat s {};
  if (fstat(fd, &s) == 0 && S_ISDIR(s.st_mode)) {
    close(fd);
    throw_os_error(in, EISDIR, name);
  }
  return fd;
}

Value open_binary(Interpreter& in, const Args& args, const Mode& mode) {
  static constexpr const char* kTextOptions[] = {"encoding", "errors", "newline"};
  for (uint32_t i = 0; i < 3; ++i) {
    if (args[3 + i].is_none()) continue;
    throw_error(ErrorKind::ValueError, "binary mode doesn't take %s %s argument", i == 2 ? "a" : "an", kTextOptions[i]);
  }
  BinaryOptions options;
  options.kind = mode.kind;
  options.plus = mode.plus;
  options.buffered = !(args[2].is_int() && args[2].as_int() == 0);
  options.name = args[0];
  if (args[0].is_int()) {
    options.fd = static_cast<int>(args[0].as_int());
    options.owns_fd = truth(in, args[6]);
    if (fcntl(options.fd, F_GETFD) < 0) throw_os_error(in, errno);
  } else {
    options.fd = open_path(in, args[0], mode, options.name);
  }
  return make_binary_file(in, options);
}

// TextIOWrapper(buffer, ...)
Value make_wrapper(Interpreter& in, Type* type, const Args& args) {
  const Value* const buffer = make_argument(args, 0, "buffer");
  if (buffer == nullptr)
    throw Error(ErrorKind::TypeError, "TextIOWrapper() missing required argument 'buffer' (pos 1)");
  auto option = [&](uint32_t index, const char* name) {
    const Value* given = make_argument(args, index, name);
    return given == nullptr ? Value::none() : *given;
  };
  Value made = Value::adopt(make_object<File>(in, type));
  File* f = file_of(made);
  f->place = Place::Stream;
  f->buffer = *buffer;
  f->name = find_attr(in, *buffer, intern(in, "name"));
  if (f->name.is_undefined()) f->name = Value::none();
  set_text_options(in, f, option(1, "encoding"), option(2, "errors"), option(3, "newline"));
  f->line_buffered = truth(in, option(4, "line_buffering"));
  f->write_through = truth(in, option(5, "write_through"));
  f->readable = truth(in, call_method(in, *buffer, intern(in, "readable")));
  f->writable = truth(in, call_method(in, *buffer, intern(in, "writable")));
  return made;
}

Value open_file(Interpreter& in, const Args& args) {
  require(in.limits.files, "files");
  const std::string mode_text(text_argument(in, args[1], "open() argument 'mode'"));
  const Mode mode = parse_mode(mode_text);
  if (mode.binary) return open_binary(in, args, mode);
  if (args[2].is_int() && args[2].as_int() == 0) throw Error(ErrorKind::ValueError, "can't have unbuffered text I/O");
  Value made = Value::adopt(make_object<File>(in, static_cast<Type*>(args.callee->data)));
  File* f = file_of(made);
  f->place = Place::Disk;
  f->closed = true;  // until it is open
  f->name = args[0];
  f->mode = mode_text;
  f->readable = mode.kind == 'r' || mode.plus;
  f->writable = mode.kind != 'r' || mode.plus;
  f->appends = mode.kind == 'a';
  set_text_options(in, f, args[3], args[4], args[5]);
  if (args[0].is_int()) {
    f->fd = static_cast<int>(args[0].as_int());
    f->owns_fd = truth(in, args[6]);
    if (fcntl(f->fd, F_GETFD) < 0) throw_os_error(in, errno);
  } else {
    f->fd = open_path(in, args[0], mode, f->name);
  }
  f->closed = false;
  f->line_buffered = (args[2].is_int() && args[2].as_int() == 1) || isatty(f->fd) == 1;
  if (f->appends) f->consumed = lseek(f->fd, 0, SEEK_END);
  if (f->encoding == Encoding::Utf8Signature && mode.kind != 'r') f->pending = "\xEF\xBB\xBF";
  return made;
}

Value standard_stream(Interpreter& in, const Args& args) {
  static constexpr const char* kNames[] = {"<stdin>", "<stdout>", "<stderr>"};
  const int64_t which = int_argument(in, args[0]);
  if (which < 0 || which > 2) throw Error(ErrorKind::ValueError, "there are three standard streams");
  Value made = Value::adopt(make_object<File>(in, static_cast<Type*>(args.callee->data)));
  File* f = file_of(made);
  f->place = which == 0 ? Place::In : which == 1 ? Place::Out : Place::Error;
  f->fd = static_cast<int>(which);
  f->owns_fd = false;
  f->name = make_str(in, kNames[which]);
  f->mode = which == 0 ? "r" : "w";
  f->encoding_name = "utf-8";
  f->readable = which == 0;
  f->writable = which != 0;
  return made;
}

const NativeDef kMethods[] = {
    {"read(self, size=-1, /)", file_read, "Read up to size characters, or all."},
    {"readline(self, size=-1, /)", file_readline, "Read a line with its end."},
    {"readlines(self, hint=-1, /)", file_readlines, "Read all lines."},
    {"write(self, text, /)", file_write, "Write a text; answers its length."},
    {"writelines(self, lines, /)", file_writelines, "Write several texts."},
    {"flush(self)", file_flush, "Write what is waiting."},
    {"close(self)", file_close, "Flush and close."},
    {"seek(self, offset, whence=0, /)", file_seek, "Go to a place."},
    {"tell(self)", file_tell, "The current place."},
    {"truncate(self, pos=None, /)", file_truncate, "Cut off the rest."},
    {"fileno(self)", file_fileno, "The number of the file."},
    {"isatty(self)", file_isatty, "Is it a terminal?"},
    {"readable(self)", file_readable, "May it be read?"},
    {"writable(self)", file_writable, "May it be written?"},
    {"seekable(self)", file_seekable, "Has it places?"},
    {"reconfigure(self, **options)", file_reconfigure, "Accepted for compatibility."},
    {"__enter__(self)", file_enter},
    {"__exit__(self, *exc_info)", file_exit},
};

Type* make_file_type(Interpreter& in, std::string_view name) {
  NativeTypeSpec spec;
  spec.name = name;
  spec.module = "_io";
  spec.size = sizeof(File);
  Type* type = in.new_type(spec);
  type->slots.destroy = destroy_file;
  type->slots.iter = file_iter;
  type->slots.next = file_next;
  in.add_methods(type, kMethods, std::size(kMethods));
  in.add_property(type, "closed", file_closed);
  in.add_property(type, "encoding", file_encoding);
  in.add_property(type, "errors", file_errors);
  in.add_property(type, "newlines", file_newlines);
  return type;
}

}  // namespace

namespace {

// The types of binary files are made when the first of them is named or needed.
Value late_type(Interpreter& in, Module& module, Str* name) {
  static constexpr std::string_view kNames[] = {"BufferedReader", "BufferedWriter", "BufferedRandom", "FileIO",
                                                "BytesIO"};
  if (std::find(std::begin(kNames), std::end(kNames), name->view()) == std::end(kNames)) return Value();
  add_binary_files(in, module);
  return *dict_get_str(module.dict, name);
}

}  // namespace

void fill_io(Interpreter& in, Module& module) {
  module.missing = late_type;
  Type* file = make_file_type(in, "TextIOWrapper");
  file->slots.repr = file_repr;
  in.add_property(file, "name", file_name);
  in.add_property(file, "mode", file_mode);
  in.add_property(file, "buffer", file_buffer);
  file->make = make_wrapper;
  // Functions reach the type through their closure; types live as long as the interpreter.
  set_member(
      in, module, "open",
      in.new_function(
          "open(file, mode='r', buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None)",
          "Open a file.", open_file, file));
  set_member(in, module, "standard_stream",
             in.new_function("standard_stream(which, /)", "stdin, stdout or stderr.", standard_stream, file));
  set_member(in, module, "TextIOWrapper", Value(file));

  static const NativeDef kMemoryMethods[] = {
      {"__init__(self, initial_value='', newline='\\n')", memory_init},
      {"getvalue(self)", memory_getvalue, "The whole text."},
  };
  Type* memory = make_file_type(in, "StringIO");
  memory->make = make_memory;
  in.add_methods(memory, kMemoryMethods, std::size(kMemoryMethods));
  set_member(in, module, "StringIO", Value(memory));
}

}  // namespace tessera::stdlib

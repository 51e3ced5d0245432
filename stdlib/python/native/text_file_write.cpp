// Writing of text files, and the places in them.
#include "stdlib/python/native/text_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "lang/core/host.h"
#include "lang/core/names.h"
#include "lang/types/bytes.h"

namespace tessera::stdlib {

// Writes what is pending; answers errno.
int write_pending(Interpreter& in, TextFile* f) {
  while (!f->pending.empty()) {
    const size_t room = wait_to_write(in, f->fd, f->pending.size(), false);
    const ssize_t put = in.host().files->write(f->fd, f->pending.data(), std::min(room, f->pending.size()));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    f->pending.erase(0, static_cast<size_t>(put));
  }
  return 0;
}

void flush(Interpreter& in, TextFile* f) {
  if (f->place == Place::Stream) {
    if (!f->pending.empty()) call_method(in, f->buffer, intern(in, "write"), {make_bytes(in, f->pending)});
    f->pending.clear();
    return;
  }
  if (f->place == Place::Out && in.host().flush_out) in.host().flush_out();
  if (f->place != Place::Disk || f->pending.empty()) return;
  if (const int code = write_pending(in, f)) {
    f->pending.clear();
    throw_os_error(in, code);
  }
}

int close_file(Interpreter& in, TextFile* f) {
  if (f->closed) return 0;
  int code = 0;
  if (f->place == Place::Disk) {
    code = write_pending(in, f);
    if (f->owns_fd && in.host().files->close(f->fd) != 0 && code == 0) code = errno;
    f->fd = -1;
  }
  f->closed = true;
  return code;
}

void check_open(const TextFile* f) {
  if (!f->closed) return;
  throw Error(ErrorKind::ValueError,
              f->place == Place::Memory ? "I/O operation on closed file" : "I/O operation on closed file.");
}

[[noreturn]] void throw_unsupported(Interpreter& in, const char* message) {
  const Value error_class = get_attr(in, Value(in.import("io")), intern(in, "UnsupportedOperation"));
  throw Thrown(call(in, error_class, {make_str(in, message)}));
}

void check_readable(Interpreter& in, TextFile* f) {
  check_open(f);
  if (!f->readable) throw_unsupported(in, "not readable");
}

namespace {

// The text as a StringIO keeps it: line ends become those of its newline=.
std::string with_line_ends(TextFile* f, std::string_view text) {
  if (f->universal) f->ends.note(text, true);
  std::string changed;
  if (f->translate) {
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') ++i;
      changed += text[i] == '\r' ? '\n' : text[i];
    }
  } else {
    for (const char c : text) c == '\n' ? changed += f->newline : changed += c;
  }
  return changed;
}

void write_into(Interpreter& in, TextFile* f, std::string_view text) {
  std::string changed;
  if (f->translate ? text.find('\r') != std::string_view::npos : f->newline.starts_with('\r')) {
    changed = with_line_ends(f, text);
    text = changed;
  } else if (f->universal) {
    f->ends.note(text, true);
  }
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

void encode_into(Interpreter&, TextFile* f, std::string_view text) {
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

void write_disk(Interpreter& in, TextFile* f, std::string_view text) {
  if (!f->text.empty() || f->at_end) {
    // Reading went ahead: go back to where the script stands.
    if (f->place == Place::Disk) in.host().files->seek(f->fd, f->consumed, SEEK_SET);
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
  if (f->pending.size() >= kTextBlock || (f->line_buffered && text.find('\n') != std::string_view::npos)) flush(in, f);
}

}  // namespace

void write_memory(Interpreter& in, TextFile* f, std::string_view text) { write_into(in, f, text); }

Value file_write(Interpreter& in, const Args& args) {
  TextFile* f = self_of(args);
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
    case Place::Memory: write_into(in, f, text); break;
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
  if (TextFile* f = self_of(args); f->place == Place::Stream && !f->closed) {
    flush(in, f);
    call_method(in, f->buffer, intern(in, "close"));
  }
  if (const int code = close_file(in, self_of(args))) throw_os_error(in, code);
  return Value::none();
}

namespace {

// --- positions ---

Value memory_seek(Interpreter& in, TextFile* f, int64_t offset, int64_t whence) {
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

}  // namespace

Value file_seek(Interpreter& in, const Args& args) {
  TextFile* f = self_of(args);
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
                            : in.host().files->seek(f->fd, offset, whence == 2 ? SEEK_END : SEEK_SET);
  if (place < 0) throw_os_error(in, errno);
  if (whence == 1) return Value::integer(place);
  forget_read(f);
  f->decoder.reset();
  f->at_end = false;
  f->consumed = place;
  return Value::integer(place);
}

Value file_tell(Interpreter& in, const Args& args) {
  TextFile* f = self_of(args);
  check_open(f);
  if (f->place == Place::Disk || f->place == Place::Stream) return Value::integer(f->consumed);
  if (f->place != Place::Memory) throw_unsupported(in, "underlying stream is not seekable");
  const size_t inside = std::min(f->at, f->text.size());
  return Value::integer(
      static_cast<int64_t>(count_chars(std::string_view(f->text).substr(0, inside)) + (f->at - inside)));
}

Value file_truncate(Interpreter& in, const Args& args) {
  TextFile* f = self_of(args);
  check_open(f);
  if (f->place == Place::Disk) {
    flush(in, f);
    const int64_t size = args[1].is_none() ? f->consumed : int_argument(in, args[1]);
    if (in.host().files->truncate(f->fd, size) != 0) throw_os_error(in, errno);
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

}  // namespace tessera::stdlib

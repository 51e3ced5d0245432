// Writing of text files, and the places in them.
// compile: few-inlines (no faster with more inlines)
#include "lang/objects/class.h"
#include "stdlib/python/native/text_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "lang/core/host.h"
#include "lang/core/names.h"
#include "lang/types/bytes.h"
#include "lang/types/codec.h"

namespace tessera::stdlib {

// Writes what is pending; answers errno. `may_stop`: handlers of signals run between two writes, and what they raise leaves the
// rest pending.
int write_pending(Interpreter& in, TextFile* f, bool may_stop) {
  while (!f->pending.empty()) {
    const size_t room = wait_to_write(in, f->fd, f->pending.size(), may_stop);
    const ssize_t put = in.host().files->write(f->fd, f->pending.data(), std::min(room, f->pending.size()));
    if (put < 0 && errno != EINTR) return errno;
    f->pending.erase(0, static_cast<size_t>(std::max<ssize_t>(put, 0)));
    if (may_stop) in.poll();
  }
  return 0;
}

void flush(Interpreter& in, TextFile* f) {
  if (f->place == Place::Stream) {
    if (f->pending.empty()) return;
    const Value buffer = f->buffer, bytes = make_bytes(in, f->pending);
    f->pending.clear();
    call_method(in, buffer, intern(in, "write"), {bytes});
    return;
  }
  if (f->place == Place::Out && in.host().flush_out) in.host().flush_out();
  if (f->place != Place::Disk || f->pending.empty()) return;
  int code = 0;
  try {
    code = write_pending(in, f, true);
  } catch (...) {  // as CPython's, of which a buffer keeps no more than its size
    if (f->pending.size() > f->chunk) f->pending.clear();
    throw;
  }
  if (code == 0) return;
  f->pending.clear();
  throw_os_error(in, code);
}

int close_file(Interpreter& in, TextFile* f) {
  if (f->closed) return 0;
  int code = 0;
  if (f->place == Place::Disk) {
    code = write_pending(in, f, false);
    if (f->owns_fd && in.host().files->close(f->fd) != 0 && code == 0) code = errno;
    f->fd = -1;
  }
  f->closed = true;
  return code;
}

bool is_closed(Interpreter& in, const TextFile* f) {
  return f->place == Place::Stream ? truth(in, get_attr(in, f->buffer, intern(in, "closed"))) : f->closed;
}

void check_attached(const TextFile* f) {
  if (f->detached) throw Error(ErrorKind::ValueError, "underlying buffer has been detached");
  if (!f->ready) throw Error(ErrorKind::ValueError, "I/O operation on uninitialized object");
}

void check_open(Interpreter& in, const TextFile* f, bool inherited) {
  check_attached(f);
  if (!is_closed(in, f)) return;
  throw Error(ErrorKind::ValueError,
              f->place == Place::Memory && !inherited ? "I/O operation on closed file" : "I/O operation on closed file.");
}

[[noreturn]] void throw_unsupported(Interpreter& in, const char* message) {
  const Value error_class = get_attr(in, Value(in.import("io")), intern(in, "UnsupportedOperation"));
  throw Thrown(call(in, error_class, {make_str(in, message)}));
}

void check_readable(Interpreter& in, TextFile* f) {
  check_open(in, f);
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
  if (text.empty()) return;
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

Value encoded(Interpreter& in, TextFile* f, const Value& text) {
  if (!f->codec.is_undefined()) {
    const Value encoder = encoder_of_codec(in, f);
    return call_method(in, encoder, intern(in, "encode"), {text});
  }
  static constexpr const char* kNames[] = {"utf-8", "utf-8", "ascii", "latin-1"};
  return encode_text(in, text, kNames[static_cast<int>(f->encoding)], f->errors_name);
}

void encode_into(Interpreter& in, TextFile* f, std::string_view text, const Value& whole) {
  if (f->codec.is_undefined() && (f->encoding == Encoding::Utf8 || f->encoding == Encoding::Utf8Signature)) {
    if (f->signature_due && f->encoding == Encoding::Utf8Signature) f->pending += "\xEF\xBB\xBF";
    f->signature_due = false;
    if (!has_surrogates(text)) {
      f->pending.append(text);
      return;
    }
  }
  const Value bytes = encoded(in, f, text.data() == text_of(whole).data() ? whole : make_str(in, text));
  f->pending.append(BytesLike(in, bytes).view());
}

// With "\n" as newline= says.
void encode_lines(Interpreter& in, TextFile* f, const Value& whole) {
  const std::string_view text = text_of(whole);
  if (f->newline == "\n" || f->newline.empty() || text.find('\n') == std::string_view::npos) {
    return encode_into(in, f, text, whole);
  }
  std::string changed;
  for (const char c : text) c == '\n' ? changed += f->newline : changed += c;
  encode_into(in, f, changed, whole);
}

void write_disk(Interpreter& in, TextFile* f, const Value& whole) {
  const std::string_view text = text_of(whole);
  if (!f->text.empty() || f->at_end || f->decoder) forget_read(f);
  encode_lines(in, f, whole);
  const bool line_ends = f->line_buffered && text.find_first_of("\r\n") != std::string_view::npos;
  if (f->write_through || line_ends || f->pending.size() >= f->chunk) flush(in, f);
  if (line_ends && f->place == Place::Stream) {
    const Value buffer = f->buffer;
    call_method(in, buffer, intern(in, "flush"));
  }
}

// Of a standard stream: the host takes bytes.
void write_standard(Interpreter& in, TextFile* f, const Value& whole, const std::function<void(std::string_view)>& write) {
  if (f->codec.is_undefined() && f->encoding == Encoding::Utf8 && (f->newline.empty() || f->newline == "\n") && !has_surrogates(text_of(whole))) {
    if (write) write(text_of(whole));
    return;
  }
  encode_lines(in, f, whole);
  const std::string bytes = std::move(f->pending);
  f->pending.clear();
  if (write) write(bytes);
}

}  // namespace

void write_memory(Interpreter& in, TextFile* f, std::string_view text) { write_into(in, f, text); }

Value file_write(Interpreter& in, const Args& args) {
  TextFile* f = this_text_file(args);
  if (!is_str(args[1])) {
    throw_error(
        ErrorKind::TypeError,
        f->place == Place::Memory ? "string argument expected, got '%s'" : "write() argument must be str, not %s",
        f->place == Place::Memory ? std::string(type_name(in, args[1])).c_str() : argument_type(in, args[1]));
  }
  check_open(in, f);
  if (!f->writable) throw_unsupported(in, "not writable");
  switch (f->place) {
    case Place::Memory: write_into(in, f, text_of(args[1])); break;
    case Place::Out: write_standard(in, f, args[1], in.host().write_out); break;
    case Place::Error: write_standard(in, f, args[1], in.host().write_error); break;
    default: write_disk(in, f, args[1]); break;
  }
  return Value::integer(as_str(args[1])->length);
}

Value file_writelines(Interpreter& in, const Args& args) {
  check_open(in, this_text_file(args), true);
  const Value write = get_attr(in, args[0], intern(in, "write"));
  for_each(in, args[1], [&](Value line) { call(in, write, {std::move(line)}); });
  return Value::none();
}

Value file_flush(Interpreter& in, const Args& args) {
  TextFile* f = this_text_file(args);
  if (f->place == Place::Memory) return Value::none();  // even of a closed one
  check_open(in, f);
  flush(in, f);
  if (f->place == Place::Stream) {
    const Value buffer = f->buffer;
    call_method(in, buffer, intern(in, "flush"));
  }
  return Value::none();
}

Value file_close(Interpreter& in, const Args& args) {
  TextFile* f = this_text_file(args);
  check_attached(f);
  if (f->place == Place::Stream || (f->type->type_flags & kScriptClass) != 0) {  // a script's flush() is told, as in CPython
    if (is_closed(in, f)) return Value::none();
    const Value buffer = f->buffer;
    try {
      call_method(in, args[0], intern(in, "flush"));
    } catch (...) {
      f->pending.clear();
      if (f->place == Place::Stream) call_method(in, buffer, intern(in, "close"));
      else close_file(in, f);
      throw;
    }
    if (f->place == Place::Stream) {
      call_method(in, buffer, intern(in, "close"));
      return Value::none();
    }
  }
  if (const int code = close_file(in, f)) throw_os_error(in, code);
  return Value::none();
}

}  // namespace tessera::stdlib

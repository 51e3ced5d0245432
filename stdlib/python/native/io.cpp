// _io: `open`, the types of text files, standard streams and StringIO, and what these answer of themselves. Reading and
// writing stand in text_file_read.cpp and text_file_write.cpp.
// compile: few-inlines (no faster with more inlines)
#include <fcntl.h>
#include <locale.h>
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
#include "lang/core/object_cast.h"
#include "lang/types/codec.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes.h"
#include "lang/types/dict.h"
#include "lang/types/number.h"
#include "stdlib/python/native/binary_io.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/open_mode.h"
#include "stdlib/python/native/support.h"
#include "stdlib/python/native/text_file.h"

namespace tessera::stdlib {
namespace {

// A wrapper takes its stream with it; what that says has no listener.
void close_stream(Interpreter& in, TextFile* f) noexcept {
  try {
    if (is_closed(in, f)) return;
    flush(in, f);
    const Value buffer = f->buffer;
    call_method(in, buffer, intern(in, "close"));
  } catch (...) {
    f->pending.clear();
  }
}

Value file_repr(Interpreter& in, const Value& self);

void destroy_file(Interpreter& in, Object* self) {
  TextFile* f = known_cast<TextFile>(self);
  if (f->place == Place::Disk && !f->closed && f->owns_fd) warn_unclosed(in, self, file_repr);
  const bool is_told = (self->type->type_flags & kScriptClass) != 0;  // by __del__, and its close() may leave the stream open
  if (f->place == Place::Stream && f->ready && !f->detached && !is_told) close_stream(in, f);
  close_file(in, f);
  free_object(in, known_cast<TextFile>(self));
}

// The answer of the stream below the text wrapper.
Value ask_stream(Interpreter& in, const TextFile* f, const char* method) {
  const Value buffer = f->buffer;
  return call_method(in, buffer, intern(in, method));
}

Value file_fileno(Interpreter& in, const Args& args) {
  TextFile* f = this_text_file(args);
  check_attached(f);
  if (f->place == Place::Stream) return ask_stream(in, f, "fileno");
  if (f->place == Place::Memory) throw_unsupported(in, "fileno");
  check_open(in, f);
  return Value::integer(f->fd);
}

Value file_isatty(Interpreter& in, const Args& args) {
  TextFile* f = this_text_file(args);
  check_attached(f);
  if (f->place == Place::Stream) return ask_stream(in, f, "isatty");
  check_open(in, f, true);
  return Value::boolean(f->fd >= 0 && isatty(f->fd) == 1);
}

Value file_readable(Interpreter& in, const Args& args) {
  TextFile* f = this_text_file(args);
  check_attached(f);
  if (f->place == Place::Stream) return ask_stream(in, f, "readable");
  check_open(in, f);
  return Value::boolean(f->readable);
}
Value file_writable(Interpreter& in, const Args& args) {
  TextFile* f = this_text_file(args);
  check_attached(f);
  if (f->place == Place::Stream) return ask_stream(in, f, "writable");
  check_open(in, f);
  return Value::boolean(f->writable);
}
Value file_seekable(Interpreter& in, const Args& args) {
  TextFile* f = this_text_file(args);
  check_attached(f);
  if (f->place == Place::Stream) return ask_stream(in, f, "seekable");
  check_open(in, f);
  if (f->place == Place::Disk) return Value::boolean(in.host().files->seek(f->fd, 0, SEEK_CUR) >= 0);
  return Value::boolean(f->place == Place::Memory);
}
Value file_enter(Interpreter& in, const Args& args) {
  check_open(in, this_text_file(args), true);
  return args[0];
}
Value file_exit(Interpreter& in, const Args& args) {
  call_method(in, args[0], intern(in, "close"));
  return Value::none();
}
// The end of an instance of a script's class, which may have its own close().
Value file_del(Interpreter& in, const Args& args) {
  const TextFile* const f = this_text_file(args);
  if (f->place != Place::Stream || !f->ready || f->detached) return Value::none();
  try {
    if (!is_closed(in, f)) call_method(in, args[0], intern(in, "close"));
  } catch (const Error&) {
  } catch (const Thrown&) {
  }
  return Value::none();
}
Value file_closed(Interpreter& in, const Args& args) {
  check_attached(this_text_file(args));
  return Value::boolean(is_closed(in, this_text_file(args)));
}
Value file_name(Interpreter& in, const Args& args) {
  const TextFile* f = this_text_file(args);
  check_attached(f);
  return f->place == Place::Stream ? get_attr(in, f->buffer, intern(in, "name")) : f->name;
}
Value file_mode(Interpreter& in, const Args& args) {
  const TextFile* f = this_text_file(args);
  if (f->mode.empty()) throw Error(ErrorKind::AttributeError, "'_io.TextIOWrapper' object has no attribute 'mode'");
  return make_str(in, f->mode);
}
Value file_set_mode(Interpreter& in, const Args& args) {
  this_text_file(args)->mode = text_argument(in, args[1], "mode");
  return Value::none();
}
Value file_line_buffering(Interpreter&, const Args& args) { return Value::boolean(this_text_file(args)->line_buffered || this_text_file(args)->place == Place::Error); }
Value file_write_through(Interpreter&, const Args& args) { return Value::boolean(this_text_file(args)->write_through); }
Value file_chunk_size(Interpreter& in, const Args& args) {
  check_attached(this_text_file(args));
  (void)in;
  return Value::integer(static_cast<int64_t>(this_text_file(args)->chunk));
}
Value file_set_chunk_size(Interpreter& in, const Args& args) {
  check_attached(this_text_file(args));
  const Value whole = whole_index(in, args[1]);
  if (is_big_int(whole)) {
    std::string name(type_name(in, args[1]));
    if (name.size() > 200) {
      size_t end = 200;
      while (end > 0 && (name[end] & 0xc0) == 0x80) --end;
      name.resize(end);
    }
    throw_error(ErrorKind::ValueError, "cannot fit '%s' into an index-sized integer", name.c_str());
  }
  const int64_t size = whole.as_int();
  if (size <= 0) throw Error(ErrorKind::ValueError, "a strictly positive integer is required");
  this_text_file(args)->chunk = static_cast<size_t>(size);
  return Value::none();
}
Value file_delete_chunk_size(Interpreter&, const Args& args) {
  check_attached(this_text_file(args));
  throw Error(ErrorKind::AttributeError, "cannot delete attribute");
}
Value file_encoding(Interpreter& in, const Args& args) {
  const TextFile* f = this_text_file(args);
  return f->place == Place::Memory ? Value::none() : make_str(in, f->encoding_name);
}
// The binary file below.
Value file_buffer(Interpreter& in, const Args& args) {
  TextFile* f = this_text_file(args);
  check_attached(f);
  if (!f->buffer.is_undefined()) return f->buffer;
  flush(in, f);
  if (f->place == Place::Disk) {  // from now on a stream, whose buffer has the descriptor
    BinaryOptions options;
    options.fd = f->closed ? -1 : f->fd;
    options.owns_fd = f->owns_fd && !f->closed;
    options.kind = f->appends ? 'a' : f->readable ? 'r' : 'w';
    options.plus = f->readable && f->writable;
    options.name = f->name;
    f->buffer = make_binary_file(in, options);
    f->place = Place::Stream;
    f->fd = -1;
    return f->buffer;
  }
  return f->buffer = make_standard_binary(in, f->fd);
}

Value file_newlines(Interpreter& in, const Args& args) {
  if (this_text_file(args)->place == Place::Memory) check_open(in, this_text_file(args));
  static constexpr const char* kEnds[] = {"\r", "\n", "\r\n"};
  const uint8_t seen = this_text_file(args)->ends.seen();
  std::vector<Value> ends;
  for (int i = 0; i < 3; ++i) {
    if (seen & 1 << i) ends.push_back(make_str(in, kEnds[i]));
  }
  if (ends.empty()) return Value::none();
  return ends.size() == 1 ? ends[0] : make_tuple_moving(in, ends.data(), ends.size());
}
Value file_errors(Interpreter& in, const Args& args) {
  const TextFile* f = this_text_file(args);
  check_attached(f);
  return f->place == Place::Memory ? Value::none() : make_str(in, f->errors_name);
}

Value file_detach(Interpreter& in, const Args& args) {
  TextFile* f = this_text_file(args);
  if (f->place == Place::Memory) throw_unsupported(in, "detach");
  call_method(in, args[0], intern(in, "flush"));
  const Value buffer = file_buffer(in, args);
  f->detached = true;
  f->buffer = Value();
  return buffer;
}

Value file_repr(Interpreter& in, const Value& self) {
  TextFile* f = text_file_of(self);
  check_attached(f);
  Value name = f->name;
  if (f->place == Place::Stream) name = find_attr(in, f->buffer, intern(in, "name"));
  const bool script = (f->type->type_flags & kScriptClass) != 0;
  std::string text = script ? "<" + std::string(f->type->name->view()) : "<_io.TextIOWrapper";
  if (!name.is_undefined()) text += " name=" + repr_text(in, name);
  if (!f->mode.empty()) text += " mode='" + f->mode + "'";
  return make_str(in, text + " encoding='" + f->encoding_name + "'>");
}

Value memory_getvalue(Interpreter& in, const Args& args) {
  check_open(in, this_text_file(args));
  return make_str(in, this_text_file(args)->text);
}

// newline= of a text file or a StringIO; `what` names it in messages.
void set_newline(Interpreter& in, TextFile* f, const Value& newline, const char* what) {
  if (!newline.is_none() && !is_str(newline)) {
    throw_error(ErrorKind::TypeError, "%s must be str or None, not %s", what,
                std::string(type_name(in, newline)).c_str());
  }
  const std::string_view text = newline.is_none() ? std::string_view() : text_of(newline);
  if (text != "" && text != "\n" && text != "\r" && text != "\r\n")
    throw_error(ErrorKind::ValueError, "illegal newline value: %s",
                f->place == Place::Memory ? repr_text(in, newline).c_str() : std::string(text).c_str());
  f->newline = text;
  f->translate = newline.is_none();
  f->universal = text.empty();
}

void set_initial(Interpreter& in, TextFile* f, const Value* text, const Value& newline) {
  f->mode = "r+";
  f->closed = false;
  f->text.clear();
  f->at = 0;
  f->ends = {};
  set_newline(in, f, newline, "newline");
  if (text == nullptr || text->is_none()) return;
  if (!is_str(*text)) {
    throw_error(ErrorKind::TypeError, "initial_value must be str or None, not %s",
                std::string(type_name(in, *text)).c_str());
  }
  write_memory(in, f, text_of(*text));
  f->at = 0;
}

Value make_memory(Interpreter& in, Type* type, const Args& args) {
  TextFile* f = make_object<TextFile>(in, type);
  Value made = Value::adopt(f);
  f->name = Value::none();
  set_initial(in, f, nullptr, make_str(in, "\n"));
  if (args.count != 0) run_native_init(in, made, args);
  return made;
}

Value memory_init(Interpreter& in, const Args& args) {
  set_initial(in, this_text_file(args), &args[1], args[2]);
  return Value::none();
}

// --- pickling of a StringIO: (text, newline, position, attributes)

Value memory_getstate(Interpreter& in, const Args& args) {
  const TextFile* f = this_text_file(args);
  check_open(in, f);
  const Value newline = f->translate ? Value::none() : make_str(in, f->newline);
  return make_tuple(in, {make_str(in, f->text), newline, file_tell(in, args), attributes_to_keep(in, args[0])});
}

Value memory_setstate(Interpreter& in, const Args& args) {
  TextFile* f = this_text_file(args);
  check_open(in, f);
  if (!is_tuple(args[1]) || as_tuple(args[1])->size < 4) {
    throw_error(ErrorKind::TypeError, "%s.__setstate__ argument should be 4-tuple, got %s",
                std::string(f->type->name->view()).c_str(), std::string(type_name(in, args[1])).c_str());
  }
  const Value state = args[1];
  const Tuple& items = *as_tuple(state);
  set_initial(in, f, nullptr, items[1]);
  f->text = text_argument(in, items[0], "initial_value");  // the line ends are as they shall be
  const Value seek[] = {args[0], items[2], Value::integer(0)};
  file_seek(in, Args{seek, 3});
  keep_attributes(in, args[0], items[3]);
  return Value::none();
}

// --- open ---

// An argument that is a str or None; false: None.
bool has_text(Interpreter& in, const Value& given, const char* function, const char* name) {
  if (given.is_none()) return false;
  if (!is_str(given)) {
    throw_error(ErrorKind::TypeError, "%s() argument '%s' must be str or None, not %s", function, name,
                std::string(type_name(in, given)).c_str());
  }
  check_c_text(in, given);
  return true;
}

// Sets encoding= and errors=; None leaves what there is, but a new encoding comes with strict errors.
void set_encoding(Interpreter& in, TextFile* f, const Value& encoding, const Value& errors, const char* function) {
  if (has_text(in, encoding, function, "encoding")) {
    f->encoding_name = text_of(encoding) == "locale" ? "UTF-8" : std::string(text_of(encoding));
    f->errors_name = "strict";
  }
  if (has_text(in, errors, function, "errors")) f->errors_name = text_of(errors);
  if (in.host().flags.dev_mode && f->errors_name != "strict")
    call(in, get_attr(in, Value(in.import("codecs")), intern(in, "lookup_error")), {make_str(in, f->errors_name)});
  f->codec = f->codec_encoder = f->codec_decoder = Value();
  const std::string& name = f->errors_name;
  f->on_error = name == "ignore"            ? OnError::Ignore
                : name == "replace"         ? OnError::Replace
                : name == "surrogateescape" ? OnError::SurrogateEscape
                                            : OnError::Strict;
  const bool native_errors = name == "strict" || f->on_error != OnError::Strict;
  if (find_encoding(f->encoding_name, f->encoding) && native_errors) return;
  const Value codec = call(in, get_attr(in, Value(in.import("codecs")), intern(in, "lookup")),
                           {make_str(in, f->encoding_name)});
  if (!truth(in, get_attr(in, codec, intern(in, "_is_text_encoding")))) {
    throw_error(ErrorKind::LookupError, "'%s' is not a text encoding; use codecs.open() to handle arbitrary codecs",
                f->encoding_name.c_str());
  }
  f->codec = codec;
  f->encoding = Encoding::Utf8;
}

void set_text_options(Interpreter& in, TextFile* f, const Value& encoding, const Value& errors, const Value& newline,
                      const char* function) {
  set_newline(in, f, newline, function[0] == 'o' ? "open() argument 'newline'" : "TextIOWrapper() argument 'newline'");
  if (encoding.is_none() && x_option(in, "warn_default_encoding") != nullptr)
    in.warn(ErrorKind::EncodingWarning, "'encoding' argument not specified");
  set_encoding(in, f, encoding, errors, function);
}

// print() leaves the work to standard output when that is not plain any more.
void note_options(Interpreter& in, const Value& file, const TextFile* f) {
  // print() writes UTF-8 itself and leaves what cannot be encoded to the file.
  if (f->encoding == Encoding::Utf8 && f->codec.is_undefined() && !f->newline.starts_with('\r')) return;
  const Module* const sys = in.modules().find("sys");
  if (sys == nullptr) return;
  const Value* const plain = dict_get_text(sys->dict, "_plain_stdout");
  if (plain != nullptr && plain->is(file)) dict_set_str(in, sys->dict, intern(in, "_plain_stdout"), Value::none());
}

Value file_reconfigure(Interpreter& in, const Args& args) {
  TextFile* f = this_text_file(args);
  check_attached(f);
  const bool changes_text = !args[1].is_none() || !args[2].is_none() || !args[3].is_undefined();
  if (changes_text && f->was_read)
    throw_unsupported(in, "It is not possible to set the encoding or newline of stream after the first read");
  call_method(in, args[0], intern(in, "flush"));
  if (!args[3].is_undefined()) set_newline(in, f, args[3], "reconfigure() argument 'newline'");
  if (changes_text) {
    set_encoding(in, f, args[1], args[2], "reconfigure");
    note_options(in, args[0], f);
  }
  if (!args[4].is_none()) f->line_buffered = truth(in, args[4]);
  if (!args[5].is_none()) f->write_through = truth(in, args[5]);
  return Value::none();
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
  const int64_t buffering = int_argument(in, args[2]);
  options.buffered = buffering != 0;
  if (buffering == 1) {
    in.warn(ErrorKind::RuntimeWarning,
            "line buffering (buffering=1) isn't supported in binary mode, the default buffer size will be used");
  }
  options.name = args[0];
  const Opened opened = open_descriptor(in, args[0], mode, truth(in, args[6]), args[7]);
  options.fd = opened.fd;
  options.owns_fd = opened.owned;
  options.name = opened.name;
  return make_binary_file(in, options);
}

// --- TextIOWrapper(buffer, ...)

struct WrapperOptions {
  Value encoding = Value::none(), errors = Value::none(), newline = Value::none();
  bool line_buffered = false, write_through = false;
};

void wrap(Interpreter& in, TextFile* f, const Value& buffer, const WrapperOptions& options) {
  f->ready = f->detached = false;
  f->place = Place::Stream;
  f->chunk = kStreamChunk;
  forget_read(f);
  f->pending.clear();
  f->encoding_name = "UTF-8";
  f->errors_name = "strict";
  set_text_options(in, f, options.encoding, options.errors, options.newline, "TextIOWrapper");
  f->line_buffered = options.line_buffered;
  f->write_through = options.write_through;
  f->buffer = buffer;
  f->readable = truth(in, call_method(in, buffer, intern(in, "readable")));
  f->writable = truth(in, call_method(in, buffer, intern(in, "writable")));
  const bool seekable = truth(in, call_method(in, buffer, intern(in, "seekable")));
  f->signature_due = true;
  if (seekable && f->writable && index(in, call_method(in, buffer, intern(in, "tell"))) != 0) {
    f->signature_due = false;
    if (!f->codec.is_undefined()) {
      const Value encoder = encoder_of_codec(in, f);
      call_method(in, encoder, intern(in, "setstate"), {Value::integer(0)});
    }
  }
  f->ready = true;
}

Value unready_wrapper(Interpreter& in, Type* type) {
  Value made = Value::adopt(make_object<TextFile>(in, type));
  TextFile* f = text_file_of(made);
  f->place = Place::Stream;
  f->ready = false;
  f->name = Value::none();
  return made;
}

Value make_wrapper(Interpreter& in, Type* type, const Args& args) {
  const Value made = unready_wrapper(in, type);
  run_native_init(in, made, args);
  return made;
}

// __new__(cls) alone leaves the work to __init__; the arguments of __init__ may come at once.
Value wrapper_new(Interpreter& in, const Args& args) {
  Type* const type = class_to_make(in, args);
  return args.count == 1 ? unready_wrapper(in, type) : make_wrapper(in, type, {args.values + 1, args.count - 1, args.keyword_names});
}

Value wrapper_init(Interpreter& in, const Args& args) {
  wrap(in, this_text_file(args), args[1], {args[2], args[3], args[4], truth(in, args[5]), truth(in, args[6])});
  return Value::none();
}

Value open_file(Interpreter& in, const Args& args) {
  require(in.limits.files, "files");
  const std::string mode_text(text_argument(in, args[1], "open() argument 'mode'"));
  const Mode mode = parse_mode(mode_text);
  if (mode.binary) return open_binary(in, args, mode);
  if (args[2].is_int() && args[2].as_int() == 0) throw Error(ErrorKind::ValueError, "can't have unbuffered text I/O");
  Value made = Value::adopt(make_object<TextFile>(in, static_cast<Type*>(args.callee->data)));
  TextFile* f = text_file_of(made);
  f->place = Place::Disk;
  f->closed = true;  // until it is open
  f->name = args[0];
  f->mode = mode_text;
  f->readable = mode.kind == 'r' || mode.plus;
  f->writable = mode.kind != 'r' || mode.plus;
  f->appends = mode.kind == 'a';
  set_text_options(in, f, args[3], args[4], args[5], "open");
  const Opened opened = open_descriptor(in, args[0], mode, truth(in, args[6]), args[7]);
  f->fd = opened.fd;
  f->owns_fd = opened.owned;
  f->name = opened.name;
  f->closed = false;
  f->line_buffered = (args[2].is_int() && args[2].as_int() == 1) || isatty(f->fd) == 1;
  const off_t here = files_of(in).seek(f->fd, 0, f->appends ? SEEK_END : SEEK_CUR);
  f->signature_due = here <= 0;
  if (here > 0 && f->writable && !f->codec.is_undefined()) {
    const Value encoder = encoder_of_codec(in, f);
    call_method(in, encoder, intern(in, "setstate"), {Value::integer(0)});
  }
  return made;
}

// The encoding and the error handler of the standard streams. An empty encoding stands for UTF-8.
struct StandardEncoding {
  std::string encoding, errors = "strict";
};

// CPython's stdin and stdout keep undecodable bytes in UTF-8 mode and in the locales C, POSIX and C.UTF-8.
bool escapes_surrogates(Interpreter& in) {
  const char* const mode = in.host().flags.ignore_environment ? nullptr : std::getenv("PYTHONUTF8");
  if (x_option(in, "utf8") != nullptr) return *x_option(in, "utf8") != "0";
  if (mode != nullptr && mode[0] == '1') return true;
  const locale_t locale = newlocale(LC_CTYPE_MASK, "", nullptr);
  if (locale == nullptr) return true;  // setlocale() would leave the locale C
  freelocale(locale);
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view name = value;
    return name == "C" || name == "POSIX" || name == "C.UTF-8" || name == "C.utf8" || name == "UTF-8";
  }
  return true;
}

StandardEncoding standard_encoding(Interpreter& in) {
  StandardEncoding made;
  if (!in.limits.environment) return made;
  const char* const text = in.host().flags.ignore_environment ? nullptr : std::getenv("PYTHONIOENCODING");
  const std::string given = text == nullptr ? "" : text;
  const size_t colon = std::min(given.find(':'), given.size());
  made.encoding = given.substr(0, colon);
  if (colon + 1 < given.size()) made.errors = given.substr(colon + 1);
  else if (made.encoding.empty() && escapes_surrogates(in)) made.errors = "surrogateescape";
  if (made.encoding.empty() && colon + 1 < given.size()) made.encoding = "utf-8";
  return made;
}

Value standard_stream(Interpreter& in, const Args& args) {
  static constexpr const char* kNames[] = {"<stdin>", "<stdout>", "<stderr>"};
  const int64_t which = int_argument(in, args[0]);
  if (which < 0 || which > 2) throw Error(ErrorKind::ValueError, "there are three standard streams");
  // The process was started with this file closed: for who may use files; a host's streams are its own.
  if (in.limits.files && files_of(in).owns(static_cast<int>(which)) && fcntl(static_cast<int>(which), F_GETFD) < 0) return Value::none();
  Value made = Value::adopt(make_object<TextFile>(in, static_cast<Type*>(args.callee->data)));
  TextFile* f = text_file_of(made);
  f->place = which == 0 ? Place::In : which == 1 ? Place::Out : Place::Error;
  f->fd = static_cast<int>(which);
  f->owns_fd = false;
  f->name = make_str(in, kNames[which]);
  f->mode = which == 0 ? "r" : "w";
  const StandardEncoding wanted = standard_encoding(in);
  f->encoding_name = "utf-8";
  if (wanted.encoding.empty()) {
    f->errors_name = wanted.errors;
    f->on_error = wanted.errors == "surrogateescape" ? OnError::SurrogateEscape : OnError::Strict;
  } else {
    const Value codec = call(in, get_attr(in, Value(in.import("codecs")), intern(in, "lookup")), {make_str(in, wanted.encoding)});
    set_encoding(in, f, get_attr(in, codec, intern(in, "name")), make_str(in, wanted.errors), "TextIOWrapper");
  }
  if (which == 2) f->errors_name = "backslashreplace";
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
    {"detach(self)", file_detach, "Flush and give the buffer away."},
    {"__enter__(self)", file_enter},
    {"__exit__(self, *exc_info)", file_exit},
    {"__del__(self, /)", file_del},
};

Type* make_file_type(Interpreter& in, std::string_view name) {
  NativeTypeSpec spec;
  spec.name = name;
  spec.module = "_io";
  constexpr uint32_t kAttributesAt = (sizeof(TextFile) + 15) & ~uint32_t{15};
  spec.size = kAttributesAt + sizeof(Attributes);
  Type* type = in.new_type(spec);
  type->attributes_offset = kAttributesAt;
  type->slots.destroy = destroy_file;
  type->slots.iter = file_iter;
  type->slots.next = file_next;
  in.add_methods(type, kMethods, std::size(kMethods));
  in.add_property(type, "closed", file_closed);
  in.add_property(type, "encoding", file_encoding);
  in.add_property(type, "errors", file_errors);
  in.add_property(type, "newlines", file_newlines);
  in.add_property(type, "line_buffering", file_line_buffering);
  return type;
}

}  // namespace

namespace {

// The types of binary files are made when the first of them is named or needed; what is written in the language comes from `io`.
Value late_type(Interpreter& in, Module& module, Str* name) {
  static constexpr std::string_view kWritten[] = {"IOBase",      "RawIOBase",      "BufferedIOBase",
                                                  "TextIOBase",  "BufferedRWPair", "IncrementalNewlineDecoder",
                                                  "open_code",   "text_encoding",  "UnsupportedOperation",
                                                  "BlockingIOError", "DEFAULT_BUFFER_SIZE"};
  std::string_view public_name = name->view();
  if (public_name.starts_with('_')) public_name.remove_prefix(1);
  if (std::find(std::begin(kWritten), std::end(kWritten), public_name) != std::end(kWritten))
    return get_attr(in, Value(in.import("io")), intern(in, public_name));
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
  static const NativeDef kWrapperMethods[] = {
      {"__init__(self, buffer, encoding=None, errors=None, newline=None, line_buffering=False, write_through=False)",
       wrapper_init},
      {"reconfigure(self, *, encoding=None, errors=None, newline=..., line_buffering=None, write_through=None)",
       file_reconfigure, "Change the options."},
      {"__new__", wrapper_new},
  };
  in.add_methods(file, kWrapperMethods, std::size(kWrapperMethods));
  in.add_property(file, "name", file_name);
  in.add_property(file, "mode", file_mode, file_set_mode);
  in.add_property(file, "write_through", file_write_through);
  in.add_property(file, "_CHUNK_SIZE", file_chunk_size, file_set_chunk_size, "", file_delete_chunk_size);
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
      {"__reduce__(self)", reduce_new, "Return state information for pickling."},
      {"__getstate__(self)", memory_getstate, "Text, newline, position and attributes."},
      {"__setstate__(self, state, /)", memory_setstate, "Set text, newline, position and attributes."},
  };
  Type* memory = make_file_type(in, "StringIO");
  memory->make = make_memory;
  in.add_methods(memory, kMemoryMethods, std::size(kMemoryMethods));
  set_member(in, module, "StringIO", Value(memory));
}

}  // namespace tessera::stdlib

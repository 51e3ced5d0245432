// _io: `open`, the types of text files, standard streams and StringIO, and what these answer of themselves. Reading and
// writing stand in text_file_read.cpp and text_file_write.cpp.
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
#include "stdlib/python/native/text_file.h"

namespace tessera::stdlib {
namespace {

// A wrapper takes its stream with it; what that says has no listener.
void close_stream(Interpreter& in, TextFile* f) noexcept {
  try {
    flush(in, f);
    call_method(in, f->buffer, intern(in, "close"));
  } catch (...) {
    f->pending.clear();
  }
}

void destroy_file(Interpreter& in, Object* self) {
  TextFile* f = static_cast<TextFile*>(self);
  if (f->place == Place::Stream && !f->closed) close_stream(in, f);
  close_file(in, f);
  free_object(in, static_cast<TextFile*>(self));
}

Value file_fileno(Interpreter& in, const Args& args) {
  TextFile* f = self_of(args);
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
  const TextFile* f = self_of(args);
  return f->place == Place::Memory ? Value::none() : make_str(in, f->encoding_name);
}
// The binary file below.
Value file_buffer(Interpreter& in, const Args& args) {
  TextFile* f = self_of(args);
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

Value file_newlines(Interpreter& in, const Args& args) {
  static constexpr const char* kEnds[] = {"\r", "\n", "\r\n"};
  const uint8_t seen = self_of(args)->ends.seen();
  std::vector<Value> ends;
  for (int i = 0; i < 3; ++i) {
    if (seen & 1 << i) ends.push_back(make_str(in, kEnds[i]));
  }
  if (ends.empty()) return Value::none();
  return ends.size() == 1 ? ends[0] : make_tuple_moving(in, ends.data(), ends.size());
}
Value file_reconfigure(Interpreter&, const Args&) { return Value::none(); }
Value file_errors(Interpreter& in, const Args& args) {
  if (self_of(args)->place == Place::Memory) return Value::none();
  const OnError on_error = self_of(args)->on_error;
  return make_str(in, on_error == OnError::Strict ? "strict" : on_error == OnError::Ignore ? "ignore" : "replace");
}

Value file_repr(Interpreter& in, const Value& self) {
  TextFile* f = file_of(self);
  return make_str(in, "<_io.TextIOWrapper name=" + repr_text(in, f->name) + " mode='" + f->mode + "' encoding='" +
                          f->encoding_name + "'>");
}

Value memory_getvalue(Interpreter& in, const Args& args) {
  check_open(self_of(args));
  return make_str(in, self_of(args)->text);
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
  const bool later = has_script_init(in, type);
  const Value* newline = later ? nullptr : make_argument(args, 1, "newline");
  set_initial(in, f, later ? nullptr : make_argument(args, 0, "initial_value"),
              newline != nullptr ? *newline : make_str(in, "\n"));
  return made;
}

Value memory_init(Interpreter& in, const Args& args) {
  set_initial(in, self_of(args), &args[1], args[2]);
  return Value::none();
}

// --- pickling of a StringIO: (text, newline, position, attributes)

Value memory_getstate(Interpreter& in, const Args& args) {
  const TextFile* f = self_of(args);
  check_open(f);
  const Value newline = f->translate ? Value::none() : make_str(in, f->newline);
  return make_tuple(in, {make_str(in, f->text), newline, file_tell(in, args), attributes_to_keep(in, args[0])});
}

Value memory_setstate(Interpreter& in, const Args& args) {
  TextFile* f = self_of(args);
  check_open(f);
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

void set_text_options(Interpreter& in, TextFile* f, const Value& encoding, const Value& errors, const Value& newline) {
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
  set_newline(in, f, newline, "open() argument 'newline'");
}

// Answers the descriptor; `shown` becomes the path as text.
int open_path(Interpreter& in, const Value& path, const Mode& mode, Value& shown) {
  if (!is_str(path) && !is_bytes(path)) shown = make_str_lossy(in, path_argument(in, path));
  const std::string name = path_argument(in, is_bytes(path) ? path : shown);
  Files& files = files_of(in);
  const int fd = files.open(name, open_flags(mode));
  if (fd < 0) throw_os_error(in, errno, name);
  struct stat s {};
  if (files.status(fd, &s) == 0 && S_ISDIR(s.st_mode)) {
    files.close(fd);
    throw_os_error(in, EISDIR, name);
  }
  return fd;
}

// The number of an open file that a script gives instead of a path.
int open_number(Interpreter& in, const Value& number) {
  const int fd = static_cast<int>(number.as_int());
  if (!files_of(in).owns(fd) || fcntl(fd, F_GETFD) < 0) throw_os_error(in, errno);
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
    options.fd = open_number(in, args[0]);
    options.owns_fd = truth(in, args[6]);
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
  Value made = Value::adopt(make_object<TextFile>(in, type));
  TextFile* f = file_of(made);
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
  Value made = Value::adopt(make_object<TextFile>(in, static_cast<Type*>(args.callee->data)));
  TextFile* f = file_of(made);
  f->place = Place::Disk;
  f->closed = true;  // until it is open
  f->name = args[0];
  f->mode = mode_text;
  f->readable = mode.kind == 'r' || mode.plus;
  f->writable = mode.kind != 'r' || mode.plus;
  f->appends = mode.kind == 'a';
  set_text_options(in, f, args[3], args[4], args[5]);
  if (args[0].is_int()) {
    f->fd = open_number(in, args[0]);
    f->owns_fd = truth(in, args[6]);
  } else {
    f->fd = open_path(in, args[0], mode, f->name);
  }
  f->closed = false;
  f->line_buffered = (args[2].is_int() && args[2].as_int() == 1) || isatty(f->fd) == 1;
  if (f->appends) f->consumed = files_of(in).seek(f->fd, 0, SEEK_END);
  if (f->encoding == Encoding::Utf8Signature && mode.kind != 'r') f->pending = "\xEF\xBB\xBF";
  return made;
}

Value standard_stream(Interpreter& in, const Args& args) {
  static constexpr const char* kNames[] = {"<stdin>", "<stdout>", "<stderr>"};
  const int64_t which = int_argument(in, args[0]);
  if (which < 0 || which > 2) throw Error(ErrorKind::ValueError, "there are three standard streams");
  Value made = Value::adopt(make_object<TextFile>(in, static_cast<Type*>(args.callee->data)));
  TextFile* f = file_of(made);
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
  spec.size = sizeof(TextFile);
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

// What a binary file says of itself: its modes, its name, the raw stream below it, its repr.
// compile: small (the system calls take longer)
#include <sys/stat.h>
#include <unistd.h>

#include "lang/core/host.h"
#include "lang/core/make_object.h"
#include "lang/core/names.h"
#include "lang/objects/own_type.h"
#include "stdlib/python/native/binary_file.h"

namespace tessera::stdlib::binary {

Type* type_for(Interpreter& in, const BinaryFile* f, bool plus) {
  const Value module(in.import("_io"));
  const char* const name = !f->buffered  ? "FileIO"
                           : plus        ? "BufferedRandom"
                           : f->readable ? "BufferedReader"
                                         : "BufferedWriter";
  return own_type(get_attr(in, module, intern(in, name)), layout_of<BinaryFile>, name);
}

namespace {
// Answers of the stream below, where there is one.
Value ask_raw(Interpreter& in, const Args& args, const char* method) {
  const Value raw = this_binary_file(args)->raw;
  return call_method(in, raw, intern(in, method));
}
}  // namespace

Value file_fileno(Interpreter& in, const Args& args) {
  check_ready(this_binary_file(args));
  if (this_binary_file(args)->place == Place::Raw) return ask_raw(in, args, "fileno");
  if (this_binary_file(args)->place == Place::Memory) throw_unsupported(in, "fileno");
  check_open(in, this_binary_file(args));
  return Value::integer(this_binary_file(args)->fd);
}
Value file_isatty(Interpreter& in, const Args& args) {
  check_ready(this_binary_file(args));
  if (this_binary_file(args)->place == Place::Raw) return ask_raw(in, args, "isatty");
  check_open(in, this_binary_file(args));
  return Value::boolean(this_binary_file(args)->fd >= 0 && isatty(this_binary_file(args)->fd) == 1);
}
Value file_readable(Interpreter& in, const Args& args) {
  check_ready(this_binary_file(args));
  if (this_binary_file(args)->place == Place::Raw) return ask_raw(in, args, "readable");
  check_open(in, this_binary_file(args));
  return Value::boolean(this_binary_file(args)->readable);
}
Value file_writable(Interpreter& in, const Args& args) {
  check_ready(this_binary_file(args));
  if (this_binary_file(args)->place == Place::Raw) return ask_raw(in, args, "writable");
  check_open(in, this_binary_file(args));
  return Value::boolean(this_binary_file(args)->writable);
}
Value file_seekable(Interpreter& in, const Args& args) {
  check_ready(this_binary_file(args));
  if (this_binary_file(args)->place == Place::Raw) return ask_raw(in, args, "seekable");
  check_open(in, this_binary_file(args));
  return Value::boolean(this_binary_file(args)->place <= Place::Memory && this_binary_file(args)->seekable);
}
Value file_enter(Interpreter& in, const Args& args) {
  check_open(in, this_binary_file(args));
  return args[0];
}
Value file_exit(Interpreter& in, const Args& args) {
  call(in, get_attr(in, args[0], intern(in, "close")));
  return Value::none();
}
Value file_closed(Interpreter& in, const Args& args) {
  check_ready(this_binary_file(args));
  return Value::boolean(is_closed(in, this_binary_file(args)));
}
Value file_name(Interpreter& in, const Args& args) {
  const BinaryFile* f = this_binary_file(args);
  check_ready(f);
  return f->place == Place::Raw ? get_attr(in, f->raw, intern(in, "name")) : f->name;
}
Value file_mode(Interpreter& in, const Args& args) {
  const BinaryFile* f = this_binary_file(args);
  check_ready(f);
  return f->place == Place::Raw ? get_attr(in, f->raw, intern(in, "mode")) : make_str(in, f->mode);
}
// The size of the system's blocks.
Value file_blksize(Interpreter& in, const Args& args) {
  struct stat s {};
  const BinaryFile* f = this_binary_file(args);
  const bool known = f->fd >= 0 && in.host().files->status(f->fd, &s) == 0 && s.st_blksize > 1;
  return Value::integer(known ? s.st_blksize : 8192);
}

Value file_closefd(Interpreter&, const Args& args) { return Value::boolean(this_binary_file(args)->owns_fd); }

// The raw stream. A file that open() made gets one now: it takes the descriptor over.
Value file_raw(Interpreter& in, const Args& args) {
  BinaryFile* f = this_binary_file(args);
  if (f->detached || !f->ready) return Value::none();
  if (f->place == Place::Raw) return f->raw;
  if (f->place != Place::Disk) return args[0];
  flush(in, f);
  BinaryFile shape;
  shape.buffered = false;
  Value made = Value::adopt(make_object<BinaryFile>(in, type_for(in, &shape, false)));
  BinaryFile* raw = binary_file_of(made);
  raw->place = Place::Disk;
  raw->buffered = false;
  raw->fd = f->fd;
  raw->closed = f->closed;
  raw->readable = f->readable;
  raw->writable = f->writable;
  raw->owns_fd = f->owns_fd;
  raw->appends = f->appends;
  raw->seekable = f->seekable;
  raw->name = f->name;
  set_attr(in, made, intern(in, "name"), f->name);
  raw->mode = f->mode;
  raw->position = raw->system = f->system;
  f->raw = made;
  f->place = Place::Raw;
  f->fd = -1;
  return made;
}

Value file_detach(Interpreter& in, const Args& args) {
  BinaryFile* f = this_binary_file(args);
  check_ready(f);
  if (f->place == Place::Memory) throw_unsupported(in, "detach");
  call_method(in, args[0], intern(in, "flush"));
  const Value raw = file_raw(in, args);
  f->detached = true;
  f->raw = Value();
  return raw;
}

namespace {
Value described(Interpreter& in, const BinaryFile* f, Value name) {
  if (!f->buffered && f->closed) return make_str(in, "<_io.FileIO [closed]>");
  const bool script = (f->type->type_flags & kScriptClass) != 0 && f->buffered;
  std::string text = script ? "<" + std::string(f->type->name->view()) : "<_io." + std::string(f->buffered ? f->type->name->view() : "FileIO");
  if (f->place == Place::Raw) name = f->detached || !f->ready ? Value() : find_attr(in, f->raw, intern(in, "name"));
  if (!name.is_undefined()) text += " name=" + repr_text(in, name);
  else if (!f->buffered) text += " fd=" + std::to_string(f->fd);
  if (!f->buffered) text += " mode='" + f->mode + "' closefd=" + (f->owns_fd ? "True" : "False");
  return make_str(in, text + ">");
}
}  // namespace

Value file_repr(Interpreter& in, const Value& self) {
  const BinaryFile* f = binary_file_of(self);
  return described(in, f, f->buffered ? f->name : find_attr(in, self, intern(in, "name")));
}

// Its attributes are gone already.
Value last_repr(Interpreter& in, const Value& self) { return described(in, binary_file_of(self), binary_file_of(self)->name); }

}  // namespace tessera::stdlib::binary

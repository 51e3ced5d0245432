// _io: the types of binary files, and how they are made: FileIO and the buffers around raw streams by scripts, BytesIO, open() and the
// standard streams.
// compile: small (the system calls take longer)
#include "stdlib/python/native/binary_io.h"

#include <unistd.h>

#include <algorithm>

#include "lang/core/host.h"
#include "lang/core/make_object.h"
#include "lang/core/names.h"
#include "lang/objects/class.h"
#include "lang/objects/own_type.h"
#include "stdlib/python/native/binary_file.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/open_mode.h"

namespace tessera::stdlib {
using namespace binary;
namespace {

// Fills in the access modes and the position of an open descriptor.
void take_descriptor(Interpreter& in, BinaryFile* f, int fd, bool owned, const Mode& mode) {
  f->place = Place::Disk;
  f->closed = fd < 0;
  f->fd = fd;
  f->owns_fd = owned;
  f->readable = mode.kind == 'r' || mode.plus;
  f->writable = mode.kind != 'r' || mode.plus;
  f->appends = mode.kind == 'a';
  f->mode = mode.kind == 'x' ? "xb" : mode.kind == 'a' ? "ab" : f->readable ? "rb" : "wb";
  if (mode.plus) f->mode += '+';
  const int64_t here = f->closed ? -1 : in.host().files->seek(fd, 0, f->appends ? SEEK_END : SEEK_CUR);
  f->seekable = here >= 0;
  f->position = f->system = std::max<int64_t>(here, 0);
}

// --- FileIO and the buffers around raw streams, made by scripts

void open_file(Interpreter& in, BinaryFile* f, const Value& file, const Value& mode, bool closefd, const Value& opener) {
  if (const int code = close_file(in, f)) throw_os_error(in, code);
  const Mode parsed = parse_raw_mode(std::string(text_argument(in, mode, "FileIO() argument 'mode'")));
  const Opened opened = open_descriptor(in, file, parsed, closefd, opener);
  take_descriptor(in, f, opened.fd, opened.owned, parsed);
  f->name = opened.name;
  try {
    set_attr(in, Value(f), intern(in, "name"), opened.name);
  } catch (...) {
    if (file.is_int()) f->owns_fd = false;  // it stays with who has opened it
    throw;
  }
}

Value make_file_io(Interpreter& in, Type* type, const Args& args) {
  require(in.limits.files, "files");
  Value made = Value::adopt(make_object<BinaryFile>(in, type));
  BinaryFile* f = binary_file_of(made);
  f->place = Place::Disk;
  f->buffered = false;
  f->closed = true;
  f->name = Value::none();
  run_native_init(in, made, args);
  return made;
}

Value file_io_init(Interpreter& in, const Args& args) {
  open_file(in, this_binary_file(args), args[1], args[2], truth(in, args[3]), args[4]);
  return Value::none();
}

// Which of the three a class is below: 'r', 'w' or '+'.
char buffer_kind(Interpreter& in, const Type* type) {
  for (const Type* each : type->mro) {
    if (each->type_flags & kScriptClass) continue;
    const std::string_view name = each->name->view();
    return name == "BufferedReader" ? 'r' : name == "BufferedWriter" ? 'w' : '+';
  }
  (void)in;
  return '+';
}

void wrap_raw(Interpreter& in, BinaryFile* f, const Value& raw, const Value& size) {
  f->ready = f->detached = false;
  const char kind = buffer_kind(in, f->type);
  const int64_t block = int_argument(in, size);
  const auto can = [&](const char* method) { return truth(in, call_method(in, raw, intern(in, method))); };
  if (kind == '+' && !can("seekable")) throw_unsupported(in, "File or stream is not seekable.");
  if (kind != 'w' && !can("readable")) throw_unsupported(in, "File or stream is not readable.");
  if (kind != 'r' && !can("writable")) throw_unsupported(in, "File or stream is not writable.");
  if (block <= 0) throw Error(ErrorKind::ValueError, "buffer size must be strictly positive");
  expect_block(in, block);
  f->place = Place::Raw;
  f->raw = raw;
  f->readable = kind != 'w';
  f->writable = kind != 'r';
  f->block = static_cast<size_t>(block);
  f->pending.clear();
  drop_ahead(f);
  f->position = f->system = 0;
  f->seekable = true;
  try {
    f->position = f->system = raw_position(in, call_method(in, raw, intern(in, "tell")));
  } catch (const Error&) {
    f->seekable = false;
  } catch (const Thrown&) {
    f->seekable = false;
  }
  f->ready = true;
}

}  // namespace

Type* class_to_make(Interpreter& in, const Args& args) {
  const std::string owner(args.callee->owner->name->view());
  if (args.positional() == 0) throw_error(ErrorKind::TypeError, "%s.__new__(): not enough arguments", owner.c_str());
  if (!is_type(args[0]))
    throw_error(ErrorKind::TypeError, "%s.__new__(X): X is not a type object (%s)", owner.c_str(), std::string(type_name(in, args[0])).c_str());
  Type* const type = as_type(args[0]);
  if (type->is_subtype_of(args.callee->owner)) return type;
  const std::string name(type->name->view());
  throw_error(ErrorKind::TypeError, "%s.__new__(%s): %s is not a subtype of %s", owner.c_str(), name.c_str(), name.c_str(), owner.c_str());
}

namespace {

Value unready_buffer(Interpreter& in, Type* type) {
  Value made = Value::adopt(make_object<BinaryFile>(in, type));
  BinaryFile* f = binary_file_of(made);
  f->place = Place::Raw;
  f->ready = false;
  f->name = Value::none();
  return made;
}

Value make_buffer(Interpreter& in, Type* type, const Args& args) {
  const Value made = unready_buffer(in, type);
  run_native_init(in, made, args);
  return made;
}

Value buffer_new(Interpreter& in, const Args& args) {
  Type* const type = class_to_make(in, args);
  return args.count == 1 ? unready_buffer(in, type) : make_buffer(in, type, {args.values + 1, args.count - 1, args.keyword_names});
}

Value buffer_init(Interpreter& in, const Args& args) {
  wrap_raw(in, this_binary_file(args), args[1], args[2]);
  return Value::none();
}

// --- BytesIO

Value memory_getvalue(Interpreter& in, const Args& args) {
  check_open(in, this_binary_file(args));
  return make_bytes(in, memory_of(this_binary_file(args))->view());
}
Value memory_getbuffer(Interpreter& in, const Args& args) {
  check_open(in, this_binary_file(args));
  return make_memory_view(in, this_binary_file(args)->memory);
}

void set_initial(Interpreter& in, BinaryFile* f, const Value* bytes) {
  f->memory = make_byte_array(in, {});
  f->position = 0;
  f->closed = false;
  if (bytes != nullptr && !bytes->is_none()) byte_array_append(in, memory_of(f), BytesLike(in, *bytes));
}

Value make_memory(Interpreter& in, Type* type, const Args& args) {
  Value made = Value::adopt(make_object<BinaryFile>(in, type));
  binary_file_of(made)->name = Value::none();
  set_initial(in, binary_file_of(made), nullptr);
  if (args.count != 0) run_native_init(in, made, args);
  return made;
}

Value memory_init(Interpreter& in, const Args& args) {
  set_initial(in, this_binary_file(args), &args[1]);
  return Value::none();
}

// Pickling: (bytes, position, attributes).
Value memory_getstate(Interpreter& in, const Args& args) {
  const BinaryFile* f = this_binary_file(args);
  return make_tuple(in, {memory_getvalue(in, args), Value::integer(static_cast<int64_t>(f->position)),
                         attributes_to_keep(in, args[0])});
}

Value memory_setstate(Interpreter& in, const Args& args) {
  BinaryFile* f = this_binary_file(args);
  if (!is_tuple(args[1]) || as_tuple(args[1])->size < 3) {
    throw_error(ErrorKind::TypeError, "%s.__setstate__ argument should be 3-tuple, got %s",
                std::string(f->type->name->view()).c_str(), std::string(type_name(in, args[1])).c_str());
  }
  const Value state = args[1];
  const Tuple& items = *as_tuple(state);
  if (!is_index(in, items[1])) {
    throw_error(ErrorKind::TypeError, "second item of state must be an integer, not %s",
                std::string(type_name(in, items[1])).c_str());
  }
  const int64_t position = int_argument(in, items[1]);
  if (position < 0) throw Error(ErrorKind::ValueError, "position value cannot be negative");
  check_open(in, f);
  check_resizable(memory_of(f));
  set_initial(in, f, &items[0]);
  f->position = position;
  keep_attributes(in, args[0], items[2]);
  return Value::none();
}

const NativeDef kMethods[] = {
    {"read(self, size=-1, /)", file_read, "Read up to size bytes, or all."},
    {"readinto(self, buffer, /)", file_readinto, "Read into a buffer; answers how many bytes came."},
    {"readline(self, size=-1, /)", file_readline, "Read a line with its end."},
    {"readlines(self, hint=-1, /)", file_readlines, "Read all lines."},
    {"write(self, bytes, /)", file_write, "Write bytes; answers how many."},
    {"writelines(self, lines, /)", file_writelines, "Write several bytes objects."},
    {"flush(self)", file_flush, "Write what is waiting."},
    {"close(self)", file_close, "Flush and close."},
    {"seek(self, offset, whence=0, /)", file_seek, "Go to a place."},
    {"tell(self)", file_tell, "The current place."},
    {"truncate(self, size=None, /)", file_truncate, "Cut off the rest."},
    {"fileno(self)", file_fileno, "The number of the file."},
    {"isatty(self)", file_isatty, "Is it a terminal?"},
    {"readable(self)", file_readable, "May it be read?"},
    {"writable(self)", file_writable, "May it be written?"},
    {"seekable(self)", file_seekable, "Has it places?"},
    {"__enter__(self)", file_enter},
    {"__exit__(self, *exc_info)", file_exit},
};

const NativeDef kBufferedMethods[] = {
    {"read1(self, size=-1, /)", file_read1, "Read what is there, with at most one call of the system."},
    {"readinto1(self, buffer, /)", file_readinto, "Read into a buffer, with at most one call of the system."},
    {"detach(self)", file_detach, "Flush and give the raw stream away."},
};
const NativeDef kPeekMethods[] = {{"peek(self, size=0, /)", file_peek, "What comes next, without taking it."}};
const NativeDef kRawMethods[] = {
    {"readall(self)", file_readall, "Read all."},
    {"__init__(self, file, mode='r', closefd=True, opener=None)", file_io_init},
};
const NativeDef kBufferInit[] = {{"__init__(self, raw, buffer_size=8192)", buffer_init}, {"__new__", buffer_new}};
const NativeDef kMemoryMethods[] = {
    {"__init__(self, initial_bytes=None)", memory_init},
    {"getvalue(self)", memory_getvalue, "All bytes."},
    {"getbuffer(self)", memory_getbuffer, "A view of the bytes."},
    {"__reduce__(self)", reduce_new, "Return state information for pickling."},
    {"__getstate__(self)", memory_getstate, "Bytes, position and attributes."},
    {"__setstate__(self, state, /)", memory_setstate, "Set bytes, position and attributes."},
};

constexpr uint32_t kAttributesAt = (sizeof(BinaryFile) + 15) & ~uint32_t{15};

Type* make_file_type(Interpreter& in, Module& module, std::string_view name) {
  NativeTypeSpec spec;
  spec.name = name;
  spec.module = "_io";
  spec.size = kAttributesAt + sizeof(Attributes);
  spec.flags = kCompletesLater;
  Type* type = in.new_type(spec);
  type->attributes_offset = kAttributesAt;
  type->slots.layout = layout_of<BinaryFile>;
  type->slots.destroy = destroy_file;
  type->slots.iter = file_iter;
  type->slots.next = file_next;
  in.add_methods(type, kMethods, std::size(kMethods));
  in.add_property(type, "closed", file_closed);
  if (name != "BytesIO") {
    type->slots.repr = file_repr;
    in.add_property(type, "mode", file_mode);
    if (name == "FileIO") {  // the name is an attribute of the instance
      in.add_property(type, "closefd", file_closefd);
      in.add_property(type, "_blksize", file_blksize);
    } else {
      in.add_property(type, "name", file_name);
    }
  }
  if (name != "FileIO") in.add_methods(type, kBufferedMethods, std::size(kBufferedMethods));
  if (name != "FileIO" && name != "BytesIO") in.add_property(type, "raw", file_raw);
  set_member(in, module, name, Value(type));
  return type;
}

}  // namespace

Value make_binary_file(Interpreter& in, const BinaryOptions& options) {
  BinaryFile shape;
  shape.buffered = options.buffered;
  shape.readable = options.kind == 'r' || options.plus;
  Value made = Value::adopt(make_object<BinaryFile>(in, type_for(in, &shape, options.plus)));
  BinaryFile* f = binary_file_of(made);
  f->name = options.name;
  f->buffered = options.buffered;
  Mode mode;
  mode.kind = options.kind;
  mode.plus = options.plus;
  take_descriptor(in, f, options.fd, options.owns_fd, mode);
  if (!f->buffered) set_attr(in, made, intern(in, "name"), f->name);
  return made;
}

Value make_standard_binary(Interpreter& in, int which) {
  static constexpr const char* kNames[] = {"<stdin>", "<stdout>", "<stderr>"};
  BinaryFile shape;
  shape.readable = which == 0;
  Value made = Value::adopt(make_object<BinaryFile>(in, type_for(in, &shape, false)));
  BinaryFile* f = binary_file_of(made);
  f->place = which == 0 ? Place::In : which == 1 ? Place::Out : Place::Error;
  f->fd = which;
  f->owns_fd = false;
  f->name = make_str(in, kNames[which]);
  f->mode = which == 0 ? "rb" : "wb";
  f->readable = which == 0;
  f->writable = which != 0;
  return made;
}

void add_binary_files(Interpreter& in, Module& module) {
  for (const std::string_view name : {"BufferedReader", "BufferedWriter", "BufferedRandom"}) {
    Type* type = make_file_type(in, module, name);
    in.add_methods(type, kPeekMethods, name == "BufferedWriter" ? 0 : 1);
    in.add_methods(type, kBufferInit, std::size(kBufferInit));
    type->make = make_buffer;
  }
  Type* raw = make_file_type(in, module, "FileIO");
  raw->make = make_file_io;
  in.add_methods(raw, kRawMethods, std::size(kRawMethods));
  Type* memory = make_file_type(in, module, "BytesIO");
  memory->make = make_memory;
  in.add_methods(memory, kMemoryMethods, std::size(kMemoryMethods));
}

}  // namespace tessera::stdlib

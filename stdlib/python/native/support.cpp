#include "stdlib/python/native/support.h"

#include <poll.h>

#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include <algorithm>

#include "lang/types/codec.h"
#include "lang/core/ending.h"
#include "lang/core/host.h"
#include "lang/types/dict.h"
#include "lang/types/str.h"
#include "lang/vm/allow_others.h"
#include "lang/vm/vm.h"
#include "lang/core/names.h"
#include "lang/objects/class_slots.h"
#include "lang/objects/class.h"
#include "lang/objects/exception.h"
#include "lang/types/bytes.h"
#include "lang/types/bigint.h"
#include "lang/types/number.h"
#include "lang/types/sequence.h"
#include "lang/types/types.h"

namespace tessera::stdlib {

const Value* keyword_argument(const Args& args, std::string_view name) {
  if (args.keyword_names == nullptr) return nullptr;
  const uint32_t first = args.count - args.keyword_names->size;
  for (uint32_t i = 0; i < args.keyword_names->size; ++i) {
    if (text_of((*args.keyword_names)[i]) == name) return &args.values[first + i];
  }
  return nullptr;
}

const Value* make_argument(const Args& args, uint32_t index, std::string_view name) {
  if (index < args.positional()) return &args.values[index];
  return keyword_argument(args, name);
}

void check_keywords(const Args& args, const char* function, std::initializer_list<std::string_view> names, uint32_t required) {
  if (args.keyword_names == nullptr || args.keyword_names->size == 0) return;
  if (args.count > names.size()) {
    throw_error(ErrorKind::TypeError, "%s() takes at most %zu %sargument%s (%u given)", function, names.size(),
                args.positional() == 0 ? "keyword " : "", names.size() == 1 ? "" : "s", args.count);
  }
  for (uint32_t i = args.positional(); i < required; ++i) {
    if (keyword_argument(args, names.begin()[i]) == nullptr)
      throw_error(ErrorKind::TypeError, "%s() missing required argument '%s' (pos %u)", function, std::string(names.begin()[i]).c_str(), i + 1);
  }
  for (uint32_t i = 0; i < args.positional(); ++i) {
    if (keyword_argument(args, names.begin()[i]) != nullptr) {
      throw_error(ErrorKind::TypeError, "argument for %s() given by name ('%s') and position (%u)", function,
                  std::string(names.begin()[i]).c_str(), i + 1);
    }
  }
  for (uint32_t i = 0; i < args.keyword_names->size; ++i) {
    const std::string_view name = text_of(args.keyword_names->items[i]);
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw_error(ErrorKind::TypeError, "'%s' is an invalid keyword argument for %s()", std::string(name).c_str(), function);
  }
}

int64_t size_argument(Interpreter& in, const Value& v) {
  if (v.is_none()) return -1;
  if (v.is_int()) return v.as_int();
  if (is_index(in, v)) return index_sized(in, v, ErrorKind::OverflowError);
  throw Error(ErrorKind::TypeError, "argument should be integer or None, not '" + std::string(type_name(in, v)) + "'");
}

int64_t offset_argument(Interpreter& in, const Value& v) {
  if (v.is_int()) return v.as_int();
  const Value whole = whole_index(in, v);
  if (is_big_int(whole)) throw Error(ErrorKind::OverflowError, "Python int too large to convert to C long");
  return whole.as_int();
}

void expect_block(Interpreter& in, int64_t bytes) {
  constexpr int64_t kSmall = int64_t{1} << 30, kMost = int64_t{1} << 40;  // a sanitizer's malloc ends the program above that
  if (bytes < kSmall) return;
  in.heap.expect(static_cast<size_t>(bytes));
  if (bytes > kMost) throw Error(ErrorKind::MemoryError, "");
  // volatile: the compiler may not leave out a block that nothing reads
  void* volatile const block = std::malloc(static_cast<size_t>(bytes));
  if (block == nullptr) throw Error(ErrorKind::MemoryError, "");
  std::free(block);
}

bool has_script_init(Interpreter& in, const Type* type) {
  const Value& init = type_lookup(type, in.names->init);
  return init.is_object() && init.as_object()->kind == ObjectKind::Function;
}

void warn_unclosed(Interpreter& in, Object* file, Value (*describe)(Interpreter& in, const Value& file)) noexcept {
  // A script's class could keep the file from within its own methods, and there is no way back for the object.
  if ((file->type->type_flags & kScriptClass) != 0 || is_ending(in)) return;
  // The interpreter ends: no script runs any more, and the modules may be gone.
  if (in.not_implemented.is_undefined() || (in.vm().builtins()->flags & kFinalized) != 0) return;
  if (dict_get_text(in.modules().table(), "warnings") == nullptr) return;
  ++file->refcount;  // for the while that it is described
  try {
    const Value text = describe(in, Value(file));
    in.warn(ErrorKind::ResourceWarning, "unclosed file " + std::string(text_of(text)));
  } catch (...) {  // a destructor has no caller
  }
  --file->refcount;
}

const std::string* x_option(Interpreter& in, std::string_view name) {
  for (const auto& [option, value] : in.host().flags.x_options)
    if (option == name) return &value;
  return nullptr;
}

void run_native_init(Interpreter& in, const Value& made, const Args& args) {
  if (!has_script_init(in, made.as_object()->type)) call(in, get_attr(in, made, in.names->init), args);
}

void throw_os_error(Interpreter& in, int code, std::string_view path) {
  const Value error_class(error_type(in, ErrorKind::OSError));
  throw Thrown(
      call(in, error_class, {Value::integer(code), make_str(in, std::strerror(code)), decode_text(in, path, "utf-8", "surrogateescape")}));
}

Value path_name(Interpreter& in, const Path& path) {
  return path.is_bytes ? make_bytes(in, path) : decode_text(in, path, "utf-8", "surrogateescape");
}

void throw_os_error(Interpreter& in, int code, const Path& path) {
  const Value error_class(error_type(in, ErrorKind::OSError));
  throw Thrown(call(in, error_class, {Value::integer(code), make_str(in, std::strerror(code)), path_name(in, path)}));
}

void throw_os_error(Interpreter& in, int code) {
  const Value error_class(error_type(in, ErrorKind::OSError));
  throw Thrown(call(in, error_class, {Value::integer(code), make_str(in, std::strerror(code))}));
}

Files& files_of(Interpreter& in) {
  require(in.limits.files, "files");
  return *in.host().files;
}

namespace {

// The bytes of a path's text: the surrogates U+DC80 to U+DCFF stand for bytes that are no UTF-8.
std::string path_bytes(std::string_view text) {
  if (text.find("\xED\xB2") == text.npos && text.find("\xED\xB3") == text.npos) return std::string(text);
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '\xED' && i + 2 < text.size() && (text[i + 1] == '\xB2' || text[i + 1] == '\xB3');
    if (!escaped) {
      out += text[i];
      continue;
    }
    out += static_cast<char>((static_cast<uint8_t>(text[i + 1]) & 1) << 6 | (static_cast<uint8_t>(text[i + 2]) & 63) | 0x80);
    i += 2;
  }
  return out;
}

}  // namespace

Value file_system_path(Interpreter& in, const Value& v) {
  if (is_str(v) || is_bytes(v)) return v;
  const Value method = type_lookup(type_of(in, v), intern(in, "__fspath__"));
  if (method.is_undefined()) {
    throw_error(ErrorKind::TypeError, "expected str, bytes or os.PathLike object, not %s",
                std::string(type_of(in, v)->name->view()).c_str());
  }
  Value path = call_special(in, method, v);
  if (!is_str(path) && !is_bytes(path)) {
    throw_error(ErrorKind::TypeError, "expected %s.__fspath__() to return str or bytes, not %s",
                std::string(type_name(in, v)).c_str(), std::string(type_name(in, path)).c_str());
  }
  return path;
}

Path path_argument(Interpreter& in, const Value& v) {
  const Value path = file_system_path(in, v);
  Path made{is_str(path) ? path_bytes(text_of(path)) : std::string(bytes_of(path)), is_bytes(path)};
  if (std::strlen(made.c_str()) != made.size()) throw Error(ErrorKind::ValueError, "embedded null byte");
  return made;
}

void wait_to_read(Interpreter& in, int file) {
  constexpr int kSlice = 10;  // milliseconds
  pollfd wanted{file, POLLIN, 0};
  while (poll(&wanted, 1, 0) <= 0) {  // asked again with the baton: another thread may have read meanwhile
    {
      const AllowOthers others(in);
      poll(&wanted, 1, kSlice);
    }
    in.poll();
  }
}

size_t wait_to_write(Interpreter& in, int file, size_t size, bool may_stop) {
  if (in.threads().alone()) return size;
  struct stat status;
  if (fstat(file, &status) != 0 || S_ISREG(status.st_mode) || (fcntl(file, F_GETFL) & O_NONBLOCK) != 0) return size;
  constexpr int kSlice = 10;  // milliseconds
  pollfd wanted{file, POLLOUT, 0};
  while (poll(&wanted, 1, 0) == 0) {
    {
      const AllowOthers others(in);
      poll(&wanted, 1, kSlice);
    }
    if (may_stop) in.poll();
    else if (in.is_stopping()) break;
  }
  return std::min<size_t>(size, PIPE_BUF);  // so much there is room for when poll() says that there is some
}

Value class_get_item(Interpreter& in, const Args& args) {
  return call(in, Value(in.shared->alias_type), {args[0], args[1]});
}

void require(bool granted, const char* what) {
  if (!granted) throw_error(ErrorKind::PermissionError, "this program is not allowed to use %s", what);
}

Value reduce_new(Interpreter& in, const Args& args) {
  const Value make = get_attr(in, Value(in.import("copyreg")), intern(in, "__newobj__"));
  const Value state = call_method(in, args[0], intern(in, "__getstate__"));
  return make_tuple(in, {make, make_tuple(in, {Value(args[0].as_object()->type)}), state});
}

Value attributes_to_keep(Interpreter& in, const Value& self) {
  const Value attributes = find_attr(in, self, intern(in, "__dict__"));
  if (attributes.is_undefined() || !truth(in, attributes)) return Value::none();
  return call(in, Value(in.types.dict), {attributes});
}

void keep_attributes(Interpreter& in, const Value& self, const Value& attributes) {
  if (attributes.is_none()) return;
  const Value dict = find_attr(in, self, intern(in, "__dict__"));
  if (!is_dict(attributes) || dict.is_undefined()) {
    throw_error(ErrorKind::TypeError, "state of attributes should be a dict, got a %s",
                std::string(type_name(in, attributes)).c_str());
  }
  call_method(in, dict, intern(in, "update"), {attributes});
}

}  // namespace tessera::stdlib

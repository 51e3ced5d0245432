// Small steps that the native modules share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lang/core/files.h"
#include "lang/core/host.h"
#include "lang/core/interpreter.h"
#include "lang/objects/module.h"
#include "lang/core/native.h"
#include "lang/core/protocol.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "stdlib/namespaces.h"

namespace tessera::stdlib {

inline void set_member(Interpreter& in, Module& module, std::string_view name, Value value) {
  dict_set_str(in, module.dict, intern(in, name), std::move(value));
}

// A number as a double: what math functions take. "must be real number, not str".
inline double real_argument(Interpreter& in, const Value& v) {
  if (v.is_float()) return v.as_float();
  if (v.is_int() || v.is_bool()) return static_cast<double>(v.as_int());
  return to_float(in, v);
}

inline int64_t int_argument(Interpreter& in, const Value& v) { return v.is_int() ? v.as_int() : index(in, v); }

// A size of the file methods, which None leaves open (-1).
int64_t size_argument(Interpreter& in, const Value& v);
// A place in a file, which CPython reads as a C long.
int64_t offset_argument(Interpreter& in, const Value& v);
// Throws MemoryError if the system has no block of so many bytes. For sizes that a script names and that may never be needed.
void expect_block(Interpreter& in, int64_t bytes);

inline std::string_view text_argument(Interpreter& in, const Value& v, const char* what) {
  if (!is_str(v))
    throw_error(ErrorKind::TypeError, "%s must be str, not %s", what, std::string(type_name(in, v)).c_str());
  return text_of(v);
}

// The value of a keyword in a raw call, or null. For the `make` functions of types, which receive calls unbound.
const Value* keyword_argument(const Args& args, std::string_view name);
// Argument `index`, or keyword `name`, or null.
const Value* make_argument(const Args& args, uint32_t index, std::string_view name);
// Refuses the keywords of such a call in CPython's order: too many arguments, then one of the first `required` parameters that is missing,
// one that is given by position as well, one that is unknown.
void check_keywords(const Args& args, const char* function, std::initializer_list<std::string_view> names, uint32_t required);

// ResourceWarning for an open file that is being destroyed. Nothing is said as long as `warnings` was not imported: its first filters
// are silent about that.
void warn_unclosed(Interpreter& in, Object* file, Value (*describe)(Interpreter& in, const Value& file)) noexcept;

// The value of an option -X name=value, "" of one without a value; null: it was not given.
const std::string* x_option(Interpreter& in, std::string_view name);

// Does instances' `__init__` come from a script class below the native type? Then `make` leaves the arguments to it.
bool has_script_init(Interpreter& in, const Type* type);

// Gives the arguments of a call to a new object's native __init__, unless that comes from a script class, which the caller runs.
void run_native_init(Interpreter& in, const Value& made, const Args& args);

// OSError or the subclass that belongs to an errno, with errno, strerror and filename.
[[noreturn]] void throw_os_error(Interpreter& in, int code, std::string_view path);
[[noreturn]] void throw_os_error(Interpreter& in, int code, const struct Path& path);
[[noreturn]] void throw_os_error(Interpreter& in, int code);
// PermissionError unless the host grants it; `what` as in "reading files".
void require(bool granted, const char* what);

// The files that the program may use; PermissionError where the host grants none.
Files& files_of(Interpreter& in);
// The bytes of a path that a script has given as str, as bytes or as an object with __fspath__.
struct Path : std::string {
  bool is_bytes = false;  // given as bytes: an OSError names it as bytes as well
};
Path path_argument(Interpreter& in, const Value& v);
Value file_system_path(Interpreter& in, const Value& v);  // os.fspath: the str or bytes
Value path_name(Interpreter& in, const Path& path);  // the filename of an OSError: str or bytes, as the path was given

// Comes back when the file has something to read, an end or a fault; a safe point every few milliseconds until then.
void wait_to_read(Interpreter& in, int file);

// How much of `size` bytes may be written to the file at once without keeping other threads from running: waits until a pipe
// has room for it. `may_stop`: limits and Ctrl-C end the wait by an exception. Objects may have changed afterwards.
size_t wait_to_write(Interpreter& in, int file, size_t size, bool may_stop = true);

// A row for the types whose classes may be written with parameters: partial[int].
Value class_get_item(Interpreter& in, const Args& args);
inline constexpr NativeDef kClassGetItem = {"__class_getitem__(cls, item, /)", class_get_item, "See PEP 585."};

// Pickling of native objects that have a __getstate__. `reduce_new` is their __reduce__: copyreg.__newobj__ of the type, and
// the state. The attributes of an instance of a script's subclass are part of that state: a copy of its dict, or None.
Value reduce_new(Interpreter& in, const Args& args);
Value attributes_to_keep(Interpreter& in, const Value& self);
void keep_attributes(Interpreter& in, const Value& self, const Value& attributes);

}  // namespace tessera::stdlib

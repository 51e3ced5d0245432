// _sys: what `sys` (sys.tsr) knows of the interpreter.
// compile: small (introspection)
#include <sys/resource.h>
#include <unistd.h>

#include <limits>
#include <optional>

#include "lang/objects/class.h"
#include "lang/types/codec.h"
#include "lang/core/host.h"
#include "lang/objects/code_cache.h"
#include "lang/core/object_cast.h"
#include "lang/objects/class_slots.h"
#include "lang/objects/exception.h"
#include "lang/vm/frame_object.h"
#include "lang/vm/vm.h"
#include "lang/syntax/source_encoding.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes.h"
#include "lang/types/number.h"
#include "lang/types/object_sizes.h"
#include "lang/types/tuple.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

Value exit_program(Interpreter& in, const Args& args) {
  const Value error_class(error_type(in, ErrorKind::SystemExit));
  if (args[0].is_none()) throw Thrown(call(in, error_class));
  if (is_tuple(args[0])) throw Thrown(call(in, error_class, Args{as_tuple(args[0])->items, as_tuple(args[0])->size}));
  throw Thrown(call(in, error_class, {args[0]}));
}

Value exc_info(Interpreter& in, const Args&) {
  const Value exception = handled_exception(in);
  if (!is_exception(exception)) return make_tuple(in, {Value::none(), Value::none(), Value::none()});
  return make_tuple(in, {Value(exception.as_object()->type), exception, as_exception(exception)->traceback});
}

Value exception(Interpreter& in, const Args&) {
  const Value exception = handled_exception(in);
  return is_exception(exception) ? exception : Value::none();
}

Value get_recursion_limit(Interpreter& in, const Args&) { return Value::integer(in.vm().depth_limit()); }

Value set_recursion_limit(Interpreter& in, const Args& args) {
  const int64_t limit = int_argument(in, args[0]);
  if (limit < 1) throw Error(ErrorKind::ValueError, "recursion limit must be greater or equal than 1");
  in.vm().set_depth_limit(static_cast<uint32_t>(std::min<int64_t>(limit, 1'000'000)));
  return Value::none();
}

Value get_frame(Interpreter& in, const Args& args) {
  int64_t depth = int_argument(in, args[0]);
  const Frame* frame = in.vm().top();
  while (frame != nullptr && depth-- > 0) frame = calling_frame(*frame);
  if (frame == nullptr) throw Error(ErrorKind::ValueError, "call stack is not deep enough");
  return frame_object(in, *frame);
}

// What __sizeof__ says, with what CPython's collector has before an instance of such a type.
Value get_size(Interpreter& in, const Args& args) {
  const Value method = type_lookup(type_of(in, args[0]), intern(in, "__sizeof__"));
  if (method.is_undefined() || is_native_method(method))
    return Value::integer(size_in_cpython(in, args[0]) + collector_head(in, args[0]));
  const Value size = call_special(in, method, args[0]);
  if (!size.is_int()) {
    if (!args[1].is_undefined()) return args[1];
    throw Error(ErrorKind::TypeError, "an integer is required");
  }
  if (size.as_int() < 0) throw Error(ErrorKind::ValueError, "__sizeof__() should return >= 0");
  return Value::integer(size.as_int() + collector_head(in, args[0]));
}

Value get_count(Interpreter&, const Args& args) {
  return Value::integer(args[0].is_object() ? args[0].as_object()->refcount : 1);
}

Value intern_text(Interpreter& in, const Args& args) {
  return Value(intern(in, text_argument(in, args[0], "intern() argument")));
}

Value list_of(Interpreter& in, const std::vector<std::string>& texts) {
  Value list = make_list(in);
  for (const std::string& text : texts) list_append(in, as_list(list), make_str_lossy(in, text));
  return list;
}

std::string program_path() {
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);  // not the script's: ours
  return size > 0 ? std::string(path, static_cast<size_t>(size)) : std::string();
}

Value max_rss(Interpreter&, const Args&) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return Value::integer(usage.ru_maxrss);
}

Value import_module(Interpreter& in, const Args& args) {
  return Value(in.import(text_argument(in, args[0], "the name of a module")));
}

Value load_inside(Interpreter& in, const Args& args) {
  return in.modules().load_inside(text_argument(in, args[0], "the name of a module"));
}

Value reload_module(Interpreter& in, const Args& args) {
  if (!args[0].is_object() || args[0].as_object()->kind != ObjectKind::Module)
    throw Error(ErrorKind::TypeError, "reload() argument must be a module");
  in.modules().reload(object_cast<Module>(args[0]));
  return args[0];
}

// (text, file) of an embedded module; None of others.
Value text_inside(Interpreter& in, const Args& args) {
  std::string path;
  bool is_package = false;
  const auto& embedded = in.host().embedded_module;
  const std::optional<std::string> text =
      embedded ? embedded(text_argument(in, args[0], "name"), path, is_package) : std::nullopt;
  return text ? make_tuple(in, {make_str_lossy(in, *text), make_str_lossy(in, path)}) : Value::none();
}

// The code of a file's text (bytes), which is kept beside the file: what importlib's loader asks for.
Value code_of_text(Interpreter& in, const Args& args) {
  if (!in.limits.code) throw Error(ErrorKind::PermissionError, "this program is not allowed to use compile");
  CompileOptions options(CompileMode::Module);
  options.names_in_mapping = true;
  const auto source = std::make_shared<Source>(std::string(text_argument(in, args[1], "path")), decode_source(std::string(bytes_of(args[0]))));
  return code_of_file(in, source, options);
}

Value get_int_max_str_digits(Interpreter& in, const Args&) { return Value::integer(in.int_max_str_digits); }

Value set_int_max_str_digits(Interpreter& in, const Args& args) {
  constexpr int64_t kLeast = 640;  // below it the check would cost more than the conversion
  const int digits = whole_to_int(whole_index(in, args[0]));
  if (digits != 0 && digits < kLeast)
    throw Error(ErrorKind::ValueError, "maxdigits must be 0 or larger than 640");
  in.int_max_str_digits = digits;
  return Value::none();
}

// In the order of sys.flags' names (sys.tsr).
Value flags_tuple(Interpreter& in) {
  const Flags& f = in.host().flags;
  const int counts[] = {f.debug,
                        f.inspect,
                        f.inspect,
                        f.optimize,
                        f.dont_write_bytecode,
                        f.no_user_site,
                        f.no_site,
                        f.ignore_environment,
                        f.verbose,
                        f.bytes_warning,
                        f.quiet,
                        0,
                        f.isolated};
  std::vector<Value> values;
  for (const int count : counts) values.push_back(Value::integer(count));
  values.push_back(Value::boolean(f.dev_mode));
  const std::string* const utf8 = x_option(in, "utf8");
  values.push_back(Value::integer(utf8 == nullptr || *utf8 != "0"));  // utf8_mode
  values.push_back(Value::integer(x_option(in, "warn_default_encoding") != nullptr));
  values.push_back(Value::boolean(f.safe_path != 0));
  values.push_back(Value::integer(f.int_max_str_digits));
  return make_tuple(in, values.data(), values.size());
}

Value x_options(Interpreter& in) {
  Value dict = make_dict(in);
  for (const auto& [name, value] : in.host().flags.x_options)
    dict_set(in, as_dict(dict), make_str_lossy(in, name),
             value.empty() ? Value::boolean(true) : make_str_lossy(in, value));
  return dict;
}

// The environment whose site-packages are on sys.path (repl/start.cpp).
std::string prefix_folder(Interpreter& in) {
  const char* const environment = in.limits.environment ? std::getenv("VIRTUAL_ENV") : nullptr;
  return environment != nullptr && *environment != '\0' ? environment : "/usr";
}

// Of a module that is a part of the program, native or embedded, whether it is a package; None of others.
Value inside(Interpreter& in, const Args& args) {
  const std::string_view name = text_argument(in, args[0], "name");
  std::string path;
  bool is_package = false;
  if (in.host().embedded_module && in.host().embedded_module(name, path, is_package)) return Value::boolean(is_package);
  for (const std::string_view native : in.modules().native_names())
    if (native == name) return Value::boolean(false);
  return Value::none();
}

Value none_as_undefined(const Value& function) { return function.is_none() ? Value() : function; }
Value undefined_as_none(const Value& function) { return function.is_undefined() ? Value::none() : function; }

Value set_trace(Interpreter& in, const Args& args) {
  in.vm().set_trace(none_as_undefined(args[0]));
  return Value::none();
}

Value set_profile(Interpreter& in, const Args& args) {
  in.vm().set_profile(none_as_undefined(args[0]));
  return Value::none();
}

Value get_trace(Interpreter& in, const Args&) { return undefined_as_none(in.vm().trace_function()); }
Value get_profile(Interpreter& in, const Args&) { return undefined_as_none(in.vm().profile_function()); }

Value call_tracing(Interpreter& in, const Args& args) {
  if (!is_tuple(args[1])) {
    throw_error(ErrorKind::TypeError, "call_tracing() argument 2 must be tuple, not %s", argument_type(in, args[1]));
  }
  const Tuple* const given = as_tuple(args[1]);
  return in.vm().call_traced(args[0], Args{given->items, given->size});
}

}  // namespace

void fill_sys(Interpreter& in, Module& module) {
  in.def(module, "exit(code=None, /)", "Leave the program.", exit_program);
  in.def(module, "exc_info()", "Class, exception and traceback of what is being handled.", exc_info);
  in.def(module, "exception()", "The exception that is being handled.", exception);
  in.def(module, "getrecursionlimit()", "How deep calls may go.", get_recursion_limit);
  in.def(module, "setrecursionlimit(limit, /)", "Set how deep calls may go.", set_recursion_limit);
  in.def(module, "getsizeof(object, default=...)", "Bytes of an object.", get_size);
  in.def(module, "_getframe(depth=0, /)", "The frame that calls, or one of those that called it.", get_frame);
  in.def(module, "getrefcount(object, /)", "References to an object.", get_count);
  in.def(module, "intern(string, /)", "The one string with this text.", intern_text);
  in.def(module, "import_module(name, /)", "The module of a dotted name.", import_module);
  in.def(module, "text_inside(name, /)", "The text and the file of a module of the program; None of others.", text_inside);
  in.def(module, "code_of_text(text, path, /)", "The code of a file's text, which may have been kept.", code_of_text);
  in.def(module, "load_inside(name, /)", "Load a module of the program; None if the program has no such module.", load_inside);
  in.def(module, "reload_module(module, /)", "Run a module's text again, over its names.", reload_module);
  in.def(module, "get_int_max_str_digits()", "Digits that an int may have as text.", get_int_max_str_digits);
  in.def(module, "set_int_max_str_digits(maxdigits)", "Set how many digits an int may have as text.", set_int_max_str_digits);
  in.def(module, "set_trace(function, /)", "Set what is called at calls, lines and returns.", set_trace);
  in.def(module, "set_profile(function, /)", "Set what is called at calls and returns.", set_profile);
  in.def(module, "gettrace()", "The function that settrace() has set, or None.", get_trace);
  in.def(module, "getprofile()", "The function that setprofile() has set, or None.", get_profile);
  in.def(module, "inside(name, /)", "Whether a module of the program is a package; None if it is not the program's.", inside);
  in.def(module, "call_tracing(func, args, /)", "Call func(*args) with what it calls traced, though a tracer calls it.", call_tracing);
  in.def(module, "max_rss()", "Kilobytes of memory that the program has used at most.", max_rss);
  char library[64] = "";
  confstr(_CS_GNU_LIBPTHREAD_VERSION, library, sizeof library);
  set_member(in, module, "_thread_library", make_str(in, library));
  set_member(in, module, "flags", flags_tuple(in));
  const std::string& prefix = in.host().flags.pycache_prefix;
  set_member(in, module, "pycache_prefix", prefix.empty() ? Value::none() : make_str_lossy(in, prefix));
  set_member(in, module, "warnoptions", list_of(in, in.host().flags.warn_options));
  set_member(in, module, "_xoptions", x_options(in));
  set_member(in, module, "prefix", make_str_lossy(in, prefix_folder(in)));
  const Value arguments = make_list(in);  // whatever bytes they are
  for (const std::string& each : in.argv) list_append(in, as_list(arguments), decode_text(in, each, "utf-8", "surrogateescape"));
  set_member(in, module, "argv", arguments);
  set_member(in, module, "path", list_of(in, in.search_path));
  set_member(in, module, "modules", Value(in.modules().table()));
  set_member(in, module, "executable", make_str_lossy(in, in.limits.environment ? program_path() : ""));
  set_member(in, module, "maxsize", Value::integer(std::numeric_limits<int64_t>::max()));
}

}  // namespace tessera::stdlib

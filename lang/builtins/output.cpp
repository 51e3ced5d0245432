// print, input and open. Printed text goes to the host in one piece, and piece by piece to a file= or a
// sys.stdout that a script has replaced.
#include "lang/builtins/builtins.h"
#include "lang/core/host.h"
#include "lang/core/bind.h"
#include "lang/core/error.h"
#include "lang/core/make_object.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/types/codec.h"
#include "lang/types/dict.h"
#include "lang/types/format.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"

namespace tessera::lang {
namespace {

std::string_view text_option(Interpreter& in, const Value& value, const char* name, std::string_view missing) {
  if (value.is_none()) return missing;
  if (is_str(value)) return text_of(value);
  throw Error(ErrorKind::TypeError,
              std::string(name) + " must be None or a string, not " + std::string(type_name(in, value)));
}

// Returns the object that a script has put in the place of a standard stream of the module sys. Returns None if the script has removed the
// stream, and Undefined if the stream is the original one.
Value replaced(Interpreter& in, const char* stream, const char* first) {
  const Module* sys = in.modules().find("sys");
  if (sys == nullptr) return Value();
  const Value* now = dict_get_text(sys->dict, stream);
  const Value* original = dict_get_text(sys->dict, first);
  if (now == nullptr || original == nullptr || now->is(*original)) return Value();
  return *now;
}

// A reconfigured sys.stdout counts as replaced, because the host writes UTF-8 unchanged (stdlib/python/sys.tsr).
Value replaced_stdout(Interpreter& in) { return replaced(in, "stdout", "_plain_stdout"); }

// The host's output takes no lone surrogates: the text before them is written, then sys.stdout gets the rest, whose error handler decides.
void append_text(Interpreter& in, std::string& out, const Value& value) {
  if (!value.is_object()) {
    out += str_text(in, value);
    return;
  }
  const Value text = str(in, value);
  if (has_surrogates(text_of(text))) {
    if (in.host().write_out) in.host().write_out(std::exchange(out, {}));
    call_method(in, get_attr(in, Value(in.import("sys")), intern(in, "stdout")), in.names->write, {text});
  } else {
    out += text_of(text);
  }
}

void flush(Interpreter& in, const Value& file) {
  const Value method = find_attr(in, file, in.names->flush);
  if (!method.is_undefined()) call(in, method);
}

// The write() of a native file, which stays the same from value to value; null: of any other object, which is asked each time.
const NativeFunction* native_write(Interpreter& in, const Value& file) {
  const Type* const type = type_of(in, file);
  if ((type->type_flags & kScriptClass) || type->slots.get_attr != nullptr) return nullptr;
  if (type->attributes_offset != 0) {
    const Attributes& own = attributes_of(file.as_object());
    if (own.count != 0 || own.dict != nullptr) return nullptr;
  }
  const Value& method = type_lookup(type, in.names->write);
  const bool native = method.is_object() && method.as_object()->kind == ObjectKind::NativeFunction;
  return native && known_cast<NativeFunction>(method)->is_method() ? known_cast<NativeFunction>(method) : nullptr;
}

// Into an object of the script: one write() for each value, separator and end, as in CPython.
void print_to(Interpreter& in, const Value& file, const Tuple& values, std::string_view separator,
              std::string_view end) {
  const NativeFunction* const method = native_write(in, file);
  const auto write = [&](const Value& text) {
    if (method == nullptr) return static_cast<void>(call_method(in, file, in.names->write, {text}));
    const Value arguments[] = {file, text};
    call_native(in, method, Args{arguments, 2, nullptr, method});
  };
  for (uint32_t i = 0; i < values.size; ++i) {
    if (i != 0) write(make_str(in, separator));
    write(str(in, values.items[i]));
  }
  write(make_str(in, end));
}

Value print_function(Interpreter& in, const Args& args) {
  const std::string_view separator = text_option(in, args[1], "sep", " ");
  const std::string_view end = text_option(in, args[2], "end", "\n");
  const Tuple* values = as_tuple(args[0]);
  const Value file = args[3].is_none() ? replaced_stdout(in) : args[3];
  if (file.is_none()) return Value::none();
  if (!file.is_undefined()) {
    print_to(in, file, *values, separator, end);
    if (truth(in, args[4])) flush(in, file);
    return Value::none();
  }
  std::string text;
  for (uint32_t i = 0; i < values->size; ++i) {
    if (i != 0) text += separator;
    // print() writes the text collected so far before it calls a __str__, which may print itself: the output keeps CPython's order.
    if (values->items[i].is_object() && !is_str(values->items[i]) && !text.empty() && in.host().write_out)
      in.host().write_out(std::exchange(text, {}));
    append_text(in, text, values->items[i]);
  }
  text += end;
  if (in.host().write_out) in.host().write_out(text);
  if (truth(in, args[4]) && in.host().flush_out) in.host().flush_out();
  return Value::none();
}

[[noreturn]] void end_of_input() { throw Error(ErrorKind::EOFError, "EOF when reading a line"); }

// The next line of a stand-in for sys.stdin.
Value line_of(Interpreter& in, const Value& file) {
  if (in.host().flush_out) in.host().flush_out();
  const Value line = call_method(in, file, intern(in, "readline"));
  if (!is_str(line)) throw Error(ErrorKind::TypeError, "object.readline() returned non-string");
  const std::string_view text = text_of(line);
  if (text.empty()) end_of_input();
  return text.back() == '\n' ? make_str(in, text.substr(0, text.size() - 1)) : line;
}

Value input_function(Interpreter& in, const Args& args) {
  const Value source = replaced(in, "stdin", "_plain_stdin");
  const Value shown = replaced_stdout(in);
  for (const auto& [stream, name] : {std::pair{&source, "stdin"}, std::pair{&shown, "stdout"}})
    if (stream->is_none()) throw Error(ErrorKind::RuntimeError, std::string("input(): lost sys.") + name);
  if (!args[0].is_undefined() && !shown.is_undefined()) {
    call_method(in, shown, in.names->write, {str(in, args[0])});
    flush(in, shown);
  } else if (!args[0].is_undefined() && in.host().write_out) {
    std::string prompt;
    append_text(in, prompt, args[0]);
    in.host().write_out(prompt);
  }
  if (!source.is_undefined()) return line_of(in, source);
  std::string line;
  if (!in.host().read_line || !in.host().read_line(line)) end_of_input();
  if (!line.empty() && line.back() == '\n') line.pop_back();
  const Value text = make_str_lossy(in, line);
  if (text_of(text) == line) return text;
  const Value errors = get_attr(in, get_attr(in, Value(in.import("sys")), intern(in, "stdin")), intern(in, "errors"));
  return decode_text(in, line, "utf-8", str_text(in, errors));
}

Value open_function(Interpreter& in, const Args& args) {
  const Value module(in.import("_io"));
  return call(in, get_attr(in, module, intern(in, "open")), args);
}

constexpr NativeDef kRows[] = {
    {"print(*args, sep=' ', end='\n', file=None, flush=False)", print_function,
     "Print the values, separated by sep and followed by end."},
    {"input(prompt=..., /)", input_function, "Read a line from standard input, without its newline."},
    {"open", open_function, "Open a file and return a file object."},
};

}  // namespace

void add_output_functions(Interpreter& in, Module& module) { define_all(in, module, kRows); }

}  // namespace tessera::lang

// _traceback: the interpreter's own wording of exceptions, for the module `traceback`.
// compile: small (runs after an error)
#include "lang/compiler/chunk.h"
#include "lang/core/object_cast.h"
#include "lang/objects/exception.h"
#include "lang/syntax/source.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

const Value& exception_argument(const Args& args) {
  if (!is_exception(args[0])) throw Error(ErrorKind::TypeError, "an exception is expected");
  return args[0];
}

bool is_traceback(Interpreter& in, const Value& v) {
  return v.is_object() && v.as_object()->type == in.types.traceback;
}

Value format_only(Interpreter& in, const Args& args) {
  return make_str_lossy(in, format_exception_only(in, exception_argument(args)));
}

// (file, line, function, text of the line, all of it as it is printed) for each entry.
Value entries(Interpreter& in, const Args& args) {
  Value list = make_list(in);
  for (Value at = args[0]; is_traceback(in, at);) {
    const Traceback* entry = object_cast<Traceback>(at);
    const Source& source = *entry->code->source;
    const uint32_t line = traceback_line(entry);
    std::string_view text = source.line(line);
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    list_append(in, as_list(list),
                make_tuple(in, {make_str_lossy(in, source.name()), Value::integer(line), Value(entry->code->name),
                                make_str_lossy(in, text), make_str_lossy(in, format_traceback_entry(entry))}));
    at = Value(entry->next);
  }
  return list;
}

}  // namespace

void fill_traceback(Interpreter& in, Module& module) {
  in.def(module, "format_only(exception, /)", "The last lines alone.", format_only);
  in.def(module, "entries(traceback, /)", "The entries as tuples.", entries);
}

}  // namespace tessera::stdlib

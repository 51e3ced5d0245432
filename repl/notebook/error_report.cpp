#include "repl/notebook/error_report.h"

#include <exception>

#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/vm/vm.h"
#include "repl/notebook/utf8.h"

namespace tessera::repl {
using namespace lang;

namespace {

std::string message_of(Interpreter& in, const Value& exception) {
  try {
    return str_text(in, exception);
  } catch (const std::exception&) {
    return "<exception str() failed>";
  }
}

std::vector<std::string> notes_of(Interpreter& in, const Value& exception) {
  try {
    return error_notes(in, exception);
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace

ErrorReport error_report(Interpreter& in, const Value& exception, std::string_view text) {
  const RunScope run(in.vm());
  ErrorReport report;
  report.name = type_name(in, exception);
  report.text = as_utf8(text);
  if (!is_exception(exception)) return report;
  report.message = as_utf8(message_of(in, exception));
  for (const std::string& note : notes_of(in, exception)) report.notes.push_back(as_utf8(note));
  for (ErrorFrame& frame : error_frames(in, exception))
    report.places.push_back({std::move(frame.file), std::move(frame.function), static_cast<int>(frame.line),
                             static_cast<int>(frame.column), static_cast<int>(frame.end_line),
                             static_cast<int>(frame.end_column)});
  return report;
}

}  // namespace tessera::repl

#include "repl/session/display.h"

#include <exception>

#include "lang/core/protocol.h"
#include "lang/types/bytes.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"

namespace tessera::repl {
using namespace lang;

namespace {

std::string form_of(Interpreter& in, const Value& value, const char* method) {
  Str* const name = intern(in, method);
  if (type_lookup(value.as_object()->type, name).is_undefined()) return "";
  try {
    const Value form = call_method(in, value, name);
    if (is_str(form)) return std::string(text_of(form));
    return is_bytes(form) ? std::string(as_bytes(form)->view()) : "";
  } catch (const std::exception&) {
    if (in.is_stopping()) throw;
    return "";
  }
}

}  // namespace

// Scripts run here, under the limits of a run.
Display display_of(Interpreter& in, const Value& value) {
  const RunScope run(in.vm());
  Display display;
  display.text = repr_text(in, value);
  if (!value.is_object() || value.as_object()->kind != ObjectKind::Instance) return display;
  display.png = form_of(in, value, "_repr_png_");
  display.svg = form_of(in, value, "_repr_svg_");
  display.html = form_of(in, value, "_repr_html_");
  return display;
}

}  // namespace tessera::repl

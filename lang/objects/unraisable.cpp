// compile: small (runs after an error)
#include "lang/objects/unraisable.h"

#include <string>

#include "lang/core/error.h"
#include "lang/core/host.h"
#include "lang/core/interpreter.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/objects/module.h"
#include "lang/types/dict.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

namespace {

std::string repr_or_substitute(Interpreter& in, const Value& object) {
  try {
    return repr_text(in, object);
  } catch (const std::exception&) {
    return "<object repr() failed>";
  }
}

void report(Interpreter& in, const Value& exception, const char* message, const Value& object) {
  const Value* const sys = dict_get_text(in.modules().table(), "sys");
  const Dict* const names = sys != nullptr && sys->is_object() && sys->as_object()->kind == ObjectKind::Module
                               ? object_cast<Module>(*sys)->dict
                               : nullptr;
  const auto named = [&](const char* name) {
    const Value* const found = names == nullptr ? nullptr : dict_get_text(names, name);
    return found == nullptr ? Value() : *found;
  };
  if (const Value hook = named("unraisablehook"); !hook.is_undefined() && !hook.is(named("__unraisablehook__"))) {
    call(in, named("_call_unraisablehook"), {exception, message == nullptr ? Value::none() : make_str(in, message), object});
    return;
  }
  std::string text = std::string(message == nullptr ? "Exception ignored in" : message) + ": " + repr_or_substitute(in, object) + "\n";
  text += in.format_exception(exception);
  const Value stream = named("stderr");
  if (stream.is_none()) return;
  if (!stream.is_undefined()) call_method(in, stream, intern(in, "write"), {make_str(in, text)});
  else if (in.host().write_error) in.host().write_error(text);
}

}  // namespace

void report_unraisable(Interpreter& in, const Value& exception, const char* message, const Value& object) noexcept {
  if (ended_by_limit(exception)) return;
  try {
    report(in, exception, message, object);
  } catch (...) {
    // The hook or the error stream has failed too: this second exception is dropped.
  }
}

}  // namespace tessera::lang

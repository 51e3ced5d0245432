#include "repl/session/uncaught.h"

#include <exception>

#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/types/number.h"
#include "lang/vm/vm.h"

namespace tessera::repl {
using namespace lang;

std::string text_of_exception(Interpreter& in, const Value& exception) {
  const RunScope run(in.vm());
  try {
    return in.format_exception(exception);
  } catch (const std::exception&) {
    return std::string(type_name(in, exception)) + "\n";
  }
}

Exit exit_of(Interpreter& in, const Value& exception) {
  const Value code = get_attr(in, exception, intern(in, "code"));
  if (code.is_none()) return {};
  const Value status = unboxed(code);  // of an IntEnum
  if (status.is_int() || status.is_bool()) return {static_cast<int>(status.as_int() & 0xff), ""};
  return {1, str_text(in, code) + "\n"};
}

}  // namespace tessera::repl

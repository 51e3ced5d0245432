#include "repl/run.h"

#include "lang/error.h"
#include "lang/exception.h"
#include "lang/protocol.h"
#include "stdlib/standard.h"

namespace tessera {

Limits all_granted() {
  Limits limits;
  limits.files = limits.environment = limits.clock = limits.imports_of_files = limits.processes = true;
  return limits;
}

int report(Interpreter& in, Terminal& terminal, const Value& exception) {
  if (!is_instance(in, exception, in.types.errors[static_cast<size_t>(ErrorKind::SystemExit)])) {
    terminal.write_error(in.format_exception(exception));
    const bool interrupted = is_instance(in, exception, in.types.errors[static_cast<size_t>(ErrorKind::KeyboardInterrupt)]);
    return interrupted ? 130 : 1;
  }
  const Value code = get_attr(in, exception, intern(in, "code"));
  if (code.is_none()) return 0;
  if (code.is_int() || code.is_bool()) return static_cast<int>(code.as_int() & 0xff);
  terminal.write_error(str_text(in, code) + "\n");
  return 1;
}

int run_main(Interpreter& in, Terminal& terminal, std::shared_ptr<Source> source) {
  try {
    in.run(std::move(source), "__main__");
    return 0;
  } catch (const Thrown& thrown) {
    return report(in, terminal, thrown.exception);
  }
}

}  // namespace tessera

#include "repl/run.h"

#include "backends/cpu/blas.h"
#include "backends/cpu/pointwise_table.h"
#include "lang/compiler/dump.h"
#include "lang/core/error.h"
#include "lang/objects/module.h"
#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/types/dict.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"
#include "repl/session/uncaught.h"
#include "repl/start.h"
#include "runtime/device/plugin_loader.h"
#include "stdlib/torch/torch_module.h"

namespace tessera::repl {

int report(Interpreter& in, Terminal& terminal, const Value& exception) {
  if (!is_error(in, exception, ErrorKind::SystemExit)) {
    in.interrupt.fetch_and(~kKeyboard);  // the program ends already
    terminal.write_error(text_of_exception(in, exception));
    const bool interrupted = is_error(in, exception, ErrorKind::KeyboardInterrupt);
    return interrupted ? kEndedBySigint : 1;
  }
  const Exit exit = exit_of(in, exception);
  if (!exit.message.empty()) terminal.write_error(exit.message);
  return exit.status;
}

void run_exit_functions(Interpreter& in, Terminal& terminal) {
  const Value raised = run_exit_functions(in);
  if (!raised.is_undefined()) report(in, terminal, raised);
}

int run_main(Interpreter& in, Terminal& terminal, std::shared_ptr<Source> source) {
  try {
    in.run(*source, "__main__");
    wait_for_devices(in);  // a fault that no line waited for is not lost
    return 0;
  } catch (const Thrown& thrown) {
    return report(in, terminal, thrown.exception);
  } catch (const Error& error) {
    return report(in, terminal, make_exception(in, error));
  }
}

namespace {

// CPython's words for why a module cannot be run, which runpy has.
std::string why_not_found(Interpreter& in, const std::string& name, std::string otherwise) {
  try {
    call(in, get_attr(in, Value(in.import("runpy")), intern(in, "_get_module_details")), {make_str(in, name)});
  } catch (const Thrown& thrown) {
    if (is_error(in, thrown.exception, ErrorKind::ImportError)) return str_text(in, thrown.exception);
  } catch (const Error&) {
    // As without runpy.
  }
  return otherwise;
}

// With importlib's finders, whose loader the module then has.
int run_by_finders(Interpreter& in, Terminal& terminal, std::string_view name, bool sets_argv) {
  try {
    static_cast<void>(in.main_module());  // runpy fills it
    call(in, get_attr(in, Value(in.import("runpy")), intern(in, "_run_module_as_main")), {make_str(in, name), Value::boolean(sets_argv)});
    wait_for_devices(in);
    return 0;
  } catch (const Thrown& thrown) {
    return report(in, terminal, thrown.exception);
  } catch (const Error& error) {
    return report(in, terminal, make_exception(in, error));
  }
}

}  // namespace

bool is_archive(std::string_view text) {
  constexpr size_t kEndRecord = 22, kLongestComment = 65535;
  const size_t at = text.rfind("PK\5\6");
  return at != text.npos && text.size() - at >= kEndRecord && text.size() - at <= kEndRecord + kLongestComment;
}

int run_archive(Interpreter& in, Terminal& terminal) { return run_by_finders(in, terminal, "__main__", false); }

int run_module(Interpreter& in, Terminal& terminal, const std::string& name) {
  try {
    const Modules::Main found = in.modules().find_main(name);
    if (found.path.empty()) return run_by_finders(in, terminal, name, true);
    in.argv[0] = found.path;
    dict_set_str(in, in.main_module()->dict, intern(in, "__package__"), make_str(in, found.package));
    return run_main(in, terminal, std::make_shared<Source>(found.path, found.text));
  } catch (const Thrown& thrown) {
    if (!is_error(in, thrown.exception, ErrorKind::ImportError)) return report(in, terminal, thrown.exception);
    const Value& traceback = as_exception(thrown.exception)->traceback;
    if (!traceback.is_none()) return report(in, terminal, thrown.exception);  // of a package on the way
    terminal.write_error("tsr: " + why_not_found(in, name, str_text(in, thrown.exception)) + "\n");
    return 1;
  }
}

int run_dump(Interpreter& in, Terminal& terminal, std::shared_ptr<Source> source) {
  try {
    terminal.write_out(dump(in, std::move(source)));
    return 0;
  } catch (const Thrown& thrown) {
    return report(in, terminal, thrown.exception);
  }
}

std::optional<int> apply_options(Interpreter& in, const Options& options, Terminal& terminal) {
  try {
    if (options.threads > 0) set_tensor_threads(in, options.threads);
    if (!options.device.empty()) set_default_device(in, options.device);
    if (!options.flags.warn_options.empty() || options.flags.dev_mode)
      in.import("warnings");  // also for warnings of natives
    const char* const streams = options.flags.ignore_environment ? nullptr : std::getenv("PYTHONIOENCODING");
    if (streams != nullptr && *streams != '\0') in.import("sys");  // print() writes through its stdout
  } catch (const Thrown& thrown) {
    return report(in, terminal, thrown.exception);
  } catch (const Error& error) {
    terminal.write_error("tsr: --device " + options.device + ": " + error.message + "\n");
    return 2;
  }
  return std::nullopt;
}

std::string version_text() {
  std::string text = "Tessera " TESSERA_VERSION "\n";
  text += std::string("vectors   ") + cpu::instruction_set() + "\n";
  try {
    const cpu::Blas& blas = cpu::blas();
    text += "products  " + (blas.problem.empty() ? blas.version + ", " + blas.core + " kernels" : blas.problem) + "\n";
  } catch (const TensorError& error) {
    text += "products  " + error.message() + "\n";
  }
  std::string why;
  const DeviceBackend* cuda = plugin_backend(DeviceType::Cuda, &why);
  text += "CUDA      ";
  text += cuda == nullptr ? "no plugin (" + why + ")" : std::to_string(cuda->device_count()) + " devices";
  return text + "\n";
}

}  // namespace tessera::repl

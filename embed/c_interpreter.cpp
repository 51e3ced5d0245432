// Interpreters of tessera_c.h: options, life, limits.
#include <algorithm>
#include <cstring>
#include <utility>

#include "embed/handles.h"
#include "lang/core/host.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/module.h"
#include "lang/types/dict.h"
#include "runtime/alloc.h"
#include "runtime/random.h"
#include "stdlib/embedded.h"
#include "stdlib/standard.h"
#include "stdlib/torch/state.h"
#include "stdlib/torch/torch_module.h"

using namespace tessera;
using namespace tessera::embed;

uint32_t tsr_version(void) { return TSR_VERSION_MAJOR << 16 | TSR_VERSION_MINOR; }

void tsr_options_init(tsr_options* options, size_t size) {
  std::memset(options, 0, size);
  options->size = size;
}

namespace {

lang::Host host_of(tsr_interpreter* shell) {
  const tsr_options& options = shell->options;
  lang::Host host;
  void* const user = options.user;
  if (options.print)
    host.write_out = [user, print = options.print](std::string_view text) { print(user, text.data(), text.size()); };
  if (options.print_error)
    host.write_error = [user, print = options.print_error](std::string_view text) {
      print(user, text.data(), text.size());
    };
  if (options.flush) host.flush_out = [user, flush = options.flush] { flush(user); };
  if (options.read_line)
    host.read_line = [user, read = options.read_line](std::string& line) {
      tsr_buffer buffer;
      if (!read(user, &buffer)) return false;
      line = std::move(buffer.text);
      if (!line.ends_with('\n')) line += '\n';  // a host may leave it away
      return true;
    };
  if (options.import_source)
    host.embedded_module = [user, find = options.import_source](std::string_view name, std::string& path,
                                                                bool& is_package) -> std::optional<std::string> {
      if (auto own = stdlib::embedded_text(name, path, is_package)) return own;
      tsr_buffer buffer;
      const std::string text(name);
      if (!find(user, text.c_str(), &buffer)) return {};
      path = "<" + text + ">";
      is_package = false;
      return std::move(buffer.text);
    };
  return host;
}

lang::Limits limits_of(const tsr_options& options) {
  lang::Limits limits;
  limits.steps = options.step_limit;
  limits.seconds = options.time_limit;
  limits.object_bytes = limits.tensor_bytes = options.memory_limit;
  limits.device_bytes = options.device_memory_limit;
  limits.open_files = options.open_files;
  limits.threads = options.threads;
  if (options.files_root != nullptr) limits.files_root = options.files_root;
  limits.entropy = (options.grants & TSR_GRANT_ENTROPY) != 0;
  limits.output_bytes = options.output_limit;
  if (options.call_depth != 0) limits.call_depth = options.call_depth;
  limits.files = limits.imports_of_files = (options.grants & TSR_GRANT_FILES) != 0;
  limits.clock = (options.grants & TSR_GRANT_CLOCK) != 0;
  limits.environment = (options.grants & TSR_GRANT_ENVIRONMENT) != 0;
  limits.code = (options.grants & TSR_GRANT_CODE) != 0;
  limits.processes = (options.grants & TSR_GRANT_PROCESSES) != 0;
  limits.network = (options.grants & TSR_GRANT_NETWORK) != 0;
  return limits;
}

}  // namespace

tsr_interpreter* tsr_new(const tsr_options* options, tsr_error** error) {
  tsr_interpreter* shell = nullptr;
  try {
    shell = new tsr_interpreter;
    tsr_options_init(&shell->options, sizeof(tsr_options));
    // A host with an older header has a shorter one: what it does not know stays zero.
    if (options != nullptr) std::memcpy(&shell->options, options, std::min(options->size, sizeof(tsr_options)));
    shell->in = stdlib::make_interpreter(host_of(shell), limits_of(shell->options));
    return shell;
  } catch (...) {
    report(shell, error);
    const tsr_options given = shell != nullptr ? shell->options : tsr_options{};
    delete shell;
    if (given.drop != nullptr) given.drop(given.user);
    return nullptr;
  }
}

// Finalizers run while the interpreter still stands, for they may call functions of the host's, which use it. What the host keeps is
// emptied then, all at once, for these may give cells back, and again where they made some.
void tessera::embed::end(tsr_interpreter* shell) noexcept {
  shell->ending = false;
  {
    const lang::RunScope run(shell->in->vm());
    shell->in->vm().drop_frames(nullptr);  // of tasks
    // A program may have put anything in its place.
    const lang::Value* const main = lang::dict_get_text(shell->in->modules().table(), "__main__");
    const bool is_module = main != nullptr && main->is_object() && main->as_object()->kind == lang::ObjectKind::Module;
    shell->in->collector().finalize_all(is_module ? object_cast<lang::Module>(*main)->dict : nullptr);
    constexpr int kRounds = 10;  // as in finalize_all
    for (int round = 0; round < kRounds; ++round) {
      std::vector<lang::Value> dead{std::move(shell->raised), std::move(shell->last)};
      for (tsr_object* cell = shell->kept; cell != nullptr; cell = cell->behind)
        if (!cell->value.is_undefined()) dead.push_back(std::move(cell->value));
      if (dead.size() == 2) break;
      if (round > 0) shell->in->collector().finalize_all(nullptr);  // of objects made since
    }
    shell->host_classes.clear();
  }
  shell->in.reset();
  destroy_abandoned(shell);
  for (const auto& entry : std::exchange(shell->data, {}))
    if (entry.data != nullptr && entry.drop != nullptr) entry.drop(entry.data);
  if (shell->options.drop != nullptr) shell->options.drop(shell->options.user);
  release(shell);
}

void tsr_free(tsr_interpreter* shell) {
  if (shell == nullptr || shell->in == nullptr) return;
  if (shell->in->vm().is_running()) {
    shell->ending = true;
    tsr_cancel(shell);
  } else {
    end(shell);
  }
}

tsr_interpreter* tsr_share(tsr_interpreter* shell) {
  if (shell != nullptr) retain(shell);
  return shell;
}

void tsr_unshare(tsr_interpreter* shell) {
  if (shell != nullptr) release(shell);
}

void tsr_cancel(tsr_interpreter* shell) {
  if (shell != nullptr && shell->in != nullptr) shell->in->interrupt.fetch_or(lang::kCancelled);
}

void tsr_set_step_limit(tsr_interpreter* shell, uint64_t steps) {
  if (shell != nullptr && shell->in != nullptr) shell->in->limits.steps = steps;
}

void tsr_set_time_limit(tsr_interpreter* shell, double seconds) {
  if (shell != nullptr && shell->in != nullptr) shell->in->limits.seconds = seconds;
}

void tsr_get_usage(tsr_interpreter* shell, tsr_usage* usage) {
  tsr_usage now{};
  now.size = std::min(usage->size, sizeof(tsr_usage));
  if (shell != nullptr && shell->in != nullptr) {
    now.object_bytes = shell->in->heap.bytes();
    if (shell->in->extension != nullptr)
      now.tensor_bytes = static_cast<uint64_t>(stdlib::torch_state(*shell->in).context.account->used());
    now.steps = shell->in->vm().steps();
  }
  std::memcpy(usage, &now, now.size);
}

bool tsr_clear(tsr_interpreter* shell, tsr_error** error) {
  return guarded(shell, error, [&](lang::Interpreter& in) {
    shell->last = lang::Value();
    lang::dict_clear(in, in.main_module()->dict);
    in.collector().collect();
  });
}

bool tsr_seed(tsr_interpreter* shell, uint64_t seed, tsr_error** error) {
  return guarded(shell, error, [&](lang::Interpreter& in) {
    need_torch(shell);
    lang::call_method(in, lang::Value(in.import("torch")), lang::intern(in, "manual_seed"),
                      {lang::Value::integer(static_cast<int64_t>(seed))});
  });
}

bool tsr_set_threads(tsr_interpreter* shell, int count, tsr_error** error) {
  return guarded(shell, error, [&](lang::Interpreter& in) {
    need_torch(shell);
    stdlib::set_tensor_threads(in, count);
  });
}

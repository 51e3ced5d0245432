// Running of tessera_c.h: texts, files, programs that are kept, tasks that run in pieces, and what a prompt needs.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "embed/handles.h"
#include "embed/modes.h"
#include "lang/assist/complete.h"
#include "lang/builtins/builtins.h"
#include "lang/compiler/chunk.h"
#include "lang/compiler/compile.h"
#include "lang/core/protocol.h"
#include "lang/syntax/parse.h"
#include "lang/syntax/source.h"
#include "lang/types/str.h"
#include "lang/vm/threads.h"
#include "lang/vm/task.h"
#include "stdlib/assist.h"

using namespace tessera;
using namespace tessera::embed;
using lang::Interpreter;
using lang::Source;
using lang::Value;

namespace {

std::shared_ptr<const Source> source_of(const char* code, size_t size, const char* name) {
  return std::make_shared<Source>(name == nullptr ? "<host>" : name, embed::text_of(code, size));
}

// The value of a program's end: what its function returned, or its last bare expression.
Value value_of(Interpreter& in, tsr_mode mode, Value returned) {
  return mode == TSR_EXPRESSION ? returned : in.take_result();
}

// A program as it is when it begins to run: what runs may free it.
class RunningProgram {
 public:
  explicit RunningProgram(const tsr_program* program)
      : owner(program == nullptr ? nullptr : program->owner),
        mode(program == nullptr ? TSR_STATEMENTS : program->mode) {
    if (program == nullptr) return;
    share_.kind = TSR_OBJECT;
    share_.as.object = program->function;
    tsr_retain(share_);
  }
  RunningProgram(const RunningProgram&) = delete;
  ~RunningProgram() { tsr_release(share_); }
  const Value& function() const {
    if (share_.kind != TSR_OBJECT) throw UsageError{"there is no program"};
    return share_.as.object->value;
  }

  tsr_interpreter* const owner;
  const tsr_mode mode;

 private:
  tsr_value share_ = tsr_none();
};

}  // namespace

namespace {

// A run of a text ends when the threads that it started have ended, daemons apart; also one that raises.
template <class F>
void with_threads(Interpreter& in, const F& f) {
  try {
    f();
  } catch (const lang::Thrown&) {
    in.threads().join_all();
    throw;
  }
  in.threads().join_all();
}

}  // namespace

struct tsr_task {
  tsr_program* program;
  lang::Task task;
  std::optional<Modes> modes = {};  // while it is paused
  bool running = false;
  bool freed = false;  // while it was running
};

bool tsr_run(tsr_interpreter* shell, const char* code, size_t size, const char* name, tsr_value* out,
             tsr_error** error) {
  return guarded(shell, error,
                 [&](Interpreter& in) {
                   Value last;
                   with_threads(in, [&] { last = in.run_interactive(*source_of(code, size, name)); });
                   hand_over(shell, std::move(last), out);
                 });
}

bool tsr_eval(tsr_interpreter* shell, const char* code, size_t size, tsr_value* out, tsr_error** error) {
  return guarded(shell, error,
                 [&](Interpreter& in) { hand_over(shell, in.eval(*source_of(code, size, nullptr)), out); });
}

bool tsr_run_file(tsr_interpreter* shell, const char* path, const char* const* arguments, size_t count,
                  tsr_error** error) {
  return guarded(shell, error, [&](Interpreter& in) {
    std::ifstream file(name_of(path), std::ios::binary);
    if (!file || std::filesystem::is_directory(path)) throw UsageError{std::string("cannot read '") + path + "'"};
    const std::string text(std::istreambuf_iterator<char>(file), {});
    in.argv.assign(1, path);
    in.argv.insert(in.argv.end(), arguments, arguments + count);
    const std::string_view whole = path;
    const size_t slash = whole.rfind('/');
    in.search_path = {slash == whole.npos ? "" : std::string(whole.substr(0, slash))};
    with_threads(in, [&] { in.run(*std::make_shared<Source>(path, text), "__main__"); });
    hand_over(shell, Value::none(), nullptr);
  });
}

// --- programs

bool tsr_compile(tsr_interpreter* shell, const char* code, size_t size, const char* name, tsr_mode mode,
                 tsr_program** out, tsr_error** error) {
  return guarded(shell, error, [&](Interpreter& in) {
    const auto compiled = mode == TSR_EXPRESSION ? lang::CompileMode::Expression : lang::CompileMode::Interactive;
    const tsr_value function = to_host(shell, in.compile(*source_of(code, size, name), compiled));
    *out = new tsr_program{shell, mode, function.as.object};
  });
}

bool tsr_program_run(tsr_program* program, tsr_value* out, tsr_error** error) {
  const RunningProgram runs(program);
  if (program == nullptr) return report_usage("there is no program", error);
  return guarded(runs.owner, error, [&](Interpreter& in) {
    Value returned = lang::call(in, runs.function(), lang::Args{});
    hand_over(runs.owner, value_of(in, runs.mode, std::move(returned)), out);
  });
}

void tsr_program_free(tsr_program* program) {
  if (program == nullptr) return;
  tsr_release_object(program->function);
  delete program;
}

// --- tasks

namespace {

void destroy(tsr_task* task) noexcept {
  tsr_program_free(task->program);
  delete task;
}

// Gives those up that nothing stands on any more. A finalizer may free tasks: each time from the start.
void give_up_abandoned(tsr_interpreter* shell) {
  std::vector<tsr_task*>& waiting = shell->abandoned;
  for (size_t i = 0; i < waiting.size(); ++i) {
    tsr_task* const task = waiting[i];
    if (!task->task.is_on_top()) continue;
    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(i));
    task->task.give_up();
    destroy(task);
    i = SIZE_MAX;
  }
}

}  // namespace

void tessera::embed::destroy_abandoned(tsr_interpreter* shell) noexcept {
  for (tsr_task* task : std::exchange(shell->abandoned, {})) destroy(task);
}

bool tsr_task_start(tsr_program* program, tsr_task** out, tsr_error** error) {
  if (program == nullptr) return report_usage("there is no program", error);
  return guarded(program->owner, error, [&](Interpreter& in) {
    give_up_abandoned(program->owner);
    tsr_value share = tsr_none();
    share.kind = TSR_OBJECT;
    share.as.object = program->function;
    auto own = std::make_unique<tsr_program>(*program);
    own->function = tsr_retain(share).as.object;
    *out = new tsr_task{own.release(), lang::Task(in, lang::as_function(program->function->value))};
  });
}

bool tsr_task_run_for(tsr_task* task, double seconds, bool* done, tsr_value* out, tsr_error** error) {
  if (task == nullptr) return report_usage("there is no task", error);
  tsr_interpreter* const shell = task->program->owner;
  const bool outer = std::exchange(task->running, true);
  const bool ran = guarded(shell, error, [&](Interpreter& in) {
    if (const char* const why = task->task.refusal()) throw UsageError{why};
    Value returned;
    const std::optional<Modes> hosts =
        Modes::of(in);  // a `with` block of a task does not hold for the host between its pieces
    if (task->modes) task->modes->set(in);
    *done = task->task.run_for(seconds, returned);
    task->modes = *done ? std::nullopt : Modes::of(in);
    if (!*done) Modes::restore(in, hosts);
    if (*done) hand_over(shell, value_of(in, task->program->mode, std::move(returned)), out);
  });
  task->running = outer;
  if (!outer && task->freed) tsr_task_free(task);
  return ran;
}

void tsr_task_free(tsr_task* task) {
  if (task == nullptr) return;
  if (task->running) {
    task->freed = true;
    return;
  }
  tsr_interpreter* const shell = tsr_share(task->program->owner);
  if (shell->in == nullptr) {
    destroy(task);
  } else {
    guarded(shell, nullptr, [&](Interpreter&) {
      shell->abandoned.push_back(task);
      give_up_abandoned(shell);
    });
  }
  tsr_unshare(shell);
}

// --- what a prompt needs

tsr_completeness tsr_is_complete(tsr_interpreter*, const char* code, size_t size) {
  if (code == nullptr) return TSR_COMPLETE;
  switch (lang::is_complete(embed::text_of(code, size))) {
    case lang::Completeness::kComplete: return TSR_COMPLETE;
    case lang::Completeness::kIncomplete: return TSR_INCOMPLETE;
    case lang::Completeness::kInvalid: break;
  }
  return TSR_INVALID;
}

bool tsr_complete(tsr_interpreter* shell, const char* code, size_t size,
                  void (*found)(void* user, const char* name, size_t size), void* user, tsr_error** error) {
  return guarded(shell, error, [&](Interpreter& in) {
    const std::string_view text = embed::text_of(code, size);
    if (found == nullptr) return;
    for (const lang::Choice& choice : lang::choices_at(in, text, text.size(), stdlib::library_assist()).found)
      found(user, choice.text.data(), choice.text.size());
  });
}

bool tsr_help(tsr_interpreter* shell, tsr_value value, tsr_value* out, tsr_error** error) {
  return guarded(shell, error, [&](Interpreter& in) {
    hand_over(shell, lang::make_str_lossy(in, lang::help_text(in, to_value(shell, value))), out);
  });
}

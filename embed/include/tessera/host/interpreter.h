// Interpreter, Program, Task and Module.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tessera/host/class.h"

namespace tessera {

// What an interpreter may use. Zero: no limit.
struct Options {
  uint64_t memory_limit = 0;         // bytes of the script's objects, and as many of its tensors on the host
  uint64_t device_memory_limit = 0;  // bytes of its tensors on each other device
  uint64_t step_limit = 0;           // of one run: backward jumps, calls, items, about a microsecond of a kernel's work
  double time_limit = 0;             // seconds of one run
  uint64_t output_limit = 0;         // bytes printed over all runs
  uint32_t call_depth = 0;           // of script functions; zero: 1000
  uint32_t open_files = 0;           // at the same time
  bool allow_files = false;          // below files_root when that is set
  bool allow_clock = false;
  bool allow_environment = false;
  bool allow_processes = false;
  bool allow_entropy = false;  // random numbers that differ from run to run
  bool allow_code = false;     // eval, exec, compile
  bool allow_network = false;  // sockets
  uint32_t threads = 0;        // that the script may start beside its first, at the same time
  std::string files_root = {};
  std::function<void(std::string_view)> print = nullptr;  // what print() writes; empty: nothing is shown
  std::function<void(std::string_view)> print_error = nullptr;
  std::function<void()> flush = nullptr;
  std::function<bool(std::string& line)> read_line = nullptr;  // for input(); false at the end
  // The source text of a module that the library lacks.
  std::function<std::optional<std::string>(std::string_view name)> import_source = nullptr;
};

// Code that was compiled once. It must not outlive its interpreter's use, but may be destroyed after it.
class Program {
 public:
  Program() = default;
  // Takes it over.
  Program(tsr_interpreter* in, tsr_program* program)
      : in_(tsr_share(in), tsr_unshare), program_(program, tsr_program_free) {}

  // Answers what a run or eval of the text would.
  Ref run() const {
    tsr_value result = tsr_none();
    detail::ErrorSlot error;
    const detail::Shell in(in_.get());
    error.check(tsr_program_run(program_.get(), &result, error));
    return {in, result};
  }
  tsr_interpreter* interpreter() const { return in_.get(); }
  tsr_program* handle() const { return program_.get(); }

 private:
  std::shared_ptr<tsr_interpreter> in_;
  std::shared_ptr<tsr_program> program_;
};

// A program that runs in pieces: `while (!task.run_for(2ms)) draw();`. See tsr_task_start.
class Task {
 public:
  explicit Task(const Program& program) {
    tsr_task* made = nullptr;
    detail::ErrorSlot error;
    error.check(tsr_task_start(program.handle(), &made, error));
    state_ = std::make_shared<State>(program, made);
  }
  // True: it has ended. A Task that its own script destroys is given up behind that piece.
  bool run_for(double seconds) {
    bool done = false;
    tsr_value result = tsr_none();
    detail::ErrorSlot error;
    const std::shared_ptr<State> state = state_;
    error.check(tsr_task_run_for(state ? state->task.get() : nullptr, seconds, &done, &result, error));
    if (done) state->result = Ref(state->program.interpreter(), result);
    return done;
  }
  template <class Duration, class = typename Duration::period>
  bool run_for(Duration time) {
    using Period = typename Duration::period;
    return run_for(static_cast<double>(time.count()) * static_cast<double>(Period::num) /
                   static_cast<double>(Period::den));
  }
  Ref result() const { return state_ ? state_->result : Ref(); }  // of one that has ended

  Task(Task&&) noexcept = default;
  Task& operator=(Task&&) noexcept = default;

 private:
  struct State {
    State(const Program& runs, tsr_task* made) : program(runs), task(made, tsr_task_free) {}
    Program program;
    std::unique_ptr<tsr_task, void (*)(tsr_task*)> task;
    Ref result;
  };
  std::shared_ptr<State> state_;
};

// A module of the host's, which scripts import by its name.
class Module {
 public:
  explicit Module(Ref module) : module_(std::move(module)) {}

  template <class T>
  Module& set(const char* name, const T& value) {
    module_.set_attribute(name, value);
    return *this;
  }
  // See Interpreter::def.
  template <class F>
  Module& def(const char* signature, const char* doc, F function) {
    using Signature = typename detail::CallableTraits<F>::Signature;
    tsr_interpreter* const in = module_.interpreter();
    const Ref made(in, detail::make_function<Signature>(in, signature, doc, std::move(function)));
    const std::string_view text = signature;
    module_.set_attribute(std::string(text.substr(0, text.find('('))).c_str(), made);
    return *this;
  }
  template <class T>
  Class<T> add_class(const char* name, const char* doc = "") {
    Class<T> made(module_.interpreter(), name, doc);
    module_.set_attribute(name, made.type());
    return made;
  }
  const Ref& ref() const { return module_; }

 private:
  Ref module_;
};

class Interpreter {
 public:
  explicit Interpreter(Options options = {}) {
    tsr_options given;
    TSR_OPTIONS_INIT(&given);
    // The interpreter's own, which may outlive this object until a run of it has ended.
    fill(given, *new Options(std::move(options)));
    detail::ErrorSlot error;
    in_ = tsr_new(&given, error);
    error.check(in_ != nullptr);
    tsr_share(in_);
  }
  Interpreter(Interpreter&& other) noexcept : in_(std::exchange(other.in_, nullptr)) {}
  Interpreter& operator=(Interpreter&& other) noexcept {
    std::swap(in_, other.in_);
    return *this;
  }
  ~Interpreter() {
    if (in_ == nullptr) return;
    tsr_free(in_);
    tsr_unshare(in_);
  }

  // Runs statements in the main module; answers the value of a last bare expression, or None.
  Ref run(std::string_view code, const char* name = "<host>") {
    return made_by(tsr_run, code.data(), code.size(), name);
  }
  // The value of one expression.
  Ref eval(std::string_view code) { return made_by(tsr_eval, code.data(), code.size()); }
  // The same, for hosts without exceptions: false and the error instead of a throw.
  bool try_run(std::string_view code, Ref* result = nullptr, ScriptError* error = nullptr) {
    tsr_value value = tsr_none();
    tsr_error* raised = nullptr;
    const detail::Shell in(in_);
    if (!tsr_run(in, code.data(), code.size(), nullptr, &value, &raised)) {
      const ScriptError kept(raised);
      if (error != nullptr) *error = kept;
      return false;
    }
    Ref kept(in, value);
    if (result != nullptr) *result = std::move(kept);
    return true;
  }
  // As `tsr FILE ARGUMENTS` does; the file is read by the host's right.
  void run_file(const std::string& path, const std::vector<std::string>& arguments = {}) {
    std::vector<const char*> list;
    for (const std::string& argument : arguments) list.push_back(argument.c_str());
    detail::ErrorSlot error;
    error.check(tsr_run_file(in_, path.c_str(), list.data(), list.size(), error));
  }
  // To be run often: compile("x + 1", TSR_EXPRESSION).run().
  Program compile(std::string_view code, tsr_mode mode = TSR_STATEMENTS, const char* name = "<host>") {
    tsr_program* program = nullptr;
    detail::ErrorSlot error;
    error.check(tsr_compile(in_, code.data(), code.size(), name, mode, &program, error));
    return {in_, program};
  }

  // Names of the main module.
  template <class T>
  void set(const char* name, const T& value) {
    set_ref(name, make(value));
  }
  Ref get(const char* name) { return made_by(tsr_get_name, name); }
  bool has(const char* name) const { return tsr_has_name(in_, name); }
  void remove(const char* name) {
    detail::ErrorSlot error;
    error.check(tsr_delete_name(in_, name, error));
  }
  // Forgets them all, and frees what only they kept alive.
  void clear() {
    detail::ErrorSlot error;
    error.check(tsr_clear(in_, error));
  }

  // A function of the host, with the signature that scripts see: names, defaults, checks, keywords and help come from it.
  // Parameters and result may be whatever has a Convert, and objects of the host's classes. What it throws, the script
  // catches: ScriptError as what it says, std::out_of_range as IndexError, std::invalid_argument as ValueError, other exceptions
  // as raise_as says, or as RuntimeError. A signature that does not fit is refused: ScriptError (UsageError).
  template <class F>
  void def(const char* signature, const char* doc, F function) {
    Module(main()).def(signature, doc, std::move(function));
  }
  template <class T>
  Class<T> add_class(const char* name, const char* doc = "") {
    return Module(main()).add_class<T>(name, doc);
  }
  // What scripts get by `import name`; the same module each time.
  Module module(const char* name, const char* doc = "") { return Module(made_by(tsr_module, name, doc)); }
  Ref import(const char* name) { return made_by(tsr_import, name); }
  // Runs the text of a module of scripts again, over the names that it has, as importlib.reload: functions are replaced, what
  // the new text does not set stays. What it raises leaves the names that it has not come to.
  void reload(const Ref& module) { import("importlib").call("reload", module); }

  // What is thrown as an E, or a class derived from it, scripts catch as that class: "KeyError", "module.Class", or one of the
  // main module. The one that was said last comes first.
  template <class E>
  void raise_as(const std::string& class_name) {
    using detail::Translators;
    if (Translators::of(in_) == nullptr)
      tsr_set_data(in_, &Translators::key, new Translators,
                   [](void* known) { delete static_cast<Translators*>(known); });
    const auto matches = [](std::string& message) {
      try {
        throw;
      } catch (const E& error) {
        if constexpr (std::is_base_of_v<std::exception, E>) message = error.what();
        return true;
      } catch (...) {
        return false;
      }
    };
    if (Translators* const known = Translators::of(in_)) known->list.push_back({matches, class_name});
  }
  // The exception that an error was made of, while the interpreter has told of no later one; else None.
  Ref exception(const ScriptError& error) {
    tsr_value found = tsr_none();
    detail::ErrorSlot failed;
    failed.check(tsr_error_exception(in_, error.handle(), &found, failed));
    return {in_, found};
  }

  // A dict with these keys: dict(arg("lr", 0.1), arg("steps", 100)).
  template <class... T>
  Ref dict(const NamedArgument<T>&... items) {
    const Ref made = make(std::map<std::string, Ref>());
    (made.set_item(items.name, items.value), ...);
    return made;
  }
  // Of values of any types.
  template <class... T>
  Ref list(const T&... items) {
    return make(std::vector<Ref>{make(items)...});
  }

  // A value of this interpreter's.
  template <class T>
  Ref make(const T& value) {
    return {in_, detail::to_script(in_, value)};
  }

  // From any thread: the run that is under way ends within milliseconds, with an exception that a script cannot catch. Nothing
  // happens where none is.
  void cancel() { tsr_cancel(in_); }
  void set_step_limit(uint64_t steps) { tsr_set_step_limit(in_, steps); }
  void set_time_limit(double seconds) { tsr_set_time_limit(in_, seconds); }
  tsr_usage usage() const {
    tsr_usage now{};
    now.size = sizeof now;
    tsr_get_usage(in_, &now);
    return now;
  }

  void manual_seed(uint64_t seed) {
    detail::ErrorSlot error;
    error.check(tsr_seed(in_, seed, error));
  }
  void set_threads(int count) {
    detail::ErrorSlot error;
    error.check(tsr_set_threads(in_, count, error));
  }

  // For prompts.
  tsr_completeness is_complete(std::string_view code) { return tsr_is_complete(in_, code.data(), code.size()); }
  std::vector<std::string> complete(std::string_view code) {
    std::vector<std::string> names;
    detail::ErrorSlot error;
    error.check(tsr_complete(
        in_, code.data(), code.size(),
        [](void* user, const char* name, size_t size) {
          static_cast<std::vector<std::string>*>(user)->emplace_back(name, size);
        },
        &names, error));
    return names;
  }

  tsr_interpreter* handle() const { return in_; }

 private:
  template <class F, class... Arguments>
  Ref made_by(F function, Arguments... arguments) {
    tsr_value result = tsr_none();
    detail::ErrorSlot error;
    const detail::Shell in(in_);
    error.check(function(in, arguments..., &result, error));
    return {in, result};
  }
  Ref main() { return import("__main__"); }
  void set_ref(const char* name, const Ref& value) {
    detail::ErrorSlot error;
    error.check(tsr_set_name(in_, name, value.value(), error));
  }
  static void fill(tsr_options& given, Options& options);

  tsr_interpreter* in_ = nullptr;
};

inline void Interpreter::fill(tsr_options& given, Options& options) {
  given.memory_limit = options.memory_limit;
  given.device_memory_limit = options.device_memory_limit;
  given.step_limit = options.step_limit;
  given.time_limit = options.time_limit;
  given.output_limit = options.output_limit;
  given.call_depth = options.call_depth;
  given.open_files = options.open_files;
  given.threads = options.threads;
  const auto grant = [&](bool allowed, uint32_t bit) { given.grants |= allowed ? bit : 0u; };
  grant(options.allow_files, TSR_GRANT_FILES);
  grant(options.allow_clock, TSR_GRANT_CLOCK);
  grant(options.allow_environment, TSR_GRANT_ENVIRONMENT);
  grant(options.allow_processes, TSR_GRANT_PROCESSES);
  grant(options.allow_entropy, TSR_GRANT_ENTROPY);
  grant(options.allow_code, TSR_GRANT_CODE);
  grant(options.allow_network, TSR_GRANT_NETWORK);
  if (!options.files_root.empty()) given.files_root = options.files_root.c_str();
  given.user = &options;
  given.drop = [](void* user) { delete static_cast<Options*>(user); };
  using Text = const char*;
  if (options.print)
    given.print = [](void* user, Text text, size_t size) { static_cast<Options*>(user)->print({text, size}); };
  if (options.print_error)
    given.print_error = [](void* user, Text text, size_t size) {
      static_cast<Options*>(user)->print_error({text, size});
    };
  if (options.flush) given.flush = [](void* user) { static_cast<Options*>(user)->flush(); };
  if (options.read_line)
    given.read_line = [](void* user, tsr_buffer* buffer) {
      std::string line;
      if (!static_cast<Options*>(user)->read_line(line)) return false;
      tsr_buffer_write(buffer, line.data(), line.size());
      return true;
    };
  if (options.import_source)
    given.import_source = [](void* user, Text name, tsr_buffer* buffer) {
      const std::optional<std::string> text = static_cast<Options*>(user)->import_source(name);
      if (text) tsr_buffer_write(buffer, text->data(), text->size());
      return text.has_value();
    };
}

}  // namespace tessera

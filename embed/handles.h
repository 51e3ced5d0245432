// What stands behind the opaque types of tessera_c.h, and the two ways across the border: `guarded` for what a host calls,
// `to_host`/`to_value` for what is handed over.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "embed/include/tessera/tessera_c.h"
#include "lang/core/interpreter.h"
#include "lang/core/value.h"
#include "runtime/tensor.h"

namespace tessera::embed {

using lang::Value;

// The host's mistake: what it handed over is not what the function takes.
struct UsageError {
  std::string message;
};

}  // namespace tessera::embed

// A value that the host keeps: one cell, in the list of its interpreter, which empties it when that ends.
struct tsr_object {
  tessera::lang::Value value;
  tsr_interpreter* owner = nullptr;
  uint32_t references = 1;
  tsr_object *before = nullptr, *behind = nullptr;
};

// The shell that hosts point to. It is counted by those who need it after tsr_free: cells, programs, functions.
struct tsr_interpreter {
  std::unique_ptr<tessera::lang::Interpreter> in;  // null: ended
  uint32_t references = 1;
  bool ending = false;          // tsr_free came while it ran
  tsr_object* kept = nullptr;   // cells with a value
  tsr_object* spare = nullptr;  // cells without, to be used again
  size_t spares = 0;
  tessera::lang::Value raised;  // by tsr_raise, until the host's function has answered
  // The exception that went out to the host last, for a function of the host's that lets it through, and its number.
  tessera::lang::Value last;
  uint64_t last_number = 0;
  std::atomic<const void*> runs_on{nullptr};  // the thread of the run under way
  struct Data {
    const void* key;
    void* data;
    tsr_drop drop;
  };
  std::vector<Data> data;                                                  // of the host
  tessera::lang::Type* host_base = nullptr;                                // of the classes of the host's
  std::vector<std::pair<const void*, tessera::lang::Value>> host_classes;  // by tag
  // Of its functions, by their texts, so that one that is made often is read once; a method's begins with a dot.
  std::unordered_map<std::string, const tessera::lang::Signature*> signatures;
  std::vector<tsr_task*> abandoned;  // freed while tasks begun later stand on their frames
  tsr_options options{};
};

struct tsr_error {
  tsr_error_kind kind;
  std::string class_name, message, traceback;
  uint64_t number = 0;                    // of the exception, see tsr_interpreter::last_number
  std::vector<std::string> classes = {};  // its class and that one's bases
  std::vector<std::string> notes = {};
  struct Line {
    std::string file, function;
    int64_t line;
  };
  std::vector<Line> lines = {};  // of the traceback, the innermost last
};

struct tsr_buffer {
  std::string text;
};

struct tsr_program {
  tsr_interpreter* owner;
  tsr_mode mode;
  tsr_object* function;  // without parameters, over the main module's names
};

namespace tessera::embed {

// The language's interpreter; UsageError when it has ended.
inline lang::Interpreter& running(const tsr_interpreter* shell) {
  if (shell == nullptr || shell->in == nullptr) throw UsageError{"the interpreter has ended"};
  return *shell->in;
}

void retain(tsr_interpreter* shell) noexcept;
void release(tsr_interpreter* shell) noexcept;

// Ends the interpreter that is not running.
void end(tsr_interpreter* shell) noexcept;
// Of one that has ended.
void destroy_abandoned(tsr_interpreter* shell) noexcept;

// The tensor library with what it needs in `in`.
void need_torch(tsr_interpreter* shell);

// Values across the border. to_host gives a share away; to_value borrows; take_value takes the host's share over.
tsr_value to_host(tsr_interpreter* shell, Value value);
Value to_value(const tsr_interpreter* shell, tsr_value value);
Value take_value(const tsr_interpreter* shell, tsr_value value);
inline std::string_view text_of(const char* text, size_t size) {
  if (text == nullptr && size != 0) throw UsageError{"a text that is NULL"};
  return size == SIZE_MAX ? std::string_view(text) : std::string_view(text, size);
}
inline const char* name_of(const char* name) {
  if (name == nullptr) throw UsageError{"a name that is NULL"};
  return name;
}

// Tensors: the handle is the implementation, counted.
inline tensor::TensorImpl* impl_of(const tsr_tensor* tensor) {
  return reinterpret_cast<tensor::TensorImpl*>(const_cast<tsr_tensor*>(tensor));
}
inline tensor::Tensor tensor_of(const tsr_tensor* tensor) {
  if (tensor == nullptr) throw UsageError{"the tensor is undefined"};
  return tensor::Tensor::share(impl_of(tensor));
}
inline tsr_tensor* give_away(tensor::Tensor tensor) { return reinterpret_cast<tsr_tensor*>(tensor.release()); }

// Puts what is being caught into `*error`; always false. Call it in a catch block.
bool report(tsr_interpreter* shell, tsr_error** error) noexcept;
bool report_usage(std::string message, tsr_error** error) noexcept;

// What a run answers, into `*out` (may be null); throws instead when the run has hit a limit of which nobody has heard yet, as
// in a finalizer of its last line.
void hand_over(tsr_interpreter* shell, Value value, tsr_value* out);

// Runs f(interpreter) as a run of the host's, with its limits.
template <class F>
bool guarded(tsr_interpreter* shell, tsr_error** error, F&& f) noexcept;

}  // namespace tessera::embed

#include "embed/modes.h"
#include "lang/core/ending.h"
#include "lang/core/signals.h"
#include "lang/vm/vm.h"

namespace tessera::embed {

// Throws where a limit was hit in a place that could tell nobody: a finalizer.
inline void tell_of_limit(lang::Interpreter& in) {
  if ((in.interrupt.load(std::memory_order_relaxed) & lang::kLimitHit) != 0) [[unlikely]]
    in.vm().stop_now();
}

// In a catch block: what was thrown outside of the machine (by the parser, the allocator) because the run is to stop, is that stop.
inline void tell_of_stop(lang::Interpreter& in) {
  const uint32_t wanted = in.interrupt.load(std::memory_order_relaxed);
  if ((wanted & (lang::kTimeIsUp | lang::kCancelled)) != 0 && (wanted & lang::kLimitHit) == 0) in.vm().stop_now();
}

inline void hand_over(tsr_interpreter* shell, Value value, tsr_value* out) {
  if (lang::is_ending(*shell->in)) [[unlikely]]
    shell->in->check_stop(0);  // also one that no finalizer was begun for
  if (out != nullptr) *out = to_host(shell, std::move(value));
}

// A run belongs to one thread; what another one wants meanwhile is refused, as far as it can be seen.
class OnThread {
 public:
  explicit OnThread(tsr_interpreter* shell) : shell_(shell), outer_(shell->runs_on.load(std::memory_order_relaxed)) {
    thread_local const char here = 0;
    if (outer_ != nullptr && outer_ != &here) throw UsageError{"another thread runs the interpreter"};
    shell->runs_on.store(&here, std::memory_order_relaxed);
  }
  OnThread(const OnThread&) = delete;
  OnThread& operator=(const OnThread&) = delete;
  ~OnThread() { shell_->runs_on.store(outer_, std::memory_order_relaxed); }

 private:
  tsr_interpreter* const shell_;
  const void* const outer_;
};

template <class F>
bool guarded(tsr_interpreter* shell, tsr_error** error, F&& f) noexcept {
  bool done = false;
  try {
    lang::Interpreter& in = running(shell);
    const OnThread on_thread(shell);
    const lang::RunScope run(in.vm());
    const ModesOfRun modes(in);
    try {
      f(in);
      tell_of_limit(in);
      done = true;
    } catch (const std::exception&) {
      tell_of_stop(in);
      throw;
    }
  } catch (...) {
    report(shell, error);
  }
  if (shell != nullptr && shell->ending && !shell->in->vm().is_running()) [[unlikely]]
    end(shell);
  return done;
}

}  // namespace tessera::embed

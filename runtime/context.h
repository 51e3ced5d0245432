// What an interpreter brings to the tensor library: defaults, modes, memory account, cancel flag.
//
// Nothing else is global. `Context::current()` is the one that the running thread has entered with a
// ContextScope; a thread that never did has a default one of its own, for pure C++ use.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/alloc.h"
#include "runtime/counted.h"
#include "runtime/device/device.h"
#include "runtime/device/stream.h"
#include "runtime/dtype.h"
#include "runtime/format_options.h"

namespace tessera::tensor {

class Generator;         // runtime/random.h
class DeviceGenerator;   // runtime/device/generator.h
class SavedTensorHooks;  // runtime/autograd/node.h
class LaunchQueue;       // runtime/fuse/launch_queue.h

/// The current CUDA device, and the current stream of each; null, the default one, until another is set.
class CurrentStreams {
 public:
  int device = 0;
  StreamHandle get(int device) const {
    return device >= 0 && size_t(device) < streams_.size() ? streams_[size_t(device)] : nullptr;
  }
  void set(int device, StreamHandle stream) {
    if (size_t(device) >= streams_.size()) streams_.resize(size_t(device) + 1);
    streams_[size_t(device)] = stream;
  }

 private:
  std::vector<StreamHandle> streams_;
};

/// The levels of forward-mode derivatives that a thread of a program has entered (runtime/autograd/tangents.h).
struct DualLevels {
  std::vector<uint32_t> entered;  // their numbers, outermost first; no number is given twice
  uint32_t seen = 0;              // how many of them, from the outermost on, calls compute tangents for
  const std::vector<struct Tangent>* given = nullptr;  // those of the next node's result, where its op has computed them
  bool later = false;             // tangents are computed when the history is rebased: the result is not written yet
};

class Context {
 public:
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  static Context& current() {
    if (Context* c = current_) [[likely]]
      return *c;
    return make_default();
  }

  // Modes, in the order in which ops ask for them.
  bool grad_enabled = true;
  /// Whether calls look for what they have to record: in grad mode, or where tangents are seen.
  bool records = true;
  bool inference_mode = false;
  bool anomaly_mode = false;
  bool anomaly_checks_nan = true;
  bool deterministic = false;
  static constexpr int64_t kNever = INT64_MAX, kFuses = 32768;
  int64_t fuses_from = kNever;  // launches of pointwise ops of so many elements wait for those that follow (launch_queue)
  int64_t waiting_rows = 0;  // how many rows launches that wait have reduced to one element each; 0: none
  bool generates_code = true;  // chains of such launches may run as machine code that is generated for them (TSR_JIT)
  bool tf32 = false;  // devices may multiply float32 with 10 bits behind the point
  DType default_dtype = kFloat32;
  Device default_device = kCpu;
  CurrentStreams streams;
  DualLevels duals;
  std::vector<uint32_t> live_levels;  // the levels of forward mode that are entered, of all threads
  uint32_t last_level = 0;            // the number of the level that was entered last
  /// Switches the recording of gradients, as torch.no_grad() and torch.set_grad_enabled() do. Calls go on recording for forward mode.
  void set_grad_enabled(bool enabled) {
    grad_enabled = enabled;
    records = enabled || duals.seen > 0;
  }
  enum class SyncDebug : uint8_t { Off, Warn, Error };
  SyncDebug sync_debug =
      SyncDebug::Off;             // what a wait of the host for a device is to do (torch.cuda.set_sync_debug_mode)
  LaunchLog* launches = nullptr;  // notes where launches come from; null: nobody does

  /// torch.get_num_threads(); starts as TSR_THREADS, MKL_NUM_THREADS, OMP_NUM_THREADS or the number of cores.
  int threads;

  Account* account;  // of memory on the host
  /// Of memory on another device; each has the limit that device_limit was when it was first asked for.
  Account& account_of(Device device);
  int64_t device_limit = Account::kUnlimited;

  /// What torch.set_printoptions sets.
  FormatOptions format;

  /// Set from another thread or a signal handler; kernels poll it about every millisecond.
  std::atomic<bool> cancel{false};
  /// A host's own flags and those of their bits that stop a kernel too: a host that has a word for all its reasons sets
  /// nothing else. Null: `cancel` alone.
  const std::atomic<uint32_t>* host_flags = nullptr;
  uint32_t host_stops = 0;
  bool stopping() const {
    return !finishes && (cancel.load(std::memory_order_relaxed) ||
                         (host_flags != nullptr && (host_flags->load(std::memory_order_relaxed) & host_stops) != 0));
  }
  /// Launches that waited are being run. They come to their end (a tenth of a second), for who looks at a result expects no error.
  bool finishes = false;
  /// Throws TensorError(Cancelled) when the program is to stop. The flags stay set: the host clears them.
  void poll() {
    if (stopping()) [[unlikely]]
      throw_cancelled();
  }
  /// Where a host counts down what its program does: kernels take a step for about a microsecond of work, on the Context's
  /// own thread. Null: nobody counts.
  int64_t* host_countdown = nullptr;

  /// What packs the tensors that ops save for backward; null: they are kept as they are.
  SavedTensorHooks* saved_hooks = nullptr;
  /// Where the program stands, for the nodes made in anomaly mode.
  std::function<std::string()> forward_trace;

  /// Receives UserWarning texts; empty: they go to stderr.
  std::function<void(const std::string&)> warning_sink;
  void warn(const std::string& message);

  /// The launches that wait (made on first use).
  LaunchQueue& launch_queue();

  /// The default generator of the CPU (made on first use).
  Generator& generator();
  /// That of a device (made on first use).
  DeviceGenerator& generator(Device device);

 private:
  friend class ContextScope;
  static Context& make_default();
  [[noreturn]] static void throw_cancelled();

  // The model costs no call where the code is compiled for shared libraries.
  [[gnu::tls_model("initial-exec")]] inline static thread_local Context* current_ = nullptr;
  std::unique_ptr<LaunchQueue> launch_queue_;
  CountedPtr<Counted> generator_;
  std::vector<CountedPtr<Counted>> device_generators_;  // by index
  std::vector<std::pair<Device, Account*>> device_accounts_;
};

/// Context::fuses_from for a value of TSR_FUSE: 0 never, 1 from the length where it pays, another number from so many elements on.
int64_t fuses_from_setting(int64_t setting);
/// The same for the environment. Without TSR_FUSE it is 1.
int64_t fuses_from_environment();
/// Context::generates_code for the environment: false where TSR_JIT is 0.
bool generates_code_environment();

/// Enters a context on this thread for the length of a block.
class ContextScope {
 public:
  explicit ContextScope(Context& context) : before_(Context::current_) { Context::current_ = &context; }
  ~ContextScope() { Context::current_ = before_; }
  ContextScope(const ContextScope&) = delete;

 private:
  Context* before_;
};

/// Sets the grad mode for the length of a block: `GradMode no_grad(false);`. Off, tangents are not computed either.
class GradMode {
 public:
  explicit GradMode(bool enabled) : GradMode(enabled, enabled) {}
  GradMode(bool enabled, bool records)
      : context_(Context::current()), enabled_(context_.grad_enabled), records_(context_.records) {
    context_.grad_enabled = enabled;
    context_.records = records;
  }
  ~GradMode() {
    context_.grad_enabled = enabled_;
    context_.records = records_;
  }
  GradMode(const GradMode&) = delete;

 private:
  Context& context_;
  bool enabled_, records_;
};

/// The grad mode of backward sweeps, whose operations compute the tangents of gradients also where they are not recorded.
class SweepMode : public GradMode {
 public:
  explicit SweepMode(bool create_graph) : GradMode(create_graph, create_graph || Context::current().duals.seen > 0) {}
};

}  // namespace tessera::tensor

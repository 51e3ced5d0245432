// Streams, events and graphs. Work is kept in queues; when somebody waits, streams take turns in an order drawn from the
// seed, each giving the first of its queue that may run, until what is waited for has happened. So whatever the program
// does not order shows as a wrong result in some order.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "executor.h"

/// One recording of an event: whoever waits for it waits for this one, though the event is recorded again meanwhile.
struct Recording {
  bool happened = false;
  tessera_executor::Clock knows;  // what happened before it
  std::chrono::steady_clock::time_point when;
};

struct CUevent_st {
  std::shared_ptr<Recording> last;  // null: it was never recorded
  bool timed = true;
  struct CUgraph_st* capture = nullptr;  // recorded while its stream was captured
};

namespace tessera_executor {

struct Op {
  const char* name;
  std::function<void()> run;
  std::shared_ptr<const Recording> waits_for = nullptr;
  std::shared_ptr<const Clock> known = nullptr;  // what the host knew when it gave it
};

}  // namespace tessera_executor

struct CUstream_st {
  int device = 0;
  int clock = tessera_executor::add_clock();
  bool is_default = false;
  bool of_thread = false;  // the default stream of one host thread
  bool destroyed = false;
  std::deque<tessera_executor::Op> queue;
  struct CUgraph_st* capture = nullptr;
};
struct CUgraph_st {
  CUstream_st* origin;
  cudaStreamCaptureMode mode;
  std::thread::id thread = std::this_thread::get_id();
  std::vector<tessera_executor::Op> ops = {};
  bool invalid = false;
};
struct CUgraphExec_st {
  std::vector<tessera_executor::Op> ops;
};

namespace tessera_executor {
namespace {

thread_local int device_of_thread = 0;  // per thread: as in CUDA

struct Streams {
  std::vector<std::unique_ptr<CUstream_st>> all;
  std::vector<CUstream_st*> defaults;
  std::mt19937_64 random{options().seed * 7919 + 1};
  std::set<CUgraph_st*> captures;

  Streams() {
    for (int d = 0; d < options().devices; d++) {
      all.push_back(std::make_unique<CUstream_st>());
      all.back()->device = d;
      all.back()->is_default = true;
      defaults.push_back(all.back().get());
    }
  }
};
Streams& streams() {
  static Streams* made = new Streams;
  return *made;
}

// What cudaStreamPerThread names. The plugin has no use for it: it is here to show what would go wrong.
CUstream_st* stream_of_thread() {
  thread_local std::vector<CUstream_st*> mine(static_cast<size_t>(options().devices));
  CUstream_st*& found = mine[size_t(device_of_thread)];
  if (found == nullptr) {
    streams().all.push_back(std::make_unique<CUstream_st>());
    found = streams().all.back().get();
    found->device = device_of_thread;
    found->of_thread = true;
  }
  return found;
}

CUstream_st* find(cudaStream_t stream) {
  if (stream == reinterpret_cast<cudaStream_t>(2)) return stream_of_thread();
  return stream == nullptr ? streams().defaults[size_t(device_of_thread)] : stream;
}

bool may_run(const CUstream_st& s) {
  if (s.queue.empty()) return false;
  const Op& op = s.queue.front();
  return op.waits_for == nullptr || op.waits_for->happened;
}

// One piece of work of one stream; false when none may run.
bool run_one(CUstream_st* only = nullptr) {
  Streams& all = streams();
  std::vector<CUstream_st*> ready;
  for (auto& s : all.all)
    if (may_run(*s) && (only == nullptr || only == s.get())) ready.push_back(s.get());
  if (ready.empty()) return false;
  CUstream_st* s = ready[options().shuffle ? all.random() % ready.size() : 0];
  const Op op = std::move(s->queue.front());
  s->queue.pop_front();
  Clock& clock = clock_of(s->clock);
  join(clock, *op.known);
  if (op.waits_for != nullptr) join(clock, op.waits_for->knows);
  if (op.run) {
    begin_operation(s->clock, op.name);
    op.run();
  }
  return true;
}

void host_waited_for(const CUstream_st* s) { host_learns(clock_of(s->clock)); }

template <class Condition>
void run_until(const Condition& condition) {
  const OpenMemory open;  // once for all, as opening is dear
  while (!condition())
    if (!run_one()) violation("the host waits for work that can never run");
}

cudaError_t add(CUstream_st* s, Op op) {
  if (s->destroyed) violation(std::string("work '") + op.name + "' is given to a stream that was destroyed");
  op.known = host_knows();
  if (s->capture != nullptr) {
    s->capture->ops.push_back(std::move(op));
    return cudaSuccess;
  }
  s->queue.push_back(std::move(op));
  if (options().now) run_until([&] { return s->queue.empty(); });
  if (s->queue.size() > 2000) run_until([&] { return s->queue.size() < 1000; });
  return cudaSuccess;
}

// The legacy default stream and those of threads wait for each other, as CUDA has it; those of two threads do not.
void wait_for_defaults(CUstream_st* s) {
  for (const auto& other : streams().all) {
    const bool waits = s->is_default ? other->of_thread : s->of_thread && other->is_default;
    if (!waits || other->device != s->device || other->queue.empty()) continue;
    const auto done = std::make_shared<Recording>();
    add(other.get(), {"an event", [done, before = other.get()] {
                        done->happened = true;
                        done->knows = clock_of(before->clock);
                      }});
    add(s, {"a wait", nullptr, done});
  }
}

bool wrong_device(int device) { return device < 0 || device >= options().devices; }

// cudaThreadExchangeStreamCaptureMode
thread_local cudaStreamCaptureMode mode_of_thread = cudaStreamCaptureModeGlobal;  // per thread: as in CUDA

bool forbids(const CUgraph_st& graph) {
  if (mode_of_thread == cudaStreamCaptureModeRelaxed) return false;
  if (graph.thread == std::this_thread::get_id()) return graph.mode != cudaStreamCaptureModeRelaxed;
  return mode_of_thread == cudaStreamCaptureModeGlobal && graph.mode == cudaStreamCaptureModeGlobal;
}

void check_device_side(const void* address, const char* what, int device) {
  if (device_of(address) >= 0 && device_of(address) != device)
    violation(std::string(what) + " of device " + std::to_string(device) + " gets memory of device " +
              std::to_string(device_of(address)));
}

}  // namespace

cudaError_t refused_in_capture() {
  for (CUgraph_st* graph : streams().captures)
    if (forbids(*graph)) {
      graph->invalid = true;
      return cudaErrorStreamCaptureUnsupported;
    }
  return cudaSuccess;
}

int current_device() { return device_of_thread; }

void finish_all() {
  const OpenMemory open;
  while (run_one()) {}
  for (auto& s : streams().all) host_waited_for(s.get());
}

void queue_kernel(const Kernel& kernel, cudaStream_t stream, const void* params, size_t bytes) {
  const std::lock_guard guard(lock());
  counts().launches++;
  if (cudaError_t fault = asked_fault("cudaLaunchKernel")) return set_launch_error(fault);
  const size_t threads = size_t(kernel.block_size.x) * kernel.block_size.y * kernel.block_size.z;
  const Triple grid = kernel.grid_size;
  if (threads == 0 || threads > 1024 || kernel.shared > (227u << 10) || grid.x == 0 || grid.y == 0 || grid.z == 0 ||
      grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535)
    return set_launch_error(cudaErrorInvalidConfiguration);
  CUstream_st* s = find(stream);
  if (s->device != device_of_thread) return set_launch_error(cudaErrorInvalidResourceHandle);
  const auto kept = std::shared_ptr<char[]>(new char[bytes + 16]);
  char* at = reinterpret_cast<char*>((uintptr_t(kept.get()) + 15) & ~uintptr_t(15));
  std::memcpy(at, params, bytes);
  wait_for_defaults(s);
  add(s, {kernel.name, [kept, at, bytes, kernel, device = s->device] { run_kernel(kernel, at, bytes, device); }});
}

void queue_host_work(const char* name, cudaStream_t stream, void (*run)(const void*), const void* params,
                     size_t bytes) {
  const std::lock_guard guard(lock());
  counts().library_calls++;
  CUstream_st* s = find(stream);
  const auto kept = std::shared_ptr<char[]>(new char[bytes + 16]);
  char* at = reinterpret_cast<char*>((uintptr_t(kept.get()) + 15) & ~uintptr_t(15));
  std::memcpy(at, params, bytes);
  add(s, {name, [name, kept, at, run, device = s->device] { run_library(name, run, at, device); }});
}

// A destroyed stream's blocks change hands on the default one, when its own work is done.
static CUstream_st* stream_for_blocks(cudaStream_t stream, const void* block) {
  CUstream_st* s = stream == nullptr ? streams().defaults[size_t(std::max(device_of(block), 0))] : stream;
  if (!s->destroyed) return s;
  run_until([&] { return s->queue.empty(); });
  host_waited_for(s);
  return streams().defaults[size_t(s->device)];
}

// Done at once when nothing is queued before it.
static void add_note(CUstream_st* s, Op op) {
  const bool at_once = s->capture == nullptr && s->queue.empty();
  add(s, std::move(op));
  if (at_once && !s->queue.empty()) run_one(s);
}

void block_taken(void* block, size_t bytes, cudaStream_t stream) {
  const std::lock_guard guard(lock());
  if (!is_device_address(block)) violation("the allocator gives a block that is no memory of a device");
  CUstream_st* s = stream_for_blocks(stream, block);
  const bool in_graph = s->capture != nullptr;
  if (in_graph) show_captured_block(block, bytes);
  add_note(s, {"the allocator's taking", [=] { begin_block_of(block, bytes, in_graph); }});
}
void block_freed(void* block, cudaStream_t stream) {
  const std::lock_guard guard(lock());
  if (!is_device_address(block)) violation("the allocator takes back what is no memory of a device");
  CUstream_st* s = stream_for_blocks(stream, block);
  const bool in_graph = s->capture != nullptr;
  add_note(s, {"the allocator's taking back", [=] { end_block_of(block, in_graph); }});
}

}  // namespace tessera_executor

using namespace tessera_executor;

// Most functions of the API begin so.
#define TS_API(NAME)                   \
  const std::lock_guard guard(lock()); \
  if (cudaError_t fault = asked_fault(#NAME)) return remember(fault)

extern "C" {

cudaError_t cudaGetDevice(int* device) {
  TS_API(cudaGetDevice);
  *device = device_of_thread;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  TS_API(cudaSetDevice);
  if (wrong_device(device)) return remember(cudaErrorInvalidDevice);
  device_of_thread = device;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  TS_API(cudaDeviceSynchronize);
  if (cudaError_t refused = refused_in_capture()) return remember(refused);
  counts().synchronisations++;
  run_until([] {
    for (auto& s : streams().all)
      if (s->device == device_of_thread && !s->queue.empty()) return false;
    return true;
  });
  for (auto& s : streams().all)
    if (s->device == device_of_thread) host_waited_for(s.get());
  return remember(asked_fault("work"));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* out, unsigned flags, int) {
  TS_API(cudaStreamCreate);
  if (flags != cudaStreamNonBlocking)
    return remember(cudaErrorNotSupported);  // the plugin's never wait for the default one
  streams().all.push_back(std::make_unique<CUstream_st>());
  *out = streams().all.back().get();
  (*out)->device = device_of_thread;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* out, unsigned flags) {
  return cudaStreamCreateWithPriority(out, flags, 0);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  TS_API(cudaStreamDestroy);
  stream->destroyed = true;  // its work is still done
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  TS_API(cudaStreamQuery);
  CUstream_st* s = find(stream);
  if (!s->queue.empty() && streams().random() % 2) run_one(s);
  if (!s->queue.empty()) return cudaErrorNotReady;
  host_waited_for(s);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  TS_API(cudaStreamSynchronize);
  CUstream_st* s = find(stream);
  if (s->capture != nullptr) {
    s->capture->invalid = true;
    return remember(cudaErrorStreamCaptureUnsupported);
  }
  counts().synchronisations++;
  run_until([&] { return s->queue.empty(); });
  host_waited_for(s);
  return remember(asked_fault("work"));
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0, *greatest = -5;
  return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  TS_API(cudaLaunchHostFunc);
  return add(find(stream), {"a host function", [=] { function(data); }});
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* out, unsigned flags) {
  TS_API(cudaEventCreate);
  *out = new CUevent_st;
  (*out)->timed = !(flags & cudaEventDisableTiming);
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t) {  // kept: queues may name it
  TS_API(cudaEventDestroy);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  TS_API(cudaEventRecord);
  CUstream_st* s = find(stream);
  event->capture = s->capture;
  if (s->capture != nullptr) return cudaSuccess;  // a graph keeps the order of the capture
  counts().events++;
  const auto recording = event->last = std::make_shared<Recording>();
  return add(s, {"an event", [=] {
                   recording->happened = true;
                   recording->knows = clock_of(s->clock);
                   recording->when = std::chrono::steady_clock::now();
                 }});
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  TS_API(cudaStreamWaitEvent);
  CUstream_st* s = find(stream);
  if (event->capture != nullptr) {
    if (streams().captures.count(event->capture)) s->capture = event->capture;
    return cudaSuccess;
  }
  if (s->capture != nullptr) {  // work outside of the graph that the graph would wait for
    s->capture->invalid = true;
    return remember(cudaErrorStreamCaptureUnsupported);
  }
  counts().stream_waits++;
  return add(s, {"a wait", nullptr, event->last});
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  TS_API(cudaEventQuery);
  if (cudaError_t refused = refused_in_capture()) return remember(refused);
  if (event->last == nullptr) return cudaSuccess;
  if (!event->last->happened && streams().random() % 2) run_one();
  if (!event->last->happened) return cudaErrorNotReady;
  host_learns(event->last->knows);
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  TS_API(cudaEventSynchronize);
  counts().synchronisations++;
  if (const auto last = event->last) {
    run_until([&] { return last->happened; });
    host_learns(last->knows);
  }
  return remember(asked_fault("work"));
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t from, cudaEvent_t to) {
  TS_API(cudaEventElapsedTime);
  if (!from->timed || !to->timed || from->last == nullptr || to->last == nullptr)
    return remember(cudaErrorInvalidResourceHandle);
  if (!from->last->happened || !to->last->happened) return remember(cudaErrorNotReady);
  *ms = std::chrono::duration<float, std::milli>(to->last->when - from->last->when).count();
  return cudaSuccess;
}

// ---- copies ----

static const char* const kFromHost = "a copy from the host";
static const char* const kCopy = "a copy";

// To find that the host changed what a copy had still to read.
static uint64_t checksum(const void* memory, size_t bytes) {
  uint64_t sum = bytes;
  for (size_t k = 0; k < bytes; k++) sum = (sum ^ static_cast<const unsigned char*>(memory)[k]) * 0x100000001b3u;
  return sum;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  TS_API(cudaMemcpyAsync);
  CUstream_st* s = find(stream);
  check_device_side(to, "a copy", s->device);
  check_device_side(from, "a copy", s->device);
  wait_for_defaults(s);
  counts().copies++;
  counts().bytes_copied += long(bytes);
  if (!is_device_address(to)) counts().bytes_to_host += long(bytes);
  if (!is_device_address(from)) counts().bytes_from_host += long(bytes);
  cudaPointerAttributes side;
  // From pageable memory the bytes are taken before the call returns; to it, the call returns when they are there.
  cudaPointerGetAttributes(&side, from);
  if (side.type == cudaMemoryTypeUnregistered) {
    const auto staged = std::make_shared<std::string>(static_cast<const char*>(from), bytes);
    return add(s, {kFromHost, [=] { copy_memory(to, staged->data(), bytes, kFromHost); }});
  }
  const bool reads_host = side.type == cudaMemoryTypeHost;
  const uint64_t sum = reads_host ? checksum(from, bytes) : 0;
  add(s, {kCopy, [=] {
            if (reads_host && checksum(from, bytes) != sum)
              violation("the host changed pinned memory before the copy from it had been done");
            copy_memory(to, from, bytes, kCopy);
          }});
  cudaPointerGetAttributes(&side, to);
  if (side.type == cudaMemoryTypeUnregistered) {
    if (s->capture != nullptr) {
      s->capture->invalid = true;
      return remember(cudaErrorStreamCaptureUnsupported);
    }
    run_until([&] { return s->queue.empty(); });
    host_waited_for(s);
  }
  return remember(asked_fault("work"));
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  if (cudaError_t failed = cudaMemcpyAsync(to, from, bytes, kind, nullptr)) return failed;
  return cudaStreamSynchronize(nullptr);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                                cudaStream_t stream) {
  TS_API(cudaMemcpyPeerAsync);
  if (wrong_device(to_device) || wrong_device(from_device)) return remember(cudaErrorInvalidDevice);
  check_device_side(to, "a copy to a peer", to_device);
  check_device_side(from, "a copy from a peer", from_device);
  counts().copies++;
  return add(find(stream), {"a copy between devices", [=] { copy_memory(to, from, bytes, "a copy between devices"); }});
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind, cudaStream_t stream) {
  TS_API(cudaMemcpy2DAsync);
  if (!is_device_address(to) || !is_device_address(from)) return remember(cudaErrorNotSupported);
  counts().copies++;
  return add(find(stream), {"a copy of rows", [=] {
                              for (size_t row = 0; row < height; row++)
                                copy_memory(static_cast<char*>(to) + row * to_pitch,
                                            static_cast<const char*>(from) + row * from_pitch, width, "a copy of rows");
                            }});
}
cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  TS_API(cudaMemsetAsync);
  CUstream_st* s = find(stream);
  check_device_side(to, "a fill", s->device);
  if (bytes > 0 && !is_device_address(to)) violation("a fill of memory of the host");
  counts().fills++;
  return add(s, {"a fill", [=] {
                   const OpenMemory open;
                   write_range(to, bytes, "a fill");
                   std::memset(to, value, bytes);
                 }});
}
cudaError_t cudaMemset(void* to, int value, size_t bytes) { return cudaMemsetAsync(to, value, bytes, nullptr); }

// ---- graphs ----

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  TS_API(cudaStreamBeginCapture);
  if (stream == nullptr) return remember(cudaErrorStreamCaptureImplicit);  // the legacy stream cannot be captured
  stream->capture = new CUgraph_st{stream, mode};
  streams().captures.insert(stream->capture);
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* out) {
  TS_API(cudaStreamEndCapture);
  CUgraph_st* graph = stream->capture;
  *out = nullptr;
  if (graph == nullptr || graph->origin != stream) return remember(cudaErrorInvalidValue);
  for (auto& s : streams().all)
    if (s->capture == graph) s->capture = nullptr;
  streams().captures.erase(graph);
  if (graph->invalid) {
    delete graph;
    return remember(cudaErrorStreamCaptureInvalidated);
  }
  *out = graph;
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const std::lock_guard guard(lock());
  const CUgraph_st* graph = find(stream)->capture;
  if (cudaError_t fault = asked_fault("cudaStreamIsCapturing")) return remember(fault);
  *status = graph == nullptr ? cudaStreamCaptureStatusNone
            : graph->invalid ? cudaStreamCaptureStatusInvalidated
                             : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  const std::lock_guard guard(lock());
  std::swap(mode_of_thread, *mode);
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* out, cudaGraph_t graph, unsigned long long) {
  TS_API(cudaGraphInstantiate);
  *out = new CUgraphExec_st{graph->ops};
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  TS_API(cudaGraphLaunch);
  counts().graph_launches++;
  for (const Op& op : graph->ops) add(find(stream), op);
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  TS_API(cudaGraphExecDestroy);
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  TS_API(cudaGraphDestroy);
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned) {
  TS_API(cudaGraphDebugDotPrint);
  std::FILE* file = std::fopen(path, "w");
  if (file == nullptr) return remember(cudaErrorInvalidValue);
  std::fputs("digraph {\n", file);
  for (size_t k = 0; k < graph->ops.size(); k++) std::fprintf(file, "  n%zu [label=\"%s\"];\n", k, graph->ops[k].name);
  std::fputs("}\n", file);
  std::fclose(file);
  return cudaSuccess;
}

}  // extern "C"

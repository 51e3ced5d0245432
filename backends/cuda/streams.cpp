// Streams, events, synchronisation, and the words in which a device's kernels report faults.
#include <algorithm>
#include <mutex>

#include "backends/cuda/cuda.h"
#include "backends/cuda/events.h"
#include "backends/cuda/relaxed.h"

namespace tessera::tensor::cuda {
namespace {

cudaStream_t stream_of(StreamHandle stream) { return static_cast<cudaStream_t>(stream); }
cudaEvent_t event_of(EventHandle event) { return static_cast<cudaEvent_t>(event); }

// "Not ready" is an answer, all else an error.
bool done(cudaError_t result) {
  if (result == cudaErrorNotReady) return cudaGetLastError(), false;
  check_call(result);
  return true;
}

// ---- error words: one in each device's memory, and what was last seen of it in pinned memory of the host ----

struct Errors {
  std::once_flag made;
  ErrorWord* word = nullptr;
  ErrorWord* seen = nullptr;
};

// Waited for: streams that do not wait for the default one may report or be asked at once.
void clear(ErrorWord* word) {
  check_call(cudaMemsetAsync(word, 0, sizeof(ErrorWord), nullptr));
  check_call(cudaStreamSynchronize(nullptr));
}

Errors& errors_of(Device device) {
  static Errors errors[kMaxDevices];
  Errors& mine = errors[index_of(device)];
  std::call_once(mine.made, [&] {
    const OnDevice here(device);
    const Relaxed relaxed;
    // A refusal is thrown to the caller, and the next one goes on from there.
    if (mine.word == nullptr) check_call(cudaMalloc(reinterpret_cast<void**>(&mine.word), sizeof(ErrorWord)));
    clear(mine.word);
    check_call(cudaHostAlloc(reinterpret_cast<void**>(&mine.seen), sizeof(ErrorWord), cudaHostAllocPortable));
    *mine.seen = {};
  });
  return mine;
}

bool take_error(Device device, ErrorWord& out) {
  Errors& mine = errors_of(device);
  out = *mine.seen;
  if (out.kind == ErrorWord::None) return false;
  const OnDevice here(device);
  *mine.seen = {};
  clear(mine.word);
  return true;
}

// ---- streams ----

// As many of each priority as PyTorch lends. They are made when first asked for and never destroyed: blocks of memory name
// them for as long as there are any.
constexpr int kStreams = 32, kPriorities = 8;

struct Lent {
  std::mutex mutex;
  cudaStream_t streams[kPriorities][kStreams] = {};
  unsigned next[kPriorities] = {};
};
Lent& lent_by(Device device) {
  static Lent* const lent = new Lent[kMaxDevices];
  return lent[index_of(device)];
}

StreamPriorities stream_priorities() {
  StreamPriorities found{};
  check_call(cudaDeviceGetStreamPriorityRange(&found.least, &found.greatest));
  return found;
}

StreamHandle take_stream(Device device, int priority) {
  const OnDevice here(device);
  const StreamPriorities all = stream_priorities();
  const int urgent = std::clamp(priority, std::max(all.greatest, 1 - kPriorities), all.least);
  Lent& lent = lent_by(device);
  const std::lock_guard guard(lent.mutex);
  const int row = all.least - urgent;
  cudaStream_t& stream = lent.streams[row][lent.next[row] % kStreams];
  if (stream == nullptr) check_call(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, urgent));
  lent.next[row]++;
  return stream;
}

// Of a stream that another library made: 0.
int stream_priority(Device device, StreamHandle stream) {
  Lent& lent = lent_by(device);
  const std::lock_guard guard(lent.mutex);
  for (int row = 0; stream != nullptr && row < kPriorities; row++)
    for (const cudaStream_t one : lent.streams[row])
      if (one == stream) return -row;
  return 0;
}

bool stream_done(Device device, StreamHandle stream) {
  const OnDevice here(device);
  return done(cudaStreamQuery(stream_of(stream)));
}

void synchronize_stream(Device device, StreamHandle stream) {
  const OnDevice here(device);
  fetch_errors(device, stream_of(stream));
  check_call(cudaStreamSynchronize(stream_of(stream)));
}

void synchronize(Device device) {
  const OnDevice here(device);
  check_call(cudaDeviceSynchronize());
  fetch_errors(device, nullptr);
  check_call(cudaStreamSynchronize(nullptr));
}

// ---- events ----

EventHandle create_event(Device device, EventOptions options) {
  const OnDevice here(device);
  cudaEvent_t made;
  check_call(cudaEventCreateWithFlags(&made, (options.timed ? cudaEventDefault : cudaEventDisableTiming) |
                                                 (options.blocking ? cudaEventBlockingSync : cudaEventDefault)));
  return made;
}

void destroy_event(Device, EventHandle event) noexcept { cudaEventDestroy(event_of(event)); }

void record_event(Device device, EventHandle event, StreamHandle stream) {
  const OnDevice here(device);
  check_call(cudaEventRecord(event_of(event), stream_of(stream)));
}

void wait_event(Device device, StreamHandle stream, EventHandle event) {
  const OnDevice here(device);
  check_call(cudaStreamWaitEvent(stream_of(stream), event_of(event), 0));
}

void order_streams(Device device, StreamHandle stream, Device before_device, StreamHandle before) {
  const cudaEvent_t reached = event_behind(before_device, stream_of(before));
  const OnDevice here(device);
  const cudaError_t result = cudaStreamWaitEvent(stream_of(stream), reached, 0);
  keep_event(before_device, reached);  // who waits for it has been told already
  check_call(result);
}

bool event_done(Device, EventHandle event) { return done(cudaEventQuery(event_of(event))); }
void synchronize_event(Device, EventHandle event) { check_call(cudaEventSynchronize(event_of(event))); }

float elapsed_ms(Device, EventHandle from, EventHandle to) {
  float passed = 0;
  check_call(cudaEventElapsedTime(&passed, event_of(from), event_of(to)));
  return passed;
}

}  // namespace

ErrorWord* error_word(Device device) { return errors_of(device).word; }

void fetch_errors(Device device, cudaStream_t stream) {
  const Errors& mine = errors_of(device);
  check_call(cudaMemcpyAsync(mine.seen, mine.word, sizeof(ErrorWord), cudaMemcpyDeviceToHost, stream));
}

void fill_streams(DeviceBackend& table) {
  table.stream_priorities = stream_priorities;
  table.take_stream = take_stream;
  table.stream_priority = stream_priority;
  table.stream_done = stream_done;
  table.synchronize_stream = synchronize_stream;
  table.synchronize = synchronize;
  table.order_streams = order_streams;
  table.create_event = create_event;
  table.destroy_event = destroy_event;
  table.record_event = record_event;
  table.wait_event = wait_event;
  table.event_done = event_done;
  table.synchronize_event = synchronize_event;
  table.elapsed_ms = elapsed_ms;
  table.error_word = error_word;
  table.take_error = take_error;
}

}  // namespace tessera::tensor::cuda

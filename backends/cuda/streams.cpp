// Streams, events, synchronisation, and the words in which a device's kernels report faults.
#include <mutex>

#include "backends/cuda/cuda.h"

namespace tessera::tensor::cuda {
namespace {

cudaStream_t stream_of(StreamHandle stream) { return static_cast<cudaStream_t>(stream); }
cudaEvent_t event_of(EventHandle event) { return static_cast<cudaEvent_t>(event); }

// "Not ready" is an answer, all else an error.
bool done(cudaError_t result) {
  if (result == cudaErrorNotReady) return false;
  check_call(result);
  return true;
}

// ---- error words: one in each device's memory, and what was last seen of it in pinned memory of the host ----

struct Errors {
  std::once_flag made;
  ErrorWord* word = nullptr;
  ErrorWord* seen = nullptr;
};

Errors& errors_of(Device device) {
  static Errors errors[kMaxDevices];
  Errors& mine = errors[index_of(device)];
  std::call_once(mine.made, [&] {
    const OnDevice here(device);
    check_call(cudaMalloc(reinterpret_cast<void**>(&mine.word), sizeof(ErrorWord)));
    check_call(cudaMemset(mine.word, 0, sizeof(ErrorWord)));
    check_call(cudaHostAlloc(reinterpret_cast<void**>(&mine.seen), sizeof(ErrorWord), cudaHostAllocPortable));
    *mine.seen = {};
  });
  return mine;
}

ErrorWord* error_word(Device device) { return errors_of(device).word; }

bool take_error(Device device, ErrorWord& out) {
  Errors& mine = errors_of(device);
  out = *mine.seen;
  if (out.kind == ErrorWord::None) return false;
  const OnDevice here(device);
  *mine.seen = {};
  check_call(cudaMemset(mine.word, 0, sizeof(ErrorWord)));
  return true;
}

// ---- streams ----

StreamHandle take_stream(Device device, int priority) {
  const OnDevice here(device);
  cudaStream_t made;
  check_call(cudaStreamCreateWithPriority(&made, cudaStreamNonBlocking, priority));
  return made;
}

CaptureStatus capture_status(Device device, StreamHandle stream) {
  if (stream == nullptr) return CaptureStatus::None;  // the legacy stream is never captured
  const OnDevice here(device);
  cudaStreamCaptureStatus status;
  check_call(cudaStreamIsCapturing(stream_of(stream), &status));
  return status == cudaStreamCaptureStatusNone     ? CaptureStatus::None
         : status == cudaStreamCaptureStatusActive ? CaptureStatus::Active
                                                   : CaptureStatus::Invalidated;
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

bool event_done(Device, EventHandle event) { return done(cudaEventQuery(event_of(event))); }
void synchronize_event(Device, EventHandle event) { check_call(cudaEventSynchronize(event_of(event))); }

float elapsed_ms(Device, EventHandle from, EventHandle to) {
  float passed = 0;
  check_call(cudaEventElapsedTime(&passed, event_of(from), event_of(to)));
  return passed;
}

}  // namespace

void fetch_errors(Device device, cudaStream_t stream) {
  const Errors& mine = errors_of(device);
  check_call(cudaMemcpyAsync(mine.seen, mine.word, sizeof(ErrorWord), cudaMemcpyDeviceToHost, stream));
}

void fill_streams(DeviceBackend& table) {
  table.take_stream = take_stream;
  table.capture_status = capture_status;
  table.stream_done = stream_done;
  table.synchronize_stream = synchronize_stream;
  table.synchronize = synchronize;
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

// Graphs: what a stream was given between begin and end, given again as one.
#include "backends/cuda/allocator.h"

namespace tessera::tensor {

struct DeviceGraph {
  Device device;
  cudaStream_t stream = nullptr;
  PoolId pool;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
};

namespace cuda {
namespace {

cudaStreamCaptureMode mode_of(CaptureMode mode) {
  return mode == CaptureMode::Global        ? cudaStreamCaptureModeGlobal
         : mode == CaptureMode::ThreadLocal ? cudaStreamCaptureModeThreadLocal
                                            : cudaStreamCaptureModeRelaxed;
}

void destroy_graph(GraphHandle graph) noexcept {
  if (graph->ready != nullptr) cudaGraphExecDestroy(graph->ready);
  if (graph->graph != nullptr) cudaGraphDestroy(graph->graph);
  try {
    allocator_of(graph->device).release_pool(graph->pool);
  } catch (const std::exception&) {
    // The pool's memory stays: a driver that refuses here is lost anyway.
  }
  delete graph;
}

GraphHandle begin_capture(Device device, StreamHandle stream, PoolId pool, CaptureMode mode) {
  if (stream == nullptr)
    fail_with(
        TensorErrorKind::Runtime,
        "CUDA graphs must be captured on a non-default stream. (However, after capture, it's ok to replay them on the "
        "default stream.)");
  const OnDevice here(device);
  error_word(device);  // which could not be made while the stream is captured
  auto* graph = new DeviceGraph{device, static_cast<cudaStream_t>(stream), pool};
  Allocator& allocator = allocator_of(device);
  allocator.retain_pool(pool);
  allocator.begin_capture(pool);
  const cudaError_t result = cudaStreamBeginCapture(graph->stream, mode_of(mode));
  if (result != cudaSuccess) {
    allocator.end_capture(pool);
    destroy_graph(graph);
    check_call(result);
  }
  return graph;
}

void instantiate_graph(GraphHandle graph) {
  const OnDevice here(graph->device);
  if (graph->ready != nullptr) {
    check_call(cudaGraphExecDestroy(graph->ready));
    graph->ready = nullptr;
  }
  check_call(cudaGraphInstantiate(&graph->ready, graph->graph, 0));
}

// A capture whose end was refused goes on; it must not.
void abandon_capture(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &status) != cudaSuccess || status == cudaStreamCaptureStatusNone) return;
  cudaGraph_t spoilt = nullptr;
  if (cudaStreamEndCapture(stream, &spoilt) != cudaSuccess) cudaGetLastError();
  if (spoilt != nullptr) cudaGraphDestroy(spoilt);
}

void end_capture(GraphHandle graph, bool keep) {
  const OnDevice here(graph->device);
  const cudaError_t result = cudaStreamEndCapture(graph->stream, &graph->graph);
  if (result != cudaSuccess) abandon_capture(graph->stream);
  allocator_of(graph->device).end_capture(graph->pool);
  try {
    check_call(result);
    if (!keep) instantiate_graph(graph);
  } catch (...) {
    destroy_graph(graph);
    throw;
  }
  if (keep) return;
  cudaGraphDestroy(graph->graph);
  graph->graph = nullptr;
}

void replay_graph(GraphHandle graph, StreamHandle stream) {
  const OnDevice here(graph->device);
  check_call(cudaGraphLaunch(graph->ready, static_cast<cudaStream_t>(stream)));
}

void write_graph(GraphHandle graph, const char* path) {
  if (graph->graph == nullptr)
    fail_with(TensorErrorKind::Runtime, "CUDA Graphs debug_dump() is only available for a graph that was kept");
  check_call(cudaGraphDebugDotPrint(graph->graph, path, cudaGraphDebugDotFlagsVerbose));
}

CaptureStatus capture_status(Device device, StreamHandle stream) {
  if (stream == nullptr) return CaptureStatus::None;  // the legacy stream is never captured
  const OnDevice here(device);
  cudaStreamCaptureStatus status;
  check_call(cudaStreamIsCapturing(static_cast<cudaStream_t>(stream), &status));
  return status == cudaStreamCaptureStatusNone     ? CaptureStatus::None
         : status == cudaStreamCaptureStatusActive ? CaptureStatus::Active
                                                   : CaptureStatus::Invalidated;
}

}  // namespace

void fill_graphs(DeviceBackend& table) {
  table.begin_capture = begin_capture;
  table.end_capture = end_capture;
  table.instantiate_graph = instantiate_graph;
  table.replay_graph = replay_graph;
  table.destroy_graph = destroy_graph;
  table.write_graph = write_graph;
  table.capture_status = capture_status;
}

}  // namespace cuda
}  // namespace tessera::tensor

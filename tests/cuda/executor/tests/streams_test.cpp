// Work runs late, streams know nothing of each other without events, and the executor tells when it matters.
#include <set>
#include <thread>

#include "testing.h"

namespace tessera_executor::testing {
namespace {

__global__ void set_to(int* x, int value) { x[blockIdx.x * blockDim.x + threadIdx.x] = value; }
__global__ void add_to(int* to, const int* from) { *to += *from; }
__global__ void bump(int* x) { atomicAdd(x, 1); }

enum class Order { None, Event, HostWaits, DeviceWaits, Query };

// Two streams, one writes what the other reads.
void pass_between(Order order) {
  int *x = device_array<int>(1), *y = device_array<int>(1);
  cudaDeviceSynchronize();
  const cudaStream_t a = new_stream(), b = new_stream();
  const cudaEvent_t event = new_event();
  launch_on<set_to>(a, 1, 1, 0, x, 5);
  cudaEventRecord(event, a);
  if (order == Order::Event) cudaStreamWaitEvent(b, event, 0);
  if (order == Order::HostWaits) cudaStreamSynchronize(a);
  if (order == Order::DeviceWaits) cudaDeviceSynchronize();
  if (order == Order::Query)
    while (cudaEventQuery(event) != cudaSuccess) {}
  launch_on<add_to>(b, 1, 1, 0, y, x);
  cudaStreamSynchronize(b);
}

// A block goes from stream to stream by way of the allocator.
void hand_on(bool ordered, bool used_on_both) {
  char* segment = device_array<char>(4096, false);
  segment_taken(segment, 4096);
  const cudaStream_t a = new_stream(), b = new_stream();
  const cudaEvent_t event = new_event(), used = new_event();
  int* block = reinterpret_cast<int*>(segment);
  block_taken(block, 64, a);
  launch_on<set_to>(a, 1, 4, 0, block, 1);
  if (used_on_both) {
    cudaEventRecord(event, a);
    cudaStreamWaitEvent(b, event, 0);
    launch_on<set_to>(b, 1, 4, 0, block, 1);
    cudaEventRecord(used, b);
    if (ordered) cudaStreamWaitEvent(a, used, 0);
    block_freed(block, a);
    return;
  }
  block_freed(block, a);
  cudaEventRecord(event, a);
  if (ordered) cudaStreamWaitEvent(b, event, 0);
  block_taken(block, 64, b);
}

}  // namespace

TEST_CASE("executor: what another stream wrote is read behind an event or a wait") {
  for (const Order order : {Order::Event, Order::HostWaits, Order::DeviceWaits, Order::Query})
    check_pair(
        "a race between streams", [] { pass_between(Order::None); }, [=] { pass_between(order); });
}

TEST_CASE("executor: streams may share a block when they keep to their own parts, and atomics") {
  CHECK(fault_of_any_order([] {
          int* x = device_array<int>(64);
          cudaDeviceSynchronize();
          const cudaStream_t a = new_stream(), b = new_stream();
          launch_on<set_to>(a, 1, 32, 0, x, 1);
          launch_on<set_to>(b, 1, 32, 0, x + 32, 2);
        }) == "");
  CHECK(fault_of_any_order([] {
          int* x = device_array<int>(1);
          cudaDeviceSynchronize();
          launch_on<bump>(new_stream(), 4, 32, 0, x);
          launch_on<bump>(new_stream(), 4, 32, 0, x);
          cudaDeviceSynchronize();
          if (to_host(x, 1)[0] != 256) violation("a wrong count");
        }) == "");
}

TEST_CASE("executor: a copy and a kernel of two streams") {
  const auto copy_beside = [](bool wait) {
    int* x = device_array<int>(64);
    cudaDeviceSynchronize();
    void* host = nullptr;
    cudaHostAlloc(&host, 256, 0);
    const cudaStream_t a = new_stream(), b = new_stream();
    launch_on<set_to>(a, 1, 64, 0, x, 1);
    if (wait) cudaStreamSynchronize(a);
    cudaMemcpyAsync(host, x, 256, cudaMemcpyDeviceToHost, b);
  };
  check_pair(
      "a race between streams", [=] { copy_beside(false); }, [=] { copy_beside(true); });
}

TEST_CASE("executor: memory goes from one stream to another in order only") {
  check_pair(
      "from one stream to another|somebody has", [] { hand_on(false, false); }, [] { hand_on(true, false); });
  check_pair(
      "record_stream is missing|where it may not", [] { hand_on(false, true); }, [] { hand_on(true, true); });
  bool missing_record = false, late = false;  // the free may come first, or the use
  for (uint64_t seed = 1; seed < 30 && !(missing_record && late); seed++) {
    const std::string said = fault_of([=] {
      options().seed = seed;
      hand_on(false, true);
    });
    CHECK(said != "");
    missing_record |= said.find("record_stream is missing") != std::string::npos;
    late |= said.find("where it may not") != std::string::npos;
  }
  CHECK((missing_record && late));
}

TEST_CASE("executor: the host may not change pinned memory that a copy has still to read") {
  const auto copy_from = [](bool wait) {
    int* x = device_array<int>(1);
    void* host = nullptr;
    cudaHostAlloc(&host, 4, 0);
    *static_cast<int*>(host) = 1;
    const cudaStream_t a = new_stream();
    cudaDeviceSynchronize();
    cudaMemcpyAsync(x, host, 4, cudaMemcpyHostToDevice, a);
    if (wait) cudaStreamSynchronize(a);
    *static_cast<int*>(host) = 2;
  };
  check_pair(
      "the host changed pinned memory", [=] { copy_from(false); }, [=] { copy_from(true); });
}

TEST_CASE("executor: work runs late, and streams in any order that events allow") {
  std::set<std::string> seen;
  for (uint64_t seed = 1; seed <= 12; seed++)
    seen.insert(fault_of([=] {
      options().seed = seed;
      options().check = false;
      int* x = device_array<int>(1);
      cudaDeviceSynchronize();
      const cudaStream_t a = new_stream(), b = new_stream();
      launch_on<set_to>(a, 1, 1, 0, x, 1);
      launch_on<set_to>(b, 1, 1, 0, x, 2);
      if (cudaStreamQuery(nullptr) != cudaSuccess) violation("the default stream has nothing to do");
      cudaDeviceSynchronize();
      std::fprintf(stderr, "%d", to_host(x, 1)[0]);
    }));
  CHECK(seen == std::set<std::string>{"1", "2"});
}

TEST_CASE("executor: a graph is what was captured, each time it is launched") {
  CHECK(fault_of([] {
          int* x = device_array<int>(1);
          cudaDeviceSynchronize();
          const cudaStream_t a = new_stream(), b = new_stream();
          const cudaEvent_t fork = new_event(), joined = new_event();
          cudaGraph_t graph = nullptr;
          cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal);
          launch_on<bump>(a, 1, 1, 0, x);
          cudaEventRecord(fork, a);
          cudaStreamWaitEvent(b, fork, 0);
          launch_on<bump>(b, 1, 1, 0, x);
          cudaEventRecord(joined, b);
          cudaStreamWaitEvent(a, joined, 0);
          if (cudaStreamSynchronize(a) != cudaErrorStreamCaptureUnsupported) violation("a wait in a capture");
          if (cudaStreamEndCapture(a, &graph) != cudaErrorStreamCaptureInvalidated)
            violation("a spoiled capture ended");
        }) == "");
  CHECK(fault_of([] {
          int* x = device_array<int>(1);
          cudaDeviceSynchronize();
          const cudaStream_t a = new_stream();
          cudaGraph_t graph = nullptr;
          cudaGraphExec_t ready = nullptr;
          cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal);
          launch_on<bump>(a, 2, 1, 0, x);
          cudaStreamEndCapture(a, &graph);
          cudaGraphInstantiate(&ready, graph);
          for (int k = 0; k < 3; k++) cudaGraphLaunch(ready, a);
          cudaStreamSynchronize(a);
          if (to_host(x, 1)[0] != 6) violation("a wrong count");
        }) == "");
}

TEST_CASE("executor: a wait is for the event as it was recorded then, though it is recorded again elsewhere") {
  CHECK(fault_of([] {
          int *x = device_array<int>(1), *y = device_array<int>(1), *z = device_array<int>(1);
          cudaDeviceSynchronize();
          const cudaStream_t a = new_stream(), b = new_stream(), c = new_stream();
          const cudaEvent_t event = new_event();
          launch_on<set_to>(a, 1, 1, 0, x, 3);
          cudaEventRecord(event, a);
          cudaStreamWaitEvent(c, event, 0);
          launch_on<set_to>(b, 1, 1, 0, y, 4);
          cudaEventRecord(event, b);
          cudaStreamWaitEvent(c, event, 0);
          launch_on<set_to>(c, 1, 1, 0, z, 0);
          launch_on<add_to>(c, 1, 1, 0, z, x);
          launch_on<add_to>(c, 1, 1, 0, z, y);
          cudaStreamSynchronize(c);
          if (to_host(z, 1)[0] != 7) violation("a wait for another recording");
        }) == "");
}

TEST_CASE("executor: a capture forbids to ask the driver for memory, unless the thread says that it may") {
  CHECK(fault_of([] {
          const auto wants = [](cudaError_t got, cudaError_t wanted, const char* what) {
            if (got != wanted) violation(std::string(what) + ": " + std::to_string(got));
          };
          const cudaStream_t a = new_stream();
          void* x = nullptr;
          cudaGraph_t graph = nullptr;
          for (const auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal}) {
            wants(cudaStreamBeginCapture(a, mode), cudaSuccess, "begin");
            wants(cudaMalloc(&x, 16), cudaErrorStreamCaptureUnsupported, "memory in a capture");
            wants(cudaStreamEndCapture(a, &graph), cudaErrorStreamCaptureInvalidated, "a spoilt capture ended");
            wants(cudaStreamBeginCapture(a, mode), cudaSuccess, "begin");
            wants(cudaHostAlloc(&x, 16, 0), cudaErrorStreamCaptureUnsupported, "pinned memory in a capture");
            wants(cudaStreamEndCapture(a, &graph), cudaErrorStreamCaptureInvalidated, "a spoilt capture ended");

            wants(cudaStreamBeginCapture(a, mode), cudaSuccess, "begin");
            cudaStreamCaptureMode relaxed = cudaStreamCaptureModeRelaxed;
            cudaThreadExchangeStreamCaptureMode(&relaxed);
            wants(cudaMalloc(&x, 16), cudaSuccess, "memory where it may");
            cudaThreadExchangeStreamCaptureMode(&relaxed);
            wants(cudaStreamEndCapture(a, &graph), cudaSuccess, "end");
          }
          wants(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed), cudaSuccess, "begin");
          wants(cudaMalloc(&x, 16), cudaSuccess, "memory in a relaxed capture");
          wants(cudaStreamEndCapture(a, &graph), cudaSuccess, "end");

          // Another thread: only the mode for all forbids it.
          for (const auto mode : {cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeGlobal}) {
            wants(cudaStreamBeginCapture(a, mode), cudaSuccess, "begin");
            std::thread([&] {
              const bool forbidden = mode == cudaStreamCaptureModeGlobal;
              wants(cudaMalloc(&x, 16), forbidden ? cudaErrorStreamCaptureUnsupported : cudaSuccess, "another thread");
            }).join();
            cudaStreamEndCapture(a, &graph);
          }
        }) == "");
}

TEST_CASE("executor: errors on demand, for one call or for all after it") {
  CHECK(fault_of([] {
          ask_for_fault("cudaStreamSynchronize@2:719!");
          ask_for_fault("cudaMalloc@3:2");
          const auto wants = [](cudaError_t got, cudaError_t wanted) {
            if (got != wanted) violation("another error: " + std::to_string(got));
          };
          void* x = nullptr;
          wants(cudaMalloc(&x, 8), cudaSuccess);
          wants(cudaMalloc(&x, 8), cudaSuccess);
          wants(cudaMalloc(&x, 8), cudaErrorMemoryAllocation);
          wants(cudaGetLastError(), cudaErrorMemoryAllocation);
          wants(cudaGetLastError(), cudaSuccess);
          wants(cudaMalloc(&x, 8), cudaSuccess);
          wants(cudaStreamSynchronize(nullptr), cudaSuccess);
          wants(cudaStreamSynchronize(nullptr), cudaErrorLaunchFailure);
          wants(cudaMalloc(&x, 8), cudaErrorLaunchFailure);
          wants(cudaFree(x), cudaErrorLaunchFailure);
        }) == "");
  CHECK(fault_of([] {
          ask_for_fault("*@3:999");
          int device = 0;
          if (cudaGetDevice(&device) || cudaSetDevice(1) || cudaGetDevice(&device) != cudaErrorUnknown)
            violation("the third call went well");
          if (cudaGetDevice(&device)) violation("the fourth did not");
        }) == "");
}

}  // namespace tessera_executor::testing

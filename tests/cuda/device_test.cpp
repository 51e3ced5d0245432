// The host side of the CUDA plugin: memory, streams, events, pinned memory, graphs, errors. It needs the plugin that the host
// executor is (TESSERA_CUDA_PLUGIN=.../libtessera_cuda_executor.so); without one every case says that it is left out. Cases
// marked as children need options of the executor and are run in processes of their own, by those that say so.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>

#include "runtime/context.h"
#include "runtime/device/accelerator_error.h"
#include "runtime/device/backend.h"
#include "runtime/device/calls.h"
#include "runtime/device/generator.h"
#include "runtime/device/memory.h"
#include "runtime/error.h"
#include "runtime/ops.h"
#include "runtime/ops/pinned.h"
#include "runtime/ops/pointwise_functions.h"
#include "runtime/ops/pointwise_ids.h"

using namespace tessera::tensor;

namespace {

const Device kFirst(DeviceType::Cuda, 0), kSecond(DeviceType::Cuda, 1);
constexpr size_t kMega = size_t(1) << 20;

const DeviceBackend* found() {
  const DeviceBackend* backend = device_backend(DeviceType::Cuda);
  if (backend != nullptr && backend->device_count() >= 2) return backend;
  MESSAGE("left out: no plugin with two devices (TESSERA_CUDA_PLUGIN)");
  return nullptr;
}
#define NEEDS_DEVICES()                      \
  const DeviceBackend* const cuda = found(); \
  if (cuda == nullptr) return

MemoryStats stats_of(Device device) {
  MemoryStats stats;
  device_backend(DeviceType::Cuda)->memory_stats(device, stats);
  return stats;
}
int64_t held(Device device) { return stats_of(device).allocated_bytes[0].current; }
int64_t asked_driver(Device device) { return stats_of(device).device_allocs; }

struct OnStream {
  OnStream(Device device, StreamHandle stream) : device(device), before(current_stream(device)) {
    set_current_stream(device, stream);
  }
  ~OnStream() { set_current_stream(device, before); }
  Device device;
  StreamHandle before;
};

void* take(Device device, StreamHandle stream, size_t bytes) {
  return device_backend(DeviceType::Cuda)->allocate(device, stream, bytes);
}
void give(Device device, void* block) { device_backend(DeviceType::Cuda)->release(device, nullptr, block, 0); }

Tensor numbers(int64_t n, Device device = kCpu) { return to_device(arange(0, n, 1, kFloat32), device); }
bool same(const Tensor& a, const Tensor& b) { return all(eq(to_device(a, kCpu), to_device(b, kCpu))).item().to_bool(); }

// Runs the case of that name in a new process under options of the executor; its exit status, and what it printed.
int run_child(const std::string& name, const std::string& options, std::string* printed = nullptr) {
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self);
  const std::string command = "TESSERA_EXECUTOR='" + options + "' timeout 120 '" + std::string(self, size_t(length)) +
                              "' --no-skip --no-intro --test-case='" + name + "' 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  char line[512];
  while (std::fgets(line, sizeof line, pipe) != nullptr) text += line;
  if (printed != nullptr) *printed = text;
  const int status = pclose(pipe);
  if (status != 0) std::printf("%s under %s:\n%s", name.c_str(), options.c_str(), text.c_str());
  return status;
}

}  // namespace

TEST_CASE("a block given back is the stream's again at once, and no other stream's") {
  NEEDS_DEVICES();
  const StreamHandle one = cuda->take_stream(kFirst, 0), other = cuda->take_stream(kFirst, 0);
  CHECK(one != other);
  void* const block = take(kFirst, one, 3000);
  give(kFirst, block);
  void* const elsewhere = take(kFirst, other, 3000);
  CHECK(elsewhere != block);
  void* const again = take(kFirst, one, 2900);  // rounded to the same
  CHECK(again == block);
  CHECK(cuda->block_bytes(kFirst, again) == 3072);
  CHECK(cuda->block_bytes(kFirst, static_cast<char*>(again) + 512) == 0);
  give(kFirst, again), give(kFirst, elsewhere);
}

TEST_CASE("blocks are cut from segments and merged again") {
  NEEDS_DEVICES();
  const StreamHandle stream = cuda->take_stream(kSecond, 0);
  cuda->trim(kSecond);
  const int64_t reserved = stats_of(kSecond).reserved_bytes[0].current, before = held(kSecond);
  char* const a = static_cast<char*>(take(kSecond, stream, 1000));
  char* const b = static_cast<char*>(take(kSecond, stream, 1000));
  CHECK(b == a + 1024);
  CHECK(stats_of(kSecond).reserved_bytes[0].current == reserved + int64_t(2 * kMega));
  CHECK(held(kSecond) == before + 2048);
  CHECK(stats_of(kSecond).inactive_split[0].current >= 1);
  give(kSecond, a), give(kSecond, b);
  CHECK(held(kSecond) == before);
  // The whole segment serves a block that neither of the two could have held.
  size_t bytes = kMega;
  char* const whole = static_cast<char*>(cuda->allocate(kSecond, stream, bytes));
  CHECK(whole >= a);
  CHECK(whole < a + 2 * kMega);
  give(kSecond, whole);
  char* const large = static_cast<char*>(take(kSecond, stream, 3 * kMega));  // of a segment of 20 MiB
  CHECK(stats_of(kSecond).reserved_bytes[MemoryStats::Large].current == int64_t(20 * kMega));
  CHECK(stats_of(kSecond).requested_bytes[MemoryStats::Large].current == int64_t(3 * kMega));
  give(kSecond, large);
  cuda->trim(kSecond);
  CHECK(stats_of(kSecond).reserved_bytes[0].current == reserved);
  CHECK(stats_of(kSecond).inactive_split_bytes[0].current == 0);
  CHECK(stats_of(kSecond).inactive_split[0].current == 0);
}

TEST_CASE("a block that another stream uses waits for it") {
  NEEDS_DEVICES();
  const StreamHandle user = cuda->take_stream(kFirst, 0);
  Tensor x = numbers(5000, kFirst);
  void* const block = x.data_ptr();
  EventHandle ready = cuda->create_event(kFirst, {});
  cuda->record_event(kFirst, ready, nullptr);
  cuda->wait_event(kFirst, user, ready);
  Tensor y;
  {
    const OnStream here(kFirst, user);
    y = x + 1.0;
  }
  cuda->record_stream(kFirst, block, user);
  const int64_t active = stats_of(kFirst).active[0].current;
  x = Tensor();
  CHECK(stats_of(kFirst).active[0].current == active);  // until the other stream is done
  Tensor z = Tensor::empty({5000}, kFloat32, kFirst);
  CHECK(z.data_ptr() != block);
  cuda->synchronize_stream(kFirst, user);
  CHECK(same(y, numbers(5000) + 1.0));
  std::set<void*> given;
  std::vector<Tensor> kept;
  for (int k = 0; k < 3; k++) kept.push_back(Tensor::empty({5000}, kFloat32, kFirst)), given.insert(kept[k].data_ptr());
  CHECK(given.count(block) == 1);
  cuda->destroy_event(kFirst, ready);
}

TEST_CASE("a private pool keeps to itself") {
  NEEDS_DEVICES();
  const PoolId pool = cuda->create_pool();
  CHECK(pool);
  cuda->retain_pool(kFirst, pool);
  cuda->enter_pool(kFirst, pool);
  void* const mine = take(kFirst, nullptr, 7000);
  std::thread([&] {
    void* const theirs = take(kFirst, nullptr, 7000);  // another thread is not in the pool
    CHECK(std::abs(static_cast<char*>(theirs) - static_cast<char*>(mine)) >= ptrdiff_t(2 * kMega));
    give(kFirst, theirs);
  }).join();
  cuda->leave_pool(kFirst, pool);
  give(kFirst, mine);
  void* const common = take(kFirst, nullptr, 7000);
  CHECK(common != mine);
  cuda->enter_pool(kFirst, pool);
  CHECK(take(kFirst, nullptr, 7000) == mine);
  cuda->leave_pool(kFirst, pool);
  int in_pool = 0;
  const auto count = [](void* to, const MemorySegment& segment) {
    if (segment.pool) ++*static_cast<int*>(to);
  };
  cuda->memory_snapshot(kFirst, {count, &in_pool});
  CHECK(in_pool == 1);
  give(kFirst, mine), give(kFirst, common);
  cuda->trim(kFirst);
  in_pool = 0;
  cuda->memory_snapshot(kFirst, {count, &in_pool});
  CHECK(in_pool == 1);  // somebody holds the pool
  cuda->release_pool(kFirst, pool);
  cuda->trim(kFirst);
  in_pool = 0;
  cuda->memory_snapshot(kFirst, {count, &in_pool});
  CHECK(in_pool == 0);
}

TEST_CASE("a warm step asks the driver for nothing") {
  NEEDS_DEVICES();
  const auto step = [] {
    const Tensor x = numbers(70000, kFirst);
    const Tensor y = x * x + 1.0;
    return sum(y - x).item().to_double();
  };
  const double first = step();
  step();
  const int64_t before = asked_driver(kFirst);
  for (int k = 0; k < 5; k++) CHECK(step() == first);
  CHECK(asked_driver(kFirst) == before);
}

TEST_CASE("statistics add up and peaks can be reset") {
  NEEDS_DEVICES();
  cuda->reset_memory_stats(kSecond, true, true);
  const MemoryStats before = stats_of(kSecond);
  CHECK(before.allocation[0].peak == before.allocation[0].current);
  CHECK(before.allocation[0].allocated == 0);
  {
    const Tensor a = numbers(1000, kSecond), b = numbers(400000, kSecond);
    const MemoryStats now = stats_of(kSecond);
    CHECK(now.allocation[MemoryStats::Small].current == before.allocation[MemoryStats::Small].current + 1);
    CHECK(now.allocation[MemoryStats::Large].current == before.allocation[MemoryStats::Large].current + 1);
    CHECK(now.requested_bytes[0].current == before.requested_bytes[0].current + 1604000);
  }
  const MemoryStats after = stats_of(kSecond);
  CHECK(after.allocated_bytes[0].current == before.allocated_bytes[0].current);
  CHECK(after.allocated_bytes[0].peak >= before.allocated_bytes[0].current + 1604000);
  CHECK(after.allocation[0].freed == after.allocation[0].allocated);
  size_t total = 0;
  cuda->memory_snapshot(kSecond, {[](void* to, const MemorySegment& segment) {
                                    size_t bytes = 0;
                                    for (size_t k = 0; k < segment.count; k++) bytes += segment.blocks[k].bytes;
                                    CHECK(bytes == segment.total);
                                    *static_cast<size_t*>(to) += bytes;
                                  },
                                  &total});
  CHECK(int64_t(total) == after.reserved_bytes[0].current);
}

TEST_CASE("copies between devices come in order, there and back") {
  NEEDS_DEVICES();
  CHECK(cuda->can_access_peer(kFirst, kSecond));
  for (int k = 0; k < 5; k++) {
    Tensor x = numbers(3000, kFirst) + double(k);
    const Tensor there = to_device(x, kSecond);
    fill_(x, 0);  // after the copy, though on the other device's stream
    x = Tensor();
    const Tensor back = to_device(there * 2.0, kFirst);
    CHECK(same(back, (numbers(3000) + double(k)) * 2.0));
  }
}

TEST_CASE("the current device is what an index that is left out means") {
  NEEDS_DEVICES();
  Context context;
  const ContextScope scope(context);
  CHECK(resolve_device(Device(DeviceType::Cuda)) == kFirst);
  context.streams.device = 1;
  CHECK(resolve_device(Device(DeviceType::Cuda)) == kSecond);
  CHECK(Tensor::empty({3}, kFloat32, Device(DeviceType::Cuda)).device() == kSecond);
  CHECK_THROWS_WITH_AS(resolve_device(Device(DeviceType::Cuda, 2)),
                       "CUDA error: invalid device ordinal\nGPU device may be out of range, do you have enough GPUs?",
                       AcceleratorError);
}

TEST_CASE("host threads hand tensors to each other") {
  NEEDS_DEVICES();
  const SharedCounts shared;
  Tensor x = to_device(arange(0, 4000, 1, kInt32), kFirst);
  for (int k = 0; k < 8; k++) {
    Tensor next;
    std::thread([&, mine = std::move(x)] { next = mine + 1; }).join();
    x = std::move(next);
  }
  CHECK(same(x, arange(8, 4008, 1, kInt32)));
}

TEST_CASE("of an op's parameters no more is read than there is") {
  NEEDS_DEVICES();
  const size_t page = size_t(sysconf(_SC_PAGESIZE));
  char* const pages =
      static_cast<char*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(mprotect(pages + page, page, PROT_NONE) == 0);
  const Scalar* const last = new (pages + page - sizeof(Scalar)) Scalar(2);
  const Tensor x = to_device(arange(0, 5, 1, kInt32), kFirst), out = Tensor::empty({5}, kInt32, kFirst);
  const Tensor* operands[] = {&out, &x};
  Loop loop;
  make_loop(loop, operands, 2);
  pointwise_kernel(kFirst, PointwiseCall{pointwise::k_clamp_min, kInt32, loop, last});
  CHECK(same(out, maximum(arange(0, 5, 1, kInt32), 2)));
  munmap(pages, 2 * page);
}

TEST_CASE("many threads take and give at once") {
  NEEDS_DEVICES();
  const int64_t before = held(kFirst);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++)
    threads.emplace_back([t] {
      std::vector<void*> mine;
      unsigned random = unsigned(t) * 77 + 1;
      for (int k = 0; k < 3000; k++) {
        random = random * 1664525 + 1013904223;
        if (mine.size() > 20 || (random >> 30 == 0 && !mine.empty())) {
          give(kFirst, mine[(random >> 8) % mine.size()]);
          mine.erase(mine.begin() + ptrdiff_t((random >> 8) % mine.size()));
        } else {
          mine.push_back(take(kFirst, nullptr, (random >> 12) % 200000));
        }
      }
      for (void* block : mine) give(kFirst, block);
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(held(kFirst) == before);
  cuda->trim(kFirst);
}

TEST_CASE("streams have priorities, events times") {
  NEEDS_DEVICES();
  const StreamPriorities all = cuda->stream_priorities();
  CHECK(all.least == 0);
  CHECK(all.greatest < 0);
  CHECK(cuda->stream_priority(kFirst, cuda->take_stream(kFirst, -1)) == -1);
  CHECK(cuda->stream_priority(kFirst, cuda->take_stream(kFirst, 0)) == 0);
  CHECK(cuda->stream_priority(kFirst, cuda->take_stream(kFirst, -100)) == std::max(all.greatest, -7));
  std::set<StreamHandle> lent;
  for (int k = 0; k < 100; k++) lent.insert(cuda->take_stream(kFirst, 0));
  CHECK(lent.size() == 32);
  EventHandle from = cuda->create_event(kFirst, {.timed = true}), to = cuda->create_event(kFirst, {.timed = true});
  cuda->record_event(kFirst, from, nullptr);
  const Tensor x = numbers(100, kFirst) + 1.0;
  cuda->record_event(kFirst, to, nullptr);
  cuda->synchronize_event(kFirst, to);
  CHECK(cuda->event_done(kFirst, from));
  CHECK(cuda->elapsed_ms(kFirst, from, to) >= 0);
  cuda->destroy_event(kFirst, from), cuda->destroy_event(kFirst, to);
  EventHandle untimed = cuda->create_event(kFirst, {});
  cuda->record_event(kFirst, untimed, nullptr);
  cuda->synchronize_event(kFirst, untimed);
  CHECK_THROWS_AS(cuda->elapsed_ms(kFirst, untimed, untimed), TensorError);
  cuda->destroy_event(kFirst, untimed);
}

TEST_CASE("pinned memory is given out again when its copies are done") {
  NEEDS_DEVICES();
  PinnedStats stats;
  Tensor x = pin_memory(numbers(3000));
  CHECK(is_pinned(x));
  CHECK(!is_pinned(numbers(3000)));
  CHECK(pin_memory(x).same(x));
  void* const block = x.data_ptr();
  Tensor there = Tensor::empty({3000}, kFloat32, kFirst);
  copy_without_waiting(there, x);
  x = Tensor();
  Tensor y = empty_pinned({3000}, kFloat32);  // the copy has not been made yet
  CHECK(y.data_ptr() != block);
  fill_(y, -1);
  CHECK(same(there, numbers(3000)));
  y = Tensor();
  const Tensor a = empty_pinned({3000}, kFloat32), b = empty_pinned({3000}, kFloat32);
  CHECK((a.data_ptr() == block || b.data_ptr() == block));
  cuda->pinned_stats(stats);
  CHECK(stats.active.current >= 2);
  const Tensor down = to_without_waiting(there + 1.0, kFloat32, kCpu, false);
  CHECK(is_pinned(down));
  synchronize(kFirst);
  CHECK(same(down, numbers(3000) + 1.0));
  // Pageable memory may change as soon as the call is back.
  Tensor large = numbers(50000);
  const Tensor up = to_without_waiting(large, kFloat32, kFirst, false);
  fill_(large, 0);
  CHECK(same(up, numbers(50000)));
  CHECK_THROWS_WITH_AS(pin_memory(up), "cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned",
                       TensorError);
}

TEST_CASE("a graph replays into the memory that it was captured with, and keeps it") {
  NEEDS_DEVICES();
  const StreamHandle stream = cuda->take_stream(kFirst, 0);
  Tensor in = numbers(2000, kFirst), out;
  synchronize(kFirst);
  const PoolId pool = cuda->create_pool();
  GraphHandle graph;
  {
    const OnStream here(kFirst, stream);
    graph = cuda->begin_capture(kFirst, stream, pool, CaptureMode::Global);
    CHECK(cuda->capture_status(kFirst, stream) == CaptureStatus::Active);
    const Tensor twice = in * 2.0;
    out = twice + 1.0;
    cuda->end_capture(graph, false);
    CHECK(cuda->capture_status(kFirst, stream) == CaptureStatus::None);
  }
  void* const place = out.data_ptr();
  for (int k = 0; k < 3; k++) {
    copy_(in, numbers(2000) + double(k));
    synchronize(kFirst);
    cuda->replay_graph(graph, stream);
    cuda->synchronize_stream(kFirst, stream);
    CHECK(same(out, (numbers(2000) + double(k)) * 2.0 + 1.0));
  }
  const int64_t reserved = stats_of(kFirst).reserved_bytes[0].current;
  std::vector<Tensor> others;
  for (int k = 0; k < 20; k++) others.push_back(Tensor::empty({2000}, kFloat32, kFirst));
  for (const Tensor& other : others) CHECK(other.data_ptr() != place);
  out = Tensor();
  cuda->trim(kFirst);
  CHECK(stats_of(kFirst).reserved_bytes[0].current <= reserved);
  cuda->replay_graph(graph, stream);  // its memory is still there though nobody holds a tensor of it
  cuda->synchronize_stream(kFirst, stream);
  cuda->destroy_graph(graph);
  others.clear();
  cuda->trim(kFirst);
  int in_pool = 0;
  cuda->memory_snapshot(kFirst, {[](void* to, const MemorySegment& segment) {
                                   if (segment.pool) ++*static_cast<int*>(to);
                                 },
                                 &in_pool});
  CHECK(in_pool == 0);
}

TEST_CASE("what a capture cannot hold is refused, and nothing stays behind") {
  NEEDS_DEVICES();
  const StreamHandle stream = cuda->take_stream(kFirst, 0);
  CHECK_THROWS_AS(cuda->begin_capture(kFirst, nullptr, cuda->create_pool(), CaptureMode::Global), TensorError);
  const Tensor x = numbers(100, kFirst);
  synchronize(kFirst);
  const OnStream here(kFirst, stream);
  GraphHandle graph = cuda->begin_capture(kFirst, stream, cuda->create_pool(), CaptureMode::Global);
  CHECK_THROWS_WITH_AS(
      to_device(numbers(100), kFirst),
      "Cannot copy between CPU and CUDA tensors during CUDA graph capture unless the CPU tensor is pinned. "
      "Please use tensor.pin_memory() or allocate the tensor with pin_memory=True.",
      TensorError);
  CHECK_THROWS_AS(sum(x).item(), TensorError);  // waits for what is not done
  CHECK_THROWS_AS(cuda->end_capture(graph, false), TensorError);
  CHECK(cuda->capture_status(kFirst, stream) == CaptureStatus::None);
  CHECK(same(x + 1.0, numbers(100) + 1.0));
}

TEST_CASE("pinned memory that a graph copies from is nobody else's") {
  NEEDS_DEVICES();
  const StreamHandle stream = cuda->take_stream(kFirst, 0);
  Tensor x = pin_memory(numbers(1234));
  const Tensor there = Tensor::empty({1234}, kFloat32, kFirst);
  synchronize(kFirst);
  void* const block = x.data_ptr();
  GraphHandle graph;
  {
    const OnStream here(kFirst, stream);
    graph = cuda->begin_capture(kFirst, stream, cuda->create_pool(), CaptureMode::Global);
    copy_without_waiting(there, x);
    x = Tensor();
    cuda->end_capture(graph, false);
  }
  std::vector<Tensor> others;
  for (int k = 0; k < 4; k++) others.push_back(empty_pinned({1234}, kFloat32));
  for (const Tensor& other : others) CHECK(other.data_ptr() != block);
  cuda->replay_graph(graph, stream);
  cuda->synchronize_stream(kFirst, stream);
  CHECK(same(there, numbers(1234)));
  cuda->destroy_graph(graph);
}

TEST_CASE("random places in a graph are filled in at each replay") {
  DeviceGenerator generator;
  generator.manual_seed(5);
  generator.take(4);
  uint64_t words[2] = {5, 100};
  generator.begin_capture(words);
  const RandomState a = generator.take(8), b = generator.take(1);
  CHECK(a.replayed == words);
  CHECK(b.now().offset == 108);
  CHECK(b.now().seed == 5);
  CHECK(generator.end_capture() == 12);
  CHECK(generator.take(1).offset == 4);  // the capture drew nothing
}

// ---- in processes of their own ----

TEST_CASE("child: when memory is over" * doctest::skip()) {
  NEEDS_DEVICES();
  const int64_t before = held(kFirst);
  void* const first = take(kFirst, nullptr, 30 * kMega);
  give(kFirst, first);
  void* const second = take(kFirst, nullptr, 40 * kMega);  // only if the first one's segment goes back
  CHECK(stats_of(kFirst).alloc_retries == 1);
  CHECK(stats_of(kFirst).ooms == 0);
  std::string message, notes;
  try {
    Tensor::empty({10 << 20}, kFloat32, kFirst);
  } catch (const TensorError& error) {
    CHECK(error.kind() == TensorErrorKind::OutOfMemory);
    message = error.message();
    for (const std::string& note : error.notes()) notes += note + "\n";
  }
  CHECK(
      message.starts_with("CUDA out of memory. Tried to allocate 40.00 MiB. GPU 0 has a total capacity of 64.00 MiB of "
                          "which "));
  CHECK(notes.find("40.00 MiB in 1 block\n") != std::string::npos);
  CHECK(stats_of(kFirst).ooms == 1);
  give(kFirst, second);
  CHECK(sum(numbers(1000, kFirst)).item().to_double() == 499500);
  CHECK_THROWS_WITH_AS(take(kFirst, nullptr, size_t(1) << 61),
                       "CUDA out of memory. Tried to allocate more than 1EB memory.", TensorError);
  cuda->trim(kFirst);
  cuda->limit_memory(kFirst, 10 * kMega);
  CHECK_THROWS_AS(take(kFirst, nullptr, 12 * kMega), TensorError);
  cuda->limit_memory(kFirst, 0);
  give(kFirst, take(kFirst, nullptr, 12 * kMega));
  CHECK(held(kFirst) == before);
}

TEST_CASE("memory that is over: one retry, PyTorch's text, and what holds it") {
  NEEDS_DEVICES();
  CHECK(run_child("child: when memory is over", "memory=64M") == 0);
}

// A little of everything; what it throws must be one clear error.
static int work(const DeviceBackend* cuda) {
  int errors = 0;
  const auto agree = [](const Tensor& a, const Tensor& b) {  // CHECK itself would catch what is thrown
    const bool right = same(a, b);
    CHECK(right);
  };
  const auto attempt = [&](const auto& f) {
    try {
      f();
    } catch (const TensorError& error) {
      errors++;
      const bool clear =
          error.message().starts_with("CUDA error: ") || error.message().starts_with("CUDA out of memory.");
      CHECK_MESSAGE(clear, error.message());
    }
  };
  attempt([&] { agree(numbers(100, kFirst) + 1.0, numbers(100) + 1.0); });
  attempt([&] { agree(to_device(numbers(100, kFirst), kSecond), numbers(100)); });
  attempt([&] { agree(pin_memory(numbers(20000)), numbers(20000)); });
  attempt([&] { agree(to_device(numbers(30000), kFirst), numbers(30000)); });
  attempt([&] {
    Tensor x = numbers(900, kFirst);
    const StreamHandle stream = cuda->take_stream(kFirst, 0);
    cuda->record_stream(kFirst, x.data_ptr(), stream);
    const EventHandle event = cuda->create_event(kFirst, {.timed = true});
    struct Destroy {
      ~Destroy() { backend->destroy_event(kFirst, event); }
      const DeviceBackend* backend;
      EventHandle event;
    } destroy{cuda, event};
    cuda->record_event(kFirst, event, nullptr);
    cuda->wait_event(kFirst, stream, event);
    cuda->synchronize_event(kFirst, event);
    cuda->event_done(kFirst, event);
    cuda->stream_done(kFirst, stream);
    cuda->synchronize_stream(kFirst, stream);
    cuda->elapsed_ms(kFirst, event, event);
  });
  attempt([&] {
    const StreamHandle stream = cuda->take_stream(kFirst, 0);
    const Tensor x = numbers(10, kFirst);
    synchronize(kFirst);
    const OnStream here(kFirst, stream);
    const GraphHandle graph = cuda->begin_capture(kFirst, stream, cuda->create_pool(), CaptureMode::Global);
    Tensor y;
    try {
      y = x + 1.0;
    } catch (...) {
      try {
        cuda->end_capture(graph, false);
        cuda->destroy_graph(graph);
      } catch (const TensorError&) {}
      throw;
    }
    cuda->end_capture(graph, false);
    struct Destroy {
      ~Destroy() { backend->destroy_graph(graph); }
      const DeviceBackend* backend;
      GraphHandle graph;
    } destroy{cuda, graph};
    cuda->replay_graph(graph, stream);
    cuda->synchronize_stream(kFirst, stream);
    agree(y, numbers(10) + 1.0);
  });
  attempt([&] { synchronize(kFirst); });
  attempt([&] { cuda->trim(kFirst), cuda->trim_pinned(); });
  return errors;
}

TEST_CASE("child: one call fails" * doctest::skip()) {
  NEEDS_DEVICES();
  for (int round = 0; round < 3; round++) work(cuda);
  CHECK(work(cuda) == 0);  // what was asked for is over by now
  CHECK(held(kFirst) == 0);
  CHECK(held(kSecond) == 0);
}

TEST_CASE("each call of the driver may fail: one clear error, no leak, and all is well afterwards") {
  NEEDS_DEVICES();
  const char* const functions[] = {"cudaMalloc",
                                   "cudaFree",
                                   "cudaMemGetInfo",
                                   "cudaHostAlloc",
                                   "cudaStreamCreate",
                                   "cudaStreamQuery",
                                   "cudaEventCreate",
                                   "cudaEventRecord",
                                   "cudaEventQuery",
                                   "cudaEventSynchronize",
                                   "cudaMemcpyAsync",
                                   "cudaLaunchKernel",
                                   "cudaStreamWaitEvent",
                                   "cudaMemsetAsync",
                                   "cudaStreamSynchronize",
                                   "cudaGraphLaunch",
                                   "cudaSetDevice",
                                   "cudaDeviceSynchronize",
                                   "cudaMemcpyPeerAsync",
                                   "cudaEventElapsedTime",
                                   "cudaGraphInstantiate",
                                   "cudaStreamBeginCapture",
                                   "cudaStreamEndCapture",
                                   "cudaDeviceEnablePeerAccess"};
  for (const char* function : functions)
    for (int call = 1; call <= 3; call++) {
      const char* error = std::string(function) == "cudaMalloc" && call == 2 ? ":2" : ":719";
      CHECK(run_child("child: one call fails", "fail=" + std::string(function) + "@" + std::to_string(call) + error) ==
            0);
    }
}

TEST_CASE("child: the device is lost" * doctest::skip()) {
  NEEDS_DEVICES();
  std::vector<Tensor> kept;
  for (int k = 0; k < 3; k++) {
    try {
      for (int step = 0; step < 20; step++) {
        kept.push_back(numbers(1000, kFirst) + 1.0);
        synchronize(kFirst);
      }
      FAIL("nothing was lost");
    } catch (const TensorError& error) {
      CHECK(error.kind() == TensorErrorKind::Runtime);
      CHECK(error.message().starts_with(
          "CUDA error: an illegal memory access was encountered\nSearch for `cudaErrorIllegalAddress' in "));
      CHECK(error.notes().size() == 2);
    }
  }
}

TEST_CASE("a device that is lost: the same clear error each time, and the program ends by itself") {
  NEEDS_DEVICES();
  CHECK(run_child("child: the device is lost", "fail=work@9:700!") == 0);
}

TEST_CASE("child: a write behind a block" * doctest::skip()) {
  NEEDS_DEVICES();
  const Tensor a = numbers(1000, kFirst), b = numbers(1000, kFirst);
  // A view that claims to be longer than its memory: its kernel writes on behind the block.
  const Tensor wrong = Tensor::from_blob(a.data_ptr(), {1001}, kFloat32, {}, kFirst);
  fill_(wrong, 7);
  synchronize(kFirst);
}

TEST_CASE("the executor sees where a tensor ends, within a segment") {
  NEEDS_DEVICES();
  std::string printed;
  const int status = run_child("child: a write behind a block", "", &printed);
  CHECK(WEXITSTATUS(status) == 86);
  CHECK(printed.find("of 4000 bytes (byte 4000)") != std::string::npos);
}

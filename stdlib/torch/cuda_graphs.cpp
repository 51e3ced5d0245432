// torch._cuda.Graph: work that was written down once and is given to the device as a whole; and private pools of memory.
//
// Random numbers in a graph: while it is captured the device's generator hands out places that count from 0, and kernels add
// what two words in the device's memory say. replay() fills these with the generator's own seed and place and moves it on, so
// that a replay draws what the same calls would have drawn.
// compile: small (the device takes longer)
#include <fcntl.h>

#include <cerrno>

#include "lang/core/files.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "runtime/device/backend.h"
#include "runtime/device/generator.h"
#include "runtime/device/memory.h"
#include "stdlib/python/native/support.h"
#include "stdlib/torch/cuda_module.h"

namespace tessera::stdlib {
namespace {

constexpr char kGraphLayout[] = "torch._cuda.Graph";

struct GraphObject : Object {
  Device device{DeviceType::Cuda};
  GraphHandle graph = nullptr;
  PoolId pool;
  bool keep = false, capturing = false, ready = false;  // ready: it can be replayed
  Tensor place;                                         // the two words
  uint64_t drawn = 0;                                   // how far a replay draws
};

GraphObject& graph_of(const Value& v) {
  if (!has_layout(v, kGraphLayout)) throw Error(ErrorKind::TypeError, "a graph of torch.cuda is needed");
  return *object_cast<GraphObject>(v);
}

void let_go(GraphObject& g) {
  if (g.graph == nullptr) return;
  device_backend(DeviceType::Cuda)->destroy_graph(g.graph);
  g.graph = nullptr;
  g.ready = g.capturing = false;
  g.place = Tensor();
}

void destroy_graph_object(Interpreter& in, Object* self) {
  auto* const g = known_cast<GraphObject>(self);
  if (g->capturing) torch_state(in).context.generator(g->device).end_capture();
  let_go(*g);
  g->place.~Tensor();
  free_object(in, g);
}

Value make_graph(Interpreter& in, Type* type, const Args& args) {
  const bool keep = args.count > 0 && truth(in, args[0]);
  in_torch(in, std::span<const Value>(), [] { cuda_backend(); });
  auto* const g = make_object<GraphObject>(in, type);
  g->keep = keep;
  return Value::adopt(g);
}

PoolId pool_argument(Interpreter& in, const Value& v) {
  if (!is_tuple(v) || as_tuple(v)->size != 2) throw Error(ErrorKind::TypeError, "a pool is a pair of integers");
  const Value* items = as_tuple(v)->items;
  return {static_cast<uint64_t>(index(in, items[0])), static_cast<uint64_t>(index(in, items[1]))};
}
Value pool_value(Interpreter& in, PoolId pool) {
  return make_tuple(
      in, {Value::integer(static_cast<int64_t>(pool.first)), Value::integer(static_cast<int64_t>(pool.second))});
}

CaptureMode mode_argument(Interpreter& in, const Value& v) {
  const std::string_view mode = text_argument(in, v, "capture_error_mode");
  if (mode == "global") return CaptureMode::Global;
  if (mode == "thread_local") return CaptureMode::ThreadLocal;
  if (mode == "relaxed") return CaptureMode::Relaxed;
  throw Error(ErrorKind::RuntimeError,
              "Unknown capture error mode. Expected `global`, `thread_local`, or `relaxed`, got " + std::string(mode));
}

Value begin(Interpreter& in, const Args& args) {
  const CaptureMode mode = mode_argument(in, args[2]);
  in_torch(in, std::span<const Value>(), [&] {
    GraphObject& g = graph_of(args[0]);
    check(g.graph == nullptr, TensorErrorKind::Runtime,
          "This CUDAGraph instance already owns a captured graph. To capture a new graph, create a new instance.");
    g.device = cuda_argument(Value::none());
    const StreamHandle stream = current_stream(g.device);
    check(
        stream != nullptr, TensorErrorKind::Runtime,
        "CUDA graphs must be captured on a non-default stream. (However, after capture, it's ok to replay them on the "
        "default stream.)");
    const DeviceBackend& backend = cuda_backend();
    g.pool = args[1].is_none() ? backend.create_pool() : pool_argument(in, args[1]);
    g.place = Tensor::empty({2}, kInt64, g.device);
    g.graph = backend.begin_capture(g.device, stream, g.pool, mode);
    g.capturing = true;
    Context::current().generator(g.device).begin_capture(static_cast<const uint64_t*>(g.place.data_ptr()));
  });
  return Value::none();
}

Value end(Interpreter& in, const Args& args) {
  in_torch(in, std::span<const Value>(), [&] {
    GraphObject& g = graph_of(args[0]);
    check(g.capturing, TensorErrorKind::Runtime, "capture_end was called without a capture_begin");
    g.capturing = false;
    g.drawn = Context::current().generator(g.device).end_capture();
    const GraphHandle graph = std::exchange(g.graph, nullptr);  // destroyed when the capture was spoilt
    cuda_backend().end_capture(graph, g.keep);
    g.graph = graph;
    g.ready = !g.keep;
  });
  return Value::none();
}

Value instantiate(Interpreter& in, const Args& args) {
  in_torch(in, std::span<const Value>(), [&] {
    GraphObject& g = graph_of(args[0]);
    check(g.graph != nullptr && !g.capturing, TensorErrorKind::Runtime,
          "capture_end() must have been called before calling instantiate");
    cuda_backend().instantiate_graph(g.graph);
    g.ready = true;
  });
  return Value::none();
}

Value replay(Interpreter& in, const Args& args) {
  in_torch(in, std::span<const Value>(), [&] {
    GraphObject& g = graph_of(args[0]);
    check(g.graph != nullptr && !g.capturing, TensorErrorKind::Runtime,
          "Called CUDAGraph::replay without a preceding successful capture.");
    const DeviceBackend& backend = cuda_backend();
    if (!g.ready) backend.instantiate_graph(g.graph), g.ready = true;
    const StreamHandle stream = current_stream(g.device);
    if (g.drawn != 0) {
      const RandomState now = Context::current().generator(g.device).take(g.drawn);
      const uint64_t words[2] = {now.seed, now.offset};
      copy_bytes(g.place.data_ptr(), g.device, words, kCpu, sizeof words, false);
      backend.record_stream(g.device, g.place.data_ptr(), stream);
    }
    backend.replay_graph(g.graph, stream);
  });
  return Value::none();
}

Value reset(Interpreter& in, const Args& args) {
  in_torch(in, std::span<const Value>(), [&] { let_go(graph_of(args[0])); });
  return Value::none();
}

Value pool_of(Interpreter& in, const Args& args) {
  const GraphObject& g = graph_of(args[0]);
  if (g.graph == nullptr)
    throw Error(ErrorKind::RuntimeError, "Called CUDAGraph::pool() without a preceding successful capture.");
  return pool_value(in, g.pool);
}

// The file is opened as any other of the script's, within what the host grants; the driver gets its descriptor as a path.
Value write(Interpreter& in, const Args& args) {
  const std::string path = path_argument(in, args[1]);
  const GraphObject& g = graph_of(args[0]);
  if (g.graph == nullptr || g.capturing) throw Error(ErrorKind::RuntimeError, "there is no captured graph to write");
  Files& files = files_of(in);
  const int fd = files.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
  if (fd < 0) throw_os_error(in, errno, path);
  try {
    in_torch(in, std::span<const Value>(),
             [&] { cuda_backend().write_graph(g.graph, ("/proc/self/fd/" + std::to_string(fd)).c_str()); });
  } catch (...) {
    files.close(fd);
    throw;
  }
  files.close(fd);
  return Value::none();
}

// Whether the current stream's work is being written down.
Value is_capturing(Interpreter& in, const Args& args) {
  return in_torch(in, args, [] {
    const DeviceBackend* backend = device_backend(DeviceType::Cuda);
    if (backend == nullptr || backend->device_count() == 0) return Value::boolean(false);
    const Device device = cuda_argument(Value::none());
    return Value::boolean(backend->capture_status(device, current_stream(device)) != CaptureStatus::None);
  });
}

// pools ------------------------------------------------------------------------------------------------------------

Value create_pool(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] { return pool_value(in, cuda_backend().create_pool()); });
}

template <auto member>
Value on_pool(Interpreter& in, const Args& args) {
  in_torch(in, std::span<const Value>(),
           [&] { (cuda_backend().*member)(cuda_argument(args[0]), pool_argument(in, args[1])); });
  return Value::none();
}

}  // namespace

void add_cuda_graphs(Interpreter& in, Module& module) {
  Type* const type =
      in.new_type({.name = "Graph", .module = "torch._cuda", .size = sizeof(GraphObject), .flags = kFinalType});
  type->slots.layout = kGraphLayout;
  type->slots.destroy = destroy_graph_object;
  type->make = make_graph;
  set_member(in, module, "Graph", Value(type));
  const struct {
    const char* signature;
    NativeFn function;
  } rows[] = {
      {"graph_begin(graph, pool, mode)", begin},
      {"graph_end(graph)", end},
      {"graph_instantiate(graph)", instantiate},
      {"graph_replay(graph)", replay},
      {"graph_reset(graph)", reset},
      {"graph_pool(graph)", pool_of},
      {"graph_write(graph, path)", write},
      {"is_capturing()", is_capturing},
      {"create_pool()", create_pool},
      {"retain_pool(device, pool)", on_pool<&DeviceBackend::retain_pool>},
      {"release_pool(device, pool)", on_pool<&DeviceBackend::release_pool>},
      {"enter_pool(device, pool)", on_pool<&DeviceBackend::enter_pool>},
      {"leave_pool(device, pool)", on_pool<&DeviceBackend::leave_pool>},
  };
  for (const auto& row : rows) in.def(module, row.signature, "", row.function);
}

}  // namespace tessera::stdlib

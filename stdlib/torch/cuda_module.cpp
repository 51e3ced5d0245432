// Devices, streams and memory of torch.cuda.
// compile: small (the device takes longer)
#include "stdlib/torch/cuda_module.h"

#include <algorithm>
#include <string>

#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "runtime/device/backend.h"
#include "runtime/device/memory.h"
#include "runtime/device/sleep.h"
#include "runtime/ops/cudnn.h"
#include "stdlib/python/native/support.h"
#include "stdlib/torch/convert.h"

namespace tessera::stdlib {

Device cuda_argument(const Value& v) {
  if (!v.is_none() && !v.is_int()) throw Error(ErrorKind::TypeError, "a device's index is an int or None");
  return resolve_device(
      Device(DeviceType::Cuda, v.is_none() ? -1 : static_cast<int>(std::clamp<int64_t>(v.as_int(), -1, INT8_MAX))));
}

const DeviceBackend& cuda_backend() {
  resolve_device(Device(DeviceType::Cuda));
  return *device_backend(DeviceType::Cuda);
}

StreamHandle stream_argument(Interpreter& in, Device device, const Value& v) {
  const auto handle = reinterpret_cast<StreamHandle>(static_cast<uintptr_t>(index(in, v)));
  if (handle == nullptr) return handle;
  const auto& known = torch_state(in).cuda_streams;
  if (std::find(known.begin(), known.end(), std::pair(static_cast<int>(device.index), handle)) == known.end())
    throw Error(ErrorKind::ValueError, "stream " + std::to_string(reinterpret_cast<uintptr_t>(handle)) + " of " +
                                           device.str() + " is none that this program was given");
  return handle;
}

namespace {

Value bytes(size_t n) { return Value::integer(static_cast<int64_t>(n)); }
Value number(int64_t n) { return Value::integer(n); }
Value handle_value(const void* handle) {
  return Value::integer(static_cast<int64_t>(reinterpret_cast<uintptr_t>(handle)));
}

// devices ----------------------------------------------------------------------------------------------------------

Value device_count(Interpreter& in, const Args& args) {
  return in_torch(in, args, [] {
    const DeviceBackend* backend = device_backend(DeviceType::Cuda);
    return number(backend == nullptr ? 0 : backend->device_count());
  });
}

// Raises what PyTorch raises where there is no device.
Value check_device(Interpreter& in, const Args& args) {
  in_torch(in, args, [] { resolve_device(Device(DeviceType::Cuda)); });
  return Value::none();
}

Value is_built(Interpreter&, const Args&) { return Value::boolean(device_backend(DeviceType::Cuda) != nullptr); }

// Versions of the driver and of what the kernels were built with, and for what: 0, 0, '' without a plugin.
Value versions(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] {
    const DeviceBackend* backend = device_backend(DeviceType::Cuda);
    if (backend == nullptr) return make_tuple(in, {number(0), number(0), make_str(in, "")});
    return make_tuple(in, {number(backend->driver_version()), number(backend->runtime_version()),
                           make_str(in, backend->arch_list())});
  });
}

// cuDNN's version, or 0 and why it cannot be used.
Value cudnn_version(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] {
    const char* why = "";
    const int version = tensor::cudnn_version(why);
    return make_tuple(in, {number(version), make_str(in, version == 0 ? why : "")});
  });
}

Value set_cudnn(Interpreter& in, const Args& args) {
  const int64_t limit = std::clamp<int64_t>(int_argument(in, args[2]), 0, 1 << 20);
  in_torch(in, args, [&] {
    tensor::set_cudnn({args[0].as_bool(), args[1].as_bool(), args[3].as_bool(), static_cast<int>(limit)});
  });
  return Value::none();
}

Value current_device(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] { return number(cuda_argument(Value::none()).index); });
}

Value set_device(Interpreter& in, const Args& args) {
  in_torch(in, args, [&] { Context::current().streams.device = cuda_argument(args[0]).index; });
  return Value::none();
}

// Name, numbers in the order of torch.cuda._properties, uuid.
Value properties(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] {
    DeviceProperties p;
    cuda_backend().properties(cuda_argument(args[0]), p);
    static constexpr char kHex[] = "0123456789abcdef";
    std::string uuid;
    for (int k = 0; k < 16; k++) {
      if (k == 4 || k == 6 || k == 8 || k == 10) uuid += '-';
      uuid += kHex[p.uuid[k] >> 4], uuid += kHex[p.uuid[k] & 15];
    }
    return make_tuple(in, {make_str(in, p.name),
                           number(p.major),
                           number(p.minor),
                           bytes(p.total_memory),
                           number(p.multiprocessors),
                           number(p.warp_size),
                           number(p.threads_per_block),
                           number(p.threads_per_multiprocessor),
                           number(p.registers_per_multiprocessor),
                           bytes(p.shared_per_block),
                           bytes(p.shared_per_block_optin),
                           bytes(p.shared_per_multiprocessor),
                           bytes(p.l2_bytes),
                           number(p.clock_khz),
                           number(p.memory_clock_khz),
                           number(p.memory_bus_bits),
                           number(p.pci_bus),
                           number(p.pci_device),
                           number(p.pci_domain),
                           Value::boolean(p.integrated),
                           Value::boolean(p.multi_gpu_board),
                           make_str(in, uuid)});
  });
}

Value can_access_peer(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] {
    return Value::boolean(cuda_backend().can_access_peer(cuda_argument(args[0]), cuda_argument(args[1])));
  });
}

Value synchronize_device(Interpreter& in, const Args& args) {
  in_torch(in, args, [&] { synchronize(cuda_argument(args[0])); });
  return Value::none();
}

Value sleep_device(Interpreter& in, const Args& args) {
  in_torch(in, args, [&] { tensor::sleep_kernel(cuda_argument(Value::none()), {int_argument(in, args[0])}); });
  return Value::none();
}

Value set_sync_debug(Interpreter& in, const Args& args) {
  torch_state(in).context.sync_debug = static_cast<Context::SyncDebug>(int_argument(in, args[0]));
  return Value::none();
}
Value get_sync_debug(Interpreter& in, const Args&) {
  return number(static_cast<int64_t>(torch_state(in).context.sync_debug));
}

// streams ----------------------------------------------------------------------------------------------------------

Value take_stream(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] {
    const Device device = cuda_argument(args[0]);
    const StreamHandle made = cuda_backend().take_stream(device, static_cast<int>(int_argument(in, args[1])));
    auto& known = torch_state(in).cuda_streams;
    const std::pair entry(static_cast<int>(device.index), made);
    if (std::find(known.begin(), known.end(), entry) == known.end()) known.push_back(entry);
    return handle_value(made);
  });
}

Value stream_priority(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] {
    const Device device = cuda_argument(args[0]);
    return number(cuda_backend().stream_priority(device, stream_argument(in, device, args[1])));
  });
}

Value stream_priorities(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] {
    const StreamPriorities range = cuda_backend().stream_priorities();
    return make_tuple(in, {number(range.least), number(range.greatest)});
  });
}

Value get_stream(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] { return handle_value(current_stream(cuda_argument(args[0]))); });
}

Value set_stream(Interpreter& in, const Args& args) {
  in_torch(in, args, [&] {
    const Device device = cuda_argument(args[0]);
    set_current_stream(device, stream_argument(in, device, args[1]));
  });
  return Value::none();
}

Value stream_done(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] {
    const Device device = cuda_argument(args[0]);
    return Value::boolean(cuda_backend().stream_done(device, stream_argument(in, device, args[1])));
  });
}

Value synchronize_stream(Interpreter& in, const Args& args) {
  in_torch(in, args, [&] {
    const Device device = cuda_argument(args[0]);
    cuda_backend().synchronize_stream(device, stream_argument(in, device, args[1]));
    raise_reported(device);
  });
  return Value::none();
}

Value record_stream(Interpreter& in, const Args& args) {
  in_torch(in, args, [&] {
    const Tensor& t = expect_tensor(in, args[0], "tensor");
    const Device device = t.device();
    cuda_backend().record_stream(device, t.storage().data(), stream_argument(in, device, args[1]));
  });
  return Value::none();
}

// memory -----------------------------------------------------------------------------------------------------------

Value memory_info(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] {
    size_t free = 0, total = 0;
    cuda_backend().memory_info(cuda_argument(args[0]), free, total);
    return make_tuple(in, {bytes(free), bytes(total)});
  });
}

void add_stat(Interpreter& in, List* rows, const char* name, const MemoryStat* stat, int pools) {
  static constexpr const char* kPools[] = {"all", "small_pool", "large_pool"};
  for (int pool = 0; pool < pools; pool++) {
    const MemoryStat& s = stat[pool];
    list_append(in, rows,
                make_tuple(in, {make_str(in, name), pools == 1 ? Value::none() : make_str(in, kPools[pool]),
                                number(s.current), number(s.peak), number(s.allocated), number(s.freed)}));
  }
}

// [(name, pool, current, peak, allocated, freed)], and single numbers as (name, value).
Value memory_stats(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] {
    MemoryStats s;
    cuda_backend().memory_stats(cuda_argument(args[0]), s);
    const Value made = make_list(in);
    List* const rows = as_list(made);
    add_stat(in, rows, "allocation", s.allocation, 3);
    add_stat(in, rows, "segment", s.segment, 3);
    add_stat(in, rows, "active", s.active, 3);
    add_stat(in, rows, "inactive_split", s.inactive_split, 3);
    add_stat(in, rows, "allocated_bytes", s.allocated_bytes, 3);
    add_stat(in, rows, "reserved_bytes", s.reserved_bytes, 3);
    add_stat(in, rows, "active_bytes", s.active_bytes, 3);
    add_stat(in, rows, "inactive_split_bytes", s.inactive_split_bytes, 3);
    add_stat(in, rows, "requested_bytes", s.requested_bytes, 3);
    add_stat(in, rows, "oversize_allocations", &s.oversize_allocations, 1);
    add_stat(in, rows, "oversize_segments", &s.oversize_segments, 1);
    const std::pair<const char*, int64_t> numbers[] = {
        {"num_alloc_retries", s.alloc_retries},       {"num_ooms", s.ooms},
        {"num_sync_all_streams", s.sync_all_streams}, {"num_device_alloc", s.device_allocs},
        {"num_device_free", s.device_frees},          {"max_split_size", s.max_split_size}};
    for (const auto& [name, value] : numbers)
      list_append(in, rows, make_tuple(in, {make_str(in, name), number(value)}));
    return made;
  });
}

// The same of pinned memory of the host.
Value host_memory_stats(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] {
    PinnedStats s;
    cuda_backend().pinned_stats(s);
    const Value made = make_list(in);
    List* const rows = as_list(made);
    add_stat(in, rows, "allocation", &s.allocation, 1);
    add_stat(in, rows, "segment", &s.segment, 1);
    add_stat(in, rows, "active", &s.active, 1);
    add_stat(in, rows, "allocated_bytes", &s.allocated_bytes, 1);
    add_stat(in, rows, "reserved_bytes", &s.reserved_bytes, 1);
    add_stat(in, rows, "active_bytes", &s.active_bytes, 1);
    const std::pair<const char*, int64_t> numbers[] = {{"num_host_alloc", s.host_allocs},
                                                       {"num_host_free", s.host_frees},
                                                       {"host_alloc_time.total", s.alloc_time.total_us},
                                                       {"host_alloc_time.max", s.alloc_time.max_us},
                                                       {"host_alloc_time.min", s.alloc_time.min_us},
                                                       {"host_alloc_time.count", s.alloc_time.count},
                                                       {"host_free_time.total", s.free_time.total_us},
                                                       {"host_free_time.max", s.free_time.max_us},
                                                       {"host_free_time.min", s.free_time.min_us},
                                                       {"host_free_time.count", s.free_time.count}};
    for (const auto& [name, value] : numbers)
      list_append(in, rows, make_tuple(in, {make_str(in, name), number(value)}));
    return made;
  });
}

Value reset_memory_stats(Interpreter& in, const Args& args) {
  in_torch(in, args,
           [&] { cuda_backend().reset_memory_stats(cuda_argument(args[0]), truth(in, args[1]), truth(in, args[2])); });
  return Value::none();
}
Value reset_host_memory_stats(Interpreter& in, const Args& args) {
  in_torch(in, args, [&] { cuda_backend().reset_pinned_stats(truth(in, args[0]), truth(in, args[1])); });
  return Value::none();
}

// [(device, address, total, allocated, active, requested, stream, large, pool, [(address, bytes, requested, state)])]
Value memory_snapshot(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] {
    struct To {
      Interpreter& in;
      Value rows;
    } to{in, make_list(in)};
    const auto visit = [](void* given, const MemorySegment& s) {
      static constexpr const char* kStates[] = {"active_allocated", "active_awaiting_free", "inactive"};
      To& t = *static_cast<To*>(given);
      const Value blocks = make_list(t.in);
      for (size_t k = 0; k < s.count; k++) {
        const MemoryBlock& b = s.blocks[k];
        list_append(t.in, as_list(blocks),
                    make_tuple(t.in, {handle_value(b.address), bytes(b.bytes), bytes(b.requested),
                                      make_str(t.in, kStates[b.state])}));
      }
      const Value pool =
          make_tuple(t.in, {number(static_cast<int64_t>(s.pool.first)), number(static_cast<int64_t>(s.pool.second))});
      list_append(t.in, as_list(t.rows),
                  make_tuple(t.in, {number(s.device.index), handle_value(s.address), bytes(s.total), bytes(s.allocated),
                                    bytes(s.active), bytes(s.requested), handle_value(s.stream),
                                    Value::boolean(s.large), pool, blocks}));
    };
    cuda_backend().memory_snapshot(cuda_argument(args[0]), {visit, &to});
    return to.rows;
  });
}

Value empty_cache(Interpreter& in, const Args& args) {
  in_torch(in, args, [&] { cuda_backend().trim(cuda_argument(args[0])); });
  return Value::none();
}
Value empty_host_cache(Interpreter& in, const Args& args) {
  in_torch(in, args, [&] { cuda_backend().trim_pinned(); });
  return Value::none();
}

Value limit_memory(Interpreter& in, const Args& args) {
  in_torch(in, args, [&] {
    cuda_backend().limit_memory(cuda_argument(args[0]), static_cast<size_t>(int_argument(in, args[1])));
  });
  return Value::none();
}

}  // namespace

void fill_cuda(Interpreter& in, Module& module) {
  in.import("torch");
  const struct {
    const char* signature;
    NativeFn function;
  } rows[] = {
      {"device_count()", device_count},
      {"check()", check_device},
      {"is_built()", is_built},
      {"versions()", versions},
      {"cudnn_version()", cudnn_version},
      {"set_cudnn(enabled: bool, benchmark: bool, benchmark_limit: int, allow_tf32: bool)", set_cudnn},
      {"current_device()", current_device},
      {"set_device(device)", set_device},
      {"properties(device)", properties},
      {"can_access_peer(device, peer)", can_access_peer},
      {"synchronize(device)", synchronize_device},
      {"sleep(cycles)", sleep_device},
      {"set_sync_debug(mode)", set_sync_debug},
      {"get_sync_debug()", get_sync_debug},
      {"take_stream(device, priority)", take_stream},
      {"stream_priority(device, stream)", stream_priority},
      {"stream_priorities()", stream_priorities},
      {"get_stream(device)", get_stream},
      {"set_stream(device, stream)", set_stream},
      {"stream_done(device, stream)", stream_done},
      {"synchronize_stream(device, stream)", synchronize_stream},
      {"record_stream(tensor, stream)", record_stream},
      {"memory_info(device)", memory_info},
      {"memory_stats(device)", memory_stats},
      {"host_memory_stats()", host_memory_stats},
      {"reset_memory_stats(device, peaks, totals)", reset_memory_stats},
      {"reset_host_memory_stats(peaks, totals)", reset_host_memory_stats},
      {"memory_snapshot(device)", memory_snapshot},
      {"empty_cache(device)", empty_cache},
      {"empty_host_cache()", empty_host_cache},
      {"limit_memory(device, bytes)", limit_memory},
  };
  for (const auto& row : rows) in.def(module, row.signature, "", row.function);
  add_cuda_events(in, module);
  add_cuda_graphs(in, module);
  add_cuda_marks(in, module);
}

}  // namespace tessera::stdlib

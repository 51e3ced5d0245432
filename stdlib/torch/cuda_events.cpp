// torch._cuda.Event: a point in the work of a stream. It is made on the device of the stream that first records it.
// compile: small (the device takes longer)
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "runtime/device/backend.h"
#include "runtime/device/memory.h"
#include "stdlib/python/native/support.h"
#include "stdlib/torch/cuda_module.h"

namespace tessera::stdlib {
namespace {

constexpr char kEventLayout[] = "torch._cuda.Event";

struct EventObject : Object {
  EventOptions options;
  Device device{DeviceType::Cuda};
  EventHandle handle = nullptr;  // null: never recorded
};

void destroy_event(Interpreter& in, Object* self) {
  auto* const event = known_cast<EventObject>(self);
  if (event->handle != nullptr) device_backend(DeviceType::Cuda)->destroy_event(event->device, event->handle);
  free_object(in, event);
}

EventObject& event_of(const Value& v) {
  if (!has_layout(v, kEventLayout)) throw Error(ErrorKind::TypeError, "an event of torch.cuda is needed");
  return *object_cast<EventObject>(v);
}

Value make_event(Interpreter& in, Type* type, const Args& args) {
  auto* const event = make_object<EventObject>(in, type);
  const Value made = Value::adopt(event);
  event->options = {args.count > 0 && truth(in, args[0]), args.count > 1 && truth(in, args[1])};
  return made;
}

Value record(Interpreter& in, const Args& args) {
  in_torch(in, std::span<const Value>(), [&] {
    EventObject& event = event_of(args[0]);
    const Device device = cuda_argument(args[1]);
    const StreamHandle stream = stream_argument(in, device, args[2]);
    check(event.handle == nullptr || event.device == device, TensorErrorKind::Runtime, "Event device ",
          event.device.index, " does not match recording stream's device ", device.index, ".");
    if (event.handle == nullptr) {
      event.handle = cuda_backend().create_event(device, event.options);
      event.device = device;
    }
    cuda_backend().record_event(device, event.handle, stream);
  });
  return Value::none();
}

Value wait(Interpreter& in, const Args& args) {
  in_torch(in, std::span<const Value>(), [&] {
    const EventObject& event = event_of(args[0]);
    const Device device = cuda_argument(args[1]);
    if (event.handle != nullptr) cuda_backend().wait_event(device, stream_argument(in, device, args[2]), event.handle);
  });
  return Value::none();
}

Value query(Interpreter& in, const Args& args) {
  return in_torch(in, std::span<const Value>(), [&] {
    const EventObject& event = event_of(args[0]);
    return Value::boolean(event.handle == nullptr || cuda_backend().event_done(event.device, event.handle));
  });
}

Value synchronize_event(Interpreter& in, const Args& args) {
  in_torch(in, std::span<const Value>(), [&] {
    const EventObject& event = event_of(args[0]);
    if (event.handle == nullptr) return;
    cuda_backend().synchronize_event(event.device, event.handle);
    raise_reported(event.device);
  });
  return Value::none();
}

// Milliseconds between two events.
Value elapsed(Interpreter& in, const Args& args) {
  return in_torch(in, std::span<const Value>(), [&] {
    const EventObject &from = event_of(args[0]), &to = event_of(args[1]);
    check(from.options.timed && to.options.timed, TensorErrorKind::Value,
          "Both events must be created with argument 'enable_timing=True'.");
    check(from.handle != nullptr && to.handle != nullptr, TensorErrorKind::Value,
          "Both events must be recorded before calculating elapsed time.");
    const DeviceBackend& backend = cuda_backend();
    check(backend.event_done(from.device, from.handle) && backend.event_done(to.device, to.handle),
          TensorErrorKind::Value, "Both events must be completed before calculating elapsed time.");
    return Value::real(backend.elapsed_ms(from.device, from.handle, to.handle));
  });
}

// (device's index, handle), or None before it was recorded.
Value describe_event(Interpreter& in, const Args& args) {
  const EventObject& event = event_of(args[0]);
  if (event.handle == nullptr) return Value::none();
  return make_tuple(in, {Value::integer(event.device.index),
                         Value::integer(static_cast<int64_t>(reinterpret_cast<uintptr_t>(event.handle)))});
}

}  // namespace

void add_cuda_events(Interpreter& in, Module& module) {
  Type* const type =
      in.new_type({.name = "Event", .module = "torch._cuda", .size = sizeof(EventObject), .flags = kFinalType});
  type->slots.layout = kEventLayout;
  type->slots.destroy = destroy_event;
  type->make = make_event;
  set_member(in, module, "Event", Value(type));
  const struct {
    const char* signature;
    NativeFn function;
  } rows[] = {
      {"event_record(event, device, stream)", record},
      {"event_wait(event, device, stream)", wait},
      {"event_query(event)", query},
      {"event_synchronize(event)", synchronize_event},
      {"event_elapsed(start, end)", elapsed},
      {"event_describe(event)", describe_event},
  };
  for (const auto& row : rows) in.def(module, row.signature, "", row.function);
}

}  // namespace tessera::stdlib

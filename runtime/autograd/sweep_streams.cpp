// compile: small (runs once for a backward pass)
#include "runtime/autograd/sweep_streams.h"

#include <algorithm>

#include "runtime/device/backend.h"

namespace tessera::tensor {
namespace {

const DeviceBackend& backend() { return *device_backend(accelerator()); }

// On which stream of the device what runs for the node (null: the caller) runs. Between nodes the Context has the caller's.
StreamHandle stream_there(const Node* node, int device) {
  return node != nullptr && node->device == device ? node->stream : Context::current().streams.get(device);
}

void used_on(const Tensor& t, StreamHandle stream) {
  if (t.defined() && has_streams(t.device()) && t.numel() != 0)
    backend().record_stream(t.device(), t.storage().data(), stream);
}

}  // namespace

void OnStreamOf::enter(const Node& node) {
  CurrentStreams& streams = Context::current().streams;
  node_device_ = node.device;
  device_before_ = streams.device;
  stream_before_ = streams.get(node.device);
  streams.device = node.device;
  streams.set(node.device, node.stream);
}

void OnStreamOf::leave() {
  CurrentStreams& streams = Context::current().streams;
  streams.set(node_device_, stream_before_);
  streams.device = device_before_;
}

void SweepStreams::order(const Tensor& grad, const Node* from, const Node& to) {
  const Device device = grad.device();
  const StreamHandle made = stream_there(from, device.index), read = stream_there(&to, device.index);
  if (made == read) return;
  backend().order_streams(device, read, device, made);
  used_on(grad, read);
}

void SweepStreams::end_at(const Node& node, const TensorList& grads) {
  const StreamHandle callers = Context::current().streams.get(node.device);
  if (node.stream == callers) return;
  for (const Tensor& g : grads) used_on(g, callers);
  const bool known = std::any_of(ends_.begin(), ends_.end(), [&](const End& end) {
    return end.device == node.device && end.stream == node.stream;
  });
  if (!known) ends_.push_back({node.device, node.stream});
}

void SweepStreams::join() {
  for (const End& end : ends_) {
    const Device device(accelerator(), end.device);
    backend().order_streams(device, Context::current().streams.get(end.device), device, end.stream);
  }
  ends_.clear();
}

}  // namespace tessera::tensor

// What the entries of views share: how a derivative of numbers alone is written.
#pragma once

#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

constexpr uint32_t kViewMethod = kFunction | kMethod | kView;

/// The node of a view whose derivative keeps no tensor: undo(g) is the gradient of self.
template <class F>
CountedPtr<Node> view_node(const char* name, const Tensor& self, F undo) {
  return make_node(name, {&self}, Kept<0>{},
                   [undo = std::move(undo)](Sweep& s) { s.give(0, [&] { return undo(s.g()); }); });
}

/// g among zeros, in the place that `part` shows: the derivative of a view that leaves elements out.
template <class F>
Tensor placed(Ints shape, const Tensor& g, F&& part) {
  const Tensor all = zeros(shape, g.dtype(), g.device());
  copy_(part(all), g);
  return all;
}

}  // namespace tessera::tensor

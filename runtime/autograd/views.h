// Views that remember their base. A write through one changes the history of all relatives:
//
//   the base      its history becomes CopySlices: the old one outside the written part, the op's inside;
//   this view and
//   all others    notice by the storage's version, when somebody asks for their node, that theirs is stale, and
//                 become AsStrided views of the base again.
#pragma once

#include "runtime/autograd/node.h"

namespace tessera::tensor {

/// Gives a view whose storage has changed since its history was made a new one from its base.
void renew_view_history(const Tensor& view);

/// The node of any layout on the same storage: the derivative knows only where the elements lie.
CountedPtr<Node> as_strided_node(const Tensor& view, const Tensor& base, const char* name = "AsStridedBackward0");

}  // namespace tessera::tensor

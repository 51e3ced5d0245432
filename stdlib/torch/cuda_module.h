// torch._cuda: the native half of torch.cuda (stdlib/torch/cuda/*.tsr). It is filled when a program first names torch.cuda.
//
// Streams travel as the integers that torch.cuda.Stream.cuda_stream shows; only those that the backend gave are taken back,
// so that no script can make up an address. Events, graphs and pools are objects of their own, which let go what they hold.
#pragma once

#include "lang/objects/module.h"
#include "stdlib/torch/state.h"

namespace tessera::stdlib {

void fill_cuda(Interpreter& in, Module& module);

/// A device of CUDA from an index, or None for the current one; throws what PyTorch throws where there is none.
Device cuda_argument(const Value& v);
/// The device's backend; throws where there is none.
const DeviceBackend& cuda_backend();
/// A stream's handle from its integer. ValueError for one that the backend never gave.
StreamHandle stream_argument(Interpreter& in, Device device, const Value& v);

void add_cuda_events(Interpreter& in, Module& module);  // cuda_events.cpp
void add_cuda_graphs(Interpreter& in, Module& module);  // cuda_graphs.cpp
void add_cuda_marks(Interpreter& in, Module& module);   // cuda_marks.cpp

}  // namespace tessera::stdlib

// The calls of the agreement test: each sample of each entry in many forms, made from its text and its tensors. No op is named.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/ops/op.h"
#include "runtime/ops/samples.h"

namespace tessera::agreement {

using namespace tensor;

/// How a call is made of its arguments.
enum class Form { Function, Inplace, Out, Backward, OutElsewhere };

struct Call {
  const OpEntry* entry;
  Form form = Form::Function;
  std::string label;        // "add.Tensor(...): f[2], f[2] as float16"
  std::vector<OpArg> args;  // on the CPU
  std::vector<bool> stays;  // by tensor, in order: it stays on the CPU while the others are on the device
  bool mixed = false;       // such a call may be refused for having two devices
  int nearby = -1;          // the last bits of its numbers are others, in this pattern
};

/// f(tensor) takes the place of every tensor of a call.
std::vector<OpArg> replaced(std::vector<OpArg> args, const std::function<Tensor(const Tensor&)>& f);
TensorList tensors_in(const std::vector<OpArg>& args);
/// The same memory on another device: layout, gaps and offset included.
Tensor moved(const Tensor& t, Device device);

/// Calls visit for each call of the entry's samples. `depth` 0 is what a test can wait for, 1 has every dtype, 2 has each in every form.
void each_call(const OpEntry& entry, int depth, const std::function<void(const Call&)>& visit);

}  // namespace tessera::agreement

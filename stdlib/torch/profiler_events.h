// Events of torch.profiler: a tuple for each op, node of backward and named block, in a list that the script gets at the end.
//
// The list is the script's memory from the beginning, and counts to its limits. Nothing is noted, and nothing asked, before
// kProfiles is set among the modes of the thread.
#pragma once

#include <string_view>

#include "lang/objects/module.h"
#include "runtime/autograd/engine.h"
#include "stdlib/torch/state.h"
#include "stdlib/torch/torch_function.h"

namespace tessera::stdlib {

// An event for the length of a block, while somebody profiles: a call of an op, or of a method of Tensor that stands for one.
class NotedCall {
 public:
  NotedCall(Interpreter& in, std::string_view op, const Args& args, bool in_place = false) : state_(torch_state(in)) {
    if ((state_.modes & kProfiles) != 0) [[unlikely]]
      begin(in, op, args, in_place);
  }
  ~NotedCall() {
    if (event_ >= 0) [[unlikely]]
      end();
  }
  NotedCall(const NotedCall&) = delete;

 private:
  void begin(Interpreter& in, std::string_view op, const Args& args, bool in_place);
  void end();

  TorchState& state_;
  int64_t event_ = -1;
};

// x[...] and x[...] = y as events.
Value get_item_noted(Interpreter& in, const Value& self, const Value& key);
void set_item_noted(Interpreter& in, const Value& self, const Value& key, const Value& value);

// Notes the nodes of the sweeps that start in a block.
class NotedSweeps final : public tensor::NodeWatch {
 public:
  explicit NotedSweeps(Interpreter& in);
  ~NotedSweeps();
  NotedSweeps(const NotedSweeps&) = delete;
  int64_t begins(const tensor::Node& node) override;
  void ended(int64_t event) override;

 private:
  Interpreter& in_;
  tensor::NodeWatch* before_;
};

// The native half of torch.autograd.profiler.
void add_profiler_functions(Interpreter& in, Module& module);

}  // namespace tessera::stdlib

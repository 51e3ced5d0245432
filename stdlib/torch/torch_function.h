// __torch_function__: who is asked before an op, a method or an attribute of a tensor does its work.
//
// Asked are the modes that a program has entered (torch.overrides.TorchFunctionMode), innermost first, then the operands whose class derives
// from torch.Tensor, subclasses before their bases. nn.Parameter and its kin say that they do not want to be asked. What a class does not
// override, Tensor.__torch_function__ answers: it runs the function and makes the results instances of the class.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "stdlib/torch/state.h"

namespace tessera::stdlib {

// Bits of TorchState::modes, one for each who may stand at the door of ops (op_call.cpp). While none is set, a call takes the op's short way.
enum DoorMode : uint32_t {
  kAutocasts = 1,         // torch.autocast
  kHasSubclasses = 2,     // there is a class whose __torch_function__ is to be asked
  kHasFunctionModes = 4,  // a TorchFunctionMode is entered
  kProfiles = 8,          // torch.profiler notes what is called
  kVmaps = 16,            // torch.vmap runs: random numbers are each example's own
  kHasDispatchModes = 32,    // a TorchDispatchMode is entered
  kHasDispatchClasses = 64,  // there is a class whose __torch_dispatch__ is to be asked
  kHasSparse = 128,          // there are sparse tensors, whose calls torch._sparse answers: sparse_tensors.h
};
constexpr uint32_t kDispatches = kHasDispatchModes | kHasDispatchClasses;

// Whether a value is a tensor of a class that is to be asked.
inline bool asks_torch_function(const Value& v) {
  return v.is_object() && (v.as_object()->type->type_flags & kAsksFirst) != 0;
}

struct AskForm {
  bool with_keywords = false;  // a function written in Python in PyTorch, which hands an empty dict on
  bool is_operator = false;    // where nobody answers, the result is NotImplemented instead of a TypeError
};
// Lets those who are to be asked answer a call of `function` (torch.add, Tensor.add); false: there are none.
bool call_torch_function(Interpreter& in, TorchState& state, const Value& function, const Args& args, Value& result,
                         AskForm form = {});

// The same for the method of Tensor behind an operator or a builtin function of Python. Returns std::nullopt if no mode and no operand defines
// __torch_function__.
std::optional<Value> ask_at_door(Interpreter& in, std::string_view method, std::initializer_list<Value> operands,
                                 AskForm form = {});
inline std::optional<Value> ask(Interpreter& in, std::string_view method, std::initializer_list<Value> operands,
                                AskForm form = {}) {
  if (torch_state(in).modes == 0) [[likely]]
    return {};
  return ask_at_door(in, method, operands, form);
}

// Modes under which each call of an op carries PyTorch's name of the op.
constexpr uint32_t kNamesCalls = kProfiles | kDispatches;
// Modes under which an operator goes through call_op instead of its fast pointer.
constexpr uint32_t kNotShort = kAutocasts | kNamesCalls;

// The value with its tensors, in tuples and lists too, replaced by what `replace` makes of each.
Value replace_tensors(Interpreter& in, const TorchState& state, const Value& v,
                      const std::function<Value(const Value& tensor)>& replace);

// Makes an object of a class below Tensor that shares the given tensor.
Value as_instance(Interpreter& in, const Tensor& tensor, Type* type);

// Marks a class that derives from Tensor, and lets its attributes ask: TypeSlots::adjust.
void adjust_tensor_subclass(Interpreter& in, Type* type);

// The native half of torch._C.DisableTorchFunction and torch.overrides, and Tensor.__torch_function__.
void add_torch_function_functions(Interpreter& in, Module& module);
void add_torch_function_methods(Interpreter& in, Type* tensor);

}  // namespace tessera::stdlib

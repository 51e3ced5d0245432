// One argument of a call to what a schema asks for: a language's Value to an Arg that borrows.
#pragma once

#include <forward_list>
#include <memory>

#include "runtime/ops/schema.h"
#include "stdlib/torch/state.h"

namespace tessera::stdlib {

// Keeps the lists that the arguments of one call are made into; Args borrow from it. Few integers cost no heap block.
class Scratch {
 public:
  int64_t* ints(size_t count) {
    if (count > kFew - used_) return lists().ints.emplace_front(count).data();
    used_ += count;
    return few_ + used_ - count;
  }
  TensorList& tensors() { return lists().tensors.emplace_front(); }
  std::vector<OptionalTensor>& optional_tensors() { return lists().optional_tensors.emplace_front(); }
  std::vector<double>& floats() { return lists().floats.emplace_front(); }

 private:
  struct Lists {
    std::forward_list<std::vector<int64_t>> ints;
    std::forward_list<TensorList> tensors;
    std::forward_list<std::vector<OptionalTensor>> optional_tensors;
    std::forward_list<std::vector<double>> floats;
  };
  Lists& lists() {
    if (!lists_) lists_ = std::make_unique<Lists>();
    return *lists_;
  }

  static constexpr size_t kFew = 16;
  std::unique_ptr<Lists> lists_;  // most calls have none
  size_t used_ = 0;
  int64_t few_[kFew];
};

// What of a schema's argument decides how a value is taken.
struct ArgumentForm {
  ArgKind kind = ArgKind::Tensor;
  bool allows_none = false;
  bool takes_number = false;  // a Tensor that may be a number
  bool wraps_number = false;  // a number arrives as a tensor: the kernel asks for one
  uint8_t fixed_size = 0;     // int[2]: a single int stands for [int, int]
};

// True when the value fits. Nothing is raised but by devices' names: overloads are tried one after the other.
bool convert_argument(Interpreter& in, const TorchState& state, const Value& v, const ArgumentForm& form,
                      Scratch& scratch, Arg& out);

// The same, for what most arguments are.
inline bool take_argument(Interpreter& in, const TorchState& state, const Value& v, const ArgumentForm& form,
                          Scratch& scratch, Arg& out) {
  if (form.kind != ArgKind::Tensor || !v.is_object() || v.as_object()->type != state.tensor)
    return convert_argument(in, state, v, form, scratch, out);
  out = Arg(tensor_of(v));
  return true;
}

// The items of a list or tuple; nothing for other values.
std::span<const Value> items_of(const Value& v);
bool is_sequence(const Value& v);
// An int, one of a subclass, or a 0-dim tensor of ints.
bool to_int(Interpreter& in, const Value& v, int64_t& out);
/// The same of an item: behind the first a bool counts as an integer, as in PyTorch.
bool to_int_at(Interpreter& in, std::span<const Value> items, size_t at, int64_t& out);
// Integers of a tuple, list or Size; false when some item is no integer.
bool to_ints(Interpreter& in, const Value& v, std::vector<int64_t>& out);

// "Tensor", "int", "tuple of ints": how PyTorch's messages name a kind.
const char* kind_name(ArgKind kind);

}  // namespace tessera::stdlib

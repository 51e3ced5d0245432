// Calls of ops on batched tensors: what torch.func's scripts say in objects, the rules of runtime/ops/batching.h in tensors.
//
// A batched tensor is an instance of a class of torch/func/_batched.tsr: to the language a tensor without data that has the shape of one example.
// Its `_value` has a dimension in front for each of `_levels`, the calls of torch.vmap that it takes part in, outermost first.
// compile: small (a call runs once per op of torch.vmap, beside work on all examples)
#include "stdlib/torch/batching.h"

#include <algorithm>

#include "lang/core/protocol.h"
#include "lang/types/dict.h"
#include "lang/types/tuple.h"
#include "runtime/ops/batching.h"
#include "runtime/ops/views.h"
#include "stdlib/torch/call_refusal.h"
#include "stdlib/torch/op_call.h"
#include "stdlib/torch/return_types.h"
#include "stdlib/torch/tensor_cycles.h"
#include "stdlib/torch/sparse_tensors.h"
#include "stdlib/torch/torch_function.h"

namespace tessera::stdlib {
namespace {

using tensor::BatchCall;
using tensor::BatchDraws;
using tensor::BatchOperand;
using Levels = std::vector<int64_t>;

// The batched tensors among the arguments of a call, and the levels of all of them.
class Batch {
 public:
  Batch(Interpreter& in, const Value& type) : in_(in), state_(torch_state(in)), type_(object_cast<Type>(type)) {}

  void add_all(const Value& v) {
    if (v.is_object() && v.as_object()->type == type_) add(v);
    if (is_sequence(v))
      for (const Value& item : items_of(v)) add_all(item);
  }
  // Brings the values to one dimension in front for the levels of all operands together.
  void join() {
    for (Given& given : given_) {
      Tensor t = given.value;
      if (levels_.size() > 1) {
        for (size_t k = 0; k < levels_.size(); k++)
          if (!std::binary_search(given.levels.begin(), given.levels.end(), levels_[k])) t = tensor::unsqueeze(t, k);
        std::vector<int64_t> sizes = sizes_;
        sizes.insert(sizes.end(), t.sizes().begin() + sizes_.size(), t.sizes().end());
        t = tensor::expand(t, sizes);
        sizes.erase(sizes.begin(), sizes.begin() + sizes_.size());
        sizes.insert(sizes.begin(), size());
        t = tensor::reshape(t, sizes);
      }
      operands_.push_back({given.example, t});
    }
  }
  // A result with the joined dimension in front, as an object of the class.
  Value wrap(Tensor t) const {
    if (levels_.size() > 1) {
      std::vector<int64_t> sizes = sizes_;
      sizes.insert(sizes.end(), t.sizes().begin() + 1, t.sizes().end());
      t = tensor::reshape(t, sizes);
    }
    return make_batched(in_, t, levels_, type_);
  }
  bool holds_all_levels(const Value& self) const {
    const auto same = [&](const Given& given) { return given.example.same(tensor_of(self)); };
    const auto found = std::find_if(given_.begin(), given_.end(), same);
    return found != given_.end() && found->levels == levels_;
  }

  std::span<const BatchOperand> operands() const { return operands_; }
  int64_t size() const {
    int64_t product = 1;
    for (const int64_t size : sizes_) product *= size;
    return product;
  }
  int64_t innermost() const { return levels_.empty() ? 0 : levels_.back(); }
  bool is_empty() const { return given_.empty(); }

 private:
  struct Given {
    Tensor example, value;
    Levels levels;
  };

  void add(const Value& v) {
    Given given{tensor_of(v), tensor_of(get_attr(in_, v, intern(in_, "_value"))), {}};
    for_each(in_, get_attr(in_, v, intern(in_, "_levels")), [&](const Value& k) { given.levels.push_back(k.as_int()); });
    for (size_t k = 0; k < given.levels.size(); k++) {
      const auto place = std::lower_bound(levels_.begin(), levels_.end(), given.levels[k]);
      if (place != levels_.end() && *place == given.levels[k]) continue;
      sizes_.insert(sizes_.begin() + (place - levels_.begin()), given.value.size(int64_t(k)));
      levels_.insert(place, given.levels[k]);
    }
    given_.push_back(std::move(given));
  }

  Interpreter& in_;
  const TorchState& state_;
  Type* type_;
  std::vector<Given> given_;
  Levels levels_;
  std::vector<int64_t> sizes_;
  std::vector<BatchOperand> operands_;
};

BatchDraws draws_of(const TorchState& state) { return static_cast<BatchDraws>(state.vmap.draws); }

std::vector<OpArg> owned_arguments(const Binder& binder, BoundCall& bound) {
  std::vector<OpArg> owned;
  for (size_t i = 0; i < binder.size(); i++) owned.push_back(tensor::owned(bound.args()[i]));
  return owned;
}

bool writes_self(const OpFunction& function) {
  return function.is_inplace || (function.name.ends_with('_') && !function.name.ends_with("__"));
}

// Examples that are written into one tensor which all of them share.
[[noreturn]] void refuse_self(const OpFunction& function, const OpEntry& entry, const Tensor& self, const Batch& batch) {
  if (entry.facts->batching == tensor::Batching::Pointwise) {
    std::vector<int64_t> shape(self.sizes().begin(), self.sizes().end());
    shape.insert(shape.begin(), batch.size());
    tensor::fail(TensorErrorKind::Runtime, "output with shape ", tensor::Dims(self.sizes()),
                 " doesn't match the broadcast shape ", tensor::Dims(shape));
  }
  tensor::fail(TensorErrorKind::Runtime, "vmap: ", function.name,
               "(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has more "
               "elements than `self`. This happened due to `other` being vmapped over but `self` not being vmapped over "
               "at level ",
               batch.innermost(),
               ". Please try to use out-of-place operators instead of ", function.name,
               ". If said operator is being called inside the PyTorch framework, please file a bug report instead.");
}

Value run(Interpreter& in, TorchState& state, const OpFunction& function, const Binder& binder, const Args& args,
          BoundCall& bound, Batch& batch) {
  const OpEntry& entry = binder.entry();
  const bool in_place = writes_self(function) || bound.inplace;
  tensor::check(bound.out.empty(), TensorErrorKind::Runtime, "Batching rule not implemented for aten::", entry.name,
                ".out; the fallback path doesn't work on out= or view ops.");
  if (in_place && !batch.holds_all_levels(args[0])) refuse_self(function, entry, tensor_of(args[0]), batch);
  batch.join();
  BatchCall call(entry, batch.size(), draws_of(state), owned_arguments(binder, bound), batch.operands());
  if (in_place) {
    call.run_in_place();
    return args[0];
  }
  tensor::Results results;
  for (OpArg& result : call.run()) results.emplace_back(std::move(result));
  const Value plain = results.size() == 1 ? wrap_result(in, results[0]) : wrap_results(in, entry, results);
  return replace_tensors(in, state, plain, [&](const Value& t) { return batch.wrap(tensor_of(t)); });
}

// (cls, func, args, kwargs): the answer of __torch_function__, NotImplemented for a function that is no op.
Value call_batched(Interpreter& in, const Args& given) {
  TorchState& state = torch_state(in);
  OpFunction* const function = op_function_of(given[1]);
  if (function == nullptr || function->entries.front()->facts->batching == tensor::Batching::InScript)
    return in.not_implemented;
  std::vector<Value> values, names;
  for_each(in, given[2], [&](const Value& v) { values.push_back(v); });
  if (!given[3].is_none())
    dict_for_each(as_dict(given[3]), [&](const Value& name, const Value& v) { names.push_back(name), values.push_back(v); });
  const Value keywords = make_tuple(in, names.data(), names.size());
  const Args args{values.data(), static_cast<uint32_t>(values.size()), names.empty() ? nullptr : as_tuple(keywords),
                  object_cast<NativeFunction>(given[1])};
  if ((state.modes & kHasSparse) != 0 && has_sparse(state, args)) return in.not_implemented;
  Batch batch(in, given[0]);
  for (const Value& v : values) batch.add_all(v);
  if (batch.is_empty()) return in.not_implemented;
  if (batch.innermost() > state.vmap.level)
    throw Error(ErrorKind::RuntimeError,
                "Either your tensor may have escaped from inside a function being vmapped and this is a user error (see "
                "https://pytorch.org/functorch/stable/ux_limitations.html), or there is an internal functorch error in "
                "`gen_vmap_plumbing` Please file an issue if it looks like the latter");
  return in_torch(in, args, [&]() -> Value {
    BoundCall bound;
    for (const Binder& binder : binders_of(in, *function)) {
      if (binder.bind(in, state, args, bound)) return run(in, state, *function, binder, args, bound, batch);
      bound.reset();
    }
    refuse_call(in, *function, args);
  });
}

// (cls, value, levels)
Value make_batched_value(Interpreter& in, const Args& args) {
  Levels levels;
  for_each(in, args[2], [&](const Value& k) { levels.push_back(k.as_int()); });
  return in_torch(in, args, [&] { return make_batched(in, tensor_of(args[1]), levels, object_cast<Type>(args[0])); });
}

// (cls, level, size, draws); None for the class: no call of torch.vmap runs any more.
Value set_vmap(Interpreter& in, const Args& args) {
  TorchState& state = torch_state(in);
  if (args[0].is_none()) {
    state.vmap = {};
    state.modes &= ~kVmaps;
    return Value::none();
  }
  state.vmap = {args[0], args[1].as_int(), args[2].as_int(), static_cast<uint8_t>(args[3].as_int())};
  state.modes |= kVmaps;
  return Value::none();
}

Value draw(Interpreter& in, TorchState& state, const OpFunction& function, const Binder& binder, BoundCall& bound) {
  const BatchDraws draws = draws_of(state);
  tensor::check(!writes_self(function) || draws != BatchDraws::Different, TensorErrorKind::Runtime,
                "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same "
                "randomness. If this is necessary for your usage, please file an issue with functorch.");
  std::vector<OpArg> args = owned_arguments(binder, bound);
  std::vector<BatchOperand> operands;
  for (const OpArg& arg : args)
    if (const auto* const t = std::get_if<Tensor>(&arg)) {
      std::vector<int64_t> sizes{state.vmap.size};
      sizes.insert(sizes.end(), t->sizes().begin(), t->sizes().end());
      operands.push_back({*t, tensor::expand(*t, sizes)});
    }
  BatchCall call(binder.entry(), state.vmap.size, draws, std::move(args), operands);
  tensor::Results results;
  for (OpArg& result : call.run()) results.emplace_back(std::move(result));
  const Value plain = results.size() == 1 ? wrap_result(in, results[0]) : wrap_results(in, binder.entry(), results);
  return replace_tensors(in, state, plain, [&](const Value& t) {
    return make_batched(in, tensor_of(t), std::span(&state.vmap.level, 1), object_cast<Type>(state.vmap.type));
  });
}

}  // namespace

Value draw_for_batch(Interpreter& in, TorchState& state, OpFunction& function, const Args& args) {
  BoundCall bound;
  for (const Binder& binder : binders_of(in, function)) {
    if (binder.bind(in, state, args, bound)) {
      if (draws_of(state) != BatchDraws::Same) return draw(in, state, function, binder, bound);
      const VmapLevel none, running = std::exchange(state.vmap, none);  // drawn once, for all examples
      state.modes &= ~kVmaps;
      struct Restore {
        TorchState& state;
        const VmapLevel& running;
        ~Restore() { state.vmap = running, state.modes |= kVmaps; }
      } const restore{state, running};
      return call_op(in, function, args);
    }
    bound.reset();
  }
  refuse_call(in, function, args);
}

Value make_batched(Interpreter& in, const Tensor& value, std::span<const int64_t> levels, Type* type) {
  const size_t count = levels.size();
  const size_t rank = value.sizes().size() - count;
  const tensor::Ints sizes(value.sizes().begin() + count, rank), strides(value.strides().begin() + count, rank);
  const Value made = as_instance(in, tensor::meta_like(value.view_of(sizes, strides)), type);
  std::vector<Value> numbers;
  for (const int64_t level : levels) numbers.push_back(Value::integer(level));
  set_attr(in, made, intern(in, "_value"), wrap_tensor(in, value));
  set_attr(in, made, intern(in, "_levels"), make_tuple(in, numbers.data(), numbers.size()));
  return made;
}

void add_batching_functions(Interpreter& in, Module& module) {
  in.def(module, "_call_batched(cls, func, args, kwargs)", "Runs an op for a batch of examples.", call_batched);
  in.def(module, "_make_batched(cls, value, levels)", "A batch of examples as a tensor of one example.",
         make_batched_value);
  in.def(module, "_set_vmap(cls, level, size, draws)", "The call of torch.vmap that runs.", set_vmap);
}

}  // namespace tessera::stdlib

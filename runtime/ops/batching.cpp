// Calls for a whole batch: the rule of the op's entry, or the op once per example.
// compile: small (a rule runs once per op of torch.vmap, beside work on all examples)
#include "runtime/ops/batching.h"

#include <algorithm>
#include <numeric>

#include "runtime/ops.h"
#include "runtime/ops/each_tensor.h"
#include "runtime/ops/join.h"
#include "runtime/ops/views.h"
#include "runtime/random.h"

namespace tessera::tensor {
namespace {

// Names of schema arguments that are dimensions of the first tensor, and of those that are its shape.
constexpr std::string_view kDims[] = {"dim",  "dims", "dim0",   "dim1",        "dim2",     "start_dim",
                                      "end_dim", "source", "destination", "dimension"};
constexpr std::string_view kShapes[] = {"size", "shape"};

template <size_t N>
bool is_one_of(const std::string_view (&names)[N], const std::string& name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

Dims behind(int64_t first, Ints rest) {
  Dims dims{first};
  for (const int64_t size : rest) dims.push_back(size);
  return dims;
}

// bool, integers, floats, complex numbers: of two classes the higher one decides a result's dtype.
int number_class(DType t) { return is_complex(t) ? 3 : is_floating(t) ? 2 : t == kBool ? 0 : 1; }

bool writes_self(const OpEntry& entry) { return std::string_view(entry.name).ends_with('_'); }

}  // namespace

OpArg owned(const Arg& arg) {
  switch (arg.kind()) {
    case Arg::Kind::None: return {};
    case Arg::Kind::Number: {
      const Scalar& n = arg.number();
      if (n.is_bool()) return n.to<bool>();
      if (n.is_complex()) return n.to<std::complex<double>>();
      if (n.is_float()) return n.to<double>();
      return n.to_int();
    }
    case Arg::Kind::Tensor: return arg.tensor();
    case Arg::Kind::Tensors: return arg.tensors();
    case Arg::Kind::OptionalTensors: return arg.optional_tensors();
    case Arg::Kind::Ints: return std::vector<int64_t>(arg.ints().begin(), arg.ints().end());
    case Arg::Kind::Floats: return arg.floats();
    case Arg::Kind::DType: return arg.dtype();
    case Arg::Kind::Device: return arg.device();
    case Arg::Kind::Text: return std::string(arg.text());
    case Arg::Kind::Object: return CountedPtr<Counted>::share(arg.object());
  }
  return {};
}

BatchCall::BatchCall(const OpEntry& entry, int64_t batch, BatchDraws draws, std::vector<OpArg> args,
                     std::span<const BatchOperand> operands)
    : entry_(entry), batch_(batch), draws_(draws), args_(std::move(args)), operands_(operands) {
  for (size_t i = args_.size(); i < entry.schema().args.size(); i++)
    args_.push_back(default_value(entry.schema().args[i]));
}

const Tensor* BatchCall::value_of(const Tensor& given) const {
  for (const BatchOperand& each : operands_)
    if (each.example.same(given)) return &each.value;
  return nullptr;
}

const Tensor& BatchCall::value(size_t i) const {
  const Tensor* const batched = value_of(example(i));
  return batched ? *batched : example(i);
}

Tensor BatchCall::aligned(const Tensor& example, int64_t rank) const {
  const Tensor* const batched = value_of(example);
  const Tensor t = batched ? *batched : unsqueeze(example, 0);
  Dims sizes{t.size(0)};
  for (int64_t d = example.dim(); d < rank; d++) sizes.push_back(1);
  for (int64_t d = 1; d < t.dim(); d++) sizes.push_back(t.size(d));
  return int64_t(sizes.size()) == t.dim() ? t : reshape(t, sizes);
}

Tensor BatchCall::whole(const Tensor& given) const {
  if (const Tensor* const batched = value_of(given)) return *batched;
  return expand(given, behind(batch_, given.sizes()));
}

Dims BatchCall::shape_of_result(size_t i) const { return behind(batch_, metas_[i].sizes); }

// Whether the call draws: dropout outside of training does not.
bool BatchCall::draws() const {
  if (!entry_.has(kRandom)) return false;
  const int at = entry_.schema().find("train");
  const bool* const trains = at < 0 ? nullptr : std::get_if<bool>(&args_[size_t(at)]);
  return !trains || *trains;
}

std::vector<OpArg> BatchCall::run() {
  if (draws()) return run_random();
  std::vector<OpArg> results;
  const Batching batching = entry_.facts->batching;
  if (batching == Batching::Pointwise) return call_op(entry_, pointwise_args());
  if (entry_.has(kDataDependent)) {
    check(batching == Batching::Front, TensorErrorKind::Runtime,
          "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over aten::",
          entry_.name, ". Please file an issue at https://github.com/pytorch/pytorch/issues if you need this feature.");
    return call_op(entry_, with_values(true));
  }
  metas_ = infer(entry_, args_);
  try {
    if (run_rule(results) && fits(results, reshapes_)) return results;
  } catch (const TensorError&) {
    // One example's call tells what is wrong, if something is.
  }
  check(!entry_.has(kView), TensorErrorKind::NotImplemented, "Batching rule not implemented for aten::", entry_.name,
        ". We could not generate a fallback.");
  return run_each();
}

void BatchCall::run_in_place() {
  const Tensor self = value(0);
  const bool is_pointwise = entry_.facts->batching == Batching::Pointwise;
  // An entry that writes self by its name may give self another layout (squeeze_): without a rule it is refused.
  check(!entry_.has(kView) && (is_pointwise || draws() || !writes_self(entry_)), TensorErrorKind::NotImplemented,
        "Batching rule not implemented for aten::", entry_.name, ". We could not generate a fallback.");
  if (!is_pointwise && !writes_self(entry_) && (!draws() || draws_ != BatchDraws::Different)) {
    const std::vector<OpArg> results = run();
    const Tensor& result = std::get<Tensor>(results[0]);
    check(result.dtype() == self.dtype(), TensorErrorKind::Runtime, "result type ", scalar_type_name(result.dtype()),
          " can't be cast to the desired output type ", scalar_type_name(self.dtype()));
    copy_(self, result);
    return;
  }
  if (draws() && draws_ != BatchDraws::Different) {
    copy_(self, std::get<Tensor>(run_random()[0]));
    return;
  }
  // The op's own way to write to self, which refuses, converts and records as for one example.
  std::vector<OpArg> args = is_pointwise ? pointwise_args() : args_;
  for (size_t i = 0; !is_pointwise && i < args.size(); i++)
    if (is_tensor(i)) args[i] = i == 0 ? self : aligned(i, rank(0));
  Tensor out = std::get<Tensor>(args[0]);
  call_op(entry_, std::move(args), writes_self(entry_) ? std::span<Tensor>() : std::span(&out, 1));
}

// PyTorch draws for all examples at once where each has numbers of its own.
std::vector<OpArg> BatchCall::run_random() {
  check(draws_ != BatchDraws::Refused, TensorErrorKind::Runtime,
        "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
        "randomness flags on vmap or perform the randomness operation out of vmap");
  if (draws_ == BatchDraws::Same) return run_each(true);
  Generator& generator = Context::current().generator();
  const std::vector<uint8_t> before = generator.state();
  metas_ = infer(entry_, args_);
  generator.set_state(before);  // what makes a tensor of numbers alone has drawn it
  std::vector<OpArg> results;
  if (entry_.facts->batching == Batching::ByExample) return run_each();
  std::vector<OpArg> args = with_values(true);
  bool has_batch = false;
  for (size_t i = 0; i < args.size(); i++) {
    has_batch = has_batch || std::holds_alternative<Tensor>(args[i]);
    if (auto* sizes = std::get_if<std::vector<int64_t>>(&args[i]);
        sizes && is_one_of(kShapes, entry_.schema().args[i].name)) {
      sizes->insert(sizes->begin(), batch_);
      has_batch = true;
    }
  }
  if (!has_batch) return run_each();
  results = call_op(entry_, std::move(args));
  return fits(results, false) ? results : run_each();
}

bool BatchCall::run_rule(std::vector<OpArg>& results) {
  if (entry_.facts->batched) return entry_.facts->batched(*this, results);
  switch (entry_.facts->batching) {
    case Batching::Pointwise: return results = call_op(entry_, pointwise_args()), true;
    case Batching::Loss: return run_loss(results);
    case Batching::Front: return results = call_op(entry_, with_values(true)), true;
    case Batching::Derived: return run_derived(results);
    case Batching::InScript:
    case Batching::ByExample: return false;
  }
  return false;
}

std::vector<OpArg> BatchCall::with_values(bool all_whole) const {
  std::vector<OpArg> args = args_;
  each_tensor(args, [&](Tensor& t) {
    if (const Tensor* const batched = value_of(t)) t = *batched;
    else if (all_whole) t = whole(t);
  });
  return args;
}

// ---- Operands that broadcast --------------------------------------------------------------------------------------------------

// One example without dimensions is as weak in promotion as a number; with the batch in front it would not be. It is converted to what one
// example's call computes in.
std::vector<OpArg> BatchCall::pointwise_args() const {
  int64_t rank = 0;
  for (size_t i = 0; i < args_.size(); i++)
    if (is_tensor(i)) rank = std::max(rank, this->rank(i));
  std::optional<DType> strong;
  for (size_t i = 0; i < args_.size(); i++)
    if (is_tensor(i) && this->rank(i) > 0)
      strong = strong ? promote_types(*strong, example(i).dtype()) : example(i).dtype();
  std::vector<OpArg> args = args_;
  for (size_t i = 0; i < args.size(); i++) {
    if (!is_tensor(i) || (!is_batched(i) && rank > 0)) continue;  // a shared operand broadcasts as it is
    Tensor t = aligned(i, rank);
    if (this->rank(i) == 0 && strong && t.dtype() != kBool && number_class(t.dtype()) <= number_class(*strong))
      t = to_dtype(t, *strong);
    args[i] = std::move(t);
  }
  return args;
}

bool BatchCall::run_loss(std::vector<OpArg>& results) const {
  const int at = entry_.schema().find("reduction");
  std::vector<OpArg> args = args_;
  const auto* const reduction = at < 0 ? nullptr : std::get_if<int64_t>(&args[size_t(at)]);
  if (!reduction) return false;
  BatchCall each = *this;
  each.args_[size_t(at)] = int64_t{0};
  results = call_op(entry_, each.pointwise_args());
  if (*reduction == 0) return true;
  const Tensor& each_loss = std::get<Tensor>(results[0]);
  const Tensor flat = each_loss.dim() > 1 ? flatten(each_loss, 1) : unsqueeze(each_loss, 1);
  results = {*reduction == 1 ? mean(flat, Dims{1}) : sum(flat, Dims{1})};
  return true;
}

// ---- Arguments that name dimensions ---------------------------------------------------------------------------------------------

// Makes the dimensions of an argument count behind the batch. Those that are counted from the end stay.
bool BatchCall::shift_dims(std::vector<OpArg>& args, size_t at, int64_t rank) const {
  const auto shift = [](int64_t& d) { d += d >= 0; };
  if (auto* one = std::get_if<int64_t>(&args[at])) {
    shift(*one);
    return true;
  }
  auto* many = std::get_if<std::vector<int64_t>>(&args[at]);
  const SchemaArg& arg = entry_.schema().args[at];
  if (many && !many->empty()) {
    std::for_each(many->begin(), many->end(), shift);
    return true;
  }
  if (!arg.optional) return false;  // an empty list of an op that has a meaning of its own for it
  if (arg.kind == ArgKind::Int) {   // none: the elements in a row
    if (!is_batched(0)) return false;
    args[0] = example_rows(*this);
    args[at] = int64_t{1};
    return true;
  }
  std::vector<int64_t> all(size_t(std::max<int64_t>(rank, 1)));
  std::iota(all.begin(), all.end(), 1);
  args[at] = std::move(all);
  return true;
}

bool BatchCall::only_first_is_batched() const {
  for (size_t i = 0; i < args_.size(); i++)
    if (is_batched(i) != (i == 0) || std::holds_alternative<TensorList>(args_[i])) return false;
  return true;
}

bool BatchCall::run_derived(std::vector<OpArg>& results) {
  const OpSchema& schema = entry_.schema();
  int64_t rank = -1;
  for (size_t i = 0; i < args_.size(); i++) {
    const auto same_rank = [&](const Tensor& t) {
      if (rank >= 0 && t.dim() != rank) return false;
      rank = t.dim();
      return true;
    };
    if (is_tensor(i) && !same_rank(example(i))) {
      if (!only_first_is_batched()) return false;
      rank = this->rank(0);
    }
    if (const auto* list = std::get_if<TensorList>(&args_[i]))
      if (!std::all_of(list->begin(), list->end(), same_rank)) return false;
  }
  std::vector<OpArg> args = with_values(!only_first_is_batched());
  bool is_derived = false;
  const auto has_dims = [&](size_t i) { return is_one_of(kDims, schema.args[i].name); };
  if (rank == 0) {  // one example without dimensions has dimension 0 all the same
    for (size_t i = 0; i < args.size(); i++)
      if (is_tensor(i)) args[i] = unsqueeze(std::get<Tensor>(args[i]), 1);
      else if (std::holds_alternative<TensorList>(args[i])) return false;
    reshapes_ = true;
  }
  for (size_t i = 0; i < args.size(); i++) {
    if (has_dims(i)) {
      if (!shift_dims(args, i, rank)) return false;
      reshapes_ = reshapes_ || (schema.args[i].optional && schema.args[i].kind == ArgKind::Int);
      is_derived = true;
    } else if (auto* sizes = std::get_if<std::vector<int64_t>>(&args[i]);
               sizes && is_one_of(kShapes, schema.args[i].name)) {
      sizes->insert(sizes->begin(), batch_);
      is_derived = true;
    }
  }
  if (!is_derived) return false;
  results = call_op(entry_, std::move(args));
  return true;
}

// ---- Once per example -----------------------------------------------------------------------------------------------------------

std::vector<OpArg> BatchCall::example_at(int64_t index) const {
  std::vector<OpArg> args = args_;
  each_tensor(args, [&](Tensor& t) {
    if (const Tensor* const batched = value_of(t)) t = select(*batched, 0, index);
  });
  return args;
}

std::vector<OpArg> BatchCall::run_each(bool same_draws) {
  std::vector<std::vector<OpArg>> each;
  if (batch_ == 0) {
    std::vector<OpArg> results;
    for (size_t i = 0; i < metas_.size(); i++)
      results.push_back(empty(shape_of_result(i), metas_[i].dtype, operands_[0].value.device()));
    return results;
  }
  Generator& generator = Context::current().generator();
  const std::vector<uint8_t> before = same_draws ? generator.state() : std::vector<uint8_t>();
  for (int64_t i = 0; i < batch_; i++) {
    if (same_draws && i > 0) generator.set_state(before);
    each.push_back(call_op(entry_, example_at(i)));
  }
  std::vector<OpArg> results(each[0].size());
  const auto column = [&](auto&& get) {
    TensorList all;
    for (std::vector<OpArg>& one : each) all.push_back(get(one));
    return stack(all, 0);
  };
  for (size_t k = 0; k < results.size(); k++) {
    if (std::holds_alternative<Tensor>(each[0][k])) {
      results[k] = column([&](std::vector<OpArg>& one) { return std::get<Tensor>(one[k]); });
    } else if (const auto* list = std::get_if<TensorList>(&each[0][k])) {
      TensorList parts;
      for (size_t p = 0; p < list->size(); p++)
        parts.push_back(column([&](std::vector<OpArg>& one) { return std::get<TensorList>(one[k]).at(p); }));
      results[k] = std::move(parts);
    } else {
      fail(TensorErrorKind::Runtime, "vmap: It looks like you're calling .", entry_.name,
           "() on a Tensor. We don't support vmap over calling .", entry_.name,
           "() on a Tensor, please try to rewrite what you're doing with other operations. If error is occurring "
           "somewhere inside PyTorch internals, please file a bug report.");
    }
  }
  return results;
}

// Whether the results are those of one example, a batch of them.
bool BatchCall::fits(std::vector<OpArg>& results, bool reshapes) const {
  size_t at = 0;
  const auto one = [&](Tensor& t) {
    if (at >= metas_.size() || t.dtype() != metas_[at].dtype) return false;
    const Dims wanted = shape_of_result(at++);
    if (t.sizes() == Ints(wanted)) return true;
    if (!reshapes || t.numel() != numel_of(wanted)) return false;
    t = reshape(t, wanted);
    return true;
  };
  for (OpArg& result : results) {
    if (auto* t = std::get_if<Tensor>(&result)) {
      if (!one(*t)) return false;
    } else if (auto* list = std::get_if<TensorList>(&result)) {
      if (!std::all_of(list->begin(), list->end(), one)) return false;
    } else {
      return false;
    }
  }
  return at == metas_.size();
}

// ---- Shared rules -----------------------------------------------------------------------------------------------------------------

template <size_t At>
bool batched_through(BatchCall& call, std::vector<OpArg>& results) {
  std::vector<OpArg> args = call.args();
  for (size_t i = 0; i < args.size(); i++)
    if (call.is_batched(i) != (i == At)) return false;
  args[At] = call.value(At);
  results = call_op(call.entry(), std::move(args));
  return true;
}

namespace {

// The examples of argument i as matrices, a vector as one with a row or a column, aligned to `rank` dimensions.
Tensor matrices(const BatchCall& call, size_t i, int64_t rank, bool is_left) {
  const int64_t own = call.rank(i);
  Tensor t = call.aligned(i, own);
  if (own == 1) t = unsqueeze(t, is_left ? 1 : 2);
  Dims sizes{t.size(0)};
  for (int64_t d = std::max<int64_t>(own, 2); d < rank; d++) sizes.push_back(1);
  for (int64_t d = 1; d < t.dim(); d++) sizes.push_back(t.size(d));
  return int64_t(sizes.size()) == t.dim() ? t : reshape(t, sizes);
}

// Of arguments a and b: the batch in front of what one example's product has, with 1 for a vector's missing dimension.
Tensor product(const BatchCall& call, size_t a, size_t b) {
  if (!call.is_batched(b) && call.rank(b) <= 2) return matmul(call.value(a), call.value(b));
  const int64_t rank = std::max({call.rank(a), call.rank(b), int64_t{2}});
  return matmul(matrices(call, a, rank, true), matrices(call, b, rank, false));
}

bool has_numbers(const BatchCall& call, size_t a, size_t b) { return call.rank(a) > 0 && call.rank(b) > 0; }

}  // namespace

bool batched_product(BatchCall& call, std::vector<OpArg>& results) {
  if (!has_numbers(call, 0, 1)) return false;
  results = {reshape(product(call, 0, 1), call.shape_of_result(0))};
  return true;
}

bool batched_linear(BatchCall& call, std::vector<OpArg>& results) {
  const bool has_bias = call.is_tensor(2);
  if (call.rank(0) == 0 || call.rank(1) != 2) return false;
  if (!call.is_batched(1) && !(has_bias && call.is_batched(2))) {
    results = {linear(call.value(0), call.value(1), has_bias ? call.value(2) : Tensor())};
    return true;
  }
  // The examples' rows times their own weights; one row where an example is a vector.
  const Tensor x = call.aligned(0, call.rank(0)), weight = transpose(call.aligned(1, 2), 1, 2);
  const Tensor rows = reshape(x, {x.size(0), -1, x.size(-1)});
  Tensor y = call.is_batched(1) ? matmul(rows, weight) : matmul(rows, select(weight, 0, 0));
  if (has_bias) y = add(y, call.is_batched(2) ? unsqueeze(call.value(2), 1) : call.value(2));
  results = {reshape(y, call.shape_of_result(0))};
  return true;
}

bool batched_added_product(BatchCall& call, std::vector<OpArg>& results) {
  for (const size_t i : {3, 4}) {  // beta and alpha
    const auto* const factor = i < call.args().size() ? std::get_if<int64_t>(&call.args()[i]) : nullptr;
    if (!factor || *factor != 1) return false;
  }
  const Dims shape = call.shape_of_result(0);
  results = {add(call.aligned(0, int64_t(shape.size()) - 1), reshape(product(call, 1, 2), shape))};
  return true;
}

bool batched_outer(BatchCall& call, std::vector<OpArg>& results) {
  results = {mul(unsqueeze(call.aligned(0, 1), 2), unsqueeze(call.aligned(1, 1), 1))};
  return true;
}

bool batched_reshape(BatchCall& call, std::vector<OpArg>& results) {
  if (!call.is_batched(0)) return false;
  results = {reshape(call.value(0), call.shape_of_result(0))};
  return true;
}

bool batched_expand(BatchCall& call, std::vector<OpArg>& results) {
  const Dims shape = call.shape_of_result(0);
  results = {expand(call.aligned(0, int64_t(shape.size()) - 1), shape)};
  return true;
}

bool batched_permute(BatchCall& call, std::vector<OpArg>& results) {
  Dims dims{0};
  for (const int64_t d : std::get<std::vector<int64_t>>(call.args()[1])) dims.push_back(1 + wrap_dim(d, call.rank(0)));
  results = {permute(call.value(0), dims)};
  return true;
}

bool batched_to_results(BatchCall& call, std::vector<OpArg>& results) {
  TensorList expanded;
  for (const Tensor& t : std::get<TensorList>(call.args()[0])) {
    const Dims shape = call.shape_of_result(expanded.size());
    expanded.push_back(expand(call.aligned(t, int64_t(shape.size()) - 1), shape));
  }
  results = {std::move(expanded)};
  return true;
}

// The examples' coordinates along the axis where one example has them. ("xy" exchanges the first two axes.)
bool batched_grid(BatchCall& call, std::vector<OpArg>& results) {
  const TensorList& given = std::get<TensorList>(call.args()[0]);
  const bool is_exchanged = std::get<std::string>(call.args()[1]) == "xy" && given.size() > 1;
  TensorList grid;
  for (size_t i = 0; i < given.size(); i++) {
    const Dims shape = call.shape_of_result(i);
    const Tensor t = call.aligned(given[i], 1);
    Dims sizes{t.size(0)};
    for (size_t d = 0; d < given.size(); d++) sizes.push_back(d == (is_exchanged && i < 2 ? 1 - i : i) ? t.size(1) : 1);
    grid.push_back(expand(reshape(t, sizes), shape));
  }
  results = {std::move(grid)};
  return true;
}

bool batched_transpose(BatchCall& call, std::vector<OpArg>& results) {
  results = {call.rank(0) == 2 ? transpose(call.value(0), 1, 2) : alias(call.value(0))};
  return true;
}

Tensor example_rows(const BatchCall& call) { return reshape(call.value(0), {call.batch(), call.example(0).numel()}); }

bool batched_strided(BatchCall& call, std::vector<OpArg>& results) {
  if (call.args().size() < 4 || !std::holds_alternative<std::monostate>(call.args()[3])) return false;
  const Tensor& value = call.value(0);
  const auto& strides = std::get<std::vector<int64_t>>(call.args()[2]);
  results = {as_strided(value, call.shape_of_result(0), behind(value.stride(0), strides), value.offset())};
  return true;
}

// Classes stand along the first dimension of an example, or behind its rows.
bool batched_class_loss(BatchCall& call, std::vector<OpArg>& results) {
  std::vector<OpArg> args = call.args();
  const auto* const reduction = std::get_if<int64_t>(&args[3]);
  const auto* const ignored = std::get_if<int64_t>(&args[4]);
  const int64_t rank = call.rank(0);
  if (call.is_tensor(2) || !reduction || !ignored || rank > 2 || call.rank(1) != rank - 1) return false;
  const int64_t how = *reduction, left_out = *ignored;
  const Tensor scores = call.whole(call.example(0)), classes = call.whole(call.example(1));
  args[0] = rank == 2 ? flatten(scores, 0, 1) : scores;
  args[1] = rank == 2 ? flatten(classes, 0, 1) : classes;
  args[3] = int64_t{0};
  const Tensor each = reshape(std::get<Tensor>(call_op(call.entry(), std::move(args))[0]), {call.batch(), -1});
  const Tensor counted = to_dtype(ne(reshape(classes, {call.batch(), -1}), left_out), each.dtype());
  if (how == 0) results = {reshape(each, call.shape_of_result(0))};
  else results = {how == 1 ? div(sum(each, Dims{1}), sum(counted, Dims{1})) : sum(each, Dims{1})};
  return true;
}

template <int Spatial>
bool batched_images(BatchCall& call, std::vector<OpArg>& results) {
  std::vector<OpArg> args = call.args();
  for (size_t i = 1; i < args.size(); i++)
    if (call.is_batched(i)) return false;
  if (!call.is_batched(0)) return false;
  const bool joins = call.rank(0) == Spatial + 2;
  args[0] = joins ? flatten(call.value(0), 0, 1) : call.value(0);
  results = call_op(call.entry(), std::move(args));
  if (joins)
    for (size_t k = 0; k < results.size(); k++)
      if (auto* t = std::get_if<Tensor>(&results[k])) *t = reshape(*t, call.shape_of_result(k));
  return true;
}

template bool batched_through<0>(BatchCall&, std::vector<OpArg>&);
template bool batched_through<1>(BatchCall&, std::vector<OpArg>&);
template bool batched_images<1>(BatchCall&, std::vector<OpArg>&);
template bool batched_images<2>(BatchCall&, std::vector<OpArg>&);
template bool batched_images<3>(BatchCall&, std::vector<OpArg>&);

}  // namespace tessera::tensor

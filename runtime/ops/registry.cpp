// The list of all ops: filled by registration objects while the program starts, sorted at first use, then read only.
#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "runtime/ops/entry.h"
#include "runtime/ops.h"
#include "runtime/ops/each_tensor.h"
#include "runtime/ops/math_bits.h"
#include "runtime/ops/out_types.h"
#include "runtime/ops/views.h"
#include "runtime/device/two_devices.h"
#include "runtime/plan.h"
#include "runtime/random.h"

namespace tessera::tensor {
namespace {

OpEntry*& head() {
  static OpEntry* list = nullptr;
  return list;
}

struct Index {
  std::vector<const OpEntry*> all;
  std::unordered_map<std::string_view, std::span<const OpEntry* const>> by_name;

  Index() {
    for (OpEntry* e = head(); e; e = e->next) all.push_back(e);
    std::reverse(all.begin(), all.end());  // order of registration
    std::stable_sort(all.begin(), all.end(), [](const OpEntry* a, const OpEntry* b) {
      int order = std::string_view(a->name).compare(b->name);
      return order ? order < 0 : a->facts->priority < b->facts->priority;
    });
    for (size_t i = 0; i < all.size();) {
      size_t j = i;
      while (j < all.size() && std::string_view(all[j]->name) == all[i]->name) j++;
      by_name.emplace(all[i]->name, std::span(all.data() + i, j - i));
      i = j;
    }
  }
};

const Index& index_of_ops() {
  static const Index index;
  return index;
}

}  // namespace

OpRegistration::OpRegistration(const char* name, const char* schema, const char* doc, uint32_t flags, OpParts parts,
                               const char* samples, const OpFacts& facts)
    : entry{name, schema, doc, flags, parts.kernel, parts.shape, parts.types, samples, &facts, facts.fast} {
  entry.next = head();
  head() = &entry;
}

std::string OpEntry::documentation() const {
  if (facts->alias_of == nullptr || *doc != '\0') return doc;
  std::string_view other = facts->alias_of;
  constexpr std::string_view kLinalgPrefix = "linalg_";
  const bool is_linalg = other.starts_with(kLinalgPrefix);
  if (is_linalg) other.remove_prefix(kLinalgPrefix.size());
  return std::string(is_linalg ? "As torch.linalg." : "As ").append(other) + ".";
}

const OpSchema& OpEntry::schema() const {
  if (const OpSchema* s = schema_cache.load(std::memory_order_acquire)) return *s;
  auto* fresh = new OpSchema(parse_schema(schema_text));
  const OpSchema* expected = nullptr;
  if (!schema_cache.compare_exchange_strong(expected, fresh, std::memory_order_acq_rel)) {
    delete fresh;
    return *expected;
  }
  return *fresh;
}

std::span<const OpEntry* const> find_op(std::string_view name) {
  const auto& names = index_of_ops().by_name;
  auto found = names.find(name);
  return found == names.end() ? std::span<const OpEntry* const>() : found->second;
}

std::span<const OpEntry* const> all_ops() { return index_of_ops().all; }

namespace {
std::vector<int64_t> ints_from_text(std::string_view t) {
  std::vector<int64_t> list;
  for (size_t i = 0; i < t.size();) {
    if (isdigit(static_cast<unsigned char>(t[i])) || t[i] == '-') {
      size_t used;
      list.push_back(std::stoll(std::string(t.substr(i)), &used));
      i += used;
    } else {
      i++;
    }
  }
  return list;
}
}  // namespace

OpArg default_value(const SchemaArg& arg) {
  const std::string& t = arg.default_text;
  if (!arg.has_default || t == "None") return std::monostate();
  if (t == "True" || t == "False") return t == "True";
  if (t.front() == '\'' || t.front() == '"') return t.substr(1, t.size() - 2);
  switch (arg.kind) {
    case ArgKind::IntList: {
      std::vector<int64_t> list = ints_from_text(t);
      if (t.front() != '[' && arg.fixed_size > 1) list.assign(size_t(arg.fixed_size), list.at(0));
      return list;
    }
    case ArgKind::Float: return std::stod(t);
    case ArgKind::DType: {
      DType type = kFloat32;
      dtype_from_name(t, type);
      return type;
    }
    case ArgKind::MemoryFormat:
    case ArgKind::Layout: return std::monostate();
    case ArgKind::String: return t;
    default: break;
  }
  if (t.find_first_of(".einf") != t.npos) return std::stod(t);
  return int64_t(std::stoll(t));
}

namespace {

// As many as the schema has, borrowed from `owned`.
std::vector<Arg> complete(const OpEntry& entry, std::vector<OpArg>& owned) {
  const OpSchema& schema = entry.schema();
  for (size_t i = owned.size(); i < schema.args.size(); i++) owned.push_back(default_value(schema.args[i]));
  std::vector<Arg> args;
  for (size_t i = 0; i < owned.size(); i++) {
    if (const auto* one = std::get_if<int64_t>(&owned[i]); one && schema.args.at(i).kind == ArgKind::IntList)
      owned[i] = std::vector<int64_t>{*one};
    args.push_back(Arg::of(owned[i]));
  }
  return args;
}

}  // namespace

std::vector<OpArg> call_op(const OpEntry& entry, std::vector<OpArg> owned, std::span<Tensor> out) {
  const std::vector<Arg> args = complete(entry, owned);
  OpCall call{entry, Context::current(), args, out, {}};
  call_entry(call);
  return {std::make_move_iterator(call.results.begin()), std::make_move_iterator(call.results.end())};
}

// ---- boxing ----

namespace {
struct Borrow {
  Arg operator()(std::monostate) const { return Arg(); }
  Arg operator()(const std::string& text) const { return Arg(std::string_view(text)); }
  Arg operator()(const std::vector<int64_t>& list) const { return Arg(Ints(list)); }
  Arg operator()(const CountedPtr<Counted>& object) const { return Arg(object.get()); }
  template <class T>
  Arg operator()(const T& value) const {
    if constexpr (std::is_constructible_v<Scalar, T>) return Arg(Scalar(value));
    else if constexpr (std::is_constructible_v<Arg, const T&>) return Arg(value);
    else fail(TensorErrorKind::Assertion, "no op takes this kind of argument");
  }
};
}  // namespace

Arg Arg::of(const OpArg& owned) { return std::visit(Borrow{}, owned); }

Scalar OpCall::scalar_of_tensor(size_t i) const {
  if (!args[i].is_tensor()) mismatch(i);
  return args[i].tensor().item();
}

void OpCall::mismatch(size_t i) const {
  fail(TensorErrorKind::Type, entry.name, "(): argument '", entry.schema().args.at(i).name, "' is not of its kind");
}

Generator* Unbox<Generator*>::get(const OpCall& c, size_t i) {
  if (c.none(i)) return nullptr;
  if (c.args[i].kind() != Arg::Kind::Object) c.mismatch(i);
  return static_cast<Generator*>(c.args[i].object());
}

namespace {

void check_castable(DType result, DType self) {
  check(can_cast(result, self), TensorErrorKind::Runtime, "result type ", scalar_type_name(result),
        " can't be cast to the desired output type ", scalar_type_name(self));
}

// Two results cannot share the memory that was given for them.
void check_apart(const OpCall& c, size_t n) {
  if (n != 2 || c.out.size() != 2 || !c.out[0].numel() || &c.out[0].storage() != &c.out[1].storage() ||
      c.out[0].impl()->address() != c.out[1].impl()->address())
    return;
  const std::vector<SchemaArg>& names = c.entry.schema().results;
  fail(TensorErrorKind::Value, c.entry.name, "(): the `", names[0].name, "` and `", names[1].name,
       "` out= tensors must not overlap.");
}

// Throws unless an out= tensor may take the dtype of a result.
void check_out_rule(const OpCall& c, const Tensor& result, const Tensor& out) {
  const OpFacts& facts = *c.entry.facts;
  check_out_type(facts.out_of_call ? facts.out_of_call(c, result) : facts.out, c.entry.name, result.dtype(),
                 out.dtype());
}

// A dtype that is asked for is that of out= too.
void check_asked_type(const OpCall& c, const Tensor& result, const Tensor& out) {
  if (out.dtype() == result.dtype() || !c.entry.facts->out_as_asked) return;
  for (const Arg& arg : c.args)
    if (arg.kind() == Arg::Kind::DType)
      fail(TensorErrorKind::Runtime, out_words(c.entry.facts->out_as_asked, c.entry.name, result.dtype(), out.dtype()));
}

// What is made of tensors stays with them; what is made of numbers goes where out= lies.
void check_out_device(const OpCall& c, const Tensor& out, const Tensor& result) {
  const bool of_tensors = std::any_of(c.args.begin(), c.args.end(), [](const Arg& arg) {
    return arg.is_tensor() || arg.kind() == Arg::Kind::Tensors || arg.kind() == Arg::Kind::OptionalTensors;
  });
  if (!of_tensors) return;
  if (c.is_inplace()) fail_two_devices(out.device(), result.device());
  fail(TensorErrorKind::Runtime, "Expected out tensor to have device ", result.device().str(), ", but got ",
       out.device().str(), " instead");
}

}  // namespace

void return_tensors(OpCall& c, Tensor* results, size_t n) {
  check_apart(c, n);
  const OutRule& rule = c.entry.facts->out;
  if (rule.last_first && c.out.size() == n) check_out_rule(c, results[n - 1], c.out[n - 1]);
  for (size_t i = 0; i < n; i++) {
    if (i >= c.out.size()) {
      c.results.emplace_back(std::move(results[i]));
      continue;
    }
    Tensor& out = c.out[i];
    if (out.same(results[i])) {  // filled already
      out.bump_version();
      c.results.emplace_back(out);
      continue;
    }
    if (out.device() != results[i].device()) [[unlikely]]
      check_out_device(c, out, results[i]);
    if (c.is_inplace()) detail::check_inplace_result(c, out, Meta::of(results[i]));
    else check_asked_type(c, results[i], out), check_out_rule(c, results[i], out);
    if (c.is_inplace()) {
      copy_(out, results[i]);
    } else {
      const bool other_shape = out.sizes() != results[i].sizes();
      resize_output(out, results[i].sizes());
      if (other_shape && rule.takes_strides)
        if (const Dims strides = dense_strides(results[i]); !strides.empty())
          out.impl()->set_layout(out.sizes(), strides);
      check_no_internal_overlap(out);
      copy_into(out, results[i]);
    }
    c.results.emplace_back(out);
  }
}

// ---- metadata ----

Tensor Meta::allocate() const {
  if (strides.size() == sizes.size() && !(strides == contiguous_strides(sizes))) {
    int64_t room = numel_of(sizes) ? 1 : 0;
    for (size_t d = 0; room && d < sizes.size(); d++) room += (sizes[d] - 1) * strides[d];
    return Tensor::empty({room}, dtype, device).view_of(sizes, strides);
  }
  return Tensor::empty(sizes, dtype, device);
}

Tensor meta_like(const Tensor& t) {
  Storage* nothing = Storage::allocate(t.storage().bytes(), Device(DeviceType::Meta));
  char* data = static_cast<char*>(nothing->data());
  Tensor out = Tensor::adopt(TensorImpl::create_view(nothing, data, t.sizes(), t.strides(), t.dtype()));
  nothing->release();
  out.impl()->flags |= t.impl()->flags & (TensorImpl::kWrappedNumber | TensorImpl::kMathBits);
  return out;
}

namespace {

// Tensors of a call on the way to `meta`; the device that the results would be on: that of the first that has dimensions.
Device strip_data(std::vector<OpArg>& args) {
  Device device;
  bool decided = false;
  const auto strip = [&](Tensor& t) {
    if (!decided && (t.dim() || device.is_cpu())) device = t.device();
    decided |= t.dim() > 0;
    t = meta_like(t);
  };
  each_tensor(args, strip);
  return device;
}

}  // namespace

std::vector<Meta> infer(const OpEntry& entry, std::vector<OpArg> owned) {
  const GradMode off(false);
  const Device device = strip_data(owned);
  const std::vector<Arg> args = complete(entry, owned);
  OpCall call{entry, Context::current(), args, {}, {}};
  std::vector<Meta> metas;
  if (entry.shape) {
    metas = entry.shape(call);
  } else {
    call_entry(call);
    for (const OpArg& result : call.results) {
      if (auto* t = std::get_if<Tensor>(&result)) metas.push_back(Meta::of(*t));
      if (auto* list = std::get_if<TensorList>(&result))
        for (const Tensor& t : *list) metas.push_back(Meta::of(t));
    }
  }
  for (Meta& meta : metas)
    if (meta.device.type == DeviceType::Meta) meta.device = device;
  return metas;
}

// ---- results that go somewhere ----

namespace detail {

// What is joined may share no element with what it is written to.
static void check_no_overlap(const Tensor& out, const Tensor& in) {
  if (!out.same(in) && (out.numel() == 0 || in.numel() == 0 || &out.storage() != &in.storage())) return;
  const auto end = [](const Tensor& t) {
    int64_t last = t.offset();
    for (size_t d = 0; d < t.sizes().size(); d++) last += (t.sizes()[d] - 1) * t.strides()[d];
    return last;
  };
  check(!out.same(in) &&
            (!out.is_contiguous() || !in.is_contiguous() || out.offset() > end(in) || in.offset() > end(out)),
        TensorErrorKind::Runtime,
        "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
        "location. Please clone() the tensor before performing the operation.");
}

bool may_fill(const OpCall& c, const Tensor& out, const Meta& meta) {
  if (out.dtype() != meta.dtype || !meta.strides.empty() || out.device() != meta.device) return false;
  for (const Arg& arg : c.args) {
    if (arg.is_tensor() && arg.tensor().defined() && &arg.tensor().storage() == &out.storage()) return false;
    if (arg.kind() == Arg::Kind::Tensors)
      for (const Tensor& t : arg.tensors()) {
        check_no_overlap(out, t);
        if (&t.storage() == &out.storage()) return false;
      }
  }
  resize_output(out, meta.sizes);
  return out.is_contiguous();
}

void check_out(const OpCall& c, bool recorded) {
  if (c.entry.facts->out_unrecorded) recorded = false;
  for (const Tensor& out : c.out) check_no_internal_overlap(out);
  bool reverse = false, forward = false;
  const auto look = [&](const Tensor& t) {
    reverse |= t.defined() && t.requires_grad();
    forward |= t.defined() && t.is_dual() && !seen_tangents(t).empty();
  };
  for (const Tensor& out : c.out) look(out);
  if (recorded)
    for (const Arg& arg : c.args) {
      if (arg.is_tensor()) look(arg.tensor());
      if (arg.kind() == Arg::Kind::Tensors) std::for_each(arg.tensors().begin(), arg.tensors().end(), look);
    }
  refuse_recorded_out(c.entry.name, reverse, forward);
}

void check_inplace_result(const OpCall& c, const Tensor& self, const Meta& meta) {
  if (c.entry.facts->check_in_place) c.entry.facts->check_in_place(c, self, meta);
  check(self.sizes() == Ints(meta.sizes), TensorErrorKind::Runtime, "output with shape ", self.sizes(),
        " doesn't match the broadcast shape ", Ints(meta.sizes));
  check_castable(meta.dtype, self.dtype());
}

}  // namespace detail

}  // namespace tessera::tensor

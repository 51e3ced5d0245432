#include "stdlib/torch/binder.h"

#include <algorithm>
#include <bit>

namespace tessera::stdlib {

int spread_argument(const OpEntry& entry) {
  if (!entry.has(kSizes)) return -1;
  const std::vector<SchemaArg>& args = entry.schema().args;
  for (size_t i = 0; i < args.size(); ++i)
    if (args[i].kind == ArgKind::IntList || args[i].kind == ArgKind::TensorList) return static_cast<int>(i);
  return -1;
}

bool makes_tensors(const OpSchema& schema) { return schema.find("dtype") >= 0 && schema.find("device") >= 0; }

Binder::Binder(Interpreter& in, const OpFunction& function, const OpEntry& entry)
    : entry_(&entry), spread_(spread_argument(entry)) {
  const OpSchema& schema = entry.schema();
  check(schema.args.size() < BoundCall::kMost, TensorErrorKind::Assertion, "too many arguments: ", entry.schema_text);
  size_ = schema.args.size();
  positional_ = static_cast<uint32_t>(schema.positional);
  for (size_t i = 0; i < schema.args.size(); ++i) {
    const SchemaArg& arg = schema.args[i];
    const bool number = entry.has(kNumberOperands) && i > 0;
    forms_.push_back({arg.kind, arg.optional, number, static_cast<uint8_t>(arg.fixed_size)});
    owned_defaults_.push_back(default_value(arg));
    if (!arg.has_default) required_ |= 1u << i;
  }
  if (function.is_functional && entry.has(kInplace)) {
    check(positional_ == forms_.size(), TensorErrorKind::Assertion, "where inplace stands: ", entry.schema_text);
    add_keyword(in, "inplace", static_cast<int>(forms_.size()));
    forms_.push_back({ArgKind::Bool, false, false, 0});
    owned_defaults_.push_back(false);
    ++positional_;
  }
  for (const OpArg& value : owned_defaults_) defaults_.push_back(Arg::of(value));
  add_keywords(in, function);
}

// First come, first served: an alias never hides an argument's own name.
void Binder::add_keyword(Interpreter& in, std::string_view name, int at) {
  const Str* const interned = intern(in, name);
  for (const Keyword& known : keywords_)
    if (known.name == interned) return;
  keywords_.push_back({interned, at});
}

void Binder::add_keywords(Interpreter& in, const OpFunction& function) {
  const OpSchema& schema = entry_->schema();
  for (size_t i = 0; i < schema.args.size(); ++i) {
    const std::string& name = schema.args[i].name;
    if (name != "self") add_keyword(in, name, static_cast<int>(i));
  }
  // Functions call self `input`, and both know NumPy's names.
  const auto alias = [&](std::string_view name, const char* of) {
    if (const int at = schema.find(of); at >= 0) add_keyword(in, name, at);
  };
  if (!function.is_method)
    for (const char* name : {"input", "x", "a", "x1"}) alias(name, "self");
  alias("axis", "dim");
  alias("keepdims", "keepdim");
  alias("x2", "other");
  if (entry_->has(kOut)) add_keyword(in, "out", kOutKeyword);
  if (makes_tensors(schema)) {
    add_keyword(in, "requires_grad", kRequiresGradKeyword);
    for (const char* name : {"pin_memory", "layout", "memory_format"}) add_keyword(in, name, kIgnored);
  }
}

bool Binder::find_keywords(Interpreter& in, const Tuple& names, int* places) const {
  if (names.size > BoundCall::kMost) return false;
  for (uint32_t i = 0; i < names.size; ++i) {
    const Str* name = as_str(names.items[i]);
    if (!(name->flags & kInterned)) name = intern(in, name->view());
    const auto found =
        std::find_if(keywords_.begin(), keywords_.end(), [&](const Keyword& k) { return k.name == name; });
    if (found == keywords_.end()) return false;
    places[i] = found->at;
  }
  return true;
}

// The cheap questions come first: most overloads that refuse do so by a keyword or by the count.
bool Binder::bind(Interpreter& in, const TorchState& state, const Args& args, BoundCall& call) const {
  int places[BoundCall::kMost];
  if (args.keyword_names != nullptr && !find_keywords(in, *args.keyword_names, places)) return false;
  const uint32_t given = args.positional();
  const bool spread =
      spread_ >= 0 && static_cast<uint32_t>(spread_) < given && bind_spread(in, state, args, given, call);
  if (!spread && given > positional_) return false;
  const uint32_t alone = spread ? static_cast<uint32_t>(spread_) : given;
  for (uint32_t i = 0; i < alone; ++i)
    if (!take_argument(in, state, args[i], forms_[i], call.scratch, call.args()[i])) return false;
  uint32_t seen = (1u << (spread ? alone + 1 : alone)) - 1;
  if (args.keyword_names != nullptr && !bind_keywords(in, state, args, places, seen, call)) return false;
  if ((required_ & ~seen) != 0) return false;
  const uint32_t all = (1u << forms_.size()) - 1;
  for (uint32_t rest = all & ~seen; rest != 0; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    new (call.args() + i) Arg(defaults_[static_cast<size_t>(i)]);
  }
  if (forms_.size() > size_) call.inplace = call.args()[size_].number().to_bool();
  return true;
}

// The values from the spread argument on, one by one. False: they are not given so.
bool Binder::bind_spread(Interpreter& in, const TorchState& state, const Args& args, uint32_t given,
                         BoundCall& call) const {
  const uint32_t from = static_cast<uint32_t>(spread_);
  Arg& out = call.args()[from];
  if (forms_[from].kind == ArgKind::TensorList) {
    if (!is_tensor(state, args[from])) return false;
    TensorList& list = call.scratch.tensors();
    for (uint32_t i = from; i < given; ++i) {
      if (!is_tensor(state, args[i])) return false;
      list.push_back(tensor_of(args[i]));
    }
    out = Arg(list);
    return true;
  }
  if (is_sequence(args[from])) return false;
  int64_t* const list = call.scratch.ints(given - from);
  for (uint32_t i = from; i < given; ++i)
    if (!to_int(in, args[i], list[i - from])) return false;
  out = Arg(Ints(list, given - from));
  return true;
}

bool Binder::bind_keywords(Interpreter& in, const TorchState& state, const Args& args, const int* places,
                           uint32_t& seen, BoundCall& call) const {
  const uint32_t first = args.positional();
  for (uint32_t i = 0; i < args.keyword_names->size; ++i) {
    const Value& v = args[first + i];
    const int at = places[i];
    if (at >= 0) {
      if (seen >> at & 1) return false;
      if (!take_argument(in, state, v, forms_[static_cast<size_t>(at)], call.scratch, call.args()[at])) return false;
      seen |= 1u << at;
    } else if (at == kOutKeyword) {
      if (!take_out(state, v, call)) return false;
    } else if (at == kRequiresGradKeyword) {
      if (!v.is_bool()) return false;
      call.requires_grad = v.as_bool();
    }
  }
  return true;
}

bool Binder::take_out(const TorchState& state, const Value& v, BoundCall& call) const {
  if (v.is_none()) return true;
  call.out_value = v;
  if (is_tensor(state, v)) {
    call.out.push_back(tensor_of(v));
    return true;
  }
  for (const Value& item : items_of(v)) {
    if (!is_tensor(state, item)) return false;
    call.out.push_back(tensor_of(item));
  }
  return is_sequence(v);
}

const std::vector<Binder>& binders_of(Interpreter& in, OpFunction& function) {
  if (function.binders.empty()) {
    function.binders.reserve(function.entries.size());
    for (const OpEntry* entry : function.entries) function.binders.emplace_back(in, function, *entry);
  }
  return function.binders;
}

}  // namespace tessera::stdlib

#include "stdlib/torch/sparse_tensors.h"
#include "stdlib/torch/binder.h"

#include <algorithm>
#include <bit>

namespace tessera::stdlib {

int spread_argument(const OpFunction& function, const OpEntry& entry) {
  if (!entry.has(kSizes)) return -1;
  const std::vector<SchemaArg>& args = entry.schema().args;
  // x.flip(0, 1), but torch.flip(x, (0, 1)): the list has to be the only positional argument.
  if (!function.is_method && !args.empty() && args[0].kind == ArgKind::Tensor) return -1;
  for (size_t i = 0; i < args.size(); ++i)
    if (args[i].kind == ArgKind::IntList || args[i].kind == ArgKind::TensorList) return static_cast<int>(i);
  return -1;
}

bool makes_tensors(const OpSchema& schema) { return schema.find("dtype") >= 0 && schema.find("device") >= 0; }

namespace {

// The name that PyTorch has for an argument: `exponent` where pow's entry says `other`.
std::string_view listed_name(const CallForms& forms, const OpSchema& schema, size_t at) {
  const std::string& own = schema.args[at].name;
  for (const OpSchema& form : forms.listed)
    if (form.find(own) >= 0) return own;
  const bool same_order =
      !forms.listed.empty() && at < forms.listed[0].args.size() && forms.listed[0].args[0].name == schema.args[0].name;
  return same_order ? std::string_view(forms.listed[0].args[at].name) : std::string_view(own);
}

}  // namespace

ArgumentForm argument_form(const OpFunction& function, const OpEntry& entry, const CallForms& forms, size_t at) {
  const OpSchema& schema = entry.schema();
  const SchemaArg& arg = schema.args[at];
  ArgumentForm form{arg.kind, arg.optional, false, false, static_cast<uint8_t>(arg.fixed_size)};
  if (arg.kind != ArgKind::Tensor) return form;
  const NumberRule rule = number_rule(entry, forms);
  if (at == 0) form.takes_number = rule == NumberRule::Anywhere && !function.is_method && !function.is_inplace;
  else if (rule == NumberRule::Listed) form.takes_number = may_be_number(forms, listed_name(forms, schema, at));
  else form.takes_number = rule == NumberRule::Anywhere;
  form.wraps_number = at == 0 || !entry.has(kNumberOperands);
  return form;
}

bool takes_numbers(OpFunction& function) {
  if (function.numbers == OpFunction::Numbers::Unknown) {
    const bool taken = std::any_of(function.entries.begin(), function.entries.end(), [&](const OpEntry* entry) {
      return entry->schema().args.size() > 1 &&
             argument_form(function, *entry, call_forms(entry->name), 1).takes_number;
    });
    function.numbers = taken ? OpFunction::Numbers::Taken : OpFunction::Numbers::Refused;
  }
  return function.numbers == OpFunction::Numbers::Taken;
}

Binder::Binder(Interpreter& in, const OpFunction& function, const OpEntry& entry, const CallForms& forms,
               bool reflected)
    : entry_(&entry), spread_(spread_argument(function, entry)) {
  const OpSchema& schema = entry.schema();
  check(schema.args.size() < BoundCall::kMost, TensorErrorKind::Assertion, "too many arguments: ", entry.schema_text);
  // Behind a tensor only methods take sizes one by one: x.permute(1, 0).
  if (spread_ > 0 && !function.is_method && schema.args[static_cast<size_t>(spread_)].kind == ArgKind::IntList)
    spread_ = -1;
  size_ = schema.args.size();
  positional_ = static_cast<uint32_t>(schema.positional);
  for (size_t i = 0; i < schema.args.size(); ++i) {
    const SchemaArg& arg = schema.args[i];
    forms_.push_back(argument_form(function, entry, forms, i));
    owned_defaults_.push_back(default_value(arg));
    if (!arg.has_default) required_ |= 1u << i;
  }
  if (function.is_functional && entry.has(kInplace)) {
    check(positional_ == forms_.size(), TensorErrorKind::Assertion, "where inplace stands: ", entry.schema_text);
    add_keyword(in, "inplace", static_cast<int>(forms_.size()));
    forms_.push_back({ArgKind::Bool, false, false, false, 0});
    owned_defaults_.push_back(false);
    ++positional_;
  }
  if (reflected) {
    forms_[0] = {ArgKind::Scalar, false, false, true, 0};
    forms_[1].takes_number = false;
  }
  for (const OpArg& value : owned_defaults_) defaults_.push_back(Arg::of(value));
  add_keywords(in, function);
  add_listed_keywords(in, forms);
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
    if (name == "pin_memory" && makes_tensors(schema)) continue;  // no op's business
    if (name != "self") add_keyword(in, name, static_cast<int>(i));
  }
  // Functions call self `input`, and both know NumPy's names.
  const auto alias = [&](std::string_view name, const char* of) {
    if (const int at = schema.find(of); at >= 0) add_keyword(in, name, at);
  };
  if (!function.is_method)
    for (const char* name : {"input", "x", "a", "x1"}) alias(name, "self");
  if (!function.is_method) alias("split_size_or_sections", "split_size");  // torch.split is written in Python there
  alias("axis", "dim");
  alias("keepdims", "keepdim");
  alias("x2", "other");
  if (entry_->has(kOut)) add_keyword(in, "out", kOutKeyword);
  if (makes_tensors(schema)) {
    add_keyword(in, "requires_grad", kRequiresGradKeyword);
    add_keyword(in, "pin_memory", kPinMemoryKeyword);
    add_keyword(in, "layout", kIgnored);
  }
}

// The names that PyTorch has for arguments, and what it takes and nothing here reads.
void Binder::add_listed_keywords(Interpreter& in, const CallForms& forms) {
  const OpSchema& schema = entry_->schema();
  for (const OpSchema& form : forms.listed)
    for (const SchemaArg& arg : form.args)
      if (arg.kind == ArgKind::MemoryFormat && schema.find(arg.name) < 0) add_keyword(in, arg.name, kIgnored);
  if (forms.listed.empty()) return;
  for (size_t i = 1; i < schema.args.size(); ++i) add_keyword(in, listed_name(forms, schema, i), static_cast<int>(i));
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
[[gnu::hot]] bool Binder::bind(Interpreter& in, const TorchState& state, const Args& args, BoundCall& call) const {
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
    } else if (at == kPinMemoryKeyword) {
      if (!v.is_bool() && !v.is_none()) return false;
      call.pin_memory = v.is_bool() && v.as_bool();
    } else if (names_sparse_layout(state, v)) {
      return false;
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

namespace {

// A number may stand in self's place where PyTorch lists that form and no entry of its own serves it.
bool takes_reflected(const OpFunction& function, const OpEntry& entry, const CallForms& forms) {
  const std::vector<SchemaArg>& args = entry.schema().args;
  if (function.is_method || function.is_inplace || number_rule(entry, forms) != NumberRule::Listed) return false;
  return args[0].name == "self" && args[0].kind == ArgKind::Tensor && may_be_number(forms, "self") &&
         std::none_of(function.entries.begin(), function.entries.end(),
                      [](const OpEntry* other) { return other->schema().args[0].kind == ArgKind::Scalar; });
}

}  // namespace

const std::vector<Binder>& binders_of(Interpreter& in, OpFunction& function) {
  if (function.binders.empty()) {
    for (const OpEntry* entry : function.entries) {
      const CallForms forms = call_forms(entry->name);
      function.binders.emplace_back(in, function, *entry, forms, false);
      if (takes_reflected(function, *entry, forms)) function.binders.emplace_back(in, function, *entry, forms, true);
    }
  }
  return function.binders;
}

}  // namespace tessera::stdlib

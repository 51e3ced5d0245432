#include "stdlib/torch/op_call.h"

#include <algorithm>
#include <array>

#include "lang/core/protocol.h"
#include "runtime/autograd/engine.h"
#include "stdlib/torch/convert.h"
#include "stdlib/torch/return_types.h"

namespace tessera::stdlib {
namespace {

// What a call becomes when a schema accepts it.
struct Bound {
  std::vector<OpArg> args;
  TensorList out;
  Value out_value;             // what out= was given, to hand back
  bool requires_grad = false;  // the keyword that every function that makes a tensor has
};

// Why a schema does not accept a call: PyTorch's sentence without the function's name.
struct Refusal {
  std::string message;
  bool counts_fit = false;  // the number of arguments would do; only their types are wrong
};

bool makes_tensors(const OpSchema& schema) { return schema.find("dtype") >= 0 && schema.find("device") >= 0; }

// Keywords under which an argument is known too: `input` for self in functions, NumPy's names elsewhere.
int find_argument(const OpSchema& schema, std::string_view name) {
  if (int at = schema.find(name); at >= 0) return at;
  if (name == "input" || name == "x" || name == "a" || name == "x1") return schema.find("self");
  if (name == "axis") return schema.find("dim");
  if (name == "keepdims") return schema.find("keepdim");
  if (name == "x2") return schema.find("other");
  return -1;
}

std::string shown_name(const SchemaArg& arg, const OpFunction& function) {
  return arg.name == "self" && !function.is_method ? "input" : arg.name;
}

// The first argument that may be given as several integers or tensors: view(2, 3), broadcast_tensors(a, b).
int sizes_argument(const OpEntry& entry, const OpSchema& schema) {
  if (!entry.has(kSizes)) return -1;
  for (size_t i = 0; i < schema.args.size(); ++i)
    if (schema.args[i].kind == ArgKind::IntList || schema.args[i].kind == ArgKind::TensorList)
      return static_cast<int>(i);
  return -1;
}

class Binder {
 public:
  Binder(Interpreter& in, const OpFunction& function, const OpEntry& entry, const Args& args)
      : in_(in),
        function_(function),
        entry_(entry),
        schema_(entry.schema()),
        args_(args),
        given_(schema_.args.size()) {}

  bool bind(Bound& bound, Refusal& refusal) {
    refusal_ = &refusal;
    bound.args.resize(schema_.args.size());
    return positional(bound) && keywords(bound) && defaults(bound);
  }

 private:
  bool refuse(std::string message) {
    refusal_->message = std::move(message);
    return false;
  }

  bool positional(Bound& bound) {
    const uint32_t count = args_.positional();
    const int sizes = sizes_argument(entry_, schema_);
    const bool given = sizes >= 0 && static_cast<uint32_t>(sizes) < count;
    const bool tensors = given && schema_.args[static_cast<size_t>(sizes)].kind == ArgKind::TensorList;
    const bool spread = given && (tensors ? is_tensor(torch_state(in_), args_[static_cast<uint32_t>(sizes)])
                                          : args_[static_cast<uint32_t>(sizes)].is_int());
    const size_t room = schema_.positional;
    if (!spread && count > room) {
      const size_t self = function_.is_method ? 1 : 0;
      return refuse("() takes " + std::to_string(room - self) + " positional argument" + (room - self == 1 ? "" : "s") +
                    " but " + std::to_string(count - self) + (count - self == 1 ? " was" : " were") + " given");
    }
    for (uint32_t i = 0; i < count; ++i) {
      if (spread && i == static_cast<uint32_t>(sizes))
        return tensors ? spread_tensors(bound, i, count) : spread_sizes(bound, i, count);
      if (!convert(bound, i, args_[i], static_cast<int>(i))) return false;
    }
    return true;
  }

  bool spread_tensors(Bound& bound, uint32_t from, uint32_t count) {
    TensorList list;
    for (uint32_t i = from; i < count; ++i) {
      if (!is_tensor(torch_state(in_), args_[i])) return wrong_type(from, args_[i], static_cast<int>(i));
      list.push_back(tensor_of(args_[i]));
    }
    bound.args[from] = std::move(list);
    given_[from] = true;
    return true;
  }

  bool spread_sizes(Bound& bound, uint32_t from, uint32_t count) {
    std::vector<int64_t> list;
    for (uint32_t i = from; i < count; ++i) {
      if (!args_[i].is_int()) return wrong_element(from, i);
      list.push_back(args_[i].as_int());
    }
    bound.args[from] = std::move(list);
    given_[from] = true;
    return true;
  }

  bool wrong_element(uint32_t at, uint32_t i) {
    refusal_->counts_fit = true;
    return refuse("(): argument '" + shown_name(schema_.args[at], function_) +
                  "' must be tuple of ints, but found element of type " + std::string(type_name(in_, args_[i])) +
                  " at pos " + std::to_string(i - at + 1));
  }

  bool convert(Bound& bound, uint32_t at, const Value& v, int position) {
    const SchemaArg& arg = schema_.args[at];
    const bool number = entry_.has(kNumberOperands) && at > 0;
    if (!convert_argument(in_, v, arg, number, bound.args[at])) return wrong_type(at, v, position);
    given_[at] = true;
    return true;
  }

  bool wrong_type(uint32_t at, const Value& v, int position) {
    refusal_->counts_fit = true;
    std::string where;
    if (position >= 0) where = " (position " + std::to_string(position + (function_.is_method ? 0 : 1)) + ")";
    return refuse("(): argument '" + shown_name(schema_.args[at], function_) + "'" + where + " must be " +
                  kind_name(schema_.args[at]) + ", not " + std::string(type_name(in_, v)));
  }

  bool keywords(Bound& bound) {
    if (args_.keyword_names == nullptr) return true;
    const uint32_t first = args_.positional();
    for (uint32_t i = 0; i < args_.keyword_names->size; ++i) {
      const std::string_view name = text_of(args_.keyword_names->items[i]);
      const Value& v = args_[first + i];
      if (name == "out" && entry_.has(kOut)) {
        if (!take_out(bound, v))
          return refuse("(): argument 'out' must be Tensor, not " + std::string(type_name(in_, v)));
        continue;
      }
      const int at = find_argument(schema_, name);
      if (at < 0 && name == "requires_grad" && v.is_bool() && makes_tensors(schema_)) {
        bound.requires_grad = v.as_bool();
        continue;
      }
      if (at < 0 && (name == "pin_memory" || name == "layout" || name == "memory_format") && makes_tensors(schema_))
        continue;
      if (at < 0) return refuse("() got an unexpected keyword argument '" + std::string(name) + "'");
      if (given_[static_cast<size_t>(at)])
        return refuse("() got multiple values for argument '" + std::string(name) + "'");
      if (!convert(bound, static_cast<uint32_t>(at), v, -1)) return false;
    }
    return true;
  }

  bool take_out(Bound& bound, const Value& v) {
    const TorchState& state = torch_state(in_);
    if (v.is_none()) return true;
    bound.out_value = v;
    if (is_tensor(state, v)) {
      bound.out.push_back(tensor_of(v));
      return true;
    }
    if (!is_tuple(v)) return false;
    for (const Value& item : *as_tuple(v)) {
      if (!is_tensor(state, item)) return false;
      bound.out.push_back(tensor_of(item));
    }
    return true;
  }

  bool defaults(Bound& bound) {
    std::vector<std::string> missing;
    for (size_t i = 0; i < schema_.args.size(); ++i) {
      if (given_[i]) continue;
      const SchemaArg& arg = schema_.args[i];
      if (arg.has_default) bound.args[i] = default_value(arg);
      else missing.push_back('"' + shown_name(arg, function_) + '"');
    }
    if (missing.empty()) return true;
    std::string names = missing[0];
    for (size_t i = 1; i < missing.size(); ++i) names += ", " + missing[i];
    // PyTorch says "arguments" of one too.
    return refuse("() missing " + std::to_string(missing.size()) + " required positional arguments: " + names);
  }

  Interpreter& in_;
  const OpFunction& function_;
  const OpEntry& entry_;
  const OpSchema& schema_;
  const Args& args_;
  std::vector<bool> given_;
  Refusal* refusal_ = nullptr;
};

Value run(Interpreter& in, const OpFunction& function, const OpEntry& entry, const Args& args, Bound& bound) {
  TorchState& state = torch_state(in);
  return in_torch(in, args, [&]() -> Value {
    if (function.is_inplace) bound.out.assign(1, tensor_of(args[0]));
    OpCall call{entry, state.context, bound.args, bound.out, {}};
    entry.kernel(call);
    if (function.is_inplace) return args[0];
    if (!bound.out_value.is_undefined()) return bound.out_value;
    if (call.results.empty()) return Value::none();
    if (call.results.size() > 1) return wrap_results(in, entry, call.results);
    if (Tensor* result = std::get_if<Tensor>(&call.results[0])) {
      if (args.count > 0 && is_tensor(state, args[0]) && tensor_of(args[0]).same(*result)) return args[0];
      if (bound.requires_grad) {
        check(is_differentiable(result->dtype()), TensorErrorKind::Runtime,
              "Only Tensors of floating point and complex dtype can require gradients");
        set_requires_grad(*result, true);
      }
    }
    return wrap_result(in, call.results[0]);
  });
}

// "(Tensor, str, dim=int)": the types of a call, for messages.
std::string call_types(Interpreter& in, const OpFunction& function, const Args& args) {
  std::string text = "(";
  const uint32_t count = args.positional();
  for (uint32_t i = function.is_method ? 1 : 0; i < args.count; ++i) {
    if (text.size() > 1) text += ", ";
    if (i >= count) text += std::string(text_of(args.keyword_names->items[i - count])) + "=";
    text += i >= count ? std::string(type_name(in, args[i])) : value_kind_name(in, args[i]);
  }
  return text + ")";
}

// " * (Tensor input, *, Tensor out)": one line of the list of forms.
std::string form_text(const OpFunction& function, const OpEntry& entry) {
  std::string text = " * (";
  bool first = true, starred = false;
  for (const SchemaArg& arg : entry.schema().args) {
    if (function.is_method && arg.name == "self") continue;
    if (!first) text += ", ";
    first = false;
    if (arg.keyword_only && !starred) {
      text += "*, ";
      starred = true;
    }
    text += std::string(kind_name(arg)) + " " + shown_name(arg, function);
    if (arg.has_default) text += " = " + arg.default_text;
  }
  return text + ")\n";
}

[[noreturn]] void refuse_call(Interpreter& in, const OpFunction& function, const Args& args,
                              const std::vector<Refusal>& refusals) {
  if (refusals.size() == 1) throw Error(ErrorKind::TypeError, function.name + refusals[0].message);
  // PyTorch names the one form whose number of arguments fits, or else lists them all.
  const Refusal* fitting = nullptr;
  size_t fits = 0;
  for (const Refusal& refusal : refusals)
    if (refusal.counts_fit) fitting = &refusal, ++fits;
  if (fits == 1) throw Error(ErrorKind::TypeError, function.name + fitting->message);
  std::string text = function.name + "() received an invalid combination of arguments - got " +
                     call_types(in, function, args) + ", but expected one of:\n";
  for (const OpEntry* entry : function.entries) text += form_text(function, *entry);
  throw Error(ErrorKind::TypeError, text);
}

Value call_general(Interpreter& in, const OpFunction& function, const Args& args) {
  if (function.is_inplace && (args.count == 0 || !is_tensor(torch_state(in), args[0])))
    throw Error(ErrorKind::TypeError, function.name + "(): argument 'input' (position 1) must be Tensor, not " +
                                          (args.count == 0 ? "NoneType" : std::string(type_name(in, args[0]))));
  std::vector<Refusal> refusals;
  for (const OpEntry* entry : function.entries) {
    Bound bound;
    Refusal refusal;
    const bool fits = in_torch(in, args, [&] { return Binder(in, function, *entry, args).bind(bound, refusal); });
    if (fits) return run(in, function, *entry, args, bound);
    refusals.push_back(std::move(refusal));
  }
  refuse_call(in, function, args, refusals);
}

// `x.float() is x` where x is float already: an op that hands its operand back keeps the object.
Value wrap_unless_same(Interpreter& in, Tensor result, const Value& operand) {
  return tensor_of(operand).same(result) ? operand : wrap_tensor(in, std::move(result));
}

// Calls with plain operands, which cost what the op costs.
bool call_fast(Interpreter& in, const OpFunction& function, const Args& args, Value& result) {
  const TorchState& state = torch_state(in);
  const FastPaths& fast = function.fast;
  if (args.keyword_names != nullptr || args.count == 0 || args.count > 2 || !is_tensor(state, args[0])) return false;
  const Tensor& x = tensor_of(args[0]);
  if (args.count == 1) {
    if (function.is_inplace ? fast.unary_inplace == nullptr : fast.unary == nullptr) return false;
    result = in_torch(in, args, [&] {
      if (!function.is_inplace) return wrap_unless_same(in, fast.unary(x), args[0]);
      fast.unary_inplace(x);
      return args[0];
    });
    return true;
  }
  Scalar number;
  if (is_tensor(state, args[1])) {
    if (function.is_inplace ? fast.binary_inplace == nullptr : fast.binary == nullptr) return false;
    result = in_torch(in, args, [&] {
      if (!function.is_inplace) return wrap_tensor(in, fast.binary(x, tensor_of(args[1]), 0));
      fast.binary_inplace(x, tensor_of(args[1]));
      return args[0];
    });
    return true;
  }
  if (!to_scalar(args[1], number)) return false;
  if (function.is_inplace ? fast.scalar_inplace == nullptr : fast.tensor_scalar == nullptr) return false;
  result = in_torch(in, args, [&] {
    if (!function.is_inplace) return wrap_tensor(in, fast.tensor_scalar(x, number, 0));
    fast.scalar_inplace(x, number);
    return args[0];
  });
  return true;
}

Value call_op_function(Interpreter& in, const Args& args) {
  const auto& function = *static_cast<const OpFunction*>(args.callee->data.get());
  Value result;
  if (call_fast(in, function, args, result)) return result;
  return call_general(in, function, args);
}

// Fast pointers may serve a name only where every overload that takes the same operands agrees with them.
FastPaths fast_paths(std::span<const OpEntry* const> entries) {
  FastPaths merged;
  for (const OpEntry* entry : entries) {
    const FastPaths& f = entry->fast;
    if (merged.unary == nullptr) merged.unary = f.unary;
    if (merged.binary == nullptr) merged.binary = f.binary;
    if (merged.tensor_scalar == nullptr) merged.tensor_scalar = f.tensor_scalar;
    if (merged.unary_inplace == nullptr) merged.unary_inplace = f.unary_inplace;
    if (merged.binary_inplace == nullptr) merged.binary_inplace = f.binary_inplace;
    if (merged.scalar_inplace == nullptr) merged.scalar_inplace = f.scalar_inplace;
  }
  return merged;
}

bool has_form(std::span<const OpEntry* const> entries, uint32_t form) {
  return std::any_of(entries.begin(), entries.end(),
                     [&](const OpEntry* entry) { return form == kInternal || (entry->flags & form) != 0; });
}

}  // namespace

Value make_op_function(Interpreter& in, std::string_view name, uint32_t form) {
  TorchState& state = torch_state(in);
  std::span<const OpEntry* const> entries = find_op(name);
  bool inplace = false;
  if (entries.empty() && name.size() > 1 && name.back() == '_') {
    entries = find_op(name.substr(0, name.size() - 1));
    inplace = true;
    if (!has_form(entries, kInplace)) return Value();
  }
  const bool shown = inplace && form == kMethod ? true : has_form(entries, form);
  if (entries.empty() || !shown) return Value();
  state.functions.push_back({std::string(name), entries, form == kMethod, inplace, fast_paths(entries)});
  Value function = in.new_function(state.functions.back().name.c_str(), entries[0]->doc, call_op_function,
                                   std::shared_ptr<void>(std::shared_ptr<void>(), &state.functions.back()));
  if (form == kMethod) static_cast<NativeFunction*>(function.as_object())->owner = state.tensor;
  return function;
}

Value call_op_by_name(Interpreter& in, std::string_view name, const Args& args) {
  const std::span<const OpEntry* const> entries = find_op(name);
  if (entries.empty())
    throw Error(ErrorKind::NotImplementedError, "operation '" + std::string(name) + "' does not exist");
  return call_general(in, OpFunction{std::string(name), entries, false, false, {}}, args);
}

}  // namespace tessera::stdlib

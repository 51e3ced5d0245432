// compile: small (text of help)
#include "stdlib/torch/op_example.h"

#include <algorithm>
#include <cmath>

#include "runtime/autograd/engine.h"
#include "runtime/autograd/node.h"
#include "runtime/format.h"
#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/samples.h"
#include "runtime/ops/views.h"
#include "runtime/random.h"

namespace tessera::stdlib {
namespace {

constexpr int64_t kMost = 12;  // elements of a tensor in an example

// Two digits behind the point.
std::string short_text(double x) { return float_text(std::round(x * 100) / 100); }

std::string number_text(const Scalar& x, DType type) {
  if (is_complex(type)) {
    const std::complex<double> z = x.to_complex();
    const std::string imaginary = short_text(z.imag());
    return short_text(z.real()) + (imaginary[0] == '-' ? "" : "+") + imaginary + "j";
  }
  if (is_bool(type)) return x.to_bool() ? "True" : "False";
  return is_floating(type) ? short_text(x.to_double()) : std::to_string(x.to_int());
}

std::string nested_text(const Tensor& t) {
  if (t.dim() == 0) return number_text(t.item(), t.dtype());
  std::string text = "[";
  for (int64_t i = 0; i < t.size(0); i++) text += (i ? ", " : "") + nested_text(tensor::select(t, 0, i));
  return text + "]";
}

std::string tensor_literal(const Tensor& t) {
  const DType type = t.dtype();
  const bool usual = is_implied(type, kFloat32);
  return "torch.tensor(" + nested_text(t) + (usual ? "" : std::string(", dtype=torch.") + name(type)) + ")";
}

bool is_short(const Tensor& t) { return t.numel() > 0 && t.numel() <= kMost && t.is_contiguous(); }

// What the literal is read as.
Tensor rounded(const Tensor& t) {
  if (is_complex(t.dtype())) return view_as_complex(rounded(view_as_real(t)));
  if (!is_floating(t.dtype())) return t;
  return to_dtype(round(to_dtype(t, kFloat64) * 100.0) / 100.0, t.dtype());
}

// The arguments' texts, parted at the commas outside of brackets.
std::vector<std::string> parts_of(std::string_view call) {
  std::vector<std::string> parts(1);
  int depth = 0;
  bool quoted = false;
  for (const char c : call) {
    quoted ^= c == '\'';
    if (!quoted) depth += (c == '[' || c == '(' || c == '{') - (c == ']' || c == ')' || c == '}');
    if (c == ',' && depth == 0 && !quoted) parts.emplace_back();
    else if (c != ' ' || !parts.back().empty()) parts.back() += c;
  }
  return parts;
}

// An argument as a program writes it; empty if that is no short text. Tensors are rounded on the way.
std::string argument_text(OpArg& value, const std::string& written) {
  if (auto* tensor = std::get_if<Tensor>(&value)) {
    if (tensor->is_wrapped_number()) return written;
    if (!is_short(*tensor)) return {};
    *tensor = rounded(*tensor);
    return tensor_literal(*tensor);
  }
  if (auto* list = std::get_if<TensorList>(&value)) {
    std::string text = "[";
    for (Tensor& each : *list) {
      if (!is_short(each)) return {};
      each = rounded(each);
      text += (text.size() > 1 ? ", " : "") + tensor_literal(each);
    }
    return text + "]";
  }
  if (std::holds_alternative<DType>(value)) return "torch." + written;
  return std::holds_alternative<std::vector<OptionalTensor>>(value) ? "" : written;
}

std::string path_of(const OpEntry& entry) {
  const auto without = [&](std::string_view prefix) {
    const std::string_view name = entry.name;
    return std::string(name.starts_with(prefix) ? name.substr(prefix.size()) : name);
  };
  if (entry.has(kFunction)) return std::string("torch.") + entry.name;
  if (entry.has(kFunctional)) return std::string("torch.nn.functional.") + entry.name;
  if (entry.has(kLinalg)) return "torch.linalg." + without("linalg_");
  if (entry.has(kSpecial)) return "torch.special." + without("special_");
  return entry.has(kFft) ? "torch.fft." + without("fft_") : "";
}

std::string value_text(const OpArg& value) {
  if (const auto* tensor = std::get_if<Tensor>(&value)) return tensor_text(*tensor);
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "True" : "False";
  if (const auto* whole = std::get_if<int64_t>(&value)) return std::to_string(*whole);
  if (const auto* list = std::get_if<TensorList>(&value)) {
    std::string text = "(";
    for (const Tensor& each : *list) text += (text.size() > 1 ? ", " : "") + tensor_text(each);
    return text + (list->size() == 1 ? ",)" : ")");
  }
  return {};
}

std::string results_text(const OpEntry& entry, const std::vector<OpArg>& results) {
  if (results.size() == 1) return value_text(results[0]);
  const auto& schema = entry.schema().results;
  const bool named = schema.size() == results.size() && !results.empty() && !schema[0].name.empty();
  std::string text = named ? std::string("torch.return_types.") + entry.name + "(\n" : "(";
  for (size_t i = 0; i < results.size(); i++) {
    if (i) text += named ? ",\n" : ", ";
    text += (named ? schema[i].name + "=" : "") + value_text(results[i]);
  }
  return text + ")";
}

// Whether a result of floating numbers follows the first such argument.
bool has_gradient(const OpEntry& entry, const Sample& sample) {
  std::vector<OpArg> args = sample_args(entry, sample);
  for (OpArg& arg : args) {
    auto* tensor = std::get_if<Tensor>(&arg);
    if (tensor == nullptr || !is_differentiable(tensor->dtype()) || tensor->is_wrapped_number()) continue;
    set_requires_grad(*tensor, true);
    try {
      for (const OpArg& result : call_op(entry, args)) {
        if (const auto* list = std::get_if<TensorList>(&result)) return !list->empty() && list->front().requires_grad();
        if (const auto* t = std::get_if<Tensor>(&result); t && is_differentiable(t->dtype())) return t->requires_grad();
      }
    } catch (const TensorError&) {  // refused: as resize_ does
    }
    return false;
  }
  return true;  // nothing to follow
}

bool has_several_elements(const OpArg& arg) {
  const auto* tensor = std::get_if<Tensor>(&arg);
  return tensor == nullptr || !tensor->defined() || tensor->is_wrapped_number() || tensor->numel() > 1;
}

// One sample as an example, or nothing if it is not short.
std::string example_of(const OpFunction& function, const OpEntry& entry, const Sample& sample) {
  std::vector<OpArg> args = sample_args(entry, sample);
  const std::vector<std::string> parts = parts_of(sample.call);
  const std::string path = path_of(entry);
  std::string call, receiver;
  for (size_t i = 0; i < parts.size() && !parts[i].empty(); i++) {
    const size_t equals = parts[i].find('=');
    const bool keyword = equals != std::string::npos && parts[i][0] != '\'';
    const int at = keyword ? entry.schema().find(parts[i].substr(0, equals)) : int(i);
    const std::string text = argument_text(args.at(size_t(at)), keyword ? parts[i].substr(equals + 1) : parts[i]);
    if (text.empty()) return {};
    if (path.empty() && i == 0) receiver = text;
    else call += (call.empty() ? "" : ", ") + (keyword ? parts[i].substr(0, equals + 1) : "") + text;
  }
  if (path.empty() && (receiver.empty() || !function.is_method)) return {};
  const std::string result = results_text(entry, call_op(entry, args));
  const std::string shown = path.empty() ? receiver + "." + entry.name : path;
  if (result.empty()) return {};
  return (entry.has(kRandom) ? ">>> _ = torch.manual_seed(0)\n" : "") + (">>> " + shown + "(" + call + ")\n") + result;
}

}  // namespace

bool is_differentiable(const OpFunction& function) {
  Context apart;
  const ContextScope scope(apart);
  for (const OpEntry* entry : function.entries)
    for (const Sample& sample : samples_of(*entry))
      if (sample.error_kind.empty()) {
        if (has_gradient(*entry, sample)) return true;
        break;
      }
  return false;
}

std::string op_example(const OpFunction& function) {
  if (function.is_inplace) return {};
  Context apart;  // random numbers and settings of the program stay as they are
  const ContextScope scope(apart);
  for (const bool any_size : {false, true})
    for (const OpEntry* entry : function.entries) {
      if (entry->has(kUninitialised) || entry->has(kProperty)) continue;
      for (const Sample& sample : samples_of(*entry)) {
        if (!sample.error_kind.empty()) continue;
        const std::vector<OpArg> args = sample_args(*entry, sample);
        if (!any_size && !std::all_of(args.begin(), args.end(), has_several_elements)) continue;
        apart.generator().manual_seed(0);
        if (std::string text = example_of(function, *entry, sample); !text.empty()) return text;
      }
    }
  return {};
}

}  // namespace tessera::stdlib

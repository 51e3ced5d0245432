#include "embed/op_arguments.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "embed/handles.h"
#include "runtime/error.h"
#include "runtime/ops/op.h"

namespace tessera::embed {
namespace {

using tensor::ArgKind;
using tensor::OpArg;
using tensor::OpEntry;
using tensor::SchemaArg;
using tensor::Tensor;
using tensor::TensorErrorKind;

bool is_number(const tsr_argument& given) {
  return given.kind == TSR_ARG_BOOL || given.kind == TSR_ARG_INT || given.kind == TSR_ARG_FLOAT;
}

const char* text_of(const tsr_argument& given) {
  if (given.as.text == nullptr) throw UsageError{"a text that is NULL"};
  return given.as.text;
}

OpArg number_of(const tsr_argument& given) {
  if (given.kind == TSR_ARG_BOOL) return given.as.integer != 0;
  if (given.kind == TSR_ARG_INT) return given.as.integer;
  return given.as.real;
}

std::vector<int64_t> integers_of(const tsr_argument& given) {
  return {given.as.integers, given.as.integers + given.count};
}

// The value for a parameter, or nothing: it does not take that kind. `numbers`: a number may stand for a tensor.
std::optional<OpArg> convert(const tsr_argument& given, const SchemaArg& wanted, bool numbers) {
  if (given.kind == TSR_ARG_NONE) return wanted.optional ? std::optional<OpArg>(OpArg()) : std::nullopt;
  const auto when = [](bool fits, auto&& make) { return fits ? std::optional<OpArg>(make()) : std::nullopt; };
  const bool is_int = given.kind == TSR_ARG_INT || given.kind == TSR_ARG_BOOL;
  switch (wanted.kind) {
    case ArgKind::Tensor:
      if (numbers && is_number(given)) return number_of(given);
      return when(given.kind == TSR_ARG_TENSOR, [&] { return OpArg(tensor_of(given.as.tensor)); });
    case ArgKind::TensorList:
      return when(given.kind == TSR_ARG_TENSORS, [&] {
        tensor::TensorList list;
        for (size_t i = 0; i < given.count; ++i) list.push_back(tensor_of(given.as.tensors[i]));
        return OpArg(std::move(list));
      });
    case ArgKind::OptionalTensorList:
      return when(given.kind == TSR_ARG_TENSORS, [&] {
        std::vector<tensor::OptionalTensor> list;
        for (size_t i = 0; i < given.count; ++i) {
          if (given.as.tensors[i] == nullptr) list.emplace_back();
          else list.emplace_back(tensor_of(given.as.tensors[i]));
        }
        return OpArg(std::move(list));
      });
    case ArgKind::Int: return when(is_int, [&] { return OpArg(given.as.integer); });
    case ArgKind::IntList:
      if (is_int && wanted.fixed_size > 0)
        return OpArg(std::vector<int64_t>(static_cast<size_t>(wanted.fixed_size), given.as.integer));
      return when(given.kind == TSR_ARG_INTS, [&] { return OpArg(integers_of(given)); });
    case ArgKind::Float:
      return when(is_number(given),
                  [&] { return OpArg(is_int ? static_cast<double>(given.as.integer) : given.as.real); });
    case ArgKind::FloatList:
      if (given.kind == TSR_ARG_INTS) {
        return OpArg(std::vector<double>(given.as.integers, given.as.integers + given.count));
      }
      return when(given.kind == TSR_ARG_FLOATS,
                  [&] { return OpArg(std::vector<double>(given.as.reals, given.as.reals + given.count)); });
    case ArgKind::Bool: return when(is_int, [&] { return OpArg(given.as.integer != 0); });
    case ArgKind::Scalar: return when(is_number(given), [&] { return number_of(given); });
    case ArgKind::DType:
      return when(given.kind == TSR_ARG_DTYPE && given.as.integer >= 0 && given.as.integer < tensor::kDTypeCount,
                  [&] { return OpArg(static_cast<tensor::DType>(given.as.integer)); });
    case ArgKind::Device:
      return when(given.kind == TSR_ARG_TEXT, [&] { return OpArg(tensor::Device::parse(text_of(given))); });
    case ArgKind::String: return when(given.kind == TSR_ARG_TEXT, [&] { return OpArg(std::string(text_of(given))); });
    default: return std::nullopt;
  }
}

// The arguments in the schema's order; nothing: this overload does not take them.
std::optional<std::vector<OpArg>> bind(const OpEntry& entry, const tsr_argument* given, size_t count) {
  const tensor::OpSchema& schema = entry.schema();
  std::vector<std::optional<OpArg>> slots(schema.args.size());
  for (size_t i = 0; i < count; ++i) {
    const bool is_list =
        given[i].kind == TSR_ARG_TENSORS || given[i].kind == TSR_ARG_INTS || given[i].kind == TSR_ARG_FLOATS;
    if (is_list && given[i].count != 0 && given[i].as.integers == nullptr) throw UsageError{"a list that is NULL"};
    const int at = given[i].name != nullptr ? schema.find(given[i].name)
                   : i < schema.positional  ? static_cast<int>(i)
                                            : -1;
    if (at < 0 || slots[static_cast<size_t>(at)]) return {};
    const bool numbers = at > 0 && entry.has(tensor::kNumberOperands);
    slots[static_cast<size_t>(at)] = convert(given[i], schema.args[static_cast<size_t>(at)], numbers);
    if (!slots[static_cast<size_t>(at)]) return {};
  }
  std::vector<OpArg> bound;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i] && !schema.args[i].has_default) return {};
    bound.push_back(slots[i] ? std::move(*slots[i]) : tensor::default_value(schema.args[i]));
  }
  return bound;
}

const char* kind_name(const tsr_argument& given) {
  static constexpr const char* kNames[] = {
      "None",        "bool", "int", "float", "Tensor", "tuple of Tensors", "tuple of ints", "tuple of floats",
      "torch.dtype", "str"};
  return given.kind >= 0 && static_cast<size_t>(given.kind) < std::size(kNames) ? kNames[given.kind] : "?";
}

[[noreturn]] void refuse(const std::string& name, std::span<const OpEntry* const> entries, const tsr_argument* given,
                         size_t count) {
  std::string text = name + "() received an invalid combination of arguments - got (";
  for (size_t i = 0; i < count; ++i) {
    if (i != 0) text += ", ";
    text += (given[i].name != nullptr ? std::string(given[i].name) + "=" : "") + kind_name(given[i]);
  }
  tensor::TensorError error(TensorErrorKind::Type, text + ")");
  for (const OpEntry* entry : entries) error.add_note(std::string("it takes ") + entry->schema_text);
  throw error;
}

tensor::TensorList tensors_of(const std::string& name, std::vector<OpArg> results) {
  tensor::TensorList list;
  for (OpArg& result : results) {
    if (Tensor* one = std::get_if<Tensor>(&result)) list.push_back(std::move(*one));
    else if (auto* many = std::get_if<tensor::TensorList>(&result)) list.insert(list.end(), many->begin(), many->end());
    else tensor::fail(TensorErrorKind::Type, name, " answers what is no tensor");
  }
  return list;
}

}  // namespace

tensor::TensorList call_op(const char* given_name, const tsr_argument* arguments, size_t count) {
  std::string name = given_name;
  std::span<const OpEntry* const> entries = tensor::find_op(name);
  const bool inplace = entries.empty() && name.ends_with("_");
  if (inplace) entries = tensor::find_op(std::string_view(name).substr(0, name.size() - 1));
  bool any = false;
  for (const OpEntry* entry : entries) {
    if (entry->has(tensor::kInternal) || (inplace && !entry->has(tensor::kInplace))) continue;
    any = true;
    auto bound = bind(*entry, arguments, count);
    if (!bound) continue;
    if (!inplace) return tensors_of(name, tensor::call_op(*entry, std::move(*bound)));
    Tensor self = std::get<Tensor>(bound->front());
    return tensors_of(name, tensor::call_op(*entry, std::move(*bound), {&self, 1}));
  }
  if (!any) tensor::fail(TensorErrorKind::Attribute, "there is no operation '", name, "'");
  refuse(name, entries, arguments, count);
}

}  // namespace tessera::embed

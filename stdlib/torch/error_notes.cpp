// compile: small (runs after an error)
#include "stdlib/torch/error_notes.h"

#include <algorithm>

#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/types/list.h"
#include "lang/vm/frame.h"
#include "lang/vm/vm.h"
#include "runtime/autograd/node.h"
#include "stdlib/torch/error_hints.h"
#include "stdlib/torch/error_operands.h"

namespace tessera::stdlib {
namespace {

using lang::Code;
using lang::Frame;
using lang::is_library;

bool says(const std::string& message, const char* part) { return message.find(part) != std::string::npos; }

// The tensor that a backward pass found changed is none of its operands: the variable that looks like it, by what the
// message says of its type, sizes and version.
bool looks_changed(const Tensor& t, const std::string& message) {
  const std::string looks = std::string(scalar_type_name(t.dtype())) + "Tensor " + shape_str(t.sizes()) + "]";
  return says(message, looks.c_str()) && says(message, ("is at version " + std::to_string(t.version()) + ";").c_str());
}

bool devices_matter(const std::vector<Operand>& operands) {
  return std::any_of(operands.begin(), operands.end(), [](const Operand& o) { return !o.tensor->device().is_cpu(); });
}

bool gradients_matter(const std::string& message) {
  return says(message, "grad") || says(message, "backward") || says(message, "leaf");
}

// A layer has more than what the message is about: of its parameters the weights, unless another one is named.
bool is_of_interest(const Operand& operand, const std::string& message) {
  if (!operand.of_layer) return true;
  const std::string key = operand.name.substr(operand.name.rfind('.') + 1);
  if (says(message, "per channel")) return false;
  return key.find("weight") != key.npos || says(message, key.c_str()) || key.find('_') == key.npos
             ? key != "bias" || says(message, "bias")
             : false;
}

struct Shown {
  bool device, gradient;
};

std::string note_of(const Operand& operand, size_t number, Shown shown) {
  const Tensor& t = *operand.tensor;
  std::string note = operand.name.empty() ? "operand " + std::to_string(number) : operand.name;
  note += ": " + describe(t);
  if (operand.is_array) note += " array";
  if (shown.device) note += " on " + t.device().str();
  if (shown.gradient && needs_grad(t)) {
    const auto node = grad_fn_of(t);
    note += node ? ", grad_fn=<" + std::string(node->name) + ">" : ", requires_grad=True";
  } else if (shown.gradient && !operand.is_array) {
    note += ", requires_grad=False";
  }
  return operand.origin.empty() ? note : note + ", " + operand.origin;
}

}  // namespace

std::vector<std::string> notes_of(Interpreter& in, const std::string& message, std::span<const Value> operands) {
  std::vector<std::string> notes;
  const Refusal refusal = describe_refusal(in, operands);
  const Shown shown{devices_matter(refusal.operands), gradients_matter(message)};
  std::vector<std::pair<const Object*, std::string_view>> seen;
  for (size_t i = 0; i < refusal.operands.size(); ++i) {
    const Operand& operand = refusal.operands[i];
    if (!is_of_interest(operand, message)) continue;
    // A value that is stored, and stands elsewhere: what the number would count nobody sees.
    if (operand.name.empty() && refusal.failing && refusal.failing->kind == lang::FailingExpression::Kind::kSubscript)
      continue;
    const std::pair<const Object*, std::string_view> one{operand.value.as_object(), operand.name};
    if (std::find(seen.begin(), seen.end(), one) != seen.end()) continue;
    seen.push_back(one);
    notes.push_back(note_of(operand, i + 1, shown));
  }
  if (says(message, "modified by an inplace operation"))
    if (const std::string changed = describe_variable(in, looks_changed, message); !changed.empty())
      notes.push_back("changed since then: " + changed);
  if (refusal.in_library && !refusal.running.layer.is_undefined())
    notes.push_back("in layer " + (refusal.running.path.empty() ? "" : refusal.running.path + ": ") +
                    refusal.layer_class());
  if (std::string hint = hint_for(refusal, message); !hint.empty()) notes.push_back(std::move(hint));
  return notes;
}

void note_refusal(Interpreter& in, const Value& exception) {
  // Nothing is wrong with an operand; and hasattr() asks often.
  if (is_error(in, exception, ErrorKind::AttributeError)) {
    if (in.vm().top() != nullptr) note_language_error(in, exception, *in.vm().top());
    return;
  }
  if (is_error(in, exception, ErrorKind::StopIteration)) return;
  std::vector<Value> operands;
  for (const Frame* frame = in.vm().top(); frame != nullptr && is_library(*frame) && operands.empty();
       frame = calling_frame(*frame))
    for (uint32_t i = 0; frame->registers != nullptr && i < frame->code->near_parameters; ++i)
      if (holds_tensors(in, frame->registers[i])) operands.push_back(frame->registers[i]);
  if (operands.empty()) return;
  std::vector<std::string>& notes = as_exception(exception)->notes;
  const std::vector<std::string> found = notes_of(in, str_text(in, exception), operands);
  notes.insert(notes.begin(), found.begin(), found.end());
}

std::string hint_for_argument(Interpreter& in, const Value& v) {
  std::string before, after = ")";
  if (given_type(in, v) == "numpy.ndarray") {
    before = "torch.from_numpy(";
    if (expect_tensor(in, v, "array").dtype() == kFloat64) after = ").float()";
  } else if (is_list(v)) {
    before = "torch.tensor(";
  } else {
    return "";
  }
  const std::string mended = with_argument_replaced(in, v, before, after);
  if (mended.empty()) return "hint: " + before + "x" + after + " makes a tensor of it";
  return "hint: " + mended + " would fit";
}

void note_language_error(Interpreter& in, const Value& exception, const Frame& frame) {
  const ErrorKind kinds[] = {ErrorKind::TypeError, ErrorKind::AttributeError, ErrorKind::NameError,
                             ErrorKind::ImportError, ErrorKind::IndexError};
  if (std::none_of(std::begin(kinds), std::end(kinds), [&](ErrorKind kind) { return is_error(in, exception, kind); }))
    return;
  std::vector<std::string>& notes = as_exception(exception)->notes;
  if (!notes.empty()) return;
  std::string hint = hint_for_language_error(in, exception, str_text(in, exception), frame);
  if (!hint.empty()) notes.push_back(std::move(hint));
}

}  // namespace tessera::stdlib

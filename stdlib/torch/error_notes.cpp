#include "stdlib/torch/error_notes.h"

#include <algorithm>
#include <optional>

#include "lang/compiler/chunk.h"
#include "lang/core/protocol.h"
#include "lang/core/type.h"
#include "lang/objects/exception.h"
#include "lang/syntax/source.h"
#include "lang/types/dict.h"
#include "lang/vm/frame.h"
#include "lang/vm/frame_object.h"
#include "lang/vm/vm.h"

namespace tessera::stdlib {
namespace {

using lang::Code;
using lang::Dict;
using lang::Frame;
using lang::Source;

bool is_library(const Frame& frame) { return frame.code->source->name().starts_with("stdlib/"); }

// Layers ---------------------------------------------------------------------------------------------------------

// An instance of torch.nn.Module, whose own attributes can be read without running code of its class.
bool is_layer(const Value& v) {
  if (!v.is_object() || v.as_object()->kind != ObjectKind::Instance) return false;
  const auto& order = v.as_object()->type->mro;
  return std::any_of(order.begin(), order.end(), [](const Type* type) {
    return type->name->view() == "Module" && type->module != nullptr &&
           type->module->view() == "torch.nn.modules.module";
  });
}

// The key under which one of a layer's dicts (_modules, _parameters, _buffers) holds an object.
std::optional<std::string> key_in(Interpreter& in, const Value& layer, const char* dict, const Value& wanted) {
  const Value held = find_attr(in, layer, intern(in, dict));
  if (!is_dict(held)) return std::nullopt;
  std::optional<std::string> found;
  dict_for_each(as_dict(held), [&](const Value& key, const Value& value) {
    if (value.is_object() && value.as_object() == wanted.as_object() && is_str(key)) found = std::string(text_of(key));
  });
  return found;
}

struct RunningLayer {
  Value layer;
  std::string path;  // as in a state dict: "encoder.0"
};

// The innermost layer whose method runs, with its place in those around it.
RunningLayer running_layer(Interpreter& in) {
  RunningLayer result;
  Value inner;
  for (const Frame* frame = in.vm().top(); frame != nullptr; frame = frame->caller) {
    const Code& code = *frame->code;
    if (code.parameters.empty() || code.parameters[0]->view() != "self" || code.near_parameters == 0 ||
        frame->registers == nullptr || !is_layer(frame->registers[0]))
      continue;
    const Value& self = frame->registers[0];
    if (inner.is_undefined()) result.layer = inner = self;
    if (self.as_object() == inner.as_object()) continue;
    if (const auto key = key_in(in, self, "_modules", inner)) {
      result.path = result.path.empty() ? *key : *key + "." + result.path;
      inner = self;
    }
  }
  return result;
}

// Variables ------------------------------------------------------------------------------------------------------

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Does a line give the name another object? `x = `, `x, y = `, `for x in`, `as x`, `x := `; `x += ` writes into a tensor.
bool assigns(std::string_view line, std::string_view name) {
  for (size_t at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at > 0 && (is_word(line[at - 1]) || line[at - 1] == '.')) || (end < line.size() && is_word(line[end])))
      continue;
    const std::string_view before = line.substr(0, at), after = line.substr(end);
    if (before.ends_with(" as ")) return true;
    if (const size_t loop = before.find("for ");
        loop != std::string_view::npos && after.find(" in ") != after.npos && before.find(" in ", loop) == before.npos)
      return true;
    if (before.find('(') != before.npos || before.find('[') != before.npos) continue;  // a keyword, an index
    for (size_t i = after.find('='); i != after.npos; i = after.find('=', i + 1)) {
      if (i + 1 < after.size() && after[i + 1] == '=') break;
      if (i > 0 && std::string_view("=!<>+-*/%&|^@").find(after[i - 1]) != std::string_view::npos) break;
      if (after.substr(0, i).find_first_of("([.") != std::string_view::npos) break;
      return true;
    }
  }
  return false;
}

// The only line of the file that gives the name a value; 0 when there are more, or none.
uint32_t only_assignment(const Source& source, std::string_view name) {
  uint32_t found = 0;
  for (uint32_t number = 1, count = source.line_count(); number <= count; ++number) {
    if (!assigns(source.line(number), name)) continue;
    if (found != 0) return 0;
    found = number;
  }
  return found;
}

std::string place(const Frame& user, const Frame& frame, uint32_t line) {
  const std::string& file = frame.code->source->name();
  if (file == user.code->source->name()) return ", line " + std::to_string(line);
  return ", " + file + ":" + std::to_string(line);
}

struct Variable {
  Value value;
  std::string text;  // "x, line 3"
};

// The variable of the program, the innermost function's first, whose value `wanted` accepts.
template <class Wanted>
std::optional<Variable> find_variable(Interpreter& in, Wanted&& wanted) {
  const Frame* user = nullptr;
  std::optional<Variable> innermost;
  for (const Frame* frame = in.vm().top(); frame != nullptr; frame = frame->caller) {
    if (is_library(*frame)) continue;
    if (user == nullptr) user = frame;
    const Value locals = frame_locals(in, *frame);
    if (!is_dict(locals)) continue;
    std::optional<Variable> found;
    bool several = false;  // other objects that look the same: nobody knows which is meant
    dict_for_each(as_dict(locals), [&](const Value& key, const Value& value) {
      if (!value.is_object() || !is_str(key)) return;
      if (innermost ? value.as_object() != innermost->value.as_object() : !wanted(value)) return;
      if (!found) found = {value, std::string(text_of(key))};
      else several |= found->value.as_object() != value.as_object();
    });
    if (several) return std::nullopt;
    if (!found) continue;
    const uint32_t line = only_assignment(*frame->code->source, found->text);
    if (innermost) found->text = innermost->text + ", which is " + found->text;
    if (line != 0) return Variable{found->value, found->text + place(*user, *frame, line)};
    if (!innermost) innermost = found;  // a parameter: who calls may know where it was made
  }
  return innermost;
}

std::string variable_of(Interpreter& in, const Value& operand) {
  const auto found = find_variable(in, [&](const Value& value) { return value.as_object() == operand.as_object(); });
  return found ? found->text : "";
}

// The tensor that a backward pass found changed is none of its operands: the variable that looks like it, by what the
// message says of its type, sizes and version.
std::string changed_variable(Interpreter& in, const std::string& message) {
  const TorchState& state = torch_state(in);
  const auto found = find_variable(in, [&](const Value& value) {
    if (!is_tensor(state, value) || !tensor_of(value).defined()) return false;
    const Tensor& t = tensor_of(value);
    const std::string looks = std::string(scalar_type_name(t.dtype())) + "Tensor " + shape_str(t.sizes()) + "]";
    return message.find(looks) != std::string::npos &&
           message.find("is at version " + std::to_string(t.version()) + ";") != std::string::npos;
  });
  return found ? "changed since then: " + describe(tensor_of(found->value)) + " (" + found->text + ")" : "";
}

// Hints: only where one is certain to help. ----------------------------------------------------------------------------

using Tensors = std::vector<const Tensor*>;

bool says(const std::string& message, const char* part) { return message.find(part) != std::string::npos; }

std::string hint_for_product(const Tensors& t, bool in_linear) {
  const Tensor &a = *t[0], &b = *t[1];
  if (in_linear && a.dim() >= 1 && b.dim() == 2)
    return "hint: the layer is made for " + std::to_string(b.size(1)) + " features, its input has " +
           std::to_string(a.size(a.dim() - 1)) + ": Linear(" + std::to_string(a.size(a.dim() - 1)) + ", " +
           std::to_string(b.size(0)) + ") would take it";
  if (a.dim() != 2 || b.dim() != 2) return "";
  if (a.size(1) == b.size(1)) return "hint: the second operand transposed (.T) would fit";
  if (a.size(0) == b.size(0)) return "hint: the first operand transposed (.T) would fit";
  return "";
}

std::string hint_for_target(const Tensors& t) {
  const int64_t classes = t[0]->size(t[0]->dim() == 1 ? 0 : 1);
  return "hint: the input has " + std::to_string(classes) + " classes, so labels are 0 to " +
         std::to_string(classes - 1);
}

std::string hint_for_two(const std::string& message, const Tensors& t, bool in_linear) {
  const Tensor &a = *t[0], &b = *t[1];
  if (says(message, "cannot be multiplied")) return hint_for_product(t, in_linear);
  if (message.starts_with("Target ") && says(message, "is out of bounds")) return hint_for_target(t);
  if ((says(message, "Target size") || says(message, "Using a target size")) && a.numel() == b.numel())
    return std::string("hint: the target has as many elements: target") +
           (a.dim() == b.dim() + 1 ? ".unsqueeze(1)" : ".view_as(input)") + " would fit";
  if (a.device() != b.device()) return "hint: move one of them with .to(" + a.device().str() + ")";
  if (says(message, "must match the size of tensor b") && a.dim() == 2 && b.dim() == 1 && a.size(0) == b.size(0))
    return "hint: the second operand as a column (.unsqueeze(1)) would fit";
  if (says(message, "must have the same dtype") && is_floating(a.dtype()) && is_floating(b.dtype()))
    return std::string("hint: .to(torch.") + std::string(name(b.dtype())) + ") of the first operand would fit";
  if (says(message, "index out of range in self") && a.dim() == 2)
    return "hint: the table has " + std::to_string(a.size(0)) + " rows, so indices are 0 to " +
           std::to_string(a.size(0) - 1);
  return "";
}

// What a graph refuses, whatever the operands are.
constexpr std::pair<const char*, const char*> kGraphHints[] = {
    {"Trying to backward through the graph a second time",
     "hint: compute the loss again before the second backward, or keep the graph: backward(retain_graph=True)"},
    {"modified by an inplace operation",
     "hint: write the result to a new tensor (x = x + 1 in place of x += 1), or change a copy: x.clone()"},
    {"a leaf Variable that requires grad",
     "hint: change parameters by an optimizer, or inside of 'with torch.no_grad():'"},
    {"a view of a leaf Variable that requires grad",
     "hint: change parameters by an optimizer, or inside of 'with torch.no_grad():'"},
    {"returned nan values",
     "hint: its derivative has no value at what it read, as sqrt and log at 0: print that, keep it away from there (clamp, + eps)"},
    {"does not require grad and does not have a grad_fn",
     "hint: no tensor that it was made of requires a gradient: parameters do, others after requires_grad_(); .detach(), "
     ".item() and torch.no_grad() cut the way"},
    {"grad can be implicitly created only for scalar outputs",
     "hint: reduce the loss to one number, .mean() or .sum(), or give backward(gradient=...)"},
    {"Expected more than 1 value per channel when training",
     "hint: one example has no spread: use batches of two and more (drop_last=True of a DataLoader), or .eval()"},
    {"Can't call numpy() on Tensor that requires grad",
     "hint: .detach().numpy() shares the values, without the history"},
};

std::string hint_for(const std::string& message, const Tensors& t, bool in_linear) {
  for (const auto& [part, hint] : kGraphHints)
    if (says(message, part)) return hint;
  return t.size() >= 2 ? hint_for_two(message, t, in_linear) : "";
}

}  // namespace

std::vector<std::string> notes_of(Interpreter& in, const std::string& message, std::span<const Value> operands) {
  const TorchState& state = torch_state(in);
  std::vector<std::string> notes;
  Tensors tensors;
  const RunningLayer running = running_layer(in);
  for (const Value& v : operands) {
    if (!is_tensor(state, v) || !tensor_of(v).defined()) continue;
    tensors.push_back(&tensor_of(v));
    std::string note = "operand " + std::to_string(tensors.size()) + ": " + describe(tensor_of(v));
    std::optional<std::string> parameter;
    if (!running.layer.is_undefined()) parameter = key_in(in, running.layer, "_parameters", v);
    if (parameter) {
      note += " (" + (running.path.empty() ? "" : running.path + ".") + *parameter + ")";
    } else if (const std::string variable = variable_of(in, v); !variable.empty()) {
      note += " (" + variable + ")";
    }
    notes.push_back(std::move(note));
  }
  if (says(message, "modified by an inplace operation"))
    if (std::string note = changed_variable(in, message); !note.empty()) notes.push_back(std::move(note));
  bool in_linear = false;
  if (!running.layer.is_undefined()) {
    const std::string class_name(type_name(in, running.layer));
    in_linear = class_name == "Linear";
    notes.push_back("in layer " + (running.path.empty() ? "" : running.path + ": ") + class_name);
  }
  if (std::string hint = hint_for(message, tensors, in_linear); !hint.empty()) notes.push_back(std::move(hint));
  return notes;
}

void note_refusal(Interpreter& in, const Value& exception) {
  const TorchState& state = torch_state(in);
  std::vector<Value> operands;
  for (const Frame* frame = in.vm().top(); frame != nullptr && is_library(*frame) && operands.empty();
       frame = frame->caller)
    for (uint32_t i = 0; frame->registers != nullptr && i < frame->code->near_parameters; ++i)
      if (is_tensor(state, frame->registers[i])) operands.push_back(frame->registers[i]);
  if (operands.empty()) return;
  std::vector<std::string>& notes = as_exception(exception)->notes;
  const std::vector<std::string> found = notes_of(in, str_text(in, exception), operands);
  notes.insert(notes.begin(), found.begin(), found.end());
}

std::string hint_for_array(Interpreter& in, const Value& v) {
  if (given_type(in, v) != "numpy.ndarray") return "";
  const std::string variable = variable_of(in, v);
  const std::string name = variable.empty() ? "x" : variable.substr(0, variable.find(','));
  const bool wide = expect_tensor(in, v, "array").dtype() == kFloat64;
  return "hint: torch.from_numpy(" + name + ")" + (wide ? ".float()" : "") + " makes a tensor of the array";
}

}  // namespace tessera::stdlib

// compile: small (runs after an error)
#include "stdlib/torch/error_operands.h"

#include <algorithm>

#include "lang/compiler/chunk.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/core/type.h"
#include "lang/objects/attribute.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/vm/frame.h"
#include "lang/vm/frame_object.h"
#include "lang/vm/vm.h"

namespace tessera::stdlib {
namespace {

using namespace lang;

bool same(const Value& a, const Value& b) { return a.is_object() && b.is_object() && a.as_object() == b.as_object(); }

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

constexpr const char* kLayerDicts[] = {"_parameters", "_buffers", "_modules"};

Dict* layer_dict(Interpreter& in, const Value& layer, const char* name) {
  const Value* held = find_own_attribute(layer.as_object(), intern(in, name));
  return held != nullptr && is_dict(*held) ? as_dict(*held) : nullptr;
}

Value attribute_of_layer(Interpreter& in, const Value& object, Str* name) {
  if (!is_layer(object)) return Value();
  for (const char* each : kLayerDicts)
    if (Dict* dict = layer_dict(in, object, each))
      if (const Value* found = dict_get_str(dict, name)) return *found;
  return Value();
}

// The key under which one of a layer's dicts holds an object.
std::optional<std::string> key_in(Interpreter& in, const Value& layer, const char* name, const Value& wanted) {
  std::optional<std::string> found;
  if (Dict* dict = layer_dict(in, layer, name))
    dict_for_each(dict, [&](const Value& key, const Value& value) {
      if (same(value, wanted) && is_str(key)) found = std::string(text_of(key));
    });
  return found;
}

RunningLayer running_layer(Interpreter& in) {
  RunningLayer result;
  Value inner;
  for (const Frame* frame = in.vm().top(); frame != nullptr; frame = calling_frame(*frame)) {
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

// Operands -------------------------------------------------------------------------------------------------------

bool is_array(Interpreter& in, const Value& v) {
  return v.is_object() && v.as_object()->kind == ObjectKind::Instance && given_type(in, v) == "numpy.ndarray";
}

// Its own attribute, which no script answers.
const Tensor* tensor_of_array(Interpreter& in, const Value& v) {
  if (!is_array(in, v)) return nullptr;
  const Value* held = find_own_attribute(v.as_object(), intern(in, "_t"));
  return held != nullptr && is_tensor(torch_state(in), *held) ? &tensor_of(*held) : nullptr;
}

std::span<const Value> items_of(const Value& v) {
  if (is_list(v)) return {as_list(v)->items, as_list(v)->size};
  if (is_tuple(v)) return {as_tuple(v)->items, as_tuple(v)->size};
  return {};
}

// A variable that a closure shares stands in a cell.
Value content_of(const Value& held) {
  const bool is_cell = held.is_object() && held.as_object()->kind == ObjectKind::Cell;
  return is_cell ? object_cast<Cell>(held)->value : held;
}

class Describer {
 public:
  Describer(Interpreter& in, Refusal& result) : in_(in), result_(result) {
    user_ = program_frame(in.vm().top());
    if (user_ == nullptr) return;
    result_.in_library = user_ != in.vm().top();
    result_.failing = failing_expression(in, *user_);
    if (!result_.failing) return;
    find_receiver();
    for (const OperandText& text : result_.failing->operands)
      for (const ast::Expr* each : elements_of(text)) elements_.push_back({each, each->span, {}});
  }

  // By what it is known to be, or as an argument of the library's function that was called.
  const OperandText* find(const Value& v) const {
    const OperandText* const found = by_identity(v);
    return found != nullptr ? found : by_parameter(v);
  }

  void add(std::span<const Value> values) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (add_one(values[i], places_for(values.size(), i))) continue;
      const std::span<const Value> items = items_of(values[i]);
      const OperandText* whole = places_for(values.size(), i);
      for (size_t k = 0; k < items.size() && k < kMostItems; ++k) {
        item_ = item_of(whole, k, items.size());
        const bool named =
            whole != nullptr && whole->expr != nullptr && same(known_value(in_, *user_, *whole->expr), values[i]);
        item_name_ = named ? shown_expression(result_.failing->text(whole->span)) + "[" + std::to_string(k) + "]" : "";
        add_one(items[k], item_ ? &*item_ : nullptr);
        item_name_.clear();
      }
    }
  }

 private:
  static constexpr size_t kMostItems = 8;

  // Of `receiver.name(...)` where the receiver is a value and no module or class.
  void find_receiver() {
    const ast::Expr* receiver = result_.failing->receiver;
    if (receiver == nullptr) return;
    const Value known = known_value(in_, *user_, *receiver);
    if (known.is_object() &&
        (known.as_object()->kind == ObjectKind::Module || known.as_object()->kind == ObjectKind::Type))
      return;
    if (known.is_undefined() && lang::ast::is<lang::ast::Name>(*receiver)) return;
    receiver_ = OperandText{receiver, receiver->span, {}};
  }

  // By its place: the i-th of `count` values that the operation was given.
  const OperandText* places_for(size_t count, size_t i) const {
    if (!result_.failing || result_.in_library) return nullptr;
    const auto& texts = result_.failing->operands;
    // The value of container[index] = value, where the target is no part of another one.
    if (result_.failing->kind == FailingExpression::Kind::kSubscript && i >= texts.size()) return nullptr;
    for (const OperandText& t : texts)
      if (t.expr != nullptr && lang::ast::is<lang::ast::Starred>(*t.expr)) return nullptr;
    const bool indexes = result_.failing->kind == FailingExpression::Kind::kSubscript;
    if (!receiver_) return indexes || count <= texts.size() ? &texts[i] : nullptr;
    if (i == 0) return &*receiver_;
    return count <= texts.size() + 1 ? &texts[i - 1] : nullptr;
  }

  static ast::ExprList elements_of(const OperandText& text) {
    if (const auto* list = ast::try_as<ast::List>(text.expr)) return list->elements;
    if (const auto* tuple = ast::try_as<ast::Tuple>(text.expr)) return tuple->elements;
    return {};
  }

  std::optional<OperandText> item_of(const OperandText* whole, size_t at, size_t count) const {
    if (whole == nullptr || whole->expr == nullptr) return std::nullopt;
    const ast::ExprList elements = elements_of(*whole);
    if (elements.size() != count) return std::nullopt;
    return OperandText{elements[at], elements[at]->span, {}};
  }

  bool add_one(const Value& v, const OperandText* place) {
    Operand operand;
    operand.value = v;
    if (is_tensor(torch_state(in_), v)) {
      if (!tensor_of(v).defined()) return true;
      operand.tensor = &tensor_of(v);
    } else if ((operand.tensor = tensor_of_array(in_, v)) != nullptr) {
      operand.is_array = true;
    } else {
      return false;
    }
    name(operand, place);
    result_.operands.push_back(std::move(operand));
    return true;
  }

  void name(Operand& operand, const OperandText* place) {
    if (result_.in_library && name_of_layer(operand)) return;
    if (place != nullptr && may_be(*place, operand.value)) return take(operand, *place);
    if (place == nullptr && !item_name_.empty()) {
      operand.name = item_name_;
      return;
    }
    if (const OperandText* found = find(operand.value)) return take(operand, *found);
    if (result_.in_library) operand.name = parameter_name(operand.value);
    // The truth of what the condition has computed.
    else if (place != nullptr && result_.failing->kind == FailingExpression::Kind::kCompare)
      operand.name = shown_expression(result_.failing->text(result_.failing->span));
  }

  bool name_of_layer(Operand& operand) {
    if (result_.running.layer.is_undefined()) return false;
    for (const char* dict : {"_parameters", "_buffers"})
      if (const auto key = key_in(in_, result_.running.layer, dict, operand.value)) {
        operand.name = (result_.running.path.empty() ? name_of_called() : result_.running.path + ".") + *key;
        operand.of_layer = true;
        return true;
      }
    return false;
  }

  // "layer." of `layer(x)`.
  std::string name_of_called() const {
    if (!result_.failing || result_.failing->call == nullptr) return "";
    const ast::Expr& callee = *result_.failing->call->callee;
    const bool plain = same(known_value(in_, *user_, callee), result_.running.layer);
    return plain ? shown_expression(result_.failing->text(callee.span)) + "." : "";
  }

  // What can be read without running anything must be the value itself.
  bool may_be(const OperandText& place, const Value& v) const {
    if (place.expr == nullptr) return true;
    const Value known = known_value(in_, *user_, *place.expr);
    return known.is_undefined() || is_same_tensor(known, v);
  }

  // An array's tensor is what the library works with.
  bool is_exactly(const OperandText& place, const Value& v) const {
    return place.expr != nullptr && is_same_tensor(known_value(in_, *user_, *place.expr), v);
  }

  bool is_same_tensor(const Value& known, const Value& v) const {
    if (same(known, v)) return true;
    const Tensor* const held = tensor_of_array(in_, known);
    return held != nullptr && is_tensor(torch_state(in_), v) && tensor_of(v).same(*held);
  }

  bool is_taken(Span span) const {
    return std::any_of(result_.operands.begin(), result_.operands.end(),
                       [&](const Operand& o) { return o.span && *o.span == span; });
  }

  const OperandText* by_identity(const Value& v) const {
    if (!result_.failing) return nullptr;
    if (receiver_ && is_exactly(*receiver_, v)) return &*receiver_;
    const OperandText* found = nullptr;  // of `a @ a` the one that no operand has taken yet
    for (const OperandText& text : result_.failing->operands)
      if (is_exactly(text, v) && (found == nullptr || is_taken(found->span))) found = &text;
    if (found != nullptr) return found;
    for (const OperandText& text : elements_)
      if (is_exactly(text, v)) return &text;
    return nullptr;
  }

  // `a + b` has called a.__add__(b) or b.__radd__(a).
  const OperandText* by_side(const Frame& called, const Value& v) const {
    const std::string_view name = called.code->name->view();
    const auto& texts = result_.failing->operands;
    if (called.registers == nullptr || called.code->near_parameters != 2 || texts.size() != 2) return nullptr;
    if (!name.starts_with("__") || name == "__rshift__") return nullptr;
    for (uint32_t i = 0; i < 2; ++i) {
      const OperandText& text = texts[name.starts_with("__r") ? 1 - i : i];
      if (is_same_tensor(content_of(called.registers[i]), v)) return may_be(text, v) ? &text : nullptr;
    }
    return nullptr;
  }

  // An argument that was computed in the call is a parameter of the library's function that was called.
  const OperandText* by_parameter(const Value& v) const {
    if (!result_.failing || !result_.in_library) return nullptr;
    const Frame* called = in_.vm().top();
    while (called->caller != user_) called = called->caller;
    const Code& code = *called->code;
    if (result_.failing->kind == FailingExpression::Kind::kBinary) return by_side(*called, v);
    if (result_.failing->kind != FailingExpression::Kind::kCall) return nullptr;
    const bool bound = !code.parameters.empty() && code.parameters[0]->view() == "self";
    const auto& texts = result_.failing->operands;
    const auto at = [&](size_t i) -> const OperandText* {
      return i < texts.size() && texts[i].keyword.empty() && may_be(texts[i], v) ? &texts[i] : nullptr;
    };
    for (uint32_t i = 0; called->registers != nullptr && i < code.near_parameters; ++i) {
      const Value held = content_of(called->registers[i]);
      const size_t skipped = bound ? 1 : 0;
      if (is_same_tensor(held, v) && i >= skipped) {
        for (const OperandText& text : texts)
          if (text.keyword == code.parameters[i]->view()) return &text;
        return at(i - skipped);
      }
      if (is_dict(held) && i + 1 == code.near_parameters && (code.code_flags & kVarKeywords) != 0)
        if (const std::string key = key_of(held, v); !key.empty())
          for (const OperandText& text : texts)
            if (text.keyword == key) return &text;
      if ((code.code_flags & kVarArgs) != 0 && i == code.positional + code.keyword_only && is_tuple(held))
        for (uint32_t k = 0; k < as_tuple(held)->size; ++k)
          if (is_same_tensor(as_tuple(held)->items[k], v)) return at(code.positional - skipped + k);
    }
    return nullptr;
  }

  std::string key_of(const Value& keywords, const Value& v) const {
    std::string found;
    dict_for_each(as_dict(keywords), [&](const Value& key, const Value& value) {
      if (is_str(key) && is_same_tensor(value, v)) found = std::string(text_of(key));
    });
    return found;
  }

  // The library's own name for it, of the innermost function that has one.
  std::string parameter_name(const Value& v) const {
    for (const Frame* f = in_.vm().top(); f != user_; f = f->caller)
      for (uint32_t i = 0; f->registers != nullptr && i < f->code->near_parameters; ++i)
        if (same(content_of(f->registers[i]), v)) {
          const std::string_view name = f->code->parameters[i]->view();
          const bool of_program = user_ != nullptr && !value_of_variable(in_, *user_, name).is_undefined();
          return of_program ? "" : std::string(name);  // there it is something else
        }
    return "";
  }

  void take(Operand& operand, const OperandText& place) const {
    using lang::ast::ExprKind;
    operand.name = shown_expression(result_.failing->text(place.span));
    operand.span = place.span;
    operand.expr = place.expr;
    if (place.expr == nullptr) {
      operand.needs_brackets = true;
      return;
    }
    const ExprKind kind = place.expr->kind;
    operand.needs_brackets = kind != ExprKind::kName && kind != ExprKind::kAttribute && kind != ExprKind::kCall &&
                             kind != ExprKind::kSubscript && kind != ExprKind::kList;
    const Value known = known_value(in_, *user_, *place.expr);
    if (!same(known, operand.value) && tensor_of_array(in_, known) != nullptr) {
      operand.value = known;
      operand.is_array = true;
    }
    operand.origin = came_from(in_, *user_, *place.expr, operand.value);
  }

  Interpreter& in_;
  Refusal& result_;
  const Frame* user_ = nullptr;
  std::optional<OperandText> receiver_, item_;
  std::vector<OperandText> elements_;  // of lists and tuples that are written out
  std::string item_name_;              // of a list's item: "parts[0]"
};

}  // namespace

std::string Refusal::layer_class() const {
  return running.layer.is_undefined() ? "" : std::string(type_name(in, running.layer));
}

Refusal describe_refusal(Interpreter& in, std::span<const Value> operands) {
  Refusal result{in, {}, running_layer(in), std::nullopt, false};
  Describer(in, result).add(operands);
  return result;
}

bool holds_tensors(Interpreter& in, const Value& v) {
  const auto is_one = [&](const Value& each) {
    return is_tensor(torch_state(in), each) || tensor_of_array(in, each) != nullptr;
  };
  const std::span<const Value> items = items_of(v);
  return is_one(v) || std::any_of(items.begin(), items.begin() + std::min<ptrdiff_t>(2, std::ssize(items)), is_one);
}

std::string describe_variable(Interpreter& in, bool (*wanted)(const Tensor&, const std::string&),
                              const std::string& message) {
  const TorchState& state = torch_state(in);
  for (const Frame* frame = program_frame(in.vm().top()); frame != nullptr;
       frame = program_frame(calling_frame(*frame))) {
    const Value locals = copy_of_locals(in, *frame);
    if (!is_dict(locals)) continue;
    std::string name;
    Value found;
    bool several = false;  // other objects that look the same: nobody knows which is meant
    dict_for_each(as_dict(locals), [&](const Value& key, const Value& value) {
      if (!is_str(key) || !is_tensor(state, value) || !tensor_of(value).defined() || !wanted(tensor_of(value), message))
        return;
      if (found.is_undefined()) found = value, name = std::string(text_of(key));
      else several |= !same(found, value);
    });
    if (several) return "";
    if (found.is_undefined()) continue;
    const std::string origin = came_from(in, *frame, name, found);
    return name + ": " + describe(tensor_of(found)) + (origin.empty() ? "" : ", " + origin);
  }
  return "";
}

std::string with_argument_replaced(Interpreter& in, const Value& v, std::string_view before, std::string_view after) {
  Refusal result{in, {}, {}, std::nullopt, false};
  const Describer describer(in, result);
  const OperandText* const found = describer.find(v);
  if (found == nullptr || result.failing->text(found->span).find('\n') != std::string_view::npos) return "";
  return result.failing->rewritten(
      {{found->span, std::string(before) + std::string(result.failing->text(found->span)) + std::string(after)}});
}

std::string with_keyword_renamed(Interpreter& in, std::string_view wrong, std::string_view right) {
  const Frame* const user = program_frame(in.vm().top());
  const auto failing = user == nullptr ? std::nullopt : failing_expression(in, *user);
  if (!failing || failing->call == nullptr) return "";
  for (const ast::Keyword& k : failing->call->keywords)
    if (k.name.text == wrong) return failing->rewritten({{k.name.span, std::string(right)}});
  return "";
}

void show_parameters(Interpreter& in) { in.vm().provenance().find_attribute = attribute_of_layer; }

}  // namespace tessera::stdlib

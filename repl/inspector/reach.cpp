// compile: small (once for a look of a person)
#include "repl/inspector/reach.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/module.h"
#include "lang/types/list.h"
#include "lang/types/set.h"
#include "lang/types/tuple.h"
#include "runtime/autograd/node.h"
#include "stdlib/torch/state.h"

namespace tessera::repl {
using namespace lang;
using tensor::Tensor;
using tensor::TensorImpl;

namespace {

bool is_type(const Type* type, std::string_view module, std::string_view name) {
  return type->name->view() == name && type->module != nullptr && type->module->view() == module;
}

bool is_array(const Object* object) {
  const auto& mro = object->type->mro;
  return std::any_of(mro.begin(), mro.end(), [](const Type* type) { return is_type(type, "numpy", "ndarray"); });
}

// `_`, `__`, `___`, `_12`, `Out`, `_oh`: where a session keeps what its blocks gave. Empty: no such name.
std::string name_of_result(std::string_view name) {
  if (name == "_oh") return "Out";
  if (name == "Out" || name == "_" || name == "__" || name == "___") return std::string(name);
  if (name.size() < 2 || name[0] != '_' || name.find_first_not_of("0123456789", 1) != name.npos) return "";
  return "Out[" + std::string(name.substr(1)) + "]";
}

// A key as it is written between brackets.
std::string quoted(std::string_view text) {
  constexpr size_t kMost = 60;
  std::string out = "'";
  for (const char c : text.substr(0, kMost)) {
    if (c == '\'' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? '?' : c;
  }
  while (text.size() > kMost && !out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80) out.pop_back();
  if (text.size() > kMost) out += "...";
  return out + "'";
}

class Walk {
 public:
  Walk(Interpreter& in, const ReachLimits& limits) : in_(in), limits_(limits) {}

  ReachedTensors run() {
    read_names();
    // Who names it best comes first: a layer's state dict, a variable, an object, and what only an optimizer or a result of
    // an earlier block still holds.
    for (const Variable& v : variables_)
      if (layer_stores(v.value) && !inner_layers_.contains(v.value.as_object())) visit(v);
    for (const Variable& v : variables_)
      if (tensor_in(in_, v.value) != nullptr) visit(v);
    for (const Variable& v : variables_) visit(v);
    visit_later();
    for (const Variable& v : results_) visit(v, 1);
    visit_later();
    put_in_order();
    return std::move(found_);
  }

 private:
  struct Variable {
    std::string name;
    Value value;
    uint32_t place;
  };

  void read_names() {
    uint32_t place = 0;
    dict_for_each(in_.main_module()->dict, [&](const Value& key, const Value& value) {
      if (!is_str(key) || !value.is_object()) return;
      const std::string_view name = text_of(key);
      const std::string result = name_of_result(name);
      if (result.empty() && name.starts_with("__") && name.ends_with("__")) return;
      if (result.empty()) variables_.push_back({std::string(name), value, place++});
      // `_` and its like are other names for Out[n], which comes first.
      else results_.insert(result.starts_with("Out") ? results_.begin() : results_.end(), {result, value, place++});
    });
    for (const Variable& v : variables_) find_inner_layers(v.value);
  }

  // As the variables were given.
  void put_in_order() {
    std::vector<std::pair<uint32_t, uint32_t>> order;
    for (uint32_t i = 0; i < found_.tensors.size(); ++i) order.emplace_back(found_.tensors[i].place, i);
    std::sort(order.begin(), order.end());
    std::vector<Reached> sorted;
    for (const auto& [place, i] : order) sorted.push_back(std::move(found_.tensors[i]));
    found_.tensors = std::move(sorted);
  }

  // The layers below one: a variable that names such a layer is not where its parameters have their names from.
  void find_inner_layers(const Value& root) {
    std::vector<Value> open{root};
    for (bool first = true; !open.empty(); first = false) {
      const Value layer = std::move(open.back());
      open.pop_back();
      const LayerStores stores = layer_stores(layer);
      if (!stores || (!first && !inner_layers_.insert(layer.as_object()).second)) continue;
      dict_for_each(stores.modules, [&](const Value&, const Value& inner) {
        if (inner.is_object() && inner.as_object() != root.as_object()) open.push_back(inner);
      });
    }
  }

  void visit(const Variable& v, int depth = 0) {
    place_ = v.place;
    visit(v.value, v.name, depth);
  }

  void visit_later() {
    for (size_t i = 0; i < later_.size(); ++i) {
      const Variable v = later_[i];
      visit(v, 2);
    }
    later_.clear();
  }

  void visit(const Value& value, const std::string& name, int depth) {
    if (full_ || !may_hold(value)) return;
    if (++looked_at_ > limits_.values || (looked_at_ % 1024 == 0 && in_.is_stopping())) {
      full_ = found_.gave_up = true;
      return;
    }
    Object* const object = value.as_object();
    if (const Tensor* t = tensor_in(in_, value)) return add(name, value, *t, depth == 0);
    if (depth > limits_.depth) {
      found_.gave_up = true;
      return;
    }
    if (!seen_.insert(object).second) return;
    switch (object->kind) {
      case ObjectKind::List: visit_items(as_list(value)->items, as_list(value)->size, name, depth); break;
      case ObjectKind::Tuple: visit_tuple(value, name, depth); break;
      case ObjectKind::Dict: visit_dict(as_dict(value), name, depth); break;
      case ObjectKind::Set: visit_set(as_set(value), name, depth); break;
      case ObjectKind::Type: return visit_class(known_cast<Type>(object), name, depth);
      case ObjectKind::Native: visit_deque(value, name, depth); break;
      default: break;
    }
    if (const LayerStores stores = layer_stores(value)) visit_layer(stores, name, depth);
    visit_attributes(object, name, depth);
  }

  // Is it a tensor, or something that one could be in? Numbers and texts, of which lists are long, are left at a glance.
  static bool may_hold(const Value& value) {
    if (!value.is_object()) return false;
    const Object* const object = value.as_object();
    switch (object->kind) {
      case ObjectKind::List:
      case ObjectKind::Tuple:
      case ObjectKind::Dict:
      case ObjectKind::Set: return true;
      case ObjectKind::Type: return (known_cast<const Type>(object)->type_flags & kScriptClass) != 0;
      case ObjectKind::Module: return false;  // what a module keeps is its own
      case ObjectKind::Native: return true;
      default: return object->type->attributes_offset != 0;
    }
  }

  // Tensors of a long list are counted where they are not listed.
  void count(const Value& value) {
    if (++passed_ % 4096 == 0 && in_.is_stopping()) full_ = found_.gave_up = true;
    if (!may_hold(value)) return;
    if (tensor_in(in_, value) != nullptr) ++found_.more;
    else found_.gave_up = true;
  }

  void visit_items(const Value* items, size_t size, const std::string& name, int depth) {
    for (size_t i = 0; i < size && !full_; ++i) {
      if (i >= limits_.items) count(items[i]);
      else if (may_hold(items[i])) visit(items[i], name + "[" + std::to_string(i) + "]", depth + 1);
    }
  }

  void visit_tuple(const Value& value, const std::string& name, int depth) {
    const Tuple* tuple = as_tuple(value);
    const Tuple* fields = fields_of(tuple);
    if (fields == nullptr || fields->size != tuple->size) return visit_items(tuple->items, tuple->size, name, depth);
    for (uint32_t i = 0; i < tuple->size; ++i)
      visit(tuple->items[i], name + "." + std::string(text_of(fields->items[i])), depth + 1);
  }

  // The names of a namedtuple's items.
  const Tuple* fields_of(const Tuple* tuple) {
    if ((tuple->type->type_flags & kScriptClass) == 0) return nullptr;
    const Value& fields = type_lookup(tuple->type, intern(in_, "_fields"));
    if (!is_tuple(fields)) return nullptr;
    const Tuple* names = as_tuple(fields);
    return std::all_of(names->items, names->items + names->size, [](const Value& v) { return is_str(v); }) ? names
                                                                                                           : nullptr;
  }

  void visit_dict(const Dict* dict, const std::string& name, int depth) {
    size_t i = 0;
    dict_for_each(dict, [&](const Value& key, const Value& value) {
      if (full_) return;
      const size_t at = i++;
      if (at >= limits_.items) return count(value);
      if (!may_hold(value)) return;
      std::string text;
      const bool is_known = write_key(key, text);
      visit(value, is_known ? name + "[" + text + "]" : "list(" + name + ".values())[" + std::to_string(at) + "]",
            depth + 1);
    });
  }

  // As a script writes the key; false: it can be anything. A tensor is written by its name.
  bool write_key(const Value& key, std::string& out) const {
    if (!key.is_object()) return out += repr_text(in_, key), true;
    if (is_str(key)) return out += quoted(text_of(key)), true;
    if (key.as_object()->type == in_.types.tuple) {
      const Tuple* items = as_tuple(key);
      out += '(';
      for (uint32_t i = 0; i < items->size; ++i) {
        if (i == 8 || is_tuple(items->items[i]) || !write_key(items->items[i], out)) return false;
        out += i + 1 < items->size ? ", " : items->size == 1 ? "," : "";
      }
      return out += ')', true;
    }
    const Tensor* t = tensor_in(in_, key);
    const auto known = t == nullptr ? names_.end() : names_.find(t->impl());
    return known != names_.end() ? (out += known->second, true) : false;
  }

  void visit_set(const Set* set, const std::string& name, int depth) {
    size_t i = 0;
    set_for_each(set, [&](const Value& item) {
      if (full_) return;
      if (i >= limits_.items) return count(item);
      visit(item, "list(" + name + ")[" + std::to_string(i++) + "]", depth + 1);
    });
  }

  // A deque of the library, not of a script's class: its items are read by native code.
  void visit_deque(const Value& value, const std::string& name, int depth) {
    const Type* type = value.as_object()->type;
    if ((type->type_flags & kScriptClass) != 0 || type->slots.layout == nullptr) return;
    if (std::strcmp(type->slots.layout, "collections.deque") != 0) return;
    const int64_t size = type->slots.length(in_, value);
    for (int64_t i = 0; i < size && !full_; ++i) {
      const Value item = type->slots.get_item(in_, value, Value::integer(i));
      if (static_cast<size_t>(i) >= limits_.items) count(item);
      else visit(item, name + "[" + std::to_string(i) + "]", depth + 1);
    }
  }

  void visit_layer(const LayerStores& stores, const std::string& name, int depth) {
    for (const Dict* store : {stores.parameters, stores.buffers, stores.modules})
      dict_for_each(store, [&](const Value& key, const Value& value) {
        if (is_str(key)) visit(value, name + "." + std::string(text_of(key)), depth + 1);
      });
  }

  // Layers first, whose parameters an optimizer beside them holds too.
  void visit_attributes(Object* object, const std::string& name, int depth) {
    const bool is_optimizer =
        own_attribute(object, "param_groups") != nullptr && own_attribute(object, "state") != nullptr;
    std::vector<std::pair<std::string, Value>> rest;
    for_own_attributes(object, [&](std::string_view attribute, const Value& value) {
      if (!value.is_object() || attribute.starts_with("__")) return;
      const std::string full = name + "." + std::string(attribute);
      if (layer_stores(value)) visit(value, full, depth + 1);
      else if (is_optimizer && attribute == "param_groups") later_.push_back({full, value, place_});
      else rest.emplace_back(full, value);
    });
    for (const auto& [full, value] : rest) visit(value, full, depth + 1);
  }

  // What a class of the script's keeps for all of its instances.
  void visit_class(Type* type, const std::string& name, int depth) {
    if (type->module == nullptr || type->module->view() != "__main__" || type->attributes_so_far() == nullptr) return;
    dict_for_each(type->attributes_so_far(), [&](const Value& key, const Value& value) {
      if (!is_str(key) || !value.is_object() || text_of(key).starts_with("__")) return;
      const ObjectKind kind = value.as_object()->kind;
      const bool plain = kind == ObjectKind::List || kind == ObjectKind::Tuple || kind == ObjectKind::Dict;
      if (plain || tensor_in(in_, value) != nullptr || layer_stores(value))
        visit(value, name + "." + std::string(text_of(key)), depth + 1);
    });
  }

  // A variable always has a row; what is reached on the way only where no other name led there.
  void add(const std::string& name, const Value& value, const Tensor& t, bool always) {
    const bool is_new = listed_.insert(t.impl()).second;
    if (always && !named_.insert(name).second) return;
    if (!is_new && !always) return;
    names_.emplace(t.impl(), name);
    if (!list({name, value, t, value.as_object()->type->name->view(), place_})) return;
    const tensor::AutogradMeta* meta = t.impl()->autograd;
    if (!is_new || meta == nullptr || !meta->grad.defined()) return;
    if (!listed_.insert(meta->grad.impl()).second) return;
    names_.emplace(meta->grad.impl(), name + ".grad");
    list({name + ".grad", {}, meta->grad, "Tensor", place_});
  }

  bool list(Reached reached) {
    if (found_.tensors.size() >= limits_.tensors) return ++found_.more, false;
    found_.tensors.push_back(std::move(reached));
    return true;
  }

  Interpreter& in_;
  const ReachLimits limits_;
  ReachedTensors found_;
  std::vector<Variable> variables_, results_, later_;
  std::unordered_set<const Object*> seen_, inner_layers_;
  std::unordered_set<const TensorImpl*> listed_;
  std::unordered_set<std::string> named_;
  std::unordered_map<const TensorImpl*, std::string> names_;
  uint32_t place_ = 0;
  int64_t looked_at_ = 0, passed_ = 0;
  bool full_ = false;  // enough was looked at
};

}  // namespace

const Value* own_attribute(Object* object, std::string_view name) {
  const Value* found = nullptr;
  for_own_attributes(object, [&](std::string_view each, const Value& value) {
    if (each == name) found = &value;
  });
  return found;
}

LayerStores layer_stores(const Value& value) {
  if (!value.is_object() || value.as_object()->kind != ObjectKind::Instance) return {};
  LayerStores stores;
  for_own_attributes(value.as_object(), [&](std::string_view name, const Value& v) {
    if (!is_dict(v)) return;
    if (name == "_parameters") stores.parameters = as_dict(v);
    else if (name == "_buffers") stores.buffers = as_dict(v);
    else if (name == "_modules") stores.modules = as_dict(v);
  });
  return stores.parameters != nullptr && stores.buffers != nullptr ? stores : LayerStores{};
}

const Tensor* tensor_in(Interpreter& in, const Value& value) {
  if (!value.is_object() || in.extension == nullptr) return nullptr;  // before torch there are no tensors
  const auto& state = stdlib::torch_state(in);
  if (stdlib::is_tensor(state, value)) {
    const Tensor& t = stdlib::tensor_of(value);
    return t.defined() ? &t : nullptr;
  }
  Object* const object = value.as_object();
  if (object->kind != ObjectKind::Instance || object->type->attributes_offset == 0 || !is_array(object)) return nullptr;
  const Value* held = own_attribute(object, "_t");
  return held != nullptr && stdlib::is_tensor(state, *held) && stdlib::tensor_of(*held).defined()
             ? &stdlib::tensor_of(*held)
             : nullptr;
}

ReachedTensors reach_tensors(Interpreter& in, const ReachLimits& limits) { return Walk(in, limits).run(); }

std::unordered_map<const TensorImpl*, std::string> names_of_tensors(Interpreter& in) {
  std::unordered_map<const TensorImpl*, std::string> names;
  for (const Reached& each : reach_tensors(in).tensors) names.emplace(each.tensor.impl(), each.name);
  return names;
}

}  // namespace tessera::repl

// compile: small (runs after an error)
#include "stdlib/torch/memory_holders.h"

#include <algorithm>
#include <cstdio>
#include <unordered_set>

#include "lang/core/protocol.h"
#include "lang/types/dict.h"
#include "lang/vm/frame.h"
#include "lang/vm/frame_object.h"
#include "lang/vm/provenance.h"
#include "lang/vm/vm.h"
#include "runtime/autograd/node.h"
#include "runtime/device/traits.h"
#include "stdlib/torch/convert.h"

namespace tessera::stdlib {
namespace {

constexpr int kDepth = 6;
constexpr size_t kMostObjects = 20'000, kRows = 8;

std::string size_text(size_t bytes) {
  char text[32];
  const double kilo = double(bytes) / 1024;
  if (kilo < 1024) std::snprintf(text, sizeof text, "%.2f KiB", kilo);
  else if (kilo < 1024 * 1024) std::snprintf(text, sizeof text, "%.2f MiB", kilo / 1024);
  else std::snprintf(text, sizeof text, "%.2f GiB", kilo / (1024 * 1024));
  return text;
}

class Search {
 public:
  explicit Search(Interpreter& in) : in_(in), state_(torch_state(in)) {}

  std::vector<std::string> run() {
    for (const lang::Frame* frame = lang::program_frame(in_.vm().top()); frame != nullptr;
         frame = lang::program_frame(lang::calling_frame(*frame))) {
      const Value locals = lang::copy_of_locals(in_, *frame);
      if (is_dict(locals)) visit_dict(as_dict(locals), "", 0);
    }
    return text();
  }

 private:
  struct Row {
    std::string name;
    Tensor tensor;
    size_t bytes;
  };

  void visit(const Value& v, const std::string& name, int depth) {
    if (!v.is_object() || depth > kDepth || seen_.size() >= kMostObjects) return;
    Object* const object = v.as_object();
    if (object->kind == lang::ObjectKind::Module || !seen_.insert(object).second) return;
    if (is_tensor(state_, v)) return visit_tensor(tensor_of(v), name);
    if (is_dict(v)) return visit_dict(as_dict(v), name, depth + 1);
    const std::span<const Value> items = items_of(v);
    for (size_t i = 0; i < items.size(); i++) visit(items[i], name + "[" + std::to_string(i) + "]", depth + 1);
    if (items.empty()) visit_attributes(object, name, depth);
  }

  void visit_tensor(const Tensor& t, const std::string& name) {
    if (!t.defined() || !tensor::has_streams(t.device())) return;
    if (storages_.insert(&t.storage()).second) rows_.push_back({name, t, t.storage().bytes()});
    if (const AutogradMeta* meta = t.impl()->autograd; meta != nullptr && meta->grad.defined())
      visit_tensor(meta->grad, name + ".grad");
  }

  void visit_dict(const Dict* dict, const std::string& name, int depth) {
    dict_for_each(dict, [&](const Value& key, const Value& value) {
      if (is_str(key)) {
        const std::string text(text_of(key));
        if (!text.starts_with("__")) visit(value, name.empty() ? text : name + "['" + text + "']", depth);
      } else if (key.is_int()) {
        visit(value, name + "[" + std::to_string(key.as_int()) + "]", depth);
      }
    });
  }

  // A layer's stores are no part of the names that its tensors go by.
  void visit_attributes(Object* object, const std::string& name, int depth) {
    if (object->type->attributes_offset == 0) return;
    const lang::Attributes& own = lang::attributes_of(object);
    if (own.dict != nullptr)
      dict_for_each(own.dict, [&](const Value& key, const Value& value) {
        if (is_str(key)) visit_attribute(text_of(key), value, name, depth + 1);
      });
    for (uint32_t i = 0; own.dict == nullptr && i < own.count; ++i)
      if (!own.values[i].is_undefined())
        visit_attribute(object->type->instance_keys[i]->view(), own.values[i], name, depth + 1);
  }

  void visit_attribute(std::string_view attribute, const Value& value, const std::string& name, int depth) {
    const bool is_store = attribute == "_parameters" || attribute == "_buffers" || attribute == "_modules";
    if (!is_store || !is_dict(value)) return visit(value, name + "." + std::string(attribute), depth);
    dict_for_each(as_dict(value), [&](const Value& key, const Value& part) {
      if (is_str(key)) visit(part, name + "." + std::string(text_of(key)), depth);
    });
  }

  std::vector<std::string> text() {
    if (rows_.empty()) return {};
    std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.bytes > b.bytes; });
    std::vector<std::string> lines{"the program's largest tensors there:"};
    for (size_t k = 0; k < std::min(kRows, rows_.size()); k++)
      lines.push_back("  " + rows_[k].name + ": " + describe(rows_[k].tensor) + ", " + size_text(rows_[k].bytes) +
                      " on " + rows_[k].tensor.device().str());
    if (rows_.size() > kRows) {
      size_t bytes = 0;
      for (size_t k = kRows; k < rows_.size(); k++) bytes += rows_[k].bytes;
      lines.push_back("  " + std::to_string(rows_.size() - kRows) + " others, " + size_text(bytes));
    }
    return lines;
  }

  Interpreter& in_;
  const TorchState& state_;
  std::unordered_set<const Object*> seen_;
  std::unordered_set<const Storage*> storages_;
  std::vector<Row> rows_;
};

}  // namespace

std::vector<std::string> memory_holders(Interpreter& in) { return Search(in).run(); }

}  // namespace tessera::stdlib

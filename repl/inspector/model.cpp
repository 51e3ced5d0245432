// compile: small (once for a look of a person)
#include "repl/inspector/model.h"

#include <unordered_map>

#include "lang/core/protocol.h"
#include "repl/inspector/reach.h"
#include "repl/inspector/text_parts.h"

namespace tessera::repl {
using namespace lang;
using tensor::Tensor;
using tensor::TensorImpl;

namespace {

constexpr size_t kMostRows = 2000;
constexpr int kDeepest = 64;

class Summarizer {
 public:
  explicit Summarizer(Interpreter& in) : in_(in) {}

  ModelSummary run(const Value& model) {
    add(model, "", 0, true);
    return std::move(found_);
  }

 private:
  void add(const Value& layer, const std::string& name, int depth, bool last) {
    const LayerStores stores = layer_stores(layer);
    if (!stores) return;
    if (found_.rows.size() >= kMostRows || depth > kDeepest) {
      ++found_.more;
      return;
    }
    LayerRow row;
    row.name = name;
    row.type = layer.as_object()->type->name->view();
    row.depth = depth;
    row.last = last;
    const auto [known, is_new] = layers_.emplace(layer.as_object(), name);
    if (!is_new) {
      row.shared = known->second.empty() ? "the model" : known->second;
      found_.rows.push_back(row);
      return;
    }
    add_tensors(row, stores.parameters, true);
    add_tensors(row, stores.buffers, false);
    found_.rows.push_back(row);
    found_.parameters += row.parameters;
    found_.trainable += row.trainable;
    found_.parameter_bytes += row.parameter_bytes;
    found_.buffer_bytes += row.buffer_bytes;
    std::vector<std::pair<std::string, Value>> inner;
    dict_for_each(stores.modules, [&](const Value& key, const Value& value) {
      if (is_str(key) && layer_stores(value)) inner.emplace_back(text_of(key), value);
    });
    for (size_t i = 0; i < inner.size(); ++i)
      add(inner[i].second, name + (name.empty() ? "" : ".") + inner[i].first, depth + 1, i + 1 == inner.size());
  }

  void add_tensors(LayerRow& row, const Dict* store, bool are_parameters) {
    dict_for_each(store, [&](const Value& key, const Value& value) {
      const Tensor* t = tensor_in(in_, value);
      if (!is_str(key) || t == nullptr) return;
      const std::string own(text_of(key));
      row.shapes += (row.shapes.empty() ? "" : ", ") + own + " " + tensor::text(t->sizes());
      const std::string full = row.name + (row.name.empty() ? "" : ".") + own;
      if (const auto [known, is_new] = tensors_.emplace(t->impl(), full); !is_new) {
        row.shared += (row.shared.empty() ? "" : ", ") + known->second;
        return;
      }
      const auto bytes = static_cast<int64_t>(t->nbytes());
      if (!are_parameters) {
        row.buffer_bytes += bytes;
        return;
      }
      row.parameters += t->numel();
      row.parameter_bytes += bytes;
      if (t->requires_grad()) row.trainable += t->numel();
    });
  }

  Interpreter& in_;
  ModelSummary found_;
  std::unordered_map<const Object*, std::string> layers_;
  std::unordered_map<const TensorImpl*, std::string> tensors_;
};

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }

std::string trainable_text(const LayerRow& row) {
  if (row.parameters == 0) return "";
  return row.trainable == row.parameters ? "yes" : row.trainable == 0 ? "no" : count_text(row.trainable) + " of them";
}

}  // namespace

ModelSummary summarize_model(Interpreter& in, const Value& model) { return Summarizer(in).run(model); }

std::string model_text(Interpreter& in, const Value& model, std::string_view name, const Style& style) {
  const ModelSummary summary = summarize_model(in, model);
  const Paint paint(style);
  if (summary.rows.empty()) return harmless(name) + " is no layer but " + harmless(type_name(in, model)) + "\n";
  TextTable table({{"layer", false, 0, 28},
                   {"type", false, 0, 16},
                   {"shapes", false, 2, 22},
                   {"parameters", true, 0},
                   {"bytes", true, 3},
                   {"trainable", false, 1},
                   {"notes", false, 0, 16}});
  std::vector<bool> ends;  // for each level above: no layer of it comes below
  for (const LayerRow& row : summary.rows) {
    ends.resize(static_cast<size_t>(row.depth));
    std::string label;
    for (size_t i = 1; i < ends.size(); ++i) label += ends[i] ? "   " : style.unicode ? "│  " : "|  ";
    if (row.depth > 0) label += style.unicode ? (row.last ? "└─ " : "├─ ") : "+- ";
    label += row.depth == 0 ? name : last_part(row.name);
    ends.push_back(row.last);
    const int64_t bytes = row.parameter_bytes + row.buffer_bytes;
    table.add({{label, Paint::kName},
               {row.type},
               {row.shapes},
               {row.parameters > 0 ? count_text(row.parameters) : ""},
               {bytes > 0 ? bytes_text(bytes) : ""},
               {trainable_text(row), row.trainable < row.parameters ? Paint::kWarn : Paint::kPlain},
               {row.shared.empty() ? "" : "is " + row.shared, Paint::kFaint}});
  }
  std::string out = table.text(style);
  if (summary.more > 0) out += "... and " + plural(summary.more, "layer") + " more\n";
  out += paint(plural(summary.parameters, "parameter") + " (" + bytes_text(summary.parameter_bytes) + "), " +
                   count_text(summary.trainable) + " trainable, buffers " + bytes_text(summary.buffer_bytes),
               Paint::kBold);
  return out + "\n";
}

}  // namespace tessera::repl

// compile: small (runs after an error)
#include "stdlib/torch/error_hints.h"

#include <algorithm>

#include "lang/objects/attribute.h"
#include "lang/vm/vm.h"
#include "runtime/shape.h"

namespace tessera::stdlib {
namespace {

using lang::FailingExpression;
using lang::OperandText;
using lang::Span;
using lang::ast::Attribute;
using lang::ast::Call;
using lang::ast::Expr;
using lang::ast::IntLiteral;
using lang::ast::is;
using lang::ast::Keyword;
using lang::ast::Name;
using lang::ast::try_as;
using Sizes = std::vector<int64_t>;

bool says(std::string_view message, std::string_view part) { return message.find(part) != message.npos; }

// The mended expression ----------------------------------------------------------------------------------------------

// Brackets of the operand's own; those of a call are not.
bool has_brackets(const FailingExpression& failing, Span span) {
  const std::string_view text = failing.parsed->source->text();
  if (span.begin <= failing.span.begin || span.end >= failing.span.end) return false;
  const bool of_call = failing.kind == FailingExpression::Kind::kCall && span.end + 1 == failing.span.end;
  return !of_call && text[span.begin - 1] == '(' && text[span.end] == ')';
}

// The operand as it can stand before a dot.
std::string primary(const Operand& o, const FailingExpression& failing) {
  const std::string text(failing.text(*o.span));
  return o.needs_brackets ? "(" + text + ")" : text;
}

struct Ending {
  size_t operand;
  std::string text;  // ".T"
};

// What arrays have too, of what is offered for tensors.
bool of_arrays(std::string_view ending) { return ending == ".T" || ending == ".mT" || ending.starts_with("["); }

// The failing expression with endings behind operands; without the expression, the operands alone.
std::string mended(const Refusal& r, const std::vector<Ending>& endings) {
  std::vector<FailingExpression::Change> changes;
  for (const Ending& e : endings) {
    const Operand& o = r.operands[e.operand];
    if (o.is_array && !of_arrays(e.text)) return "";
    if (!o.span && r.in_library) return "";  // its name is the library's
    if (!r.failing || !o.span) {
      if (endings.size() > 1) return "";
      const char* const nth[] = {"the first operand", "the second operand", "the third operand"};
      const std::string who = !o.name.empty() ? o.name : e.operand < 3 ? nth[e.operand] : "one operand";
      return o.name.empty() ? who + " as " + e.text : who + e.text;
    }
    Span span = *o.span;
    if (has_brackets(*r.failing, span)) span = {span.begin - 1, span.end + 1};
    changes.push_back({span, primary(o, *r.failing) + e.text});
  }
  return r.failing->rewritten(std::move(changes));
}

std::string would_fit(const std::string& expression) {
  if (expression.empty()) return "";
  constexpr size_t kMost = 120;
  return "hint: " +
         (expression.size() > kMost || expression.find('\n') != expression.npos ? lang::shown_expression(expression)
                                                                                : expression) +
         " would fit";
}

std::string would_fit(const std::vector<std::string>& expressions) {
  std::string all;
  for (const std::string& each : expressions)
    if (!each.empty()) all += (all.empty() ? "" : ", or ") + each;
  return would_fit(all);
}

// The operands in the failing expression, or all of them when none are there.
std::string text_of_operand(const Operand& o, const char* otherwise) { return o.name.empty() ? otherwise : o.name; }

Sizes sizes_of(const Tensor& t) { return {t.sizes().begin(), t.sizes().end()}; }

Sizes swapped(Sizes sizes) {
  if (sizes.size() >= 2) std::swap(sizes[sizes.size() - 1], sizes[sizes.size() - 2]);
  return sizes;
}

// The first operand that is no parameter of a layer.
const Operand* given(const Refusal& r, size_t* at = nullptr) {
  for (size_t i = 0; i < r.operands.size(); ++i)
    if (!r.operands[i].of_layer) {
      if (at != nullptr) *at = i;
      return &r.operands[i];
    }
  return nullptr;
}

const Operand* of_layer(const Refusal& r, std::string_view key) {
  for (const Operand& o : r.operands)
    if (o.of_layer && (o.name == key || o.name.ends_with("." + std::string(key)))) return &o;
  return nullptr;
}

// What a layer takes -------------------------------------------------------------------------------------------------

// A number that a layer was built with, or the d-th of several; nothing: it cannot be read.
std::optional<int64_t> setting(const Refusal& r, std::string_view name, size_t d) {
  const Value* held = lang::find_own_attribute(r.running.layer.as_object(), intern(r.in, name));
  if (held != nullptr && lang::is_tuple(*held))
    held = d < lang::as_tuple(*held)->size ? &lang::as_tuple(*held)->items[d] : nullptr;
  return held != nullptr && held->is_int() ? std::optional(held->as_int()) : std::nullopt;
}

// The kernel must fit into what is padded around the image.
bool convolves(const Refusal& r, const Tensor& weight, const Sizes& sizes) {
  const auto spatial = static_cast<size_t>(weight.dim() - 2);
  if (sizes.size() != spatial + 1 && sizes.size() != spatial + 2) return false;
  const size_t channel = sizes.size() - spatial - 1;
  const auto groups = setting(r, "groups", 0);
  if (!groups || sizes[channel] != weight.size(1) * *groups) return false;
  for (size_t d = 0; d < spatial; ++d) {
    const auto padding = setting(r, "padding", d), dilation = setting(r, "dilation", d);
    const int64_t kernel = weight.size(static_cast<int64_t>(d) + 2);
    if (!dilation || sizes[channel + 1 + d] + 2 * padding.value_or(0) < *dilation * (kernel - 1) + 1) return false;
  }
  return true;
}

// Whether the running layer, one of the library's, takes an input of these sizes. Of other layers nobody knows.
bool takes(const Refusal& r, const Sizes& sizes) {
  const std::string layer = r.layer_class();
  if (!r.in_library || sizes.empty()) return false;
  if (layer == "BatchNorm1d" || layer == "BatchNorm2d" || layer == "BatchNorm3d") {
    int64_t values = 1;  // of each channel: one has no spread
    for (const int64_t n : sizes) values *= n;
    const size_t dims = layer.ends_with("3d") ? 5 : layer.ends_with("2d") ? 4 : 3;
    const auto channels = setting(r, "num_features", 0);
    return (sizes.size() == dims || (dims == 3 && sizes.size() == 2)) && sizes[1] == channels && values > sizes[1];
  }
  const bool recurrent = layer == "LSTM" || layer == "GRU" || layer == "RNN";
  const Operand* const weight = of_layer(r, recurrent ? "weight_ih_l0" : "weight");
  if (weight == nullptr) return false;
  const Tensor& w = *weight->tensor;
  if (layer == "Conv1d" || layer == "Conv2d" || layer == "Conv3d") return convolves(r, w, sizes);
  if (layer == "LayerNorm") {
    const Sizes last = sizes_of(w);
    return last.size() <= sizes.size() && std::equal(last.rbegin(), last.rend(), sizes.rbegin());
  }
  if (recurrent && sizes.size() != 2 && sizes.size() != 3) return false;
  return (recurrent || layer == "Linear") && w.dim() == 2 && sizes.back() == w.size(1);
}

// Products -----------------------------------------------------------------------------------------------------------

// Whether the leading dimensions of two shapes broadcast.
bool broadcasts(const Sizes& a, const Sizes& b, size_t skip, Sizes* result = nullptr) {
  const size_t n = std::max(a.size(), b.size());
  if (a.size() < skip || b.size() < skip) return true;
  Sizes out;
  for (size_t i = skip; i < n; ++i) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return false;
    out.insert(out.begin(), x == 1 ? y : x);
  }
  if (result != nullptr) *result = std::move(out);
  return true;
}

bool multiplies(const Sizes& a, const Sizes& b) {
  if (a.empty() || b.empty()) return false;
  const int64_t inner = b.size() == 1 ? b[0] : b[b.size() - 2];
  return a.back() == inner && broadcasts(a, b, 2);
}

std::string hint_for_layer_product(const Refusal& r) {
  const Operand* const weight = of_layer(r, "weight");
  size_t at = 0;
  const Operand* const x = given(r, &at);
  if (weight == nullptr || x == nullptr || weight->tensor->dim() != 2 || x->tensor->dim() == 0) return "";
  if (weight->tensor->dtype() != x->tensor->dtype()) return "";
  const int64_t features = weight->tensor->size(1);
  const Sizes sizes = sizes_of(*x->tensor);
  int64_t flat = 1;
  for (size_t i = 1; i < sizes.size(); ++i) flat *= sizes[i];
  if (sizes.size() > 2 && flat == features && x->span) return would_fit(mended(r, {{at, ".flatten(1)"}}));
  if (sizes.size() == 2 && sizes[0] == features && x->span) return would_fit(mended(r, {{at, ".T"}}));
  return "hint: the layer is made for " + std::to_string(features) + " features, its input has " +
         std::to_string(sizes.back()) + ": Linear(" + std::to_string(sizes.back()) + ", " +
         std::to_string(weight->tensor->size(0)) + ") would take it";
}

std::string hint_for_product(const Refusal& r, const std::string& message) {
  if (!says(message, "cannot be multiplied") && !says(message, "size mismatch, got") &&
      !says(message, "Expected size for first two dimensions of batch2") && !says(message, " not aligned: ") &&
      !says(message, "mismatch in its core dimension"))
    return "";
  if (r.in_library && r.layer_class() == "Linear") return hint_for_layer_product(r);
  if (r.operands.size() < 2 || (r.in_library && !(r.operands[0].is_array && r.operands[1].is_array))) return "";
  if (!r.operands[0].is_array && r.operands[0].tensor->dtype() != r.operands[1].tensor->dtype()) return "";
  const Sizes a = sizes_of(*r.operands[0].tensor), b = sizes_of(*r.operands[1].tensor);
  const auto transposed = [](const Sizes& s) { return s.size() > 2 ? ".mT" : ".T"; };
  std::vector<std::string> fits;
  if (b.size() >= 2 && multiplies(a, swapped(b))) fits.push_back(mended(r, {{1, transposed(b)}}));
  if (a.size() >= 2 && multiplies(swapped(a), b)) fits.push_back(mended(r, {{0, transposed(a)}}));
  if (fits.empty() && multiplies(b, a) && r.failing && r.operands[0].span && r.operands[1].span &&
      r.failing->kind == FailingExpression::Kind::kBinary) {
    fits.push_back(primary(r.operands[1], *r.failing) + " @ " + primary(r.operands[0], *r.failing));
  }
  return would_fit(fits);
}

// Broadcasting -------------------------------------------------------------------------------------------------------

// The result must be as one of the operands: that a column and a row can be combined to a table helps nobody.
bool combines(const Sizes& a, const Sizes& b) {
  Sizes result;
  return broadcasts(a, b, 0, &result) && (result == a || result == b);
}

// Whether an op has one result, whose reduced dimensions may stay.
bool keeps_dimensions(std::string_view op) {
  const auto entries = tensor::find_op(op);
  return std::any_of(entries.begin(), entries.end(), [](const OpEntry* entry) {
    return entry->schema().find("keepdim") >= 0 && entry->schema().results.size() == 1;
  });
}

// `x.mean(1)`, whose result lost the dimension that it lacks here: the call with keepdim=True.
std::string with_keepdim(const FailingExpression& failing, const Expr* e, bool array, const Sizes& now,
                         const Sizes& other) {
  const auto* call = try_as<Call>(e);
  const auto* method = call == nullptr ? nullptr : try_as<Attribute>(call->callee);
  if (method == nullptr) return "";
  if (!keeps_dimensions(method->name.text)) return "";
  const IntLiteral* dim = nullptr;
  for (const Expr* argument : call->arguments)
    if (const auto* number = try_as<IntLiteral>(argument)) dim = number;
  for (const Keyword& k : call->keywords) {
    if (k.name.text == "keepdim" || k.name.text == "keepdims") return "";
    if (k.name.text == "dim" || k.name.text == "axis")
      dim = try_as<IntLiteral>(k.value), array |= k.name.text == "axis";
  }
  if (dim == nullptr) return "";
  Sizes kept = now;
  const auto at = dim->value < 0 ? dim->value + static_cast<int64_t>(kept.size()) + 1 : dim->value;
  if (at < 0 || at > static_cast<int64_t>(kept.size())) return "";
  kept.insert(kept.begin() + at, 1);
  if (!combines(kept, other)) return "";
  std::string text(failing.text(call->span));
  text.pop_back();
  return text + (array ? ", keepdims=True)" : ", keepdim=True)");
}

// keepdim=True where a reduction has taken the dimension away, in this line or in the one that made the operand.
std::string hint_for_keepdim(const Refusal& r, size_t at, const Sizes& now, const Sizes& other) {
  const Operand& o = r.operands[at];
  if (!r.failing || o.expr == nullptr) return "";
  if (const std::string here = with_keepdim(*r.failing, o.expr, o.is_array, now, other); !here.empty())
    return would_fit(r.failing->rewritten({{*o.span, here}}));
  const Expr* const made = lang::assigned_value(*r.failing, *o.expr);
  if (made == nullptr) return "";
  const std::string there = with_keepdim(*r.failing, made, o.is_array, now, other);
  return there.empty() ? "" : "hint: with " + o.name + " = " + there + " it would fit";
}

std::string hint_for_broadcast(const Refusal& r, const std::string& message) {
  const bool arrays = says(message, "could not be broadcast together");
  if ((!says(message, "must match the size of tensor b") && !arrays) || r.operands.size() < 2) return "";
  const Sizes sizes[] = {sizes_of(*r.operands[0].tensor), sizes_of(*r.operands[1].tensor)};
  for (const size_t at : {1, 0})
    if (std::string hint = hint_for_keepdim(r, at, sizes[at], sizes[1 - at]); !hint.empty()) return hint;
  std::vector<std::string> fits;
  for (const size_t at : {1, 0}) {
    for (size_t dim = 1; dim <= sizes[at].size(); ++dim) {
      Sizes more = sizes[at];
      more.insert(more.begin() + static_cast<ptrdiff_t>(dim), 1);
      const std::string ending = !arrays                   ? ".unsqueeze(" + std::to_string(dim) + ")"
                                 : dim == sizes[at].size() ? dim == 1 ? "[:, None]" : "[..., None]"
                                                           : "";
      if (!ending.empty() && combines(more, sizes[1 - at])) fits.push_back(mended(r, {{at, ending}}));
    }
    if (sizes[at].size() == 2 && combines(swapped(sizes[at]), sizes[1 - at])) fits.push_back(mended(r, {{at, ".T"}}));
    if (!fits.empty()) break;
  }
  return fits.size() > 2 ? "" : would_fit(fits);
}

// Types and devices --------------------------------------------------------------------------------------------------

std::string cast_to(DType type) {
  if (type == kFloat32) return ".float()";
  if (type == kFloat64) return ".double()";
  if (type == kInt64) return ".long()";
  return ".to(torch." + std::string(name(type)) + ")";
}

// The input with the layer's type, and as the image that a convolution takes.
std::string hint_for_input(const Refusal& r, size_t at, DType type) {
  const Tensor& x = *r.operands[at].tensor;
  const std::string cast = x.dtype() == type ? "" : cast_to(type);
  const Sizes sizes = sizes_of(x);
  const Operand* const weight = of_layer(r, "weight");
  if (!cast.empty() && takes(r, sizes)) return would_fit(mended(r, {{at, cast}}));
  if (weight == nullptr || weight->tensor->dim() < 3 || !r.operands[at].span) return "";
  const auto spatial = static_cast<size_t>(weight->tensor->dim() - 2);
  std::vector<std::pair<std::string, Sizes>> images;  // those whose last dimension is the channels first
  if (spatial == 2 && sizes.size() == 4)
    images.push_back({".permute(0, 3, 1, 2)", {sizes[0], sizes[3], sizes[1], sizes[2]}});
  if (spatial == 2 && sizes.size() == 3) images.push_back({".permute(2, 0, 1)", {sizes[2], sizes[0], sizes[1]}});
  for (const int at_dim : {1, 0}) {
    if (sizes.size() != spatial + static_cast<size_t>(at_dim)) continue;
    Sizes more = sizes;
    more.insert(more.begin() + at_dim, 1);
    images.push_back({".unsqueeze(" + std::to_string(at_dim) + ")", std::move(more)});
  }
  for (const auto& [ending, image] : images)
    if (takes(r, image)) return would_fit(mended(r, {{at, cast + ending}}));
  return "";
}

bool is_about_types(const std::string& message) {
  return says(message, "must have the same dtype") || says(message, "have the same dtype, but got") ||
         says(message, "expected scalar type") || says(message, "Input type (") || says(message, "Found dtype") ||
         says(message, "expected target dtype to be");
}

std::string hint_for_type(const Refusal& r, const std::string& message) {
  if (!is_about_types(message) || r.operands.empty()) return "";
  if (says(message, "expected scalar type Long but found") || says(message, "expected target dtype to be Long"))
    for (size_t i = r.operands.size(); i-- > 0;)
      if (message.ends_with(" " + std::string(scalar_type_name(r.operands[i].tensor->dtype()))) && r.operands[i].span)
        return would_fit(mended(r, {{i, ".long()"}}));
  size_t at = 0;
  if (given(r, &at) == nullptr) return "";
  for (const Operand& o : r.operands)  // a layer's type is what its input should have
    if (o.of_layer && is_floating(o.tensor->dtype()))
      return o.tensor->dtype() == r.operands[at].tensor->dtype() ? "" : hint_for_input(r, at, o.tensor->dtype());
  if (r.operands.size() < 2 || r.operands[0].is_array || r.operands[1].is_array) return "";
  const DType a = r.operands[0].tensor->dtype(), b = r.operands[1].tensor->dtype();
  const bool product = says(message, "m1 and m2") || (r.failing && r.failing->kind == FailingExpression::Kind::kBinary);
  if (a == b || (product && !multiplies(sizes_of(*r.operands[0].tensor), sizes_of(*r.operands[1].tensor)))) return "";
  // What came from numpy or from integers follows the network's float32.
  const size_t other = says(message, "Found dtype") || (is_floating(a) && (!is_floating(b) || a == kFloat32)) ? 1 : 0;
  return would_fit(mended(r, {{other, cast_to(other == 1 ? a : b)}}));
}

std::string hint_for_device(const Refusal& r, const std::string&) {
  if (r.operands.size() < 2) return "";
  size_t at = 0;
  const Operand* const x = given(r, &at);
  if (x == nullptr) return "";
  for (size_t i = 0; i < r.operands.size(); ++i) {
    const Device there = r.operands[i].tensor->device(), here = x->tensor->device();
    if (i == at || there == here || there.is_meta() || here.is_meta()) continue;
    const size_t moved = r.operands[i].of_layer || here.type == DeviceType::Cpu ? at : i;
    const Device to = moved == at ? there : here;
    return would_fit(mended(r, {{moved, ".to('" + to.str() + "')"}}));
  }
  return "";
}

// Targets and labels -------------------------------------------------------------------------------------------------

// The range of a tensor of int64 that can be read here; false: it cannot.
bool range_of(const Tensor& t, int64_t& least, int64_t& largest) {
  if (t.dtype() != kInt64 || t.device().type != DeviceType::Cpu || !t.is_contiguous() || t.numel() == 0) return false;
  const int64_t* const data = t.data<int64_t>();
  const auto [a, b] = std::minmax_element(data, data + t.numel());
  least = *a, largest = *b;
  return true;
}

std::string hint_for_labels(const Refusal& r, const std::string& message) {
  if (!message.starts_with("Target ") || !says(message, "is out of bounds") || r.operands.size() < 2) return "";
  const Tensor& input = *r.operands[0].tensor;
  if (input.dim() == 0) return "";
  const int64_t classes = input.size(input.dim() == 1 ? 0 : 1);
  int64_t least = 0, largest = 0;
  if (range_of(*r.operands[1].tensor, least, largest) && least == 1 && largest == classes && r.operands[1].span)
    return "hint: labels count from 0, these from 1: " +
           r.failing->rewritten({{*r.operands[1].span, primary(r.operands[1], *r.failing) + " - 1"}}) + " would fit";
  return "hint: the input has " + std::to_string(classes) + " classes, so labels are 0 to " +
         std::to_string(classes - 1);
}

std::string hint_for_table(const Refusal& r, const std::string& message) {
  if (!says(message, "index out of range in self")) return "";
  for (const Operand& o : r.operands)
    if (is_floating(o.tensor->dtype()) && o.tensor->dim() == 2)
      return "hint: the table has " + std::to_string(o.tensor->size(0)) + " rows, so indices are 0 to " +
             std::to_string(o.tensor->size(0) - 1);
  return "";
}

std::string hint_for_target(const Refusal& r, const std::string& message) {
  if ((!says(message, "Target size") && !says(message, "Using a target size")) || r.operands.size() < 2) return "";
  const Tensor &input = *r.operands[0].tensor, &target = *r.operands[1].tensor;
  if (input.numel() != target.numel()) return "";
  if (input.dim() == target.dim() + 1 && input.size(-1) == 1) {
    const std::string ending = ".unsqueeze(" + std::to_string(target.dim()) + ")";
    if (!r.operands[1].span) return would_fit("target" + ending);
    return would_fit(mended(r, {{1, ending}}));
  }
  if (target.dim() == input.dim() + 1 && target.size(-1) == 1 && r.operands[1].span)
    return would_fit(mended(r, {{1, ".squeeze(" + std::to_string(input.dim()) + ")"}}));
  return "";
}

// Layers' inputs -----------------------------------------------------------------------------------------------------

std::string hint_for_image(const Refusal& r, const std::string& message) {
  if (!says(message, "(unbatched) or") && !says(message, "channels, but got")) return "";
  size_t at = 0;
  const Operand *const x = given(r, &at), *const weight = of_layer(r, "weight");
  return x == nullptr || weight == nullptr ? "" : hint_for_input(r, at, weight->tensor->dtype());
}

// "expected 4D input (got 3D input)": one example, where a batch is wanted.
std::string hint_for_batch(const Refusal& r, const std::string& message) {
  size_t at = 0;
  const Operand* const x = given(r, &at);
  if (!message.starts_with("expected ") || !says(message, "D input (got ") || x == nullptr || !x->span) return "";
  const std::string more = std::to_string(x->tensor->dim() + 1) + "D";
  if (!says(message.substr(0, message.find('(')), more)) return "";
  Sizes sizes = sizes_of(*x->tensor);
  sizes.insert(sizes.begin(), 1);
  if (!takes(r, sizes)) return "";
  return would_fit(mended(r, {{at, ".unsqueeze(0)"}}));
}

// Shapes of views ----------------------------------------------------------------------------------------------------

std::string hint_for_view(const Refusal& r, const std::string& message) {
  if (!r.failing || r.failing->call == nullptr || r.in_library) return "";
  const auto* method = try_as<Attribute>(r.failing->call->callee);
  if (method == nullptr) return "";
  if (says(message, "view size is not compatible") && method->name.text == "view")
    return would_fit(r.failing->rewritten({{method->name.span, "reshape"}}));
  if (!says(message, "is invalid for input of size") || r.operands.empty()) return "";
  const int64_t count = r.operands[0].tensor->numel();
  std::vector<std::string> fits;
  const auto& given = r.failing->operands;
  for (size_t free = given.size(); free-- > 0;) {
    int64_t others = 1;
    bool numbers = given.size() > 1;
    for (size_t i = 0; i < given.size(); ++i) {
      const auto* n = try_as<IntLiteral>(given[i].expr);
      numbers = numbers && n != nullptr && n->value > 0;
      if (numbers && i != free) others *= n->value;
    }
    if (numbers && count % others == 0) fits.push_back(r.failing->rewritten({{given[free].span, "-1"}}));
  }
  return fits.size() > 2 ? "" : would_fit(fits);
}

std::string hint_for_index(const Refusal& r, const std::string& message) {
  if (!says(message, "tensors used as indices must be") || !r.failing || r.failing->operands.size() < 2) return "";
  const OperandText& index = r.failing->operands[1];
  if (r.failing->kind != FailingExpression::Kind::kSubscript || index.expr == nullptr || !is<Name>(*index.expr) ||
      !is_tensor(torch_state(r.in), lang::known_value(r.in, *r.failing->frame, *index.expr)))
    return "";
  return would_fit(r.failing->rewritten({{index.span, std::string(r.failing->text(index.span)) + ".long()"}}));
}

// One value out of a tensor ------------------------------------------------------------------------------------------

std::string hint_for_truth(const Refusal& r, const std::string& message) {
  if (!says(message, "Boolean value of Tensor with more than one value")) return "";
  if (!r.failing) return "hint: .any() or .all() of it is one truth value";
  const std::string text = r.failing->kind == FailingExpression::Kind::kCompare
                               ? "(" + std::string(r.failing->text(r.failing->span)) + ")"
                               : "";
  if (text.empty()) return "hint: .any() or .all() of it is one truth value";
  return "hint: " + text + ".any() or " + text + ".all() is one truth value";
}

std::string hint_for_one_number(const Refusal& r, const std::string& message) {
  if (!says(message, "only one element tensors can be converted") && !says(message, "cannot be converted to Scalar"))
    return "";
  if (r.operands.empty()) return "";
  const Operand& x = r.operands[0];
  return "hint: " + text_of_operand(x, "it") + " has " + std::to_string(x.tensor->numel()) +
         " elements: reduce it first (.mean(), .sum()), or take them all with .tolist()";
}

std::string hint_for_numpy(const Refusal& r, const std::string& message) {
  if (!says(message, "Can't call numpy() on Tensor that requires grad")) return "";
  if (!r.operands.empty() && r.operands[0].span && r.failing->call != nullptr)
    return would_fit(mended(r, {{0, ".detach()"}}));
  return "hint: .detach().numpy() shares the values, without the history";
}

// What is refused whatever the operands are.
constexpr std::pair<std::string_view, const char*> kPlainHints[] = {
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
    {"all elements of input should be between 0 and 1",
     "hint: probabilities are wanted: torch.sigmoid of the input gives them, or BCEWithLogitsLoss takes it as it is"},
};

using Hint = std::string (*)(const Refusal&, const std::string&);
constexpr Hint kHints[] = {hint_for_device, hint_for_product, hint_for_broadcast,  hint_for_type,  hint_for_labels,
                           hint_for_table,  hint_for_target,  hint_for_image,      hint_for_batch, hint_for_view,
                           hint_for_index,  hint_for_truth,   hint_for_one_number, hint_for_numpy};

}  // namespace

std::string hint_for(const Refusal& refusal, const std::string& message) {
  for (const auto& [part, hint] : kPlainHints)
    if (says(message, part)) return hint;
  for (const Hint hint : kHints)
    if (std::string found = hint(refusal, message); !found.empty()) return found;
  return "";
}

}  // namespace tessera::stdlib

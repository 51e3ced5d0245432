// compile: small (once for a look of a person)
#include "repl/inspector/inspect_tensor.h"

#include <algorithm>
#include <cmath>

#include "lang/core/protocol.h"
#include "lang/types/list.h"
#include "lang/types/set.h"
#include "lang/types/tuple.h"
#include "repl/inspector/drawing.h"
#include "repl/inspector/live_tensors.h"
#include "repl/inspector/model.h"
#include "repl/inspector/reach.h"
#include "runtime/autograd/node.h"

namespace tessera::repl {
using namespace lang;
using tensor::Tensor;

namespace {

constexpr int64_t kAll = INT64_MAX;                    // one tensor that is asked for is read as a whole
constexpr int64_t kMostFromDevice = int64_t(1) << 28;  // elements that are copied to be read
constexpr size_t kBetween = 4;                         // columns between the value and its gradient

std::string heading(const TensorRow& row, const Style& style) {
  const Paint paint(style);
  return paint(row.name, Paint::kBold) + ": " + harmless(row.type) + " " + row.shape + " " + row.dtype + " on " +
         row.device + ", " + bytes_text(row.bytes) + "\n";
}

std::string layout_line(const Tensor& t) {
  std::string out = "layout    strides " + tensor::text(t.strides()) + ", offset " + std::to_string(t.offset());
  out += t.is_contiguous() ? ", contiguous" : ", not contiguous";
  if (t.is_conj()) out += ", stands for its conjugates";
  if (t.is_neg()) out += ", stands for its negatives";
  return out + "\n";
}

std::string some_names(const std::vector<std::string>& names) {
  constexpr size_t kMost = 6;
  std::string out;
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i) out += (i == 0 ? "" : ", ") + harmless(names[i]);
  return names.size() > kMost ? out + " and " + std::to_string(names.size() - kMost) + " more" : out;
}

// With the names that stand on the same memory, and the other names of the very same tensor.
std::string memory_line(Interpreter& in, const Tensor& t, std::string_view name) {
  std::vector<std::string> sharing, same;
  for (const Reached& each : reach_tensors(in).tensors) {
    if (each.name == name || !share_memory(t, each.tensor)) continue;
    (each.tensor.same(t) ? same : sharing).push_back(each.name);
  }
  std::string out =
      "memory    " + bytes_text(static_cast<int64_t>(t.storage().bytes())) + ", version " + std::to_string(t.version());
  if (!same.empty()) out += ", the same as " + some_names(same);
  if (!sharing.empty()) out += ", shared with " + some_names(sharing);
  return out + "\n";
}

std::string history_line(Interpreter& in, const TensorRow& row) {
  const Tensor& t = row.tensor;
  const tensor::AutogradMeta* meta = t.impl()->autograd;
  std::string out = "history   ";
  if (!row.grad_fn.empty()) {
    out += harmless(row.grad_fn);
    if (meta->output > 0) out += ", its result " + std::to_string(meta->output);
  } else out += row.requires_grad ? "leaf, requires grad" : "leaf, no gradient";
  if (meta == nullptr) return out + "\n";
  if (meta->view_base.defined()) {
    const auto names = names_of_tensors(in);
    const auto base = names.find(meta->view_base.impl());
    out += ", view of " + (base == names.end() ? "a tensor without a name" : harmless(base->second));
  }
  if (meta->retains_grad) out += ", keeps its gradient";
  return out + "\n";
}

// With the place of the first that is not finite.
std::string numbers_line(const Tensor& host, const Statistics& s, const Style& style, const Stopping& stopping) {
  const Paint paint(style);
  std::string out = "numbers   ";
  if (std::isnan(s.least)) out += "none is finite";
  else {
    out += "min " + number_text(s.least) + ", mean " + number_text(s.mean) + ", max " + number_text(s.largest);
    if (!std::isnan(s.deviation)) out += ", std " + number_text(s.deviation);
    if (s.magnitudes) out += " of the magnitudes";
  }
  std::string odd;
  if (s.nans > 0) odd += ", " + count_text(s.nans) + " nan";
  if (s.infinities > 0) odd += ", " + count_text(s.infinities) + " inf";
  if (!odd.empty() && host.dim() > 0)
    if (const auto at = first_not_finite(host, int64_t(1) << 25, stopping))
      odd += ", the first at " + tensor::text(tensor::Ints(*at));
  return out + paint(odd, Paint::kBad) + "\n";
}

// A tensor's numbers with what they look like; nothing where they cannot be read.
struct Seen {
  Tensor host;
  Statistics statistics;
  explicit operator bool() const { return host.defined(); }
};

Seen look_at(Interpreter& in, const Tensor& t, const Stopping& stopping) {
  const HostCopy host = on_host(in, t, kMostFromDevice);
  if (!host.tensor.defined() || host.is_part) return {};
  const Survey found = survey(host.tensor, kAll, stopping);
  return found.statistics ? Seen{host.tensor, *found.statistics} : Seen{};
}

// The matrix of the first of several.
std::string which_matrix(const Tensor& t) {
  std::string at;
  for (int64_t d = 0; d + 2 < t.dim(); ++d) at += "0, ";
  return at.empty() ? "" : " of [" + at + ":, :]";
}

Lines drawn(const Seen& seen, size_t columns, const Style& style, const Stopping& stopping) {
  Lines lines = histogram(seen.host, seen.statistics, columns, style, stopping);
  if (seen.host.dim() == 0 || std::isnan(seen.statistics.least)) return lines;
  const Range range = colour_range(seen.statistics);
  lines.push_back("");
  lines.push_back("heat map" + which_matrix(seen.host));
  lines.push_back(legend(range, style));
  const Lines heat = heat_map(seen.host, range, columns, style);
  lines.insert(lines.end(), heat.begin(), heat.end());
  return lines;
}

std::string joined(const Lines& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

// Beside each other where both have room, else one below the other.
std::string with_gradient(const Seen& value, const Seen& gradient, const std::string& name, const Style& style,
                          const Stopping& stopping) {
  constexpr size_t kLeast = 24;
  const Paint paint(style);
  const std::string of_value = paint(name, Paint::kBold), of_gradient = paint(name + ".grad", Paint::kBold);
  const auto block = [&](const Seen& seen, const std::string& title, size_t columns) {
    Lines lines{title};
    const Lines more = drawn(seen, columns, style, stopping);
    lines.insert(lines.end(), more.begin(), more.end());
    return lines;
  };
  const size_t half = (style.columns - std::min<size_t>(style.columns, kBetween)) / 2;
  if (half < kLeast)
    return joined(block(value, of_value, style.columns)) + "\n" + joined(block(gradient, of_gradient, style.columns));
  return joined(beside(block(value, of_value, half), block(gradient, of_gradient, half), half + kBetween));
}

std::string tensor_text(Interpreter& in, const Value& value, const Tensor& t, std::string_view name,
                        const Style& style) {
  const Stopping stopping = [&in] { return in.is_stopping(); };
  const TensorRow row = describe_tensor(harmless(name), value, t);
  std::string out = heading(row, style) + layout_line(t) + memory_line(in, t, name) + history_line(in, row);
  const Seen seen = look_at(in, t, stopping);
  if (!seen) {
    if (in.is_stopping()) return out + "stopped: the numbers were not looked at\n";
    return out + (t.numel() == 0 ? "it has no elements\n" : "its numbers cannot be read\n");
  }
  out += numbers_line(seen.host, seen.statistics, style, stopping);
  const tensor::AutogradMeta* meta = t.impl()->autograd;
  const bool has_gradient = meta != nullptr && meta->grad.defined();
  const Seen gradient = has_gradient ? look_at(in, meta->grad, stopping) : Seen{};
  if (gradient) out += "gradient" + numbers_line(gradient.host, gradient.statistics, style, stopping).substr(8);
  if (t.numel() == 1 && !gradient) return out;
  out += "\n";
  if (gradient) return out + with_gradient(seen, gradient, row.name, style, stopping);
  const bool several = t.dim() == 4;
  const Tensor one = several ? seen.host.view_of(seen.host.sizes().drop(1), seen.host.strides().drop(1)) : seen.host;
  if (const Picture picture = picture_of(one, seen.statistics); !picture.pixels.empty())
    return out + (several ? "picture of [0]\n" : "") + picture_text(picture, style);
  return out + joined(drawn(seen, style.columns, style, stopping));
}

// What a container or an object is, without asking it.
std::string other_text(const Value& value, std::string_view name, std::string_view type, const Style& style) {
  const Paint paint(style);
  std::string out = paint(harmless(name), Paint::kBold) + ": " + harmless(type);
  if (!value.is_object()) return out + "\n";
  Object* const object = value.as_object();
  switch (object->kind) {
    case ObjectKind::List: return out + " of " + plural(as_list(value)->size, "item") + "\n";
    case ObjectKind::Tuple: return out + " of " + plural(as_tuple(value)->size, "item") + "\n";
    case ObjectKind::Dict: return out + " of " + plural(as_dict(value)->count, "item") + "\n";
    case ObjectKind::Set: return out + " of " + plural(as_set(value)->count, "item") + "\n";
    case ObjectKind::Str: return out + " of " + plural(as_str(value)->length, "character") + "\n";
    default: break;
  }
  out += "\n";
  size_t left = 40;
  for_own_attributes(object, [&](std::string_view attribute, const Value& held) {
    if (left == 0 || attribute.starts_with("__")) return;
    --left;
    out += "  ." + harmless(attribute) +
           (held.is_object() ? ": " + harmless(held.as_object()->type->name->view()) : "") + "\n";
  });
  return out;
}

}  // namespace

std::string inspect_text(Interpreter& in, const Value& value, std::string_view name, const Style& style) {
  if (const Tensor* t = tensor_in(in, value)) return tensor_text(in, value, *t, name, style);
  if (layer_stores(value)) return model_text(in, value, name, style);
  return other_text(value, name, type_name(in, value), style);
}

}  // namespace tessera::repl

#include "repl/notebook/tensor_forms.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "repl/inspector/inspect_tensor.h"
#include "repl/inspector/reach.h"
#include "repl/notebook/look.h"
#include "repl/notebook/markup.h"
#include "runtime/autograd/node.h"
#include "runtime/format.h"

namespace tessera::repl {
using namespace lang;
using nlohmann::json;
using tensor::Tensor;

namespace {

json number(double x) { return std::isfinite(x) ? json(x) : json(); }

json integers(tensor::Ints values) {
  json out = json::array();
  for (const int64_t each : values) out.push_back(each);
  return out;
}

json heat_json(const TensorLook& look) {
  const Tensor& host = look.host;
  json values = json::array();
  for (const double each : look.heat.values) values.push_back(number(each));
  const int64_t rows = host.dim() < 2 ? 1 : host.size(host.dim() - 2);
  return {{"rows", look.heat.rows},
          {"columns", look.heat.columns},
          {"low", look.range.low},
          {"high", look.range.high},
          {"values", std::move(values)},
          {"of", {rows, host.size(host.dim() - 1)}},
          {"matrix", which_matrix(look.at)},
          {"leading", integers(host.sizes().first(look.at.size()))},
          {"at", look.at}};
}

json look_json(const TensorLook& look) {
  json out;
  const Histogram& bars = look.bars;
  if (!bars.counts.empty()) out["histogram"] = {{"low", bars.low}, {"high", bars.high}, {"counts", bars.counts}};
  if (!look.heat.values.empty()) out["heat"] = heat_json(look);
  LiveTensors one;
  one.rows.push_back(look.row);
  out["row"] = json::parse(to_json(one))["tensors"][0];
  return out;
}

// A tensor that can be taken for a picture; the first of several.
std::string picture_png(const TensorLook& look) {
  const Tensor& host = look.host;
  if (!host.defined() || !look.row.statistics) return "";
  const bool several = host.dim() == 4 && host.size(0) > 0;
  const Tensor one = several ? host.view_of(host.sizes().drop(1), host.strides().drop(1)) : host;
  const Picture picture = picture_of(one, *look.row.statistics);
  return picture.pixels.empty() ? "" : stdlib::write_png(stdlib::scaled_within(picture, 512, 512));
}

const Tensor* gradient_of(const Tensor& t) {
  const tensor::AutogradMeta* meta = t.impl()->autograd;
  return meta != nullptr && meta->grad.defined() ? &meta->grad : nullptr;
}

TensorLook look_at_gradient(Interpreter& in, const Tensor& gradient, std::string_view name,
                            const std::vector<int64_t>& at) {
  return look_at(in, describe_tensor(std::string(name) + ".grad", Value(), gradient), at);
}

json tensor_data(Interpreter& in, const TensorLook& look, const Tensor& t, std::string_view name) {
  json out = look_json(look);
  out["name"] = name;
  out["layout"] = {{"strides", integers(t.strides())}, {"offset", t.offset()}, {"version", t.version()}};
  if (const std::string png = picture_png(look); !png.empty()) out["picture"] = base64(png);
  if (t.device().is_cpu() || look.host.defined()) out["values"] = tensor::tensor_text(t);
  if (const Tensor* gradient = gradient_of(t)) out["grad"] = look_json(look_at_gradient(in, *gradient, name, look.at));
  return out;
}

std::string dumped(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace

std::string tensor_json(Interpreter& in, const Value& value, std::string_view name, const std::vector<int64_t>& at) {
  const Tensor* t = tensor_in(in, value);
  if (t == nullptr || !t->defined()) return "";
  return dumped(tensor_data(in, look_at(in, describe_tensor(std::string(name), value, *t), at), *t, name));
}

std::string value_html(Interpreter& in, const Value& value, std::string_view repr) {
  const Tensor* t = tensor_in(in, value);
  if (t == nullptr || !t->defined() || t->dim() == 0 || t->numel() == 0) return "";
  const HostCopy host = on_host(in, *t, kMostCopied);
  if (!host.tensor.defined() || host.is_part) return "";
  const TensorRow row = describe_tensor("", value, *t);
  std::vector<int64_t> at;
  const Tensor first = matrix_at(host.tensor, at);
  return "<pre style=\"margin:0\">" + escaped(repr) + "</pre><details><summary style=\"opacity:.7;cursor:pointer\">" +
         escaped(row.dtype) + " " + escaped(row.shape) + " on " + escaped(row.device) + ", " +
         escaped(bytes_text(row.bytes)) + (at.empty() ? "" : ": " + which_matrix(at)) + "</summary>" +
         elements_table(first) + "</details>";
}

Display tensors_display(const LiveTensors& live, const TableChoice& choice, const Style& style) {
  Style plain = style;
  plain.colours = Style::Colours::kNone;
  Display display;
  display.text = tensors_text(live, plain, choice);
  while (display.text.ends_with('\n')) display.text.pop_back();
  const LiveTensors rows = chosen_tensors(live, choice);
  display.html = tensors_table(rows);
  display.others.push_back({kTensorsForm, to_json(rows)});
  return display;
}

Display inspection_display(Interpreter& in, const Value& value, std::string_view name, const Style& style) {
  Style plain = style;
  plain.colours = Style::Colours::kNone;
  Display display;
  const Tensor* t = tensor_in(in, value);
  if (t == nullptr || !t->defined()) return display;
  display.text = inspect_text(in, value, name, plain);
  while (display.text.ends_with('\n')) display.text.pop_back();
  // What it says stands in the text before its first picture.
  const std::string_view words = std::string_view(display.text).substr(0, display.text.find("\n\n"));
  const TensorLook look = look_at(in, describe_tensor(std::string(name), value, *t));
  display.html = "<pre style=\"margin:0\">" + escaped(words) + "</pre>" + look_picture(look);
  if (const Tensor* gradient = gradient_of(*t))
    display.html +=
        "<div>" + escaped(name) + ".grad</div>" + look_picture(look_at_gradient(in, *gradient, name, look.at));
  display.others.push_back({kTensorForm, dumped(tensor_data(in, look, *t, name))});
  return display;
}

}  // namespace tessera::repl

#include "repl/notebook/graph_forms.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "repl/inspector/graph.h"
#include "repl/notebook/markup.h"
#include "repl/notebook/tensor_forms.h"

namespace tessera::repl {
using namespace lang;
using nlohmann::json;

namespace {

constexpr size_t kMostNodes = 2000;  // in the data
constexpr size_t kMostDrawn = 150;   // in a picture

std::string graph_data(const Graph& graph, std::string_view name) {
  json nodes = json::array();
  for (const GraphNode& node : graph.nodes)
    nodes.push_back({{"name", node.name},
                     {"tensor", node.tensor},
                     {"shape", node.shape},
                     {"leaf", node.is_leaf},
                     {"freed", node.is_freed},
                     {"inputs", node.inputs}});
  const json data = {{"name", name}, {"nodes", std::move(nodes)}, {"total", graph.total}, {"gave_up", graph.gave_up}};
  return data.dump(-1, ' ', false, json::error_handler_t::replace);
}

// --- The picture: nodes in layers, each below all that it is an input of.

constexpr double kBoxHigh = 38, kLayerHigh = 64, kLetter = 6.6, kBetween = 18;

struct Place {
  size_t layer = 0;
  double x = 0, width = 0;  // of its middle
};

std::vector<std::string> words_of(const GraphNode& node, size_t i, std::string_view name) {
  const std::string tensor = i == 0 ? std::string(name) : node.tensor;
  std::string below = tensor;
  if (!node.shape.empty()) below += (below.empty() ? "" : " ") + node.shape;
  return {node.is_leaf ? "leaf" : node.name, below};
}

// The longest way from the root. Inputs stand behind their users in no order, so until nothing changes; there are no circles.
void find_layers(const Graph& graph, std::vector<Place>& places) {
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < graph.nodes.size(); ++i)
      for (const uint32_t input : graph.nodes[i].inputs)
        if (places[input].layer <= places[i].layer) {
          places[input].layer = places[i].layer + 1;
          changed = true;
        }
  }
}

// Each layer in the order of the middles of what its nodes are inputs of, without overlap, around the middle of the picture.
double place_layers(const Graph& graph, std::vector<Place>& places) {
  size_t layers = 0;
  for (const Place& place : places) layers = std::max(layers, place.layer + 1);
  std::vector<std::vector<size_t>> rows(layers);
  for (size_t i = 0; i < places.size(); ++i) rows[places[i].layer].push_back(i);
  std::vector<double> wanted(places.size(), 0), users(places.size(), 0);
  double widest = 0;
  for (std::vector<size_t>& row : rows) {
    for (const size_t i : row)
      if (users[i] > 0) wanted[i] /= users[i];
    std::stable_sort(row.begin(), row.end(), [&](size_t a, size_t b) { return wanted[a] < wanted[b]; });
    double width = -kBetween;
    for (const size_t i : row) width += places[i].width + kBetween;
    widest = std::max(widest, width);
    double x = -width / 2;
    for (const size_t i : row) {
      places[i].x = x + places[i].width / 2;
      x += places[i].width + kBetween;
      for (const uint32_t input : graph.nodes[i].inputs) {
        wanted[input] += places[i].x;
        users[input] += 1;
      }
    }
  }
  return widest;
}

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", x);
  return text;
}

std::string drawn(const Graph& graph, std::string_view name) {
  const size_t count = graph.nodes.size();
  std::vector<Place> places(count);
  for (size_t i = 0; i < count; ++i)
    for (const std::string& word : words_of(graph.nodes[i], i, name))
      places[i].width = std::max(places[i].width, 16 + kLetter * static_cast<double>(word.size()));
  find_layers(graph, places);
  const double width = place_layers(graph, places) + 8;
  size_t last = 0;
  for (const Place& place : places) last = std::max(last, place.layer);
  const double height = kLayerHigh * static_cast<double>(last) + kBoxHigh + 4;
  const auto top = [&](size_t i) { return kLayerHigh * static_cast<double>(places[i].layer); };
  std::string out =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"" + number(width) + "\" height=\"" +
      number(height) + "\" viewBox=\"" + number(-width / 2) + " -2 " + number(width) + " " + number(height) +
      "\" font-family=\"sans-serif\" font-size=\"11\" text-anchor=\"middle\" fill=\"currentColor\"><title>autograd "
      "graph of " +
      escaped(name) + "</title>";
  for (size_t i = 0; i < count; ++i)
    for (const uint32_t input : graph.nodes[i].inputs)
      out += "<path fill=\"none\" stroke=\"currentColor\" stroke-opacity=\".45\" d=\"M" + number(places[i].x) + "," +
             number(top(i) + kBoxHigh) + " L" + number(places[input].x) + "," + number(top(input)) + "\"/>";
  for (size_t i = 0; i < count; ++i) {
    const GraphNode& node = graph.nodes[i];
    const std::vector<std::string> words = words_of(node, i, name);
    out += "<rect x=\"" + number(places[i].x - places[i].width / 2) + "\" y=\"" + number(top(i)) + "\" width=\"" +
           number(places[i].width) + "\" height=\"" + number(kBoxHigh) +
           "\" rx=\"4\" stroke=\"currentColor\" stroke-opacity=\".5\" fill=\"" +
           (node.is_leaf ? "rgba(74,127,208,.3)" : "rgba(128,128,128,.12)") + "\"" +
           (node.is_freed ? " stroke-dasharray=\"4 3\"" : "") + "/>";
    const double middle = top(i) + (words[1].empty() ? 23 : 16);
    out += "<text x=\"" + number(places[i].x) + "\" y=\"" + number(middle) + "\">" + escaped(words[0]) + "</text>";
    if (!words[1].empty())
      out += "<text x=\"" + number(places[i].x) + "\" y=\"" + number(top(i) + 30) + "\" fill-opacity=\".75\">" +
             escaped(words[1]) + "</text>";
  }
  return out + "</svg>";
}

}  // namespace

std::string graph_json(Interpreter& in, const Value& value, std::string_view name) {
  const Graph graph = graph_of(in, value, kMostNodes);
  return graph.nodes.empty() ? "" : graph_data(graph, name);
}

Display graph_display(Interpreter& in, const Value& value, std::string_view name, const Style& style) {
  Display display;
  const Graph graph = graph_of(in, value, kMostNodes);
  if (graph.nodes.empty()) return display;
  Style plain = style;
  plain.colours = Style::Colours::kNone;
  display.text = graph_text(in, value, name, plain);
  while (display.text.ends_with('\n')) display.text.pop_back();
  if (graph.total <= static_cast<int64_t>(kMostDrawn))
    display.html = "<div style=\"overflow-x:auto\">" + drawn(graph, name) + "</div>";
  display.others.push_back({kGraphForm, graph_data(graph, name)});
  return display;
}

}  // namespace tessera::repl

#include "repl/notebook/markup.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "repl/inspector/elements.h"
#include "repl/inspector/text_parts.h"

namespace tessera::repl {
using tensor::Tensor;

namespace {

std::string hex(Rgb c) {
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", c.red, c.green, c.blue);
  return text;
}

std::string decimal(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", x);
  return text;
}

// --- The table of live tensors

// A cell that sorts by `value` where that is another than its text.
std::string cell(const std::string& text, const std::string& value = "", const char* style = "") {
  std::string out = "<td";
  if (!value.empty()) out += " data-v=\"" + escaped(value) + "\"";
  out += std::string(" style=\"") + (*style != '\0' ? style : "text-align:left") + "\"";
  return out + ">" + escaped(text) + "</td>";
}

std::string number_cell(const std::optional<Statistics>& s, double Statistics::*which) {
  if (!s || std::isnan((*s).*which)) return cell("");
  return cell((s->sampled ? "~" : "") + number_text((*s).*which), decimal((*s).*which), "text-align:right");
}

std::string notes_of(const TensorRow& row) {
  std::string out;
  const auto add = [&](const std::string& note) { out += (out.empty() ? "" : ", ") + note; };
  if (row.statistics && row.statistics->nans > 0) add(count_text(row.statistics->nans) + " nan");
  if (row.statistics && row.statistics->infinities > 0) add(count_text(row.statistics->infinities) + " inf");
  if (!row.shares.empty()) add((row.is_same ? "is " : "shares ") + row.shares);
  if (!row.contiguous) add("strided");
  return out;
}

// Sorts the rows below the heading that was clicked, the second time the other way round.
constexpr const char* kSort =
    "const h=event.target.closest('th');if(!h)return;const b=this.closest('table').tBodies[0],i=h.cellIndex,"
    "d=h.dataset.d=h.dataset.d=='1'?-1:1,v=r=>r.cells[i].dataset.v??r.cells[i].textContent;"
    "[...b.rows].sort((x,y)=>{const p=v(x),q=v(y);return d*(p===''||q===''||isNaN(p)||isNaN(q)?"
    "p.localeCompare(q,undefined,{numeric:true}):p-q)}).forEach(r=>b.append(r))";

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string tensors_table(const LiveTensors& live) {
  std::string out = "<table><thead><tr onclick=\"" + escaped(kSort) + "\">";
  for (const char* title :
       {"name", "type", "shape", "dtype", "device", "bytes", "grad", "min", "mean", "max", "std", "notes"})
    out += std::string("<th title=\"sort\" style=\"cursor:pointer\">") + title + "</th>";
  out += "</tr></thead><tbody>";
  for (const TensorRow& row : live.rows) {
    const bool bad = row.statistics && row.statistics->nans + row.statistics->infinities > 0;
    out += "<tr>" + cell(row.name) + cell(row.type) +
           cell(row.shape, std::to_string(row.tensor.defined() ? row.tensor.numel() : 0)) + cell(row.dtype) +
           cell(row.device) + cell(bytes_text(row.bytes), std::to_string(row.bytes), "text-align:right") +
           cell(!row.grad_fn.empty() ? row.grad_fn
                : row.requires_grad  ? "leaf"
                                     : "") +
           number_cell(row.statistics, &Statistics::least) + number_cell(row.statistics, &Statistics::mean) +
           number_cell(row.statistics, &Statistics::largest) + number_cell(row.statistics, &Statistics::deviation) +
           cell(notes_of(row), "", bad ? "text-align:left;color:#d33" : "") + "</tr>";
  }
  out += "</tbody></table>";
  for (const DeviceTotal& total : live.totals)
    out += "<div>" + escaped(total.device) + ": " + plural(total.tensors, "tensor") + ", " + bytes_text(total.bytes) +
           "</div>";
  if (live.more > 0) out += "<div>and " + plural(live.more, "tensor") + " more that have no row</div>";
  return out;
}

// --- Elements

namespace {

constexpr int64_t kMostTableRows = 20, kMostTableColumns = 12;

// Which of `size` indices are shown; -1 stands for those that are left out.
std::vector<int64_t> shown_indices(int64_t size, int64_t most) {
  std::vector<int64_t> out;
  if (size <= most) {
    for (int64_t i = 0; i < size; ++i) out.push_back(i);
    return out;
  }
  for (int64_t i = 0; i < most / 2; ++i) out.push_back(i);
  out.push_back(-1);
  for (int64_t i = size - most / 2; i < size; ++i) out.push_back(i);
  return out;
}

std::string shade(double x, const Range& range) {
  if (!(range.high > range.low) || std::isnan(x)) return "";
  const Rgb c = colour_of(x, range);
  char text[64];
  std::snprintf(text, sizeof text, ";background:rgba(%d,%d,%d,.35)", c.red, c.green, c.blue);
  return text;
}

}  // namespace

std::string elements_table(const Tensor& host) {
  const int64_t n = host.dim(), rows = n < 2 ? 1 : host.size(n - 2), columns = host.size(n - 1);
  const int64_t row_stride = n < 2 ? 0 : host.stride(n - 2), column_stride = host.stride(n - 1);
  const std::vector<int64_t> down = shown_indices(rows, kMostTableRows),
                             across = shown_indices(columns, kMostTableColumns);
  const ElementReader read(host);
  Statistics seen{INFINITY, 0, -INFINITY};
  for (const int64_t r : down)
    for (const int64_t c : across)
      if (const double x = r < 0 || c < 0 ? NAN : read[r * row_stride + c * column_stride]; std::isfinite(x)) {
        seen.least = std::min(seen.least, x);
        seen.largest = std::max(seen.largest, x);
      }
  const Range range = seen.least <= seen.largest ? colour_range(seen) : Range{};
  std::string out = "<table><thead><tr><th></th>";
  for (const int64_t c : across) out += "<th>" + (c < 0 ? "…" : std::to_string(c)) + "</th>";
  out += "</tr></thead><tbody>";
  for (const int64_t r : down) {
    out += "<tr><th>" + (r < 0 ? "…" : std::to_string(r)) + "</th>";
    for (const int64_t c : across) {
      if (r < 0 || c < 0) {
        out += "<td>…</td>";
        continue;
      }
      const double x = read[r * row_stride + c * column_stride];
      out += "<td style=\"text-align:right" + shade(x, range) + "\">" + number_text(x) + "</td>";
    }
    out += "</tr>";
  }
  return out + "</tbody></table>";
}

// --- Pictures

namespace {

constexpr double kHigh = 120, kWide = 300, kGap = 40, kText = 16;

std::string rectangle(double x, double y, double width, double height, const std::string& fill) {
  return "<rect x=\"" + decimal(x) + "\" y=\"" + decimal(y) + "\" width=\"" + decimal(width) + "\" height=\"" +
         decimal(height) + "\" fill=\"" + fill + "\"/>";
}

std::string label(double x, double y, const char* anchor, const std::string& text) {
  return "<text x=\"" + decimal(x) + "\" y=\"" + decimal(y) + "\" text-anchor=\"" + anchor + "\">" + escaped(text) +
         "</text>";
}

std::string bars_svg(const Histogram& bars) {
  const int64_t most = std::max<int64_t>(1, *std::max_element(bars.counts.begin(), bars.counts.end()));
  const double width = kWide / static_cast<double>(bars.counts.size());
  std::string out;
  for (size_t i = 0; i < bars.counts.size(); ++i) {
    if (bars.counts[i] == 0) continue;
    const double height = std::max(1.0, kHigh * static_cast<double>(bars.counts[i]) / static_cast<double>(most));
    out += rectangle(static_cast<double>(i) * width, kHigh - height, std::max(width - 0.5, 0.5), height, "#4a7fd0");
  }
  out += rectangle(0, kHigh, kWide, 1, "currentColor");
  return out + label(0, kHigh + kText, "start", number_text(bars.low)) +
         label(kWide, kHigh + kText, "end", number_text(bars.high)) +
         label(kWide / 2, kHigh + kText, "middle", "the highest: " + count_text(most));
}

std::string heat_svg(const TensorLook& look, double& width) {
  const Grid& grid = look.heat;
  const double cell = std::clamp(
      std::min(kWide / static_cast<double>(grid.columns), kHigh / static_cast<double>(grid.rows)), 1.0, 24.0);
  width = cell * static_cast<double>(grid.columns);
  std::string out = "<g shape-rendering=\"crispEdges\">";
  for (size_t r = 0; r < grid.rows; ++r)
    for (size_t c = 0; c < grid.columns; ++c)
      out += rectangle(static_cast<double>(c) * cell, static_cast<double>(r) * cell, cell, cell,
                       hex(colour_of(grid.at(r, c), look.range)));
  const double below = cell * static_cast<double>(grid.rows) + kText;
  out += "</g>" + label(0, below, "start", number_text(look.range.low) + " to " + number_text(look.range.high));
  return out;
}

}  // namespace

std::string look_picture(const TensorLook& look) {
  std::string inside;
  double width = 0;
  if (!look.bars.counts.empty()) {
    inside += bars_svg(look.bars);
    width = kWide + kGap;
  }
  if (look.heat.values.size() > 1) {
    double heat_width = 0;
    const std::string heat = heat_svg(look, heat_width);
    inside += "<g transform=\"translate(" + decimal(width) + ",0)\">" + heat + "</g>";
    width += std::max(heat_width, 140.0);
  }
  if (inside.empty()) return "";
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"" + decimal(width) + "\" height=\"" +
         decimal(kHigh + 2 * kText) + "\" viewBox=\"0 -2 " + decimal(width) + " " + decimal(kHigh + 2 * kText) +
         "\" font-family=\"sans-serif\" font-size=\"11\" fill=\"currentColor\"><title>histogram and heat map</title>" +
         inside + "</svg>";
}

}  // namespace tessera::repl

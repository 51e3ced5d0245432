// compile: small (once for a look of a person)
#include "repl/inspector/tensors_text.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "repl/inspector/text_parts.h"

namespace tessera::repl {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// * any text, ? any character.
bool matches(std::string_view pattern, std::string_view name) {
  size_t p = 0, n = 0, star = pattern.npos, again = 0;
  while (n < name.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n]) && pattern[p] != '*') ++p, ++n;
    else if (p < pattern.size() && pattern[p] == '*') star = p++, again = n;
    else if (star != pattern.npos) p = star + 1, n = ++again;
    else return false;
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

// A column's cells have one unit of meaning each; their ranks say which goes first where there is little room.
enum Rank { kStays, kDtype, kLargest, kLeast, kMean, kGrad, kBytes, kDevice, kDeviation, kType };

std::vector<TextTable::Column> columns(bool with_marks, const Style& style) {
  const size_t name = std::clamp(style.columns / 3, 12u, 40u), notes = std::clamp(style.columns / 5, 10u, 24u);
  std::vector<TextTable::Column> all;
  if (with_marks) all.push_back({"", false, kStays});
  all.insert(all.end(), {{"name", false, kStays, name},
                         {"type", false, kType},
                         {"shape", false, kStays, 16},
                         {"dtype", false, kDtype},
                         {"device", false, kDevice},
                         {"bytes", true, kBytes},
                         {"grad", false, kGrad, 13},
                         {"min", true, kLeast},
                         {"mean", true, kMean},
                         {"max", true, kLargest},
                         {"std", true, kDeviation},
                         {"notes", false, kStays, notes}});
  return all;
}

TextTable::Cell notes(const TensorRow& row) {
  std::string text;
  const auto add = [&](const std::string& note) { text += (text.empty() ? "" : ", ") + note; };
  bool bad = false;
  if (const auto& s = row.statistics) {
    const std::string about = s->sampled ? "~" : "";
    if (s->nans > 0) add(about + count_text(s->nans) + " nan"), bad = true;
    if (s->infinities > 0) add(about + count_text(s->infinities) + " inf"), bad = true;
  }
  if (!row.shares.empty()) add((row.is_same ? "is " : "shares ") + row.shares);
  if (!row.contiguous) add("strided");
  if (row.statistics && row.statistics->magnitudes) add("of magnitudes");
  if (row.statistics && row.statistics->sampled) add("sampled");
  return {text, bad ? Paint::kBad : Paint::kFaint};
}

TextTable::Cell number(const TensorRow& row, double Statistics::*which) {
  if (!row.statistics || std::isnan((*row.statistics).*which)) return {};
  return {(row.statistics->sampled ? "~" : "") + number_text((*row.statistics).*which)};
}

std::string grad_text(const TensorRow& row) {
  if (!row.grad_fn.empty()) return row.grad_fn;
  return row.requires_grad ? "leaf" : "";
}

std::vector<TextTable::Cell> cells(const TensorRow& row, bool one_device) {
  return {{row.name, Paint::kName},
          {row.type == "Tensor" ? "" : row.type},
          {row.shape},
          {row.dtype},
          {one_device ? "" : row.device},
          {bytes_text(row.bytes)},
          {grad_text(row)},
          number(row, &Statistics::least),
          number(row, &Statistics::mean),
          number(row, &Statistics::largest),
          number(row, &Statistics::deviation),
          notes(row)};
}

bool only_on_cpu(const LiveTensors& live) {
  return std::all_of(live.rows.begin(), live.rows.end(), [](const TensorRow& row) { return row.device == "cpu"; });
}

std::string totals_text(const LiveTensors& live, const Style& style) {
  const Paint paint(style);
  std::string out;
  for (const DeviceTotal& total : live.totals)
    out += paint(total.device + ": " + plural(total.tensors, "tensor") + ", " + bytes_text(total.bytes), Paint::kBold) +
           "\n";
  if (live.more > 0) out += paint("and " + plural(live.more, "tensor") + " more that have no row\n", Paint::kWarn);
  if (live.gave_up) out += paint("there is more to look through than is looked through\n", Paint::kWarn);
  if (live.stopped) out += paint("stopped: not all numbers were looked at\n", Paint::kWarn);
  return out;
}

bool is_chosen(const TensorRow& row, const TableChoice& choice) {
  return choice.pattern.empty() || matches(choice.pattern, row.name);
}

using Rows = std::vector<const TensorRow*>;

void sort_rows(Rows& rows, const TableChoice& choice) {
  std::sort(rows.begin(), rows.end(), [&](const TensorRow* a, const TensorRow* b) {
    if (choice.sort == TableChoice::Sort::kSize && a->bytes != b->bytes) return a->bytes > b->bytes;
    if (a->name != b->name) return name_before(a->name, b->name);
    return a < b;
  });
}

Rows chosen(const LiveTensors& live, const TableChoice& choice) {
  Rows rows;
  for (const TensorRow& row : live.rows)
    if (is_chosen(row, choice)) rows.push_back(&row);
  sort_rows(rows, choice);
  return rows;
}

// Checksums are of the same only where the same elements were looked at.
bool same_values(const TensorRow& before, const TensorRow& now) {
  const auto sampled = [](const TensorRow& row) { return row.statistics ? int(row.statistics->sampled) : -1; };
  if (before.fingerprint.data != now.fingerprint.data || before.fingerprint.version != now.fingerprint.version)
    return false;
  return sampled(before) != sampled(now) || before.fingerprint.checksum == now.fingerprint.checksum;
}

bool changed(const TensorRow& before, const TensorRow& now) {
  return !same_values(before, now) || before.shape != now.shape || before.dtype != now.dtype ||
         before.device != now.device || before.requires_grad != now.requires_grad || before.grad_fn != now.grad_fn;
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= ' ') {
      out += c;
      continue;
    }
    char code[8];
    std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
    out += code;
  }
  return out + "\"";
}

std::string json_number(double x) {
  if (!std::isfinite(x)) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", x);
  return text;
}

std::string json_row(const TensorRow& row) {
  const auto flag = [](bool b) { return b ? "true" : "false"; };
  std::string out = "{\"name\": " + json_string(row.name) + ", \"type\": " + json_string(row.type) +
                    ", \"shape\": " + row.shape + ", \"dtype\": " + json_string(row.dtype) +
                    ", \"device\": " + json_string(row.device) + ", \"bytes\": " + std::to_string(row.bytes) +
                    ", \"requires_grad\": " + flag(row.requires_grad) + ", \"contiguous\": " + flag(row.contiguous) +
                    ", \"grad_fn\": " + json_string(row.grad_fn) + ", \"shares\": " + json_string(row.shares) +
                    ", \"same\": " + flag(row.is_same) + ", \"statistics\": ";
  if (!row.statistics) return out + "null}";
  const Statistics& s = *row.statistics;
  return out + "{\"min\": " + json_number(s.least) + ", \"mean\": " + json_number(s.mean) +
         ", \"max\": " + json_number(s.largest) + ", \"std\": " + json_number(s.deviation) +
         ", \"nans\": " + std::to_string(s.nans) + ", \"infinities\": " + std::to_string(s.infinities) +
         ", \"sampled\": " + flag(s.sampled) + ", \"magnitudes\": " + flag(s.magnitudes) + "}}";
}

}  // namespace

bool name_before(std::string_view a, std::string_view b) {
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      ++i, ++j;
      continue;
    }
    const auto digits = [](std::string_view text, size_t& at) {
      while (at < text.size() && text[at] == '0') ++at;
      const size_t begin = at;
      while (at < text.size() && is_digit(text[at])) ++at;
      return text.substr(begin, at - begin);
    };
    const std::string_view x = digits(a, i), y = digits(b, j);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
  }
  return a.size() - i < b.size() - j;
}

TableChoice table_choice(std::string_view arguments) {
  TableChoice choice;
  for (size_t at = 0; at < arguments.size();) {
    const size_t end = std::min(arguments.find(' ', at), arguments.size());
    const std::string_view word = arguments.substr(at, end - at);
    if (word == "size") choice.sort = TableChoice::Sort::kSize;
    else if (!word.empty()) choice.pattern = word;
    at = end + 1;
  }
  return choice;
}

std::string tensors_text(const LiveTensors& live, const Style& style, const TableChoice& choice) {
  const Rows rows = chosen(live, choice);
  if (rows.empty()) {
    const std::string what =
        choice.pattern.empty() ? "no tensors" : "no tensor's name is like " + harmless(choice.pattern);
    return what + "\n" + (live.rows.empty() ? "" : totals_text(live, style));
  }
  TextTable table(columns(false, style));
  const bool one_device = only_on_cpu(live);
  const size_t shown = std::min(rows.size(), choice.most_rows);
  for (size_t i = 0; i < shown; ++i) table.add(cells(*rows[i], one_device));
  std::string out = table.text(style);
  if (shown < rows.size()) out += "... and " + plural(static_cast<int64_t>(rows.size() - shown), "row") + " more\n";
  return out + totals_text(live, style);
}

std::string changes_text(const LiveTensors& before, const LiveTensors& now, const Style& style,
                         const TableChoice& choice) {
  std::map<std::string_view, const TensorRow*> old;
  for (const TensorRow& row : before.rows) old.emplace(row.name, &row);
  std::map<const TensorRow*, TextTable::Cell> marks;
  Rows rows = chosen(now, choice);
  for (const TensorRow* row : rows) {
    const auto found = old.find(row->name);
    if (found == old.end()) marks[row] = {"+", Paint::kGood};
    else if (changed(*found->second, *row)) marks[row] = {"*", Paint::kWarn};
    else marks[row] = {" "};
    if (found != old.end()) old.erase(found);
  }
  for (const auto& [name, row] : old) {
    if (!is_chosen(*row, choice)) continue;
    marks[row] = {"-", Paint::kBad};
    rows.push_back(row);
  }
  if (rows.empty()) return "no tensors\n";
  sort_rows(rows, choice);
  const bool one_device = only_on_cpu(before) && only_on_cpu(now);
  TextTable table(columns(true, style));
  for (const TensorRow* row : rows) {
    const TextTable::Cell& mark = marks[row];
    std::vector<TextTable::Cell> line = cells(*row, one_device);
    if (mark.paint == Paint::kBad)
      for (TextTable::Cell& cell : line) cell.paint = Paint::kFaint;
    else if (mark.paint != Paint::kPlain) line[0].paint = mark.paint;
    line.insert(line.begin(), mark);
    table.add(std::move(line));
  }
  return table.text(style) + totals_text(now, style);
}

LiveTensors chosen_tensors(const LiveTensors& live, const TableChoice& choice) {
  LiveTensors out;
  for (const TensorRow* row : chosen(live, choice)) out.rows.push_back(*row);
  out.totals = live.totals;
  out.more = live.more;
  out.gave_up = live.gave_up;
  out.stopped = live.stopped;
  return out;
}

std::string to_json(const LiveTensors& live) {
  std::string out = "{\"tensors\": [";
  for (size_t i = 0; i < live.rows.size(); ++i) out += (i == 0 ? "" : ", ") + json_row(live.rows[i]);
  out += "], \"totals\": [";
  for (size_t i = 0; i < live.totals.size(); ++i)
    out += std::string(i == 0 ? "" : ", ") + "{\"device\": " + json_string(live.totals[i].device) +
           ", \"tensors\": " + std::to_string(live.totals[i].tensors) +
           ", \"bytes\": " + std::to_string(live.totals[i].bytes) + "}";
  return out + "], \"more\": " + std::to_string(live.more) + ", \"gave_up\": " + (live.gave_up ? "true" : "false") +
         "}";
}

}  // namespace tessera::repl

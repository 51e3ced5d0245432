#include "repl/page/cells.h"

#include <algorithm>

#include "repl/page/utf16.h"

namespace tessera::repl::page {
namespace {

bool divides(std::u16string_view line) { return line.starts_with(u"# %%") || line.starts_with(u"#%%"); }

bool is_blank(std::u16string_view text) { return text.find_first_not_of(u" \t\r\n") == text.npos; }

std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin));
}

// `[markdown]` anywhere in the dividing line says the kind; the rest is the title.
void read_heading(std::u16string_view line, CellSpan& cell) {
  std::string words = to_utf8(line.substr(line.find(u"%%") + 2));
  constexpr struct {
    std::string_view mark;
    CellKind kind;
  } kKinds[] = {{"[markdown]", CellKind::kMarkdown}, {"[md]", CellKind::kMarkdown}, {"[raw]", CellKind::kRaw}};
  for (const auto& each : kKinds) {
    const size_t at = words.find(each.mark);
    if (at == words.npos) continue;
    cell.kind = each.kind;
    words.erase(at, each.mark.size());
    break;
  }
  cell.title = trimmed(words);
}

template <class Text, class Call>
void each_line(Text text, Call call) {
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    call(at, text.substr(at, end - at));
    at = end + 1;
  }
}

}  // namespace

std::vector<CellSpan> split_cells(std::u16string_view text) {
  std::vector<CellSpan> cells(1);
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find(u'\n', at), text.size());
    const std::u16string_view line = text.substr(at, end - at);
    if (divides(line)) {
      cells.back().end = at;
      cells.push_back({.begin = at, .body = std::min(end + 1, text.size()), .title = {}});
      read_heading(line, cells.back());
    }
    at = end + 1;
  }
  cells.back().end = text.size();
  if (cells.size() > 1 && is_blank(text.substr(0, cells[0].end))) cells.erase(cells.begin());
  return cells;
}

std::string source_of(std::u16string_view text, const CellSpan& cell) {
  std::u16string_view body = text.substr(cell.body, cell.end - cell.body);
  while (!body.empty() && body.back() == u'\n') body.remove_suffix(1);
  std::string source = to_utf8(body);
  if (cell.kind == CellKind::kCode) return source;
  std::string out;
  each_line(std::string_view(source), [&](size_t at, std::string_view line) {
    if (at > 0) out += '\n';
    if (line.starts_with("# ")) line.remove_prefix(2);
    else if (line.starts_with("#")) line.remove_prefix(1);
    out += line;
  });
  return out;
}

std::string cell_text(CellKind kind, std::string_view title, std::string_view source) {
  std::string out = "# %%";
  if (kind == CellKind::kMarkdown) out += " [markdown]";
  if (kind == CellKind::kRaw) out += " [raw]";
  std::string heading(title);
  std::replace(heading.begin(), heading.end(), '\n', ' ');
  if (!trimmed(heading).empty()) out += " " + trimmed(heading);
  out += '\n';
  if (kind == CellKind::kCode) return out + std::string(source) + (source.ends_with('\n') ? "" : "\n");
  each_line(source, [&](size_t, std::string_view line) {
    out += line.empty() ? "#" : "# ";
    out += line;
    out += '\n';
  });
  return out;
}

}  // namespace tessera::repl::page

#include "repl/page/cells.h"

#include <algorithm>

#include "repl/page/utf16.h"

namespace tessera::repl::page {
namespace {

constexpr std::string_view kOpenMark = "[open string]";

bool divides(std::u16string_view line) { return line.starts_with(u"# %%") || line.starts_with(u"#%%"); }

bool is_blank(std::u16string_view text) { return text.find_first_not_of(u" \t\r\n") == text.npos; }

std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin));
}

// A string that goes on behind the end of a line: its quotes, one (after a backslash) or three; none: there is none.
struct OpenString {
  char quote = 0;
  size_t quotes = 0;
};

// What is open behind the line when `open` was before it: as Python reads strings and comments, and refusing nothing.
template <class View>
OpenString open_behind(View line, OpenString open) {
  const auto is_quote_at = [&](size_t at, char quote, size_t count) {
    for (size_t i = 0; i < count; ++i)
      if (at + i >= line.size() || line[at + i] != static_cast<typename View::value_type>(quote)) return false;
    return true;
  };
  for (size_t at = 0; at < line.size();) {
    if (open.quotes > 0) {
      if (line[at] == '\\') {
        if (at + 1 == line.size()) return open;
        at += 2;
      } else if (is_quote_at(at, open.quote, open.quotes)) {
        at += open.quotes;
        open = {};
      } else {
        ++at;
      }
    } else if (line[at] == '#') {
      return {};
    } else if (line[at] == '"' || line[at] == '\'') {
      open.quote = static_cast<char>(line[at]);
      open.quotes = is_quote_at(at, open.quote, 3) ? 3 : 1;
      at += open.quotes;
    } else {
      ++at;
    }
  }
  return open.quotes == 3 ? open : OpenString{};
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
  if (const size_t at = words.find(kOpenMark); at != words.npos && cell.kind == CellKind::kCode) {
    cell.is_open = true;
    words.erase(at, kOpenMark.size());
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

bool ends_in_string(std::string_view source) {
  OpenString open;
  each_line(source, [&](size_t, std::string_view line) { open = open_behind(line, open); });
  return open.quotes > 0;
}

// Where the backslashes and the `%%` of a line `# \\%%` begin, with any number of backslashes; npos: it is no such line.
size_t rule_mark(std::string_view line) {
  if (!line.starts_with('#')) return line.npos;
  const size_t mark = line.starts_with("# ") ? 2 : 1;
  const size_t percent = line.find_first_not_of('\\', mark);
  return percent != line.npos && line.substr(percent).starts_with("%%") ? mark : line.npos;
}

// Each line that would divide with one backslash more, or (`back`) with one less; `follows`: lines inside strings stay as they are.
std::string escaped(std::string_view source, bool follows, bool back) {
  if (source.find("%%") == source.npos) return std::string(source);
  std::string out;
  OpenString open;
  each_line(source, [&](size_t at, std::string_view line) {
    if (at > 0) out += '\n';
    const size_t mark = open.quotes > 0 ? line.npos : rule_mark(line);
    if (follows) open = open_behind(line, open);
    if (mark == line.npos) {
      out += line;
    } else {
      out += line.substr(0, mark);
      if (!back) out += '\\';
      out += line.substr(back && line[mark] == '\\' ? mark + 1 : mark);
    }
  });
  return out;
}

// As a title it would say what the cell is not.
std::string heading_of(std::string_view title) {
  std::string heading(title);
  for (char& c : heading)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  for (const std::string_view mark :
       {std::string_view("[markdown]"), std::string_view("[md]"), std::string_view("[raw]"), kOpenMark})
    for (size_t at; (at = heading.find(mark)) != heading.npos;) {
      heading[at] = '(';
      heading[at + mark.size() - 1] = ')';
    }
  return trimmed(heading);
}

}  // namespace

std::vector<CellSpan> split_cells(std::u16string_view text) {
  std::vector<CellSpan> cells(1);
  OpenString open;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find(u'\n', at), text.size());
    const std::u16string_view line = text.substr(at, end - at);
    if (open.quotes > 0 || !divides(line)) {
      if (cells.back().kind == CellKind::kCode && !cells.back().is_open) open = open_behind(line, open);
    } else {
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
  source = escaped(source, cell.kind == CellKind::kCode && !cell.is_open, true);
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
  const bool is_open = kind == CellKind::kCode && ends_in_string(source);
  std::string out = "# %%";
  if (kind == CellKind::kMarkdown) out += " [markdown]";
  if (kind == CellKind::kRaw) out += " [raw]";
  if (is_open) out += " " + std::string(kOpenMark);
  const std::string heading = heading_of(title);
  if (!heading.empty()) out += " " + heading;
  out += '\n';
  if (kind == CellKind::kCode) return out + escaped(source, !is_open, false) + (source.ends_with('\n') ? "" : "\n");
  std::string lines;
  each_line(source, [&](size_t, std::string_view line) {
    lines += line.empty() ? "#" : "# ";
    lines += line;
    lines += '\n';
  });
  return out + escaped(lines, false, false);
}

std::string code_of_block(std::string_view text) { return escaped(text, !ends_in_string(text), true); }

}  // namespace tessera::repl::page

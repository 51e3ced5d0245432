#include "repl/prompt/paste.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "repl/characters.h"
#include "repl/session/highlight.h"

namespace tessera::repl {
namespace {

// Nor do broken bytes go in, nor what a terminal would take for an order.
std::string with_our_line_ends(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    if (point.code == '\r') {
      clean += '\n';
      if (at + 1 < text.size() && text[at + 1] == '\n') ++at;
    } else if (point.code == '\n' || point.code == '\t' || !is_order(point.code)) {
      append_utf8(clean, point.code);
    }
    at += point.bytes;
  }
  return clean;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t begin = 0;;) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    if (end == text.size()) return lines;
    begin = end + 1;
  }
}

std::string joined(const std::vector<std::string_view>& lines) {
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i) text.append(i == 0 ? "" : "\n").append(lines[i]);
  return text;
}

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t") == line.npos; }

// Bytes of a prompt at the beginning of a line: ">>> ", "... ", "In [3]: ", "   ...: ". None: there is no prompt.
std::optional<size_t> prompt_of(std::string_view line, bool first) {
  const size_t begin = std::min(line.find_first_not_of(' '), line.size());
  std::string_view rest = line.substr(begin);
  const auto length = [&](size_t prompt) { return begin + prompt + (rest.substr(prompt).starts_with(' ') ? 1 : 0); };
  if (rest.starts_with(">>>") && (rest.size() == 3 || rest[3] == ' ')) return length(3);
  if (rest.starts_with("In [")) {
    const size_t end = rest.find_first_not_of("0123456789", 4);
    if (end > 4 && end != rest.npos && rest.substr(end).starts_with("]:")) return length(end + 2);
  }
  if (first) return std::nullopt;
  if (rest.starts_with("...:")) return length(4);
  if (rest.starts_with("...") && (rest.size() == 3 || rest[3] == ' ')) return length(3);
  return std::nullopt;
}

// A piece of another session: its lines without their prompts. What has none is what the session answered, and left out.
std::string without_prompts(const std::string& text) {
  const std::vector<std::string_view> lines = lines_of(text);
  const auto first = std::find_if_not(lines.begin(), lines.end(), is_blank);
  if (first == lines.end() || !prompt_of(*first, true)) return text;
  std::vector<std::string_view> kept;
  for (const std::string_view line : lines)
    if (const std::optional<size_t> prompt = prompt_of(line, false))
      kept.push_back(line.substr(std::min(*prompt, line.size())));
  return joined(kept);
}

// Tabs of the indentation become four spaces each; those inside strings stay.
std::string with_spaces(const std::string& text) {
  if (text.find('\t') == std::string::npos) return text;
  const std::vector<TokenSpan> spans = highlight(text);
  size_t span = 0;
  std::string clean;
  bool indentation = true;
  for (size_t i = 0; i < text.size(); ++i) {
    while (span < spans.size() && spans[span].end <= i) ++span;
    const bool inside = span < spans.size() && spans[span].begin <= i && spans[span].what == TokenClass::kString;
    if (text[i] == '\n') {
      indentation = true;
    } else if (text[i] != ' ' && text[i] != '\t') {
      indentation = false;
    }
    if (text[i] == '\t' && indentation && !inside) {
      clean.append(kIndentation, ' ');
    } else {
      clean += text[i];
    }
  }
  return clean;
}

std::string without_common_indentation(const std::string& text) {
  const std::vector<std::string_view> lines = lines_of(text);
  size_t common = text.size();
  for (const std::string_view line : lines)
    if (!is_blank(line)) common = std::min(common, line.find_first_not_of(' '));
  if (common == 0 || common >= text.size()) return text;
  std::vector<std::string_view> kept;
  for (const std::string_view line : lines) kept.push_back(line.substr(std::min(common, line.size())));
  return joined(kept);
}

}  // namespace

std::string cleaned_paste(std::string_view pasted, bool alone) {
  std::string text = with_spaces(without_prompts(with_our_line_ends(pasted)));
  if (!alone) return text;
  text = without_common_indentation(text);
  // One newline at the end is how the last line ended where it was copied: the block waits for Enter all the same.
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace tessera::repl

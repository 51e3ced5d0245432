#include "repl/page/examples.h"

#include <algorithm>

#include "repl/page/notebook_file.h"

namespace tessera::repl::page {
namespace {

constexpr size_t kMostAbout = 200;

std::string without_marks(std::string line) {
  while (!line.empty() && (line[0] == '#' || line[0] == ' ' || line[0] == '"')) line.erase(0, 1);
  while (!line.empty() && (line.back() == '"' || line.back() == ' ' || line.back() == '\r')) line.pop_back();
  return line;
}

// The first paragraph as one line.
std::string first_paragraph(const std::string& text, size_t& at) {
  std::string out;
  while (at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    const std::string words = without_marks(line);
    if (words.empty() && out.empty()) continue;
    if (words.empty()) break;
    out += (out.empty() ? "" : " ") + words;
    if (line.starts_with("# ") && text.starts_with("# ") && out.size() == words.size() && out.back() != '.')
      break;  // a heading
  }
  if (out.size() > kMostAbout) out.resize(std::min(out.rfind(' ', kMostAbout), kMostAbout));
  return out;
}

}  // namespace

ExampleTitle title_of_example(const std::string& name, const std::string& text) {
  ExampleTitle title{name.substr(name.rfind('/') + 1), ""};
  size_t at = 0;
  if (!name.ends_with(".ipynb")) {
    if (text.starts_with('#') || text.starts_with('"')) {
      const size_t end = text[0] == '#' ? std::min(text.find("\n#"), text.find('\n')) : text.find('\n');
      title.about = without_marks(text.substr(0, end));
    }
    return title;
  }
  std::string problem;
  const auto notebook = read_notebook(text, problem);
  if (!notebook || notebook->cells.empty() || notebook->cells[0].kind != CellKind::kMarkdown) return title;
  const std::string& words = notebook->cells[0].source;
  if (words.starts_with('#')) title.title = first_paragraph(words, at);
  title.about = first_paragraph(words, at);
  return title;
}

}  // namespace tessera::repl::page

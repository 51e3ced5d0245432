// embed_modules ROOT LIST OUT: writes the .tsr files that LIST names as one .cpp, compressed: the texts are a tenth of the program
// otherwise. Runs while building. Lines that are a comment and nothing else become empty, so that the numbers of lines stay.
//
// - Modules that many others import, those that most programs use, and what they import are each compressed alone by zlib, behind a
//   dictionary of lines that many files have: they are read in some microseconds.
// - The others lie in blocks of kBlock bytes, in the order of their names, so that a package is together. A block is compressed by LZMA
//   behind the texts of the most imported modules: 235 kB less than zlib makes of them, and up to ten milliseconds to read.
// - Four spaces at the beginning of a line are one byte, kIndent: 30 kB less.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "embed.h"

namespace {

constexpr size_t kBlock = 1344 << 10;  // a third of it loses 35 kB; compiled code is kept: texts are seldom read
constexpr size_t kKnown = 128 << 10;   // half of it loses a hundredth
constexpr unsigned kWindow = 2 << 20;  // both, and what the last module of a block has beyond it
constexpr size_t kOften = 30;          // importers of a module that is compressed alone
constexpr size_t kOftenStandard = 6;   // of Python's library, which every program uses

struct Module {
  std::string name;  // torch.nn.rnn
  bool is_package;
  bool is_standard;  // below stdlib/python
  std::string file;
  std::string text;
  size_t importers = 0;
  bool is_read_often = false;
  size_t block = 0, at = 0;
};

// python/json.tsr is module `json`, torch/nn/__init__.tsr is package `torch.nn`.
Module module_of(const std::string& file, const std::string& root) {
  Module m;
  m.file = file;
  m.name = file.substr(root.size() + 1);
  m.name.resize(m.name.size() - 4);
  m.is_standard = m.name.starts_with("python/");
  if (m.is_standard) m.name.erase(0, 7);
  std::replace(m.name.begin(), m.name.end(), '/', '.');
  m.is_package = m.name == "__init__" || m.name.ends_with(".__init__");
  if (m.is_package) m.name.erase(m.name.size() > 8 ? m.name.size() - 9 : 0);
  return m;
}

// Where the string that begins at `at` ends.
size_t end_of_string(const std::string& text, size_t at) {
  const std::string quote = text.substr(at, 3) == std::string(3, text[at]) ? text.substr(at, 3) : text.substr(at, 1);
  for (at += quote.size(); at < text.size(); at++) {
    if (text[at] == '\\') at++;
    else if (text.compare(at, quote.size(), quote) == 0) return at + quote.size();
  }
  return at;
}

std::string without_comment_lines(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '#') {
      const size_t end = std::min(text.find('\n', at), text.size());
      const size_t line = out.find_last_not_of(' ') + 1;  // 0 before the first line, when nothing was found
      if (line == 0 || out[line - 1] == '\n') out.resize(line);
      else out += text.substr(at, end - at);
      at = end;
    } else {
      const size_t end = text[at] == '"' || text[at] == '\'' ? end_of_string(text, at) : at + 1;
      out += text.substr(at, end - at);
      at = end;
    }
  }
  return out;
}

// The text with kIndent for each four spaces that a line begins with.
std::string with_short_indents(const std::string& text) {
  if (text.find(embed::kIndent) != std::string::npos) std::abort();
  std::string out;
  for (size_t at = 0; at < text.size();) {
    for (; text.compare(at, 4, "    ") == 0; at += 4) out += embed::kIndent;
    const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    out.append(text, at, end - at);
    at = end;
  }
  return out;
}

// Those lines that would save most, the best ones last: they are the nearest.
std::string common_lines(const std::vector<Module>& modules) {
  constexpr size_t kBytes = 4096;  // twice as many save a hundredth more and are in the program themselves
  std::map<std::string, size_t> files_with;
  for (const Module& m : modules) {
    std::set<std::string> lines;
    std::istringstream in(m.text);
    for (std::string line; std::getline(in, line);) lines.insert(line + '\n');
    for (const std::string& line : lines) files_with[line]++;
  }
  std::vector<std::pair<size_t, std::string>> order;
  for (const auto& [line, count] : files_with)
    if (count > 2 && line.size() > 12) order.push_back({(count - 1) * line.size(), line});
  std::sort(order.rbegin(), order.rend());
  std::string best;
  for (const auto& [saved, line] : order)
    if (best.size() + line.size() <= kBytes) best.insert(0, line);
  return best;
}

// The modules that a module imports, of those that there are. `at_once`: by statements that run when it is imported itself.
std::set<std::string> imports_of(const Module& m, bool at_once) {
  std::set<std::string> found;
  std::istringstream in(m.text);
  for (std::string line; std::getline(in, line);) {
    if (at_once && line.starts_with(' ')) continue;
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream words(line);
    std::string word, from;
    words >> word;
    if (word != "import" && word != "from") continue;
    if (word == "from") {
      words >> from >> word;
      size_t dots = from.find_first_not_of('.');
      dots = std::min(dots, from.size());
      std::string package = m.is_package ? m.name + "." : m.name;
      for (size_t i = 0; i < dots; i++) package.erase(std::min(package.rfind('.'), package.size()));
      if (dots > 0) from = package + (dots < from.size() ? "." + from.substr(dots) : "");
      found.insert(from);
      from += '.';
    }
    for (std::string name; words >> name;) found.insert(from + name);
  }
  return found;
}

void count_importers(std::vector<Module>& modules) {
  std::map<std::string, size_t> importers;
  for (const Module& m : modules)
    for (const std::string& name : imports_of(m, false)) importers[name]++;
  for (Module& m : modules) m.importers = importers[m.name];
}

// Those that many import, those that most programs for tensors or tests use, and what they import.
void mark_read_often(std::vector<Module>& modules) {
  std::map<std::string, Module*> by_name;
  for (Module& m : modules) by_name[m.name] = &m;
  std::vector<Module*> open;
  const auto mark = [&](Module* m) {
    if (m->name.starts_with("numpy"))
      return;  // large and many: in blocks they are two thirds as long, and read in milliseconds
    if (!m->is_read_often) m->is_read_often = true, open.push_back(m);
  };
  for (Module& m : modules) {
    bool is_wanted = m.importers >= (m.is_standard ? kOftenStandard : kOften);
    for (const char* package :
         {"torch.nn", "torch.optim", "torch.utils.data", "torch.autograd", "torch.autograd.graph", "torch.storage",
          "torch._copies", "torch._utils", "torch._tensor_types", "torch._symbolic", "torch._rarely", "unittest",
          "asyncio", "typing", "collections._user"})
      is_wanted = is_wanted || m.name == package;
    if (is_wanted) mark(&m);
  }
  while (!open.empty()) {
    const Module* m = open.back();
    open.pop_back();
    for (const std::string& name : imports_of(*m, true))
      if (const auto found = by_name.find(name); found != by_name.end()) mark(found->second);
  }
}

// The modules whose texts stand before those of every block: as many of the most imported as there is room for, the best ones last.
std::vector<size_t> known_modules(const std::vector<Module>& modules) {
  std::vector<std::pair<size_t, size_t>> order;
  for (size_t i = 0; i < modules.size(); i++)
    if (modules[i].is_read_often) order.push_back({modules[i].importers, i});
  std::sort(order.rbegin(), order.rend());
  std::vector<size_t> known;
  size_t size = 0;
  for (const auto& [importers, i] : order) {
    if (size + modules[i].text.size() > kKnown) continue;
    known.insert(known.begin(), i);
    size += modules[i].text.size();
  }
  return known;
}

void write_blocks(std::ostream& out, std::vector<Module>& modules, const std::string& lines, const std::string& texts) {
  std::string block;
  size_t number = 0;
  out << "constexpr std::string_view kBlocks[] = {\n";
  const auto write = [&](const std::string& packed) { out << embed::literal(packed) << "sv,\n", number++; };
  for (Module& m : modules) {
    if (!m.is_read_often) continue;
    m.block = number;
    write(embed::compressed(m.text, lines));
  }
  for (Module& m : modules) {
    if (m.is_read_often) continue;
    m.block = number, m.at = block.size();
    block += m.text;
    if (block.size() >= kBlock) write(embed::compressed_more(block, kWindow, texts)), block.clear();
  }
  if (!block.empty()) write(embed::compressed_more(block, kWindow, texts));
  out << "};\n";
}

// FNV-1a over names and texts.
unsigned long long sum_of(const std::vector<Module>& modules) {
  unsigned long long sum = 0xcbf29ce484222325u;
  for (const Module& m : modules)
    for (const std::string* part : {&m.name, &m.text})
      for (const char c : *part + '\0') sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string root = argv[1];
  std::vector<Module> modules;
  std::ifstream list(argv[2]);
  for (std::string file; std::getline(list, file);) modules.push_back(module_of(file, root));
  std::sort(modules.begin(), modules.end(), [](const Module& a, const Module& b) { return a.name < b.name; });
  for (Module& m : modules) m.text = without_comment_lines(embed::read(m.file));
  count_importers(modules);
  mark_read_often(modules);
  for (Module& m : modules) m.text = with_short_indents(m.text);
  const std::string lines = common_lines(modules);
  const std::vector<size_t> known = known_modules(modules);
  std::string texts;
  for (const size_t i : known) texts += modules[i].text;
  std::ofstream out(argv[3]);
  out << "// Generated from stdlib/*.tsr by cmake/embed_modules.cpp.\n#include \"stdlib/embedded.h\"\n\n"
         "namespace tessera::stdlib {\nnamespace {\n\nusing namespace std::string_view_literals;\n\n";
  write_blocks(out, modules, lines, texts);
  out << "\nconstexpr EmbeddedModule kModules[] = {\n";
  for (const Module& m : modules)
    out << "{\"" << m.name << "\", " << m.at << ", " << m.text.size() << ", " << m.block << ", " << !m.is_read_often
        << ", " << m.is_package << ", " << m.is_standard << "},\n";
  out << "};\n\nconstexpr unsigned short kKnown[] = {";
  for (const size_t i : known) out << i << ", ";
  out << "};\n\n}  // namespace\n\nstd::span<const EmbeddedModule> embedded_modules() { return kModules; }\n"
         "std::string_view embedded_block(unsigned number) { return kBlocks[number]; }\n"
         "std::string_view embedded_dictionary() { return "
      << embed::literal(lines)
      << "sv; }\nstd::span<const unsigned short> embedded_known() { return kKnown; }\n"
         "unsigned embedded_window() { return "
      << kWindow
      << "; }\n"
         "unsigned long long embedded_sum() { return "
      << sum_of(modules) << "u; }\n\n}  // namespace tessera::stdlib\n";
  return out ? 0 : 1;
}

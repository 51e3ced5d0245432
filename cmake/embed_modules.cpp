// embed_modules ROOT LIST OUT: writes the .tsr files that LIST names as one .cpp, each compressed: the texts are a tenth of
// the program otherwise. As each is small and read alone, lines that many of them have stand before all of them as a
// dictionary (zlib's), which saves a twentieth. Runs while building.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "embed.h"

namespace {

struct Module {
  std::string name;  // torch.nn.rnn
  std::string path;  // torch/nn/rnn.tsr
  bool is_package;
  std::string file;
};

// python/json.tsr is module `json`, torch/nn/__init__.tsr is package `torch.nn`.
Module module_of(const std::string& file, const std::string& root) {
  Module m;
  m.file = file;
  m.path = file.substr(root.size() + 1);
  m.name = m.path.substr(0, m.path.size() - 4);
  if (m.name.starts_with("python/")) m.name.erase(0, 7);
  std::replace(m.name.begin(), m.name.end(), '/', '.');
  m.is_package = m.name == "__init__" || m.name.ends_with(".__init__");
  if (m.is_package) m.name.erase(m.name.size() > 8 ? m.name.size() - 9 : 0);
  return m;
}

// Those lines that would save most, the best ones last: they are the nearest.
std::string common_lines(const std::vector<std::string>& texts) {
  constexpr size_t kBytes = 4096;  // twice as many save a hundredth more and are in the program themselves
  std::map<std::string, size_t> files_with;
  for (const std::string& text : texts) {
    std::set<std::string> lines;
    std::istringstream in(text);
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

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string root = argv[1];
  std::vector<Module> modules;
  std::ifstream list(argv[2]);
  for (std::string file; std::getline(list, file);) modules.push_back(module_of(file, root));
  std::sort(modules.begin(), modules.end(), [](const Module& a, const Module& b) { return a.name < b.name; });
  std::vector<std::string> texts;
  for (const Module& m : modules) texts.push_back(embed::read(m.file));
  const std::string known = common_lines(texts);
  std::ofstream out(argv[3]);
  out << "// Generated from stdlib/*.tsr by cmake/embed_modules.cpp.\n#include \"stdlib/embedded.h\"\n\n"
         "namespace tessera::stdlib {\nnamespace {\n\nusing namespace std::string_view_literals;\n\n"
         "constexpr EmbeddedModule kModules[] = {\n";
  for (size_t i = 0; i < modules.size(); i++) {
    const Module& m = modules[i];
    out << "{\"" << m.name << "\"sv, \"stdlib/" << m.path << "\"sv, "
        << embed::literal(embed::compressed(texts[i], known)) << "sv, " << texts[i].size() << ", "
        << (m.is_package ? "true" : "false") << "},\n";
  }
  out << "};\n\n}  // namespace\n\nstd::span<const EmbeddedModule> embedded_modules() { return kModules; }\n"
         "std::string_view embedded_dictionary() { return "
      << embed::literal(known)
      << "sv; }\n\n"
         "}  // namespace tessera::stdlib\n";
  return out ? 0 : 1;
}

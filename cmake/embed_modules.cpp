// embed_modules ROOT LIST OUT: writes the .tsr files that LIST names as one .cpp, each compressed: the texts are a tenth of
// the program otherwise. Runs while building.
#include <algorithm>
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

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string root = argv[1];
  std::vector<Module> modules;
  std::ifstream list(argv[2]);
  for (std::string file; std::getline(list, file);) modules.push_back(module_of(file, root));
  std::sort(modules.begin(), modules.end(), [](const Module& a, const Module& b) { return a.name < b.name; });
  std::ofstream out(argv[3]);
  out << "// Generated from stdlib/*.tsr by cmake/embed_modules.cpp.\n#include \"stdlib/embedded.h\"\n\n"
         "namespace tessera::stdlib {\nnamespace {\n\nusing namespace std::string_view_literals;\n\n"
         "constexpr EmbeddedModule kModules[] = {\n";
  for (const Module& m : modules) {
    const std::string text = embed::read(m.file);
    out << "{\"" << m.name << "\"sv, \"stdlib/" << m.path << "\"sv, " << embed::literal(embed::compressed(text)) << "sv, "
        << text.size() << ", " << (m.is_package ? "true" : "false") << "},\n";
  }
  out << "};\n\n}  // namespace\n\nstd::span<const EmbeddedModule> embedded_modules() { return kModules; }\n\n"
         "}  // namespace tessera::stdlib\n";
  return out ? 0 : 1;
}

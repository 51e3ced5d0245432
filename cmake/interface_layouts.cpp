// interface_layouts ROOT OUT: writes a header whose function adds up what the program and a plugin must agree on: each kernel slot, the members
// of its call and of the tables of runtime/device, the structures that these name, and the enumerators. The compiler that reads the header
// says where they lie (runtime/device/layout.h), so that neither a comment nor a function changes the number.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Words = std::vector<std::string>;

struct Structure {
  std::string file;
  bool is_enum = false;
  Words members;                // or enumerators; references as "&loop": where they lie cannot be asked
  std::set<std::string> names;  // what its members' types name
};

std::map<std::string, Structure> structures;             // by their name without namespaces: "IndexCall::Mode"
std::vector<std::pair<std::string, std::string>> slots;  // name, call

// The words and signs of a source, without comments and preprocessor lines.
Words words_of(const std::string& text) {
  Words words;
  for (size_t i = 0; i < text.size();) {
    const auto ends = [&](const char* sign) { return text.compare(i, 2, sign) == 0; };
    if (ends("//") || text[i] == '#') {
      while (i < text.size() && text[i] != '\n') i += text[i] == '\\' ? 2 : 1;
    } else if (ends("/*")) {
      i = text.find("*/", i) + 2;
    } else if (text[i] == '"' || text[i] == '\'') {
      const size_t start = i;
      for (i++; text[i] != text[start]; i++) i += text[i] == '\\';
      words.push_back(text.substr(start, ++i - start));
    } else if (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_') {
      const size_t start = i;
      while (i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_')) i++;
      words.push_back(text.substr(start, i - start));
    } else if (std::isspace(static_cast<unsigned char>(text[i]))) {
      i++;
    } else {
      const size_t length = ends("::") ? 2 : 1;
      words.push_back(text.substr(i, length));
      i += length;
    }
  }
  return words;
}

class Reader {
 public:
  Reader(std::string file, Words words) : file_(std::move(file)), words_(std::move(words)) {}

  // Declarations of a namespace, or of a structure with its prefix, up to the closing brace.
  void read(const std::string& prefix, Structure* own) {
    bool shown = true;
    while (!at("") && !at("}")) {
      if (at("namespace")) {
        while (!at("{") && !at(";")) next();
        next();
        read(prefix, nullptr);
        next();
      } else if (at("enum")) {
        read_enum(prefix, own);
      } else if (at("struct") && names_a_body()) {
        read_structure(prefix, own);
      } else if (own != nullptr && (at("public") || at("private") || at("protected")) && words_[place_ + 1] == ":") {
        shown = at("public");
        next(), next();
      } else {
        read_declaration(shown ? own : nullptr);
      }
    }
  }

 private:
  bool at(const char* word) const { return place_ < words_.size() ? words_[place_] == word : *word == 0; }
  std::string next() { return place_ < words_.size() ? words_[place_++] : ""; }
  void skip_group() {  // from an opening sign past its closing one
    int depth = 0;
    do {
      const std::string word = next();
      depth += word == "(" || word == "{" || word == "[";
      depth -= word == ")" || word == "}" || word == "]";
    } while (depth > 0 && place_ < words_.size());
  }
  bool names_a_body() const {
    for (size_t i = place_ + 1; i < words_.size(); i++) {
      if (words_[i] == "{") return true;
      if (words_[i] == ";" || words_[i] == "(" || words_[i] == "*" || words_[i] == "=") return false;
    }
    return false;
  }

  void read_structure(const std::string& prefix, Structure* own) {
    next();
    const std::string name = prefix + next();
    Structure found{file_, false, {}, {}};
    while (!at("{")) found.names.insert(next());  // its bases
    next();
    read(name + "::", &found);
    next();
    structures[name] = found;
    read_declaration(own, name);
  }

  void read_enum(const std::string& prefix, Structure* own) {
    next();
    if (at("class") || at("struct")) next();
    const std::string own_name = at(":") || at("{") ? "" : next(), name = prefix + own_name;
    while (!at("{") && !at(";")) next();
    if (at(";")) return void(next());
    next();
    Structure found{file_, true, {}, {}};
    while (!at("}") && !at("")) {
      found.members.push_back(next());
      while (!at(",") && !at("}")) next();
      if (at(",")) next();
    }
    next();
    if (!own_name.empty()) structures[name] = found;
    read_declaration(own, name);
  }

  // Up to its semicolon, or past the body of a function. Data members are noted.
  void read_declaration(Structure* own, const std::string& type = "") {
    static const std::set<std::string> kNoData = {"static",   "friend",   "using",  "template", "typedef",
                                                  "explicit", "operator", "class",  "extern",   "constexpr",
                                                  "virtual",  "union",    "inline", "~",        "TS_ON_BOTH"};
    Words all, members;
    std::string last = "";
    int angles = 0;
    bool is_function = false, named = false, is_reference = false;
    const auto end_member = [&] {
      if (!last.empty()) members.push_back(last);
      last.clear(), named = false;
    };
    while (!at("") && !at(";") && !at("}")) {
      if (at("alignas") || (at("[") && words_[place_ + 1] == "[")) {
        if (at("alignas")) next();
        skip_group();
      } else if (at("(") && words_[place_ + 1] == "*") {  // a pointer to a function
        last = words_[place_ + 2], named = true;
        const size_t begin = place_;
        skip_group(), skip_group();
        all.insert(all.end(), words_.begin() + long(begin), words_.begin() + long(place_));
      } else if (at("(")) {
        is_function |= !named;
        skip_group();
      } else if (at("{")) {
        skip_group();
        if (is_function || all.front() == "class" || all.front() == "union" || all.front() == "template") {
          if (at(";")) next();
          return note(all);
        }
        named = true;
      } else if (at("[") || at("=")) {
        named = true;
        at("[") ? skip_group() : void(next());
      } else if (at(",") && angles == 0) {
        end_member();
        next();
      } else {
        const std::string word = next();
        all.push_back(word);
        angles += word == "<", angles -= word == ">";
        is_reference |= word == "&";
        if (!named && (std::isalpha(static_cast<unsigned char>(word[0])) || word[0] == '_')) last = word;
        if (word == ":" && angles == 0) named = true;  // a field of bits
      }
    }
    if (at(";")) next();
    end_member();
    note(all);
    if (own == nullptr || is_function || (all.size() < 2 && type.empty())) return;
    for (const std::string& word : all)
      if (kNoData.contains(word)) return;
    own->names.insert(all.begin(), all.end());
    own->names.insert(type);
    for (const std::string& member : members) own->members.push_back((is_reference ? "&" : "") + member);
  }

  // "extern Kernel<SortCall> sort_kernel"
  void note(const Words& all) {
    if (all.size() == 6 && all[0] == "extern" && all[1] == "Kernel") slots.emplace_back(all[5], all[3]);
  }

  std::string file_;
  Words words_;
  size_t place_ = 0;
};

// The structures that are reached from `name`, seen from within `scope`.
void reach(const std::string& scope, const std::string& name, std::set<std::string>& reached) {
  std::string inner = scope.empty() ? name : scope + "::" + name;
  const std::string found = structures.contains(inner) ? inner : name;
  const auto entry = structures.find(found);
  if (entry == structures.end() || !reached.insert(found).second) return;
  for (const std::string& each : entry->second.names) reach(found, each, reached);
  const std::string nested = found + "::";
  for (const auto& [other, structure] : structures)
    if (structure.is_enum && other.starts_with(nested)) reached.insert(other);
}

void write(std::ostream& out) {
  std::set<std::string> reached, files;
  for (const char* root : {"DeviceBackend", "PluginHost", "PluginKernel", "Plugin", "DType"}) reach("", root, reached);
  for (const auto& [name, call] : slots) reach("", call, reached);
  for (const std::string& name : reached) files.insert(structures[name].file);
  out << "// Made by cmake/interface_layouts.cpp.\n#pragma once\n\n";
  for (const std::string& file : files) out << "#include \"" << file << "\"\n";
  out << "#include \"runtime/device/layout.h\"\n\n#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored \"-Winvalid-offsetof\"\n"
         "namespace tessera::tensor {\n\nconstexpr uint64_t interface_number() {\n  Layouts all;\n";
  for (const auto& [name, call] : slots) out << "  all.text(\"" << name << " " << call << "\");\n";
  for (const std::string& name : reached) {
    const Structure& s = structures[name];
    out << "  all.type<" << name << ">(\"" << name << "\");\n";
    for (const std::string& member : s.members)
      if (s.is_enum) out << "  all.enumerator(\"" << member << "\", int64_t(" << name << "::" << member << "));\n";
      else if (member[0] == '&')
        out << "  all.member<decltype(" << name << "::" << member.substr(1) << ")>(\"" << member << "\");\n";
      else
        out << "  all.member<decltype(" << name << "::" << member << ")>(\"" << member << "\", offsetof(" << name
            << ", " << member << "));\n";
  }
  out << "  add_rows(all);\n  return all.number;\n}\n\n}  // namespace tessera::tensor\n#pragma GCC diagnostic pop\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  namespace fs = std::filesystem;
  const fs::path root = argv[1];
  std::vector<fs::path> headers;
  for (const auto& entry : fs::recursive_directory_iterator(root / "runtime"))
    if (entry.path().extension() == ".h") headers.push_back(entry.path());
  std::sort(headers.begin(), headers.end());
  for (const fs::path& header : headers) {
    std::ifstream in(header);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    Reader(fs::relative(header, root).string(), words_of(text)).read("", nullptr);
  }
  std::sort(slots.begin(), slots.end());
  std::ofstream out(argv[2]);
  write(out);
  return out ? 0 : 1;
}

// An editor whose plugins are scripts. Host and plugins share the document's layers: whoever keeps one last frees it. Plugins
// register themselves with settings of their own; what one does wrong is told with its line, and the others go on.
#include <tessera/tessera.h>

#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace {

// One picture of the document. Its pixels are a tensor that plugins see as it is.
struct Layer {
  std::string name;
  tessera::Tensor pixels;
};

struct NoLayer : std::out_of_range {
  using std::out_of_range::out_of_range;
};

class Document {
 public:
  std::shared_ptr<Layer> add(const std::string& name, int64_t rows, int64_t columns) {
    return layers_.emplace_back(std::make_shared<Layer>(Layer{name, tessera::Tensor::zeros({rows, columns})}));
  }
  std::shared_ptr<Layer> find(const std::string& name) const {
    for (const auto& layer : layers_)
      if (layer->name == name) return layer;
    throw NoLayer("no layer '" + name + "'");
  }
  void remove(const std::shared_ptr<Layer>& layer) {
    for (auto at = layers_.begin(); at != layers_.end(); ++at)
      if (*at == layer) return void(layers_.erase(at));
    throw NoLayer("the layer is not of this document");
  }
  const std::vector<std::shared_ptr<Layer>>& layers() const { return layers_; }

 private:
  std::vector<std::shared_ptr<Layer>> layers_;
};

using Setting = std::variant<bool, int, double, std::string>;

struct Plugin {
  tessera::Ref run;  // of the script: run(layer, **settings)
  std::map<std::string, Setting> settings;
};

class Editor {
 public:
  Editor() : tsr_(limits()) {
    tsr_.raise_as<NoLayer>("KeyError");
    auto editor = tsr_.module("editor", "What a plugin may do.");
    auto layer = editor.add_class<Layer>("Layer", "One picture.");
    layer.property("name", "What it is called.", &Layer::name);
    layer.property("pixels", "Rows and columns of float32, shared.", &Layer::pixels);
    editor.def(
        "add(name: str, rows: int, columns: int) -> Layer", "A new layer, black.",
        [this](const std::string& name, int64_t rows, int64_t columns) { return document.add(name, rows, columns); });
    editor.def("find(name: str) -> Layer", "The layer of that name; KeyError.",
               [this](const std::string& name) { return document.find(name); });
    editor.def("remove(layer: Layer)", "Takes it out of the document.",
               [this](const std::shared_ptr<Layer>& gone) { document.remove(gone); });
    editor.def("layers() -> list[Layer]", "All of them.", [this] { return document.layers(); });
    editor.def(
        "register(name: str, run: callable, **settings)", "Offers run(layer, **settings) to the user.",
        [this](const std::string& name, const tessera::Ref& run, const std::map<std::string, Setting>& settings) {
          plugins[name] = {run, settings};
        });
  }

  // Answers what went wrong.
  std::optional<std::string> load(const char* name, const char* text) {
    return told([&] { tsr_.run(text, name); });
  }
  std::optional<std::string> apply(const std::string& plugin, const std::shared_ptr<Layer>& layer,
                                   const std::map<std::string, Setting>& chosen = {}) {
    return told([&] {
      const Plugin& used = plugins.at(plugin);
      std::map<std::string, Setting> all = chosen;
      all.insert(used.settings.begin(), used.settings.end());
      std::vector<std::pair<std::string, tessera::Ref>> keywords;
      for (const auto& [key, value] : all) keywords.emplace_back(key, tsr_.make(value));
      used.run.apply({tsr_.make(layer)}, keywords);
    });
  }

  Document document;
  std::map<std::string, Plugin> plugins;

 private:
  static tessera::Options limits() {
    tessera::Options options;
    options.memory_limit = 256 << 20;
    options.time_limit = 10;
    return options;
  }
  template <class F>
  static std::optional<std::string> told(F&& f) {
    try {
      f();
      return std::nullopt;
    } catch (const tessera::ScriptError& error) {
      std::string text = error.class_name() + ": " + error.message();
      const auto lines = error.lines();
      if (!lines.empty()) text += " (" + lines.back().file + ", line " + std::to_string(lines.back().line) + ")";
      for (const std::string& note : error.notes()) text += "; " + note;
      return text;
    }
  }

  tessera::Interpreter tsr_;
};

constexpr const char* kBlur = R"(
import editor, torch
import torch.nn.functional as F

history = []

def blur(layer, *, radius, keep):
    width = 2 * radius + 1
    soft = F.avg_pool2d(layer.pixels[None, None], width, stride=1, padding=radius)[0, 0]
    if keep:
        copy = editor.add(layer.name + ' before', *layer.pixels.shape)
        copy.pixels.copy_(layer.pixels)
        history.append(copy)
    layer.pixels.copy_(soft)       # the host's own memory

editor.register('blur', blur, radius=1, keep=False)
)";

constexpr const char* kBroken = R"(
import editor
def merge(layer, *, into):
    try:
        other = editor.find(into)
    except KeyError as error:
        error.add_note('choose a layer that there is')
        raise
    other.pixels += layer.pixels
editor.register('merge', merge, into='background')
)";

int failures = 0;
void expect(bool good, const char* what) {
  if (good) return;
  std::printf("not so: %s\n", what);
  ++failures;
}

}  // namespace

int main() {
  Editor editor;
  expect(!editor.load("blur.tsr", kBlur), "blur is loaded");
  expect(!editor.load("merge.tsr", kBroken), "merge is loaded");
  expect(editor.load("bad.tsr", "import editor\neditor.register('bad')\n").has_value(), "a mistake is told");

  const auto face = editor.document.add("face", 5, 5);
  face->pixels.data<float>()[12] = 9;
  expect(!editor.apply("blur", face, {{"keep", true}}), "blur runs");
  expect(face->pixels.data<float>()[6] == 1, "it wrote into the host's memory");
  std::shared_ptr<Layer> before = editor.document.find("face before");
  expect(before->pixels[2][2].item<int>() == 9, "the plugin made a layer of the document");
  expect(before.use_count() >= 3, "document, plugin and host share it");
  editor.document.remove(before);
  expect(before.use_count() >= 2, "the plugin still keeps it");

  const auto problem = editor.apply("merge", face);
  expect(problem == "KeyError: \"no layer 'background'\" (merge.tsr, line 5); choose a layer that there is",
         problem.value_or("").c_str());
  expect(!editor.apply("merge", face, {{"into", std::string("face")}}), "another setting does");
  if (failures == 0) std::printf("%zu plugins, %zu layers\n", editor.plugins.size(), editor.document.layers().size());
  return failures == 0 ? 0 : 1;
}

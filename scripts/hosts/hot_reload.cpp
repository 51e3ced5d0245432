// Hot reload: the text of a module changes while its program runs. Its functions are replaced, its tensors stay, and a text
// that does not even compile leaves everything as it was. `hot_reload FILE` watches a file; without arguments it checks itself
// with three texts.
#include <tessera/tessera.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>

namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A module of scripts whose text the host has. `import painter` asks the host for it, and so does every reload.
class Painter {
 public:
  explicit Painter(std::string text) : text_(std::move(text)) { module_ = tsr_.import("painter"); }

  // True: the new text runs. What was kept of the module are values of the old one: look functions up again.
  bool reload(std::string text) {
    std::swap(text_, text);
    try {
      tsr_.reload(module_);
      return true;
    } catch (const tessera::ScriptError& error) {
      std::printf("kept the old text: %s: %s\n", error.class_name().c_str(), error.message().c_str());
      std::swap(text_, text);
      return false;
    }
  }
  // Half a second of a program's life: y = 3 a - 2 b is to be found.
  double train(int steps) {
    const auto x = tessera::Tensor::from_values<float>({1, 0, 0, 1, 1, 1, 2, 1}, {4, 2});
    const auto y = tessera::Tensor::from_values<float>({3, -2, 1, 4}, {4});
    const tessera::Ref step = module_.attribute("train");
    double loss = 0;
    for (int i = 0; i < steps; ++i) loss = step(x, y).as<double>();
    return loss;
  }
  std::string describe() const { return module_.call("describe").str(); }
  tessera::Tensor weights() const { return module_.attribute("weights").as<tessera::Tensor>(); }

 private:
  std::string text_;
  tessera::Interpreter tsr_{{.time_limit = 5.0, .import_source = [this](std::string_view name) {
                               return name == "painter" ? std::optional(text_) : std::nullopt;
                             }}};
  tessera::Ref module_;
};

std::string replaced(std::string text, std::string_view old, std::string_view by) {
  return text.replace(text.find(old), old.size(), by);
}

int watch(const std::filesystem::path& path) {
  Painter painter(read_file(path));
  for (auto seen = std::filesystem::last_write_time(path);;) {
    painter.train(1);
    std::printf("%s\n", painter.describe().c_str());
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    if (const auto now = std::filesystem::last_write_time(path); now != seen) {
      seen = now;
      painter.reload(read_file(path));
    }
  }
}

int check() {
  const std::string first = read_file("hot_reload.tsr");
  Painter painter(first);
  painter.train(20);
  std::printf("%s\n", painter.describe().c_str());
  const tessera::Tensor weights = painter.weights();
  const std::vector<float> before = weights.to_vector<float>();

  // Somebody makes a mistake. The program goes on as before.
  if (painter.reload(replaced(first, "def train(x, y):", "def train(x, y:")) || painter.train(1) <= 0) return 1;

  // Somebody has it learn faster and tell more: the same tensor learns on.
  const std::string second = replaced(replaced(first, "RATE = 0.1", "RATE = 0.5"), "'after", "'fast now, after");
  if (!painter.reload(second)) return 2;
  if (painter.weights().data_ptr() != weights.data_ptr() || before[0] == 0) return 3;
  const double loss = painter.train(200);
  std::printf("%s\n", painter.describe().c_str());
  const bool good = painter.describe() == "fast now, after 221 steps: [3.0, -2.0]" && loss < 1e-6;
  return good && std::abs(weights.data<float>()[0] - 3) < 1e-2f ? 0 : 4;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return argc > 1 ? watch(argv[1]) : check();
  } catch (const tessera::ScriptError& error) {
    std::fprintf(stderr, "%s", error.what());
    return 1;
  }
}

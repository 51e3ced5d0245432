#include "stdlib/standard.h"

#include "lang/vm/vm.h"
#include "stdlib/embedded.h"
#include "stdlib/matplotlib/native/canvas.h"
#include "stdlib/numpy/native/random_module.h"
#include "stdlib/python/classes_of_c.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/torch/error_notes.h"
#include "stdlib/torch/torch_module.h"

namespace tessera::stdlib {
std::optional<std::string> embedded_text(std::string_view name, std::string& path, bool& is_package) {
  const EmbeddedModule* module = find_embedded(name);
  if (module == nullptr) return {};
  path = path_of(*module);
  is_package = module->is_package;
  return text_of(*module);
}

static bool embedded_file(std::string_view name, lang::EmbeddedFile& found) {
  const EmbeddedModule* const module = find_embedded(name);
  if (module == nullptr) return false;
  const auto read = [](const void* of) { return text_of(*static_cast<const EmbeddedModule*>(of)); };
  found = {path_of(*module), module->is_package, module->size, embedded_sum(), read, module};
  return true;
}

// Packages without compiled parts, which an installed one replaces.
static bool yields_to_installed(std::string_view name) {
  const std::string_view package = name.substr(0, name.find('.'));
  return package == "tqdm" || package == "typing_extensions" || package == "torchvision";
}

void add_standard_library(Interpreter& in) {
  if (!in.host().embedded_module) {
    in.host().embedded_module = embedded_text;
    in.host().embedded_file = embedded_file;
    in.host().embedded_yields = yields_to_installed;
  }
  in.host().classes_of_c = &classes_of_c();
  add_native_modules(in);
  add_torch_modules(in);
  add_numpy_modules(in);
  add_matplotlib_modules(in);
  in.vm().set_noter(note_language_error);
}

std::unique_ptr<Interpreter> make_interpreter(Host host, Limits limits) {
  auto in = std::make_unique<Interpreter>(std::move(host), limits);
  add_standard_library(*in);
  return in;
}

}  // namespace tessera::stdlib

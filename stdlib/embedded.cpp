#include "stdlib/embedded.h"

#include <zlib.h>

#include <algorithm>

namespace tessera::stdlib {

const EmbeddedModule* find_embedded(std::string_view name) {
  const auto modules = embedded_modules();
  const auto at = std::ranges::lower_bound(modules, name, {}, &EmbeddedModule::name);
  return at != modules.end() && at->name == name ? &*at : nullptr;
}

std::string text_of(const EmbeddedModule& module) {
  std::string text(module.size, '\0');
  uLongf size = module.size;
  uncompress(reinterpret_cast<Bytef*>(text.data()), &size, reinterpret_cast<const Bytef*>(module.packed.data()),
             module.packed.size());
  return text;
}

}  // namespace tessera::stdlib

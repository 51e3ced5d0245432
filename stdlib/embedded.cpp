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
  const std::string_view known = embedded_dictionary();
  const auto bytes = [](std::string_view s) { return reinterpret_cast<Bytef*>(const_cast<char*>(s.data())); };
  z_stream stream{};
  stream.next_in = bytes(module.packed), stream.avail_in = uInt(module.packed.size());
  stream.next_out = bytes(text), stream.avail_out = uInt(text.size());
  inflateInit(&stream);
  if (inflate(&stream, Z_FINISH) == Z_NEED_DICT) {
    inflateSetDictionary(&stream, bytes(known), uInt(known.size()));
    inflate(&stream, Z_FINISH);
  }
  inflateEnd(&stream);
  return text;
}

}  // namespace tessera::stdlib

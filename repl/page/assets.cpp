#include "repl/page/assets.h"

#include <zlib.h>

#include <algorithm>
#include <utility>

namespace tessera::repl::page {

const Asset* find_asset(std::string_view name) {
  const auto all = assets();
  const auto found = std::lower_bound(all.begin(), all.end(), name,
                                      [](const Asset& asset, std::string_view wanted) { return asset.name < wanted; });
  return found != all.end() && found->name == name ? &*found : nullptr;
}

std::string text_of(const Asset& asset) {
  std::string text(asset.size, '\0');
  z_stream stream{};
  inflateInit2(&stream, 15 + 16);  // a gzip header
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(asset.packed.data()));
  stream.avail_in = static_cast<uInt>(asset.packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  return text;
}

std::string_view content_type(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {".html", "text/html; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
      {".woff2", "font/woff2"},
      {".json", "application/json"},
      {".webmanifest", "application/manifest+json"}};
  for (const auto& [ending, type] : kTypes)
    if (name.ends_with(ending)) return type;
  return "text/plain; charset=utf-8";
}

}  // namespace tessera::repl::page

// What the programs that run while building share: a file as the compressed literal of a C++ source.
#pragma once

#include <lzma.h>
#include <zlib.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace embed {

constexpr char kIndent = '\1';  // four spaces at the beginning of a line; stdlib/embedded.cpp reads it

inline std::string read(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// `known`: what the reader has already (inflateSetDictionary): it is named instead of written.
inline std::string compressed(const std::string& text, const std::string& known = {}) {
  const auto bytes = [](const std::string& s) { return reinterpret_cast<Bytef*>(const_cast<char*>(s.data())); };
  z_stream stream{};
  deflateInit(&stream, 9);
  if (!known.empty()) deflateSetDictionary(&stream, bytes(known), uInt(known.size()));
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = bytes(text), stream.avail_in = uInt(text.size());
  stream.next_out = bytes(out), stream.avail_out = uInt(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// A fifth to a quarter smaller, and read at a third of the speed. Raw: the reader says the same `window`, a power of two.
inline std::string compressed_more(const std::string& text, unsigned window, const std::string& known = {}) {
  const auto bytes = [](const std::string& s) { return reinterpret_cast<const uint8_t*>(s.data()); };
  lzma_options_lzma options;
  lzma_lzma_preset(&options, 9 | LZMA_PRESET_EXTREME);
  options.dict_size = window;
  options.pb = 0;  // text has no groups of four bytes
  options.preset_dict = bytes(known), options.preset_dict_size = uint32_t(known.size());
  const lzma_filter filters[] = {{LZMA_FILTER_LZMA1, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  std::string out(text.size() + 1024, '\0');
  size_t size = 0;
  if (lzma_raw_buffer_encode(filters, nullptr, bytes(text), text.size(), reinterpret_cast<uint8_t*>(out.data()), &size,
                             out.size()) != LZMA_OK)
    std::abort();
  out.resize(size);
  return out;
}

// A string literal: octal escapes of three digits never run into what follows them.
inline std::string literal(const std::string& bytes) {
  std::string out = "\"";
  for (const unsigned char c : bytes) {
    if (c >= 32 && c < 127 && c != '"' && c != '\\' && c != '?') out += char(c);
    else {
      char escape[5];
      std::snprintf(escape, sizeof escape, "\\%03o", c);
      out += escape;
    }
  }
  return out + '"';
}

}  // namespace embed

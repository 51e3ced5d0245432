// What the programs that run while building share: a file as the compressed literal of a C++ source.
#pragma once

#include <zlib.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

namespace embed {

inline std::string read(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::string compressed(const std::string& text) {
  uLongf size = compressBound(text.size());
  std::string out(size, '\0');
  compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(text.data()), text.size(), 9);
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

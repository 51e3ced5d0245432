// The page's own files, CodeMirror's and the examples, inside of the program: generated while building (cmake/embed_files.cpp).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tessera::repl::page {

struct Asset {
  std::string_view name;    // "index.html", "codemirror/codemirror.js", "examples/digits.tsr"
  std::string_view packed;  // as gzip compresses it
  std::size_t size;         // of the text, in bytes
  std::string_view tag;     // changes with the text
};

// Examples are no files of the page: they are opened as documents.
inline constexpr std::string_view kExamples = "examples/";

std::span<const Asset> assets();  // in the order of their names
const Asset* find_asset(std::string_view name);

std::string text_of(const Asset& asset);
std::string_view content_type(std::string_view name);

}  // namespace tessera::repl::page

// Any bytes at all: the parser answers with a tree or an error, quickly, and the tree can be walked.
// clang++ -std=c++20 -O1 -g -fsanitize=fuzzer,address -I. tests/fuzz/parse_fuzz.cpp and the parser's sources of lang/.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lang/syntax/parse.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tessera::lang;
  Source source("fuzz", std::string_view(reinterpret_cast<const char*>(data), size));
  for (ParseMode mode : {ParseMode::kFile, ParseMode::kExpression}) {
    ParseResult result = parse(source, mode);
    if (!result == !result.error) std::abort();
    if (result) (void)ast::dump_tree(*result.tree, source);
    else (void)format_syntax_error(source, *result.error);
  }
  (void)is_complete(source.text());
  return 0;
}

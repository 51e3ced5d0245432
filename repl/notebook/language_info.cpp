// compile: small (once for a look of a person)
#include "repl/notebook/language_info.h"

#include <nlohmann/json.hpp>

namespace tessera::repl {

using Json = nlohmann::json;

std::string language_info() {
  return Json{{"name", "python"},
              {"version", "3.11"},
              {"mimetype", "text/x-python"},
              {"file_extension", ".tsr"},
              {"pygments_lexer", "python3"},
              {"codemirror_mode", {{"name", "ipython"}, {"version", 3}}},
              {"nbconvert_exporter", "python"}}
      .dump();
}

std::string kernelspec_of_notebooks() {
  return Json{{"display_name", kKernelTitle}, {"language", kKernelLanguage}, {"name", kKernelName}}.dump();
}

}  // namespace tessera::repl

#include "repl/start.h"

#include <cstdlib>
#include <sstream>

#include "lang/core/error.h"
#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/objects/module.h"

namespace tessera::repl {

std::vector<std::string> search_path(const std::string& folder) {
  std::vector<std::string> folders{folder};
  const char* given = std::getenv("PYTHONPATH");
  std::istringstream list(given == nullptr ? "" : given);
  for (std::string each; std::getline(list, each, ':');)
    if (!each.empty()) folders.push_back(each);
  return folders;
}

void add_search_path(Interpreter& in, const std::string& folder) {
  const std::vector<std::string> folders = search_path(folder);
  in.search_path.insert(in.search_path.begin(), folders.begin(), folders.end());
}

Value run_exit_functions(Interpreter& in) {
  if (in.modules().find("atexit") == nullptr) return Value();
  try {
    call(in, get_attr(in, Value(in.import("atexit")), intern(in, "_run_exitfuncs")));
  } catch (const Thrown& thrown) {
    return thrown.exception;
  } catch (const std::exception&) {
    // The module is not what it was: a script has written over it.
  }
  return Value();
}

}  // namespace tessera::repl

#include "repl/start.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "lang/core/error.h"
#include "lang/core/host.h"
#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/objects/module.h"
#include "lang/types/dict.h"

namespace tessera::repl {

namespace {

// The site-packages below lib/python3.N of a prefix: of the highest N, or nothing.
std::string packages_of(const std::string& prefix) {
  std::error_code error;
  int highest = -1;
  std::string found;
  for (const auto& entry : std::filesystem::directory_iterator(prefix + "/lib", error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("python3.")) continue;
    const std::string folder = entry.path().string() + "/site-packages";
    const int minor = std::atoi(name.c_str() + 8);
    if (minor <= highest || !std::filesystem::is_directory(folder, error)) continue;
    highest = minor;
    found = folder;
  }
  return found;
}

std::string site_packages(const Flags& flags) {
  if (flags.no_site) return "";
  if (const char* environment = std::getenv("VIRTUAL_ENV"); environment != nullptr && *environment != '\0')
    return packages_of(environment);
  const char* home = std::getenv("HOME");
  return flags.no_user_site || home == nullptr ? "" : packages_of(std::string(home) + "/.local");
}

// The Python library of the machine, which has the modules of the standard library that are not inside of the program; or nothing.
std::string machine_library() {
  std::error_code error;
  for (const char* folder : {"/usr/lib/python3.11", "/usr/lib/python3.12", "/usr/lib/python3.13"})
    if (std::filesystem::is_directory(folder, error)) return folder;
  return "";
}

}  // namespace

void keep_code(Host& host) {
  host.keeps_code = true;
  const char* const caches = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  if (caches != nullptr && *caches == '/') host.code_folder = std::string(caches) + "/tessera";
  else if (home != nullptr && *home == '/') host.code_folder = std::string(home) + "/.cache/tessera";
}

void add_search_path(Interpreter& in, const std::string& folder) {
  const Flags& flags = in.host().flags;
  std::vector<std::string> folders;
  if (!flags.safe_path) folders.push_back(folder);
  const char* given = flags.ignore_environment ? nullptr : std::getenv("PYTHONPATH");
  std::istringstream list(given == nullptr ? "" : given);
  for (std::string each; std::getline(list, each, ':');)
    if (!each.empty()) folders.push_back(each);
  if (const std::string library = machine_library(); !library.empty()) folders.push_back(library);
  if (const std::string packages = site_packages(flags); !packages.empty()) folders.push_back(packages);
  in.search_path.insert(in.search_path.begin(), folders.begin(), folders.end());
}

namespace {

// Waits for the threads that are no daemons, as CPython does before the functions of atexit.
Value join_threads(Interpreter& in) {
  if (in.modules().find("threading") == nullptr) return Value();
  try {
    call(in, get_attr(in, Value(in.import("threading")), intern(in, "_shutdown")));
  } catch (const Thrown& thrown) {
    return thrown.exception;
  } catch (const std::exception&) {
    // As below.
  }
  return Value();
}

}  // namespace

Value run_exit_functions(Interpreter& in) {
  Value raised = join_threads(in);
  // The module itself may have been forgotten: the functions stand in one that no script takes from sys.modules.
  if (dict_get_text(in.import("_sys")->dict, "exit_functions") == nullptr) return raised;
  try {
    call(in, get_attr(in, Value(in.import("atexit")), intern(in, "_run_exitfuncs")));
  } catch (const Thrown& thrown) {
    return thrown.exception;
  } catch (const std::exception&) {
    // The module is not what it was: a script has written over it.
  }
  return raised;
}

}  // namespace tessera::repl

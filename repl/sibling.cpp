#include "repl/sibling.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

namespace tessera::repl {
namespace {

constexpr Sibling kSiblings[] = {
    {"kernel", "tsr-kernel", "the Jupyter kernel", "libzmq3-dev"},
    {"serve", "tsr-page", "the page", "libboost-dev and libjs-codemirror"},
};

std::vector<std::filesystem::path> folders() {
  std::vector<std::filesystem::path> all;
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    all.push_back(self.parent_path());
    all.push_back(self.parent_path().parent_path() / "libexec" / "tessera");
  }
  const char* const path = std::getenv("PATH");
  std::istringstream list(path == nullptr ? "" : path);
  for (std::string each; std::getline(list, each, ':');)
    if (!each.empty()) all.emplace_back(each);
  return all;
}

}  // namespace

const Sibling* find_sibling(std::string_view word) {
  for (const Sibling& each : kSiblings)
    if (each.word == word) return &each;
  return nullptr;
}

std::string become_sibling(const Sibling& sibling, const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  std::string name(sibling.program);
  argv.push_back(name.data());
  std::vector<std::string> given = arguments;
  for (std::string& each : given) argv.push_back(each.data());
  argv.push_back(nullptr);
  for (const std::filesystem::path& folder : folders()) {
    const std::filesystem::path program = folder / sibling.program;
    if (access(program.c_str(), F_OK) != 0) continue;
    execv(program.c_str(), argv.data());
    return "cannot start " + program.string() + ": " + std::strerror(errno);
  }
  return "there is no " + name + " beside this program: " + std::string(sibling.what) +
         " is made only where Debian's " + std::string(sibling.needs) + " is installed when tsr is built";
}

}  // namespace tessera::repl

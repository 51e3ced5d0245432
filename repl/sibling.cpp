#include "repl/sibling.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace tessera::repl {
namespace {

constexpr Sibling kSiblings[] = {
    {"kernel", "tsr-kernel", "the Jupyter kernel", "libzmq3-dev"},
    {"serve", "tsr-page", "the page", "libboost-dev and libjs-codemirror"},
};

std::vector<std::string> folders() {
  std::vector<std::string> all;
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self);
  if (length > 0 && length < ssize_t{sizeof self}) {
    const std::string folder(self, std::string_view(self, static_cast<size_t>(length)).rfind('/'));
    all.push_back(folder);
    all.push_back(folder + "/../libexec/tessera");
  }
  const char* const path = std::getenv("PATH");
  const std::string_view list(path == nullptr ? "" : path);
  for (size_t begin = 0, end; begin < list.size(); begin = end + 1) {
    end = std::min(list.find(':', begin), list.size());
    if (end > begin) all.emplace_back(list.substr(begin, end - begin));
  }
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
  for (const std::string& folder : folders()) {
    const std::string program = folder + "/" + name;
    if (access(program.c_str(), F_OK) != 0) continue;
    execv(program.c_str(), argv.data());
    return "cannot start " + program + ": " + std::strerror(errno);
  }
  return "there is no " + name + " beside this program: a build has " + std::string(sibling.what) +
         " only where it found Debian's " + std::string(sibling.needs);
}

}  // namespace tessera::repl

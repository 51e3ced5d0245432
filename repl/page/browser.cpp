#include "repl/page/browser.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "repl/page/descriptor.h"
#include "repl/page/files.h"

namespace tessera::repl::page {
namespace {

bool is_set(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && value[0] != '\0';
}

}  // namespace

bool open_browser(const std::string& url, const std::string& folder) {
  if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY")) return false;
  const Descriptor place(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::string text =
      "<!doctype html><meta name=\"referrer\" content=\"no-referrer\"><meta http-equiv=\"refresh\" content=\"0;url=" +
      url + "\"><title>Tessera</title>";
  if (!place || write_whole(place.get(), "open.html", text, 0600, true, false) != 0) return false;
  const std::string file = folder + "/open.html";
  // Twice removed: nobody has to wait for the browser.
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    if (fork() == 0) {
      const int nothing = open("/dev/null", O_RDWR);
      for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, standard);
      execlp("xdg-open", "xdg-open", file.c_str(), static_cast<char*>(nullptr));
      _exit(127);
    }
    _exit(0);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return child > 0;
}

}  // namespace tessera::repl::page

// `tsr-page`: serves the page, or with --worker is the process with the interpreter.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>

#include "repl/page/browser.h"
#include "repl/page/guard.h"
#include "repl/page/hub.h"
#include "repl/page/options.h"
#include "repl/page/server.h"

namespace tessera::repl::page {
namespace {

int fail(const std::string& why, int status) {
  std::fprintf(stderr, "tsr serve: %s\n", why.c_str());
  return status;
}

// For what the server and its worker leave while they run; gone with it.
class PrivateFolder {
 public:
  PrivateFolder() {
    const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
    std::error_code none;
    const std::string temporary = std::filesystem::temp_directory_path(none).string();
    for (const std::string& place : {std::string(runtime == nullptr ? "" : runtime), temporary, std::string("/tmp")}) {
      if (place.empty()) continue;
      path_ = place + "/tessera-XXXXXX";
      if (mkdtemp(path_.data()) != nullptr) return;
    }
    path_.clear();
  }
  ~PrivateFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::vector<std::string> worker_arguments(const WorkerOptions& given, const std::string& outputs) {
  std::vector<std::string> words{"--outputs", outputs};
  if (!given.device.empty()) words.insert(words.end(), {"--device", given.device});
  if (given.threads > 0) words.insert(words.end(), {"--threads", std::to_string(given.threads)});
  return words;
}

// The standard files have to be there: else a socket gets their numbers, and is written to as an error.
void have_standard_files() {
  for (int number = open("/dev/null", O_RDWR); number >= 0; number = open("/dev/null", O_RDWR)) {
    if (number <= STDERR_FILENO) continue;
    close(number);
    return;
  }
}

int serve(const PageOptions& options) {
  const PrivateFolder outputs;
  if (outputs.path().empty()) return fail("there is no folder for temporary files (TMPDIR)", 1);
  std::filesystem::path folder = options.path, file;
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    file = folder.filename();
    folder = folder.has_parent_path() ? folder.parent_path() : std::filesystem::path(".");
  }
  Loop loop;
  Hub hub(loop, {TESSERA_VERSION, folder.string(), Drafts::default_place(), outputs.path(),
                 worker_arguments(options.worker, outputs.path())});
  if (!file.empty())
    if (const std::string problem = hub.open_file(file.string()); !problem.empty()) return fail(problem, 1);
  Server server(loop, hub);
  if (const std::string problem = server.listen(options.port, !options.is_port_given); !problem.empty())
    return fail(problem, 1);
  const Guard guard(random_token(), server.port());
  server.admit(guard);
  hub.start_worker();
  int ended_by = 0;
  const auto signals = loop.on_signals({SIGINT, SIGTERM, SIGHUP}, [&](int signal) {
    ended_by = signal;
    loop.stop();
  });
  std::printf("%s\n", guard.url().c_str());
  std::fflush(stdout);
  if (options.opens_browser) open_browser(guard.url(), outputs.path());
  loop.run();
  const std::string last_word = hub.end();
  if (!last_word.empty()) std::fprintf(stderr, "%s%s\n", ended_by == SIGINT ? "\n" : "", last_word.c_str());
  return ended_by == SIGINT ? 0 : 128 + ended_by;
}

int run(int argc, char** argv) {
  have_standard_files();
  const PageOptions options = parse_page_options(argc, argv);
  switch (options.action) {
    case PageOptions::Action::kBad: return fail(options.problem + "\n" + kPageHelp, 2);
    case PageOptions::Action::kHelp: std::fputs(kPageHelp, stdout); return 0;
    case PageOptions::Action::kVersion: std::puts("Tessera " TESSERA_VERSION); return 0;
    case PageOptions::Action::kWorker: return run_worker(options.worker);
    case PageOptions::Action::kServe: break;
  }
  std::signal(SIGPIPE, SIG_IGN);
  return serve(options);
}

}  // namespace
}  // namespace tessera::repl::page

int main(int argc, char** argv) {
  try {
    return tessera::repl::page::run(argc, argv);
  } catch (const std::exception& error) {
    return tessera::repl::page::fail(error.what(), 1);
  }
}

// `tsr-kernel`, which `tsr kernel` starts: installs the kernel for Jupyter, or is it.
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lang/core/error.h"
#include "repl/kernel/connection.h"
#include "repl/kernel/kernel.h"
#include "repl/kernel/kernelspec.h"
#include "repl/kernel/sockets.h"
#include "runtime/counted.h"

namespace tessera::repl {
namespace {

constexpr const char* kHelp =
    "usage: tsr kernel install [PLACE] [--name NAME] [--display-name TEXT] [--device NAME] [--threads N]\n"
    "       tsr kernel remove [PLACE] [--name NAME]\n"
    "       tsr kernel spec\n"
    "       tsr kernel --connection FILE [--device NAME] [--threads N]\n"
    "  install  makes the kernel known to Jupyter\n"
    "  remove   takes it away\n"
    "  spec     prints the kernel.json that install writes\n"
    "  --connection FILE  runs a kernel: what Jupyter does\n"
    "PLACE:\n"
    "  --user         this user's own folder (when nothing is said)\n"
    "  --sys-prefix   the environment of Python that is active\n"
    "  --prefix DIR   DIR/share/jupyter/kernels: /usr/local is for all users\n";

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Words {
  std::string action, connection, problem;
  KernelPlace place;
  KernelOptions options;
};

// Goes over the words; each option's value stands behind it or behind a '='.
class Reader {
 public:
  Reader(int argc, char** argv) : words_(argv + 1, argv + argc) {}

  bool next() {
    if (at_ == words_.size()) return false;
    word_ = words_[at_++];
    const size_t sign = word_.find('=');
    value_.reset();
    if (word_.starts_with("--") && sign != word_.npos) {
      value_ = word_.substr(sign + 1);
      word_.resize(sign);
    }
    return true;
  }
  const std::string& word() const { return word_; }
  std::string value() {
    if (value_) return *value_;
    if (at_ == words_.size()) throw UsageError(word_ + " needs a value");
    return words_[at_++];
  }

 private:
  std::vector<std::string> words_;
  size_t at_ = 0;
  std::string word_;
  std::optional<std::string> value_;
};

int thread_count(const std::string& text) {
  int count = 0;
  const char* const end = text.data() + text.size();
  if (std::from_chars(text.data(), end, count).ptr != end || count < 1)
    throw UsageError("--threads needs a number from 1 on");
  return count;
}

Words read_words(int argc, char** argv) {
  Words words;
  words.place.folder = user_kernels(words.problem);
  const auto place = [&](std::string folder) {
    words.place.folder = std::move(folder);
    if (!words.place.folder.empty()) words.problem.clear();
  };
  for (Reader reader(argc, argv); reader.next();) {
    const std::string& word = reader.word();
    if (word == "--connection" || word == "-f") {
      words.action = "run";
      words.connection = reader.value();
    } else if (word == "--name") {
      words.place.name = reader.value();
    } else if (word == "--display-name") {
      words.place.display_name = reader.value();
    } else if (word == "--user") {
      place(user_kernels(words.problem));
    } else if (word == "--sys-prefix") {
      place(environment_kernels(words.problem));
    } else if (word == "--prefix") {
      place(prefix_kernels(reader.value()));
    } else if (word == "--device") {
      words.options.device = reader.value();
      words.place.options.insert(words.place.options.end(), {"--device", words.options.device});
    } else if (word == "--threads") {
      words.options.threads = thread_count(reader.value());
      words.place.options.insert(words.place.options.end(), {"--threads", std::to_string(words.options.threads)});
    } else if (word == "--help" || word == "-h") {
      words.action = "help";
    } else if (words.action.empty() && (word == "install" || word == "remove" || word == "spec")) {
      words.action = word;
    } else {
      throw UsageError("what is " + word + "?");
    }
  }
  return words;
}

// What a cell's child processes read is nobody's.
void close_input() {
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0) return;
  dup2(nothing, STDIN_FILENO);
  if (nothing != STDIN_FILENO) close(nothing);
}

int run(const Words& words) {
  if (words.action == "help") {
    std::fputs(kHelp, stdout);
    return 0;
  }
  if (words.action.empty()) throw UsageError("install, remove, spec or --connection FILE is missing");
  if (words.action == "run") {
    const Connection connection = read_connection(words.connection);
    close_input();
    const int own_error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    std::FILE* const log = own_error < 0 ? nullptr : fdopen(own_error, "w");
    if (log != nullptr) std::setvbuf(log, nullptr, _IOLBF, 0);
    return run_kernel(connection, words.options, log == nullptr ? stderr : log);
  }
  if (words.action == "spec") {
    std::fputs(kernel_json(words.place).c_str(), stdout);
    return 0;
  }
  if (words.place.folder.empty()) throw std::runtime_error(words.problem);
  const std::string done = words.action == "install" ? install_kernel(words.place) : remove_kernel(words.place);
  std::puts(done.c_str());
  return 0;
}

}  // namespace
}  // namespace tessera::repl

int main(int argc, char** argv) {
  using namespace tessera;
  tensor::SharedCounts::keep_to_one_thread();  // the language has no others
  try {
    return repl::run(repl::read_words(argc, argv));
  } catch (const repl::UsageError& error) {
    std::fprintf(stderr, "tsr kernel: %s\n%s", error.what(), repl::kHelp);
    return 2;
  } catch (const lang::Error& error) {  // --device
    std::fprintf(stderr, "tsr kernel: %s\n", error.message.c_str());
  } catch (const std::bad_alloc&) {
    std::fputs("tsr kernel: not enough memory to start (is it limited? see ulimit -v)\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tsr kernel: %s\n", error.what());
  }
  return 1;
}

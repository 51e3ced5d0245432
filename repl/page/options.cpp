#include "repl/page/options.h"

#include <charconv>
#include <string_view>

namespace tessera::repl::page {

const char* const kPageHelp =
    "usage: tsr serve [options] [FOLDER or FILE]\n"
    "  opens a page in the browser: an editor, a terminal, and the tensors that live. Files below FOLDER (this one, unless\n"
    "  told otherwise) can be opened and saved. Ctrl-C ends it.\n"
    "options:\n"
    "  --port N       the port of 127.0.0.1 that it listens on; 0: any that is free (8765, or the next that is free)\n"
    "  --no-browser   only prints the page's address\n"
    "  --device NAME  makes tensors on this device unless told otherwise (cpu, cuda)\n"
    "  --threads N    threads for tensor operations (also TSR_THREADS)\n"
    "  --version      prints the version\n"
    "  --help         prints this\n";

namespace {

// Goes over the words; an option's value is its next word, or stands behind "=".
class Words {
 public:
  Words(int argc, char** argv) : argc_(argc), argv_(argv) {}

  bool next(std::string_view& word) {
    if (at_ >= argc_) return false;
    word = argv_[at_++];
    value_ = nullptr;
    if (const size_t equals = word.find('='); word.starts_with("--") && equals != word.npos) {
      value_ = word.data() + equals + 1;
      word = word.substr(0, equals);
    }
    return true;
  }
  const char* value() { return value_ != nullptr ? value_ : at_ < argc_ ? argv_[at_++] : nullptr; }
  bool has_stray_value() const { return value_ != nullptr; }

 private:
  int argc_, at_ = 1;
  char** argv_;
  const char* value_ = nullptr;
};

template <class Number>
bool read_number(const char* text, Number least, Number most, Number& number) {
  const std::string_view word = text == nullptr ? "" : text;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size() && number >= least && number <= most;
}

}  // namespace

PageOptions parse_page_options(int argc, char** argv) {
  PageOptions options;
  const auto bad = [&](std::string why) {
    options.action = PageOptions::Action::kBad;
    options.problem = std::move(why);
    return options;
  };
  bool has_path = false;
  Words words(argc, argv);
  for (std::string_view word; words.next(word);) {
    if (word == "--port") {
      int port = 0;
      if (!read_number(words.value(), 0, 65535, port)) return bad("--port needs a number from 0 to 65535");
      options.port = static_cast<uint16_t>(port);
      options.is_port_given = true;
    } else if (word == "--threads") {
      if (!read_number(words.value(), 1, 1 << 20, options.worker.threads))
        return bad("--threads needs a number from 1 on");
    } else if (word == "--device" || word == "--outputs") {
      const char* const value = words.value();
      if (value == nullptr) return bad(std::string(word) + " needs a name");
      (word == "--device" ? options.worker.device : options.worker.outputs) = value;
    } else if (word == "--worker") {
      options.action = PageOptions::Action::kWorker;
      if (!read_number(words.value(), 0, 1 << 20, options.worker.channel))
        return bad("--worker needs the number of a channel");
    } else if (word == "--no-browser" && !words.has_stray_value()) {
      options.opens_browser = false;
    } else if (word == "--help" || word == "-h") {
      options.action = PageOptions::Action::kHelp;
      return options;
    } else if (word == "--version" || word == "-V") {
      options.action = PageOptions::Action::kVersion;
      return options;
    } else if (word.starts_with('-')) {
      return bad("unknown option " + std::string(word));
    } else if (has_path) {
      return bad("one folder or file can be served, not also " + std::string(word));
    } else {
      options.path = word;
      has_path = true;
    }
  }
  return options;
}

}  // namespace tessera::repl::page

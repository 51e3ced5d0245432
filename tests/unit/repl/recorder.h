// A frontend that keeps what it was told, and a notebook's session with it.
#pragma once

#include <unistd.h>

#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "repl/notebook/notebook_client.h"
#include "repl/session/all_granted.h"
#include "stdlib/standard.h"

namespace tessera::repl {

struct Recorder : Frontend {
  struct Said {
    std::string kind, text, id;
    Forms forms;
    bool flag = false;
    ErrorReport error;
    Metadata metadata = {};
  };
  std::vector<Said> said;
  std::deque<std::string> answers;

  void stream(bool is_error, std::string_view text) override {
    said.push_back({is_error ? "stderr" : "stdout", std::string(text), "", {}, false, {}});
  }
  void display(const Forms& forms, const Metadata& metadata, const std::string& id, bool is_update) override {
    said.push_back({"display", forms[0].data, id, forms, is_update, {}, metadata});
  }
  void result(int, const Forms& forms, const Metadata& metadata) override {
    said.push_back({"result", forms[0].data, "", forms, false, {}, metadata});
  }
  void error(const ErrorReport& report) override { said.push_back({"error", report.text, "", {}, false, report}); }
  void clear(bool wait) override { said.push_back({"clear", "", "", {}, wait, {}}); }
  void page(const std::string& text) override { said.push_back({"page", text, "", {}, false, {}}); }
  bool input(const std::string& prompt, bool is_hidden, std::string& line) override {
    said.push_back({"input", prompt, "", {}, is_hidden, {}});
    if (answers.empty()) return false;
    line = answers.front();
    answers.pop_front();
    return true;
  }
  void overflow(const std::string& path, uint64_t bytes) override {
    said.push_back({"overflow", path, std::to_string(bytes), {}, false, {}});
  }
  bool offer(const std::string& text) override {
    said.push_back({"offer", text, "", {}, false, {}});
    return true;
  }

  std::string all(std::string_view kind) const {
    std::string out;
    for (const Said& each : said)
      if (each.kind == kind) out += each.text;
    return out;
  }
  const Said* last(std::string_view kind) const {
    for (size_t i = said.size(); i-- > 0;)
      if (said[i].kind == kind) return &said[i];
    return nullptr;
  }
  static std::string form(const Said& one, std::string_view type) {
    for (const Form& each : one.forms)
      if (each.type == type) return each.data;
    return "";
  }
};

struct Notebook {
  Recorder frontend;
  std::string folder = std::filesystem::temp_directory_path() / ("notebook-test-" + std::to_string(::getpid()));
  NotebookClient client{frontend, folder, false};
  std::unique_ptr<lang::Interpreter> in = stdlib::make_interpreter(client.host(), all_granted());
  Session session{*in, client};

  ~Notebook() {
    std::error_code error;
    std::filesystem::remove_all(folder, error);
  }
  // What was said while the cell ran.
  const Recorder& run(const std::string& cell) {
    frontend.said.clear();
    client.run(session, cell);
    return frontend;
  }
};

}  // namespace tessera::repl

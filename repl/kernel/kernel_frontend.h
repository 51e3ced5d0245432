// What a session shows, as Jupyter's messages.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lang/core/interpreter.h"
#include "repl/kernel/channels.h"
#include "repl/notebook/frontend.h"

namespace tessera::repl {

// Jupyter's bundle: {"text/plain": …, "image/png": base64}.
Json bundle_of(const Forms& forms);
Json metadata_of(const Metadata& metadata);
// ename, evalue and the traceback's lines in colours.
Json error_content(const ErrorReport& report);

class KernelFrontend : public Frontend {
 public:
  explicit KernelFrontend(Channels& channels) : channels_(channels) {}

  void attach(lang::Interpreter& in) { in_ = &in; }
  // From now on all belongs to this request, which must live as long as its block.
  void begin(const Message& request, bool may_ask);
  // What the reply to the request says of the block.
  const std::optional<ErrorReport>& failure() const { return failure_; }
  const Json& payload() const { return payload_; }
  const std::optional<std::string>& result_text() const { return result_text_; }
  std::string last_line() const;  // that was printed

  void stream(bool is_error, std::string_view text) override;
  void display(const Forms& forms, const Metadata& metadata, const std::string& id, bool is_update) override;
  void result(int number, const Forms& forms, const Metadata& metadata) override;
  void error(const ErrorReport& report) override;
  void clear(bool wait) override;
  void page(const std::string& text) override;
  bool input(const std::string& prompt, bool is_hidden, std::string& line) override;
  void overflow(const std::string& path, uint64_t bytes) override;
  bool offer(const std::string& text) override;

 private:
  void publish(const std::string& type, const Json& content);
  [[noreturn]] void refuse_input();

  Channels& channels_;
  lang::Interpreter* in_ = nullptr;
  const Message* request_ = nullptr;
  bool may_ask_ = false;
  mutable std::mutex mutex_;  // for what stream(), which comes from another thread, uses too
  Json parent_ = Json::object();
  std::string tail_;  // of what was printed
  std::optional<ErrorReport> failure_;
  std::optional<std::string> result_text_;
  Json payload_ = Json::array();
};

}  // namespace tessera::repl

// A session with a client that keeps what it is shown.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "repl/session/client.h"
#include "repl/session/session.h"
#include "stdlib/standard.h"

namespace tessera::repl {

class FakeClient : public Client {
 public:
  std::string written, results, errors, printed;
  std::string offered, edited;  // `edited`: what the editor leaves in the file

  Style style() const override { return {}; }
  void write(std::string_view text) override { written += text; }
  void show_result(int number, const Display& value) override {
    results += "Out[" + std::to_string(number) + "]: " + value.text + "\n";
  }
  void show(const Display& what) override { results += what.text + "\n"; }
  void show_error(lang::Interpreter&, const lang::Value&, std::string_view text) override { errors += text; }
  bool edit(const std::string& path) override;
  bool offer(const std::string& text) override {
    offered = text;
    return true;
  }
};

struct FakeSession {
  FakeClient client;
  std::unique_ptr<lang::Interpreter> in;
  std::unique_ptr<Session> session;

  FakeSession();
  // Runs a block and answers all that was shown for it: what was printed, written, the result, the error.
  std::string run(const std::string& block);
};

}  // namespace tessera::repl

#include <fstream>

#include "tests/unit/repl/fake_client.h"

namespace tessera::repl {

bool FakeClient::edit(const std::string& path) {
  if (edited.empty()) return false;
  std::ofstream(path, std::ios::binary) << edited;
  return true;
}

FakeSession::FakeSession() {
  lang::Limits limits;
  limits.files = limits.environment = limits.clock = limits.imports_of_files = limits.processes = limits.entropy = true;
  lang::Host host;
  host.write_out = [this](std::string_view text) { client.printed += text; };
  host.write_error = [this](std::string_view text) { client.errors += text; };
  in = stdlib::make_interpreter(std::move(host), limits);
  session = std::make_unique<Session>(*in, client);
}

std::string FakeSession::run(const std::string& block) {
  client.printed = client.written = client.results = client.errors = "";
  session->run(block);
  return client.printed + client.written + client.results + client.errors;
}

}  // namespace tessera::repl

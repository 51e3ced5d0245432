// A session's client in a notebook: makes of results, displays, errors and what is printed what a Frontend carries.
//
//   NotebookClient client(frontend, folder, colours);
//   std::unique_ptr<Interpreter> in = make_interpreter(client.host(), all_granted());
//   Session session(*in, client);
//   Outcome outcome = client.run(session, cell);   // for each cell
#pragma once

#include <memory>
#include <string>

#include "lang/core/host.h"
#include "lang/core/interpreter.h"
#include "repl/notebook/file_output.h"
#include "repl/notebook/frontend.h"
#include "repl/notebook/long_texts.h"
#include "repl/notebook/output_stream.h"
#include "repl/session/client.h"
#include "repl/session/session.h"

namespace tessera::repl {

Forms forms_of(const Display& display);

class NotebookClient : public Client {
 public:
  // `folder`: where output beyond the bound goes. With `colours` errors and what commands write have ANSI's.
  NotebookClient(Frontend& frontend, std::string folder, bool colours);

  // What scripts print and read. Modules and files are the caller's to add (make_interpreter does).
  lang::Host host();

  // The forms of what is asked for without being shown, cut as those that are.
  Forms bounded_forms(const Display& display);

  // From now on what child processes write is shown too (file_output.h).
  void take_files();

  // Runs a cell. All that it printed has been handed over when this returns.
  Outcome run(Session& session, const std::string& cell, Keep keep = Keep::kAll);

  Style style() const override;
  void write(std::string_view text) override;
  void show_result(int number, const Display& value) override;
  void show(const Display& what) override;
  void show_error(lang::Interpreter& in, const lang::Value& exception, std::string_view text) override;
  bool edit(const std::string& path) override;
  bool offer(const std::string& text) override;
  void add_forms(lang::Interpreter& in, const lang::Value& value, Display& display) override;
  void show_named(const Display& what, const std::string& id, bool is_update) override;
  void clear(bool wait) override;
  void page(std::string_view text) override;
  bool ask_hidden(const std::string& prompt, std::string& line) override;
  bool show_tensors(const LiveTensors& live, const TableChoice& choice) override;
  bool show_inspection(lang::Interpreter& in, const lang::Value& value, std::string_view name) override;
  bool show_graph(lang::Interpreter& in, const lang::Value& value, std::string_view name) override;

 private:
  void print(bool is_error, std::string_view text);
  template <class Say>
  void say(Say&& what);
  void tell(const std::vector<LongTexts::Cut>& cuts);

  Frontend& frontend_;
  OutputStream output_;
  LongTexts long_texts_;
  const bool colours_;
  std::unique_ptr<FileOutput> files_;
};

}  // namespace tessera::repl

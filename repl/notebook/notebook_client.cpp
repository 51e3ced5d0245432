#include "repl/notebook/notebook_client.h"

#include <exception>
#include <utility>

#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/objects/module.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"
#include "repl/inspector/tensors_text.h"
#include "repl/notebook/error_report.h"
#include "repl/notebook/graph_forms.h"
#include "repl/notebook/tensor_forms.h"
#include "repl/notebook/utf8.h"
#include "repl/session/theme.h"
#include "repl/start.h"

namespace tessera::repl {
using namespace lang;

Forms forms_of(const Display& display) {
  Forms forms{{"text/plain", display.text, false, false}};
  if (!display.html.empty()) forms.push_back({"text/html", display.html, false, false});
  if (!display.svg.empty()) forms.push_back({"image/svg+xml", display.svg, false, false});
  if (!display.png.empty()) forms.push_back({"image/png", display.png, true, false});
  for (const Display::Form& form : display.others) {
    if (form.type == "text/plain") {
      forms[0].data = form.data;
      continue;
    }
    const bool is_json = form.type == "application/json" || form.type.ends_with("+json");
    const bool is_text =
        form.type.starts_with("text/") || form.type.ends_with("+xml") || form.type.ends_with("javascript");
    forms.push_back({form.type, form.data, !is_json && !is_text, is_json});
  }
  for (Form& form : forms) {
    form.type = as_utf8(form.type);
    if (!form.is_bytes && !form.is_json) form.data = as_utf8(form.data);
  }
  // Who asks for some forms only may not have asked for the text.
  if (forms[0].data.empty() && forms.size() > 1) forms.erase(forms.begin());
  return forms;
}

namespace {

// A cell that draws and does not say plt.show() shows what it drew, as IPython's inline pictures do, also after an error. One that
// was interrupted lets it go: nothing is left for the next cell.
void end_figures(Session& session, bool shown) {
  Interpreter& in = session.interpreter();
  const Module* const pyplot = in.modules().find("matplotlib.pyplot");
  if (pyplot == nullptr) return;
  try {
    const RunScope run(in.vm());
    const Value module(static_cast<Object*>(in.import("matplotlib.pyplot")));
    if (shown) call_method(in, module, intern(in, "show"), {});
    else call_method(in, module, intern(in, "close"), {make_str(in, "all")});
  } catch (const std::exception&) {
    session.fail(current_native_exception(in));
  }
}

constexpr int kInterruptedStatus = 130;

}  // namespace

NotebookClient::NotebookClient(Frontend& frontend, std::string folder, bool colours)
    : frontend_(frontend), output_(frontend, folder), long_texts_(std::move(folder)), colours_(colours) {}

Host NotebookClient::host() {
  Host host;
  host.write_out = [this](std::string_view text) { print(false, text); };
  host.write_error = [this](std::string_view text) { print(true, text); };
  host.read_line = [this](std::string& line) {
    const std::string prompt = output_.take_open_line();
    output_.flush();
    if (!frontend_.input(prompt, false, line)) return false;
    line += '\n';
    return true;
  };
  keep_code(host);
  return host;
}

void NotebookClient::take_files() {
  files_ =
      std::make_unique<FileOutput>([this](bool is_error, std::string_view text) { output_.write(is_error, text); });
}

// Behind what a child process has printed before it.
void NotebookClient::print(bool is_error, std::string_view text) {
  if (files_ != nullptr) files_->settle();
  output_.write(is_error, text);
}

Outcome NotebookClient::run(Session& session, const std::string& cell, Keep keep) {
  output_.begin_cell(session.number());
  long_texts_.begin_cell(session.number());
  const Outcome outcome = session.run(cell, keep);
  end_figures(session, !(outcome.kind == Outcome::Kind::kFailed && outcome.status == kInterruptedStatus));
  if (files_ != nullptr) files_->settle();
  output_.end_cell();
  return outcome;
}

Style NotebookClient::style() const {
  Style style;
  style.columns = 100;
  style.rows = 40;
  style.colours = colours_ ? Style::Colours::k16 : Style::Colours::kNone;
  style.html = true;
  return style;
}

// What else is said stands behind what was printed before it.
template <class Say>
void NotebookClient::say(Say&& what) {
  if (files_ != nullptr) files_->settle();
  output_.flush();
  const auto lock = output_.hold();
  what();
}

Forms NotebookClient::bounded_forms(const Display& display) {
  Forms forms = forms_of(display);
  long_texts_.cut(forms);
  return forms;
}

// Where the rest is, behind what was shown.
void NotebookClient::tell(const std::vector<LongTexts::Cut>& cuts) {
  for (const LongTexts::Cut& each : cuts) {
    if (!each.word.empty()) output_.write(true, each.word + "\n");
    if (!each.problem.empty())
      output_.write(true, "... and a part of it is lost: " + each.path + ": " + each.problem + "\n");
    say([&] { frontend_.overflow(each.path, each.bytes); });
  }
}

void NotebookClient::write(std::string_view text) { print(false, text); }

void NotebookClient::show_result(int number, const Display& value) {
  output_.write(true, value.problems);
  Forms forms = forms_of(value);
  const auto cuts = long_texts_.cut(forms);
  say([&] { frontend_.result(number, forms, value.metadata); });
  tell(cuts);
}

void NotebookClient::show(const Display& what) { show_named(what, "", false); }

void NotebookClient::show_named(const Display& what, const std::string& id, bool is_update) {
  output_.write(true, what.problems);
  Forms forms = forms_of(what);
  const auto cuts = long_texts_.cut(forms);
  say([&] { frontend_.display(forms, what.metadata, id, is_update); });
  tell(cuts);
}

void NotebookClient::clear(bool wait) {
  say([&] { frontend_.clear(wait); });
}

void NotebookClient::show_error(Interpreter& in, const Value& exception, std::string_view text) {
  ErrorReport report = error_report(in, exception, text);
  const auto cuts = long_texts_.cut(report);
  say([&] { frontend_.error(report); });
  tell(cuts);
}

bool NotebookClient::edit(const std::string&) { return false; }

bool NotebookClient::offer(const std::string& text) {
  bool taken = false;
  say([&] { taken = frontend_.offer(text); });
  return taken;
}

void NotebookClient::page(std::string_view text) {
  say([&] { frontend_.page(std::string(text)); });
}

bool NotebookClient::ask_hidden(const std::string& prompt, std::string& line) {
  output_.flush();
  return frontend_.input(prompt, true, line);
}

void NotebookClient::add_forms(Interpreter& in, const Value& value, Display& display) {
  if (display.html.empty()) display.html = value_html(in, value, display.text);
}

bool NotebookClient::show_tensors(const LiveTensors& live, const TableChoice& choice) {
  show(tensors_display(live, choice, style()));
  return true;
}

bool NotebookClient::show_inspection(Interpreter& in, const Value& value, std::string_view name) {
  const Display display = inspection_display(in, value, name, style());
  if (display.others.empty()) return false;
  show(display);
  return true;
}

bool NotebookClient::show_graph(Interpreter& in, const Value& value, std::string_view name) {
  const Display display = graph_display(in, value, name, style());
  if (display.others.empty()) return false;
  show(display);
  return true;
}

}  // namespace tessera::repl

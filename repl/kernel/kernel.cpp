#include "repl/kernel/kernel.h"

#include <cstdio>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "lang/core/error.h"
#include "lang/core/signals.h"
#include "lang/objects/exception.h"
#include "lang/syntax/source.h"
#include "repl/kernel/answers.h"
#include "repl/kernel/channels.h"
#include "repl/kernel/control.h"
#include "repl/kernel/kernel_frontend.h"
#include "repl/kernel/past.h"
#include "repl/kernel/scratch_folder.h"
#include "repl/notebook/error_report.h"
#include "repl/notebook/notebook_client.h"
#include "repl/session/all_granted.h"
#include "repl/session/command_line.h"
#include "repl/session/display.h"
#include "repl/session/prelude.h"
#include "repl/session/session.h"
#include "repl/session/uncaught.h"
#include "repl/start.h"
#include "repl/terminal.h"
#include "stdlib/standard.h"
#include "stdlib/torch/torch_module.h"

namespace tessera::repl {
namespace {

using Milliseconds = std::chrono::milliseconds;

constexpr Milliseconds kIdle{500};
constexpr Milliseconds kBeforeReadingAhead{50};
// How long requests that were sent together with a failed one may be on their way.
constexpr Milliseconds kOnTheWay{10};

// Does the cell ask to leave, in words that say nothing else? A sys.exit() somewhere in a program does not: a kernel that
// ends takes all names with it.
bool asks_to_leave(std::string_view cell) {
  cell = trimmed(cell);
  const std::string_view last = trimmed(cell.substr(cell.find_last_of("\n;") + 1));
  for (const std::string_view word :
       {"exit", "quit", "exit()", "quit()", ":quit", ":q", ":exit", "%quit", "%exit", "%q"})
    if (last == word) return true;
  return false;
}

class Kernel {
 public:
  Kernel(const Connection& connection, const KernelOptions& options, std::FILE* log);
  ~Kernel() { Control::forget_interpreter(); }
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  int run();

 private:
  void dispatch(const Message& request, bool is_aborted);
  void handle(const Message& request);
  void execute(const Message& request);
  void abort(const Message& request);
  void collect_queue();
  Json reply_of(const Message& request, Outcome outcome, int number, const std::string& cell);
  Json failure_of(const Outcome& outcome);
  Json evaluate(const std::string& expression);
  Json answer(const Message& request, Json (*make)(Session& session, const Message& request));
  void comm(const Message& request);
  bool read_ahead();

  const Connection& connection_;
  std::FILE* log_;
  ScratchFolder scratch_;
  Channels channels_;
  Control control_;
  KernelFrontend frontend_;
  NotebookClient client_;
  std::unique_ptr<Interpreter> in_;
  std::unique_ptr<Session> session_;
  Past past_;
  std::deque<Message> aborted_;  // arrived before a cell failed
  bool leaving_ = false;
  int status_ = 0;
};

Kernel::Kernel(const Connection& connection, const KernelOptions& options, std::FILE* log)
    : connection_(connection),
      log_(log),
      channels_(connection, log),
      control_(channels_, [this] { scratch_.remove(); }),
      frontend_(channels_),
      client_(frontend_, scratch_.path(), true),
      in_(make_interpreter(client_.host(), all_granted())) {
  channels_.publish_status("starting", Json::object());
  frontend_.attach(*in_);
  interrupt_on_sigint(*in_, true);
  Control::end_on_sigterm(*in_);
  in_->argv = {""};
  add_search_path(*in_, "");
  if (options.threads > 0) set_tensor_threads(*in_, options.threads);
  if (!options.device.empty()) set_default_device(*in_, options.device);
  session_ = std::make_unique<Session>(*in_, client_);
  client_.take_files();
}

int Kernel::run() {
  for (bool reads_ahead = true; !leaving_ && !control_.is_ending();) {
    if (!aborted_.empty()) {
      const Message request = std::move(aborted_.front());
      aborted_.pop_front();
      dispatch(request, true);
    } else if (const auto request = channels_.next_request(reads_ahead ? kBeforeReadingAhead : kIdle)) {
      dispatch(*request, false);
    } else if (reads_ahead && !control_.is_ending()) {
      reads_ahead = read_ahead();
    }
  }
  in_->interrupt.fetch_and(~(kCancelled | kKeyboard));
  run_exit_functions(*in_);
  return status_;
}

// An interrupt that comes meanwhile ends it: a cell reads what it needs by itself.
bool Kernel::read_ahead() {
  try {
    return session_->prepare();
  } catch (const std::exception&) {
    in_->interrupt.fetch_and(~kKeyboard);
    return false;
  }
}

void Kernel::dispatch(const Message& request, bool is_aborted) {
  channels_.publish_status("busy", request.header);
  try {
    if (is_aborted && request.type() == "execute_request") abort(request);
    else handle(request);
  } catch (const std::exception& error) {  // no memory, say
    std::fprintf(log_, "tsr-kernel: %s: %s\n", request.type().c_str(), error.what());
  }
  channels_.publish_status("idle", request.header);
}

void Kernel::handle(const Message& request) {
  const std::string& type = request.type();
  if (type == "execute_request") {
    execute(request);
  } else if (type == "complete_request") {
    channels_.reply(request, "complete_reply", answer(request, complete_answer));
  } else if (type == "inspect_request") {
    channels_.reply(request, "inspect_reply", answer(request, inspect_answer));
  } else if (type == "is_complete_request") {
    channels_.reply(request, "is_complete_reply", is_complete_answer(*session_, request));
  } else if (type == "kernel_info_request") {
    channels_.reply(request, "kernel_info_reply", kernel_info_answer());
  } else if (type == "history_request") {
    channels_.reply(request, "history_reply", {{"status", "ok"}, {"history", past_.answer(request)}});
  } else if (type == "connect_request") {
    channels_.reply(request, "connect_reply",
                    {{"status", "ok"},
                     {"shell_port", connection_.shell},
                     {"iopub_port", connection_.iopub},
                     {"stdin_port", connection_.stdin_},
                     {"hb_port", connection_.heartbeat},
                     {"control_port", connection_.control}});
  } else if (type == "shutdown_request") {  // as old clients send it
    const Json content{{"status", "ok"}, {"restart", request.flag("restart", false)}};
    channels_.reply(request, "shutdown_reply", content);
    channels_.publish("shutdown_reply", content, request.header);
    leaving_ = true;
  } else if (type.starts_with("comm_")) {
    comm(request);
  }
}

// There is nothing on this side that a widget could talk to: who opens a line is told that it is closed.
void Kernel::comm(const Message& request) {
  if (request.type() == "comm_info_request")
    channels_.reply(request, "comm_info_reply", {{"status", "ok"}, {"comms", Json::object()}});
  if (request.type() == "comm_open")
    channels_.publish("comm_close", {{"comm_id", request.text("comm_id")}, {"data", Json::object()}}, request.header);
}

void Kernel::abort(const Message& request) {
  channels_.reply(request, "execute_reply", {{"status", "aborted"}}, {{"started", time_now()}, {"status", "aborted"}});
}

// What was sent before it could be known that a cell fails. Whoever reads the reply and sends another is not meant.
void Kernel::collect_queue() {
  while (std::optional<Message> request = channels_.next_request(kOnTheWay)) aborted_.push_back(std::move(*request));
}

void Kernel::execute(const Message& request) {
  const std::string cell = request.text("code");
  const bool silent = request.flag("silent", false);
  const bool kept = !silent && request.flag("store_history", true);
  const int number = session_->number();
  const Json metadata{{"started", time_now()}};
  if (!silent) channels_.publish("execute_input", {{"code", cell}, {"execution_count", number}}, request.header);
  keep_reserve(*in_);
  frontend_.begin(request, request.flag("allow_stdin", false));
  const Outcome outcome = client_.run(*session_, cell, silent ? Keep::kSilent : kept ? Keep::kAll : Keep::kNothing);
  if (kept && session_->number() != number) past_.add(number, cell, frontend_.result_text());
  const Json reply = reply_of(request, outcome, number, cell);
  const bool failed = reply["status"] == "error";
  if (failed && !silent && request.flag("stop_on_error", true)) collect_queue();
  channels_.reply(request, "execute_reply", reply, metadata);
}

Json Kernel::reply_of(const Message& request, Outcome outcome, int number, const std::string& cell) {
  Json reply;
  if (outcome.kind == Outcome::Kind::kLeft && asks_to_leave(cell)) {
    leaving_ = true;
    status_ = outcome.status;
    reply = {{"status", "ok"}, {"payload", frontend_.payload()}, {"user_expressions", Json::object()}};
    reply["payload"].push_back({{"source", "ask_exit"}, {"keepkernel", false}});
  } else if (outcome.kind != Outcome::Kind::kDone) {
    reply = failure_of(outcome);
    reply["status"] = "error";
  } else {
    Json values = Json::object();
    const auto asked = request.content.find("user_expressions");
    if (asked != request.content.end() && asked->is_object())
      for (const auto& [name, expression] : asked->items())
        values[name] = evaluate(expression.is_string() ? expression.get<std::string>() : "");
    reply = {{"status", "ok"}, {"payload", frontend_.payload()}, {"user_expressions", std::move(values)}};
  }
  reply["execution_count"] = number;
  return reply;
}

// A SystemExit ends a program and not the kernel; a command that was refused has said why.
Json Kernel::failure_of(const Outcome& outcome) {
  if (outcome.kind == Outcome::Kind::kLeft && !frontend_.failure()) {
    ErrorReport report;
    report.name = "SystemExit";
    report.message = std::to_string(outcome.status);
    report.text = "SystemExit: " + report.message + "\nhint: the kernel goes on; quit() ends it\n";
    frontend_.error(report);
  }
  if (frontend_.failure()) return error_content(*frontend_.failure());
  return {{"ename", "UsageError"}, {"evalue", frontend_.last_line()}, {"traceback", Json::array()}};
}

Json Kernel::evaluate(const std::string& expression) {
  try {
    import_prelude(*in_, expression);
    const Value value = in_->eval(*std::make_shared<Source>("<user expression>", expression));
    std::optional<Display> display = display_of(*in_, value);
    if (!display) return {{"status", "ok"}, {"data", Json::object()}, {"metadata", Json::object()}};
    client_.add_forms(*in_, value, *display);
    return {{"status", "ok"},
            {"data", bundle_of(client_.bounded_forms(*display))},
            {"metadata", metadata_of(display->metadata)}};
  } catch (const std::exception&) {
    const Value exception = current_native_exception(*in_);
    Json content = error_content(error_report(*in_, exception, text_of_exception(*in_, exception)));
    content["status"] = "error";
    return content;
  }
}

// A property that raises, or an interrupt, is an answer without content.
Json Kernel::answer(const Message& request, Json (*make)(Session& session, const Message& request)) {
  in_->interrupt.fetch_and(~kKeyboard);
  try {
    return make(*session_, request);
  } catch (const std::exception&) {
    in_->interrupt.fetch_and(~kKeyboard);
    const int64_t cursor = request.number("cursor_pos", 0);
    return {{"status", "ok"},         {"found", false},       {"data", Json::object()},    {"matches", Json::array()},
            {"cursor_start", cursor}, {"cursor_end", cursor}, {"metadata", Json::object()}};
  }
}

}  // namespace

int run_kernel(const Connection& connection, const KernelOptions& options, std::FILE* log) {
  return Kernel(connection, options, log).run();
}

}  // namespace tessera::repl

#include "repl/kernel/kernel_frontend.h"

#include <algorithm>
#include <cstdio>

#include "lang/core/error.h"
#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/types/dict.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "repl/kernel/error_lines.h"
#include "repl/notebook/markup.h"

namespace tessera::repl {
namespace {

constexpr std::chrono::milliseconds kLook{10};  // how often a wait for an answer looks whether it is interrupted
constexpr size_t kTail = 1000;
constexpr size_t kMostOutputKept = 4096;  // of a result, for the history

std::string size_text(uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MB", static_cast<double>(bytes) / 1e6);
  return text;
}

}  // namespace

Json bundle_of(const Forms& forms) {
  Json bundle = Json::object();
  for (const Form& form : forms) {
    if (form.is_bytes) {
      bundle[form.type] = base64(form.data);
    } else if (form.is_json) {
      if (std::optional<Json> value = json_of(form.data)) bundle[form.type] = std::move(*value);
    } else {
      bundle[form.type] = form.data;
    }
  }
  return bundle;
}

Json metadata_of(const Metadata& metadata) {
  Json object = Json::object();
  for (const auto& [word, text] : metadata)
    if (std::optional<Json> told = json_of(text)) object[as_utf8(word)] = std::move(*told);
  return object;
}

Json error_content(const ErrorReport& report) {
  return {{"ename", report.name}, {"evalue", report.message}, {"traceback", error_lines(report.text)}};
}

void KernelFrontend::begin(const Message& request, bool may_ask) {
  const std::lock_guard lock(mutex_);
  request_ = &request;
  parent_ = request.header;
  may_ask_ = may_ask;
  tail_.clear();
  failure_.reset();
  result_text_.reset();
  payload_ = Json::array();
}

std::string KernelFrontend::last_line() const {
  const std::lock_guard lock(mutex_);
  const size_t end = tail_.find_last_not_of(" \n\r") + 1;
  const size_t before = end == 0 ? tail_.npos : tail_.rfind('\n', end - 1);
  return tail_.substr(before + 1, end - before - 1);
}

void KernelFrontend::publish(const std::string& type, const Json& content) {
  const std::lock_guard lock(mutex_);
  channels_.publish(type, content, parent_);
}

void KernelFrontend::stream(bool is_error, std::string_view text) {
  const std::lock_guard lock(mutex_);
  tail_.append(text.substr(text.size() - std::min(text.size(), kTail)));
  if (tail_.size() > 2 * kTail) tail_.erase(0, tail_.size() - kTail);
  channels_.publish("stream", {{"name", is_error ? "stderr" : "stdout"}, {"text", text}}, parent_);
}

void KernelFrontend::display(const Forms& forms, const Metadata& metadata, const std::string& id, bool is_update) {
  Json transient = Json::object();
  if (!id.empty()) transient["display_id"] = id;
  publish(is_update ? "update_display_data" : "display_data",
          {{"data", bundle_of(forms)}, {"metadata", metadata_of(metadata)}, {"transient", std::move(transient)}});
}

void KernelFrontend::result(int number, const Forms& forms, const Metadata& metadata) {
  for (const Form& form : forms)
    if (form.type == "text/plain") result_text_ = form.data.substr(0, kMostOutputKept);
  publish("execute_result",
          {{"execution_count", number}, {"data", bundle_of(forms)}, {"metadata", metadata_of(metadata)}});
}

void KernelFrontend::error(const ErrorReport& report) {
  failure_ = report;
  publish("error", error_content(report));
}

void KernelFrontend::clear(bool wait) { publish("clear_output", {{"wait", wait}}); }

void KernelFrontend::page(const std::string& text) {
  payload_.push_back({{"source", "page"}, {"data", {{"text/plain", text}}}, {"start", 0}});
}

bool KernelFrontend::offer(const std::string& text) {
  payload_.push_back({{"source", "set_next_input"}, {"text", text}, {"replace", false}});
  return true;
}

void KernelFrontend::overflow(const std::string& path, uint64_t bytes) {
  const std::string text = "… and " + size_text(bytes) + " more; as long as the kernel lives, all of it is in " + path;
  publish("display_data", {{"data", {{"text/plain", text}, {"text/html", "<em>" + escaped(text) + "</em>"}}},
                           {"metadata", Json::object()},
                           {"transient", Json::object()}});
}

// The class's name and its words are ipykernel's.
void KernelFrontend::refuse_input() {
  using namespace lang;
  Interpreter& in = *in_;
  const Value bases =
      lang::make_tuple(in, {Value(static_cast<Object*>(error_type(in, ErrorKind::NotImplementedError)))});
  const Value type = call(in, Value(static_cast<Object*>(in.types.type)),
                          {make_str(in, "StdinNotImplementedError"), bases, make_dict(in)});
  throw Thrown(
      call(in, type, {make_str(in, "raw_input was called, but this frontend does not support input requests.")}));
}

bool KernelFrontend::input(const std::string& prompt, bool is_hidden, std::string& line) {
  if (request_ == nullptr || !may_ask_) refuse_input();
  const std::string id = channels_.ask(*request_, as_utf8(prompt), is_hidden);
  for (;;) {
    in_->check_stop();
    const std::optional<Message> answer = channels_.next_answer(kLook);
    if (!answer || answer->type() != "input_reply") continue;
    // To another question: a frontend that was interrupted may answer late. Some name none.
    const std::string to = answer->parent.is_object() ? answer->parent.value("msg_id", Json("")).dump() : "\"\"";
    if (to != "\"\"" && to != Json(id).dump() && to != parent_.value("msg_id", Json("")).dump()) continue;
    line = answer->text("value");
    return line != "\x04";  // Ctrl-D, as ipykernel has it
  }
}

}  // namespace tessera::repl

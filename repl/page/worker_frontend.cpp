#include "repl/page/worker_frontend.h"

#include <chrono>
#include <utility>

#include "repl/notebook/markup.h"

namespace tessera::repl::page {
namespace {

// The session's own interrupt is a flag, set by a signal: nobody is told of it.
constexpr std::chrono::milliseconds kLook{10};

Json to_json(const Forms& forms) {
  Json out = Json::object();
  for (const Form& form : forms) {
    if (form.is_bytes) out[form.type] = base64(form.data);
    else if (!form.is_json) out[form.type] = form.data;
    else if (std::optional<Json> json = parse_json(form.data)) out[form.type] = std::move(*json);
  }
  return out;
}

// A message with the forms, and what their viewers are told.
Json with_forms(Json message, const Forms& forms, const Metadata& metadata) {
  message["forms"] = to_json(forms);
  for (const auto& [word, text] : metadata)
    if (std::optional<Json> told = parse_json(text)) message["metadata"][word] = std::move(*told);
  return message;
}

// How many of the last bytes begin a character that has no end yet.
size_t unfinished(std::string_view text) {
  for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const unsigned char byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    const size_t wanted = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return wanted > back ? back : 0;
  }
  return 0;
}

}  // namespace

void WorkerFrontend::begin_block(int64_t block) {
  block_ = block;
  was_interrupted_ = false;
  held_[0].clear();
  held_[1].clear();
}

void WorkerFrontend::stream(bool is_error, std::string_view text) {
  std::string whole = std::exchange(held_[is_error ? 1 : 0], {}) + std::string(text);
  const size_t rest = unfinished(whole);
  held_[is_error ? 1 : 0] = whole.substr(whole.size() - rest);
  whole.resize(whole.size() - rest);
  if (whole.empty()) return;
  channel_.write({{"type", "stream"},
                  {"block", block_.load()},
                  {"name", is_error ? "stderr" : "stdout"},
                  {"text", std::move(whole)}});
}

void WorkerFrontend::display(const Forms& forms, const Metadata& metadata, const std::string& id, bool is_update) {
  channel_.write(
      with_forms({{"type", "display"}, {"block", block_.load()}, {"id", id}, {"update", is_update}}, forms, metadata));
}

void WorkerFrontend::result(int number, const Forms& forms, const Metadata& metadata) {
  channel_.write(with_forms({{"type", "result"}, {"block", block_.load()}, {"number", number}}, forms, metadata));
}

void WorkerFrontend::error(const ErrorReport& report) {
  was_interrupted_ = report.name == "KeyboardInterrupt";
  Json places = Json::array();
  for (const ErrorPlace& place : report.places)
    places.push_back({{"file", place.file},
                      {"function", place.function},
                      {"line", place.line},
                      {"column", place.column},
                      {"end_line", place.end_line},
                      {"end_column", place.end_column}});
  channel_.write({{"type", "error"},
                  {"block", block_.load()},
                  {"name", report.name},
                  {"message", report.message},
                  {"text", report.text},
                  {"notes", report.notes},
                  {"places", std::move(places)}});
}

void WorkerFrontend::clear(bool wait) { channel_.write({{"type", "clear"}, {"block", block_.load()}, {"wait", wait}}); }

void WorkerFrontend::page(const std::string& text) {
  channel_.write({{"type", "page"}, {"block", block_.load()}, {"text", text}});
}

void WorkerFrontend::overflow(const std::string& path, uint64_t bytes) {
  channel_.write({{"type", "overflow"}, {"block", block_.load()}, {"path", path}, {"bytes", bytes}});
}

bool WorkerFrontend::offer(const std::string& text) {
  channel_.write({{"type", "offer"}, {"block", block_.load()}, {"text", text}});
  return true;
}

void WorkerFrontend::answer_input(int64_t id, std::optional<std::string> line) {
  const std::lock_guard lock(mutex_);
  if (id != asked_) return;
  is_answered_ = true;
  line_ = std::move(line);
  changed_.notify_all();
}

bool WorkerFrontend::input(const std::string& prompt, bool is_hidden, std::string& line) {
  std::unique_lock lock(mutex_);
  is_answered_ = false;
  const int64_t id = ++asked_;
  channel_.write(
      {{"type", "input_request"}, {"block", block_.load()}, {"id", id}, {"prompt", prompt}, {"hidden", is_hidden}});
  while (!is_answered_) {
    changed_.wait_for(lock, kLook);
    if (is_answered_) break;
    lock.unlock();
    if ((in_->interrupt.load() & lang::kAttention) != 0) {
      in_->interrupt.fetch_and(~lang::kAttention);
      meanwhile_();
    }
    if (in_->is_stopping()) {
      channel_.write({{"type", "input_dropped"}, {"id", id}});
      in_->check_stop();
    }
    lock.lock();
  }
  asked_ += 1;  // an answer that comes twice is for nobody
  if (!line_) return false;
  line = std::move(*line_);
  return true;
}

}  // namespace tessera::repl::page

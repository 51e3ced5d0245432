// What is run, one block after another, and what the worker says of it.
#include <algorithm>
#include <utility>

#include "repl/page/descriptor.h"
#include "repl/page/hub.h"

namespace tessera::repl::page {
namespace {

constexpr size_t kMostQueued = 10'000;
constexpr size_t kMostOrigin = 2048;
constexpr size_t kMostShown = size_t(64) << 10;   // bytes of a block's text that tabs are told
constexpr size_t kMostPrinted = size_t(4) << 20;  // by programs that a block has started
constexpr size_t kMostOutputs = 20;               // files with what was too much to show
constexpr size_t kMostHistory = 1000;
constexpr int kMostFailedStarts = 3;

// In the editor a line of a cell that would divide it stands with a backslash.
std::string code_of(const Json& origin, const std::string& text) {
  return text_or(origin, "where") == "editor" ? code_of_block(text) : text;
}

const char* name_of(int state) {
  static constexpr const char* kNames[] = {"starting", "idle", "running", "waiting", "gone"};
  return kNames[state];
}

// What stands in the log, so that tabs which come later hear it too.
constexpr std::string_view kLogged[] = {"stream", "display", "result", "error", "clear", "page", "overflow"};

std::string cut_at_character(std::string text, size_t size) {
  if (text.size() <= size) return text;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
  text.resize(size);
  return text;
}

}  // namespace

void Hub::start_worker() {
  worker_state_ = Worker::kStarting;
  number_ = 1;
  const std::string problem = worker_.start();
  if (problem.empty()) return;
  worker_state_ = Worker::kGone;
  const Json ended = {{"type", "ended"}, {"reason", "failed"}, {"word", "The worker cannot be started: " + problem}};
  log("ended", ended);
}

Json Hub::state() const {
  Json queue = Json::array();
  for (const Block& block : queue_) queue.push_back({{"id", block.id}, {"origin", block.origin}});
  return {{"type", "state"},
          {"worker", name_of(static_cast<int>(worker_state_))},
          {"block", running_ ? Json(running_->id) : Json()},
          {"queue", queue},
          {"number", number_}};
}

void Hub::log(const std::string& type, const Json& message) {
  log(type, message, std::make_shared<const std::string>(to_text(message)));
}

void Hub::log(const std::string& type, const Json& message, const Message& text) {
  const std::string id = type == "display" ? text_or(message, "id") : "";
  if (id.empty() || !is_true(message, "update") || !log_.update(id, text))
    log_.add({type, integer_or(message, "block", 0), id, text});
  send_all(text);
}

void Hub::add_blocks(Tab& tab, const Json& message) {
  const auto blocks = message.find("blocks");
  if (blocks == message.end() || !blocks->is_array())
    return say_problem(tab, "There are no blocks to run.", "run", message);
  if (queue_.size() + blocks->size() > kMostQueued)
    return say_problem(tab, "More than 10,000 blocks would wait.", "run", message);
  for (const Json& each : *blocks)
    if (!each.is_object() || !each.contains("text") || !each["text"].is_string())
      return say_problem(tab, "A block to run has no text.", "run", message);
  for (const Json& each : *blocks) {
    Block block;
    block.id = ++last_block_;
    block.text = each["text"].get<std::string>();
    block.origin = each.value("origin", Json::object());
    if (!block.origin.is_object() || to_text(block.origin).size() > kMostOrigin) block.origin = Json::object();
    block.origin["document"] = document_id_;
    const int64_t cell = integer_or(block.origin, "cell", -1);
    // A selection is not the cell: its outputs are not what the notebook keeps of it.
    if (text_or(block.origin, "where") == "editor" && cell >= 0 && !is_true(block.origin, "part"))
      block.record = document_.record_of(static_cast<size_t>(cell));
    if (block.text.size() <= kMostShown) history_.add(block.text);
    queue_.push_back(std::move(block));
  }
  if (worker_state_ == Worker::kGone) {
    failed_starts_ = 0;
    start_worker();
  }
  run_next();
  tell_state();
}

void Hub::run_next() {
  if (running_ || queue_.empty() || worker_state_ != Worker::kIdle) return;
  running_ = std::move(queue_.front());
  queue_.pop_front();
  worker_state_ = Worker::kRunning;
  worker_.send(to_text({{"type", "run"},
                        {"block", running_->id},
                        {"text", code_of(running_->origin, running_->text)},
                        {"more", !queue_.empty()}}));
}

// For a block that ends before the worker has said that it begins: every block has both messages.
void Hub::log_start(const Block& block) {
  log("started", {{"type", "started"},
                  {"block", block.id},
                  {"number", nullptr},
                  {"text", cut_at_character(block.text, kMostShown)},
                  {"origin", block.origin}});
}

void Hub::drop_queue() {
  for (const Block& block : std::exchange(queue_, {})) {
    log_start(block);
    log("finished", {{"type", "finished"}, {"block", block.id}, {"outcome", "dropped"}, {"seconds", 0}});
  }
}

void Hub::interrupt() {
  drop_queue();
  if (running_) worker_.send(to_text({{"type", "interrupt"}, {"block", running_->id}}));
  tell_state();
}

void Hub::restart() {
  failed_starts_ = 0;
  if (!worker_.is_running()) {
    start_worker();
    return tell_state();
  }
  restarting_ = true;
  drop_queue();
  worker_state_ = Worker::kStarting;  // what is run from now on is for the new one
  worker_.kill();
  tell_state();
}

void Hub::take_input(Tab& tab, const Json& message) {
  if (!input_ || integer_or(message, "id", -1) != input_->id)
    return say_problem(tab, "Nothing waits for that line: it was answered already, or the block has ended.", "input",
                       message);
  const Input input = *std::exchange(input_, std::nullopt);
  const std::string text = text_or(message, "text");
  Json line = {{"type", "input"}, {"id", input.worker_id}};
  if (is_true(message, "end")) line["end"] = true;
  else line["text"] = text;
  worker_.send(to_text(line));
  worker_state_ = Worker::kRunning;
  Json done = {{"type", "input_done"}, {"id", input.id}, {"block", input.block}, {"text", input.hidden ? "" : text}};
  if (is_true(message, "end")) done["end"] = true;
  log("input_done", done);
  tell_state();
}

// The block has ended or was interrupted: nobody waits for the line any more.
void Hub::close_input() {
  if (!input_) return;
  const Input input = *std::exchange(input_, std::nullopt);
  log("input_done",
      {{"type", "input_done"}, {"id", input.id}, {"block", input.block}, {"text", ""}, {"dropped", true}});
}

void Hub::worker_said(std::string_view line) {
  const std::optional<Json> read = parse_json(line);
  if (!read || !read->is_object()) return;
  const Json& message = *read;
  const std::string type = text_or(message, "type");
  if (std::find(std::begin(kLogged), std::end(kLogged), type) != std::end(kLogged)) {
    if (type == "overflow") return block_overflowed(message);
    const auto text = std::make_shared<const std::string>(line);
    if (running_ && running_->record) running_->record->add(type, text);
    return log(type, message, text);
  }
  if (type == "answer") return answer(message);
  if (type == "tensors") {
    asked_tensors_ = false;
    return send_all(std::make_shared<const std::string>(line));
  }
  if (type == "started") return block_started(message);
  if (type == "finished") return block_finished(message);
  if (type == "input_request") return worker_asked(message);
  if (type == "input_dropped") {
    close_input();
    if (worker_state_ == Worker::kWaiting) worker_state_ = Worker::kRunning;
    return tell_state();
  }
  if (type == "offer") return send_all(std::make_shared<const std::string>(line));
  if (type == "leaving") leaving_ = text_or(message, "word");
  if (type == "ready" && !restarting_) {
    failed_starts_ = 0;
    worker_state_ = Worker::kIdle;
    number_ = static_cast<int>(integer_or(message, "number", 1));
    run_next();
    tell_state();
  }
}

void Hub::worker_asked(Json message) {
  input_ =
      Input{++last_input_, integer_or(message, "id", 0), integer_or(message, "block", 0), is_true(message, "hidden")};
  message["id"] = input_->id;
  worker_state_ = Worker::kWaiting;
  log("input_request", message);
  tell_state();
}

void Hub::block_started(Json message) {
  if (!running_) return;
  running_->has_started = true;
  const Json number = message.value("number", Json());
  if (number.is_number_integer()) number_ = number.get<int>();
  message["text"] = cut_at_character(running_->text, kMostShown);
  if (running_->text.size() > kMostShown) message["cut"] = running_->text.size();
  message["origin"] = running_->origin;
  if (running_->record) running_->record->start(number.is_number_integer() ? number_ : 0, running_->text);
  log("started", message);
  tell_state();
}

void Hub::block_finished(Json message) {
  close_input();
  number_ = static_cast<int>(integer_or(message, "next", number_));
  const std::string outcome = text_or(message, "outcome");
  message.erase("next");
  running_.reset();
  worker_state_ = outcome == "left" || restarting_ ? Worker::kStarting : Worker::kIdle;
  log("finished", message);
  if (outcome != "done") drop_queue();
  run_next();
  tell_state();
}

void Hub::block_overflowed(Json message) {
  const std::string path = text_or(message, "path");
  const size_t slash = path.rfind('/');
  Output output{integer_or(message, "block", 0), integer_or(message, "bytes", 0),
                slash == path.npos ? path : path.substr(slash + 1)};
  message.erase("path");
  message["url"] = "/output/" + output.name;
  outputs_.push_back(std::move(output));
  if (outputs_.size() > kMostOutputs) {
    unlink((setup_.outputs + "/" + outputs_.front().name).c_str());
    outputs_.pop_front();
  }
  if (running_ && running_->record)
    running_->record->add("overflow", std::make_shared<const std::string>(to_text(message)));
  log("overflow", message);
}

std::string Hub::output_path(const std::string& name) const {
  const bool known =
      std::any_of(outputs_.begin(), outputs_.end(), [&](const Output& each) { return each.name == name; });
  return known ? setup_.outputs + "/" + name : "";
}

void Hub::give_rest(Tab& tab, const Json& message) {
  const int64_t block = integer_or(message, "block", 0);
  Json answer = {{"type", "rest"}, {"ask", message.value("ask", Json())}, {"block", block}};
  const auto found =
      std::find_if(outputs_.begin(), outputs_.end(), [&](const Output& each) { return each.block == block; });
  if (found == outputs_.end()) {
    answer["problem"] = "There is no more of that block's output.";
  } else {
    answer["url"] = "/output/" + found->name;
    answer["bytes"] = found->bytes;
  }
  send(tab, answer);
}

void Hub::give_history(Tab& tab, const Json& message) const {
  const std::vector<std::string>& all = history_.blocks();
  Json blocks = Json::array();
  for (size_t i = all.size() - std::min(all.size(), kMostHistory); i < all.size(); ++i) blocks.push_back(all[i]);
  send(tab, {{"type", "history"}, {"ask", message.value("ask", Json())}, {"blocks", std::move(blocks)}});
}

void Hub::worker_printed(bool is_error, std::string_view text) {
  std::string shown(text);
  if (running_) {
    if (running_->printed > kMostPrinted) return;
    running_->printed += text.size();
    if (running_->printed > kMostPrinted)
      shown += "\n... programs that this block has started print more; it is left out\n";
  }
  const Json message = {{"type", "stream"},
                        {"block", running_ ? Json(running_->id) : Json()},
                        {"name", is_error ? "stderr" : "stdout"},
                        {"text", shown}};
  const auto sent = std::make_shared<const std::string>(to_text(message));
  if (running_ && running_->record) running_->record->add("stream", sent);
  log("stream", message, sent);
}

void Hub::worker_ended(const std::string& reason) {
  if (ending_) return;
  close_input();
  const bool was_starting = worker_state_ == Worker::kStarting && leaving_.empty();
  if (running_) {
    if (!running_->has_started) log_start(*running_);
    log("finished", {{"type", "finished"}, {"block", running_->id}, {"outcome", "died"}, {"seconds", nullptr}});
  }
  running_.reset();
  drop_asks("The worker has ended.");
  const bool restarted = std::exchange(restarting_, false);
  if (!restarted) drop_queue();
  const std::string left = std::exchange(leaving_, {});
  log("ended", {{"type", "ended"},
                {"reason", restarted       ? "restart"
                           : !left.empty() ? "left"
                                           : "died"},
                {"word", restarted       ? "restarted"
                         : !left.empty() ? left
                                         : reason}});
  if (was_starting && !restarted && ++failed_starts_ >= kMostFailedStarts) {
    worker_state_ = Worker::kGone;
    log("ended", {{"type", "ended"},
                  {"reason", "failed"},
                  {"word", "The worker ends before it is ready; it is started again with the next run."}});
  } else {
    start_worker();
  }
  tell_state();
}

}  // namespace tessera::repl::page

#include "repl/page/hub.h"

#include <algorithm>
#include <utility>

#include "repl/page/assets.h"
#include "repl/page/examples.h"

namespace tessera::repl::page {
namespace {

constexpr size_t kMostAsks = 256;  // that wait for the worker

// What goes to the worker, and the type of what comes back.
constexpr std::pair<const char*, const char*> kAsks[] = {{"complete", "completion"}, {"call", "call_help"},
                                                         {"help", "help"},           {"state", "block_state"},
                                                         {"tensor", "tensor"},       {"graph", "graph"}};

}  // namespace

Hub::Hub(Loop& loop, Setup setup)
    : loop_(loop),
      setup_(std::move(setup)),
      folder_(setup_.folder),
      worker_(loop, setup_.arguments, folder_.path(),
              {[this](std::string_view line) { worker_said(line); },
               [this](bool is_error, std::string_view text) { worker_printed(is_error, text); },
               [this](const std::string& reason) { worker_ended(reason); }}),
      history_(history_file()),
      drafts_(folder_.path(), setup_.drafts) {}

Hub::~Hub() = default;

void Hub::join(Tab& tab) {
  tabs_.push_back(&tab);
  tab.send(hello());
}

void Hub::leave(Tab& tab) {
  std::erase(tabs_, &tab);
  std::erase_if(asks_, [&](const auto& each) { return each.second.tab == &tab; });
}

void Hub::send(Tab& tab, const Json& message) { tab.send(std::make_shared<const std::string>(to_text(message))); }

void Hub::send_all(const Message& message, const Tab* but) {
  const std::vector<Tab*> tabs = tabs_;  // one that cannot be reached leaves meanwhile
  for (Tab* const tab : tabs)
    if (tab != but && std::find(tabs_.begin(), tabs_.end(), tab) != tabs_.end()) tab->send(message);
}

void Hub::say_problem(Tab& tab, const std::string& text, const std::string& about, const Json& message) {
  Json problem = {{"type", "problem"}, {"text", text}, {"about", about}};
  if (message.is_object() && message.contains("ask")) problem["ask"] = message["ask"];
  send(tab, problem);
}

// What stands in an example's first lines: a title, and a sentence about it.
Json Hub::examples() {
  Json list = Json::array();
  for (const Asset& asset : assets()) {
    if (!asset.name.starts_with(kExamples)) continue;
    const std::string name(asset.name.substr(kExamples.size()));
    const bool is_notebook = name.ends_with(".ipynb");
    const ExampleTitle title = title_of_example(name, text_of(asset));
    list.push_back({{"name", name},
                    {"title", title.title},
                    {"about", title.about},
                    {"group", is_notebook ? "Notebooks" : "Programs"}});
  }
  return list;
}

// The log is a text already.
Message Hub::hello() const {
  const Json head = {{"type", "hello"},        {"version", setup_.version}, {"folder", folder_.path()},
                     {"document", document()}, {"state", state()},          {"examples", examples()},
                     {"draft", draft()}};
  std::string text = to_text(head);
  text.pop_back();
  return std::make_shared<const std::string>(text + ",\"log\":" + log_.to_json() + "}");
}

void Hub::receive(Tab& tab, std::string_view text) {
  std::string problem;
  const std::optional<Json> message = parse_json(text, &problem);
  if (!message || !message->is_object()) {
    say_problem(tab, "That is no message: " + (message ? "no object" : problem), "", Json());
    // It may have been an edit (half a surrogate pair is no JSON here): the tab's text is another one then.
    if (text.find("\"edit\"") != text.npos) refuse(tab);
    return;
  }
  const std::string type = text_or(*message, "type");
  try {
    dispatch(tab, type, *message);
  } catch (const Json::exception& error) {
    say_problem(tab, std::string("That cannot be read: ") + error.what(), type, *message);
  }
}

void Hub::dispatch(Tab& tab, const std::string& type, const Json& message) {
  for (const auto& [ask, answer] : kAsks)
    if (type == ask) return ask_worker(tab, ask, answer, message);
  if (type == "run") return add_blocks(tab, message);
  if (type == "interrupt") return interrupt();
  if (type == "restart") return restart();
  if (type == "input") return take_input(tab, message);
  if (type == "edit") return edit(tab, message);
  if (type == "open") return open(tab, message);
  if (type == "new") return make_new();
  if (type == "save") return save(tab, message);
  if (type == "files") return list_files(tab, message);
  if (type == "draft") return answer_draft(tab, message);
  if (type == "history") return give_history(tab, message);
  if (type == "rest") return give_rest(tab, message);
  if (type == "tensors") {
    if (!std::exchange(asked_tensors_, true)) worker_.send(R"({"type":"tensors"})");
    return;
  }
  if (type == "clear_log") {
    log_.clear();
    return send_all(Json{{"type", "log_cleared"}});
  }
  say_problem(tab, type.empty() ? "The message has no type." : "There is no message “" + type.substr(0, 100) + "”.",
              type.substr(0, 100), message);
}

void Hub::ask_worker(Tab& tab, const std::string& type, const std::string& answer, const Json& message) {
  const Json ask = message.value("ask", Json());
  if (asks_.size() >= kMostAsks || worker_state_ == Worker::kGone) {
    const char* const why = worker_state_ == Worker::kGone ? "There is no worker." : "Too much was asked at once.";
    return send(tab, {{"type", answer}, {"ask", ask}, {"problem", why}});
  }
  Json forwarded = message;
  forwarded["type"] = type;
  forwarded["ask"] = ++last_ask_;
  asks_[last_ask_] = {&tab, ask, answer};
  worker_.send(to_text(forwarded));
}

void Hub::answer(const Json& message) {
  const auto found = asks_.find(integer_or(message, "ask", 0));
  if (found == asks_.end()) return;  // the tab is gone
  Json out = message;
  out["ask"] = found->second.ask;
  out["type"] = found->second.answer;
  Tab& tab = *found->second.tab;
  asks_.erase(found);
  send(tab, out);
}

void Hub::drop_asks(const char* why) {
  for (const auto& [number, ask] : std::exchange(asks_, {}))
    if (std::find(tabs_.begin(), tabs_.end(), ask.tab) != tabs_.end())
      send(*ask.tab, {{"type", ask.answer}, {"ask", ask.ask}, {"problem", why}});
  asked_tensors_ = false;
}

std::string Hub::end() {
  ending_ = true;
  worker_.kill();
  if (document_.is_saved()) {
    drafts_.forget();
    return "";
  }
  keep_draft();
  if (!draft_problem_.empty())
    return "“" + document_.name + "” is not saved, and no draft of it could be kept: " + draft_problem_;
  return "“" + document_.name + "” is not saved. Its text is kept: the next `tsr serve` of this folder offers it.";
}

}  // namespace tessera::repl::page

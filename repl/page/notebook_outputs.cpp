#include "repl/page/notebook_outputs.h"

#include <algorithm>
#include <string>
#include <utility>

namespace tessera::repl::page {
namespace {

bool is_json_type(const std::string& type) { return type == "application/json" || type.ends_with("+json"); }

Json forms_of_data(const Json& data) {
  Json forms = Json::object();
  if (!data.is_object()) return forms;
  for (const auto& [type, value] : data.items()) {
    if (is_json_type(type)) forms[type] = value;
    else if (is_notebook_text(value)) forms[type] = notebook_text(value);
  }
  return forms;
}

Json data_of_forms(const Json& forms) {
  Json data = Json::object();
  for (const auto& [type, value] : forms.items()) {
    const bool is_binary = type.starts_with("image/") && type != "image/svg+xml";
    if (value.is_string() && !is_json_type(type) && !is_binary) data[type] = notebook_lines(value.get<std::string>());
    else data[type] = value;
  }
  return data;
}

// Lines that were written over ("\r") as they were left.
std::string as_left(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    while (!line.empty() && line.back() == '\r') line.pop_back();
    const size_t last = line.rfind('\r');
    out += last == line.npos ? line : line.substr(last + 1);
    if (end < text.size()) out += '\n';
    at = end + 1;
  }
  return out;
}

// The messages one after another, as a reader of them would show them.
class Gathered {
 public:
  void take(const Json& message);
  Json outputs();

 private:
  void add(Json output) {
    if (std::exchange(clear_at_next_, false)) outputs_ = Json::array();
    outputs_.push_back(std::move(output));
  }
  void add_stream(const std::string& name, const std::string& text);
  void add_display(const Json& message, const Json& forms);

  Json outputs_ = Json::array();
  std::vector<std::pair<std::string, size_t>> displays_;  // id, place
  bool clear_at_next_ = false;
};

void Gathered::add_stream(const std::string& name, const std::string& text) {
  if (!clear_at_next_ && !outputs_.empty() && outputs_.back()["output_type"] == "stream" &&
      outputs_.back()["name"] == name) {
    outputs_.back()["text"].get_ref<std::string&>() += text;
    return;
  }
  add({{"output_type", "stream"}, {"name", name}, {"text", text}});
}

void Gathered::add_display(const Json& message, const Json& forms) {
  const std::string id = text_or(message, "id");
  Json output = {{"output_type", "display_data"},
                 {"data", data_of_forms(forms)},
                 {"metadata", message.value("metadata", Json::object())}};
  const auto found =
      std::find_if(displays_.begin(), displays_.end(), [&](const auto& each) { return each.first == id; });
  if (!id.empty() && found != displays_.end() && found->second < outputs_.size()) {
    outputs_[found->second] = std::move(output);
    return;
  }
  add(std::move(output));
  if (!id.empty() && found == displays_.end()) displays_.emplace_back(id, outputs_.size() - 1);
}

void Gathered::take(const Json& message) {
  const std::string type = text_or(message, "type");
  const Json forms = message.value("forms", Json::object());
  if (type == "stream") {
    add_stream(text_or(message, "name") == "stderr" ? "stderr" : "stdout", text_or(message, "text"));
  } else if (type == "display") {
    add_display(message, forms);
  } else if (type == "result") {
    add({{"output_type", "execute_result"},
         {"execution_count", message.value("number", Json())},
         {"data", data_of_forms(forms)},
         {"metadata", message.value("metadata", Json::object())}});
  } else if (type == "error") {
    const std::string text = text_or(message, "text");
    Json lines = Json::array();
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      lines.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    add({{"output_type", "error"},
         {"ename", text_or(message, "name")},
         {"evalue", text_or(message, "message")},
         {"traceback", lines}});
  } else if (type == "clear") {
    if (is_true(message, "wait")) clear_at_next_ = true;
    else outputs_ = Json::array();
    displays_.clear();
  } else if (type == "overflow") {
    add_stream("stderr", "... " + std::to_string(integer_or(message, "bytes", 0)) +
                             " bytes were printed; the rest is not kept\n");
  }
}

Json Gathered::outputs() {
  for (Json& output : outputs_)
    if (output["output_type"] == "stream") output["text"] = notebook_lines(as_left(output["text"].get<std::string>()));
  return std::move(outputs_);
}

}  // namespace

bool is_notebook_text(const Json& value) {
  if (value.is_string()) return true;
  return value.is_array() && std::all_of(value.begin(), value.end(), [](const Json& line) { return line.is_string(); });
}

std::string notebook_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  std::string out;
  if (value.is_array())
    for (const Json& line : value)
      if (line.is_string()) out += line.get_ref<const std::string&>();
  return out;
}

Json notebook_lines(const std::string& text) {
  Json lines = Json::array();
  for (size_t at = 0; at < text.size();) {
    const size_t newline = text.find('\n', at);
    const size_t end = newline == text.npos ? text.size() : newline + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  return lines;
}

Message message_of_output(const Json& output) {
  if (!output.is_object()) return nullptr;
  const std::string type = text_or(output, "output_type");
  Json message = Json::object();
  if (type == "stream") {
    const std::string name = text_or(output, "name", text_or(output, "stream"));
    message = {{"type", "stream"},
               {"name", name == "stderr" ? "stderr" : "stdout"},
               {"text", notebook_text(output.value("text", Json()))}};
  } else if (type == "display_data") {
    message = {{"type", "display"}, {"forms", forms_of_data(output.value("data", Json()))}};
  } else if (type == "execute_result") {
    message = {{"type", "result"},
               {"number", integer_or(output, "execution_count", 0)},
               {"forms", forms_of_data(output.value("data", Json()))}};
  } else if (type == "error") {
    std::string text;
    const Json lines = output.value("traceback", Json::array());
    for (const Json& line : lines)
      if (line.is_string()) text += line.get_ref<const std::string&>() + "\n";
    message = {{"type", "error"}, {"name", text_or(output, "ename")}, {"message", text_or(output, "evalue")},
               {"text", text},    {"notes", Json::array()},           {"places", Json::array()}};
  } else {
    return nullptr;
  }
  const auto metadata = output.find("metadata");
  if (metadata != output.end() && metadata->is_object() && !metadata->empty()) message["metadata"] = *metadata;
  return std::make_shared<const std::string>(to_text(message));
}

Json outputs_of_messages(const std::vector<Message>& messages) {
  Gathered gathered;
  for (const Message& message : messages)
    if (const std::optional<Json> json = parse_json(*message)) gathered.take(*json);
  return gathered.outputs();
}

}  // namespace tessera::repl::page

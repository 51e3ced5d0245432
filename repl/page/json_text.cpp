#include "repl/page/json_text.h"

namespace tessera::repl::page {
namespace {

constexpr int kDeepest = 200;  // writing and copying go down by calls

struct TooDeep {};

}  // namespace

std::optional<Json> parse_json(std::string_view text, std::string* problem) {
  const auto bounded = [](int depth, Json::parse_event_t, Json&) {
    if (depth > kDeepest) throw TooDeep{};
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), bounded);
  } catch (const Json::parse_error& error) {
    if (problem != nullptr) {
      const std::string what = error.what();
      const size_t colon = what.find("syntax error");
      *problem = "at byte " + std::to_string(error.byte) + (colon == what.npos ? "" : ": " + what.substr(colon));
    }
  } catch (const Json::exception& error) {
    if (problem != nullptr) *problem = error.what();
  } catch (const TooDeep&) {
    if (problem != nullptr) *problem = "nested deeper than " + std::to_string(kDeepest);
  }
  return std::nullopt;
}

std::string to_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string text_or(const Json& object, const char* name, const std::string& otherwise) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

int64_t integer_or(const Json& object, const char* name, int64_t otherwise) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number_integer() ? found->get<int64_t>() : otherwise;
}

bool is_true(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

}  // namespace tessera::repl::page

#include "repl/page/json_text.h"

#include "repl/notebook/json_depth.h"

namespace tessera::repl::page {
namespace {

constexpr int kDeepest = 200;  // levels: a value is written and copied by recursion

}  // namespace

std::optional<Json> parse_json(std::string_view text, std::string* problem) {
  // The depth is asked before, and not by a callback of the parser: such a parser goes through all of an array at the end of each object in it.
  if (nests_deeper(text, kDeepest)) {
    if (problem != nullptr) *problem = "nested deeper than " + std::to_string(kDeepest);
    return std::nullopt;
  }
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const Json::parse_error& error) {
    if (problem != nullptr) {
      const std::string what = error.what();
      const size_t colon = what.find("syntax error");
      *problem = "at byte " + std::to_string(error.byte) + (colon == what.npos ? "" : ": " + what.substr(colon));
    }
  } catch (const Json::exception& error) {
    if (problem != nullptr) *problem = error.what();
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

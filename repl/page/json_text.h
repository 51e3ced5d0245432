// JSON from outside, and back.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace tessera::repl::page {

using Json = nlohmann::json;

// Nothing where it is none, or nested deeper than anybody means; `problem` says what is wrong with it, and where.
std::optional<Json> parse_json(std::string_view text, std::string* problem = nullptr);

// Bytes that are no UTF-8 become U+FFFD: scripts print what they like.
std::string to_text(const Json& json, int indent = -1);

// The member where it is there and of that type, else `otherwise`.
std::string text_or(const Json& object, const char* name, const std::string& otherwise = "");
int64_t integer_or(const Json& object, const char* name, int64_t otherwise);
bool is_true(const Json& object, const char* name);

}  // namespace tessera::repl::page

// Where the parts of a JSON text stand, for who changes some of it and leaves the rest as it is written. The text is known to be right.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::repl::page {

struct JsonMember {
  std::string name;
  std::string_view value;  // within the text
};

std::vector<JsonMember> members_of(std::string_view object);
std::vector<std::string_view> elements_of(std::string_view list);

// The object with another value of that member, as a JSON text, or with one more; its other bytes stay. A value of several lines
// is indented as the member is.
std::string with_member(std::string_view object, std::string_view name, std::string value);

// A JSON text of several lines as it stands `indent` deep.
std::string indented(std::string_view json, std::string_view indent);
// The blanks with which the line begins in which `before` ends; `has_lines`: is there an end of a line in it?
std::string indent_of(std::string_view before, bool& has_lines);

}  // namespace tessera::repl::page

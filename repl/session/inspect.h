// What is said about an object: `name?`, `name??`.
#pragma once

#include <string>
#include <string_view>

#include "lang/core/interpreter.h"

namespace tessera::repl {

class Session;

// Type, signature, shape, description, file; with `source` the text of a function or class instead of the description. Of
// "np.*sum*" the names that fit. Ends with a newline.
std::string inspection(Session& session, std::string_view name, bool source);

// The text of a function or class; empty: there is none.
std::string source_of(Session& session, const lang::Value& value);

}  // namespace tessera::repl

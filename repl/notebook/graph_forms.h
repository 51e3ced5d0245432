// The autograd graph in a notebook: data for a page that draws it itself, and a picture for who does not.
#pragma once

#include <string>
#include <string_view>

#include "lang/core/interpreter.h"
#include "repl/session/client.h"

namespace tessera::repl {

// `:graph`: text, picture, data. No `others`: there is no graph behind it.
Display graph_display(lang::Interpreter& in, const lang::Value& value, std::string_view name, const Style& style);

// As a JSON object (repl/page/protocol.md, "A graph"); empty: there is none.
std::string graph_json(lang::Interpreter& in, const lang::Value& value, std::string_view name);

}  // namespace tessera::repl

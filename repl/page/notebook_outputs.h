// A cell's outputs: as a notebook has them, and as messages to a browser (protocol.md).
#pragma once

#include <vector>

#include "repl/page/json_text.h"
#include "repl/page/message.h"

namespace tessera::repl::page {

// What a notebook has as a text: a string, or the lines of one.
bool is_notebook_text(const Json& value);
std::string notebook_text(const Json& value);
Json notebook_lines(const std::string& text);

// Null for what is no output.
Message message_of_output(const Json& output);
Json outputs_of_messages(const std::vector<Message>& messages);

}  // namespace tessera::repl::page

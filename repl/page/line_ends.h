// Texts in which lines end with "\r\n" or "\r": a document's end with "\n".
#pragma once

#include <string>

namespace tessera::repl::page {

// False: it has none.
bool drop_carriage_returns(std::string& text);
std::string with_carriage_returns(const std::string& text);

}  // namespace tessera::repl::page

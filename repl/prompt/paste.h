// What is pasted, as it goes into the block: line ends and tabs as ours, the prompts of other sessions taken off.
#pragma once

#include <string>
#include <string_view>

namespace tessera::repl {

// `alone`: the block is empty, so that indentation which all lines have in common is no one's.
std::string cleaned_paste(std::string_view pasted, bool alone);

}  // namespace tessera::repl

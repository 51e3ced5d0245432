// How the parts of the prompt look, in as many colours as the terminal has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "repl/session/client.h"
#include "repl/session/highlight.h"

namespace tessera::repl {

enum class Look : uint8_t {
  kPlain,
  kKeyword,
  kConstant,
  kBuiltin,
  kDefined,
  kNumber,
  kString,
  kComment,
  kDecorator,
  kCommand,
  kOpenString,
  kBracketPair,  // both brackets, when the cursor is at one
  kPrompt,
  kPromptNumber,
  kOut,
  kOutNumber,
  kFaint,  // the suggestion, control characters, notes
  kMenu,
  kMenuChosen,
  kMenuNote,
  kHelp,
  kHelpActive,  // the argument that is being typed
  kHit,         // what a search found
  kError,
  kPlace,  // where a frame of a traceback is
};

Look look_of(TokenClass what);

// The sequence that turns a look on; empty: nothing to turn on. kReset turns it off.
std::string_view sequence_of(Look look, Style::Colours colours);
inline constexpr std::string_view kReset = "\x1b[0m";

std::string coloured(std::string_view text, Look look, Style::Colours colours);

// A traceback with the class of the exception and the marks below the lines in colours.
std::string coloured_error(std::string_view text, Style::Colours colours);

}  // namespace tessera::repl

// What the environment says of the terminal and of the person's habits.
#pragma once

#include <functional>
#include <string>

#include "repl/prompt/editor.h"
#include "repl/session/client.h"

namespace tessera::repl {

// A variable's value; empty: it is not set, or empty.
using Environment = std::function<std::string(const char*)>;
std::string process_environment(const char* name);

// Colours, pictures and characters that the terminal has. Its size is asked for elsewhere.
Style style_of(const Environment& environment);

// A terminal that moves no cursor (TERM=dumb, or none said): line by line.
bool is_plain_terminal(const Environment& environment);

// $TESSERA_KEYS (vi or emacs), else what ~/.inputrc ($INPUTRC) says for every program that asks it: set editing-mode vi.
KeyStyle key_style_of(const Environment& environment);

// The person's editor on a file: $VISUAL, else $EDITOR, else vi. False: it could not be run, or failed.
bool run_editor(const std::string& path);

}  // namespace tessera::repl

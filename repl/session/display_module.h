// `_display`: how scripts of a session show things to its client. IPython.display (stdlib/IPython) is written on it.
#pragma once

#include "lang/core/interpreter.h"

namespace tessera::repl {

class Client;

// The client must outlive the interpreter's last run.
void add_display_module(lang::Interpreter& in, Client& client);

}  // namespace tessera::repl

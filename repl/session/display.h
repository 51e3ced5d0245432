// The forms in which a value can be shown.
#pragma once

#include "lang/core/interpreter.h"
#include "repl/session/client.h"

namespace tessera::repl {

// Its text by repr(), and what the methods _repr_png_, _repr_svg_ and _repr_html_ of its class answer, which IPython asks as
// well. Throws what __repr__ raises; a form whose method raises is not there.
Display display_of(lang::Interpreter& in, const lang::Value& value);

}  // namespace tessera::repl

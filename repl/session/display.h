// What a value looks like to a client.
#pragma once

#include "lang/core/interpreter.h"
#include "repl/session/client.h"

namespace tessera::repl {

// Its text by repr(), and what the methods of its class answer that IPython asks as well: _repr_png_, _repr_svg_, _repr_html_,
// _repr_markdown_, _repr_latex_, _repr_jpeg_, _repr_json_, _repr_mimebundle_. Throws what __repr__ raises; a form whose
// method raises is not there.
Display display_of(lang::Interpreter& in, const lang::Value& value);

// A dict of texts and bytes by MIME type; what is no JSON text for a JSON type is written as such.
void add_form_bundle(lang::Interpreter& in, const lang::Value& bundle, Display& display);

}  // namespace tessera::repl

// What a value looks like to a client.
#pragma once

#include <optional>

#include "lang/core/interpreter.h"
#include "repl/session/client.h"

namespace tessera::repl {

// Its text by repr(), and what the methods of its class answer that IPython asks as well: _repr_png_, _repr_svg_, _repr_html_,
// _repr_markdown_, _repr_latex_, _repr_jpeg_, _repr_json_, _repr_javascript_, _repr_pdf_, and before these _repr_mimebundle_. Nothing: it
// has an _ipython_display_, which showed it in its own way. Throws what __repr__ raises; a form that raises is not there, and `problems`
// says so.
std::optional<Display> display_of(lang::Interpreter& in, const lang::Value& value);

// A dict of texts and bytes by MIME type, or with metadata behind it; what is no JSON text for a JSON type is written as such, and a
// text for a picture is taken as base64. What is none of these, or no JSON, is not there, and `problems` says so.
void add_form_bundle(lang::Interpreter& in, const lang::Value& bundle, Display& display);

// A dict by MIME type or any other word; who has something else says nothing.
void add_metadata(lang::Interpreter& in, const lang::Value& metadata, Display& display);

// Leaves the forms whose types are in `include`, where that is not None or empty, and not in `exclude`; false: none are left.
bool keep_forms(lang::Interpreter& in, const lang::Value& include, const lang::Value& exclude, Display& display);

}  // namespace tessera::repl

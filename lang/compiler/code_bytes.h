// A code object as bytes, and back: the body of a file of compiled code (lang/objects/code_cache.h).
//
// The bytes are those of one build: names by their text, all else as chunk.h lays it out. They are trusted: the reader keeps within them,
// whatever they are, but the virtual machine believes the words that it gets. Whoever reads them from a file checks first where it is from.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "lang/core/value.h"
#include "lang/syntax/source.h"

namespace tessera::lang {

class Interpreter;
struct Code;

// Of code that has not run yet. Empty if a constant, or the depth of functions in functions, has no form.
std::string code_to_bytes(Interpreter& in, const Code& code);

// The code object, or Undefined if the bytes end early or hold what they cannot. `source`: the text that it was compiled from.
Value code_from_bytes(Interpreter& in, std::string_view bytes, std::shared_ptr<const Source> source);

}  // namespace tessera::lang

// What the front end makes of a text, for people: `tsr --dump FILE`.
#pragma once

#include <memory>
#include <string>

namespace tessera::lang {

class Interpreter;
class Source;

// Three parts: the layout (lines with their indentation and tokens), the tree, the bytecode beside its source lines.
// A mistake in the text is thrown as the language's SyntaxError.
std::string dump(Interpreter& in, std::shared_ptr<const Source> source);

}  // namespace tessera::lang

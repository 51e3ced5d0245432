// Files of compiled code: `__tsrcache__/NAME.tsrc` beside the file NAME.py, as __pycache__ is CPython's.
//
// A file is found by the name of its source and believed if it was made from the same text, by a program with the same compiler. Neither
// times nor versions count: its head has the checksum of the text, of its own bytes and of the compiler's sources. The virtual machine
// believes compiled code, so a file counts only if it and its folder belong to the user or to root and nobody else may write to them.
// Any trouble (no right to write, a full disk, a damaged file) means that the text is compiled as ever.
#pragma once

#include <memory>

#include "lang/compiler/compile.h"

namespace tessera::lang {

// The code of an imported file's text. Where the host keeps compiled code (Host::keeps_code), from its file, which is written if there is none.
Value code_of_file(Interpreter& in, std::shared_ptr<const Source> source, const CompileOptions& options);

}  // namespace tessera::lang

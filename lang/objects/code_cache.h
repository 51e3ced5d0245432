// Files of compiled code: `__tsrcache__/NAME.tsrc` beside the file NAME.py, as __pycache__ is CPython's; those of embedded modules in a folder of
// the user's (Host::code_folder), where each build of the program has a folder of its own.
//
// A file is found by the name of its source and believed if it was made from the same text, by a program with the same compiler. Neither
// times nor versions count: its head has the checksum of the text, of its own bytes and of the compiler's sources. The virtual machine
// does not verify compiled code, so a file is read only if it and its folder belong to the user or to root and are writable for no other user.
// Any trouble (no right to write, a full disk, a damaged file) means that the text is compiled as ever.
#pragma once

#include <memory>

#include "lang/compiler/compile.h"
#include "lang/core/host.h"

namespace tessera::lang {

// Returns the code of an imported file, or of an embedded module if `embedded` is not null. A host that keeps compiled code (Host::keeps_code)
// gets it from the cache file, which this function writes if it is missing; the text of an embedded module is not unpacked then.
Value code_of_file(Interpreter& in, std::shared_ptr<const Source> source, const CompileOptions& options,
                   const EmbeddedFile* embedded = nullptr);

}  // namespace tessera::lang

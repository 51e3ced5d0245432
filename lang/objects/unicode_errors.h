// UnicodeEncodeError, UnicodeDecodeError and UnicodeTranslateError: their arguments and their texts.
#pragma once

#include <string>

#include "lang/objects/exception.h"

namespace tessera::lang {

// Is it an instance of one of the three?
bool is_unicode_fault(Interpreter& in, const Value& exception);
// Sets the fields encoding (not of translate errors), object, start, end, reason from args. TypeError for other arguments. The class's
// __init__ does it: an instance that natives make from a message alone has no fields.
void fill_unicode_fault(Interpreter& in, Exception* e);
// "'ascii' codec can't encode character '\xe9' in position 3: ordinal not in range(128)"
std::string unicode_fault_text(Interpreter& in, const Exception* e);

}  // namespace tessera::lang

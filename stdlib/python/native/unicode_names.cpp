// _unicode_names: characters by name and names by character, for `unicodedata` (unicodedata.tsr).
#include "lang/syntax/character_names.h"
#include "lang/syntax/lexer_faults.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

// '' if the character has no name.
Value name(Interpreter& in, const Args& args) {
  return make_str(in, name_of_character(static_cast<char32_t>(int_argument(in, args[0]))));
}

// '' if there is no such name.
Value lookup(Interpreter& in, const Args& args) {
  const std::string_view wanted = text_argument(in, args[0], "lookup() argument");
  std::string found;
  if (const auto code = character_named(wanted)) append_utf8(found, *code);
  else found = sequence_named(wanted);
  return make_str(in, found);
}

}  // namespace

void fill_unicode_names(Interpreter& in, Module& module) {
  in.def(module, "name(code, /)", "The name of a character by its code point.", name);
  in.def(module, "lookup(name, /)", "The characters of a name.", lookup);
}

}  // namespace tessera::stdlib

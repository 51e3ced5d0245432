// What an expression is, as far as it can be said while a person types: names, attributes, items by constant keys, and the
// type of what a call of a class or of an op answers. Looks into objects; of the person's own nothing runs, neither a
// property nor a hook. Functions of the library and getters of native types may.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/assist/pieces.h"
#include "lang/core/interpreter.h"
#include "lang/core/value.h"

namespace tessera::lang {

struct Assist;

struct Known {
  Value value;           // Undefined: only its type is known, or nothing
  Type* type = nullptr;  // of the value, or of what it will be
  bool bound = false;    // found through an instance: its first parameter is given already

  bool is_known() const { return !value.is_undefined() || type != nullptr; }
};

Known known_of(Interpreter& in, Value value);
Known known_name(Interpreter& in, std::string_view name, const Assist& assist);
Known known_attribute(Interpreter& in, const Known& object, std::string_view name, const Assist& assist);
Known known_item(Interpreter& in, const Known& object, std::string_view key, const Assist& assist);  // key as written: 0, -1, 'a'
Known known_answer(Interpreter& in, const Known& callee, const Assist& assist);

// The primary expression that ends with piece `last`; unknown where it is none of the above. `begin`: its first piece.
Known known_primary(Interpreter& in, std::string_view text, const std::vector<Piece>& pieces, size_t last,
                    size_t& begin, const Assist& assist);

struct KnownName {
  std::string name;
  std::string kind;  // "method", "class" ...; empty: not known without making it
};
// What may stand behind its dot, in order, each once.
std::vector<KnownName> known_names(Interpreter& in, const Known& object, const Assist& assist);
// "function", "class", "module", "property", "name", or a kind of the library
std::string kind_of(Interpreter& in, const Value& value, const Assist& assist);

// Texts that are keys of it.
std::vector<std::string> known_keys(Interpreter& in, const Known& object, const Assist& assist);

// The text of a string literal without prefix and quotes, plain escapes undone.
std::string unquoted(std::string_view literal);
// Is the function the library's own?
bool is_of_library(const Value& function);

}  // namespace tessera::lang

// What may stand where a person is typing. Of the person's own nothing runs for it (known.h).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "lang/assist/call_form.h"

namespace tessera::lang {

// What the layers above know; each may be null.
struct Assist {
  // The schemas of an op's function object: "add(Tensor self, Tensor other) -> Tensor", best first.
  std::vector<std::string> (*schemas)(Interpreter& in, const Value& function) = nullptr;
  // The same of a name of a module that nothing has been made for yet: "torch", "add". None where it is no op.
  std::vector<std::string> (*schemas_of_name)(std::string_view module, std::string_view name) = nullptr;
  // The type of what a call of the function returns; null if it is not known.
  Type* (*type_of_answer)(Interpreter& in, const Value& function) = nullptr;
  // The type of an attribute that must not be read, as its getter may warn; null for all others.
  Type* (*type_of_attribute)(Interpreter& in, const Type* type, std::string_view name) = nullptr;
  // The kind of an object of the library ("tensor"), or null; and a note on it, "float32[2, 3] on cpu", or an empty text.
  const char* (*kind)(Interpreter& in, const Value& object) = nullptr;
  std::string (*note)(Interpreter& in, const Value& object) = nullptr;
  // Dicts in the object whose keys are attributes too, and the one of them that holds its items, also by number ("0"), or null.
  std::vector<Dict*> (*attribute_dicts)(Interpreter& in, const Value& object) = nullptr;
  Dict* (*items)(Interpreter& in, const Value& object) = nullptr;
  // The keys of the dict that a method of the object will return: `model.state_dict()['`.
  std::vector<std::string> (*keys_of_answer)(Interpreter& in, const Value& object, std::string_view method) = nullptr;
  // Modules that can be imported and are no files.
  std::vector<std::string> (*modules)(Interpreter& in) = nullptr;
  // Names that are there without having been made: Undefined where it is none of them; and which.
  Value (*late_name)(Interpreter& in, std::string_view name) = nullptr;
  std::vector<std::string> (*late_names)(Interpreter& in) = nullptr;
};

struct Choice {
  std::string text;  // what would stand between begin and end
  std::string kind;  // "function", "class", "module", "name", "keyword", "argument", "key", or a kind of the library
  std::string note;  // a signature, a shape; may be empty
};

struct Choices {
  size_t begin = 0, end = 0;
  std::vector<Choice> found;
  // The cursor stands in a string: what it has up to there. A file, perhaps.
  bool in_string = false;
  std::string string;
};

// As a script may see them; none where it may not.
std::vector<std::string> names_in_folder(Interpreter& in, const std::string& folder);

Choices choices_at(Interpreter& in, std::string_view text, size_t cursor, const Assist& assist);

// The call around the cursor: all of its forms, and which parameter of each is being typed (-1: none).
struct CallAt {
  std::vector<CallForm> forms;
  std::vector<int> active;
};
CallAt call_around(Interpreter& in, std::string_view text, size_t cursor, const Assist& assist);

}  // namespace tessera::lang

#include "lang/objects/own_type.h"

#include <string>

#include "lang/core/error.h"
#include "lang/core/interpreter.h"
#include "lang/core/object_cast.h"
#include "lang/objects/class.h"
#include "lang/types/str.h"

namespace tessera::lang {

Type* own_type(const Value& found, const char* layout, const char* name) {
  if (found.is_object() && is_type(found) && as_type(found)->slots.layout == layout) [[likely]]
    return as_type(found);
  throw_error(ErrorKind::TypeError, "%s is not the type that objects are made of here: it was replaced", name);
}

void throw_other_structure(const Value& value) {
  const std::string name(value.is_object() ? value.as_object()->type->name->view() : value.is_int() ? "int" : "None");
  throw_error(ErrorKind::TypeError, "this function does not work on '%s' objects: a name that it looks up was replaced",
              name.c_str());
}

}  // namespace tessera::lang

#include "lang/objects/own_type.h"

#include "lang/core/error.h"
#include "lang/core/interpreter.h"
#include "lang/objects/class.h"
#include "lang/types/str.h"

namespace tessera::lang {

Type* own_type(const Value& found, const char* layout, const char* name) {
  if (found.is_object() && is_type(found) && as_type(found)->slots.layout == layout) [[likely]]
    return as_type(found);
  throw_error(ErrorKind::TypeError, "%s is not the type that objects are made of here: it was replaced", name);
}

}  // namespace tessera::lang

#include "lang/objects/heap_type.h"

#include <algorithm>
#include <string_view>

#include "lang/core/type.h"
#include "lang/types/str.h"

namespace tessera::lang {

namespace {

// The modules of CPython 3.11 whose types are static.
constexpr std::string_view kStaticModules[] = {"builtins", "_io",          "itertools", "datetime", "decimal", "types",  "collections", "_collections",
                                               "pickle",   "_contextvars", "weakref",   "_ctypes",  "ctypes",  "_asyncio"};

}  // namespace

bool is_heap_type(const Type* type) {
  const bool of_script = (type->type_flags & (kScriptClass | kSpeaksAsC)) == kScriptClass;
  if (of_script || type->module == nullptr) return of_script;
  return std::find(std::begin(kStaticModules), std::end(kStaticModules), type->module->view()) == std::end(kStaticModules);
}

}  // namespace tessera::lang

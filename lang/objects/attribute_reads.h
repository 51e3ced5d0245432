// Reading attributes for the loop: the answers of sites, and AttributeErrors as objects. Programs that ask for forgiveness miss
// attributes often, and a C++ exception costs several times as much as the rest of such a read.
#pragma once

#include <initializer_list>
#include <string_view>

#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;
struct AttributeSite;
struct InlineCache;
struct Object;
struct Str;

// The value that the site remembers of this object, or null. Slots, methods and getters are left to the caller.
const Value* value_at_site(Object* object, const Str* name, const AttributeSite& site);
// The function of a script's class method that the sites remember for this object, an instance or a class, or null.
const Value* class_method_at_site(Object* object, const InlineCache& cache);
// As get_attr with a site, but if nothing has the attribute, returns Undefined and sets `error`, also if a __getattr__ says so. Other
// errors of getters and hooks are thrown.
Value get_attr_or_error(Interpreter& in, const Value& object, Str* name, AttributeSite& site, Value& error);
Value get_attr_or_error(Interpreter& in, const Value& object, Str* name, Value& error);
// The same for get_method, with `bound` as there.
Value get_method_or_error(Interpreter& in, const Value& object, Str* name, AttributeSite& site, bool& bound, Value& error);
// The exception of throw_attribute_error, without its context.
Value make_attribute_error(Interpreter& in, const Value& object, Str* name, std::initializer_list<std::string_view> words);

}  // namespace tessera::lang

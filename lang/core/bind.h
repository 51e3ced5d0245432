// Signature strings and the arguments of native functions: parsing, binding, checks, CPython's TypeErrors.
#pragma once

#include <string>
#include <string_view>

#include "lang/core/native.h"
#include "lang/core/type.h"
#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;

// "scale(x: Tensor, k: float = 2.0, *, out=None) -> Tensor". std::invalid_argument for a malformed text: that is a
// mistake of the C++ programmer, not of a script.
Signature parse_signature(Interpreter& in, std::string_view text);
// The signature of a function, read now if nothing has asked for it yet; null: it takes its arguments raw.
const Signature* signature_of(Interpreter& in, const NativeFunction* function);
std::string doc_of(const NativeFunction* function);

// Calls a native function with arguments as a script wrote them (`self` in front for methods).
Value call_native(Interpreter& in, const NativeFunction* function, const Args& args);
// The same for positional arguments that may be moved from; may answer a failure (failure.h).
Value call_native_moving(Interpreter& in, const NativeFunction* function, Value* values, uint32_t count);

// Whether the first argument of a method may be cast to the type that owns it, without the check that words the error.
inline bool is_own_method(const NativeFunction* method, const Value* values, uint32_t count) noexcept {
  if (count == 0 || method->takes_class || !values[0].is_object()) return false;
  const Type* const type = values[0].as_object()->type;
  return type == method->owner || type->is_subtype_of(method->owner);
}

// Whether the parameter takes the value without a check that can fail or a conversion.
inline bool needs_no_conversion(const Parameter& p, const Value& value) noexcept {
  switch (p.check) {
    case Parameter::Check::None: return true;
    case Parameter::Check::Int: return value.is_int();
    case Parameter::Check::Float: return value.is_float();
    case Parameter::Check::Bool: return value.is_bool();
    case Parameter::Check::Str: return value.is_object() && value.as_object()->kind == ObjectKind::Str;
    default: return false;
  }
}

// Binds the arguments of a call to the parameters: `slots` has room for signature.parameters.size() values.
void bind_arguments(Interpreter& in, const Signature& signature, const Args& args, Value* slots);

// Makes the function a method of `owner`, bound when it is found in an instance's class: a wrapper_descriptor if its name is one
// of the special methods that stand for slots, else a method_descriptor.
void own_method(Interpreter& in, NativeFunction* function, Type* owner);

// Returns true if the native method `name` of the type `owner` implements a type slot. CPython shows such a method as a wrapper_descriptor
// and every other native method as a method_descriptor, and the two kinds refuse a wrong `self` with different messages.
bool stands_for_slot(std::string_view name, const Type* owner);

// For functions without a signature that take no keywords: "f() takes no keyword arguments" when there are some.
void refuse_keywords(const char* function, const Args& args);
// The same for the maker of a type: a subclass whose __init__ is a script's takes what it wants.
void refuse_keywords(Interpreter& in, const Type* type, const Type* base, const char* function, const Args& args);
// "f expected at least 1 argument, got 0" as CPython's builtins without a signature say it.
void check_count(const char* function, const Args& args, uint32_t least, uint32_t most);

}  // namespace tessera::lang

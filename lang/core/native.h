// How C++ gives functions, methods, types and modules to scripts: a signature string and a function.
//
//   module.def("scale(x: Tensor, k: float = 2.0, *, out=None) -> Tensor", "Multiply by k.", &scale);
//
// The signature gives names, kinds (`/`, `*`, `*args`, `**kwargs`), defaults and checks; keywords, error messages for
// wrong calls, help() and completion all follow from it (bind.cpp). A parameter's annotation is a check, and for some
// types a conversion: `int` (accepts bool, and objects with __index__), `float` (accepts int and bool, and objects
// with __float__; arrives as a float), `str`, `bool` (anything; arrives as its truth), `list`, `dict`, `tuple`,
// `callable`, any other name: an instance of the type registered under that name. No annotation: no check.
// `T | None` or a default of None lets None through.
//
// The function receives one Value per parameter, in the signature's order: the argument, or the default, or Undefined
// where the default is written `...`; `*args` arrives as one tuple, `**kwargs` as one dict. A call with as many positional
// arguments as parameters, and no checks to make, costs nothing over the bare call.
//
// A method never sees a `self` that is no instance of its type, nor a `cls` that is no class below it, however it was
// reached: call_native checks it, also for rows that are a bare name and take their arguments raw. So `args[0]` of a
// method may be cast without asking.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lang/core/error.h"
#include "lang/core/failure.h"
#include "lang/core/value.h"

namespace tessera::lang {

struct Str;
struct Tuple;
struct Module;
struct Type;
struct NativeFunction;

// The arguments of a call. As a script makes the call: `count` values, of which the last `keyword_names->size` belong
// to keywords (null: none). As a bound native function receives it: one value per parameter, no keywords.
struct Args {
  const Value* values = nullptr;
  uint32_t count = 0;
  const Tuple* keyword_names = nullptr;
  const NativeFunction* callee = nullptr;

  const Value& operator[](uint32_t i) const { return values[i]; }
  uint32_t positional() const;  // count without the keywords'
};

struct Parameter {
  enum class Kind : uint8_t { PositionalOnly, Positional, VarPositional, KeywordOnly, VarKeyword };
  enum class Check : uint8_t { None, Int, Float, Str, Bool, List, Dict, Tuple, Callable, Named };
  Str* name;  // interned
  Kind kind;
  Check check;
  bool optional;  // has a default
  bool allows_none;
  Value default_value;    // Undefined for `...`
  std::string type_name;  // as written, for messages and help; Check::Named looks it up
};

struct Signature {
  std::string text;  // as given
  std::string function_name;
  std::vector<Parameter> parameters;
  std::string result;
  uint32_t positional_count = 0;  // parameters that positional arguments can fill
  bool plain = false;  // only positional parameters without checks: arguments are passed as they are when all are given
  uint32_t plain_count = UINT32_MAX;  // of a plain one: how many parameters there are
  uint32_t plain_least = UINT32_MAX;  // required ones, if positional arguments can fill them all and there is no *args or **kwargs
};

// The short way of a native function, for its everyday arguments: exactly `count` of them, by position. It answers false where they
// are anything else, having changed nothing, and then the function itself is called. An error that it throws costs what a C++ exception
// does; it may take an argument's value, which is dropped afterwards. It writes `answer` last and once: that may be the register of its
// first argument, or of the function. The self of a method is of its type, as for the function.
struct ShortWay {
  using Fn = bool (*)(Interpreter&, Value* arguments, Value& answer);
  Fn function = nullptr;
  uint8_t count = 0;
};

struct NativeFunction : Object {
  static constexpr ObjectKind kKind = ObjectKind::NativeFunction;
  NativeFn function;
  // What the arguments are bound by, owned by the interpreter. It is read from `text` when it is first asked for
  // (signature_of in bind.h), for a program calls few of its functions. Both null: takes the raw arguments, keywords and all.
  mutable const Signature* signature;
  const char* text;  // "scale(x, k=2)", or only "(x, k=2)" where the function has its name from elsewhere
  Str* name;
  Str* module;       // null for builtins
  Type* owner;       // the type whose method it is, or null
  static constexpr uint32_t kNoShortWay = UINT32_MAX;
  ShortWay::Fn short_way = nullptr;
  uint32_t short_count = kNoShortWay;  // of its arguments; kNoShortWay also in class methods
  bool takes_class;  // of the owner's methods: __new__ and class methods, whose first argument is a class
  const char* doc;
  std::string (*describe)(const NativeFunction* self) = nullptr;  // makes the doc of those that have no text for it
  void* data = nullptr;                                           // what it was made with
  void (*drop)(void*) = nullptr;                                  // frees data, where the function owns it

  // A method descriptor: found in a class, it is bound to the instance. `__new__` and class methods have an owner too, but are
  // bound by nothing and by the descriptor around them.
  bool is_method() const noexcept { return owner != nullptr && !takes_class; }

  NativeFunction() = default;
  NativeFunction(const NativeFunction&) = delete;
  ~NativeFunction() {
    if (drop != nullptr) drop(data);
  }
};

// One row of a table of methods or functions.
struct NativeDef {
  const char* signature;  // methods name self first: "append(self, object, /)"
  NativeFn function;
  const char* doc = "";
  ShortWay short_way = {};
};

// Makes native types. `base` null: object.
struct NativeTypeSpec {
  std::string_view name;    // "deque"
  std::string_view module;  // "collections"
  ObjectKind kind = ObjectKind::Native;
  uint32_t size = sizeof(Object);
  uint32_t flags = 0;  // TypeFlags
  Type* base = nullptr;
  std::string_view doc = "";
};

}  // namespace tessera::lang

// What the interpreter's constructor calls to make the built-in types, in this order, and what they share.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lang/core/interpreter.h"
#include "lang/core/make_object.h"
#include "lang/types/str.h"
#include "lang/core/value.h"

namespace tessera::lang {

struct Tuple;
struct Module;

// Fills slots of str, tuple, dict, list, so that names, tables and tuples can be made; no methods yet. The Type objects
// in.types.{str,tuple,dict,list} exist already (make_core_types). Also makes in.names and in.shared.
void make_first_types(Interpreter& in);
// All other value types, then every method of every value type (needs bind.h, so needs all of the core types).
void make_value_types(Interpreter& in);
// The last thing of all: the interpreter is going away. Interned strings die with the heap.
void drop_shared_objects(Interpreter& in) noexcept;
// print, len, … into the dict of the module `builtins`.
void add_builtins(Interpreter& in, Module& builtins);

struct TextHash {
  size_t operator()(std::string_view text) const noexcept { return static_cast<size_t>(hash_text(text)); }
};

// Objects that exist once per interpreter.
struct SharedObjects {
  std::unordered_map<std::string_view, Str*, TextHash> interned;  // each with a count of its own
  Value empty_str, empty_tuple, empty_frozenset;
  Value chars[128];
  Type* alias_type = nullptr;          // of list[int]
  Type* union_type = nullptr;          // of int | None
  struct BytesTypes* bytes = nullptr;  // made when first asked for (bytes.h)
  std::deque<Signature> signatures;    // of native functions
  std::vector<Object*> in_repr;        // containers whose repr is being made, for [...]
  uint32_t native_depth = 0;           // of recursion through C++ (RecursionGuard)
};

// Keeps C++ recursion over nested data (repr, ==, hash, sort …) from running out of stack: RecursionError instead.
class RecursionGuard {
 public:
  RecursionGuard(Interpreter& in, const char* where);  // " while getting the repr of an object", " in comparison"
  ~RecursionGuard();
  RecursionGuard(const RecursionGuard&) = delete;
  RecursionGuard& operator=(const RecursionGuard&) = delete;

 private:
  Interpreter& in_;
};

}  // namespace tessera::lang

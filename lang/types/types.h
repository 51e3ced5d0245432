// What the interpreter's constructor calls to make the built-in types, in this order, and what they share.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <memory>
#include <string>
#include <string_view>
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

// The interned strings by text, each with a count of its own: places that are probed one after the other, at most two thirds
// of them taken. Nothing is ever taken out.
class InternTable {
 public:
  InternTable() : InternTable(kLeast) {}
  Str* find(std::string_view text, int64_t hash) const noexcept {
    for (size_t i = static_cast<size_t>(hash) & mask_;; i = (i + 1) & mask_) {
      Str* const s = places_[i];
      if (s == nullptr || (s->hash == hash && s->view() == text)) return s;
    }
  }
  void make_room();  // for one more; may throw
  void insert(Str* s) noexcept {
    size_t i = static_cast<size_t>(s->hash) & mask_;
    while (places_[i] != nullptr) i = (i + 1) & mask_;
    places_[i] = s;
    ++count_;
  }
  size_t count() const noexcept { return count_; }
  template <class F>
  void for_each(F&& f) const {
    for (size_t i = 0; i <= mask_; ++i)
      if (places_[i] != nullptr) f(places_[i]);
  }

 private:
  static constexpr size_t kLeast = 1024;
  explicit InternTable(size_t places) : mask_(places - 1), places_(new Str*[places]()) {}

  size_t mask_;  // a power of two, less one
  size_t count_ = 0;
  std::unique_ptr<Str*[]> places_;
};

// Objects that exist once per interpreter.
struct SharedObjects {
  InternTable interned;
  Value empty_str, empty_tuple, empty_frozenset;
  Value chars[128];
  Type* alias_type = nullptr;          // of list[int]
  Type* union_type = nullptr;          // of int | None
  Type* mapping_proxy_type = nullptr;  // of cls.__dict__
  Type* str_ascii_iterator = nullptr;  // of texts of ASCII alone
  Type* dict_reverse_iterators[3]{};   // of keys, values and items
  // Of the language's coroutines: sys.set_asyncgen_hooks and sys.set_coroutine_origin_tracking_depth.
  Value async_generator_first, async_generator_finalizer;
  uint32_t origin_depth = 0;
  Value context;                  // of contextvars: the current one, or Undefined
  void* context_types = nullptr;  // of the module _contextvars
  double socket_timeout = -1;     // of new sockets, in seconds; negative: none
  struct BytesTypes* bytes = nullptr;  // made when first asked for (bytes.h)
  std::deque<Signature> signatures;    // of native functions
  // Getters, setters and deleters of the descriptors `__dict__` and `__weakref__`, shared by all script classes; made when first needed.
  Value get_dict, set_dict, delete_dict, get_weakref;
  std::unordered_map<const Object*, Value> dicts_aside;  // Note [Dicts aside] in attribute.h
  std::vector<Object*> in_repr;        // containers whose repr is being made, for [...]
  uint32_t native_depth = 0;           // of recursion through C++ (RecursionGuard)
  Value stop_value;                    // Note [Stop values] in iterators.h
  bool stop_is_raised = false, stop_is_wanted = false;
  const Object* stopped = nullptr;     // the iterator that it belongs to; compared, never followed
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

// Dicts: entries in the order of insertion, and an index table of small integers that finds them by hash.
//
// The index has a power of two of slots, 8, 16 or 32 bits wide, each empty (-1), deleted (-2) or the number of an entry.
// A deleted entry keeps its place with an Undefined key until the next resize, so an entry's number stays valid as long
// as its key is the one expected: that is what caches of globals remember (`dict_entry_is`).
//
// Note [Dict changes]: comparing keys can run script code that changes the dict. Look-ups of keys other than str and
// int therefore check `layout_version` after each comparison and begin again when it has changed.
#pragma once

#include <cstdint>
#include <string_view>

#include "lang/core/make_object.h"
#include "lang/core/object.h"
#include "lang/core/object_cast.h"
#include "lang/types/str.h"
#include "lang/core/value.h"

namespace tessera::lang {

struct DictEntry {
  Value key;  // Undefined: deleted
  Value value;
  int64_t hash;
};

struct Dict : GcObject {
  static constexpr ObjectKind kKind = ObjectKind::Dict;
  DictEntry* entries = nullptr;
  void* index = nullptr;        // behind the entries, same allocation
  uint32_t count = 0;           // live entries: len()
  uint32_t used = 0;            // entries in use, with deleted ones
  uint32_t capacity = 0;        // of entries
  uint32_t slots = 0;           // of the index; 0 or a power of two
  uint32_t keys_version = 1;    // changes when a key is added or removed, and when entries move
  uint32_t layout_version = 1;  // changes when entries move or go
};

inline bool is_dict(const Value& v) noexcept { return v.is_object() && v.as_object()->kind == ObjectKind::Dict; }
inline Dict* as_dict(const Value& v) noexcept { return known_cast<Dict>(v); }

Value make_dict(Interpreter& in);
Dict* new_dict(Interpreter& in);  // the same, with the reference that it is born with
void dict_reserve(Interpreter& in, Dict* dict, size_t count);

constexpr int32_t kNoEntry = -1;

// By any key. Null: not there. The pointers live until the dict changes. Unhashable keys raise TypeError.
int32_t dict_find(Interpreter& in, Dict* dict, const Value& key, int64_t hash);
const Value* dict_get(Interpreter& in, Dict* dict, const Value& key);
// The same of a str or an int, without running a script. Returns false if only a script can tell.
bool dict_get_surely(Interpreter& in, const Dict* dict, const Value& key, const Value*& found) noexcept;
void dict_set(Interpreter& in, Dict* dict, const Value& key, Value value);
void dict_set(Interpreter& in, Dict* dict, const Value& key, int64_t hash, Value value);
bool dict_delete(Interpreter& in, Dict* dict, const Value& key);
Value dict_pop(Interpreter& in, Dict* dict, const Value& key);  // Undefined: was not there
// The value of the key, after putting `value` there if it was missing.
Value dict_set_default(Interpreter& in, Dict* dict, const Value& key, Value value);
void dict_clear(Interpreter& in, Dict* dict);
// From now on functions may have the dict as their globals or builtins.
void dict_enroll(Interpreter& in, Dict* dict) noexcept;
Value dict_copy(Interpreter& in, Dict* dict);
// dict.update: a mapping (has keys()) or an iterable of pairs.
void dict_update(Interpreter& in, Dict* dict, const Value& other);
// From another dict. `override` false: keys that are there stay.
void dict_merge(Interpreter& in, Dict* dict, Dict* other, bool override_values = true);

// By a string: nothing here runs script code.
int32_t dict_find_str(const Dict* dict, const Str* key, int64_t hash) noexcept;
inline int32_t dict_find_str(const Dict* dict, Str* key) noexcept { return dict_find_str(dict, key, str_hash(key)); }
int32_t dict_find_same(const Dict* dict, const Value& key, int64_t hash) noexcept;  // by identity: an equal key may be there all the same
int32_t dict_find_int(const Dict* dict, int64_t key) noexcept;  // may also miss keys 1.0, True: see dict_get
inline Value* dict_get_str(const Dict* dict, Str* key) noexcept {
  const int32_t at = dict_find_str(dict, key);
  return at < 0 ? nullptr : &dict->entries[at].value;
}
Value* dict_get_text(const Dict* dict, std::string_view key) noexcept;
void dict_set_str(Interpreter& in, Dict* dict, Str* key, Value value);
bool dict_delete_str(Interpreter& in, Dict* dict, Str* key);

// The cache of an instruction: entry `at` still belongs to the interned `name`.
inline bool dict_entry_is(const Dict* dict, uint32_t at, const Str* name) noexcept {
  return at < dict->used && dict->entries[at].key.is_object() && dict->entries[at].key.as_object() == name;
}

// Calls f(key, value) for the live entries in order; f must not change the dict.
template <class F>
void dict_for_each(const Dict* dict, F&& f) {
  for (uint32_t i = 0; i < dict->used; ++i) {
    if (!dict->entries[i].key.is_undefined()) f(dict->entries[i].key, dict->entries[i].value);
  }
}

// keys(), values() and items(): live views.
struct DictView : GcObject {
  Value dict;
};

}  // namespace tessera::lang

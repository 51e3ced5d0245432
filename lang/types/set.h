// Sets and frozensets: open addressing in one table.
//
// Iteration goes in the order of the table. Probing, growth and merging follow CPython's rules step by step, so that
// a set of ints, or of tuples of ints, prints in the order in which CPython prints it.
#pragma once

#include <cstdint>

#include "lang/core/make_object.h"
#include "lang/core/object.h"
#include "lang/core/object_cast.h"
#include "lang/core/value.h"

namespace tessera::lang {

struct SetEntry {
  Value key;  // Undefined: never used, or (hash kDeletedHash) deleted
  int64_t hash = 0;
};

struct Set : GcObject {
  static constexpr ObjectKind kKind = ObjectKind::Set;
  SetEntry* table = nullptr;
  uint32_t mask = 0;     // slots - 1; 0 with no table yet
  uint32_t fill = 0;     // used and deleted slots
  uint32_t count = 0;    // len()
  uint32_t finger = 0;   // where pop() goes on
  uint32_t version = 1;  // changes with every change
  int64_t hash = 0;      // of a frozenset; 0: not computed
};

inline bool is_set(const Value& v) noexcept { return v.is_object() && v.as_object()->kind == ObjectKind::Set; }
inline Set* as_set(const Value& v) noexcept { return known_cast<Set>(v); }
bool is_frozen(Interpreter& in, const Set* set) noexcept;

Value make_set(Interpreter& in, bool frozen = false);
Value set_from(Interpreter& in, const Value& iterable, bool frozen = false);
bool set_add(Interpreter& in, Set* set, const Value& key);  // false: was there
bool set_contains(Interpreter& in, Set* set, const Value& key);
bool set_discard(Interpreter& in, Set* set, const Value& key);
void set_update(Interpreter& in, Set* set, const Value& iterable);
// The same for a set that no script sees yet.
void set_fill(Interpreter& in, Set* set, const Value& iterable);
void set_clear(Interpreter& in, Set* set);

// Finds the first occupied slot from slot `i` on and sets `i` to it. Returns the slot's entry, or null if no slot from `i` on is occupied.
inline const SetEntry* set_entry_from(const Set* set, uint32_t& i) noexcept {
  if (set->table == nullptr || i > set->mask) return nullptr;
  const SetEntry *entry = set->table + i, *const end = set->table + set->mask + 1;
  while (entry->key.is_undefined()) {
    if (++entry == end) return nullptr;
  }
  i = static_cast<uint32_t>(entry - set->table);
  return entry;
}

template <class F>
void set_for_each(const Set* set, F&& f) {
  uint32_t i = 0;
  for (; const SetEntry* const entry = set_entry_from(set, i); ++i) f(entry->key);
}

}  // namespace tessera::lang

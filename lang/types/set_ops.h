// The set's table for the set's own methods: with hashes that are known already.
#pragma once

#include "lang/types/set.h"

namespace tessera::lang {

// {a, b, c}. The items are moved from.
Value set_of_display(Interpreter& in, Value* items, uint32_t count);
bool set_add_hashed(Interpreter& in, Set* set, const Value& key, int64_t hash);
// Of a key that a set lacks which nothing was ever taken from. If it throws, the set is of no use any more.
void set_add_new(Interpreter& in, Set* set, const Value& key, int64_t hash);
bool set_contains_hashed(Interpreter& in, Set* set, const Value& key, int64_t hash);
bool set_discard_hashed(Interpreter& in, Set* set, const Value& key, int64_t hash);
void set_merge(Interpreter& in, Set* set, Set* other);
Value set_pop(Interpreter& in, Set* set);  // Undefined: empty
Value set_copy(Interpreter& in, Set* set, bool frozen);
void set_tidy(Interpreter& in, Set* set);  // when more than a quarter of the slots are deleted ones
void set_subtract(Interpreter& in, Set* set, const Value& other);  // difference_update
void set_toggle(Interpreter& in, Set* set, const Value& other);    // symmetric_difference_update
int64_t frozenset_hash(Set* set);

}  // namespace tessera::lang

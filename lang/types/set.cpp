// The set's table, step by step as CPython's, so that sets of numbers come out in the same order.
#include "lang/types/set.h"

#include <cstring>

#include "lang/core/error.h"
#include "lang/core/object_cast.h"
#include "lang/core/pieces.h"
#include "lang/core/protocol.h"
#include "lang/objects/generator.h"
#include "lang/types/dict.h"
#include "lang/types/hash.h"
#include "lang/types/sequence.h"
#include "lang/types/set_ops.h"
#include "lang/types/types.h"

namespace tessera::lang {
namespace {

constexpr uint32_t kMinimum = 8;
constexpr uint32_t kLinearProbes = 9;  // neighbours that are looked at before jumping
constexpr uint32_t kPerturbShift = 5;
constexpr int64_t kDeletedHash = -1;  // never the hash of a key

bool is_free(const SetEntry& entry) noexcept { return entry.key.is_undefined() && entry.hash != kDeletedHash; }

// The slots in which a hash may stand, in order, without end.
class Probe {
 public:
  Probe(SetEntry* table, uint32_t mask, int64_t hash) noexcept
      : table_(table), mask_(mask), perturb_(static_cast<uint64_t>(hash)), i_(perturb_ & mask) {
    start();
  }
  SetEntry* entry() const noexcept { return entry_; }
  void step() noexcept {
    if (entry_++ != last_) return;
    perturb_ >>= kPerturbShift;
    i_ = (i_ * 5 + 1 + perturb_) & mask_;
    start();
  }

 private:
  void start() noexcept {
    entry_ = table_ + i_;
    last_ = entry_ + (i_ + kLinearProbes <= mask_ ? kLinearProbes : 0);
  }
  SetEntry* const table_;
  const uint32_t mask_;
  uint64_t perturb_, i_;
  SetEntry *entry_, *last_;
};

SetEntry* new_table(Interpreter& in, uint32_t slots) {
  static_assert(static_cast<int>(Tag::Undefined) == 0, "a table of zeros is an empty one");
  const size_t bytes = size_t{slots} * sizeof(SetEntry);
  char* const table = static_cast<char*>(in.allocate(bytes));
  try {
    if (slots == kMinimum) for (uint32_t i = 0; i < kMinimum; ++i) new (reinterpret_cast<SetEntry*>(table) + i) SetEntry();
    else repeat_in_pieces(in, table, std::string_view("", 1), bytes);
  } catch (...) {
    in.deallocate(table, bytes);
    throw;
  }
  return reinterpret_cast<SetEntry*>(table);
}

void free_table(Interpreter& in, SetEntry* table, uint32_t mask) noexcept {
  if (table == nullptr) return;
  if (mask == kMinimum - 1) {
    for (uint32_t i = 0; i < kMinimum; ++i) table[i].~SetEntry();
    in.deallocate(table, kMinimum * sizeof(SetEntry));
    return;
  }
  for (uint32_t i = 0; i <= mask; ++i) table[i].~SetEntry();
  in.deallocate(table, (size_t{mask} + 1) * sizeof(SetEntry));
}

// The slot for a key that a table without deleted slots lacks.
SetEntry* clean_slot(SetEntry* table, uint32_t mask, int64_t hash) {
  Probe probe(table, mask, hash);
  while (!probe.entry()->key.is_undefined()) probe.step();
  return probe.entry();
}
void insert_clean(SetEntry* table, uint32_t mask, int64_t hash, Value&& key) {
  SetEntry* const entry = clean_slot(table, mask, hash);
  new (&entry->key) Value(std::move(key));
  entry->hash = hash;
}

void resize(Interpreter& in, Set* set, size_t minimum) {
  if (minimum > (size_t{1} << 30)) throw Error(ErrorKind::MemoryError, std::string());
  uint32_t slots = kMinimum;
  while (slots <= minimum) slots *= 2;
  SetEntry* table = new_table(in, slots);
  SetEntry* old = set->table;
  const uint32_t old_mask = set->mask;
  // The bytes move, and with them the references; who stops in the middle leaves the old table as it is.
  try {
    in_pieces(in, old == nullptr ? 0 : size_t{old_mask} + 1, [&](size_t i, size_t end) {
      for (; i < end; ++i)
        if (!old[i].key.is_undefined())
          std::memcpy(static_cast<void*>(clean_slot(table, slots - 1, old[i].hash)), static_cast<void*>(old + i),
                      sizeof(SetEntry));
    });
  } catch (...) {
    in.deallocate(table, size_t{slots} * sizeof(SetEntry));
    throw;
  }
  set->table = table;
  set->mask = slots - 1;
  set->fill = set->count;
  if (old != nullptr) in.deallocate(old, (size_t{old_mask} + 1) * sizeof(SetEntry));
}

size_t roomy(const Set* set) { return set->count > 50000 ? size_t{set->count} * 2 : size_t{set->count} * 4; }

// The entry that holds the key, or else (`for_insert`) the slot to put it in: the last deleted one that was met, or the
// free one where the probing ended. == may run a script that changes the set: then the search begins again.
SetEntry* find(Interpreter& in, Set* set, const Value& key, int64_t hash, bool for_insert) {
  in.check_stop();
restart:
  if (set->table == nullptr) {
    if (!for_insert) return nullptr;
    set->table = new_table(in, kMinimum);
    set->mask = kMinimum - 1;
  }
  SetEntry* deleted = nullptr;
  for (Probe probe(set->table, set->mask, hash);; probe.step()) {
    SetEntry* const entry = probe.entry();
    if (entry->key.is_undefined()) {
      if (is_free(*entry)) return !for_insert ? nullptr : deleted != nullptr ? deleted : entry;
      deleted = entry;
      continue;
    }
    if (entry->hash != hash) continue;
    if (entry->key.is(key)) return entry;
    in.check_stop();
    const Same same = same_quietly(in, entry->key, key);
    if (same == Same::Yes) return entry;
    if (same == Same::No) continue;
    const Value held = entry->key;
    const uint32_t version = set->version;
    const bool equal = equals(in, held, key);
    if (version != set->version) goto restart;
    if (equal) return entry;
  }
}

}  // namespace

void destroy_set(Interpreter& in, Object* self) {
  Set* set = known_cast<Set>(self);
  free_table(in, set->table, set->mask);
  free_object(in, set);
}

void traverse_set(Object* self, Visitor& visitor) {
  set_for_each(known_cast<Set>(self), [&](const Value& key) { visitor(key); });
}

bool is_frozen(Interpreter& in, const Set* set) noexcept {
  return set->type == in.types.frozenset || (set->type != in.types.set && set->type->is_subtype_of(in.types.frozenset));
}

Value make_set(Interpreter& in, bool frozen) {
  return Value::adopt(make_plain<Set>(in, frozen ? in.types.frozenset : in.types.set));
}

bool set_add_hashed(Interpreter& in, Set* set, const Value& key, int64_t hash) {
  SetEntry* entry = set->table != nullptr ? set->table + (static_cast<uint64_t>(hash) & set->mask) : nullptr;
  if (entry != nullptr && is_free(*entry)) in.check_stop();
  else entry = find(in, set, key, hash, true);
  if (!entry->key.is_undefined()) return false;
  const bool reused = entry->hash == kDeletedHash;
  entry->key = key;
  entry->hash = hash;
  ++set->count;
  ++set->version;
  if (reused) return true;
  ++set->fill;
  if (uint64_t{set->fill} * 5 < uint64_t{set->mask} * 3) return true;
  try {
    resize(in, set, roomy(set));
  } catch (...) {
    // A table that filled up without growing would have no free slot to end a search at.
    set_discard_hashed(in, set, key, hash);
    throw;
  }
  return true;
}

Value set_of_display(Interpreter& in, Value* items, uint32_t count) {
  constexpr uint32_t kFew = 4;  // which do not fill the smallest table
  Value made = make_set(in);
  Set* const set = as_set(made);
  if (count <= kFew) {
    set->table = new_table(in, kMinimum);
    set->mask = kMinimum - 1;
  }
  for (uint32_t i = 0; i < count; ++i) {
    const Value item = std::move(items[i]);
    const bool text = item.is_object() && item.as_object()->type == in.types.str;
    if (count <= kFew && (item.is_int() || text)) {
      const int64_t hash = text ? str_hash(as_str(item)) : hash_int(item.as_int());
      SetEntry& first = set->table[static_cast<uint64_t>(hash) & (kMinimum - 1)];
      if (is_free(first)) {
        first.key = item;
        first.hash = hash;
        ++set->count;
        ++set->fill;
        continue;
      }
    }
    set_add(in, set, item);
  }
  return made;
}

void set_add_new(Interpreter& in, Set* set, const Value& key, int64_t hash) {
  if (set->table == nullptr) {
    set->table = new_table(in, kMinimum);
    set->mask = kMinimum - 1;
  }
  insert_clean(set->table, set->mask, hash, Value(key));
  ++set->count;
  ++set->version;
  if (uint64_t{++set->fill} * 5 >= uint64_t{set->mask} * 3) resize(in, set, roomy(set));
}

bool set_add(Interpreter& in, Set* set, const Value& key) { return set_add_hashed(in, set, key, hash(in, key)); }

// Most searches end at the first slot.
bool set_contains_hashed(Interpreter& in, Set* set, const Value& key, int64_t hash) {
  if (set->table == nullptr) return false;
  const SetEntry& first = set->table[static_cast<uint64_t>(hash) & set->mask];
  const bool is_there = first.key.is(key) && first.hash == hash;
  if (is_there || is_free(first)) {
    in.check_stop();
    return is_there;
  }
  return find(in, set, key, hash, false) != nullptr;
}

bool set_contains(Interpreter& in, Set* set, const Value& key) {
  return set_contains_hashed(in, set, key, hash(in, key));
}

bool set_discard_hashed(Interpreter& in, Set* set, const Value& key, int64_t hash) {
  SetEntry* entry = find(in, set, key, hash, false);
  if (entry == nullptr) return false;
  const Value held = std::move(entry->key);
  entry->hash = kDeletedHash;
  --set->count;
  ++set->version;
  return true;
}

bool set_discard(Interpreter& in, Set* set, const Value& key) {
  return set_discard_hashed(in, set, key, hash(in, key));
}

void set_tidy(Interpreter& in, Set* set) {
  if (set->table != nullptr && set->fill - set->count > set->mask / 4) resize(in, set, roomy(set));
}

// Takes the next element after the finger.
Value set_pop(Interpreter&, Set* set) {
  if (set->count == 0) return Value();
  uint32_t i = set->finger & set->mask;
  while (set->table[i].key.is_undefined()) i = i == set->mask ? 0 : i + 1;
  Value key = std::move(set->table[i].key);
  set->table[i].hash = kDeletedHash;
  set->finger = i + 1;
  --set->count;
  ++set->version;
  return key;
}

void set_clear(Interpreter& in, Set* set) {
  SetEntry* table = set->table;
  const uint32_t mask = set->mask;
  set->table = nullptr;
  set->mask = set->fill = set->count = set->finger = 0;
  ++set->version;
  free_table(in, table, mask);
}

void set_merge(Interpreter& in, Set* set, Set* other) {
  if (set == other || other->count == 0) return;
  const uint32_t mask = set->table == nullptr ? kMinimum - 1 : set->mask;
  if ((uint64_t{set->fill} + other->count) * 5 >= uint64_t{mask} * 3)
    resize(in, set, (size_t{set->count} + other->count) * 2);
  if (set->table == nullptr) {
    set->table = new_table(in, kMinimum);
    set->mask = kMinimum - 1;
  }
  ++set->version;
  if (set->fill == 0 && set->mask == other->mask && other->fill == other->count) {
    in_pieces(in, size_t{other->mask} + 1, [&](size_t i, size_t end) {
      std::memcpy(static_cast<void*>(set->table + i), static_cast<const void*>(other->table + i),
                  (end - i) * sizeof(SetEntry));
      for (; i < end; ++i) {
        const Value& key = set->table[i].key;
        if (key.is_undefined()) continue;
        if (key.is_object()) ++key.as_object()->refcount;
        ++set->fill, ++set->count;
      }
    });
    return;
  }
  const bool clean = set->fill == 0;
  StopBudget budget(in);
  uint32_t i = 0;
  for (; const SetEntry* const entry = set_entry_from(other, i); ++i) {
    budget.take();
    const int64_t hash = entry->hash;
    const SetEntry& first = set->table[static_cast<uint64_t>(hash) & set->mask];
    if (first.hash == hash && first.key.is(entry->key)) continue;
    const Value key = entry->key;
    if (clean) {
      insert_clean(set->table, set->mask, hash, Value(key));
      ++set->fill;
      ++set->count;
    } else {
      set_add_hashed(in, set, key, hash);
    }
  }
}

void set_update(Interpreter& in, Set* set, const Value& iterable) {
  if (is_set(iterable)) {
    set_merge(in, set, as_set(iterable));
    return;
  }
  if (iterable.is_object() && iterable.as_object()->type == in.types.dict) {
    Dict* dict = as_dict(iterable);
    const uint32_t mask = set->table == nullptr ? kMinimum - 1 : set->mask;
    if ((uint64_t{set->fill} + dict->count) * 5 >= uint64_t{mask} * 3)
      resize(in, set, (size_t{set->count} + dict->count) * 2);
    for (uint32_t i = 0; i < dict->used; ++i) {
      if (dict->entries[i].key.is_undefined()) continue;
      const Value key = dict->entries[i].key;
      set_add_hashed(in, set, key, dict->entries[i].hash);
    }
    return;
  }
  if (iterable.is_object() && iterable.as_object()->type == in.types.str) {
    const Str* const text = as_str(iterable);
    StopBudget budget(in);
    for (const char *p = text->data, *const end = p + text->size; p < end; budget.take()) {
      const Value item = char_str(in, decode_char(p));
      set_add_hashed(in, set, item, str_hash(as_str(item)));
    }
    return;
  }
  for_each(in, iterable, [&](Value item) { set_add(in, set, item); });
}

void set_fill(Interpreter& in, Set* set, const Value& iterable) {
  Generator* const generator = gatherable(iterable);
  if (generator == nullptr) return set_update(in, set, iterable);
  const Value keep(generator);
  Gathering gathered(Gathering::Takes::Quiet);
  for (Value item;;) {
    const bool more = generator_gather(in, generator, gathered, item);
    for (const Value& each : gathered) set_add(in, set, each);
    if (!more) return;
    set_add(in, set, item);
  }
}

Value set_from(Interpreter& in, const Value& iterable, bool frozen) {
  Value result = make_set(in, frozen);
  set_fill(in, as_set(result), iterable);
  return result;
}

Value set_copy(Interpreter& in, Set* set, bool frozen) {
  Value result = make_set(in, frozen);
  set_merge(in, as_set(result), set);
  return result;
}

// Of a frozenset: the order does not matter, empty and deleted slots are taken out again.
int64_t frozenset_hash(Set* set) {
  auto shuffle = [](uint64_t h) { return ((h ^ 89869747u) ^ (h << 16)) * 3644798167u; };
  if (set->hash != 0) return set->hash;
  uint64_t h = 0;
  const uint32_t slots = set->table == nullptr ? kMinimum : set->mask + 1;
  for (uint32_t i = 0; i < slots; ++i)
    h ^= shuffle(set->table == nullptr ? 0 : static_cast<uint64_t>(set->table[i].hash));
  if ((slots - set->fill) & 1) h ^= shuffle(0);
  if ((set->fill - set->count) & 1) h ^= shuffle(static_cast<uint64_t>(-1));
  h ^= (uint64_t{set->count} + 1) * 1927868237u;
  h ^= (h >> 11) ^ (h >> 25);
  h = h * 69069u + 907133923u;
  if (h == static_cast<uint64_t>(-1)) h = 590923713u;
  set->hash = static_cast<int64_t>(h);
  return set->hash;
}

}  // namespace tessera::lang

// The dict's table; its methods are in dict_methods.cpp.
#include "lang/types/dict.h"
#include "lang/types/dict_display.h"

#include <cstring>

#include "lang/core/error.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/core/pieces.h"
#include "lang/core/protocol.h"
#include "lang/types/hash.h"
#include "lang/types/list.h"
#include "lang/types/sequence.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"
#include "lang/vm/provenance.h"
#include "lang/vm/vm.h"

namespace tessera::lang {
namespace {

constexpr int32_t kEmptySlot = -1;
constexpr int32_t kDeletedSlot = -2;
constexpr uint32_t kPerturbShift = 5;
constexpr uint32_t kFewestSlots = 8;

uint32_t index_width(uint32_t slots) noexcept { return slots <= 128 ? 1 : slots <= 32768 ? 2 : 4; }
uint32_t usable(uint32_t slots) noexcept { return static_cast<uint32_t>(uint64_t{slots} * 2 / 3); }
size_t block_bytes(uint32_t slots) noexcept {
  return usable(slots) * sizeof(DictEntry) + size_t{slots} * index_width(slots);
}

int32_t slot_get(const Dict* d, uint32_t slot) noexcept {
  if (d->slots <= 128) return static_cast<const int8_t*>(d->index)[slot];
  if (d->slots <= 32768) return static_cast<const int16_t*>(d->index)[slot];
  return static_cast<const int32_t*>(d->index)[slot];
}
void slot_put(Dict* d, uint32_t slot, int32_t entry) noexcept {
  if (d->slots <= 128) {
    static_cast<int8_t*>(d->index)[slot] = static_cast<int8_t>(entry);
  } else if (d->slots <= 32768) {
    static_cast<int16_t*>(d->index)[slot] = static_cast<int16_t>(entry);
  } else {
    static_cast<int32_t*>(d->index)[slot] = entry;
  }
}

// The order in which slots are tried for a hash.
struct Probe {
  uint32_t mask, slot;
  uint64_t perturb;
  Probe(const Dict* d, int64_t hash) noexcept
      : mask(d->slots - 1), slot(static_cast<uint32_t>(hash) & (d->slots - 1)), perturb(static_cast<uint64_t>(hash)) {}
  void step() noexcept {
    perturb >>= kPerturbShift;
    slot = static_cast<uint32_t>(slot * 5u + perturb + 1u) & mask;
  }
};

template <class Index, class Same>
inline int32_t find_in(const Dict* d, int64_t hash, Same&& same) {
  const Index* index = static_cast<const Index*>(d->index);
  for (Probe probe(d, hash);; probe.step()) {
    const int32_t at = index[probe.slot];
    if (at >= 0) {
      const DictEntry& entry = d->entries[at];
      if (entry.hash == hash && same(entry.key)) return at;
    } else if (at == kEmptySlot) {
      return kNoEntry;
    }
  }
}

// `same` must not change the dict.
template <class Same>
inline int32_t find_quietly(const Dict* d, int64_t hash, Same&& same) {
  if (d->count == 0) return kNoEntry;
  if (d->slots <= 128) return find_in<int8_t>(d, hash, same);
  if (d->slots <= 32768) return find_in<int16_t>(d, hash, same);
  return find_in<int32_t>(d, hash, same);
}

// Any key: == may run a script that changes the dict, see Note [Dict changes].
int32_t find_any(Interpreter& in, Dict* d, const Value& key, int64_t hash) {
  if (d->count == 0) return kNoEntry;
restart:
  if (d->count == 0) return kNoEntry;
  for (Probe probe(d, hash);; probe.step()) {
    const int32_t at = slot_get(d, probe.slot);
    if (at == kEmptySlot) return kNoEntry;
    if (at < 0 || d->entries[at].hash != hash) continue;
    if (d->entries[at].key.is(key)) return at;
    in.check_stop();
    const Value held = d->entries[at].key;
    const uint32_t layout = d->layout_version;
    const bool same = equals(in, held, key);
    if (layout != d->layout_version || !d->entries[at].key.is(held)) {
      // An OrderedDict may have moved the key meanwhile (move_to_end), and would move it each time that it is compared again.
      const int32_t moved = same ? dict_find_same(d, held, hash) : kNoEntry;
      if (moved >= 0) return moved;
      goto restart;
    }
    if (same) return at;
  }
}

bool is_plain_str(Interpreter& in, const Value& key) noexcept {
  return key.is_object() && key.as_object()->type == in.types.str;
}

// A dict of globals never gets a version that it or another one had: caches of code that several of them share compare it.
void keys_changed(Dict* d) noexcept {
  if (d->flags & kGlobals) [[unlikely]]
    d->keys_version = d->type->owner->next_keys_version();
  else
    ++d->keys_version;
}

template <class Index>
inline void put_in(Dict* d, int64_t hash, uint32_t entry) noexcept {
  Index* const index = static_cast<Index*>(d->index);
  Probe probe(d, hash);
  while (index[probe.slot] >= 0) probe.step();
  index[probe.slot] = static_cast<Index>(entry);
}

void put_in_index(Dict* d, int64_t hash, uint32_t entry) noexcept {
  if (d->slots <= 128) return put_in<int8_t>(d, hash, entry);
  if (d->slots <= 32768) return put_in<int16_t>(d, hash, entry);
  put_in<int32_t>(d, hash, entry);
}

// Moves the live entries to a table of `slots`.
void resize(Interpreter& in, Dict* d, uint32_t slots) {
  char* block = static_cast<char*>(in.allocate(block_bytes(slots)));
  DictEntry* old = d->entries;
  const uint32_t old_used = d->used, old_slots = d->slots, old_capacity = d->capacity;
  auto* const old_index = d->index;
  d->entries = reinterpret_cast<DictEntry*>(block);
  d->capacity = usable(slots);
  d->slots = slots;
  d->index = block + d->capacity * sizeof(DictEntry);
  std::memset(d->index, 0xff, size_t{slots} * index_width(slots));
  uint32_t used = 0;
  // The bytes move, and with them the references; who stops in the middle leaves the old table as it was.
  try {
    in_pieces(in, old_used, [&](size_t i, size_t end) {
      for (; i < end; ++i) {
        if (old[i].key.is_undefined()) continue;
        std::memcpy(static_cast<void*>(d->entries + used), static_cast<const void*>(old + i), sizeof(DictEntry));
        put_in_index(d, d->entries[used].hash, used);
        ++used;
      }
    });
  } catch (...) {
    d->entries = old, d->capacity = old_capacity, d->slots = old_slots, d->index = old_index;
    in.deallocate(block, block_bytes(slots));
    throw;
  }
  d->used = used;
  ++d->layout_version;
  keys_changed(d);
  if (old != nullptr) in.deallocate(old, block_bytes(old_slots));
}

uint32_t slots_for(size_t count) {
  if (count > (size_t{1} << 30)) throw Error(ErrorKind::MemoryError, std::string());
  uint32_t slots = kFewestSlots;
  while (usable(slots) < count) slots *= 2;
  return slots;
}

// The smallest table, for a dict that has none.
void make_table(Interpreter& in, Dict* d) {
  char* const block = static_cast<char*>(in.allocate(block_bytes(kFewestSlots)));
  d->entries = reinterpret_cast<DictEntry*>(block);
  d->capacity = usable(kFewestSlots);
  d->slots = kFewestSlots;
  d->index = block + usable(kFewestSlots) * sizeof(DictEntry);
  std::memset(d->index, 0xff, kFewestSlots);
  ++d->layout_version;
  keys_changed(d);
}

void append_entry(Interpreter& in, Dict* d, const Value& key, int64_t hash, Value&& value) {
  if (d->used == d->capacity) {
    if (d->entries == nullptr) make_table(in, d);
    else resize(in, d, slots_for(d->count == 0 ? 1 : size_t{d->count} * 2));
  }
  DictEntry* entry = d->entries + d->used;
  new (&entry->key) Value(key);
  new (&entry->value) Value(std::move(value));
  entry->hash = hash;
  put_in_index(d, hash, d->used);
  ++d->used;
  ++d->count;
  keys_changed(d);
}

// Takes the entry out and answers its value. The key dies last.
Value remove_entry(Dict* d, int32_t at) {
  DictEntry& entry = d->entries[at];
  Probe probe(d, entry.hash);
  while (slot_get(d, probe.slot) != at) probe.step();
  slot_put(d, probe.slot, kDeletedSlot);
  const Value key = std::move(entry.key);
  Value value = std::move(entry.value);
  --d->count;
  keys_changed(d);
  return value;
}

void destroy_block(Interpreter& in, DictEntry* entries, uint32_t used, uint32_t slots) noexcept {
  if (entries == nullptr) return;
  for (uint32_t i = 0; i < used; ++i) entries[i].~DictEntry();
  in.deallocate(entries, block_bytes(slots));
}

}  // namespace

void destroy_dict(Interpreter& in, Object* self) {
  Dict* d = known_cast<Dict>(self);
  destroy_block(in, d->entries, d->used, d->slots);
  free_object(in, d);
}

void free_plain_dict(Interpreter& in, Dict* d) noexcept {
  if (d->slots == kFewestSlots) in.deallocate(d->entries, block_bytes(kFewestSlots));
  else if (d->entries != nullptr) in.deallocate(d->entries, block_bytes(d->slots));
  in.deallocate(d, sizeof(Dict));
}

void traverse_dict(Object* self, Visitor& visitor) {
  dict_for_each(known_cast<Dict>(self), [&](const Value& key, const Value& value) {
    visitor(key);
    visitor(value);
  });
}

Dict* new_dict(Interpreter& in) { return make_plain<Dict>(in, in.types.dict); }
Value make_dict(Interpreter& in) { return Value::adopt(new_dict(in)); }

void dict_reserve(Interpreter& in, Dict* d, size_t count) {
  if (count <= d->capacity) return;
  if (d->entries == nullptr && slots_for(count) == kFewestSlots) make_table(in, d);
  else resize(in, d, slots_for(count));
}

int32_t dict_find_str(const Dict* d, const Str* key, int64_t hash) noexcept {
  return find_quietly(d, hash, [key](const Value& held) {
    if (!held.is_object()) return false;
    Object* object = held.as_object();
    return object == key || (object->kind == ObjectKind::Str && str_equal(known_cast<Str>(object), key));
  });
}

int32_t dict_find_same(const Dict* d, const Value& key, int64_t hash) noexcept {
  return find_quietly(d, hash, [&key](const Value& held) { return held.is(key); });
}

int32_t dict_find_int(const Dict* d, int64_t key) noexcept {
  return find_quietly(d, hash_int(key), [key](const Value& held) {
    if (held.is_int() || held.is_bool()) return held.as_int() == key;
    return held.is_float() && held.as_float() == static_cast<double>(key);
  });
}

constexpr int32_t kUnsure = -2;

// The entry of the key, kNoEntry, or kUnsure if only a script can tell.
[[gnu::always_inline]] static inline int32_t find_surely(Interpreter& in, const Dict* d, const Value& key, int64_t hash) noexcept {
  bool met_object = false;  // with the same hash, and perhaps equal: a script decides that
  if (is_plain_str(in, key)) {
    const Str* const wanted = as_str(key);
    const int32_t at = find_quietly(d, hash, [&](const Value& held) {
      if (is_plain_str(in, held)) return str_equal(as_str(held), wanted);
      met_object = met_object || held.is_object();
      return false;
    });
    if (at >= 0 || !met_object) return at;
  } else if (key.is_int()) {
    const int32_t at = find_quietly(d, hash, [&](const Value& held) {
      if (held.is_int()) return held.as_int() == key.as_int();
      met_object = true;
      return false;
    });
    if (at >= 0 || !met_object) return at;
  } else if (key.is_object() && key.as_object()->type == in.types.tuple) {
    const int32_t at = find_quietly(d, hash, [&](const Value& held) {
      if (held.is(key)) return true;
      const bool tuples = held.is_object() && held.as_object()->type == in.types.tuple;
      const Same same = tuples ? same_tuples_quietly(in, as_tuple(held), as_tuple(key)) : Same::Unsure;
      met_object = met_object || same == Same::Unsure;
      return same == Same::Yes;
    });
    if (at >= 0 || !met_object) return at;
  }
  return kUnsure;
}

int32_t dict_find(Interpreter& in, Dict* d, const Value& key, int64_t hash) {
  const int32_t at = find_surely(in, d, key, hash);
  return at != kUnsure ? at : find_any(in, d, key, hash);
}

bool dict_get_surely(Interpreter& in, const Dict* d, const Value& key, const Value*& found) noexcept {
  const bool text = is_plain_str(in, key);
  if (!text && !key.is_int()) return false;
  const int32_t at = find_surely(in, d, key, text ? str_hash(as_str(key)) : hash_int(key.as_int()));
  found = at < 0 ? nullptr : &d->entries[at].value;
  return at != kUnsure;
}

const Value* dict_get(Interpreter& in, Dict* d, const Value& key) {
  const int64_t hashed = key.is_int() ? hash_int(key.as_int()) : is_plain_str(in, key) ? str_hash(as_str(key)) : hash(in, key);
  const int32_t at = dict_find(in, d, key, hashed);
  return at < 0 ? nullptr : &d->entries[at].value;
}

Value* dict_get_text(const Dict* d, std::string_view key) noexcept {
  const int32_t at =
      find_quietly(d, hash_text(key), [key](const Value& held) { return is_str(held) && text_of(held) == key; });
  return at < 0 ? nullptr : &d->entries[at].value;
}

// Names of a program's module that something else than its text sets; its own statements come past this.
static inline void note_write(Interpreter& in, const Dict* d, const Value& key) {
  if (d->aux != 0 && is_str(key)) [[unlikely]]
    in.vm().provenance().note_write(d, text_of(key));
}

void dict_set(Interpreter& in, Dict* d, const Value& key, int64_t hash, Value value) {
  note_write(in, d, key);
  const int32_t at = dict_find(in, d, key, hash);
  if (at >= 0) {
    d->entries[at].value = std::move(value);
  } else {
    append_entry(in, d, key, hash, std::move(value));
  }
}

void dict_set(Interpreter& in, Dict* d, const Value& key, Value value) {
  dict_set(in, d, key, hash(in, key), std::move(value));
}

void dict_set_str(Interpreter& in, Dict* d, Str* key, Value value) {
  if (d->aux != 0) [[unlikely]]
    note_write(in, d, Value(key));
  const int64_t h = str_hash(key);
  const int32_t at = dict_find_str(d, key, h);
  if (at >= 0) {
    d->entries[at].value = std::move(value);
  } else {
    append_entry(in, d, Value(key), h, std::move(value));
  }
}

namespace {

// Are all keys of the pairs different names? Interned strings of different addresses are different texts.
bool are_different_names(Interpreter& in, const Value* items, uint32_t pairs) noexcept {
  constexpr uint32_t kFew = 8;
  if (pairs > kFew) return false;
  for (uint32_t i = 0; i < pairs; ++i) {
    const Value& key = items[2 * i];
    if (!is_plain_str(in, key) || !(key.as_object()->flags & kInterned)) return false;
    for (uint32_t before = 0; before < i; ++before)
      if (items[2 * before].as_object() == key.as_object()) return false;
  }
  return true;
}

}  // namespace

namespace {

// Appends an entry for a key that the dict lacks and has room for. The caller changes keys_version.
inline void append_in_room(Dict* d, Value&& key, int64_t hash, Value&& value) noexcept {
  DictEntry* const entry = d->entries + d->used;
  new (&entry->key) Value(std::move(key));
  new (&entry->value) Value(std::move(value));
  entry->hash = hash;
  if (d->slots == kFewestSlots) [[likely]] put_in<int8_t>(d, hash, d->used);
  else put_in_index(d, hash, d->used);
  ++d->used;
  ++d->count;
}

}  // namespace

void fill_from_display(Interpreter& in, Dict* dict, Value* items, uint32_t pairs) {
  if (are_different_names(in, items, pairs)) {
    dict_reserve(in, dict, pairs);
    for (uint32_t i = 0; i < pairs; ++i) {
      const int64_t hash = str_hash(as_str(items[2 * i]));
      append_in_room(dict, std::move(items[2 * i]), hash, std::move(items[2 * i + 1]));
    }
    keys_changed(dict);
    return;
  }
  for (uint32_t i = 0; i < pairs; ++i) {
    const Value key = std::move(items[2 * i]);
    Value& value = items[2 * i + 1];
    if (is_plain_str(in, key)) dict_set_str(in, dict, as_str(key), std::move(value));
    else dict_set(in, dict, key, std::move(value));
  }
}

Value dict_of_names(Interpreter& in, const Value* names, Value* values, uint32_t count) {
  Dict* const dict = make_plain<Dict>(in, in.types.dict);
  Value made = Value::adopt(dict);
  if (count != 0) dict_reserve(in, dict, count);
  for (uint32_t i = 0; i < count; ++i) append_in_room(dict, Value(names[i]), str_hash(as_str(names[i])), std::move(values[i]));
  keys_changed(dict);
  return made;
}

Value dict_set_default(Interpreter& in, Dict* d, const Value& key, Value value) {
  const int64_t h = hash(in, key);
  const int32_t at = dict_find(in, d, key, h);
  if (at >= 0) return d->entries[at].value;
  note_write(in, d, key);
  append_entry(in, d, key, h, Value(value));
  return value;
}

bool dict_delete(Interpreter& in, Dict* d, const Value& key) { return !dict_pop(in, d, key).is_undefined(); }

Value dict_pop(Interpreter& in, Dict* d, const Value& key) {
  const int32_t at = dict_find(in, d, key, hash(in, key));
  return at < 0 ? Value() : remove_entry(d, at);
}

bool dict_delete_str(Interpreter&, Dict* d, Str* key) {
  const int32_t at = dict_find_str(d, key);
  if (at < 0) return false;
  remove_entry(d, at);
  return true;
}

Value dict_pop_last(Interpreter& in, Dict* d) {
  uint32_t last = d->used;
  while (last > 0 && d->entries[last - 1].key.is_undefined()) --last;
  if (last == 0) return Value();
  const Value key = d->entries[last - 1].key;
  const Value value = remove_entry(d, static_cast<int32_t>(last - 1));
  // The slots of the entries behind it are marked deleted and stay so until the table is made anew: there is less room for entries, or
  // a dict that gains and loses keys again and again would have no empty slot, where a search ends.
  d->capacity -= d->used - (last - 1);
  d->used = last - 1;
  return make_tuple(in, {key, value});
}

void dict_clear(Interpreter& in, Dict* d) {
  DictEntry* entries = d->entries;
  const uint32_t used = d->used, slots = d->slots;
  d->entries = nullptr;
  d->index = nullptr;
  d->count = d->used = d->capacity = d->slots = 0;
  keys_changed(d);
  ++d->layout_version;
  destroy_block(in, entries, used, slots);
}

void dict_enroll(Interpreter& in, Dict* d) noexcept {
  if (d->flags & kGlobals) return;
  d->flags |= kGlobals;
  d->keys_version = in.next_keys_version();
}

namespace {

// An empty dict becomes the copy of one without gaps: the table as bytes, and a reference for each key and value.
bool clone_table(Interpreter& in, Dict* to, const Dict* from) {
  if (to->used != 0 || from->used != from->count || from->count < from->capacity / 2) return false;
  char* block = static_cast<char*>(in.allocate(block_bytes(from->slots)));
  if (to->entries != nullptr) in.deallocate(to->entries, block_bytes(to->slots));
  const size_t entry_bytes = from->capacity * sizeof(DictEntry);
  std::memcpy(block, static_cast<const void*>(from->entries), from->used * sizeof(DictEntry));
  std::memcpy(block + entry_bytes, from->index, size_t{from->slots} * index_width(from->slots));
  to->entries = reinterpret_cast<DictEntry*>(block);
  to->index = block + entry_bytes;
  to->count = to->used = from->used;
  to->capacity = from->capacity;
  to->slots = from->slots;
  for (uint32_t i = 0; i < to->used; ++i) {
    const DictEntry& entry = to->entries[i];
    if (entry.key.is_object()) ++entry.key.as_object()->refcount;
    if (entry.value.is_object()) ++entry.value.as_object()->refcount;
  }
  keys_changed(to);
  ++to->layout_version;
  return true;
}

}  // namespace

void dict_merge(Interpreter& in, Dict* d, Dict* other, bool override_values) {
  if (d == other || other->count == 0) return;
  if (clone_table(in, d, other)) return;
  if (d->count == 0) dict_reserve(in, d, other->count);
  const uint32_t layout = other->layout_version;
  for (uint32_t i = 0; i < other->used; ++i) {
    if (other->entries[i].key.is_undefined()) continue;
    const Value key = other->entries[i].key;
    const Value value = other->entries[i].value;
    const int64_t h = other->entries[i].hash;
    if (override_values || dict_find(in, d, key, h) < 0) dict_set(in, d, key, h, value);
    if (other->layout_version != layout) throw Error(ErrorKind::RuntimeError, "dict mutated during update");
  }
}

Value dict_copy(Interpreter& in, Dict* d) {
  Value copy = make_dict(in);
  Dict* to = as_dict(copy);
  if (d->count == 0 || clone_table(in, to, d)) return copy;
  dict_reserve(in, to, d->count);
  in_pieces(in, d->used, [&](size_t i, size_t end) {
    for (; i < end; ++i) {
      const DictEntry& entry = d->entries[i];
      if (!entry.key.is_undefined()) append_entry(in, to, entry.key, entry.hash, Value(entry.value));
    }
  });
  return copy;
}

namespace {

void update_from_pairs(Interpreter& in, Dict* d, const Value& pairs) {
  size_t position = 0;
  for_each(in, pairs, [&](Value item) {
    Value pair;
    try {
      pair = is_tuple(item) || is_list(item) ? item : list_from(in, item);
    } catch (const Error& error) {
      if (error.kind != ErrorKind::TypeError) throw;
      throw_error(ErrorKind::TypeError, "cannot convert dictionary update sequence element #%zu to a sequence",
                  position);
    }
    const size_t size = is_tuple(pair) ? as_tuple(pair)->size : as_list(pair)->size;
    if (size != 2) {
      throw_error(ErrorKind::ValueError, "dictionary update sequence element #%zu has length %zu; 2 is required",
                  position, size);
    }
    const Value* parts = is_tuple(pair) ? as_tuple(pair)->items : as_list(pair)->items;
    const Value key = parts[0];
    dict_set(in, d, key, parts[1]);
    ++position;
  });
}

}  // namespace

void dict_update(Interpreter& in, Dict* d, const Value& other) {
  if (is_dict(other) && other.as_object()->type->slots.iter == in.types.dict->slots.iter) {
    // CPython asks a class below dict for `keys`, as it asks what is no dict, and goes on without them.
    if (other.as_object()->type->type_flags & kHasGetAttribute) find_attr(in, other, in.names->keys);
    dict_merge(in, d, as_dict(other));
    return;
  }
  const Value keys = find_attr(in, other, in.names->keys);
  if (keys.is_undefined()) {
    update_from_pairs(in, d, other);
    return;
  }
  for_each(in, call(in, keys), [&](Value key) { dict_set(in, d, key, get_item(in, other, key)); });
}

}  // namespace tessera::lang

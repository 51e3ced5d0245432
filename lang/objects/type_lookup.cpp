// Names in types: the dicts of a type's classes, in their order, and the cache in front of them.
#include <new>

#include "lang/core/interpreter.h"
#include "lang/core/object_cast.h"
#include "lang/core/type.h"
#include "lang/objects/attribute.h"
#include "lang/types/dict.h"
#include "lang/types/str.h"

namespace tessera::lang {

// Without memory for more it goes on with what it has.
void TypeCache::grow() noexcept {
  remembered_ = 0;
  const uint32_t size = 4 * (mask_ + 1);
  std::unique_ptr<Entry[]> larger(new (std::nothrow) Entry[size]());
  if (larger == nullptr) return;
  entries_ = std::move(larger);
  mask_ = size - 1;
}

namespace {

const Value kMissing;

// Looks `name` up in the dicts of the type's classes, and remembers it.
[[gnu::noinline]] const Value& look_up(const Type* type, const Str* name) {
  Interpreter& in = *type->owner;
  const Value* found = nullptr;
  for (Type* base : type->mro) {
    found = dict_get_str(base->attributes(), const_cast<Str*>(name));
    if (found != nullptr) break;
  }
  if (found == nullptr) found = &kMissing;
  if ((name->flags & kInterned) && type->version != kForgotten) {
    // Not `entry`: filling a type may have looked something up.
    TypeCache& cache = in.type_cache();
    cache.remember(cache.entry(type->version, name), {type->version, name, found});
  }
  return *found;
}

}  // namespace

const Value& type_lookup(const Type* type, const Str* name) {
  const uint32_t version = type->version;
  const TypeCache::Entry& entry = type->owner->type_cache().entry(version, name);
  if (entry.version == version && entry.name == name) [[likely]]
    return *entry.value;
  return look_up(type, name);
}

bool Type::is_subtype_of(const Type* other) const noexcept {
  if (this == other) return true;
  for (const Type* base : mro) {
    if (base == other) return true;
  }
  return false;
}

}  // namespace tessera::lang

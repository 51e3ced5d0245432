#include "lang/objects/weak.h"

#include "lang/core/object_cast.h"
#include "lang/objects/unraisable.h"

#include <algorithm>
#include <unordered_set>

#include "lang/objects/class.h"
#include "lang/core/ending.h"
#include "lang/core/host.h"
#include "lang/core/cycles.h"
#include "lang/core/error.h"
#include "lang/core/interpreter.h"
#include "lang/core/names.h"
#include "lang/vm/vm.h"
#include "lang/core/protocol.h"
#include "lang/types/bigint.h"
#include "lang/types/dict.h"

namespace tessera::lang {

namespace {

// A class with __slots__ and no "__weakref__" among them leaves its instances no way to be referred to; others have it in their dict.
bool slots_allow(Interpreter& in, const Type* type) {
  for (Type* base : type->mro) {
    if ((base->type_flags & kScriptClass) && dict_get_str(base->attributes(), in.names->weakref) != nullptr)
      return true;
  }
  return false;
}

bool allows_weak_references(Interpreter& in, const Value& value) {
  if (!value.is_object()) return false;
  const Object* object = value.as_object();
  switch (object->kind) {
    case ObjectKind::Function:
    case ObjectKind::NativeFunction:
    case ObjectKind::BoundMethod:
    case ObjectKind::Code:
    case ObjectKind::Generator:
    case ObjectKind::Coroutine:
    case ObjectKind::AsyncGenerator:
    case ObjectKind::Module:
    case ObjectKind::Set:
    case ObjectKind::Type:
    case ObjectKind::Native: return true;
    case ObjectKind::Tuple: return false;  // CPython's have no room behind their items
    case ObjectKind::Boxed:
      if (is_whole(known_cast<const Boxed>(object)->value)) return false;
      [[fallthrough]];
    default: return (object->type->type_flags & kScriptClass) && slots_allow(in, object->type);
  }
}

}  // namespace

Value make_weak_reference(Interpreter& in, Type* type, const Value& object, const Value& callback) {
  if (!allows_weak_references(in, object)) {
    throw_error(ErrorKind::TypeError, "cannot create weak reference to '%s' object",
                std::string(type_name(in, object)).c_str());
  }
  auto* reference = make_object<WeakReference>(in, type);
  Value made = Value::adopt(reference);
  reference->callback = callback;
  in.weak_references().add(object.as_object(), reference);
  return made;
}

Value weak_target(const WeakReference* reference) {
  return reference->target == nullptr ? Value() : Value(reference->target);
}

void WeakReferences::add(Object* target, WeakReference* reference) {
  table_[target].push_back(reference);
  target->flags |= kWeaklyReferenced;
  reference->target = target;
}

void WeakReferences::remove(WeakReference* reference) noexcept {
  if (reference->target == nullptr) return;
  const auto found = table_.find(reference->target);
  std::erase(found->second, reference);
  if (found->second.empty()) {
    reference->target->flags &= static_cast<uint8_t>(~kWeaklyReferenced);
    table_.erase(found);
  }
  reference->target = nullptr;
}

const std::vector<WeakReference*>* WeakReferences::find(const Object* target) const {
  const auto found = table_.find(target);
  return found == table_.end() ? nullptr : &found->second;
}

// The references are held while callbacks run; one that is being destroyed itself (count 0) is not brought back.
void WeakReferences::take(Object* target, Taken& into) noexcept {
  const auto found = table_.find(target);
  if (found == table_.end()) return;
  for (WeakReference* reference : found->second) {
    reference->target = nullptr;
    if (reference->refcount != 0) into.emplace_back(reference);
  }
  table_.erase(found);
  target->flags &= static_cast<uint8_t>(~kWeaklyReferenced);
}

// The newest is told first.
void WeakReferences::call_back(Taken& references) noexcept {
  while (!references.empty()) {
    const Value reference = std::move(references.back());
    references.pop_back();
    const Value callback = std::exchange(object_cast<WeakReference>(reference)->callback, Value::none());
    if (callback.is_none() || is_ending(in_)) continue;
    try {
      try {
        const PendingAside aside(in_.vm());
        call(in_, callback, {reference});
      } catch (const Thrown& thrown) {
        report_unraisable(in_, thrown.exception, nullptr, callback);
      }
    } catch (...) {
      // Nobody could be told: a callback has no caller.
    }
  }
}

void WeakReferences::forget_all() noexcept {
  const auto all = std::exchange(table_, {});
  for (const auto& [target, references] : all) {
    for (WeakReference* reference : references) reference->target = nullptr;
  }
}

void WeakReferences::clear(Object* target) noexcept {
  Taken taken;
  take(target, taken);
  call_back(taken);
}

// What it needs is had before anything is changed: a collection without memory can be given up.
void WeakReferences::clear_garbage(const std::vector<GcObject*>& garbage) {
  if (table_.empty()) return;
  const std::unordered_set<const Object*> gone(garbage.begin(), garbage.end());
  size_t count = 0;
  for (const GcObject* object : garbage) {
    if (const auto* references = object->flags & kWeaklyReferenced ? find(object) : nullptr)
      count += references->size();
  }
  Taken taken;
  taken.reserve(count);
  for (GcObject* object : garbage) {
    if (object->flags & kWeaklyReferenced) take(object, taken);
  }
  std::erase_if(taken, [&](const Value& reference) { return gone.contains(reference.as_object()); });
  call_back(taken);
}

}  // namespace tessera::lang

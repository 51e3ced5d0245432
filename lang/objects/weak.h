// Weak references: who refers to an object without holding it.
//
// Objects have no room for this; a flag in their head says that the table knows them. When such an object is destroyed,
// or the collector finds it to be garbage, its references are emptied first and their callbacks called.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "lang/core/object.h"
#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;

struct WeakReference : GcObject {
  Object* target = nullptr;  // not owned; null: gone
  Value callback;            // None: nobody wants to know
  int64_t hash = 0;          // of the target, once it was asked for
  bool hashed = false;
};

// ref(object, callback) or proxy(object, callback), by `type`; TypeError for what cannot be referred to weakly.
Value make_weak_reference(Interpreter& in, Type* type, const Value& object, const Value& callback);
// The object, or Undefined when it is gone.
Value weak_target(const WeakReference* reference);

class WeakReferences {
 public:
  explicit WeakReferences(Interpreter& in) : in_(in) {}
  WeakReferences(const WeakReferences&) = delete;
  WeakReferences& operator=(const WeakReferences&) = delete;

  void add(Object* target, WeakReference* reference);
  void remove(WeakReference* reference) noexcept;  // it is destroyed before its target
  // Those of an object, the newest last; null: none.
  const std::vector<WeakReference*>* find(const Object* target) const;
  // The target is going: empties its references, then calls their callbacks.
  void clear(Object* target) noexcept;
  // A set of objects is garbage: empties the references to all of them before the first callback runs. References
  // that are garbage themselves stay silent.
  void clear_garbage(const std::vector<GcObject*>& garbage);
  // The interpreter ends: nobody is told anything any more.
  void forget_all() noexcept;

 private:
  using Taken = std::vector<Value>;
  void take(Object* target, Taken& into) noexcept;
  void call_back(Taken& references) noexcept;

  Interpreter& in_;
  std::unordered_map<const Object*, std::vector<WeakReference*>> table_;
};

}  // namespace tessera::lang

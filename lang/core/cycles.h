// The collector of cycles: trial deletion over all tracked objects.
//
// Reference counts free nearly everything at once; what is left are cycles. A collection copies every tracked object's
// count into gc_refs, takes one off for each reference that comes from another tracked object, and knows then which
// objects are held from outside (registers, C++, immortals). What those reach lives; the rest is garbage, and is
// cleared. It is started by the number of tracked objects that were made since the last one, and runs at a safe point
// of the virtual machine (backward jump or call), never inside an allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lang/core/object.h"
#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;
struct Dict;

// Given to a type's `traverse`, which calls it once for each reference that the object owns.
class Visitor {
 public:
  using Visit = void (*)(Visitor& visitor, GcObject* object);
  explicit Visitor(Visit visit) : visit_(visit) {}

  void operator()(const Value& value) {
    if (value.is_object()) (*this)(value.as_object());
  }
  void operator()(Object* object) {
    if (object != nullptr && (object->flags & kTracked)) visit_(*this, static_cast<GcObject*>(object));
  }

 private:
  Visit visit_;
};

class Collector {
 public:
  explicit Collector(Interpreter& in) : in_(in) {}
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  void track(GcObject* object) {
    make_room();
    object->gc_index = static_cast<uint32_t>(objects_.size());
    objects_.push_back(object);
    object->flags |= kTracked;
    if (objects_.size() >= next_collection_) request();
  }
  // Before the object is made that track() is to take: then track() cannot fail.
  void make_room() {
    if (objects_.size() == objects_.capacity()) [[unlikely]]
      grow();
  }
  void untrack(GcObject* object) noexcept {
    object->flags &= static_cast<uint8_t>(~kTracked);
    GcObject* last = objects_.back();
    objects_[object->gc_index] = last;
    last->gc_index = object->gc_index;
    objects_.pop_back();
  }

  // Collects now; answers the number of objects that were garbage.
  size_t collect();
  // At a safe point, when `in.interrupt` has kCollectionDue set.
  void collect_if_due();
  // The interpreter ends. First, while everything stands, the finalizers of every object that is still there, those of
  // `names` in their order before all others; then, at the very end, all objects are cleared, and no script code runs.
  void finalize_all(const Dict* names) noexcept;
  void clear_all() noexcept;
  void forget_all() noexcept { objects_.clear(); }

  void set_enabled(bool enabled);
  bool enabled() const { return enabled_; }
  size_t tracked_count() const { return objects_.size(); }
  size_t collections() const { return collections_; }
  const std::vector<GcObject*>& objects() const { return objects_; }

 private:
  void request() noexcept;
  void grow();
  void count_outside_references();
  std::vector<GcObject*> find_garbage();

  Interpreter& in_;
  std::vector<GcObject*> objects_;
  size_t next_collection_ = 20'000;
  size_t collections_ = 0;
  bool enabled_ = true;
  bool running_ = false;
};

// Runs the object's __del__ (object.cpp); what it raises is reported and dropped.
void run_finalizer(Interpreter& in, Object* object) noexcept;
// The references of one object: its type, its attributes and what its type's `traverse` names.
void traverse_object(GcObject* object, Visitor& visitor);

}  // namespace tessera::lang

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
#include <span>
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
  ~Collector() { delete[] begin_; }
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  void track(GcObject* object) {
    make_room();
    track_in_room(object);
  }
  // After make_room().
  void track_in_room(GcObject* object) noexcept {
    object->gc_index = static_cast<uint32_t>(end_ - begin_);
    *end_++ = object;
    object->flags |= kTracked;
  }
  // Before the object is made that track() is to take: then track() cannot fail.
  void make_room() {
    if (end_ == bound_) [[unlikely]]
      meet_bound();
  }
  void untrack(GcObject* object) noexcept {
    object->flags &= static_cast<uint8_t>(~kTracked);
    GcObject* const last = *--end_;
    begin_[object->gc_index] = last;
    last->gc_index = object->gc_index;
  }

  // Collects now; answers the number of objects that were garbage.
  size_t collect();
  // At a safe point, when `in.interrupt` has kCollectionDue set.
  void collect_if_due();
  // The interpreter ends. First, while everything stands, the finalizers of every object that is still there, those of
  // `names` in their order before all others; then, at the very end, all objects are cleared, and no script code runs.
  void finalize_all(const Dict* names) noexcept;
  void clear_all() noexcept;
  void forget_all() noexcept { end_ = begin_; }

  void set_enabled(bool enabled);
  bool enabled() const { return enabled_; }
  size_t tracked_count() const { return static_cast<size_t>(end_ - begin_); }
  size_t collections() const { return collections_; }
  std::span<GcObject* const> objects() const { return {begin_, end_}; }

 private:
  void meet_bound();
  void set_next_collection(size_t count) noexcept;
  void grow();
  void count_outside_references();
  std::vector<GcObject*> find_garbage();

  Interpreter& in_;
  // The tracked objects, in an array of `capacity_`. `bound_` is where the array ends or the next collection is due, whichever comes first:
  // track() compares with it alone.
  GcObject **begin_ = nullptr, **end_ = nullptr, **bound_ = nullptr;
  size_t capacity_ = 0;
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

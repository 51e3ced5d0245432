#include "lang/core/cycles.h"

#include <algorithm>
#include <new>

#include "lang/core/error.h"
#include "lang/core/make_object.h"
#include "lang/objects/attribute.h"
#include "lang/types/dict.h"
#include "lang/objects/weak.h"

namespace tessera::lang {

namespace {

// gc_refs of an object that something outside reaches. No count gets there.
constexpr uint32_t kReached = UINT32_MAX;

// A collection costs time proportional to what is alive, so the next one waits until as much again has been made.
constexpr size_t kLeastInterval = 20'000;

void count_down(Visitor&, GcObject* object) {
  if (object->gc_refs != 0 && object->gc_refs != kReached) --object->gc_refs;
}

class Marker : public Visitor {
 public:
  Marker() : Visitor(&mark) {}

  void mark_from(GcObject* root) {
    mark(*this, root);
    while (!pending_.empty()) {
      GcObject* object = pending_.back();
      pending_.pop_back();
      traverse_object(object, *this);
    }
  }

 private:
  static void mark(Visitor& visitor, GcObject* object) {
    if (object->gc_refs == kReached) return;
    object->gc_refs = kReached;
    static_cast<Marker&>(visitor).pending_.push_back(object);
  }

  std::vector<GcObject*> pending_;
};

void traverse_attributes(Attributes& attributes, Visitor& visitor) {
  for (uint32_t i = 0; i < attributes.count; ++i) visitor(attributes.values[i]);
  if (attributes.dict != nullptr) visitor(attributes.dict);
}

// Invalidates all inline caches and type-cache entries of a class. They point into the class's dict, which clear_object empties, and
// the destructor of an object that dies meanwhile may still look an attribute up in its class.
void forget_class(GcObject* object) {
  if (object->kind == ObjectKind::Type) known_cast<Type>(object)->version = kForgotten;
}

void clear_object(Interpreter& in, GcObject* object) {
  if (object->type->attributes_offset != 0) clear_attributes(in, attributes_of(object));
  if (object->flags & kHasDictAside) drop_dict_aside(in, object);
  if (object->type->slots.clear != nullptr) object->type->slots.clear(in, object);
}

}  // namespace

void traverse_object(GcObject* object, Visitor& visitor) {
  Type* type = object->type;
  if (!(type->flags & kImmortal)) visitor(type);
  if (type->attributes_offset != 0) traverse_attributes(attributes_of(object), visitor);
  if (object->flags & kHasDictAside) visitor(dict_aside(object));
  if (type->slots.traverse != nullptr) type->slots.traverse(object, visitor);
}

// What it needs for itself is booked too. The new place is had before the old one is given up.
void Collector::grow() {
  const size_t count = tracked_count(), wanted = std::max<size_t>(1024, capacity_ * 2);
  in_.heap.charge((wanted - capacity_) * sizeof(GcObject*));
  GcObject** const moved = new (std::nothrow) GcObject*[wanted];
  if (moved == nullptr) {
    in_.heap.refund((wanted - capacity_) * sizeof(GcObject*));
    throw Error(ErrorKind::MemoryError, "");
  }
  std::copy(begin_, end_, moved);
  delete[] begin_;
  begin_ = moved;
  end_ = moved + count;
  capacity_ = wanted;
}

void Collector::set_next_collection(size_t count) noexcept {
  next_collection_ = count;
  bound_ = begin_ + std::min(capacity_, count);
}

void Collector::meet_bound() {
  const size_t count = tracked_count();
  if (count == capacity_) grow();
  if (count >= next_collection_) {
    next_collection_ = SIZE_MAX;  // asked once is enough
    if (enabled_) in_.interrupt.fetch_or(kCollectionDue, std::memory_order_relaxed);
  }
  set_next_collection(next_collection_);
}

void Collector::collect_if_due() {
  if ((in_.interrupt.fetch_and(~kCollectionDue, std::memory_order_relaxed) & kCollectionDue) == 0 || !enabled_) return;
  try {
    collect();
  } catch (const std::bad_alloc&) {
    // No memory to look for garbage with: later, when there is more of both.
    running_ = false;
    set_next_collection(tracked_count() + kLeastInterval);
  }
}

void Collector::set_enabled(bool enabled) {
  enabled_ = enabled;
  set_next_collection(std::max(tracked_count() * 2, kLeastInterval));
}

void Collector::count_outside_references() {
  for (GcObject* object : objects()) object->gc_refs = (object->flags & kImmortal) ? kReached - 1 : object->refcount;
  Visitor down(&count_down);
  for (GcObject* object : objects()) traverse_object(object, down);
}

std::vector<GcObject*> Collector::find_garbage() {
  count_outside_references();
  Marker marker;
  for (GcObject* object : objects()) {
    if (object->gc_refs != 0 && object->gc_refs != kReached) marker.mark_from(object);
  }
  std::vector<GcObject*> garbage;
  for (GcObject* object : objects()) {
    if (object->gc_refs != kReached) garbage.push_back(object);
  }
  return garbage;
}

namespace {

// Runs the finalizers of these objects, each once. True: there were some, so reachability may have changed. `objects` may be
// all that there are: nothing is made before those that wait are held.
bool run_finalizers(Interpreter& in, std::span<GcObject* const> objects) {
  std::vector<Value> waiting;
  for (GcObject* object : objects) {
    if ((object->type->type_flags & kHasFinalizer) && !(object->flags & kFinalized)) waiting.emplace_back(object);
  }
  for (Value& value : waiting) {
    if (!(value.as_object()->flags & kFinalized)) run_finalizer(in, value.as_object());
  }
  return !waiting.empty();
}

}  // namespace

size_t Collector::collect() {
  if (running_) return 0;
  if (!in_.heap.doomed.empty() || in_.heap.doomed_elsewhere != 0) {
    // Objects without references wait for their end, in the middle of which a finalizer asks: not now.
    set_next_collection(tracked_count() + kLeastInterval);
    return 0;
  }
  running_ = true;
  std::vector<GcObject*> garbage = find_garbage();
  // Held until the end, so that clearing one does not free the next under our hands.
  std::vector<Value> held;
  const auto hold = [&] {
    held.reserve(garbage.size());
    for (GcObject* object : garbage) held.emplace_back(object);
    in_.weak_references().clear_garbage(garbage);
  };
  // The weak references go first: what a finalizer brings back to life is not reached by them any more.
  hold();
  if (run_finalizers(in_, garbage)) {
    held.clear();  // not to be counted
    garbage = find_garbage();
    hold();
  }
  for (GcObject* object : garbage) forget_class(object);
  for (GcObject* object : garbage) clear_object(in_, object);
  const size_t found = garbage.size();
  held.clear();
  set_next_collection(std::max(tracked_count() * 2, kLeastInterval));
  ++collections_;
  running_ = false;
  return found;
}

void Collector::finalize_all(const Dict* names) noexcept {
  try {
    if (names != nullptr) {
      std::vector<GcObject*> named;
      dict_for_each(names, [&](const Value&, const Value& v) {
        if (v.is_object() && (v.as_object()->flags & kTracked)) named.push_back(static_cast<GcObject*>(v.as_object()));
      });
      run_finalizers(in_, named);
    }
    // A finalizer may make objects that have one too; one that always makes another would never end.
    constexpr int kRounds = 10;
    for (int round = 0; round < kRounds && run_finalizers(in_, objects()); ++round) {}
  } catch (const std::bad_alloc&) {
    // No memory to run them in.
  }
  for (GcObject* object : objects()) object->flags |= kFinalized;
}

void Collector::clear_all() noexcept {
  running_ = true;
  enabled_ = false;
  set_next_collection(SIZE_MAX);
  in_.weak_references().forget_all();
  // Held by a count of ours, so that clearing one does not free the next under our hands; what clearing makes is held too.
  size_t held = 0;
  const auto hold = [&] {
    for (; held < tracked_count(); ++held) {
      ++begin_[held]->refcount;
      forget_class(begin_[held]);
    }
  };
  hold();
  for (size_t i = 0; i < tracked_count(); ++i) {
    clear_object(in_, begin_[i]);
    hold();
  }
  // From the end on: what dies takes others with it, but none that is still held, and the last of those that live on moves
  // into its place.
  for (size_t i = tracked_count(); i-- > 0;) {
    if (i < tracked_count() && --begin_[i]->refcount == 0) destroy_object(begin_[i]);
  }
}

}  // namespace tessera::lang
